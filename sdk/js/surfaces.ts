/** The operations of each surface: what a connector may implement, and what the host calls it. */

import type { Context } from "./context.ts";
import type * as Given from "./given.ts";
import type * as Model from "./model.ts";

/** A page of an answer. */
export interface Answer<T> {
  body: T;
  /** Where the next page, or the next change, begins. */
  cursor?: string | null;
  /** True: the host calls again with `cursor` now. False, or left out: caught up. */
  more?: boolean;
}

type Page = Answer<Model.Sources>;
type Sources = Model.Sources;
type Mutated = Model.Mutated;

/** The account itself. */
export interface Lifecycle {
  /** Tries the credentials and says whose account it is. Called before a connection is stored. */
  check?(context: Context): Model.Account;
}

/** Notifications that the provider posts to the host. How they are read is said by `[push]` of connector.toml. */
export interface Watch {
  /** Asks the provider to post to `address` when something in `scope` changes. The provider may post before this returns. */
  start?(context: Context, args: Given.WatchStart): Model.Watching;
  /** Asks the provider to go on with a watch. Where this is left out, the host starts another watch and stops this one. */
  renew?(context: Context, args: Given.WatchRenew): Model.Watching;
  /** Asks the provider to post no more. A watch that the provider does not know is a success, or failure `not-found`. */
  stop?(context: Context, args: Given.WatchStop): void;
}

/** Task lists and tasks. */
export interface Tasks {
  /** The account's task lists; an enumeration. */
  listLists?(context: Context, args: Given.ChangesRequest): Page;
  /** One task as it is now. */
  getTask?(context: Context, args: Given.SourceRef): Sources;
  /** Many tasks at once; of a connector that answers `changes` with names (`Sources.named`). */
  getTasks?(context: Context, args: Given.SourcesGet): Sources;
  /** What this account's provider can do. */
  features?(context: Context): Model.TasksFeatures;
  createList?(context: Context, args: Given.CollectionWriteOfTaskList): Mutated;
  updateList?(context: Context, args: Given.CollectionWriteOfTaskList): Mutated;
  deleteList?(context: Context, args: Given.CollectionDelete): Mutated;
  /** A repeated create under the same idempotency key must find what the first attempt left. */
  createTask?(context: Context, args: Given.ItemWriteOfTask): Mutated;
  updateTask?(context: Context, args: Given.ItemWriteOfTask): Mutated;
  deleteTask?(context: Context, args: Given.ItemDelete): Mutated;
  createStep?(context: Context, args: Given.PartWriteOfChecklistItem): Mutated;
  updateStep?(context: Context, args: Given.PartWriteOfChecklistItem): Mutated;
  deleteStep?(context: Context, args: Given.PartWriteOfChecklistItem): Mutated;
  createLink?(context: Context, args: Given.PartWriteOfTaskLink): Mutated;
  deleteLink?(context: Context, args: Given.PartWriteOfTaskLink): Mutated;
  /** The tasks of one list that changed since the context's cursor; from none, all of them. */
  changes?(context: Context, args: Given.ChangesRequest): Page;
}

/** Calendars and events. */
export interface Calendar {
  listCalendars?(context: Context, args: Given.ChangesRequest): Page;
  getEvent?(context: Context, args: Given.SourceRef): Sources;
  getEvents?(context: Context, args: Given.SourcesGet): Sources;
  freeBusy?(context: Context, args: Given.FreeBusyRequest): Model.FreeBusyAnswer;
  features?(context: Context): Model.CalendarFeatures;
  createCalendar?(context: Context, args: Given.CollectionWriteOfCalendar): Mutated;
  updateCalendar?(context: Context, args: Given.CollectionWriteOfCalendar): Mutated;
  deleteCalendar?(context: Context, args: Given.CollectionDelete): Mutated;
  createEvent?(context: Context, args: Given.EventWrite): Mutated;
  updateEvent?(context: Context, args: Given.EventWrite): Mutated;
  deleteEvent?(context: Context, args: Given.EventDelete): Mutated;
  respond?(context: Context, args: Given.EventRespond): Mutated;
  conference?(context: Context, args: Given.EventConference): Mutated;
  changes?(context: Context, args: Given.ChangesRequest): Page;
}

/** Address books, contacts and groups. */
export interface Contacts {
  listBooks?(context: Context, args: Given.ChangesRequest): Page;
  getContact?(context: Context, args: Given.SourceRef): Sources;
  getContacts?(context: Context, args: Given.SourcesGet): Sources;
  photo?(context: Context, args: Given.SourceRef): Model.Picture;
  features?(context: Context): Model.ContactsFeatures;
  createBook?(context: Context, args: Given.CollectionWriteOfContactBook): Mutated;
  updateBook?(context: Context, args: Given.CollectionWriteOfContactBook): Mutated;
  deleteBook?(context: Context, args: Given.CollectionDelete): Mutated;
  createContact?(context: Context, args: Given.ContactWrite): Mutated;
  updateContact?(context: Context, args: Given.ContactWrite): Mutated;
  deleteContact?(context: Context, args: Given.ItemDelete): Mutated;
  createGroup?(context: Context, args: Given.ItemWriteOfContactGroup): Mutated;
  updateGroup?(context: Context, args: Given.ItemWriteOfContactGroup): Mutated;
  deleteGroup?(context: Context, args: Given.ItemDelete): Mutated;
  changes?(context: Context, args: Given.ChangesRequest): Page;
}

/** Mail. */
export interface Email {
  getMessages?(context: Context, args: Given.MessagesGet): Sources;
  search?(context: Context, args: Given.MessageSearch): Page;
  findMessage?(context: Context, args: Given.MessageFind): Sources;
  raw?(context: Context, args: Given.MessageRef): Model.Content;
  attachment?(context: Context, args: Given.AttachmentRef): Model.Content;
  features?(context: Context): Model.MailFeatures;
  updateMessage?(context: Context, args: Given.MessageUpdate): Mutated;
  deleteMessage?(context: Context, args: Given.MessageDelete): Mutated;
  append?(context: Context, args: Given.MessageAppend): Mutated;
  saveDraft?(context: Context, args: Given.DraftSave): Mutated;
  send?(context: Context, args: Given.MessageSend): Model.Sent;
  changes?(context: Context, args: Given.ChangesRequest): Page;
}

/** A connector: the surfaces that connector.toml names. */
export interface Connector {
  tasks?: Tasks;
  calendar?: Calendar;
  contacts?: Contacts;
  email?: Email;
  lifecycle?: Lifecycle;
  watch?: Watch;
}

export type Surface = keyof Connector;
export type Verb = "fetch" | "mutate" | "changes" | "check";

/** The method of an operation, and how its answer is to be read: as a page with a cursor, as one whole body, or not at all. */
type Method = readonly [name: string, answer: "page" | "whole" | "nothing"];

const page = (name: string): Method => [name, "page"];
const whole = (name: string): Method => [name, "whole"];
const nothing = (name: string): Method => [name, "nothing"];

/** By surface, verb and operation, as the host calls them. */
export const OPERATIONS: Readonly<Record<Surface, Partial<Record<Verb, Readonly<Record<string, Method>>>>>> = {
  lifecycle: { check: { check: whole("check") } },
  watch: {
    mutate: {
      "watch.start": whole("start"),
      "watch.renew": whole("renew"),
      "watch.stop": nothing("stop"),
    },
  },
  tasks: {
    fetch: {
      "lists.list": page("listLists"),
      "tasks.get": whole("getTask"),
      "tasks.batchGet": whole("getTasks"),
      capabilities: whole("features"),
    },
    mutate: {
      "lists.create": whole("createList"),
      "lists.update": whole("updateList"),
      "lists.delete": whole("deleteList"),
      "tasks.create": whole("createTask"),
      "tasks.update": whole("updateTask"),
      "tasks.delete": whole("deleteTask"),
      "checklist.create": whole("createStep"),
      "checklist.update": whole("updateStep"),
      "checklist.delete": whole("deleteStep"),
      "links.create": whole("createLink"),
      "links.delete": whole("deleteLink"),
    },
    changes: { tasks: page("changes") },
  },
  calendar: {
    fetch: {
      "calendars.list": page("listCalendars"),
      "events.get": whole("getEvent"),
      "events.batchGet": whole("getEvents"),
      "freebusy.query": whole("freeBusy"),
      capabilities: whole("features"),
    },
    mutate: {
      "calendars.create": whole("createCalendar"),
      "calendars.update": whole("updateCalendar"),
      "calendars.delete": whole("deleteCalendar"),
      "events.create": whole("createEvent"),
      "events.update": whole("updateEvent"),
      "events.delete": whole("deleteEvent"),
      "events.respond": whole("respond"),
      "events.conference": whole("conference"),
    },
    changes: { events: page("changes") },
  },
  contacts: {
    fetch: {
      "books.list": page("listBooks"),
      "contacts.get": whole("getContact"),
      "contacts.batchGet": whole("getContacts"),
      "contacts.photo": whole("photo"),
      capabilities: whole("features"),
    },
    mutate: {
      "books.create": whole("createBook"),
      "books.update": whole("updateBook"),
      "books.delete": whole("deleteBook"),
      "contacts.create": whole("createContact"),
      "contacts.update": whole("updateContact"),
      "contacts.delete": whole("deleteContact"),
      "groups.create": whole("createGroup"),
      "groups.update": whole("updateGroup"),
      "groups.delete": whole("deleteGroup"),
    },
    changes: { contacts: page("changes") },
  },
  email: {
    fetch: {
      "messages.get": whole("getMessages"),
      "messages.search": page("search"),
      "messages.find": whole("findMessage"),
      "messages.raw": whole("raw"),
      "attachments.get": whole("attachment"),
      capabilities: whole("features"),
    },
    mutate: {
      "messages.update": whole("updateMessage"),
      "messages.delete": whole("deleteMessage"),
      "messages.append": whole("append"),
      "drafts.save": whole("saveDraft"),
      "messages.send": whole("send"),
    },
    changes: { mail: page("changes") },
  },
};
