/** What a connector answers: resources, of which every field may be left out. Made of `sdk/model` by its test `typescript`. */

/** The account's rights in a calendar. */
export type AccessRole = "owner" | "writer" | "reader" | "freeBusyReader";

/** Answer of `lifecycle.check`: the account that the credentials open. */
export interface Account {
  /** The provider's id of the account, stable: two connections with the same one are the same account. */
  externalAccountId?: string;
  /** The account's email address. */
  email?: string | null;
  /** Other addresses that are the account. */
  aliases?: string[];
  /** The account's name. */
  displayName?: string | null;
  /** IANA name of the time zone. */
  timeZone?: string | null;
  /** Surfaces that this account has: "email", "calendar", "contacts", "tasks". */
  surfaces?: string[];
  /** The granted scopes in the provider's own names, where it returns them. */
  providerScopes?: string[];
  /**
   * The settings that the connector wants back with every call (found home sets, principal URL); no secrets, at most 64 KiB. Settings
   * that the manifest declares are the user's: the host ignores them here.
   */
  settings?: { [name: string]: unknown };
  /**
   * The provider's servers of the account beside those that the user gave: origins `https://host[:port]`, at most 16 and all that
   * there are now. The host takes those that belong to a given server: in the same registrable domain (public suffix list), on the
   * same host, or named by the manifest (`related_hosts`). It sends credentials there from then on. Any other fails the check. Where
   * some are new to it, the host runs `check` again, with all of them as the setting `discoveredOrigins`: so a connector that cannot
   * go on without one answers with no more than this field.
   */
  discoveredOrigins?: string[];
}

/** An address that the account can send as. */
export interface Alias {
  /** The email address. */
  email?: string;
  /** The name. */
  name?: string | null;
  /** Whether messages are sent from it by default. */
  isDefault?: boolean;
}

/** A yearly date of a contact. */
export interface Anniversary {
  /** As the provider names it: `wedding`. */
  type?: string | null;
  /** The day. */
  date?: PartialDate;
}

/** A person who is to do a task. */
export interface Assignee {
  /** The email address. */
  email?: string | null;
  /** The name. */
  name?: string | null;
}

/** A file in a message. */
export interface Attachment {
  /** The id, opaque. */
  id?: string;
  /** The id of the message. */
  messageId?: string | null;
  /** Decoded (RFC 2231) and without path separators or control characters. */
  filename?: string | null;
  /** The media type. */
  contentType?: string;
  /** Decoded bytes. */
  size?: number | null;
  /** Bytes as they stand in the message. */
  encodedSize?: number | null;
  /** Whether the HTML shows it, rather than a list of files. */
  inline?: boolean;
  /** Content-ID without the angle brackets. */
  contentId?: string | null;
  /** The Content-Disposition (RFC 2183). */
  disposition?: Disposition | null;
  /** The file is a whole message (`message/rfc822`). */
  isMessage?: boolean;
  /** Lower-case hexadecimal. */
  checksumSha256?: string | null;
  /** The path of the attachment's content in the API. */
  downloadUrl?: string | null;
  /** The bytes; only when one attachment is read as JSON, up to 10 MiB. */
  contentBase64?: string | null;
}

/** A person or resource that is invited (RFC 5545 ATTENDEE). */
export interface Attendee {
  /** The email address. */
  email?: string;
  /** The name. */
  name?: string | null;
  /** The answer to the invitation (PARTSTAT). */
  responseStatus?: ResponseStatus;
  /** The attendee's role (ROLE). */
  role?: AttendeeRole;
  /** The kind of attendee (CUTYPE). */
  kind?: AttendeeKind;
  /** A note with the response. */
  comment?: string | null;
  /** The attendee is the connected account. */
  self?: boolean;
  /** Whether the attendee is the organizer. */
  organizer?: boolean;
}

/** The kind of an attendee (RFC 5545 CUTYPE). */
export type AttendeeKind = "individual" | "group" | "resource" | "room";

/** The role of an attendee (RFC 5545 ROLE). */
export type AttendeeRole = "required" | "optional" | "chair" | "nonParticipant";

/** The account's rights in a book. */
export interface BookRights {
  /** Whether contacts can be read. */
  read?: boolean;
  /** Whether contacts can be created and changed. */
  write?: boolean;
  /** Whether contacts can be deleted. */
  delete?: boolean;
}

/** The way in which bounces are found. */
export type BounceDetection = "dsn" | "provider" | "none";

/** A stretch of time that is not free. */
export interface BusyInterval {
  /** The start, inclusive. */
  start?: Instant;
  /** The end, exclusive. */
  end?: Instant;
  /** The state in which the time is shown to others. */
  showAs?: ShowAs;
}

/** A calendar, as the provider has it. */
export interface Calendar {
  /** The user's name for the calendar. */
  name?: string;
  /** The description, plain text. */
  description?: string | null;
  /** IANA name; the zone of all-day events and of times without one. */
  timeZone?: string | null;
  /** `#rrggbb`. */
  color?: string | null;
  /** The account's default calendar. */
  isPrimary?: boolean;
  /** Whether the account owns the calendar. */
  isOwned?: boolean;
  /** Whether the account cannot change events in it. */
  readOnly?: boolean;
  /** The account's rights in the calendar. */
  accessRole?: AccessRole;
  /** The place that the calendar belongs to. */
  location?: string | null;
  /** Reminders of events that set `useDefault`. */
  defaultReminders?: Reminder[];
  /** The events that count as busy (RFC 9670 `includeInAvailability`). */
  includeInAvailability?: IncludeInAvailability;
  /** Conference providers that events here can have; empty: none. */
  conferenceTypes?: ConferenceProvider[];
}

/** The features of this account's provider, for the capabilities operation. */
export interface CalendarFeatures {
  /** Calendars can be created. */
  createCalendar?: boolean;
  /** Calendars can be changed. */
  updateCalendar?: boolean;
  /** Calendars can be deleted. */
  deleteCalendar?: boolean;
  /** Events can recur. */
  recurrence?: boolean;
  /** An instance and all later ones can be changed in one call. */
  thisAndFollowing?: boolean;
  /** Events can have attendees. */
  attendees?: boolean;
  /** The provider sends invitations and answers by itself. */
  scheduling?: boolean;
  /** Invitations can be answered. */
  rsvp?: boolean;
  /** Services whose conferences can be created. */
  conference?: ConferenceProvider[];
  /** Events can have reminders. */
  reminders?: boolean;
  /** Events can have attachments. */
  attachments?: boolean;
  /** Busy times of the account's own calendars by one provider query. */
  freeBusy?: boolean;
  /** Busy times of other people by address. */
  freeBusyByEmail?: boolean;
  /** Whether the provider notifies of changes. */
  push?: boolean;
  /** How changes are found: "syncToken", "deltaToken", "ctag", "scan". */
  delta?: string;
}

/** The method of an iTIP message (RFC 5546). */
export type CalendarMethod = "request" | "reply" | "cancel";

/** A step of a task. */
export interface ChecklistItem {
  /** The step's id. */
  id?: string;
  /** The task's id. */
  taskId?: string;
  /** The text of the step. */
  title?: string;
  /** Whether the step is done. */
  checked?: boolean;
  /** The time at which it was done. */
  checkedAt?: Instant | null;
  /** Sorts the items as text. */
  position?: string | null;
  /** The time of creation. */
  createdAt?: Instant;
  /** The version, with its quotes, as in the `ETag` header. */
  etag?: string;
}

/** An online meeting of an event. */
export interface Conference {
  /** The service that hosts the meeting. */
  provider?: ConferenceProvider;
  /** Whether the meeting exists already. */
  status?: ConferenceStatus;
  /** The address to join the meeting at. */
  joinUrl?: string | null;
  /** The meeting's id at the service. */
  meetingId?: string | null;
  /** The passcode to join. */
  passcode?: string | null;
  /** Numbers to dial in. */
  phones?: ConferencePhone[];
  /** The id of the request that created the meeting, where the provider has one. */
  createRequestId?: string | null;
}

/** A number to dial in. */
export interface ConferencePhone {
  /** The number. */
  number?: string;
  /** The PIN to enter after dialing. */
  pin?: string | null;
  /** The country or region of the number. */
  region?: string | null;
}

/** A service for online meetings. */
export type ConferenceProvider = "googleMeet" | "teams" | "zoom" | "webex" | "other";

/** The state of a requested meeting. */
export type ConferenceStatus = "pending" | "ready" | "failed";

/**
 * A person or an organization in an address book. It has at least one of a name, an e-mail address, a phone number and an
 * organization.
 */
export interface Contact {
  /** None on a create: the default book of `connectionId`. It stays the same for the contact's life. */
  bookId?: string | null;
  /** None on a create: composed of the other names, else of the organization, an address or a number. */
  displayName?: string | null;
  /** The given name (vCard N). */
  givenName?: string | null;
  /** Further given names. */
  middleName?: string | null;
  /** The family name (vCard N). */
  familyName?: string | null;
  /** Words before the name, such as `Dr.`. */
  prefix?: string | null;
  /** Words after the name, such as `Jr.`. */
  suffix?: string | null;
  /** The nickname. */
  nickname?: string | null;
  /** The pronunciation of the given name. */
  phoneticGivenName?: string | null;
  /** The pronunciation of the family name. */
  phoneticFamilyName?: string | null;
  /** Email addresses. */
  emails?: ContactEmail[];
  /** Phone numbers. */
  phones?: ContactPhone[];
  /** Postal addresses. */
  addresses?: PostalAddress[];
  /** Organizations and the contact's place in them. */
  organizations?: Organization[];
  /** Web addresses. */
  urls?: ContactUrl[];
  /** Addresses for instant messages. */
  imAddresses?: ImAddress[];
  /** Related people. */
  relations?: Relation[];
  /** The birthday. */
  birthday?: PartialDate | null;
  /** Other yearly dates. */
  anniversaries?: Anniversary[];
  /** Notes, plain text. */
  notes?: string | null;
  /** The picture. */
  photo?: Photo | null;
  /** The groups of the same book that the contact is a member of. */
  groupIds?: string[];
  /** The part of the provider's account that the contact comes from. */
  source?: ContactSource;
  /** Whether it is starred (flagged). */
  starred?: boolean;
  /** The contact that this one was merged into; the old id keeps working. */
  mergedInto?: string | null;
}

/** An address book. */
export interface ContactBook {
  /** The name. */
  name?: string;
  /** The description, plain text. */
  description?: string | null;
  /** Whether new contacts are stored here by default. */
  isDefault?: boolean;
  /** Whether the account cannot change it. */
  readOnly?: boolean;
  /** Contacts in the book; null if unknown. */
  contactCount?: number | null;
  /** The account's rights in the book. */
  rights?: BookRights;
}

/** An email address of a contact. */
export interface ContactEmail {
  /** The address. */
  value?: string;
  /** The use of the address. */
  type?: ContactKind;
  /** A name of the user's own for it. */
  label?: string | null;
  /** Whether it is the preferred one. */
  primary?: boolean;
}

/** A named set of contacts. */
export interface ContactGroup {
  /** None on a create: the default book of `connectionId`. It stays the same for the group's life. */
  bookId?: string | null;
  /** The name. */
  name?: string;
  /** Whether the user or the provider owns the group. */
  kind?: GroupKind;
  /** Null where there are more than 500: then they are listed with `group_id`. */
  contactIds?: string[] | null;
  /** Contacts in the group. */
  memberCount?: number;
  /** Whether the account cannot change it. */
  readOnly?: boolean;
}

/** The use of an address or number. */
export type ContactKind = "home" | "work" | "other" | "custom";

/** A phone number of a contact. */
export interface ContactPhone {
  /** As written. */
  value?: string;
  /** ITU E.164, where the number can be parsed: `+4930901820`. */
  e164?: string | null;
  /** The use of the number. */
  type?: PhoneKind;
  /** A name of the user's own for it. */
  label?: string | null;
  /** Whether it is the preferred one. */
  primary?: boolean;
}

/** The part of the provider's account that the contact comes from. */
export type ContactSource = "addressBook" | "suggested" | "directory";

/** A web address of a contact. */
export interface ContactUrl {
  /** The address. */
  value?: string;
  /** The use of the address. */
  type?: ContactKind;
}

/** The features of this account's provider, for the capabilities operation. */
export interface ContactsFeatures {
  /** Books can be created. */
  createBook?: boolean;
  /** Books can be changed. */
  updateBook?: boolean;
  /** Books can be deleted. */
  deleteBook?: boolean;
  /** Contacts can be created. */
  createContact?: boolean;
  /** Contacts can be in groups. */
  groups?: boolean;
  /** Pictures can be stored in the record. */
  photos?: boolean;
  /** Contacts can be starred. */
  starred?: boolean;
  /** Whether the provider notifies of changes. */
  push?: boolean;
  /** How changes are found: "syncToken", "deltaToken", "ctag", "scan". */
  delta?: string;
}

/** Bytes in a blob of this call. */
export interface Content {
  /** The blob's id. */
  blob?: string;
  /** The media type; none: unknown. */
  contentType?: string | null;
}

/** The state of a message's delivery. */
export type DeliveryState = "queued" | "sending" | "sent" | "partially_failed" | "failed" | "bounced" | "cancelled";

/** The disposition of a part (RFC 2183). */
export type Disposition = "attachment" | "inline";

/** A mailbox address, best effort: mail in the wild may lack the `@`. */
export interface EmailAddress {
  /** The display name. */
  name?: string | null;
  /** The address. */
  email?: string;
}

/** The text of a message. A missing part is null: it is not derived from the other one. */
export interface EmailBody {
  /** The plain text. */
  text?: string | null;
  /** As the sender wrote it: untrusted. */
  html?: string | null;
  /** `html` without scripts, forms, frames and event handlers; remote images are held back. Never set by callers. */
  safeHtml?: string | null;
  /** Charset that the parts had. */
  charset?: string | null;
  /** The text was cut at the size limit. */
  truncated?: boolean;
}

/** The way in which changes are found. */
export type EmailDelta = "history" | "deltaToken" | "uid" | "scan";

/** A header field of a message. */
export interface EmailHeader {
  /** The field's name. */
  name?: string;
  /** The field's value, decoded, on one line. */
  value?: string;
}

/** A message in a mailbox. */
export interface EmailMessage {
  /** The id of its thread. */
  threadId?: string | null;
  /** Message-ID without the angle brackets. */
  internetMessageId?: string | null;
  /** The Message-ID before the provider rewrote it on sending. */
  originalInternetMessageId?: string | null;
  /** Message-IDs without the angle brackets. */
  inReplyTo?: string[];
  /** Message-IDs of the conversation, oldest first (RFC 5322). */
  references?: string[];
  /** Decoded, NFC. */
  subject?: string | null;
  /** The authors. */
  from?: EmailAddress[];
  /** The mailbox that sent the message for its authors (RFC 5322 Sender). */
  sender?: EmailAddress | null;
  /** The primary recipients. */
  to?: EmailAddress[];
  /** The recipients of copies. */
  cc?: EmailAddress[];
  /** The blind-copy recipients. */
  bcc?: EmailAddress[];
  /** The addresses for replies. */
  replyTo?: EmailAddress[];
  /** The server's internal date; lists are sorted by it. */
  receivedAt?: Instant;
  /** The Date header. */
  sentAt?: Instant | null;
  /** Plain text, at most 200 characters. */
  snippet?: string;
  /** Only with `fields=full`. */
  body?: EmailBody | null;
  /** Ids of its folders. */
  folderIds?: string[];
  /** Ids of its labels. */
  labelIds?: string[];
  /** Whether it has not been read. */
  unread?: boolean;
  /** Whether it is starred (flagged). */
  starred?: boolean;
  /** Whether it is a draft. */
  draft?: boolean;
  /** Whether it was answered. */
  answered?: boolean;
  /** Whether it was forwarded. */
  forwarded?: boolean;
  /** IMAP and JMAP keywords, lower case: `$junk`, `$phishing`. */
  keywords?: string[];
  /** The importance that the sender gave it. */
  importance?: Importance;
  /** Whether it has attachments, inline files not counted. */
  hasAttachments?: boolean;
  /** The files in the message. */
  attachments?: Attachment[];
  /** Bytes of the message as stored. */
  size?: number;
  /** Only with `fields=headers` or `full`; in order, duplicates kept. */
  headers?: EmailHeader[];
  /** An automatic reply (RFC 3834). */
  autoReply?: boolean;
  /** The List-Unsubscribe header (RFC 2369). */
  listUnsubscribe?: string | null;
  /** The invitation in the message (RFC 5546). */
  calendarMethod?: CalendarMethod | null;
  /** The tracking options; null: it is not tracked. */
  tracking?: TrackingSettings | null;
  /** The state of delivery; only on messages that were sent through the API. */
  delivery?: MessageDelivery | null;
}

/** A calendar event: a single one, a series, or one changed instance of a series. */
export interface Event {
  /** RFC 5545 UID; equal for a series and its exceptions. */
  iCalUid?: string | null;
  /** RFC 5545 SEQUENCE. */
  sequence?: number;
  /** The place of the event in a series. */
  type?: EventType;
  /** Original local start of an exception or occurrence: `YYYY-MM-DDTHH:MM:SS` in the series' zone, or `YYYY-MM-DD`. */
  recurrenceId?: string | null;
  /** The same as an instant. */
  originalStart?: Instant | null;
  /**
   * An exception that is meant for all later instances, too (RFC 5545 RANGE=THISANDFUTURE): those without an exception of their own
   * have its fields, its length, and its distance from the original start. Read only.
   */
  appliesToFollowing?: boolean;
  /** First instant. For all-day events the midnight of `startDate` in the calendar's zone. */
  start?: Instant;
  /** The end (exclusive); equal to `start` for an event without a length. */
  end?: Instant;
  /**
   * How long each instance of a series takes, as an RFC 5545 DURATION such as `P1DT2H`, where the provider gives it in days: so many
   * days later by the clock, then so many hours later. Absent: exactly as long as from `start` to `end`.
   */
  duration?: string | null;
  /** IANA name of the zone that the start is anchored in. */
  timeZone?: string;
  /** IANA name, where the end is in another zone. */
  endTimeZone?: string | null;
  /**
   * The rules of the start's zone, where the provider's zone is none of IANA's: then `timeZone` is `UTC`, and the instances of
   * the series are at the same time of day on this clock. Only on a series with times, and on an exception that applies to following
   * instances. Read only.
   */
  timeZoneRules?: TimeZoneRules | null;
  /** Whether the event lasts whole days. */
  allDay?: boolean;
  /** All-day events: first day, `YYYY-MM-DD`. */
  startDate?: string | null;
  /** All-day events: the day after the last, `YYYY-MM-DD`. */
  endDate?: string | null;
  /** The title (RFC 5545 SUMMARY). */
  title?: string | null;
  /** Plain text. */
  description?: string | null;
  /** HTML as the provider has it: untrusted. */
  descriptionHtml?: string | null;
  /** The place, as one line of text. */
  location?: string | null;
  /** The places, one by one; null if the provider has only `location`. */
  locations?: Location[] | null;
  /** `#rrggbb`. */
  color?: string | null;
  /** The event in the provider's own web pages. */
  htmlLink?: string | null;
  /** The status (RFC 5545 STATUS). */
  status?: EventStatus;
  /** The state in which the time is shown to others. */
  showAs?: ShowAs;
  /** Derived: whether `showAs` and `status` make this time busy. */
  busy?: boolean;
  /** The people who can see the details. */
  visibility?: Visibility;
  /** The purpose of the event. */
  eventKind?: EventKind;
  /** The account cannot change it. */
  readOnly?: boolean;
  /** The organizer; null for an event without attendees. */
  organizer?: Person | null;
  /** The person who created the event, if the provider names one. */
  creator?: Person | null;
  /** The people and resources that are invited. */
  attendees?: Attendee[];
  /** Whether attendees cannot see each other. */
  hideAttendees?: boolean;
  /** Whether attendees can change the event. */
  guestsCanModify?: boolean;
  /** Whether attendees can invite others. */
  guestsCanInvite?: boolean;
  /** The number of people that can attend; null: no limit. */
  capacity?: number | null;
  /** The response of the attendee who is the account itself; null where it is not invited. */
  myResponse?: ResponseStatus | null;
  /**
   * RFC 5545 lines without DTSTART: at most one `RRULE:`, any `RDATE` and `EXDATE`. Only on a series. Lines of other programs are
   * shown unchanged, also several rules and `EXRULE` (RFC 2445).
   */
  recurrence?: string[];
  /** The online meeting. */
  conference?: Conference | null;
  /** The reminders of the account. */
  reminders?: Reminders;
  /** Links to files. */
  attachments?: EventAttachment[];
}

/** A link to a file. */
export interface EventAttachment {
  /** The file's name. */
  title?: string | null;
  /** The file's address. */
  url?: string | null;
  /** The media type. */
  mimeType?: string | null;
}

/** The purpose of an event. */
export type EventKind = "default" | "outOfOffice" | "focusTime" | "workingLocation";

/** The status of an event (RFC 5545 STATUS). */
export type EventStatus = "confirmed" | "tentative" | "cancelled";

/** `occurrence` is never stored: it is computed from a series. */
export type EventType = "single" | "series" | "occurrence" | "exception";

/** A mailbox folder. */
export interface Folder {
  /** The name of the folder. */
  name?: string;
  /** Names from the root down, this one last. */
  path?: string[];
  /** The id of the folder that it is in; null at the root. */
  parentId?: string | null;
  /** The folder's purpose; at most one folder of a mailbox has each role. */
  role?: FolderRole | null;
  /** Messages in the folder; null if unknown. */
  totalCount?: number | null;
  /** Unread messages in the folder; null if unknown. */
  unreadCount?: number | null;
  /** Position among its siblings. */
  sortOrder?: number;
  /** Whether the user subscribed to the folder (IMAP). */
  subscribed?: boolean;
  /** Whether the folder can hold messages. */
  selectable?: boolean;
  /** The account's rights in the folder. */
  rights?: FolderRights;
  /** The provider's own: it cannot be renamed or deleted. */
  system?: boolean;
}

/** The account's rights in a folder (RFC 4314, RFC 8621). */
export interface FolderRights {
  /** Whether messages can be read. */
  read?: boolean;
  /** Whether messages can be added. */
  add?: boolean;
  /** Whether messages can be removed. */
  remove?: boolean;
  /** Whether flags and keywords can be changed. */
  setFlags?: boolean;
  /** Whether the folder can be renamed. */
  rename?: boolean;
  /** Whether the folder can be deleted. */
  delete?: boolean;
}

/** Special uses: RFC 6154, RFC 8457 and the IANA registry of mailbox name attributes. */
export type FolderRole = "inbox" | "archive" | "drafts" | "sent" | "trash" | "junk" | "all" | "important" | "flagged" | "outbox";

/** Not merged, not clipped: the host does both. */
export interface FreeBusyAnswer {
  /** Busy times, not merged and not clipped: the host does both. */
  busy?: BusyInterval[];
}

/** The owner of a group. */
export type GroupKind = "user" | "system";

/** An address for instant messages. */
export interface ImAddress {
  /** As the provider names it: `xmpp`, `matrix`. */
  protocol?: string | null;
  /** The user's name there. */
  handle?: string;
}

/** The importance of a message. */
export type Importance = "low" | "normal" | "high";

/** The events of a calendar that count as busy (RFC 9670). */
export type IncludeInAvailability = "all" | "attending" | "none";

/** RFC 3339 instant, UTC, millisecond precision */
export type Instant = string;

/** One of our resources inside a source. */
export interface Item {
  /** Unique within the collection and the kind. The source's own id for the main item. */
  externalId?: string;
  /** The resource type (`contact_group`), where an operation reports several; none: the one that it is named after. */
  kind?: string | null;
  /**
   * The name by which other items of the collection refer to it: a vCard's or a task's UID. None: its `externalId`. Where a body names
   * other items (members of a group, the parent of a task), it names them so; the host resolves them to ids.
   */
  uid?: string | null;
  /** Exceptions of a series: the `externalId` of the series' item, in this source or in another one of the collection. */
  seriesExternalId?: string | null;
  /** The normalized resource: `calendar::Event`, `calendar::Calendar`, ... */
  body?: unknown;
  /** The provider's fields that the model has none for, in its own form; null where there are none. */
  providerData?: unknown;
  /**
   * Warnings for readers of the item: what the provider has of it and `body` cannot express. Shown with it until it is read without
   * them; a new or another warning is a change of the item. Few, and in few words: not of mail, and 64 KiB of JSON at most.
   */
  warnings?: Warning[];
  /** `body` holds only some fields of a known item; the others stay as they are. Mail alone. */
  partial?: boolean;
  /**
   * The part that stays the same when the provider gives the item another id: an immutable id, else Message-ID, date and size. An item
   * that comes under a new id while one with this fingerprint goes is the same item. Mail alone.
   */
  fingerprint?: string | null;
  /** The data that the connector wants back when the item is read again (which parts are its text). Small; not part of the API. */
  hint?: unknown;
}

/** The reason why a source could not be converted to items. */
export interface ItemError {
  /** A code of the connector's own, shown in the sync state. */
  code?: string;
  /** A sentence for people. */
  message?: string;
}

/** A label: a message can have any number. Empty lists where the provider has none. */
export interface Label {
  /** The name. */
  name?: string;
  /** The colors. */
  color?: LabelColor | null;
  /** The provider's own: it cannot be renamed or deleted. */
  system?: boolean;
  /** Messages with the label; null if unknown. */
  totalCount?: number | null;
  /** Unread messages with the label; null if unknown. */
  unreadCount?: number | null;
  /** Whether the provider's own clients show the label. */
  visibility?: LabelVisibility;
}

/** Both `#rrggbb`. */
export interface LabelColor {
  /** The background. */
  background?: string | null;
  /** The text. */
  text?: string | null;
}

/** Whether the provider's own clients show a label. */
export type LabelVisibility = "show" | "hide";

/** The type of a link's subject. */
export type LinkedType = "email_message" | "calendar_event" | "contact" | "url";

/** A place. */
export interface Location {
  /** The name of the place. */
  name?: string | null;
  /** The postal address, as one text. */
  address?: string | null;
  /** A web address. */
  uri?: string | null;
  /** `geo:` URI's coordinates as `lat,lon`. */
  geo?: string | null;
}

/** The features of this account's provider, for the capabilities operation. */
export interface MailFeatures {
  /** `messages.search` with `text`. */
  search?: boolean;
  /** `messages.search` with `nativeQuery`. */
  nativeSearch?: boolean;
  /** `unread`, `starred` and the like can be changed. */
  modifyFlags?: boolean;
  /** Messages can be moved to other folders. */
  moveMessages?: boolean;
  /** Messages can be moved to the trash. */
  delete?: boolean;
  /** Messages can be destroyed. */
  permanentDelete?: boolean;
  /** Drafts can be stored. */
  drafts?: boolean;
  /** Messages can be sent. */
  send?: boolean;
  /** Messages can be put into a folder. */
  append?: boolean;
  /** The mailbox has folders. */
  folders?: boolean;
  /** The mailbox has labels. */
  labels?: boolean;
  /** A message can be in several folders. */
  multiFolder?: boolean;
  /** The side that groups messages into threads. */
  threads?: ThreadSource;
  /** Keywords of any name can be set. */
  keywords?: boolean;
  /** The importance of a message can be changed. */
  importance?: boolean;
  /** Messages can be sent from `aliases`. */
  sendAsAlias?: boolean;
  /** Messages can be sent for another mailbox. */
  delegatedSend?: boolean;
  /** The way in which bounces are found. */
  bounceDetection?: BounceDetection;
  /** Whether the provider notifies of changes. */
  push?: boolean;
  /** The way in which changes are found. */
  delta?: EmailDelta;
  /** Bytes of a message to send; none: unknown. */
  maxMessageBytes?: number | null;
  /** Recipients of a message; none: unknown. */
  maxRecipients?: number | null;
  /** Messages sent in a day; none: unknown. */
  maxSendPerDay?: number | null;
  /** Addresses that the account can send as. */
  aliases?: Alias[];
}

/** The delivery of a sent message. */
export interface MessageDelivery {
  /** The state of the delivery. */
  state?: DeliveryState;
  /** The scheduled time of sending. */
  sendAt?: Instant | null;
  /** Attempts to send it. */
  attempts?: number;
  /** The state for each recipient. */
  recipients?: RecipientDelivery[];
  /** The reason why it was not sent. With `outcome_unknown` it may have been delivered: check before you send it again. */
  error?: SendError | null;
}

/** Answer of every `mutate`. */
export interface Mutated {
  /** The changed sources at the provider, in their new state. */
  sources?: Source[];
  /** External id of the item that the call was about; none after a delete. */
  item?: string | null;
  /** The provider's id of the part (step, link) of that item that the call was about. */
  part?: string | null;
  /** Warnings of a call that succeeded. */
  warnings?: Warning[];
}

/** The format of a task's notes. */
export type NotesFormat = "text" | "html";

/** An organization of a contact. */
export interface Organization {
  /** The organization's name. */
  name?: string | null;
  /** The contact's job title. */
  title?: string | null;
  /** The department. */
  department?: string | null;
  /** Whether the contact is in the organization now; true if absent. */
  current?: boolean;
}

/** A day of a year, or of every year. */
export interface PartialDate {
  /** The year; null: every year. */
  year?: number | null;
  /** 1 to 12. */
  month?: number;
  /** 1 to 31. */
  day?: number;
}

/** The organizer or the creator of an event. */
export interface Person {
  /** The email address. */
  email?: string | null;
  /** The name. */
  name?: string | null;
  /** The attendee is the connected account. */
  self?: boolean;
}

/** The use of a phone number. */
export type PhoneKind = "mobile" | "home" | "work" | "homeFax" | "workFax" | "pager" | "other" | "custom";

/** The picture of a contact. */
export interface Photo {
  /**
   * The picture's address. Null beside an `etag`: it is stored in the record, and `GET /v1/contacts/{contactId}/photo` has it. On a
   * write, a `data:` URL (RFC 2397) of an image, at most 512 KiB, stores the picture in the record.
   */
  url?: string | null;
  /** Changes with the picture. */
  etag?: string | null;
}

/** A picture that is stored in the record. */
export interface Picture {
  /** `image/jpeg`. */
  contentType?: string;
  /** RFC 4648 section 4. */
  contentBase64?: string;
}

/** A postal address (vCard ADR). */
export interface PostalAddress {
  /** The use of the address. */
  type?: ContactKind;
  /** A name of the user's own for it. */
  label?: string | null;
  /** The whole address as it is written on an envelope. */
  formatted?: string | null;
  /** The street and the number. */
  street?: string | null;
  /** An addition, such as the apartment. */
  extended?: string | null;
  /** The post office box. */
  poBox?: string | null;
  /** The town. */
  locality?: string | null;
  /** The state or province. */
  region?: string | null;
  /** The postal code. */
  postalCode?: string | null;
  /** The name of the country. */
  country?: string | null;
  /** ISO 3166-1 alpha-2. */
  countryCode?: string | null;
}

/** The delivery to one recipient. */
export interface RecipientDelivery {
  /** The recipient's address. */
  email?: string;
  /** The state of the delivery. */
  status?: RecipientStatus;
  /** The server's reply. */
  smtpReply?: string | null;
  /** RFC 3463, such as `5.1.1`. */
  enhancedStatus?: string | null;
  /** The time of the last change. */
  at?: Instant | null;
}

/** The server's answer for one recipient. */
export interface RecipientOutcome {
  /** The recipient's address. */
  email?: string;
  /** Whether the server accepted the message for the recipient. */
  accepted?: boolean;
  /** Not accepted now, may be later: SMTP 4xx. */
  temporary?: boolean;
  /** The SMTP reply, one line: `550 5.1.1 no such user`. */
  reply?: string | null;
  /** RFC 3463: `5.1.1`. */
  enhancedStatus?: string | null;
}

/** The state of the delivery to one recipient. */
export type RecipientStatus = "queued" | "accepted" | "delivered" | "bounced" | "deferred" | "complained";

/** A person who is related to a contact. */
export interface Relation {
  /** The person's name. */
  name?: string;
  /** As the provider names it: `spouse`, `assistant`. */
  type?: string | null;
}

/** A reminder before the start. */
export interface Reminder {
  /** The way in which the user is reminded. */
  method?: ReminderMethod;
  /** Minutes before the start, 0 to 40,320 (four weeks). */
  minutesBefore: number;
}

/** The way in which a user is reminded. */
export type ReminderMethod = "popup" | "email";

/** The reminders of an event. */
export interface Reminders {
  /** The calendar's default reminders apply. */
  useDefault?: boolean;
  /** Reminders instead of the calendar's default ones. */
  overrides?: Reminder[];
}

/** An answer to an invitation (RFC 5545 PARTSTAT). */
export type ResponseStatus = "needsAction" | "accepted" | "declined" | "tentative";

/** The reason why a message could not be sent, as its draft and its delivery show it. */
export interface SendError {
  /** A stable code, such as `outcome_unknown`. */
  code?: string;
  /** A sentence for people. */
  message?: string;
  /** The time of the failure. */
  at?: Instant | null;
}

/** The result of sending a message. Refused recipients are no failure of the call. */
export interface Sent {
  /** One for each recipient. */
  recipients?: RecipientOutcome[];
  /** The Message-ID that the provider gave it, where it changed ours. */
  internetMessageId?: string | null;
  /** The copy in the sent folder, whole; the draft as deleted. */
  sources?: Source[];
  /** Warnings of a call that succeeded. */
  warnings?: Warning[];
}

/** The state in which an event's time is shown to others. */
export type ShowAs = "busy" | "free" | "tentative" | "oof" | "workingElsewhere";

/**
 * One record of the provider that changes as a whole and has one provider etag: a CalDAV resource, a Google event, a card.
 * It contains one or more of our items: a CalDAV resource holds the series and its exceptions.
 */
export interface Source {
  /** The provider's id of the source (an href, an event id); stable as far as the provider allows. */
  externalId?: string;
  /** The provider's version of the source, passed back as `ifMatch`. */
  etag?: string | null;
  /** The source was deleted, and so were all its items; `items` is empty. */
  deleted?: boolean;
  /** All items of the source now. The host deletes stored items of this source that are not listed here. */
  items?: Item[];
  /** The source exists but could not be read: it is left out, shown in the sync state, and never stops a sync. */
  error?: ItemError | null;
  /** The source's previous external id: it was moved or stored again. Its items keep their ids. */
  previousId?: string | null;
  /**
   * When the provider last changed it, by the provider's clock, which never goes back. A page of changes with a version
   * from before the stored one does not replace that one: the host reads the source by itself. Not of mail.
   */
  updatedAt?: Instant | null;
}

/** A source by its name and version, without its items. */
export interface SourceName {
  /** As `Source.externalId`. */
  externalId?: string;
  /** As `Source.etag`; where the host holds this version, it need not read it again. */
  etag?: string | null;
  /** The source was deleted; there is nothing to read. */
  deleted?: boolean;
}

/** Answer of `changes` and of every `*.list`. */
export interface Sources {
  /** Each element is read by itself: one that is no `Source` is listed with an error, under its own id. */
  sources?: Source[];
  /**
   * True: the pages since the cursor-less call name all sources there are: the host deletes the others once the last
   * page was read. False: only differences.
   */
  enumeration?: boolean;
  /** In an enumeration from new to old: all items of this time and later have been reported by now. Mail alone. */
  coveredSince?: Instant | null;
  /**
   * Sources whose content is still to be read, where the request was `namesFirst`: the host keeps these names, reads what they
   * stand for with `*.batchGet`, and only then asks for the next page, which is there (`more`), at this answer's cursor. Of an
   * enumeration they count as named.
   */
  named?: SourceName[];
}

/** A task. Setting `status` to `completed` stamps `completedAt`, leaving it clears that. */
export interface Task {
  /** The list of the path. */
  taskListId?: string | null;
  /** The id of the task that it is a part of. */
  parentId?: string | null;
  /** 1 to 1,024 characters. */
  title?: string;
  /** Notes, as `notesFormat` says. */
  notes?: string | null;
  /** The format of `notes`. */
  notesFormat?: NotesFormat;
  /** The state of the task. */
  status?: TaskStatus;
  /** The priority. */
  priority?: TaskPriority | null;
  /** 0 to 100. */
  percentComplete?: number | null;
  /** `YYYY-MM-DD`. */
  startDate?: string | null;
  /** `YYYY-MM-DD`. */
  dueDate?: string | null;
  /** `HH:MM` in `timeZone`. A provider without times drops it and says so in `warnings`. */
  dueTime?: string | null;
  /** IANA name. */
  timeZone?: string | null;
  /** The time of completion. */
  completedAt?: Instant | null;
  /** The time of the reminder. */
  reminderAt?: Instant | null;
  /** RFC 5545 lines without DTSTART: at most one `RRULE:`, any `RDATE` and `EXDATE`. */
  recurrence?: string[];
  /** Names of categories. */
  categories?: string[];
  /** The people who are to do it. */
  assignees?: Assignee[];
  /** Sorts the list as text. */
  position?: string | null;
  /** Whether it has attachments. */
  hasAttachments?: boolean;
  /** The steps. */
  checklistItems?: ChecklistItem[];
  /** Links to resources and pages. */
  links?: TaskLink[];
  /** The task in the provider's own web pages. */
  webUrl?: string | null;
}

/** The subject of a task: a resource here, or a page elsewhere. */
export interface TaskLink {
  /** The link's id. */
  id?: string;
  /** The task's id. */
  taskId?: string;
  /** The address of a page. */
  url?: string | null;
  /** The title of the page or resource. */
  title?: string | null;
  /** The name of the application that the link leads to. */
  applicationName?: string | null;
  /** The provider's id of the link's subject. */
  externalId?: string | null;
  /** The type of the resource, or `url`. */
  resourceType?: LinkedType;
  /** The id of the resource. */
  resourceId?: string | null;
  /** The time of creation. */
  createdAt?: Instant;
}

/** A list of tasks. */
export interface TaskList {
  /** The name. */
  name?: string;
  /** The default list cannot be deleted. */
  role?: TaskListRole | null;
  /** Whether the account owns the list. */
  isOwner?: boolean;
  /** Whether others can see the list. */
  isShared?: boolean;
  /** Whether the account cannot change it. */
  readOnly?: boolean;
  /** `#rrggbb`. */
  color?: string | null;
  /** Position among the lists. */
  sortOrder?: number;
  /** Tasks in the list; null if unknown. */
  taskCount?: number | null;
  /** Tasks that are neither completed nor cancelled. */
  openCount?: number | null;
}

/** The purpose of a task list. */
export type TaskListRole = "default" | "flagged";

/** The priority of a task. */
export type TaskPriority = "low" | "normal" | "high";

/** The state of a task. */
export type TaskStatus = "needsAction" | "inProgress" | "completed" | "waiting" | "deferred" | "cancelled";

/** The features of this account's provider, for the capabilities operation. */
export interface TasksFeatures {
  /** Lists can be created. */
  createList?: boolean;
  /** Lists can be changed. */
  updateList?: boolean;
  /** Lists can be deleted. */
  deleteList?: boolean;
  /** Tasks can have subtasks. */
  subtasks?: boolean;
  /** Tasks can have a start date. */
  startDate?: boolean;
  /** False: due dates are days. */
  dueTime?: boolean;
  /** Tasks can have a priority. */
  priority?: boolean;
  /** Tasks can have `percentComplete`. */
  percentComplete?: boolean;
  /** Tasks can recur. */
  recurrence?: boolean;
  /** Tasks can have categories. */
  categories?: boolean;
  /** Tasks can have assignees. */
  assignees?: boolean;
  /** Tasks can have reminders. */
  reminders?: boolean;
  /** The caller can decide the order of tasks. */
  ordering?: boolean;
  /** Tasks can have steps. */
  checklistItems?: boolean;
  /** Tasks can have links. */
  links?: boolean;
  /** Whether the provider notifies of changes. */
  push?: boolean;
  /** How changes are found: "syncToken", "deltaToken", "ctag", "scan". */
  delta?: string;
}

/** The side that groups messages into threads. */
export type ThreadSource = "server" | "computed";

/** The offsets of a time zone that has no IANA name (RFC 5545 section 3.6.5). */
export interface TimeZoneRules {
  /**
   * The clock as a POSIX TZ string (RFC 9636 section 3.3.2), such as `STD5DST4,M4.1.0/2,M10.5.0/2`; null: `offset` and `transitions`
   * say it.
   */
  posix?: string | null;
  /** Seconds east of UTC before the first transition. */
  offset?: number;
  /** In order; after the last one its offset stays. */
  transitions?: TimeZoneTransition[];
}

/** A change of clocks. */
export interface TimeZoneTransition {
  /** The instant of the change. */
  at?: Instant;
  /** Seconds east of UTC from then on. */
  offset?: number;
}

/** The tracking options of a sent message, and the record that it is tracked in. */
export interface TrackingSettings {
  /** Set by the service. */
  trackingId?: string | null;
  /** Whether opens are tracked. */
  opens?: boolean;
  /** Whether clicks on links are tracked. */
  links?: boolean;
  /** Whether replies are tracked. */
  replies?: boolean;
  /** Echoed in events; at most 2,048 characters. */
  label?: string | null;
}

/** The people who can see an event's details (RFC 5545 CLASS). */
export type Visibility = "default" | "public" | "private" | "confidential";

/** A warning to the caller of a call that succeeded. */
export interface Warning {
  /** A stable code: branch on this. */
  code?: string;
  /** A sentence for people. */
  message?: string;
  /** The subject: a field, an instance. */
  target?: string | null;
}

/** A watch that the provider has started or renewed; answer of `watch.start` and `watch.renew`. */
export interface Watching {
  /**
   * The provider's id of the watch in its notifications (`watch` of the manifest's `[push]`), at most 512 bytes. For a provider whose
   * notifications name only the account: `channel`.
   */
  externalId?: string;
  /** The value that the provider requires beside the id to stop the watch (Google's `resourceId`), at most 2 KiB. */
  resource?: string | null;
  /** When the provider ends the watch by itself. A missing one, or one in 1970, is a fault of the connector. */
  expiresAt?: Instant;
}
