/** What a connector answers: resources, of which all fields but a few may be left out. Generated from the model of Switchboard: do not change it. */

/** The account's rights in a calendar. */
export type AccessRole = "owner" | "writer" | "reader" | "freeBusyReader";

/** The account that the credentials open: the answer of `lifecycle.check`. */
export interface Account {
  /** The provider's id of the account, which never changes: two connections with the same id are the same account. */
  externalAccountId?: string;
  /** The account's email address; null if it has none. */
  email?: string | null;
  /** Other email addresses of the account. */
  aliases?: string[];
  /** The account's name; null if it is unknown. */
  displayName?: string | null;
  /** The account's IANA time zone; null if it is unknown. */
  timeZone?: string | null;
  /** The surfaces of the account: `email`, `calendar`, `contacts`, `tasks`. */
  surfaces?: string[];
  /** The granted scopes in the provider's own names; empty if the provider does not return them. */
  providerScopes?: string[];
  /**
   * The settings that the connector wants back with every call, such as home sets or a principal URL: no secrets, at most 64 KiB. The
   * host ignores settings that the manifest declares: they are the user's.
   */
  settings?: { [name: string]: unknown };
  /**
   * The provider's servers of the account beside those that the user named: origins `https://host[:port]`, all that exist now, at most
   * 16. The host accepts an origin in the same registrable domain (public suffix list) as a given server, on the same host, or named by
   * the manifest (`related_hosts`), and sends credentials there from then on. Any other fails the check. If some are new, the host runs
   * `check` again with all of them as the setting `discoveredOrigins`: a connector that needs one of them to continue answers with this
   * field alone.
   */
  discoveredOrigins?: string[];
}

/** An address that the account can send as. */
export interface Alias {
  /** The email address. */
  email?: string;
  /** The display name that goes with the address; null if it has none. */
  name?: string | null;
  /** Whether messages are sent from this address by default. */
  isDefault?: boolean;
}

/** A yearly date of a contact. */
export interface Anniversary {
  /** The occasion, in the provider's own spelling, such as `wedding`; null if it is unknown. */
  type?: string | null;
  /** The day of the occasion. */
  date: PartialDate;
}

/** A person to whom a task is assigned. It has an email address or a name. */
export interface Assignee {
  /** The person's email address; null if it is unknown. */
  email?: string | null;
  /** The person's name; null if it is unknown. */
  name?: string | null;
}

/** A file in a message. */
export interface Attachment {
  /** The id of the attachment, opaque, and unique within its message. */
  id?: string;
  /** The id of the message that has the attachment. */
  messageId?: string | null;
  /** The file name, decoded (RFC 2231), without path separators and control characters; null if the file has no name. */
  filename?: string | null;
  /** The media type, such as `application/pdf`. */
  contentType?: string;
  /**
   * The size of the decoded content in bytes; null if the provider does not state it. Known for certain when the attachment is fetched
   * as JSON.
   */
  size?: number | null;
  /** The size of the content as it is encoded in the message, in bytes; null if unknown. */
  encodedSize?: number | null;
  /** Whether the file is shown within the HTML text rather than listed as an attachment. */
  inline?: boolean;
  /** The Content-ID without angle brackets, which `cid:` links in the HTML refer to; null if the file has none. */
  contentId?: string | null;
  /** The Content-Disposition of the file (RFC 2183); null if the message states none. */
  disposition?: Disposition | null;
  /** Whether the file is itself a message (`message/rfc822`). */
  isMessage?: boolean;
  /** The SHA-256 of the decoded content in lower-case hexadecimal; null unless the attachment is fetched as JSON. */
  checksumSha256?: string | null;
  /** The path of the attachment in the API. Add `?format=raw` for the bytes of the file. */
  downloadUrl?: string | null;
  /** The content in base64; null unless the attachment is fetched as JSON, which is possible up to 10 MiB. */
  contentBase64?: string | null;
}

/** A person or resource that is invited (RFC 5545 ATTENDEE). */
export interface Attendee {
  /** The email address. Events of other programs may have another URI here, such as `urn:uuid:…`. */
  email: string;
  /** The name; null if it is not known. */
  name?: string | null;
  /** The answer to the invitation (PARTSTAT). */
  responseStatus?: ResponseStatus;
  /** The attendee's role (ROLE). */
  role?: AttendeeRole;
  /** The kind of attendee (CUTYPE). */
  kind?: AttendeeKind;
  /** The note that the attendee sent with the response; null if there is none. */
  comment?: string | null;
  /** Whether the attendee is the connected account. */
  self?: boolean;
  /** Whether the attendee is the organizer. */
  organizer?: boolean;
}

/** The kind of an attendee (RFC 5545 CUTYPE). */
export type AttendeeKind = "individual" | "group" | "resource" | "room";

/** The role of an attendee (RFC 5545 ROLE). */
export type AttendeeRole = "required" | "optional" | "chair" | "nonParticipant";

/** The account's rights in a contact book. */
export interface BookRights {
  /** Whether the account can read the book's contacts. */
  read?: boolean;
  /** Whether the account can create and change contacts in the book. */
  write?: boolean;
  /** Whether the account can delete contacts of the book. */
  delete?: boolean;
}

/** The way in which bounces are detected. */
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
  /** The description as plain text; null if there is none. */
  description?: string | null;
  /**
   * The IANA name of the calendar's time zone: the zone of all-day events, and of times without a zone of their own. Null if the
   * provider names none.
   */
  timeZone?: string | null;
  /** The calendar's color, `#rrggbb`; null for the provider's default color. */
  color?: string | null;
  /** Whether the calendar is the account's default calendar. */
  isPrimary?: boolean;
  /** Whether the account owns the calendar. */
  isOwned?: boolean;
  /** Whether the account cannot change events in the calendar. */
  readOnly?: boolean;
  /** The account's rights in the calendar. */
  accessRole?: AccessRole;
  /** The place that the calendar belongs to, as one line of text; null if there is none. */
  location?: string | null;
  /** The reminders of events that set `useDefault`. */
  defaultReminders?: Reminder[];
  /** The events that count as busy (RFC 9670 `includeInAvailability`). */
  includeInAvailability?: IncludeInAvailability;
  /** The conference services that the provider can create meetings with in this calendar; empty if there are none. */
  conferenceTypes?: ConferenceProvider[];
}

/** The calendar features of this account at its provider, for the capabilities operation. */
export interface CalendarFeatures {
  /** Whether calendars can be created. */
  createCalendar?: boolean;
  /** Whether calendars can be changed. */
  updateCalendar?: boolean;
  /** Whether calendars can be deleted. */
  deleteCalendar?: boolean;
  /** Whether events can recur. */
  recurrence?: boolean;
  /** Whether an instance and all later ones can be changed in one call. */
  thisAndFollowing?: boolean;
  /** Whether events can have attendees. */
  attendees?: boolean;
  /** Whether the provider itself sends invitations and answers. */
  scheduling?: boolean;
  /** Whether invitations can be answered. */
  rsvp?: boolean;
  /** The conference services whose conferences can be created. */
  conference?: ConferenceProvider[];
  /** Whether events can have reminders. */
  reminders?: boolean;
  /** Whether events can have attachments. */
  attachments?: boolean;
  /** Whether the provider answers queries of busy times of the account's own calendars. */
  freeBusy?: boolean;
  /** Whether the provider answers queries of busy times of other people by email address. */
  freeBusyByEmail?: boolean;
  /** Whether the provider notifies the service of changes. */
  push?: boolean;
  /** The way in which changes are found: `syncToken`, `deltaToken`, `ctag` or `scan`. */
  delta?: string;
}

/** The method of an invitation (iTIP, RFC 5546). */
export type CalendarMethod = "request" | "reply" | "cancel";

/** An item of a task's checklist. */
export interface ChecklistItem {
  /** The id of the checklist item. */
  id?: string;
  /** The id of the task that the item belongs to. */
  taskId?: string;
  /** The text of the item. */
  title?: string;
  /** Whether the item is checked off. */
  checked?: boolean;
  /** The time at which the item was checked off; null if it is open or the time is unknown. */
  checkedAt?: Instant | null;
  /** The position in the checklist: positions are compared as text, lowest first. Null if the provider has no order. */
  position?: string | null;
  /** The time at which the item was created, or first seen if the provider does not store it. */
  createdAt?: Instant;
  /** The version of the item, with its quotes, as in the `ETag` header. */
  etag?: string;
}

/** An online meeting of an event. */
export interface Conference {
  /** The service that hosts the meeting. */
  provider?: ConferenceProvider;
  /** Whether the meeting exists already. */
  status?: ConferenceStatus;
  /** The URL at which people join the meeting; null until the service has created the meeting. */
  joinUrl?: string | null;
  /** The meeting's id at the service; null if it has none. */
  meetingId?: string | null;
  /** The passcode to join; null if none is needed. */
  passcode?: string | null;
  /** The numbers to dial in. */
  phones?: ConferencePhone[];
  /** The id of the request that created the meeting; null if the provider has none. */
  createRequestId?: string | null;
}

/** A number to dial in. */
export interface ConferencePhone {
  /** The phone number. */
  number?: string;
  /** The PIN to enter after dialing; null if none is needed. */
  pin?: string | null;
  /** The country or region of the number; null if it is not known. */
  region?: string | null;
}

/** A service for online meetings. */
export type ConferenceProvider = "googleMeet" | "teams" | "zoom" | "webex" | "other";

/** The state of a requested meeting. */
export type ConferenceStatus = "pending" | "ready" | "failed";

/** A person or an organization in an address book. It has at least one of a name, an email address, a phone number and an organization. */
export interface Contact {
  /** The contact book that holds the contact. It cannot be changed later. A create without it uses the default book of `connectionId`. */
  bookId?: string | null;
  /**
   * The name under which the contact is shown and sorted. Absent or null on a write: the service composes it from the other names, else
   * from the nickname, the organization, an email address or a phone number.
   */
  displayName?: string | null;
  /** The given name (vCard N); null if there is none. */
  givenName?: string | null;
  /** Further given names, separated by spaces; null if there are none. */
  middleName?: string | null;
  /** The family name (vCard N); null if there is none. */
  familyName?: string | null;
  /** The title before the name, such as `Dr.`; null if there is none. */
  prefix?: string | null;
  /** The title or generation after the name, such as `Jr.`; null if there is none. */
  suffix?: string | null;
  /** The nickname; null if there is none. */
  nickname?: string | null;
  /** The pronunciation of the given name; null if it is unknown. */
  phoneticGivenName?: string | null;
  /** The pronunciation of the family name; null if it is unknown. */
  phoneticFamilyName?: string | null;
  /** The contact's email addresses. At most one of them is `primary`. */
  emails?: ContactEmail[];
  /** The contact's phone numbers. At most one of them is `primary`. */
  phones?: ContactPhone[];
  /** The contact's postal addresses. */
  addresses?: PostalAddress[];
  /** The organizations that the contact belongs or belonged to, with the contact's position in each. */
  organizations?: Organization[];
  /** The contact's web addresses. */
  urls?: ContactUrl[];
  /** The contact's addresses for instant messages. */
  imAddresses?: ImAddress[];
  /** The people who are related to the contact. */
  relations?: Relation[];
  /** The date of birth; null if it is unknown. */
  birthday?: PartialDate | null;
  /** The contact's yearly dates other than the birthday. */
  anniversaries?: Anniversary[];
  /** The user's notes on the contact, plain text; null if there are none. */
  notes?: string | null;
  /** The contact's picture; null if there is none. A write of null deletes the picture. */
  photo?: Photo | null;
  /** The ids of the contact's groups, which all belong to the contact's own book. A write replaces the memberships. */
  groupIds?: string[];
  /** The part of the provider's account that the contact comes from. */
  source?: ContactSource;
  /** Whether the contact is starred (marked as a favourite). Not every provider can store it. */
  starred?: boolean;
  /** The id of the contact that this contact was merged into, set by the service; null if it was not merged. The old id keeps working. */
  mergedInto?: string | null;
}

/** An address book of a connected account. */
export interface ContactBook {
  /** The name of the book. */
  name?: string;
  /** The description of the book, plain text; null if there is none. */
  description?: string | null;
  /** Whether the provider stores new contacts in this book by default. */
  isDefault?: boolean;
  /** Whether the account can read this book but not change it. */
  readOnly?: boolean;
  /** The number of contacts in the book; null if it is unknown. */
  contactCount?: number | null;
  /** The account's rights in the book. */
  rights?: BookRights;
}

/** An email address of a contact. */
export interface ContactEmail {
  /** The email address. */
  value: string;
  /** The use of the address. */
  type?: ContactKind;
  /** The user's own name for the address; required with `type` `custom`, else null if there is none. */
  label?: string | null;
  /** Whether it is the contact's preferred address. At most one address is. */
  primary?: boolean;
}

/** A named set of contacts of one contact book. */
export interface ContactGroup {
  /**
   * The contact book that holds the group and its members. It cannot be changed later. A create without it uses the default book of
   * `connectionId`.
   */
  bookId?: string | null;
  /** The name of the group. */
  name?: string;
  /** The owner of the group: the user or the provider. */
  kind?: GroupKind;
  /**
   * The ids of the members. Null in an answer if there are more than 500: list the contacts with `group_id` instead. A write replaces
   * the members; null removes them all.
   */
  contactIds?: string[] | null;
  /** The number of contacts in the group. */
  memberCount?: number;
  /** Whether the account can read this group but not change it. */
  readOnly?: boolean;
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
  e164?: string | null;
  /** The use of the number. */
  type?: PhoneKind;
  /** The user's own name for the number; required with `type` `custom`, else null if there is none. */
  label?: string | null;
  /** Whether it is the contact's preferred number. At most one number is. */
  primary?: boolean;
}

/** The part of the provider's account that a contact comes from. */
export type ContactSource = "addressBook" | "suggested" | "directory";

/** A web address of a contact. */
export interface ContactUrl {
  /** The absolute URL. */
  value: string;
  /** The use of the address. */
  type?: ContactKind;
}

/** The contact features of this account at its provider, for the capabilities operation. */
export interface ContactsFeatures {
  /** Whether books can be created. */
  createBook?: boolean;
  /** Whether books can be changed. */
  updateBook?: boolean;
  /** Whether books can be deleted. */
  deleteBook?: boolean;
  /** Whether contacts can be created, changed and deleted. */
  createContact?: boolean;
  /** Whether contacts can be in groups. */
  groups?: boolean;
  /** Whether pictures can be stored in the record. */
  photos?: boolean;
  /** Whether contacts can be starred. */
  starred?: boolean;
  /** Whether the provider notifies the service of changes. */
  push?: boolean;
  /** The way in which changes are found: `syncToken`, `deltaToken`, `ctag` or `scan`. */
  delta?: string;
}

/** The bytes of a message or attachment, in a blob of this call. */
export interface Content {
  /** The id of the blob. */
  blob?: string;
  /** The media type; null if it is unknown. */
  contentType?: string | null;
}

/** The state of the delivery of a message. */
export type DeliveryState = "queued" | "sending" | "sent" | "partially_failed" | "failed" | "bounced" | "cancelled";

/** The place of a file in a message (RFC 2183). */
export type Disposition = "attachment" | "inline";

/** A mailbox address with its display name. */
export interface EmailAddress {
  /** The display name, such as `Ada Lovelace`; null if there is none. */
  name?: string | null;
  /** The address, such as `ada@example.com`. In received mail it may be malformed, even without an `@`. */
  email?: string;
}

/** The text of a message, as plain text and as HTML. A part that the message does not have is null; it is not derived from the other one. */
export interface EmailBody {
  /** The plain text; null if the message has none. */
  text?: string | null;
  /** The HTML as the sender wrote it; null if the message has none. It is untrusted: show `safeHtml` instead. */
  html?: string | null;
  /**
   * The HTML without scripts, forms, frames and event handlers, and without remote images unless the message is read with
   * `images=allow`. Set by the service; null if the message has no HTML.
   */
  safeHtml?: string | null;
  /** The charset that the text declares, in lower case, such as `utf-8`; null if it declares none. */
  charset?: string | null;
  /** Whether `text` or `html` was cut, because it is longer than 2 MiB, or than 256 KiB in a list. */
  truncated?: boolean;
}

/** The way in which the service finds changes in a mailbox. */
export type EmailDelta = "history" | "deltaToken" | "uid" | "scan";

/** A header field of a message. */
export interface EmailHeader {
  /** The name of the field, such as `X-Case`. Requests can set `X-*`, `List-*` and `Auto-Submitted`. */
  name?: string;
  /** The value of the field on one line, decoded. */
  value?: string;
}

/** A message in a mailbox. */
export interface EmailMessage {
  /** The id of the thread that the message belongs to; null while the message is in no thread. */
  threadId?: string | null;
  /** The Message-ID header without angle brackets, such as `1c2f@mail.example.com`; null if the message has none. */
  internetMessageId?: string | null;
  /** The Message-ID that the message was sent with, if the provider replaced it; null if the provider kept it. */
  originalInternetMessageId?: string | null;
  /** The Message-IDs in the In-Reply-To header, without angle brackets: the messages that this one answers. */
  inReplyTo?: string[];
  /**
   * The Message-IDs in the References header, without angle brackets: the earlier messages of the conversation, oldest first (RFC
   * 5322).
   */
  references?: string[];
  /** The subject, decoded and in Unicode normalization form C; null if the message has none. */
  subject?: string | null;
  /** The authors of the message (From header). */
  from?: EmailAddress[];
  /** The mailbox that sent the message for its authors (Sender header, RFC 5322); null if the header is absent. */
  sender?: EmailAddress | null;
  /** The primary recipients (To header). */
  to?: EmailAddress[];
  /** The recipients of copies (Cc header). */
  cc?: EmailAddress[];
  /**
   * The recipients of blind copies (Bcc header). Messages from others rarely have any, because mail programs remove the header on
   * sending.
   */
  bcc?: EmailAddress[];
  /** The addresses that replies go to (Reply-To header). If empty, replies go to `from`. */
  replyTo?: EmailAddress[];
  /** The time at which the mail server received or stored the message (its internal date). Lists are sorted by this time. */
  receivedAt?: Instant;
  /** The time of sending that the author's mail program wrote (Date header); null if the header is absent or unreadable. */
  sentAt?: Instant | null;
  /** The beginning of the message as plain text, at most 200 characters; empty if the message has no text. */
  snippet?: string;
  /** The text of the message; null unless the message is read with `fields=full`. */
  body?: EmailBody | null;
  /** The ids of the folders that hold the message; several only where the provider allows that. */
  folderIds?: string[];
  /** The ids of the labels of the message; empty if the provider has no labels. */
  labelIds?: string[];
  /** Whether the message has not been read. */
  unread?: boolean;
  /** Whether the message is starred (flagged). */
  starred?: boolean;
  /** Whether the message is a draft. */
  draft?: boolean;
  /** Whether the message was answered, through the API or with another mail program. */
  answered?: boolean;
  /** Whether the message was forwarded, through the API or with another mail program. */
  forwarded?: boolean;
  /**
   * The IMAP and JMAP keywords of the message in lower case, such as `$junk` or `$phishing`. Keywords with a field of their own, such
   * as `$seen`, are not listed.
   */
  keywords?: string[];
  /** The importance that the author gave the message. */
  importance?: Importance;
  /** Whether the message has attachments; inline files do not count. */
  hasAttachments?: boolean;
  /** The files in the message, inline files included, without their content. */
  attachments?: Attachment[];
  /** The size of the message as stored, in bytes. */
  size?: number;
  /**
   * The header fields in the order of the message, repeated ones included; empty unless the message is read with `fields=headers` or
   * `fields=full`.
   */
  headers?: EmailHeader[];
  /** Whether the message is an automatic reply, such as an out-of-office notice (RFC 3834). */
  autoReply?: boolean;
  /** The value of the List-Unsubscribe header (RFC 2369); null if the message has none. */
  listUnsubscribe?: string | null;
  /** The method of the invitation in the message (iTIP, RFC 5546); null if the message has no invitation. */
  calendarMethod?: CalendarMethod | null;
  /** The tracking of a message that was sent through the API; null if the message is not tracked. */
  tracking?: TrackingSettings | null;
  /** The delivery of a message that was sent through the API; null for all other messages. */
  delivery?: MessageDelivery | null;
}

/** A calendar event: a single one, a series, or one changed instance of a series. */
export interface Event {
  /**
   * The iCalendar UID (RFC 5545), which a series and its exceptions share. It can only be set when the event is created; null if the
   * provider gives none.
   */
  iCalUid?: string | null;
  /** The revision of the event (RFC 5545 SEQUENCE), which grows with every important change. */
  sequence?: number;
  /** The place of the event in a series. */
  type?: EventType;
  /**
   * The original local start of an exception or occurrence: `YYYY-MM-DDTHH:MM:SS` in the series' zone, or `YYYY-MM-DD` for an all-day
   * series. Null for single events and series.
   */
  recurrenceId?: string | null;
  /** The original start of an exception or occurrence as an instant; null for single events and series. */
  originalStart?: Instant | null;
  /**
   * Whether the exception also applies to all later instances (RFC 5545 RANGE=THISANDFUTURE): those without an exception of their own
   * have its fields, its length, and its distance from the original start. Absent if it does not. Read only.
   */
  appliesToFollowing?: boolean;
  /** The first instant of the event. For an all-day event it is the midnight of `startDate` in the event's time zone. */
  start?: Instant;
  /** The end of the event (exclusive), at most 400 days after `start`; equal to `start` for an event without a length. */
  end?: Instant;
  /**
   * The length of each instance of a series, as an RFC 5545 DURATION such as `P1DT2H`, if the provider gives it in days: so many days
   * later by the clock, then so many hours later. Absent if each instance is exactly as long as from `start` to `end`.
   */
  duration?: string | null;
  /** The IANA name of the time zone that the start is in. A create without it takes the calendar's zone. */
  timeZone?: string;
  /** The IANA name of the time zone that the end is in; null if that is the zone of the start. */
  endTimeZone?: string | null;
  /**
   * The rules of the start's zone, if the provider's zone has no IANA name: then `timeZone` is `UTC`, and the instances of the series
   * are at the same time of day on this clock. Only on a series with times, and on an exception that applies to following instances.
   * Absent otherwise. Read only.
   */
  timeZoneRules?: TimeZoneRules | null;
  /** Whether the event lasts whole days. */
  allDay?: boolean;
  /** The first day of an all-day event, `YYYY-MM-DD`; null for an event with times. */
  startDate?: string | null;
  /**
   * The day after the last day of an all-day event, `YYYY-MM-DD`; null for an event with times. A create without it makes an event of
   * one day.
   */
  endDate?: string | null;
  /** The title (RFC 5545 SUMMARY); null if there is none. */
  title?: string | null;
  /** The description as plain text; null if there is none. */
  description?: string | null;
  /** The description as HTML, as the provider has it: clean it before you show it. Null if there is none. */
  descriptionHtml?: string | null;
  /** The place as one line of text; null if there is none. */
  location?: string | null;
  /** The places one by one; null if the provider only has `location`. */
  locations?: Location[] | null;
  /** The event's own color, `#rrggbb`; null for the color of the calendar. */
  color?: string | null;
  /** The address of the event in the provider's own web pages; null if it has none. */
  htmlLink?: string | null;
  /** The status (RFC 5545 STATUS). */
  status?: EventStatus;
  /** The state in which the time is shown to others. */
  showAs?: ShowAs;
  /** Whether the event makes its time busy, which follows from `showAs` and `status`. */
  busy?: boolean;
  /** The people who can see the details. */
  visibility?: Visibility;
  /** The purpose of the event. */
  eventKind?: EventKind;
  /** Whether the account cannot change the event. */
  readOnly?: boolean;
  /** The organizer; null for an event without attendees. */
  organizer?: Person | null;
  /** The person who created the event; null if the provider names none. */
  creator?: Person | null;
  /** The people and resources that are invited, at most 500, each address once. A change replaces the whole list. */
  attendees?: Attendee[];
  /** Whether attendees cannot see each other. */
  hideAttendees?: boolean;
  /** Whether attendees can change the event. */
  guestsCanModify?: boolean;
  /** Whether attendees can invite others. */
  guestsCanInvite?: boolean;
  /** The number of people that can attend; null for no limit. */
  capacity?: number | null;
  /** The response of the attendee who is the account itself; null if the account is not invited. */
  myResponse?: ResponseStatus | null;
  /**
   * The recurrence rule set as RFC 5545 lines without DTSTART: at most one `RRULE:`, any `RDATE` and `EXDATE`. Only a series has lines.
   * Lines of other programs are shown unchanged, also several rules and `EXRULE` (RFC 2445).
   */
  recurrence?: string[];
  /**
   * The online meeting; null if there is none. It can only be set when the event is created; afterwards use the operation that adds a
   * conference.
   */
  conference?: Conference | null;
  /** The reminders of the account. */
  reminders?: Reminders;
  /** Links to files, at most 50. A change replaces the whole list. */
  attachments?: EventAttachment[];
}

/** A link to a file. */
export interface EventAttachment {
  /** The name of the file; null if there is none. */
  title?: string | null;
  /** The URL of the file, http or https. A request needs it. */
  url?: string | null;
  /** The media type of the file; null if it is not known. */
  mimeType?: string | null;
}

/** The purpose of an event. */
export type EventKind = "default" | "outOfOffice" | "focusTime" | "workingLocation";

/** The status of an event (RFC 5545 STATUS). */
export type EventStatus = "confirmed" | "tentative" | "cancelled";

/** The place of an event in a series. An `occurrence` is never stored: it is computed from its series. */
export type EventType = "single" | "series" | "occurrence" | "exception";

/** A folder of a mailbox. */
export interface Folder {
  /** The name of the folder. */
  name?: string;
  /** The names of the folders from the root of the mailbox down to this one, which is last. */
  path?: string[];
  /** The id of the parent folder; null at the root. */
  parentId?: string | null;
  /** The purpose of the folder; null if it has none. At most one folder of a mailbox has each role. */
  role?: FolderRole | null;
  /** The number of messages in the folder, as the provider counts them; null if unknown. */
  totalCount?: number | null;
  /** The number of unread messages in the folder, as the provider counts them; null if unknown. */
  unreadCount?: number | null;
  /** The position among the folders with the same parent, lowest first; equal positions are sorted by name. */
  sortOrder?: number;
  /** Whether the account is subscribed to the folder (IMAP). Mail programs may hide the others. */
  subscribed?: boolean;
  /** Whether the folder can hold messages; false for one that only has other folders in it. */
  selectable?: boolean;
  /** The rights of the account in the folder. */
  rights?: FolderRights;
  /** Whether the folder belongs to the provider, and can be neither renamed nor deleted. */
  system?: boolean;
}

/** The rights of the account in a folder (RFC 4314, RFC 8621). */
export interface FolderRights {
  /** Whether messages in the folder can be read. */
  read?: boolean;
  /** Whether messages can be added to the folder. */
  add?: boolean;
  /** Whether messages can be removed from the folder. */
  remove?: boolean;
  /** Whether flags and keywords of messages in the folder can be changed. */
  setFlags?: boolean;
  /** Whether the folder can be renamed. */
  rename?: boolean;
  /** Whether the folder can be deleted. */
  delete?: boolean;
}

/** The purpose of a folder (special use: RFC 6154, RFC 8457, RFC 8621). */
export type FolderRole = "inbox" | "archive" | "drafts" | "sent" | "trash" | "junk" | "all" | "important" | "flagged" | "outbox";

/** The provider's busy times. The connector neither merges nor clips them: the host does both. */
export interface FreeBusyAnswer {
  /** The busy times, in any order; they may overlap each other and the ends of the period. */
  busy?: BusyInterval[];
}

/** The owner of a contact group. */
export type GroupKind = "user" | "system";

/** An address of a contact for instant messages. */
export interface ImAddress {
  /** The service, in the provider's own spelling, such as `xmpp` or `matrix`; null if it is unknown. */
  protocol?: string | null;
  /** The contact's user name in the service. */
  handle: string;
}

/** The importance of a message, as its author stated it. */
export type Importance = "low" | "normal" | "high";

/** The events of a calendar that count as busy (RFC 9670). */
export type IncludeInAvailability = "all" | "attending" | "none";

/** An instant (RFC 3339), in UTC with milliseconds. Requests may have any offset, which is converted. */
export type Instant = string;

/** One normalized resource inside a source. */
export interface Item {
  /** The provider's id of the item, unique within the collection and the kind; the source's own id for the main item. */
  externalId?: string;
  /** The resource type, such as `contact_group`, if an operation reports several; null: the type that the operation is named after. */
  kind?: string | null;
  /**
   * The name by which other items of the collection refer to this item: a vCard's or a task's UID; null: its `externalId`. A body that
   * names other items (members of a group, the parent of a task) uses this name, and the host resolves it to an id.
   */
  uid?: string | null;
  /** For an exception of a series, the `externalId` of the series' item, in this source or in another one of the collection; else null. */
  seriesExternalId?: string | null;
  /** The normalized resource: an event, a calendar, a contact and so on. */
  body?: unknown;
  /** The provider's fields that the model has no field for, in the provider's own form; null if there are none. */
  providerData?: unknown;
  /**
   * Warnings for readers of the item: the data of the provider that `body` cannot express. They are shown until the item is read without
   * them; a new or another warning is a change of the item. At most 64 KiB of JSON. Not for mail.
   */
  warnings?: Warning[];
  /** Whether `body` holds only some fields of a known item; the other fields stay as they are. Mail alone. */
  partial?: boolean;
  /**
   * The part that stays the same when the provider gives the item another id: an immutable id, else Message-ID, date and size; null if
   * there is none. An item that appears under a new id while one with the same fingerprint disappears is the same item. Mail alone.
   */
  fingerprint?: string | null;
  /**
   * Data that the connector wants back when the item is read again, such as the parts that are its text; null if it needs none. Keep it
   * small. The API does not show it.
   */
  hint?: unknown;
}

/** The reason why a source could not be converted to items. */
export interface ItemError {
  /** The connector's own code, shown in the sync state. */
  code?: string;
  /** A sentence for people, in English. */
  message?: string;
}

/** A label of messages. A message can have any number of labels. Providers without labels have none. */
export interface Label {
  /** The name of the label. Nested labels have a path, such as `Clients/Acme`. */
  name?: string;
  /** The colors that the provider's own programs show the label in; null if it has none. */
  color?: LabelColor | null;
  /** Whether the label belongs to the provider, and can be neither renamed nor deleted. */
  system?: boolean;
  /** The number of messages with the label; null if unknown. */
  totalCount?: number | null;
  /** The number of unread messages with the label; null if unknown. */
  unreadCount?: number | null;
  /** The visibility of the label in the provider's own programs. */
  visibility?: LabelVisibility;
}

/** The colors of a label, each in the form `#rrggbb`. */
export interface LabelColor {
  /** The background color, such as `#16a766`; null for the provider's default. */
  background?: string | null;
  /** The text color, such as `#ffffff`; null for the provider's default. */
  text?: string | null;
}

/** The visibility of a label in the provider's own programs. */
export type LabelVisibility = "show" | "hide";

/** The type of the resource that a task links to. */
export type LinkedType = "email_message" | "calendar_event" | "contact" | "url";

/** A place. */
export interface Location {
  /** The name of the place; null if there is none. */
  name?: string | null;
  /** The postal address as one text; null if there is none. */
  address?: string | null;
  /** The web address of the place; null if there is none. */
  uri?: string | null;
  /** The coordinates as `latitude,longitude` in degrees; null if they are not known. */
  geo?: string | null;
}

/** The mail features of this account at its provider, for the capabilities operation. */
export interface MailFeatures {
  /** Whether `messages.search` takes `text`. */
  search?: boolean;
  /** Whether `messages.search` takes `nativeQuery`. */
  nativeSearch?: boolean;
  /** Whether `unread`, `starred` and the other flags can be changed. */
  modifyFlags?: boolean;
  /** Whether messages can be moved to other folders. */
  moveMessages?: boolean;
  /** Whether messages can be moved to the trash. */
  delete?: boolean;
  /** Whether messages can be deleted for good. */
  permanentDelete?: boolean;
  /** Whether drafts can be stored. */
  drafts?: boolean;
  /** Whether messages can be sent. */
  send?: boolean;
  /** Whether messages can be put into a folder without being sent. */
  append?: boolean;
  /** Whether the mailbox has folders. */
  folders?: boolean;
  /** Whether the mailbox has labels. */
  labels?: boolean;
  /** Whether a message can be in several folders. */
  multiFolder?: boolean;
  /** The side that groups messages into threads. */
  threads?: ThreadSource;
  /** Whether keywords of any name can be set. */
  keywords?: boolean;
  /** Whether the importance of a message can be changed. */
  importance?: boolean;
  /** Whether messages can be sent from the addresses in `aliases`. */
  sendAsAlias?: boolean;
  /** Whether messages can be sent on behalf of another mailbox. */
  delegatedSend?: boolean;
  /** The way in which bounces are detected. */
  bounceDetection?: BounceDetection;
  /** Whether the provider notifies the service of changes. */
  push?: boolean;
  /** The way in which changes are found. */
  delta?: EmailDelta;
  /** The largest message that can be sent, in bytes; null if it is unknown. */
  maxMessageBytes?: number | null;
  /** The most recipients of a message; null if it is unknown. */
  maxRecipients?: number | null;
  /** The most messages that can be sent in a day; null if it is unknown. */
  maxSendPerDay?: number | null;
  /** The addresses that the account can send as. */
  aliases?: Alias[];
}

/** The delivery of a message that was sent through the API. */
export interface MessageDelivery {
  /** The state of the delivery over all recipients. */
  state?: DeliveryState;
  /** The time that the message is scheduled for; null if it was sent at once. */
  sendAt?: Instant | null;
  /** The number of attempts to send the message so far. */
  attempts?: number;
  /** The delivery to each recipient in `to`, `cc` and `bcc`. */
  recipients?: RecipientDelivery[];
  /**
   * The reason why the message was not sent; null if sending has not failed. With the code `outcome_unknown` it may have been
   * delivered: check before you send it again.
   */
  error?: SendError | null;
}

/** The result of a write: the answer of every `mutate`, except `messages.send`. */
export interface Mutated {
  /** The changed sources at the provider, in their new state. */
  sources?: Source[];
  /** The external id of the item that the call wrote; null after a delete. */
  item?: string | null;
  /** The provider's id of the checklist item or link that the call wrote; null if it wrote none. */
  part?: string | null;
  /** Warnings of a call that succeeded. */
  warnings?: Warning[];
}

/** The format of a task's notes. */
export type NotesFormat = "text" | "html";

/** An organization of a contact. It has at least one of `name`, `title` and `department`. */
export interface Organization {
  /** The name of the organization; null if it is unknown. */
  name?: string | null;
  /** The contact's job title there; null if it is unknown. */
  title?: string | null;
  /** The contact's department there; null if it is unknown. */
  department?: string | null;
  /** Whether the contact belongs to the organization now; true if absent. */
  current?: boolean;
}

/** A day of one year, or of every year. */
export interface PartialDate {
  /** The year; null if it is unknown: the day of every year. */
  year?: number | null;
  /** The month, from 1 (January) to 12. */
  month: number;
  /** The day of the month, from 1 to 31. */
  day: number;
}

/** The organizer or the creator of an event. */
export interface Person {
  /** The email address; null if it is not known. */
  email?: string | null;
  /** The name; null if it is not known. */
  name?: string | null;
  /** Whether the person is the connected account. */
  self?: boolean;
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
  url?: string | null;
  /** The version of the picture: it changes with the picture. Null for a picture at a `url`. A client does not set it. */
  etag?: string | null;
}

/** A picture that a contact's record holds. */
export interface Picture {
  /** The media type of the picture, such as `image/jpeg`. */
  contentType?: string;
  /** The bytes of the picture in base64 (RFC 4648 section 4). */
  contentBase64?: string;
}

/** A postal address of a contact (vCard ADR). It has at least one part or `formatted`. */
export interface PostalAddress {
  /** The use of the address. */
  type?: ContactKind;
  /** The user's own name for the address; required with `type` `custom`, else null if there is none. */
  label?: string | null;
  /** The whole address as written on an envelope, with line breaks; null if only its parts are known. */
  formatted?: string | null;
  /** The street with the house number; null if it is unknown. */
  street?: string | null;
  /** An addition to the street, such as the apartment; null if there is none. */
  extended?: string | null;
  /** The post office box; null if there is none. */
  poBox?: string | null;
  /** The town or city; null if it is unknown. */
  locality?: string | null;
  /** The state or province; null if it is unknown. */
  region?: string | null;
  /** The postal code; null if it is unknown. */
  postalCode?: string | null;
  /** The name of the country, in any language; null if it is unknown. */
  country?: string | null;
  /** The country as two capital letters (ISO 3166-1 alpha-2), such as `DE`; null if it is unknown. */
  countryCode?: string | null;
}

/** The delivery of a message to one recipient. */
export interface RecipientDelivery {
  /** The address of the recipient. */
  email?: string;
  /** The state of the delivery to this recipient. */
  status?: RecipientStatus;
  /** The reply of the mail server for this recipient, such as `550 5.1.1 no such user`; null if there is none. */
  smtpReply?: string | null;
  /** The status code of the mail server (RFC 3463), such as `5.1.1`; null if the server gave none. */
  enhancedStatus?: string | null;
  /** The time of the last change of `status`; null while the message waits to be sent. */
  at?: Instant | null;
}

/** The server's answer for one recipient. */
export interface RecipientOutcome {
  /** The recipient's email address. */
  email?: string;
  /** Whether the server accepted the message for the recipient. */
  accepted?: boolean;
  /** Whether the refusal is temporary (SMTP 4xx): a later attempt may succeed. */
  temporary?: boolean;
  /** The SMTP reply in one line, such as `550 5.1.1 no such user`; null if there is none. */
  reply?: string | null;
  /** The enhanced status code (RFC 3463), such as `5.1.1`; null if there is none. */
  enhancedStatus?: string | null;
}

/** The state of the delivery to one recipient. */
export type RecipientStatus = "queued" | "accepted" | "delivered" | "bounced" | "deferred" | "complained";

/** A person who is related to a contact. */
export interface Relation {
  /** The name of the person. */
  name: string;
  /** The person's relation to the contact, in the provider's own spelling, such as `spouse` or `assistant`; null if it is unknown. */
  type?: string | null;
}

/** A reminder before the start. */
export interface Reminder {
  /** The way in which the user is reminded. */
  method?: ReminderMethod;
  /** The minutes from the reminder to the start of the event, 0 to 40,320 (four weeks). */
  minutesBefore: number;
}

/** The way in which a user is reminded. */
export type ReminderMethod = "popup" | "email";

/** The reminders of an event. */
export interface Reminders {
  /** Whether the calendar's default reminders apply. */
  useDefault?: boolean;
  /** The reminders that apply instead of the calendar's default ones, at most 20. */
  overrides?: Reminder[];
}

/** An answer to an invitation (RFC 5545 PARTSTAT). */
export type ResponseStatus = "needsAction" | "accepted" | "declined" | "tentative";

/** The reason why a message could not be sent. */
export interface SendError {
  /** A stable code of the cause, such as `outcome_unknown`. */
  code?: string;
  /** A sentence that explains the cause, for people. */
  message?: string;
  /** The time of the failure; null if unknown. */
  at?: Instant | null;
}

/** The result of sending a message. Refused recipients are no failure of the call. */
export interface Sent {
  /** The server's answers, one for each recipient. */
  recipients?: RecipientOutcome[];
  /** The Message-ID that the provider gave the message; null if it kept the one that it got. */
  internetMessageId?: string | null;
  /** The copy in the sent folder, whole, and the draft as deleted. */
  sources?: Source[];
  /** Warnings of a call that succeeded. */
  warnings?: Warning[];
}

/** The state in which an event's time is shown to others. */
export type ShowAs = "busy" | "free" | "tentative" | "oof" | "workingElsewhere";

/**
 * One record of the provider that changes as a whole and has one provider etag: a CalDAV resource, a Google event, a card. It contains one
 * or more items: a CalDAV resource holds the series and its exceptions.
 */
export interface Source {
  /** The provider's id of the source (an href, an event id), as stable as the provider allows. */
  externalId?: string;
  /** The provider's version of the source, passed back as `ifMatch`; null if the provider has none. */
  etag?: string | null;
  /** Whether the source was deleted, with all its items; `items` is empty then. */
  deleted?: boolean;
  /** All items of the source now. The host deletes stored items of this source that are not listed here. */
  items?: Item[];
  /**
   * The reason why the source could not be read; null if it was read. Such a source is left out, shown in the sync state, and never
   * stops a sync.
   */
  error?: ItemError | null;
  /** The previous external id of the source, if it was moved or stored again; else null. Its items keep their ids. */
  previousId?: string | null;
  /**
   * The time of the last change by the provider's clock, which never goes back; null if it is unknown. A page of changes with an older
   * version than the stored one does not replace the stored one: the host reads the source by itself. Not for mail.
   */
  updatedAt?: Instant | null;
}

/** The name and version of a source, without its items. */
export interface SourceName {
  /** The external id of the source. */
  externalId?: string;
  /** The provider's version of the source; null if it is unknown. The host does not read a version again that it has. */
  etag?: string | null;
  /** Whether the source was deleted: there is nothing to read then. */
  deleted?: boolean;
}

/** The provider's sources: answer of `changes` and of every `*.list`. */
export interface Sources {
  /**
   * The sources of this page. The host reads each element by itself: it lists one that does not fit the type with an error, under its
   * own id.
   */
  sources?: Source[];
  /**
   * Whether the pages since the call without a cursor name all sources that exist. The host then deletes the others once it has read the
   * last page. False: the pages report only differences.
   */
  enumeration?: boolean;
  /** In an enumeration from new to old, the time from which on all items have been reported; null if nothing is known. Mail alone. */
  coveredSince?: Instant | null;
  /**
   * The sources whose content is still to be read, if the request had `namesFirst`: the host stores these names, reads their content
   * with `*.batchGet`, and only then asks for the next page (`more` is true) at this answer's cursor. In an enumeration they count as
   * named.
   */
  named?: SourceName[];
}

/** A task. Setting `status` to `completed` sets `completedAt` to the present time; another status clears it. */
export interface Task {
  /** The task list that holds the task, as in the path. */
  taskListId?: string | null;
  /** The id of the task that this task is a subtask of, in the same list; null for a task at the top. */
  parentId?: string | null;
  /** The title of the task. */
  title?: string;
  /** The notes on the task, in the format that `notesFormat` names; null if there are none. */
  notes?: string | null;
  /** The format of `notes`. */
  notesFormat?: NotesFormat;
  /** The state of the task. */
  status?: TaskStatus;
  /** The priority of the task; null if it has none. */
  priority?: TaskPriority | null;
  /** The progress from 0 to 100 percent; null if it is unknown. Completing the task sets it to 100. */
  percentComplete?: number | null;
  /** The day on which work on the task begins, `YYYY-MM-DD`, at the latest `dueDate`; null if there is none. */
  startDate?: string | null;
  /** The day on which the task is due, `YYYY-MM-DD`; null if there is none. */
  dueDate?: string | null;
  /**
   * The time of day at which the task is due, `HH:MM` in `timeZone`; null if it is due at any time of the day. It needs `dueDate`. A
   * provider without due times drops it, with a warning.
   */
  dueTime?: string | null;
  /**
   * The IANA time zone of `dueTime`, such as `Europe/Berlin`. Null: the time is the same in every zone, or there is none. A write of
   * `dueTime` without it takes the time zone of the list.
   */
  timeZone?: string | null;
  /** The time of completion, set when `status` becomes `completed`; null while the task is not completed. */
  completedAt?: Instant | null;
  /** The time of the reminder; null if there is none. */
  reminderAt?: Instant | null;
  /**
   * The rules by which the task recurs, as RFC 5545 lines without DTSTART: at most one `RRULE:`, any number of `RDATE` and `EXDATE`.
   * Empty for a task that does not recur.
   */
  recurrence?: string[];
  /** The names of the task's categories. */
  categories?: string[];
  /** The people to whom the task is assigned. */
  assignees?: Assignee[];
  /** The position among the tasks of the list: positions are compared as text, lowest first. Null if the provider has no order. */
  position?: string | null;
  /** Whether the task has attachments at the provider. */
  hasAttachments?: boolean;
  /** The checklist of the task, in order. It is changed under `/checklist-items`. */
  checklistItems?: ChecklistItem[];
  /** The links of the task to resources and web pages. They are changed under `/links`. */
  links?: TaskLink[];
  /** The address of the task in the provider's own web pages; null if it has none. */
  webUrl?: string | null;
}

/** A link of a task to a resource of this API or to a web page. */
export interface TaskLink {
  /** The id of the link. */
  id?: string;
  /** The id of the task that the link belongs to. */
  taskId?: string;
  /** The address of the web page; null for a link to a resource. */
  url?: string | null;
  /** The title of the page or resource; null if it has none. */
  title?: string | null;
  /** The name of the application that the link opens; null if it is unknown. */
  applicationName?: string | null;
  /** The provider's id of the page or resource; null if it has none. */
  externalId?: string | null;
  /** The type of the resource, or `url` for a web page. */
  resourceType?: LinkedType;
  /** The id of the resource; null for a web page. */
  resourceId?: string | null;
  /** The time at which the link was created, or first seen if the provider does not store it. */
  createdAt?: Instant;
}

/** A list of tasks of a connected account. */
export interface TaskList {
  /** The name of the list. */
  name?: string;
  /** The purpose of the list, decided by the provider; null if it has none. The default list cannot be deleted. */
  role?: TaskListRole | null;
  /** Whether the account owns the list. False: another person shares it with the account. */
  isOwner?: boolean;
  /** Whether other people can see the list. */
  isShared?: boolean;
  /** Whether the account can read this list but not change it. */
  readOnly?: boolean;
  /** The color of the list as `#rrggbb`; null if it has none. */
  color?: string | null;
  /** The position among the account's lists, lowest first; 0 if the provider has no order. */
  sortOrder?: number;
  /** The number of tasks in the list; null if it is unknown. */
  taskCount?: number | null;
  /** The number of tasks that are neither completed nor cancelled; null if it is unknown. */
  openCount?: number | null;
}

/** The purpose of a task list. */
export type TaskListRole = "default" | "flagged";

/** The priority of a task. */
export type TaskPriority = "low" | "normal" | "high";

/** The state of a task. */
export type TaskStatus = "needsAction" | "inProgress" | "completed" | "waiting" | "deferred" | "cancelled";

/** The task features of this account at its provider, for the capabilities operation. */
export interface TasksFeatures {
  /** Whether lists can be created. */
  createList?: boolean;
  /** Whether lists can be changed. */
  updateList?: boolean;
  /** Whether lists can be deleted. */
  deleteList?: boolean;
  /** Whether tasks can have subtasks. */
  subtasks?: boolean;
  /** Whether tasks can have a start date. */
  startDate?: boolean;
  /** Whether a due date can have a time of day. False: tasks are due on a day. */
  dueTime?: boolean;
  /** Whether tasks can have a priority. */
  priority?: boolean;
  /** Whether tasks can have `percentComplete`. */
  percentComplete?: boolean;
  /** Whether tasks can recur. */
  recurrence?: boolean;
  /** Whether tasks can have categories. */
  categories?: boolean;
  /** Whether tasks can have assignees. */
  assignees?: boolean;
  /** Whether tasks can have reminders. */
  reminders?: boolean;
  /** Whether the caller can decide the order of tasks. */
  ordering?: boolean;
  /** Whether tasks can have checklist items. */
  checklistItems?: boolean;
  /** Whether tasks can have links. */
  links?: boolean;
  /** Whether the provider notifies the service of changes. */
  push?: boolean;
  /** The way in which changes are found: `syncToken`, `deltaToken`, `ctag` or `scan`. */
  delta?: string;
}

/** The side that groups messages into threads. */
export type ThreadSource = "server" | "computed";

/** The offsets of a time zone that has no IANA name (RFC 5545 section 3.6.5). */
export interface TimeZoneRules {
  /**
   * The clock as a POSIX TZ string (RFC 9636 section 3.3.2), such as `STD5DST4,M4.1.0/2,M10.5.0/2`; null if `offset` and `transitions`
   * describe the clock.
   */
  posix?: string | null;
  /** The offset before the first transition, in seconds east of UTC. */
  offset?: number;
  /** The changes of the clock in order; the offset of the last one stays. */
  transitions?: TimeZoneTransition[];
}

/** A change of clocks. */
export interface TimeZoneTransition {
  /** The instant of the change. */
  at?: Instant;
  /** The offset from then on, in seconds east of UTC. */
  offset?: number;
}

/** The tracking of a sent message: the options that the sender chose, and the record that collects the results. */
export interface TrackingSettings {
  /** The id of the tracking record (`GET /v1/email/tracking/{trackingId}`). Set by the service when the message is sent; null before. */
  trackingId?: string | null;
  /** Whether opens are recorded, with an image in the HTML. A message without HTML has no opens. */
  opens?: boolean;
  /** Whether clicks on links in the HTML are recorded. */
  links?: boolean;
  /** Whether replies to the message are recorded. The mailbox must be synced for that (`POST /v1/email/sync/start`). */
  replies?: boolean;
  /** A text of your own that the tracking record repeats, such as the name of a campaign; null for none. */
  label?: string | null;
}

/** The people who can see an event's details (RFC 5545 CLASS). */
export type Visibility = "default" | "public" | "private" | "confidential";

/** A warning of a call that succeeded. */
export interface Warning {
  /** The stable code of the warning, for programs. */
  code?: string;
  /** A sentence for people, in English. */
  message?: string;
  /** The field or instance that the warning is about; null: the whole resource. */
  target?: string | null;
}

/** A watch that the provider has started or renewed: the answer of `watch.start` and `watch.renew`. */
export interface Watching {
  /**
   * The provider's id of the watch in its notifications (`watch` of the manifest's `[push]`), at most 512 bytes. For a provider whose
   * notifications name only the account, it is `channel`.
   */
  externalId?: string;
  /**
   * The value that the provider requires beside the id to stop the watch (Google's `resourceId`), at most 2 KiB; null if it requires
   * none.
   */
  resource?: string | null;
  /** The time at which the provider ends the watch by itself. A missing time, or one in 1970, is a fault of the connector. */
  expiresAt?: Instant;
}
