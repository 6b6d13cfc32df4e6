/** What the host gives a connector: arguments, in which every field is there. Generated from the model of Switchboard: do not change it. */

/** The account's rights in a calendar. */
export type AccessRole = "owner" | "writer" | "reader" | "freeBusyReader";

/** A yearly date of a contact. */
export interface Anniversary {
  /** The occasion, in the provider's own spelling, such as `wedding`; null if it is unknown. */
  type: string | null;
  /** The day of the occasion. */
  date: PartialDate;
}

/** A person to whom a task is assigned. It has an email address or a name. */
export interface Assignee {
  /** The person's email address; null if it is unknown. */
  email: string | null;
  /** The person's name; null if it is unknown. */
  name: string | null;
}

/** An attachment to read. */
export interface AttachmentRef {
  /** The external id of the message's source. */
  source: string;
  /** The `hint` of the message's item, as the connector last reported it; null if it had none. */
  hint: unknown;
  /** The attachment's id, as the connector reported it in `attachments`. */
  part: string;
}

/** A person or resource that is invited (RFC 5545 ATTENDEE). */
export interface Attendee {
  /** The email address. Events of other programs may have another URI here, such as `urn:uuid:…`. */
  email: string;
  /** The name; null if it is not known. */
  name: string | null;
  /** The answer to the invitation (PARTSTAT). */
  responseStatus: ResponseStatus;
  /** The attendee's role (ROLE). */
  role: AttendeeRole;
  /** The kind of attendee (CUTYPE). */
  kind: AttendeeKind;
  /** The note that the attendee sent with the response; null if there is none. */
  comment: string | null;
  /** Whether the attendee is the connected account. */
  self: boolean;
  /** Whether the attendee is the organizer. */
  organizer: boolean;
}

/** The kind of an attendee (RFC 5545 CUTYPE). */
export type AttendeeKind = "individual" | "group" | "resource" | "room";

/** The role of an attendee (RFC 5545 ROLE). */
export type AttendeeRole = "required" | "optional" | "chair" | "nonParticipant";

/** The account's rights in a contact book. */
export interface BookRights {
  /** Whether the account can read the book's contacts. */
  read: boolean;
  /** Whether the account can create and change contacts in the book. */
  write: boolean;
  /** Whether the account can delete contacts of the book. */
  delete: boolean;
}

/** A calendar, as the provider has it. */
export interface Calendar {
  /** The user's name for the calendar. */
  name: string;
  /** The description as plain text; null if there is none. */
  description: string | null;
  /**
   * The IANA name of the calendar's time zone: the zone of all-day events, and of times without a zone of their own. Null if the
   * provider names none.
   */
  timeZone: string | null;
  /** The calendar's color, `#rrggbb`; null for the provider's default color. */
  color: string | null;
  /** Whether the calendar is the account's default calendar. */
  isPrimary: boolean;
  /** Whether the account owns the calendar. */
  isOwned: boolean;
  /** Whether the account cannot change events in the calendar. */
  readOnly: boolean;
  /** The account's rights in the calendar. */
  accessRole: AccessRole;
  /** The place that the calendar belongs to, as one line of text; null if there is none. */
  location: string | null;
  /** The reminders of events that set `useDefault`. */
  defaultReminders: Reminder[];
  /** The events that count as busy (RFC 9670 `includeInAvailability`). */
  includeInAvailability: IncludeInAvailability;
  /** The conference services that the provider can create meetings with in this calendar; empty if there are none. */
  conferenceTypes: ConferenceProvider[];
}

/** The arguments of `changes`, and of a `*.list` inside a collection. */
export interface ChangesRequest {
  /** The external id of the collection (calendar, address book, task list, mailbox); null if the surface has no collections. */
  collection: string | null;
  /** The collection's IANA time zone, for times without one; null if it is unknown. */
  timeZone: string | null;
  /** The number of sources that one answer should not exceed by much; 0: the connector decides. */
  limit: number;
  /**
   * Whether the connector only names the sources (`externalId`, `etag`, `deleted`) and reads none of their content. The host sets it for
   * the page that crashed the connector, to read its sources one by one and find the faulty one. A connector that cannot do so ignores
   * it, and such a source blocks its collection.
   */
  namesOnly: boolean;
  /**
   * Whether the answer may name all sources of the listing (`named`), however many, if there is more than a page: one listing instead of
   * one per page, for a provider that cannot continue inside a listing. A connector that can continue ignores it.
   */
  namesFirst: boolean;
}

/** An item of a task's checklist. */
export interface ChecklistItem {
  /** The id of the checklist item. */
  id: string;
  /** The id of the task that the item belongs to. */
  taskId: string;
  /** The text of the item. */
  title: string;
  /** Whether the item is checked off. */
  checked: boolean;
  /** The time at which the item was checked off; null if it is open or the time is unknown. */
  checkedAt: Instant | null;
  /** The position in the checklist: positions are compared as text, lowest first. Null if the provider has no order. */
  position: string | null;
  /** The time at which the item was created, or first seen if the provider does not store it. */
  createdAt: Instant;
  /** The version of the item, with its quotes, as in the `ETag` header. */
  etag: string;
}

/** A collection to delete, with everything in it. */
export interface CollectionDelete {
  /** The external id of the collection's source. */
  source: string;
  /** The provider's etag that the change is based on; null: any version. A mismatch is the failure `conflict`. */
  ifMatch: string | null;
  /** Whether the collection is deleted even if it is not empty. The host has checked; a provider that can refuse checks again. */
  force: boolean;
}

/** A collection (calendar, address book, task list) to create or to change. */
export interface CollectionWriteOfTaskList {
  /** The external id of the collection's source; null on a create. */
  source: string | null;
  /** The whole collection after the change. */
  body: TaskList;
  /** The camelCase names of the fields that the caller changed; on a create, all fields that it set. */
  changed: string[];
  /** The provider's etag that the change is based on; null: any version. A mismatch is the failure `conflict`. */
  ifMatch: string | null;
}

/** A collection (calendar, address book, task list) to create or to change. */
export interface CollectionWriteOfCalendar {
  /** The external id of the collection's source; null on a create. */
  source: string | null;
  /** The whole collection after the change. */
  body: Calendar;
  /** The camelCase names of the fields that the caller changed; on a create, all fields that it set. */
  changed: string[];
  /** The provider's etag that the change is based on; null: any version. A mismatch is the failure `conflict`. */
  ifMatch: string | null;
}

/** A collection (calendar, address book, task list) to create or to change. */
export interface CollectionWriteOfContactBook {
  /** The external id of the collection's source; null on a create. */
  source: string | null;
  /** The whole collection after the change. */
  body: ContactBook;
  /** The camelCase names of the fields that the caller changed; on a create, all fields that it set. */
  changed: string[];
  /** The provider's etag that the change is based on; null: any version. A mismatch is the failure `conflict`. */
  ifMatch: string | null;
}

/** An online meeting of an event. */
export interface Conference {
  /** The service that hosts the meeting. */
  provider: ConferenceProvider;
  /** Whether the meeting exists already. */
  status: ConferenceStatus;
  /** The URL at which people join the meeting; null until the service has created the meeting. */
  joinUrl: string | null;
  /** The meeting's id at the service; null if it has none. */
  meetingId: string | null;
  /** The passcode to join; null if none is needed. */
  passcode: string | null;
  /** The numbers to dial in. */
  phones: ConferencePhone[];
  /** The id of the request that created the meeting; null if the provider has none. */
  createRequestId: string | null;
}

/** A number to dial in. */
export interface ConferencePhone {
  /** The phone number. */
  number: string;
  /** The PIN to enter after dialing; null if none is needed. */
  pin: string | null;
  /** The country or region of the number; null if it is not known. */
  region: string | null;
}

/** A service for online meetings. */
export type ConferenceProvider = "googleMeet" | "teams" | "zoom" | "webex" | "other";

/** The state of a requested meeting. */
export type ConferenceStatus = "pending" | "ready" | "failed";

/** The connector's view of the connection, which comes with every call, under `connection`. */
export interface Connection {
  /**
   * The user's settings (`serverUrl`) together with those that `check` returned. `discoveredOrigins`, a list of texts, has the origins
   * that `check` returned and the host accepted.
   */
  settings: { [name: string]: unknown };
  /** The account's email addresses in lower case: they identify the account among the people of an event. */
  addresses: string[];
  /** The login name; null if the connection has none. It is never the password. */
  username: string | null;
}

/** A person or an organization in an address book. It has at least one of a name, an email address, a phone number and an organization. */
export interface Contact {
  /** The contact book that holds the contact. It cannot be changed later. A create without it uses the default book of `connectionId`. */
  bookId?: string | null;
  /**
   * The name under which the contact is shown and sorted. Absent or null on a write: the service composes it from the other names, else
   * from the nickname, the organization, an email address or a phone number.
   */
  displayName: string | null;
  /** The given name (vCard N); null if there is none. */
  givenName: string | null;
  /** Further given names, separated by spaces; null if there are none. */
  middleName: string | null;
  /** The family name (vCard N); null if there is none. */
  familyName: string | null;
  /** The title before the name, such as `Dr.`; null if there is none. */
  prefix: string | null;
  /** The title or generation after the name, such as `Jr.`; null if there is none. */
  suffix: string | null;
  /** The nickname; null if there is none. */
  nickname: string | null;
  /** The pronunciation of the given name; null if it is unknown. */
  phoneticGivenName: string | null;
  /** The pronunciation of the family name; null if it is unknown. */
  phoneticFamilyName: string | null;
  /** The contact's email addresses. At most one of them is `primary`. */
  emails: ContactEmail[];
  /** The contact's phone numbers. At most one of them is `primary`. */
  phones: ContactPhone[];
  /** The contact's postal addresses. */
  addresses: PostalAddress[];
  /** The organizations that the contact belongs or belonged to, with the contact's position in each. */
  organizations: Organization[];
  /** The contact's web addresses. */
  urls: ContactUrl[];
  /** The contact's addresses for instant messages. */
  imAddresses: ImAddress[];
  /** The people who are related to the contact. */
  relations: Relation[];
  /** The date of birth; null if it is unknown. */
  birthday: PartialDate | null;
  /** The contact's yearly dates other than the birthday. */
  anniversaries: Anniversary[];
  /** The user's notes on the contact, plain text; null if there are none. */
  notes: string | null;
  /** The contact's picture; null if there is none. A write of null deletes the picture. */
  photo: Photo | null;
  /** The ids of the contact's groups, which all belong to the contact's own book. A write replaces the memberships. */
  groupIds: string[];
  /** The part of the provider's account that the contact comes from. */
  source: ContactSource;
  /** Whether the contact is starred (marked as a favourite). Not every provider can store it. */
  starred: boolean;
  /** The id of the contact that this contact was merged into, set by the service; null if it was not merged. The old id keeps working. */
  mergedInto: string | null;
}

/** An address book of a connected account. */
export interface ContactBook {
  /** The name of the book. */
  name: string;
  /** The description of the book, plain text; null if there is none. */
  description: string | null;
  /** Whether the provider stores new contacts in this book by default. */
  isDefault: boolean;
  /** Whether the account can read this book but not change it. */
  readOnly: boolean;
  /** The number of contacts in the book; null if it is unknown. */
  contactCount: number | null;
  /** The account's rights in the book. */
  rights: BookRights;
}

/** An email address of a contact. */
export interface ContactEmail {
  /** The email address. */
  value: string;
  /** The use of the address. */
  type: ContactKind;
  /** The user's own name for the address; required with `type` `custom`, else null if there is none. */
  label: string | null;
  /** Whether it is the contact's preferred address. At most one address is. */
  primary: boolean;
}

/** A named set of contacts of one contact book. */
export interface ContactGroup {
  /**
   * The contact book that holds the group and its members. It cannot be changed later. A create without it uses the default book of
   * `connectionId`.
   */
  bookId?: string | null;
  /** The name of the group. */
  name: string;
  /** The owner of the group: the user or the provider. */
  kind: GroupKind;
  /**
   * The ids of the members. Null in an answer if there are more than 500: list the contacts with `group_id` instead. A write replaces
   * the members; null removes them all.
   */
  contactIds: string[] | null;
  /** The number of contacts in the group. */
  memberCount: number;
  /** Whether the account can read this group but not change it. */
  readOnly: boolean;
}

/** The use of an email address, a postal address or a web address. */
export type ContactKind = "home" | "work" | "other" | "custom";

/** A phone number of a contact. */
export interface ContactPhone {
  /** The phone number as the user wrote it. It has at least one letter or digit. */
  value: string;
  /**
   * The number in the form of ITU E.164, such as `+4930901820`, set by the service; null if the number cannot be parsed. A value that a
   * client sends is ignored.
   */
  e164: string | null;
  /** The use of the number. */
  type: PhoneKind;
  /** The user's own name for the number; required with `type` `custom`, else null if there is none. */
  label: string | null;
  /** Whether it is the contact's preferred number. At most one number is. */
  primary: boolean;
}

/** The part of the provider's account that a contact comes from. */
export type ContactSource = "addressBook" | "suggested" | "directory";

/** A web address of a contact. */
export interface ContactUrl {
  /** The absolute URL. */
  value: string;
  /** The use of the address. */
  type: ContactKind;
}

/** A contact to create or to change. `body.photo.url` may be a `data:` URL that holds the picture itself. */
export interface ContactWrite {
  /** The external id of the collection. */
  collection: string;
  /** The collection's IANA time zone, for times without one; null if it is unknown. */
  timeZone: string | null;
  /** The external id of the source; null on a create. */
  source: string | null;
  /** The whole item after the change. It names other items by their `uid`. */
  body: Contact;
  /**
   * The camelCase names of the fields that the caller changed; on a create, all fields that it set. Fields that are not named keep the
   * provider's bytes.
   */
  changed: string[];
  /** The provider's etag that the change is based on; null: any version. A mismatch is the failure `conflict`. */
  ifMatch: string | null;
  /**
   * Whether the connector refuses the write (failure `unsupported`, with the field's name as `detail.field`) before it writes anything
   * if the provider cannot store a field. False: the rest is written, with the warning `field_not_supported`.
   */
  strict: boolean;
  /** The external ids of the sources of the groups that the contact joins. */
  joins: string[];
  /** The external ids of the sources of the groups that the contact leaves. */
  leaves: string[];
}

/** A draft to store in the drafts folder, with `draft` set and marked as read. */
export interface DraftSave {
  /** The id of a blob of this call with the message: RFC 5322. */
  blob: string;
  /** The draft's Message-ID without angle brackets. */
  internetMessageId: string;
  /**
   * The version that this draft replaces, which the connector deletes; null for a new draft. `previousId` of the new source names the
   * old one.
   */
  replaces: MessageRef | null;
  /** The replaced source's etag; null: any version. A mismatch is the failure `conflict`. */
  ifMatch: string | null;
  /**
   * The provider's id of the draft's thread: that of the message it answers, else that of the version it replaces. Null for a draft that
   * begins a thread, and if the provider has no threads.
   */
  thread: string | null;
}

/** A mailbox address with its display name. */
export interface EmailAddress {
  /** The display name, such as `Ada Lovelace`; null if there is none. */
  name: string | null;
  /** The address, such as `ada@example.com`. In received mail it may be malformed, even without an `@`. */
  email: string;
}

/** A calendar event: a single one, a series, or one changed instance of a series. */
export interface Event {
  /**
   * The iCalendar UID (RFC 5545), which a series and its exceptions share. It can only be set when the event is created; null if the
   * provider gives none.
   */
  iCalUid: string | null;
  /** The revision of the event (RFC 5545 SEQUENCE), which grows with every important change. */
  sequence: number;
  /** The place of the event in a series. */
  type: EventType;
  /**
   * The original local start of an exception or occurrence: `YYYY-MM-DDTHH:MM:SS` in the series' zone, or `YYYY-MM-DD` for an all-day
   * series. Null for single events and series.
   */
  recurrenceId: string | null;
  /** The original start of an exception or occurrence as an instant; null for single events and series. */
  originalStart: Instant | null;
  /**
   * Whether the exception also applies to all later instances (RFC 5545 RANGE=THISANDFUTURE): those without an exception of their own
   * have its fields, its length, and its distance from the original start. Absent if it does not. Read only.
   */
  appliesToFollowing?: boolean;
  /** The first instant of the event. For an all-day event it is the midnight of `startDate` in the event's time zone. */
  start: Instant;
  /** The end of the event (exclusive), at most 400 days after `start`; equal to `start` for an event without a length. */
  end: Instant;
  /**
   * The length of each instance of a series, as an RFC 5545 DURATION such as `P1DT2H`, if the provider gives it in days: so many days
   * later by the clock, then so many hours later. Absent if each instance is exactly as long as from `start` to `end`.
   */
  duration?: string | null;
  /** The IANA name of the time zone that the start is in. A create without it takes the calendar's zone. */
  timeZone: string;
  /** The IANA name of the time zone that the end is in; null if that is the zone of the start. */
  endTimeZone: string | null;
  /**
   * The rules of the start's zone, if the provider's zone has no IANA name: then `timeZone` is `UTC`, and the instances of the series
   * are at the same time of day on this clock. Only on a series with times, and on an exception that applies to following instances.
   * Absent otherwise. Read only.
   */
  timeZoneRules?: TimeZoneRules | null;
  /** Whether the event lasts whole days. */
  allDay: boolean;
  /** The first day of an all-day event, `YYYY-MM-DD`; null for an event with times. */
  startDate: string | null;
  /**
   * The day after the last day of an all-day event, `YYYY-MM-DD`; null for an event with times. A create without it makes an event of
   * one day.
   */
  endDate: string | null;
  /** The title (RFC 5545 SUMMARY); null if there is none. */
  title: string | null;
  /** The description as plain text; null if there is none. */
  description: string | null;
  /** The description as HTML, as the provider has it: clean it before you show it. Null if there is none. */
  descriptionHtml: string | null;
  /** The place as one line of text; null if there is none. */
  location: string | null;
  /** The places one by one; null if the provider only has `location`. */
  locations: Location[] | null;
  /** The event's own color, `#rrggbb`; null for the color of the calendar. */
  color: string | null;
  /** The address of the event in the provider's own web pages; null if it has none. */
  htmlLink: string | null;
  /** The status (RFC 5545 STATUS). */
  status: EventStatus;
  /** The state in which the time is shown to others. */
  showAs: ShowAs;
  /** Whether the event makes its time busy, which follows from `showAs` and `status`. */
  busy: boolean;
  /** The people who can see the details. */
  visibility: Visibility;
  /** The purpose of the event. */
  eventKind: EventKind;
  /** Whether the account cannot change the event. */
  readOnly: boolean;
  /** The organizer; null for an event without attendees. */
  organizer: Person | null;
  /** The person who created the event; null if the provider names none. */
  creator: Person | null;
  /** The people and resources that are invited, at most 500, each address once. A change replaces the whole list. */
  attendees: Attendee[];
  /** Whether attendees cannot see each other. */
  hideAttendees: boolean;
  /** Whether attendees can change the event. */
  guestsCanModify: boolean;
  /** Whether attendees can invite others. */
  guestsCanInvite: boolean;
  /** The number of people that can attend; null for no limit. */
  capacity: number | null;
  /** The response of the attendee who is the account itself; null if the account is not invited. */
  myResponse: ResponseStatus | null;
  /**
   * The recurrence rule set as RFC 5545 lines without DTSTART: at most one `RRULE:`, any `RDATE` and `EXDATE`. Only a series has lines.
   * Lines of other programs are shown unchanged, also several rules and `EXRULE` (RFC 2445).
   */
  recurrence: string[];
  /**
   * The online meeting; null if there is none. It can only be set when the event is created; afterwards use the operation that adds a
   * conference.
   */
  conference: Conference | null;
  /** The reminders of the account. */
  reminders: Reminders;
  /** Links to files, at most 50. A change replaces the whole list. */
  attachments: EventAttachment[];
}

/** A link to a file. */
export interface EventAttachment {
  /** The name of the file; null if there is none. */
  title: string | null;
  /** The URL of the file, http or https. A request needs it. */
  url: string | null;
  /** The media type of the file; null if it is not known. */
  mimeType: string | null;
}

/** A conference to add to an event. */
export interface EventConference {
  /** The external id of the calendar. */
  collection: string;
  /** The calendar's IANA time zone, for times without one; null if it is unknown. */
  timeZone: string | null;
  /** The event that gets the conference, and the part of its series. */
  target: EventTarget;
  /** The conference service; null: the connector chooses one. */
  provider: ConferenceProvider | null;
}

/** An event to delete. */
export interface EventDelete {
  /** The external id of the calendar. */
  collection: string;
  /** The calendar's IANA time zone, for times without one; null if it is unknown. */
  timeZone: string | null;
  /** The event to delete, and the part of its series. */
  target: EventTarget;
  /** The attendees that the provider notifies. */
  notify: Notify;
  /**
   * Whether the connector refuses the call (failure `unsupported`, with `notify` as `detail.field`) before it deletes anything if the
   * provider cannot notify exactly the attendees that `notify` names. False: the event is deleted, with the warning
   * `notify_not_supported`.
   */
  strict: boolean;
}

/** The purpose of an event. */
export type EventKind = "default" | "outOfOffice" | "focusTime" | "workingLocation";

/** The account's answer to an invitation. */
export interface EventRespond {
  /** The external id of the calendar. */
  collection: string;
  /** The calendar's IANA time zone, for times without one; null if it is unknown. */
  timeZone: string | null;
  /** The event to answer, and the part of its series. */
  target: EventTarget;
  /** The answer. */
  response: ResponseStatus;
  /** A comment to the organizer, plain text; null if there is none. */
  comment: string | null;
  /** Whether the provider notifies the organizer. */
  notifyOrganizer: boolean;
  /**
   * Whether the connector refuses the call (failure `unsupported`, with `notifyOrganizer` as `detail.field`) before it writes anything
   * if the provider cannot do as `notifyOrganizer` says. False: the answer is stored, with the warning `notify_not_supported`.
   */
  strict: boolean;
}

/** The status of an event (RFC 5545 STATUS). */
export type EventStatus = "confirmed" | "tentative" | "cancelled";

/** The event to change: the source, and within it the series, one instance, or all instances from one on. */
export interface EventTarget {
  /** The external id of the source; null on a create. */
  source: string | null;
  /** The original local start of the instance, as in the event's `recurrenceId`; null: the single event or the series. */
  recurrenceId: string | null;
  /** The original start of the instance as an instant; null where `recurrenceId` is null. */
  originalStart: Instant | null;
  /**
   * The instances to change. `this` with a `recurrenceId`: that instance. `thisAndFollowing`: that instance and all later ones. `all`:
   * the whole series.
   */
  scope: RecurrenceScope;
  /** The provider's etag that the change is based on; null: any version. A mismatch is the failure `conflict`. */
  ifMatch: string | null;
}

/** The place of an event in a series. An `occurrence` is never stored: it is computed from its series. */
export type EventType = "single" | "series" | "occurrence" | "exception";

/** An event to create or to change. */
export interface EventWrite {
  /** The external id of the calendar. */
  collection: string;
  /** The calendar's IANA time zone, for times without one; null if it is unknown. */
  timeZone: string | null;
  /** The event to write, and the part of its series; without a source on a create. */
  target: EventTarget;
  /**
   * The whole event after the change: the instance or the series that `target` names. With `thisAndFollowing` it is the first event of
   * the new series.
   */
  event: Event;
  /**
   * The camelCase names of the fields that the caller changed; on a create, all fields that it set. Fields that are not named keep the
   * provider's bytes.
   */
  changed: string[];
  /** The attendees that the provider notifies. */
  notify: Notify;
  /**
   * Whether the connector refuses the write (failure `unsupported`, with `notify` as `detail.field`) before it writes anything if the
   * provider cannot notify exactly the attendees that `notify` names. False: the event is written, with the warning
   * `notify_not_supported`.
   */
  strict: boolean;
}

/** A query of busy times that the provider answers itself. */
export interface FreeBusyRequest {
  /** The external ids of calendars of this account; empty if `email` is given. */
  collections: string[];
  /** The email address of another person whose busy times are queried through this account; null: the account's own. */
  email: string | null;
  /** The start of the period, inclusive. */
  start: Instant;
  /** The end of the period, exclusive. */
  end: Instant;
}

/** The owner of a contact group. */
export type GroupKind = "user" | "system";

/** An address of a contact for instant messages. */
export interface ImAddress {
  /** The service, in the provider's own spelling, such as `xmpp` or `matrix`; null if it is unknown. */
  protocol: string | null;
  /** The contact's user name in the service. */
  handle: string;
}

/** The importance of a message, as its author stated it. */
export type Importance = "low" | "normal" | "high";

/** The events of a calendar that count as busy (RFC 9670). */
export type IncludeInAvailability = "all" | "attending" | "none";

/** An instant (RFC 3339), in UTC with milliseconds. Requests may have any offset, which is converted. */
export type Instant = string;

/** A source to delete. */
export interface ItemDelete {
  /** The external id of the collection. */
  collection: string;
  /** The external id of the source. */
  source: string;
  /** The provider's etag that the change is based on; null: any version. A mismatch is the failure `conflict`. */
  ifMatch: string | null;
}

/** An item of a collection (contact, group, task) to create or to change. */
export interface ItemWriteOfTask {
  /** The external id of the collection. */
  collection: string;
  /** The collection's IANA time zone, for times without one; null if it is unknown. */
  timeZone: string | null;
  /** The external id of the source; null on a create. */
  source: string | null;
  /** The whole item after the change. It names other items by their `uid`. */
  body: Task;
  /**
   * The camelCase names of the fields that the caller changed; on a create, all fields that it set. Fields that are not named keep the
   * provider's bytes.
   */
  changed: string[];
  /** The provider's etag that the change is based on; null: any version. A mismatch is the failure `conflict`. */
  ifMatch: string | null;
  /**
   * Whether the connector refuses the write (failure `unsupported`, with the field's name as `detail.field`) before it writes anything
   * if the provider cannot store a field. False: the rest is written, with the warning `field_not_supported`.
   */
  strict: boolean;
}

/** An item of a collection (contact, group, task) to create or to change. */
export interface ItemWriteOfContactGroup {
  /** The external id of the collection. */
  collection: string;
  /** The collection's IANA time zone, for times without one; null if it is unknown. */
  timeZone: string | null;
  /** The external id of the source; null on a create. */
  source: string | null;
  /** The whole item after the change. It names other items by their `uid`. */
  body: ContactGroup;
  /**
   * The camelCase names of the fields that the caller changed; on a create, all fields that it set. Fields that are not named keep the
   * provider's bytes.
   */
  changed: string[];
  /** The provider's etag that the change is based on; null: any version. A mismatch is the failure `conflict`. */
  ifMatch: string | null;
  /**
   * Whether the connector refuses the write (failure `unsupported`, with the field's name as `detail.field`) before it writes anything
   * if the provider cannot store a field. False: the rest is written, with the warning `field_not_supported`.
   */
  strict: boolean;
}

/** The type of the resource that a task links to. */
export type LinkedType = "email_message" | "calendar_event" | "contact" | "url";

/** A place. */
export interface Location {
  /** The name of the place; null if there is none. */
  name: string | null;
  /** The postal address as one text; null if there is none. */
  address: string | null;
  /** The web address of the place; null if there is none. */
  uri: string | null;
  /** The coordinates as `latitude,longitude` in degrees; null if they are not known. */
  geo: string | null;
}

/**
 * A message to put into a folder, without sending it. A repeated append under the same idempotency key must find the message of the first
 * attempt: by `internetMessageId` in the folder.
 */
export interface MessageAppend {
  /** The id of a blob of this call with the message: RFC 5322, lines end with CRLF. */
  blob: string;
  /** The message's Message-ID without angle brackets. */
  internetMessageId: string;
  /** The external ids of the folders; empty: the inbox. */
  folders: string[];
  /** The external ids of the labels. */
  labels: string[];
  /** Whether the message is unread. */
  unread: boolean;
  /** Whether the message is starred (flagged). */
  starred: boolean;
  /** Whether the message is a draft. */
  draft: boolean;
  /** The message's IMAP or JMAP keywords, in lower case. */
  keywords: string[];
  /** The time of receipt (IMAP internal date); null: now. */
  receivedAt: Instant | null;
}

/** A message to delete. */
export interface MessageDelete {
  /** The external id of the message's source. */
  source: string;
  /** The `hint` of the message's item, as the connector last reported it; null if it had none. */
  hint: unknown;
  /** Whether the message is deleted for good. False: it goes to the trash; a mailbox without a trash deletes it for good. */
  permanent: boolean;
  /** The provider's etag that the change is based on; null: any version. A mismatch is the failure `conflict`. */
  ifMatch: string | null;
}

/** A search by Message-ID for a message that a call before a crash may have stored, in the folders that sent mail and drafts go to. */
export interface MessageFind {
  /** The Message-ID without angle brackets. */
  internetMessageId: string;
}

/** A message at the provider. */
export interface MessageRef {
  /** The external id of the message's source. */
  source: string;
  /** The `hint` of the message's item, as the connector last reported it; null if it had none. */
  hint: unknown;
}

/** A search at the provider, over everything that a message holds; the call's cursor continues it. Newest first by `receivedAt`. */
export interface MessageSearch {
  /** Words that must all occur in headers or text; null: no such condition. */
  text: string | null;
  /** A query in the provider's own language, instead of `text`; null if there is none. */
  nativeQuery: string | null;
  /** The external id of the folder to search; null: all folders, with trash and junk. */
  folder: string | null;
  /** The external id of the label that messages must have; null: any. */
  label: string | null;
  /** The earliest time of receipt, inclusive; null: no bound. */
  receivedAfter: Instant | null;
  /** The latest time of receipt, exclusive; null: no bound. */
  receivedBefore: Instant | null;
  /** Whether messages must be unread; null: both. */
  unread: boolean | null;
  /** Whether messages must be starred; null: both. */
  starred: boolean | null;
  /** The most messages in one answer. */
  limit: number;
}

/**
 * A message to submit to the provider for delivery.
 *
 * Call `Context::reached("handed-over")` right before the step after which the provider may deliver the message, and not before: until
 * then the host repeats the call after a crash, from then on it looks for the message (`messages.find`) and never repeats it. A failure
 * after that step counts as a refusal, with nothing handed over, when its `detail` says `{"handedOver": false}`, and does not when it
 * says `{"handedOver": true}`. Where `detail` says neither, a refusal is a status of 4xx without 408, and 503.
 *
 * Call `Context::reached("accepted")` as soon as the provider has accepted the message for at least one recipient, and store the copy
 * and delete the draft after that. If the call ends in between, the host knows that the message was sent. Without this call the host has
 * to look for the message, and reports an unknown outcome for a message without a copy (`saveToSent` is false).
 */
export interface MessageSend {
  /** The id of a blob of this call with the message: RFC 5322, lines end with CRLF, without Bcc. */
  blob: string;
  /** The message's Message-ID without angle brackets. */
  internetMessageId: string;
  /** The sender in the envelope. */
  from: EmailAddress;
  /** The recipients in the envelope: to, cc and bcc. */
  recipients: string[];
  /** Whether the connector stores a copy in the sent folder, if the provider does not do so itself. */
  saveToSent: boolean;
  /** The id of a blob with the copy for the sent folder, which has the Bcc; null: `blob`. */
  sentBlob: string | null;
  /** The draft that is sent, which the connector deletes; null if there was none. */
  draft: MessageRef | null;
  /**
   * The provider's id of the message's thread: that of the message it answers, else that of its draft. Null for a message that begins a
   * thread, and if the provider has no threads.
   */
  thread: string | null;
}

/** A change of a message. Fields that are null stay as they are. */
export interface MessageUpdate {
  /** The external id of the message's source. */
  source: string;
  /** The `hint` of the message's item, as the connector last reported it; null if it had none. */
  hint: unknown;
  /** Whether the message becomes unread; null: unchanged. */
  unread: boolean | null;
  /** Whether the message becomes starred; null: unchanged. */
  starred: boolean | null;
  /** Whether the message becomes marked as answered; null: unchanged. */
  answered: boolean | null;
  /** Whether the message becomes marked as forwarded; null: unchanged. */
  forwarded: boolean | null;
  /** The new importance; null: unchanged. */
  importance: Importance | null;
  /** The keywords to add, in lower case. */
  addKeywords: string[];
  /** The keywords to remove, in lower case. */
  removeKeywords: string[];
  /** The external ids of all folders that the message is in after the change, or of one if the provider allows no more; null: unchanged. */
  folders: string[] | null;
  /** The external ids of the labels to add. */
  addLabels: string[];
  /** The external ids of the labels to remove. */
  removeLabels: string[];
  /** The source's etag that the change is based on; null: any version. A mismatch is the failure `conflict`. */
  ifMatch: string | null;
}

/** Messages to read. An unknown message is left out of the answer, or reported as `deleted`. */
export interface MessagesGet {
  /** The messages, at most 200. */
  messages: MessageRef[];
  /** Whether the answer has `headers`. */
  headers: boolean;
  /** Whether the answer has `headers` and `body`. */
  body: boolean;
  /**
   * The largest size of `body.text` and of `body.html`, in bytes each. A longer one is cut after a whole character and marked
   * `truncated`.
   */
  maxBodyBytes: number;
}

/** The format of a task's notes. */
export type NotesFormat = "text" | "html";

/** The attendees that the provider notifies of a change. */
export type Notify = "all" | "externalOnly" | "none";

/** An organization of a contact. It has at least one of `name`, `title` and `department`. */
export interface Organization {
  /** The name of the organization; null if it is unknown. */
  name: string | null;
  /** The contact's job title there; null if it is unknown. */
  title: string | null;
  /** The contact's department there; null if it is unknown. */
  department: string | null;
  /** Whether the contact belongs to the organization now; true if absent. */
  current: boolean;
}

/** A checklist item or a link of a task, to create, change or delete. */
export interface PartWriteOfChecklistItem {
  /** The external id of the task list. */
  collection: string;
  /** The external id of the task's source. */
  source: string;
  /** The provider's id of the checklist item or link; null on a create. */
  part: string | null;
  /** The whole checklist item or link after the change; the default value on a delete. */
  body: ChecklistItem;
  /** The camelCase names of the fields that the caller changed; on a create, all fields that it set. */
  changed: string[];
  /** The task's etag at the provider that the change is based on; null: any version. A mismatch is the failure `conflict`. */
  ifMatch: string | null;
}

/** A checklist item or a link of a task, to create, change or delete. */
export interface PartWriteOfTaskLink {
  /** The external id of the task list. */
  collection: string;
  /** The external id of the task's source. */
  source: string;
  /** The provider's id of the checklist item or link; null on a create. */
  part: string | null;
  /** The whole checklist item or link after the change; the default value on a delete. */
  body: TaskLink;
  /** The camelCase names of the fields that the caller changed; on a create, all fields that it set. */
  changed: string[];
  /** The task's etag at the provider that the change is based on; null: any version. A mismatch is the failure `conflict`. */
  ifMatch: string | null;
}

/** A day of one year, or of every year. */
export interface PartialDate {
  /** The year; null if it is unknown: the day of every year. */
  year: number | null;
  /** The month, from 1 (January) to 12. */
  month: number;
  /** The day of the month, from 1 to 31. */
  day: number;
}

/** The organizer or the creator of an event. */
export interface Person {
  /** The email address; null if it is not known. */
  email: string | null;
  /** The name; null if it is not known. */
  name: string | null;
  /** Whether the person is the connected account. */
  self: boolean;
}

/** The use of a phone number. */
export type PhoneKind = "mobile" | "home" | "work" | "homeFax" | "workFax" | "pager" | "other" | "custom";

/** The picture of a contact. */
export interface Photo {
  /**
   * The address of the picture. Null beside an `etag`: the record holds the picture itself, and `GET /v1/contacts/{contactId}/photo`
   * returns it. A write takes an `http` or `https` URL, or a `data:` URL (RFC 2397) with an image of at most 512 KiB, which is stored in
   * the record.
   */
  url: string | null;
  /** The version of the picture: it changes with the picture. Null for a picture at a `url`. A client does not set it. */
  etag: string | null;
}

/** A postal address of a contact (vCard ADR). It has at least one part or `formatted`. */
export interface PostalAddress {
  /** The use of the address. */
  type: ContactKind;
  /** The user's own name for the address; required with `type` `custom`, else null if there is none. */
  label: string | null;
  /** The whole address as written on an envelope, with line breaks; null if only its parts are known. */
  formatted: string | null;
  /** The street with the house number; null if it is unknown. */
  street: string | null;
  /** An addition to the street, such as the apartment; null if there is none. */
  extended: string | null;
  /** The post office box; null if there is none. */
  poBox: string | null;
  /** The town or city; null if it is unknown. */
  locality: string | null;
  /** The state or province; null if it is unknown. */
  region: string | null;
  /** The postal code; null if it is unknown. */
  postalCode: string | null;
  /** The name of the country, in any language; null if it is unknown. */
  country: string | null;
  /** The country as two capital letters (ISO 3166-1 alpha-2), such as `DE`; null if it is unknown. */
  countryCode: string | null;
}

/** The instances of a series that a change applies to. */
export type RecurrenceScope = "this" | "thisAndFollowing" | "all";

/** A person who is related to a contact. */
export interface Relation {
  /** The name of the person. */
  name: string;
  /** The person's relation to the contact, in the provider's own spelling, such as `spouse` or `assistant`; null if it is unknown. */
  type: string | null;
}

/** A reminder before the start. */
export interface Reminder {
  /** The way in which the user is reminded. */
  method: ReminderMethod;
  /** The minutes from the reminder to the start of the event, 0 to 40,320 (four weeks). */
  minutesBefore: number;
}

/** The way in which a user is reminded. */
export type ReminderMethod = "popup" | "email";

/** The reminders of an event. */
export interface Reminders {
  /** Whether the calendar's default reminders apply. */
  useDefault: boolean;
  /** The reminders that apply instead of the calendar's default ones, at most 20. */
  overrides: Reminder[];
}

/** An answer to an invitation (RFC 5545 PARTSTAT). */
export type ResponseStatus = "needsAction" | "accepted" | "declined" | "tentative";

/** The state in which an event's time is shown to others. */
export type ShowAs = "busy" | "free" | "tentative" | "oof" | "workingElsewhere";

/** A source of a collection. */
export interface SourceRef {
  /** The external id of the collection. */
  collection: string;
  /** The external id of the source. */
  source: string;
  /** The collection's IANA time zone, for times without one; null if it is unknown. */
  timeZone: string | null;
}

/** Sources of one collection to read in one call: the arguments of `*.batchGet`. The answer has for each its items, an error, or `deleted`. */
export interface SourcesGet {
  /** The external id of the collection. */
  collection: string;
  /** The external ids of the sources. */
  sources: string[];
  /** The collection's IANA time zone, for times without one; null if it is unknown. */
  timeZone: string | null;
}

/** A task. Setting `status` to `completed` sets `completedAt` to the present time; another status clears it. */
export interface Task {
  /** The task list that holds the task, as in the path. */
  taskListId?: string | null;
  /** The id of the task that this task is a subtask of, in the same list; null for a task at the top. */
  parentId: string | null;
  /** The title of the task. */
  title: string;
  /** The notes on the task, in the format that `notesFormat` names; null if there are none. */
  notes: string | null;
  /** The format of `notes`. */
  notesFormat: NotesFormat;
  /** The state of the task. */
  status: TaskStatus;
  /** The priority of the task; null if it has none. */
  priority: TaskPriority | null;
  /** The progress from 0 to 100 percent; null if it is unknown. Completing the task sets it to 100. */
  percentComplete: number | null;
  /** The day on which work on the task begins, `YYYY-MM-DD`, at the latest `dueDate`; null if there is none. */
  startDate: string | null;
  /** The day on which the task is due, `YYYY-MM-DD`; null if there is none. */
  dueDate: string | null;
  /**
   * The time of day at which the task is due, `HH:MM` in `timeZone`; null if it is due at any time of the day. It needs `dueDate`. A
   * provider without due times drops it, with a warning.
   */
  dueTime: string | null;
  /**
   * The IANA time zone of `dueTime`, such as `Europe/Berlin`. Null: the time is the same in every zone, or there is none. A write of
   * `dueTime` without it takes the time zone of the list.
   */
  timeZone: string | null;
  /** The time of completion, set when `status` becomes `completed`; null while the task is not completed. */
  completedAt: Instant | null;
  /** The time of the reminder; null if there is none. */
  reminderAt: Instant | null;
  /**
   * The rules by which the task recurs, as RFC 5545 lines without DTSTART: at most one `RRULE:`, any number of `RDATE` and `EXDATE`.
   * Empty for a task that does not recur.
   */
  recurrence: string[];
  /** The names of the task's categories. */
  categories: string[];
  /** The people to whom the task is assigned. */
  assignees: Assignee[];
  /** The position among the tasks of the list: positions are compared as text, lowest first. Null if the provider has no order. */
  position: string | null;
  /** Whether the task has attachments at the provider. */
  hasAttachments: boolean;
  /** The checklist of the task, in order. It is changed under `/checklist-items`. */
  checklistItems: ChecklistItem[];
  /** The links of the task to resources and web pages. They are changed under `/links`. */
  links: TaskLink[];
  /** The address of the task in the provider's own web pages; null if it has none. */
  webUrl: string | null;
}

/** A link of a task to a resource of this API or to a web page. */
export interface TaskLink {
  /** The id of the link. */
  id: string;
  /** The id of the task that the link belongs to. */
  taskId: string;
  /** The address of the web page; null for a link to a resource. */
  url: string | null;
  /** The title of the page or resource; null if it has none. */
  title: string | null;
  /** The name of the application that the link opens; null if it is unknown. */
  applicationName: string | null;
  /** The provider's id of the page or resource; null if it has none. */
  externalId: string | null;
  /** The type of the resource, or `url` for a web page. */
  resourceType: LinkedType;
  /** The id of the resource; null for a web page. */
  resourceId: string | null;
  /** The time at which the link was created, or first seen if the provider does not store it. */
  createdAt: Instant;
}

/** A list of tasks of a connected account. */
export interface TaskList {
  /** The name of the list. */
  name: string;
  /** The purpose of the list, decided by the provider; null if it has none. The default list cannot be deleted. */
  role: TaskListRole | null;
  /** Whether the account owns the list. False: another person shares it with the account. */
  isOwner: boolean;
  /** Whether other people can see the list. */
  isShared: boolean;
  /** Whether the account can read this list but not change it. */
  readOnly: boolean;
  /** The color of the list as `#rrggbb`; null if it has none. */
  color: string | null;
  /** The position among the account's lists, lowest first; 0 if the provider has no order. */
  sortOrder: number;
  /** The number of tasks in the list; null if it is unknown. */
  taskCount: number | null;
  /** The number of tasks that are neither completed nor cancelled; null if it is unknown. */
  openCount: number | null;
}

/** The purpose of a task list. */
export type TaskListRole = "default" | "flagged";

/** The priority of a task. */
export type TaskPriority = "low" | "normal" | "high";

/** The state of a task. */
export type TaskStatus = "needsAction" | "inProgress" | "completed" | "waiting" | "deferred" | "cancelled";

/** The offsets of a time zone that has no IANA name (RFC 5545 section 3.6.5). */
export interface TimeZoneRules {
  /**
   * The clock as a POSIX TZ string (RFC 9636 section 3.3.2), such as `STD5DST4,M4.1.0/2,M10.5.0/2`; null if `offset` and `transitions`
   * describe the clock.
   */
  posix: string | null;
  /** The offset before the first transition, in seconds east of UTC. */
  offset: number;
  /** The changes of the clock in order; the offset of the last one stays. */
  transitions: TimeZoneTransition[];
}

/** A change of clocks. */
export interface TimeZoneTransition {
  /** The instant of the change. */
  at: Instant;
  /** The offset from then on, in seconds east of UTC. */
  offset: number;
}

/** The people who can see an event's details (RFC 5545 CLASS). */
export type Visibility = "default" | "public" | "private" | "confidential";

/** A request that the provider extends a watch: the arguments of `watch.renew`. */
export interface WatchRenew {
  /** The `externalId` of the last answer about this watch. */
  externalId: string;
  /** The `resource` of the last answer about this watch; null if it had none. */
  resource: string | null;
  /** The `channel` of the watch, as in `watch.start`. */
  channel: string;
  /** The `token` of the watch, as in `watch.start`, for a provider that wants it again. */
  token: string;
  /** The `address` of the watch, as in `watch.start`, for a provider that wants it again. */
  address: string;
  /** The end that the host asks for; the provider may choose an earlier one. */
  wantedUntil: Instant;
  /** The `surface` of the watch, as in `watch.start`. */
  surface: string;
  /** The `scope` of the watch, as in `watch.start`. */
  scope: string | null;
}

/** A request that the provider posts a notification whenever something in `scope` changes: the arguments of `watch.start`. */
export interface WatchStart {
  /** The surface whose data is watched: `email`, `calendar`, `contacts` or `tasks`. */
  surface: string;
  /**
   * The external id of the collection (calendar, address book, task list) whose contents are watched. Null: for mail the whole mailbox,
   * for other surfaces the account's collections themselves.
   */
  scope: string | null;
  /**
   * The URL that the provider posts to: HTTPS, except in tests on one machine, without a query. It also takes notifications about the
   * subscription itself (Graph's `lifecycleNotificationUrl`). A provider that posts to a topic of the operator (Gmail) needs none.
   */
  address: string;
  /**
   * The secret of this watch that the provider sends with each notification: at most 128 characters of `A-Za-z0-9_-`. It must not be
   * logged or sent anywhere but to the provider.
   */
  token: string;
  /**
   * The host's id of the watch, never used before: at most 64 characters of `A-Za-z0-9_-`. It is for providers that let the client
   * choose the id.
   */
  channel: string;
  /** The end that the host asks for; the provider may choose an earlier one. */
  wantedUntil: Instant;
}

/** A request that the provider stops posting: the arguments of `watch.stop`. */
export interface WatchStop {
  /** The `externalId` of the last answer about this watch. */
  externalId: string;
  /** The `resource` of the last answer about this watch; null if it had none. */
  resource: string | null;
  /** The `channel` of the watch, as in `watch.start`. */
  channel: string;
}
