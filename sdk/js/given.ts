/** What the host gives a connector: arguments, in which every field is there. Made of `sdk/model` by its test `typescript`. */

/** The account's rights in a calendar. */
export type AccessRole = "owner" | "writer" | "reader" | "freeBusyReader";

/** A yearly date of a contact. */
export interface Anniversary {
  /** As the provider names it: `wedding`. */
  type: string | null;
  /** The day. */
  date: PartialDate;
}

/** A person who is to do a task. */
export interface Assignee {
  /** The email address. */
  email: string | null;
  /** The name. */
  name: string | null;
}

/** An attachment to read. */
export interface AttachmentRef {
  /** External id of the source. */
  source: string;
  /** `Item.hint` of its item, as it was reported last. */
  hint: unknown;
  /** `attachments[].id` as the connector reported it. */
  part: string;
}

/** A person or resource that is invited (RFC 5545 ATTENDEE). */
export interface Attendee {
  /** The email address. */
  email: string;
  /** The name. */
  name: string | null;
  /** The answer to the invitation (PARTSTAT). */
  responseStatus: ResponseStatus;
  /** The attendee's role (ROLE). */
  role: AttendeeRole;
  /** The kind of attendee (CUTYPE). */
  kind: AttendeeKind;
  /** A note with the response. */
  comment: string | null;
  /** The attendee is the connected account. */
  self: boolean;
  /** Whether the attendee is the organizer. */
  organizer: boolean;
}

/** The kind of an attendee (RFC 5545 CUTYPE). */
export type AttendeeKind = "individual" | "group" | "resource" | "room";

/** The role of an attendee (RFC 5545 ROLE). */
export type AttendeeRole = "required" | "optional" | "chair" | "nonParticipant";

/** The account's rights in a book. */
export interface BookRights {
  /** Whether contacts can be read. */
  read: boolean;
  /** Whether contacts can be created and changed. */
  write: boolean;
  /** Whether contacts can be deleted. */
  delete: boolean;
}

/** A calendar, as the provider has it. */
export interface Calendar {
  /** The user's name for the calendar. */
  name: string;
  /** The description, plain text. */
  description: string | null;
  /** IANA name; the zone of all-day events and of times without one. */
  timeZone: string | null;
  /** `#rrggbb`. */
  color: string | null;
  /** The account's default calendar. */
  isPrimary: boolean;
  /** Whether the account owns the calendar. */
  isOwned: boolean;
  /** Whether the account cannot change events in it. */
  readOnly: boolean;
  /** The account's rights in the calendar. */
  accessRole: AccessRole;
  /** The place that the calendar belongs to. */
  location: string | null;
  /** Reminders of events that set `useDefault`. */
  defaultReminders: Reminder[];
  /** The events that count as busy (RFC 9670 `includeInAvailability`). */
  includeInAvailability: IncludeInAvailability;
  /** Conference providers that events here can have; empty: none. */
  conferenceTypes: ConferenceProvider[];
}

/** Body of a `changes` call, and of a `*.list` inside a collection. */
export interface ChangesRequest {
  /** External id of the collection (calendar, address book, task list, mailbox); none where the surface has no collections. */
  collection: string | null;
  /** The collection's zone, for dates without one. */
  timeZone: string | null;
  /** At most about this many sources in one answer; 0: the connector's choice. */
  limit: number;
  /**
   * Only name the sources (`externalId`, `etag`, `deleted`) and read none of their content. The host requests it for the
   * page that crashed the connector, to read its sources one by one and find the faulty one. A connector that cannot
   * ignores it, and such a source blocks its collection.
   */
  namesOnly: boolean;
  /**
   * Allows an answer that names all sources of the listing (`Sources.named`), however many, where there is more than a page: one
   * listing instead of one per page, for a provider that cannot go on inside a listing. A connector that can ignores it.
   */
  namesFirst: boolean;
}

/** A step of a task. */
export interface ChecklistItem {
  /** The step's id. */
  id: string;
  /** The task's id. */
  taskId: string;
  /** The text of the step. */
  title: string;
  /** Whether the step is done. */
  checked: boolean;
  /** The time at which it was done. */
  checkedAt: Instant | null;
  /** Sorts the items as text. */
  position: string | null;
  /** The time of creation. */
  createdAt: Instant;
  /** The version, with its quotes, as in the `ETag` header. */
  etag: string;
}

/** A collection to delete, with everything in it. */
export interface CollectionDelete {
  /** External id of its source. */
  source: string;
  /** Provider etag that the change is based on; a mismatch is failure "conflict". */
  ifMatch: string | null;
  /** Delete the collection even if it is not empty. The host has checked; a provider that can refuse checks again. */
  force: boolean;
}

/** A collection (calendar, address book, task list) to make or to change. */
export interface CollectionWriteOfTaskList {
  /** External id of its source; none on create. */
  source: string | null;
  /** The whole collection as it shall be. */
  body: TaskList;
  /** Names (camelCase) of the fields that the caller changed; all given ones on create. */
  changed: string[];
  /** Provider etag that the change is based on; a mismatch is failure "conflict". */
  ifMatch: string | null;
}

/** A collection (calendar, address book, task list) to make or to change. */
export interface CollectionWriteOfCalendar {
  /** External id of its source; none on create. */
  source: string | null;
  /** The whole collection as it shall be. */
  body: Calendar;
  /** Names (camelCase) of the fields that the caller changed; all given ones on create. */
  changed: string[];
  /** Provider etag that the change is based on; a mismatch is failure "conflict". */
  ifMatch: string | null;
}

/** A collection (calendar, address book, task list) to make or to change. */
export interface CollectionWriteOfContactBook {
  /** External id of its source; none on create. */
  source: string | null;
  /** The whole collection as it shall be. */
  body: ContactBook;
  /** Names (camelCase) of the fields that the caller changed; all given ones on create. */
  changed: string[];
  /** Provider etag that the change is based on; a mismatch is failure "conflict". */
  ifMatch: string | null;
}

/** An online meeting of an event. */
export interface Conference {
  /** The service that hosts the meeting. */
  provider: ConferenceProvider;
  /** Whether the meeting exists already. */
  status: ConferenceStatus;
  /** The address to join the meeting at. */
  joinUrl: string | null;
  /** The meeting's id at the service. */
  meetingId: string | null;
  /** The passcode to join. */
  passcode: string | null;
  /** Numbers to dial in. */
  phones: ConferencePhone[];
  /** The id of the request that created the meeting, where the provider has one. */
  createRequestId: string | null;
}

/** A number to dial in. */
export interface ConferencePhone {
  /** The number. */
  number: string;
  /** The PIN to enter after dialing. */
  pin: string | null;
  /** The country or region of the number. */
  region: string | null;
}

/** A service for online meetings. */
export type ConferenceProvider = "googleMeet" | "teams" | "zoom" | "webex" | "other";

/** The state of a requested meeting. */
export type ConferenceStatus = "pending" | "ready" | "failed";

/** Body that goes with every call: the connector's view of the connection. The host puts it under `connection`. */
export interface Connection {
  /**
   * The user's settings (`serverUrl`) merged with those that `check` found. `discoveredOrigins`, a list of texts, are the origins that
   * `check` found and the host accepted.
   */
  settings: { [name: string]: unknown };
  /** The account's addresses, lower case: "self" among the people of an event. */
  addresses: string[];
  /** The login name, where the connection has one. Never the password. */
  username: string | null;
}

/**
 * A person or an organization in an address book. It has at least one of a name, an e-mail address, a phone number and an
 * organization.
 */
export interface Contact {
  /** None on a create: the default book of `connectionId`. It stays the same for the contact's life. */
  bookId?: string | null;
  /** None on a create: composed of the other names, else of the organization, an address or a number. */
  displayName: string | null;
  /** The given name (vCard N). */
  givenName: string | null;
  /** Further given names. */
  middleName: string | null;
  /** The family name (vCard N). */
  familyName: string | null;
  /** Words before the name, such as `Dr.`. */
  prefix: string | null;
  /** Words after the name, such as `Jr.`. */
  suffix: string | null;
  /** The nickname. */
  nickname: string | null;
  /** The pronunciation of the given name. */
  phoneticGivenName: string | null;
  /** The pronunciation of the family name. */
  phoneticFamilyName: string | null;
  /** Email addresses. */
  emails: ContactEmail[];
  /** Phone numbers. */
  phones: ContactPhone[];
  /** Postal addresses. */
  addresses: PostalAddress[];
  /** Organizations and the contact's place in them. */
  organizations: Organization[];
  /** Web addresses. */
  urls: ContactUrl[];
  /** Addresses for instant messages. */
  imAddresses: ImAddress[];
  /** Related people. */
  relations: Relation[];
  /** The birthday. */
  birthday: PartialDate | null;
  /** Other yearly dates. */
  anniversaries: Anniversary[];
  /** Notes, plain text. */
  notes: string | null;
  /** The picture. */
  photo: Photo | null;
  /** The groups of the same book that the contact is a member of. */
  groupIds: string[];
  /** The part of the provider's account that the contact comes from. */
  source: ContactSource;
  /** Whether it is starred (flagged). */
  starred: boolean;
  /** The contact that this one was merged into; the old id keeps working. */
  mergedInto: string | null;
}

/** An address book. */
export interface ContactBook {
  /** The name. */
  name: string;
  /** The description, plain text. */
  description: string | null;
  /** Whether new contacts are stored here by default. */
  isDefault: boolean;
  /** Whether the account cannot change it. */
  readOnly: boolean;
  /** Contacts in the book; null if unknown. */
  contactCount: number | null;
  /** The account's rights in the book. */
  rights: BookRights;
}

/** An email address of a contact. */
export interface ContactEmail {
  /** The address. */
  value: string;
  /** The use of the address. */
  type: ContactKind;
  /** A name of the user's own for it. */
  label: string | null;
  /** Whether it is the preferred one. */
  primary: boolean;
}

/** A named set of contacts. */
export interface ContactGroup {
  /** None on a create: the default book of `connectionId`. It stays the same for the group's life. */
  bookId?: string | null;
  /** The name. */
  name: string;
  /** Whether the user or the provider owns the group. */
  kind: GroupKind;
  /** Null where there are more than 500: then they are listed with `group_id`. */
  contactIds: string[] | null;
  /** Contacts in the group. */
  memberCount: number;
  /** Whether the account cannot change it. */
  readOnly: boolean;
}

/** The use of an address or number. */
export type ContactKind = "home" | "work" | "other" | "custom";

/** A phone number of a contact. */
export interface ContactPhone {
  /** As written. */
  value: string;
  /** ITU E.164, where the number can be parsed: `+4930901820`. */
  e164: string | null;
  /** The use of the number. */
  type: PhoneKind;
  /** A name of the user's own for it. */
  label: string | null;
  /** Whether it is the preferred one. */
  primary: boolean;
}

/** The part of the provider's account that the contact comes from. */
export type ContactSource = "addressBook" | "suggested" | "directory";

/** A web address of a contact. */
export interface ContactUrl {
  /** The address. */
  value: string;
  /** The use of the address. */
  type: ContactKind;
}

/** A contact to make or to change. `write.body.photo.url` may be a `data:` URL: the picture itself. */
export interface ContactWrite {
  /** External id of the collection. */
  collection: string;
  /** The collection's zone, for dates without one. */
  timeZone: string | null;
  /** External id of the source; none on create. */
  source: string | null;
  /** The whole item as it shall be; other items in it are named as `Item.uid` names them. */
  body: Contact;
  /**
   * Names (camelCase) of the fields that the caller changed; all given ones on create. Fields that are not named keep the
   * provider's bytes.
   */
  changed: string[];
  /** Provider etag that the change is based on; a mismatch is failure "conflict". */
  ifMatch: string | null;
  /**
   * Refuses the write (failure "unsupported", the field's name as `detail.field`) before anything is written, if the provider cannot
   * keep a field. Without it the rest is written, with a warning `field_not_supported`.
   */
  strict: boolean;
  /** External ids of the sources of the groups that it shall become a member of. */
  joins: string[];
  /** The same of the groups that it shall leave. */
  leaves: string[];
}

/** A draft to store: in the drafts folder, with `draft` set and read. */
export interface DraftSave {
  /** Blob of this call: the message, RFC 5322. */
  blob: string;
  /** Its Message-ID, without angle brackets. */
  internetMessageId: string;
  /** The version that this one takes the place of; it is gone afterwards, and `Source.previousId` of the new one names it. */
  replaces: MessageRef | null;
  /** The replaced source's etag; a mismatch is failure "conflict". */
  ifMatch: string | null;
  /**
   * The provider's id of the thread that the draft belongs to: that of the message it answers, else that of the version it replaces.
   * None for a draft that begins a thread, and where the provider has no threads.
   */
  thread: string | null;
}

/** A mailbox address, best effort: mail in the wild may lack the `@`. */
export interface EmailAddress {
  /** The display name. */
  name: string | null;
  /** The address. */
  email: string;
}

/** A calendar event: a single one, a series, or one changed instance of a series. */
export interface Event {
  /** RFC 5545 UID; equal for a series and its exceptions. */
  iCalUid: string | null;
  /** RFC 5545 SEQUENCE. */
  sequence: number;
  /** The place of the event in a series. */
  type: EventType;
  /** Original local start of an exception or occurrence: `YYYY-MM-DDTHH:MM:SS` in the series' zone, or `YYYY-MM-DD`. */
  recurrenceId: string | null;
  /** The same as an instant. */
  originalStart: Instant | null;
  /**
   * An exception that is meant for all later instances, too (RFC 5545 RANGE=THISANDFUTURE): those without an exception of their own
   * have its fields, its length, and its distance from the original start. Read only.
   */
  appliesToFollowing?: boolean;
  /** First instant. For all-day events the midnight of `startDate` in the calendar's zone. */
  start: Instant;
  /** The end (exclusive); equal to `start` for an event without a length. */
  end: Instant;
  /**
   * How long each instance of a series takes, as an RFC 5545 DURATION such as `P1DT2H`, where the provider gives it in days: so many
   * days later by the clock, then so many hours later. Absent: exactly as long as from `start` to `end`.
   */
  duration?: string | null;
  /** IANA name of the zone that the start is anchored in. */
  timeZone: string;
  /** IANA name, where the end is in another zone. */
  endTimeZone: string | null;
  /**
   * The rules of the start's zone, where the provider's zone is none of IANA's: then `timeZone` is `UTC`, and the instances of
   * the series are at the same time of day on this clock. Only on a series with times, and on an exception that applies to following
   * instances. Read only.
   */
  timeZoneRules?: TimeZoneRules | null;
  /** Whether the event lasts whole days. */
  allDay: boolean;
  /** All-day events: first day, `YYYY-MM-DD`. */
  startDate: string | null;
  /** All-day events: the day after the last, `YYYY-MM-DD`. */
  endDate: string | null;
  /** The title (RFC 5545 SUMMARY). */
  title: string | null;
  /** Plain text. */
  description: string | null;
  /** HTML as the provider has it: untrusted. */
  descriptionHtml: string | null;
  /** The place, as one line of text. */
  location: string | null;
  /** The places, one by one; null if the provider has only `location`. */
  locations: Location[] | null;
  /** `#rrggbb`. */
  color: string | null;
  /** The event in the provider's own web pages. */
  htmlLink: string | null;
  /** The status (RFC 5545 STATUS). */
  status: EventStatus;
  /** The state in which the time is shown to others. */
  showAs: ShowAs;
  /** Derived: whether `showAs` and `status` make this time busy. */
  busy: boolean;
  /** The people who can see the details. */
  visibility: Visibility;
  /** The purpose of the event. */
  eventKind: EventKind;
  /** The account cannot change it. */
  readOnly: boolean;
  /** The organizer; null for an event without attendees. */
  organizer: Person | null;
  /** The person who created the event, if the provider names one. */
  creator: Person | null;
  /** The people and resources that are invited. */
  attendees: Attendee[];
  /** Whether attendees cannot see each other. */
  hideAttendees: boolean;
  /** Whether attendees can change the event. */
  guestsCanModify: boolean;
  /** Whether attendees can invite others. */
  guestsCanInvite: boolean;
  /** The number of people that can attend; null: no limit. */
  capacity: number | null;
  /** The response of the attendee who is the account itself; null where it is not invited. */
  myResponse: ResponseStatus | null;
  /**
   * RFC 5545 lines without DTSTART: at most one `RRULE:`, any `RDATE` and `EXDATE`. Only on a series. Lines of other programs are
   * shown unchanged, also several rules and `EXRULE` (RFC 2445).
   */
  recurrence: string[];
  /** The online meeting. */
  conference: Conference | null;
  /** The reminders of the account. */
  reminders: Reminders;
  /** Links to files. */
  attachments: EventAttachment[];
}

/** A link to a file. */
export interface EventAttachment {
  /** The file's name. */
  title: string | null;
  /** The file's address. */
  url: string | null;
  /** The media type. */
  mimeType: string | null;
}

/** A conference to add to an event. */
export interface EventConference {
  /** External id of the calendar. */
  collection: string;
  /** The calendar's zone, for dates without one. */
  timeZone: string | null;
  /** The event, and the part of its series, that the call is about. */
  target: EventTarget;
  /** The service; none: the connector's choice. */
  provider: ConferenceProvider | null;
}

/** An event to delete. */
export interface EventDelete {
  /** External id of the calendar. */
  collection: string;
  /** The calendar's zone, for dates without one. */
  timeZone: string | null;
  /** The event, and the part of its series, that the call is about. */
  target: EventTarget;
  /** The attendees that the provider notifies. */
  notify: Notify;
  /** As [`EventWrite::strict`]. */
  strict: boolean;
}

/** The purpose of an event. */
export type EventKind = "default" | "outOfOffice" | "focusTime" | "workingLocation";

/** An answer to an invitation. */
export interface EventRespond {
  /** External id of the calendar. */
  collection: string;
  /** The calendar's zone, for dates without one. */
  timeZone: string | null;
  /** The event, and the part of its series, that the call is about. */
  target: EventTarget;
  /** The answer. */
  response: ResponseStatus;
  /** A note to the organizer. */
  comment: string | null;
  /** Whether the organizer is notified. */
  notifyOrganizer: boolean;
  /** As [`EventWrite::strict`], of `notifyOrganizer`. */
  strict: boolean;
}

/** The status of an event (RFC 5545 STATUS). */
export type EventStatus = "confirmed" | "tentative" | "cancelled";

/** The event to change: the source, and inside it the series, an instance, or all from one instance on. */
export interface EventTarget {
  /** External id of the source; none on create. */
  source: string | null;
  /** Original local start of the instance (as `Event.recurrenceId`); none: the single event or the series. */
  recurrenceId: string | null;
  /** The same as an instant. */
  originalStart: Instant | null;
  /** `This` with a `recurrenceId`: that instance. `ThisAndFollowing`: from it on. `All`: the whole series. */
  scope: RecurrenceScope;
  /** Provider etag that the change is based on; a mismatch is failure "conflict". */
  ifMatch: string | null;
}

/** `occurrence` is never stored: it is computed from a series. */
export type EventType = "single" | "series" | "occurrence" | "exception";

/** An event to create or to change. */
export interface EventWrite {
  /** External id of the calendar. */
  collection: string;
  /** The calendar's zone, for dates without one. */
  timeZone: string | null;
  /** The event, and the part of its series, that the call is about. */
  target: EventTarget;
  /**
   * The whole event as it shall be (of the target: the instance, or the series). For `thisAndFollowing` the first
   * event of the new series.
   */
  event: Event;
  /**
   * Names (camelCase) of the fields that the caller changed; all given ones on create. Fields that are not named keep the
   * provider's bytes.
   */
  changed: string[];
  /** The attendees that the provider notifies. */
  notify: Notify;
  /**
   * Refuses the write (failure "unsupported", `notify` as `detail.field`) before anything is written, if the provider cannot notify
   * exactly those whom `notify` names. Without it the event is written, with a warning `notify_not_supported`.
   */
  strict: boolean;
}

/** Busy times straight from the provider. */
export interface FreeBusyRequest {
  /** External ids of calendars of this account; empty with an `email`. */
  collections: string[];
  /** The address of another person, queried through this account. */
  email: string | null;
  /** The start, inclusive. */
  start: Instant;
  /** The end, exclusive. */
  end: Instant;
}

/** The owner of a group. */
export type GroupKind = "user" | "system";

/** An address for instant messages. */
export interface ImAddress {
  /** As the provider names it: `xmpp`, `matrix`. */
  protocol: string | null;
  /** The user's name there. */
  handle: string;
}

/** The importance of a message. */
export type Importance = "low" | "normal" | "high";

/** The events of a calendar that count as busy (RFC 9670). */
export type IncludeInAvailability = "all" | "attending" | "none";

/** RFC 3339 instant, UTC, millisecond precision */
export type Instant = string;

/** A source to delete. */
export interface ItemDelete {
  /** External id of the collection. */
  collection: string;
  /** External id of the source. */
  source: string;
  /** Provider etag that the change is based on; a mismatch is failure "conflict". */
  ifMatch: string | null;
}

/** An item of a collection (contact, group, task) to make or to change. */
export interface ItemWriteOfTask {
  /** External id of the collection. */
  collection: string;
  /** The collection's zone, for dates without one. */
  timeZone: string | null;
  /** External id of the source; none on create. */
  source: string | null;
  /** The whole item as it shall be; other items in it are named as `Item.uid` names them. */
  body: Task;
  /**
   * Names (camelCase) of the fields that the caller changed; all given ones on create. Fields that are not named keep the
   * provider's bytes.
   */
  changed: string[];
  /** Provider etag that the change is based on; a mismatch is failure "conflict". */
  ifMatch: string | null;
  /**
   * Refuses the write (failure "unsupported", the field's name as `detail.field`) before anything is written, if the provider cannot
   * keep a field. Without it the rest is written, with a warning `field_not_supported`.
   */
  strict: boolean;
}

/** An item of a collection (contact, group, task) to make or to change. */
export interface ItemWriteOfContactGroup {
  /** External id of the collection. */
  collection: string;
  /** The collection's zone, for dates without one. */
  timeZone: string | null;
  /** External id of the source; none on create. */
  source: string | null;
  /** The whole item as it shall be; other items in it are named as `Item.uid` names them. */
  body: ContactGroup;
  /**
   * Names (camelCase) of the fields that the caller changed; all given ones on create. Fields that are not named keep the
   * provider's bytes.
   */
  changed: string[];
  /** Provider etag that the change is based on; a mismatch is failure "conflict". */
  ifMatch: string | null;
  /**
   * Refuses the write (failure "unsupported", the field's name as `detail.field`) before anything is written, if the provider cannot
   * keep a field. Without it the rest is written, with a warning `field_not_supported`.
   */
  strict: boolean;
}

/** The type of a link's subject. */
export type LinkedType = "email_message" | "calendar_event" | "contact" | "url";

/** A place. */
export interface Location {
  /** The name of the place. */
  name: string | null;
  /** The postal address, as one text. */
  address: string | null;
  /** A web address. */
  uri: string | null;
  /** `geo:` URI's coordinates as `lat,lon`. */
  geo: string | null;
}

/**
 * A message to put into a folder, without sending it. A repeated append under the same idempotency key must find what the
 * first attempt left: by `internetMessageId` in the folder.
 */
export interface MessageAppend {
  /** Blob of this call: the message, RFC 5322, lines end with CRLF. */
  blob: string;
  /** Its Message-ID, without angle brackets. */
  internetMessageId: string;
  /** External ids of folders; none: the inbox. */
  folders: string[];
  /** External ids of labels. */
  labels: string[];
  /** Whether it has not been read. */
  unread: boolean;
  /** Whether it is starred (flagged). */
  starred: boolean;
  /** Whether it is a draft. */
  draft: boolean;
  /** IMAP and JMAP keywords, lower case. */
  keywords: string[];
  /** The internal date; none: now. */
  receivedAt: Instant | null;
}

/** A message to delete. */
export interface MessageDelete {
  /** External id of the source. */
  source: string;
  /** `Item.hint` of its item, as it was reported last. */
  hint: unknown;
  /** Destroy it. Else it goes to the trash, and where there is none it is destroyed too. */
  permanent: boolean;
  /** Provider etag that the change is based on; a mismatch is failure "conflict". */
  ifMatch: string | null;
}

/** Looks for a message that a crash may have left: by Message-ID, in the folders that sent mail and drafts go to. */
export interface MessageFind {
  /** Without angle brackets. */
  internetMessageId: string;
}

/** A message at the provider. */
export interface MessageRef {
  /** External id of the source. */
  source: string;
  /** `Item.hint` of its item, as it was reported last. */
  hint: unknown;
}

/** A search at the provider, over all that a message holds; `Context.cursor` continues. Newest first by `receivedAt`. */
export interface MessageSearch {
  /** Words that all must occur, in headers or text. */
  text: string | null;
  /** In the provider's own query language; instead of `text`. */
  nativeQuery: string | null;
  /** External id of a folder; none: everywhere, trash and junk too. */
  folder: string | null;
  /** External id of a label. */
  label: string | null;
  /** Only messages received at this time or later. */
  receivedAfter: Instant | null;
  /** Only messages received before this time. */
  receivedBefore: Instant | null;
  /** Only unread messages, or only read ones. */
  unread: boolean | null;
  /** Only starred messages, or only others. */
  starred: boolean | null;
  /** At most this many in one answer. */
  limit: number;
}

/**
 * A message to hand over for delivery.
 *
 * Call `Context::reached("handed-over")` right before the step after which the provider may deliver it, and not before: until then the
 * host repeats the call after a crash, from then on it looks for the message (`messages.find`) and never repeats it. A failure
 * after that step counts as a refusal, with nothing handed over, when its `detail` says `{"handedOver": false}`, and does not when it
 * says `{"handedOver": true}`. Where `detail` says neither, a refusal is a status of 4xx without 408, and 503.
 *
 * Call `Context::reached("accepted")` as soon as the provider has accepted the message for at least one recipient, and go on with
 * the copy and the draft after that. A call that ends in between is then a message that was sent; without it the host has to look for the
 * message, and of one without a copy (`save_to_sent` false) it could only say that the outcome is unknown.
 */
export interface MessageSend {
  /** Blob of this call: the message, RFC 5322, lines end with CRLF, without Bcc. */
  blob: string;
  /** Its Message-ID, without angle brackets. */
  internetMessageId: string;
  /** The envelope's sender. */
  from: EmailAddress;
  /** The envelope's recipients: to, cc and bcc. */
  recipients: string[];
  /** Keep a copy in the sent folder, if the provider does not do so by itself. */
  saveToSent: boolean;
  /** With the Bcc that the copy in the sent folder shall show; none: `blob`. */
  sentBlob: string | null;
  /** The draft that it was; it is gone afterwards. */
  draft: MessageRef | null;
  /**
   * The provider's id of the thread that the message belongs to: that of the message it answers, else that of its draft. None for a
   * message that begins a thread, and where the provider has no threads.
   */
  thread: string | null;
}

/** A change of a message. Fields that are none stay as they are. */
export interface MessageUpdate {
  /** External id of the source. */
  source: string;
  /** `Item.hint` of its item, as it was reported last. */
  hint: unknown;
  /** Whether it is to be unread. */
  unread: boolean | null;
  /** Whether it is to be starred. */
  starred: boolean | null;
  /** Whether it is to be marked as answered. */
  answered: boolean | null;
  /** Whether it is to be marked as forwarded. */
  forwarded: boolean | null;
  /** The importance that it is to have. */
  importance: Importance | null;
  /** Lower case. */
  addKeywords: string[];
  /** Lower case. */
  removeKeywords: string[];
  /** External ids of the folders that it shall be in, all of them; one where the provider has no more. */
  folders: string[] | null;
  /** External ids of labels. */
  addLabels: string[];
  /** External ids of labels. */
  removeLabels: string[];
  /** The source's etag that the change is based on; a mismatch is failure "conflict". */
  ifMatch: string | null;
}

/** Messages to read. An unknown one is left out of the answer, or reported as `deleted`. */
export interface MessagesGet {
  /** At most 200. */
  messages: MessageRef[];
  /** With `headers`. */
  headers: boolean;
  /** With `headers` and `body`. */
  body: boolean;
  /** Most bytes of each of `body.text` and `body.html`; a longer one is cut at a character and marked `truncated`. */
  maxBodyBytes: number;
}

/** The format of a task's notes. */
export type NotesFormat = "text" | "html";

/** The attendees that the provider notifies. */
export type Notify = "all" | "externalOnly" | "none";

/** An organization of a contact. */
export interface Organization {
  /** The organization's name. */
  name: string | null;
  /** The contact's job title. */
  title: string | null;
  /** The department. */
  department: string | null;
  /** Whether the contact is in the organization now; true if absent. */
  current: boolean;
}

/** A step or a link of a task, to make, change or delete. */
export interface PartWriteOfChecklistItem {
  /** External id of the task list. */
  collection: string;
  /** External id of the task's source. */
  source: string;
  /** The provider's id of the part; none on create. */
  part: string | null;
  /** The whole part as it shall be; of no meaning on delete. */
  body: ChecklistItem;
  /** Names (camelCase) of the fields that the caller changed; all given ones on create. */
  changed: string[];
  /** The task's provider etag that the change is based on; a mismatch is failure "conflict". */
  ifMatch: string | null;
}

/** A step or a link of a task, to make, change or delete. */
export interface PartWriteOfTaskLink {
  /** External id of the task list. */
  collection: string;
  /** External id of the task's source. */
  source: string;
  /** The provider's id of the part; none on create. */
  part: string | null;
  /** The whole part as it shall be; of no meaning on delete. */
  body: TaskLink;
  /** Names (camelCase) of the fields that the caller changed; all given ones on create. */
  changed: string[];
  /** The task's provider etag that the change is based on; a mismatch is failure "conflict". */
  ifMatch: string | null;
}

/** A day of a year, or of every year. */
export interface PartialDate {
  /** The year; null: every year. */
  year: number | null;
  /** 1 to 12. */
  month: number;
  /** 1 to 31. */
  day: number;
}

/** The organizer or the creator of an event. */
export interface Person {
  /** The email address. */
  email: string | null;
  /** The name. */
  name: string | null;
  /** The attendee is the connected account. */
  self: boolean;
}

/** The use of a phone number. */
export type PhoneKind = "mobile" | "home" | "work" | "homeFax" | "workFax" | "pager" | "other" | "custom";

/** The picture of a contact. */
export interface Photo {
  /**
   * The picture's address. Null beside an `etag`: it is stored in the record, and `GET /v1/contacts/{contactId}/photo` has it. On a
   * write, a `data:` URL (RFC 2397) of an image, at most 512 KiB, stores the picture in the record.
   */
  url: string | null;
  /** Changes with the picture. */
  etag: string | null;
}

/** A postal address (vCard ADR). */
export interface PostalAddress {
  /** The use of the address. */
  type: ContactKind;
  /** A name of the user's own for it. */
  label: string | null;
  /** The whole address as it is written on an envelope. */
  formatted: string | null;
  /** The street and the number. */
  street: string | null;
  /** An addition, such as the apartment. */
  extended: string | null;
  /** The post office box. */
  poBox: string | null;
  /** The town. */
  locality: string | null;
  /** The state or province. */
  region: string | null;
  /** The postal code. */
  postalCode: string | null;
  /** The name of the country. */
  country: string | null;
  /** ISO 3166-1 alpha-2. */
  countryCode: string | null;
}

/** The instances of a series that a change is meant for. */
export type RecurrenceScope = "this" | "thisAndFollowing" | "all";

/** A person who is related to a contact. */
export interface Relation {
  /** The person's name. */
  name: string;
  /** As the provider names it: `spouse`, `assistant`. */
  type: string | null;
}

/** A reminder before the start. */
export interface Reminder {
  /** The way in which the user is reminded. */
  method: ReminderMethod;
  /** Minutes before the start, 0 to 40,320 (four weeks). */
  minutesBefore: number;
}

/** The way in which a user is reminded. */
export type ReminderMethod = "popup" | "email";

/** The reminders of an event. */
export interface Reminders {
  /** The calendar's default reminders apply. */
  useDefault: boolean;
  /** Reminders instead of the calendar's default ones. */
  overrides: Reminder[];
}

/** An answer to an invitation (RFC 5545 PARTSTAT). */
export type ResponseStatus = "needsAction" | "accepted" | "declined" | "tentative";

/** The state in which an event's time is shown to others. */
export type ShowAs = "busy" | "free" | "tentative" | "oof" | "workingElsewhere";

/** One source of a collection. */
export interface SourceRef {
  /** External id of the collection. */
  collection: string;
  /** External id of the source. */
  source: string;
  /** The collection's zone, for dates without one. */
  timeZone: string | null;
}

/**
 * Sources of one collection, to be read in one call; body of `*.batchGet`. The answer has for each its items, an error, or
 * `deleted`.
 */
export interface SourcesGet {
  /** External id of the collection. */
  collection: string;
  /** External ids of the sources. */
  sources: string[];
  /** The collection's zone, for dates without one. */
  timeZone: string | null;
}

/** A task. Setting `status` to `completed` stamps `completedAt`, leaving it clears that. */
export interface Task {
  /** The list of the path. */
  taskListId?: string | null;
  /** The id of the task that it is a part of. */
  parentId: string | null;
  /** 1 to 1,024 characters. */
  title: string;
  /** Notes, as `notesFormat` says. */
  notes: string | null;
  /** The format of `notes`. */
  notesFormat: NotesFormat;
  /** The state of the task. */
  status: TaskStatus;
  /** The priority. */
  priority: TaskPriority | null;
  /** 0 to 100. */
  percentComplete: number | null;
  /** `YYYY-MM-DD`. */
  startDate: string | null;
  /** `YYYY-MM-DD`. */
  dueDate: string | null;
  /** `HH:MM` in `timeZone`. A provider without times drops it and says so in `warnings`. */
  dueTime: string | null;
  /** IANA name. */
  timeZone: string | null;
  /** The time of completion. */
  completedAt: Instant | null;
  /** The time of the reminder. */
  reminderAt: Instant | null;
  /** RFC 5545 lines without DTSTART: at most one `RRULE:`, any `RDATE` and `EXDATE`. */
  recurrence: string[];
  /** Names of categories. */
  categories: string[];
  /** The people who are to do it. */
  assignees: Assignee[];
  /** Sorts the list as text. */
  position: string | null;
  /** Whether it has attachments. */
  hasAttachments: boolean;
  /** The steps. */
  checklistItems: ChecklistItem[];
  /** Links to resources and pages. */
  links: TaskLink[];
  /** The task in the provider's own web pages. */
  webUrl: string | null;
}

/** The subject of a task: a resource here, or a page elsewhere. */
export interface TaskLink {
  /** The link's id. */
  id: string;
  /** The task's id. */
  taskId: string;
  /** The address of a page. */
  url: string | null;
  /** The title of the page or resource. */
  title: string | null;
  /** The name of the application that the link leads to. */
  applicationName: string | null;
  /** The provider's id of the link's subject. */
  externalId: string | null;
  /** The type of the resource, or `url`. */
  resourceType: LinkedType;
  /** The id of the resource. */
  resourceId: string | null;
  /** The time of creation. */
  createdAt: Instant;
}

/** A list of tasks. */
export interface TaskList {
  /** The name. */
  name: string;
  /** The default list cannot be deleted. */
  role: TaskListRole | null;
  /** Whether the account owns the list. */
  isOwner: boolean;
  /** Whether others can see the list. */
  isShared: boolean;
  /** Whether the account cannot change it. */
  readOnly: boolean;
  /** `#rrggbb`. */
  color: string | null;
  /** Position among the lists. */
  sortOrder: number;
  /** Tasks in the list; null if unknown. */
  taskCount: number | null;
  /** Tasks that are neither completed nor cancelled. */
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
   * The clock as a POSIX TZ string (RFC 9636 section 3.3.2), such as `STD5DST4,M4.1.0/2,M10.5.0/2`; null: `offset` and `transitions`
   * say it.
   */
  posix: string | null;
  /** Seconds east of UTC before the first transition. */
  offset: number;
  /** In order; after the last one its offset stays. */
  transitions: TimeZoneTransition[];
}

/** A change of clocks. */
export interface TimeZoneTransition {
  /** The instant of the change. */
  at: Instant;
  /** Seconds east of UTC from then on. */
  offset: number;
}

/** The people who can see an event's details (RFC 5545 CLASS). */
export type Visibility = "default" | "public" | "private" | "confidential";

/** Asks the provider to extend a watch; args of `watch.renew`. */
export interface WatchRenew {
  /** `Watching.externalId` of the last answer. */
  externalId: string;
  /** `Watching.resource` of the last answer. */
  resource: string | null;
  /** As of `watch.start`. */
  channel: string;
  /** As of `watch.start`, for a provider that wants it again. */
  token: string;
  /** As of `watch.start`, for a provider that wants it again. */
  address: string;
  /** The end that the host asks for; the provider may choose an earlier one. */
  wantedUntil: Instant;
  /** As of `watch.start`. */
  surface: string;
  /** As of `watch.start`. */
  scope: string | null;
}

/** Asks the provider to post a notification whenever something in `scope` changes; args of `watch.start`. */
export interface WatchStart {
  /** The surface whose data is to be watched: "email", "calendar", "contacts", "tasks". */
  surface: string;
  /**
   * External id of the collection (calendar, address book, task list) whose contents are to be watched. None: of mail, the whole
   * mailbox; of other surfaces, the account's collections themselves.
   */
  scope: string | null;
  /**
   * The URL that the provider posts to: HTTPS, except in tests on one machine. It has no query. Where a provider wants one for news of
   * the subscription itself (Graph's `lifecycleNotificationUrl`), it is the same. One that posts to a topic of the operator's (Gmail)
   * needs none.
   */
  address: string;
  /**
   * A secret of this watch alone that the provider sends with each notification, at most 128 characters of `A-Za-z0-9_-`. It must
   * not be logged, and goes nowhere but into the provider's request.
   */
  token: string;
  /**
   * The host's id of the watch, at most 64 characters of `A-Za-z0-9_-`, never used before. For a provider that lets its client
   * choose the id.
   */
  channel: string;
  /** The end that the host asks for; the provider may choose an earlier one. */
  wantedUntil: Instant;
}

/** Asks the provider to stop posting; args of `watch.stop`. */
export interface WatchStop {
  /** `Watching.externalId` of the last answer. */
  externalId: string;
  /** `Watching.resource` of the last answer. */
  resource: string | null;
  /** As of `watch.start`. */
  channel: string;
}
