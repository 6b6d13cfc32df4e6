/** What a connector answers: resources, of which every field may be left out. Made of `sdk/model` by its test `typescript`. */

/** The account's rights in a calendar. */
export type AccessRole = "owner" | "writer" | "reader" | "freeBusyReader";

/** Answer of `lifecycle.check`: the account that the credentials open. */
export interface Account {
  /** The provider's id of the account, stable: two connections with the same one are the same account. */
  externalAccountId?: string;
  email?: string | null;
  /** Other addresses that are the account. */
  aliases?: string[];
  displayName?: string | null;
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
  email?: string;
  name?: string | null;
  isDefault?: boolean;
}

export interface Anniversary {
  /** As the provider names it: `wedding`. */
  type?: string | null;
  date?: PartialDate;
}

export interface Assignee {
  email?: string | null;
  name?: string | null;
}

/** A file in a message. */
export interface Attachment {
  id?: string;
  messageId?: string | null;
  /** Decoded (RFC 2231) and without path separators or control characters. */
  filename?: string | null;
  contentType?: string;
  /** Decoded bytes. */
  size?: number | null;
  /** Bytes as they stand in the message. */
  encodedSize?: number | null;
  inline?: boolean;
  /** Content-ID without the angle brackets. */
  contentId?: string | null;
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

export interface Attendee {
  email?: string;
  name?: string | null;
  responseStatus?: ResponseStatus;
  role?: AttendeeRole;
  kind?: AttendeeKind;
  comment?: string | null;
  self?: boolean;
  organizer?: boolean;
}

export type AttendeeKind = "individual" | "group" | "resource" | "room";

export type AttendeeRole = "required" | "optional" | "chair" | "nonParticipant";

/** The account's rights in a book. */
export interface BookRights {
  read?: boolean;
  write?: boolean;
  delete?: boolean;
}

export type BounceDetection = "provider" | "none" | "dsn";

/** A stretch of time that is not free. */
export interface BusyInterval {
  start?: Instant;
  end?: Instant;
  showAs?: ShowAs;
}

/** A calendar, as the provider has it. */
export interface Calendar {
  /** The user's name for the calendar. */
  name?: string;
  description?: string | null;
  /** IANA name; the zone of all-day events and of times without one. */
  timeZone?: string | null;
  /** `#rrggbb`. */
  color?: string | null;
  /** The account's default calendar. */
  isPrimary?: boolean;
  /** Whether the account owns the calendar. */
  isOwned?: boolean;
  readOnly?: boolean;
  accessRole?: AccessRole;
  location?: string | null;
  defaultReminders?: Reminder[];
  /** The events that count as busy (RFC 9670 `includeInAvailability`). */
  includeInAvailability?: IncludeInAvailability;
  /** Conference providers that events here can have; empty: none. */
  conferenceTypes?: ConferenceProvider[];
}

/** The features of this account's provider, for the capabilities operation. */
export interface CalendarFeatures {
  createCalendar?: boolean;
  updateCalendar?: boolean;
  deleteCalendar?: boolean;
  recurrence?: boolean;
  thisAndFollowing?: boolean;
  attendees?: boolean;
  /** The provider sends invitations and answers by itself. */
  scheduling?: boolean;
  rsvp?: boolean;
  conference?: ConferenceProvider[];
  reminders?: boolean;
  attachments?: boolean;
  /** Busy times of the account's own calendars by one provider query. */
  freeBusy?: boolean;
  /** Busy times of other people by address. */
  freeBusyByEmail?: boolean;
  push?: boolean;
  /** How changes are found: "syncToken", "deltaToken", "ctag", "scan". */
  delta?: string;
}

export type CalendarMethod = "request" | "reply" | "cancel";

/** A step of a task. */
export interface ChecklistItem {
  id?: string;
  taskId?: string;
  title?: string;
  checked?: boolean;
  checkedAt?: Instant | null;
  /** Sorts the items as text. */
  position?: string | null;
  createdAt?: Instant;
  etag?: string;
}

export interface Conference {
  provider?: ConferenceProvider;
  status?: ConferenceStatus;
  joinUrl?: string | null;
  meetingId?: string | null;
  passcode?: string | null;
  phones?: ConferencePhone[];
  createRequestId?: string | null;
}

export interface ConferencePhone {
  number?: string;
  pin?: string | null;
  region?: string | null;
}

export type ConferenceProvider = "googleMeet" | "teams" | "zoom" | "webex" | "other";

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
  givenName?: string | null;
  middleName?: string | null;
  familyName?: string | null;
  prefix?: string | null;
  suffix?: string | null;
  nickname?: string | null;
  phoneticGivenName?: string | null;
  phoneticFamilyName?: string | null;
  emails?: ContactEmail[];
  phones?: ContactPhone[];
  addresses?: PostalAddress[];
  organizations?: Organization[];
  urls?: ContactUrl[];
  imAddresses?: ImAddress[];
  relations?: Relation[];
  birthday?: PartialDate | null;
  anniversaries?: Anniversary[];
  notes?: string | null;
  photo?: Photo | null;
  /** The groups of the same book that the contact is a member of. */
  groupIds?: string[];
  source?: ContactSource;
  starred?: boolean;
  /** The contact that this one was merged into; the old id keeps working. */
  mergedInto?: string | null;
}

/** An address book. */
export interface ContactBook {
  name?: string;
  description?: string | null;
  isDefault?: boolean;
  readOnly?: boolean;
  contactCount?: number | null;
  rights?: BookRights;
}

export interface ContactEmail {
  value?: string;
  type?: ContactKind;
  label?: string | null;
  primary?: boolean;
}

/** A named set of contacts. */
export interface ContactGroup {
  /** None on a create: the default book of `connectionId`. It stays the same for the group's life. */
  bookId?: string | null;
  name?: string;
  kind?: GroupKind;
  /** Null where there are more than 500: then they are listed with `group_id`. */
  contactIds?: string[] | null;
  memberCount?: number;
  readOnly?: boolean;
}

/** The use of an address or number. */
export type ContactKind = "home" | "work" | "other" | "custom";

export interface ContactPhone {
  /** As written. */
  value?: string;
  /** ITU E.164, where the number can be parsed: `+4930901820`. */
  e164?: string | null;
  type?: PhoneKind;
  label?: string | null;
  primary?: boolean;
}

/** The part of the provider's account that the contact comes from. */
export type ContactSource = "addressBook" | "suggested" | "directory";

export interface ContactUrl {
  value?: string;
  type?: ContactKind;
}

/** The features of this account's provider, for the capabilities operation. */
export interface ContactsFeatures {
  createBook?: boolean;
  updateBook?: boolean;
  deleteBook?: boolean;
  createContact?: boolean;
  groups?: boolean;
  /** Pictures can be stored in the record. */
  photos?: boolean;
  starred?: boolean;
  push?: boolean;
  /** How changes are found: "syncToken", "deltaToken", "ctag", "scan". */
  delta?: string;
}

/** Bytes in a blob of this call. */
export interface Content {
  blob?: string;
  contentType?: string | null;
}

export type DeliveryState = "queued" | "sending" | "sent" | "partially_failed" | "failed" | "bounced" | "cancelled";

export type Disposition = "attachment" | "inline";

/** A mailbox address, best effort: mail in the wild may lack the `@`. */
export interface EmailAddress {
  name?: string | null;
  email?: string;
}

/** The text of a message. A missing part is null: it is not derived from the other one. */
export interface EmailBody {
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

export interface EmailHeader {
  name?: string;
  value?: string;
}

/** A message in a mailbox. */
export interface EmailMessage {
  threadId?: string | null;
  /** Message-ID without the angle brackets. */
  internetMessageId?: string | null;
  /** The Message-ID before the provider rewrote it on sending. */
  originalInternetMessageId?: string | null;
  /** Message-IDs without the angle brackets. */
  inReplyTo?: string[];
  references?: string[];
  /** Decoded, NFC. */
  subject?: string | null;
  from?: EmailAddress[];
  sender?: EmailAddress | null;
  to?: EmailAddress[];
  cc?: EmailAddress[];
  bcc?: EmailAddress[];
  replyTo?: EmailAddress[];
  /** The server's internal date; lists are sorted by it. */
  receivedAt?: Instant;
  /** The Date header. */
  sentAt?: Instant | null;
  /** Plain text, at most 200 characters. */
  snippet?: string;
  /** Only with `fields=full`. */
  body?: EmailBody | null;
  folderIds?: string[];
  labelIds?: string[];
  unread?: boolean;
  starred?: boolean;
  draft?: boolean;
  answered?: boolean;
  forwarded?: boolean;
  /** IMAP and JMAP keywords, lower case: `$junk`, `$phishing`. */
  keywords?: string[];
  importance?: Importance;
  hasAttachments?: boolean;
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
  allDay?: boolean;
  /** All-day events: first day, `YYYY-MM-DD`. */
  startDate?: string | null;
  /** All-day events: the day after the last, `YYYY-MM-DD`. */
  endDate?: string | null;
  title?: string | null;
  /** Plain text. */
  description?: string | null;
  /** HTML as the provider has it: untrusted. */
  descriptionHtml?: string | null;
  location?: string | null;
  locations?: Location[] | null;
  /** `#rrggbb`. */
  color?: string | null;
  /** The event in the provider's own web pages. */
  htmlLink?: string | null;
  status?: EventStatus;
  showAs?: ShowAs;
  /** Derived: whether `showAs` and `status` make this time busy. */
  busy?: boolean;
  visibility?: Visibility;
  eventKind?: EventKind;
  /** The account cannot change it. */
  readOnly?: boolean;
  organizer?: Person | null;
  creator?: Person | null;
  attendees?: Attendee[];
  hideAttendees?: boolean;
  guestsCanModify?: boolean;
  guestsCanInvite?: boolean;
  capacity?: number | null;
  /** The response of the attendee who is the account itself; null where it is not invited. */
  myResponse?: ResponseStatus | null;
  /**
   * RFC 5545 lines without DTSTART: at most one `RRULE:`, any `RDATE` and `EXDATE`. Only on a series. Lines of other programs are
   * shown unchanged, also several rules and `EXRULE` (RFC 2445).
   */
  recurrence?: string[];
  conference?: Conference | null;
  reminders?: Reminders;
  attachments?: EventAttachment[];
}

export interface EventAttachment {
  title?: string | null;
  url?: string | null;
  mimeType?: string | null;
}

export type EventKind = "default" | "outOfOffice" | "focusTime" | "workingLocation";

export type EventStatus = "confirmed" | "tentative" | "cancelled";

/** `occurrence` is never stored: it is computed from a series. */
export type EventType = "single" | "series" | "occurrence" | "exception";

/** A mailbox folder. */
export interface Folder {
  name?: string;
  /** Names from the root down, this one last. */
  path?: string[];
  parentId?: string | null;
  /** The folder's purpose; at most one folder of a mailbox has each role. */
  role?: FolderRole | null;
  totalCount?: number | null;
  unreadCount?: number | null;
  /** Position among its siblings. */
  sortOrder?: number;
  subscribed?: boolean;
  selectable?: boolean;
  rights?: FolderRights;
  /** The provider's own: it cannot be renamed or deleted. */
  system?: boolean;
}

/** The account's rights in a folder (RFC 4314, RFC 8621). */
export interface FolderRights {
  read?: boolean;
  add?: boolean;
  remove?: boolean;
  setFlags?: boolean;
  rename?: boolean;
  delete?: boolean;
}

/** Special uses: RFC 6154, RFC 8457 and the IANA registry of mailbox name attributes. */
export type FolderRole = "inbox" | "archive" | "drafts" | "sent" | "trash" | "junk" | "all" | "important" | "flagged" | "outbox";

/** Not merged, not clipped: the host does both. */
export interface FreeBusyAnswer {
  busy?: BusyInterval[];
}

export type GroupKind = "user" | "system";

export interface ImAddress {
  /** As the provider names it: `xmpp`, `matrix`. */
  protocol?: string | null;
  handle?: string;
}

export type Importance = "low" | "normal" | "high";

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
  code?: string;
  message?: string;
}

/** A label: a message can have any number. Empty lists where the provider has none. */
export interface Label {
  name?: string;
  color?: LabelColor | null;
  /** The provider's own: it cannot be renamed or deleted. */
  system?: boolean;
  totalCount?: number | null;
  unreadCount?: number | null;
  visibility?: LabelVisibility;
}

/** Both `#rrggbb`. */
export interface LabelColor {
  background?: string | null;
  text?: string | null;
}

export type LabelVisibility = "show" | "hide";

export type LinkedType = "email_message" | "calendar_event" | "contact" | "url";

export interface Location {
  name?: string | null;
  address?: string | null;
  uri?: string | null;
  /** `geo:` URI's coordinates as `lat,lon`. */
  geo?: string | null;
}

/** The features of this account's provider, for the capabilities operation. */
export interface MailFeatures {
  /** `messages.search` with `text`. */
  search?: boolean;
  nativeSearch?: boolean;
  modifyFlags?: boolean;
  moveMessages?: boolean;
  delete?: boolean;
  permanentDelete?: boolean;
  drafts?: boolean;
  send?: boolean;
  append?: boolean;
  folders?: boolean;
  labels?: boolean;
  multiFolder?: boolean;
  threads?: ThreadSource;
  /** Keywords of any name can be set. */
  keywords?: boolean;
  importance?: boolean;
  sendAsAlias?: boolean;
  delegatedSend?: boolean;
  bounceDetection?: BounceDetection;
  push?: boolean;
  delta?: EmailDelta;
  maxMessageBytes?: number | null;
  maxRecipients?: number | null;
  maxSendPerDay?: number | null;
  aliases?: Alias[];
}

/** The delivery of a sent message. */
export interface MessageDelivery {
  state?: DeliveryState;
  sendAt?: Instant | null;
  attempts?: number;
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
  warnings?: Warning[];
}

export type NotesFormat = "text" | "html";

export interface Organization {
  name?: string | null;
  title?: string | null;
  department?: string | null;
  /** Whether the contact is in the organization now; true if absent. */
  current?: boolean;
}

/** A day of a year, or of every year. */
export interface PartialDate {
  year?: number | null;
  /** 1 to 12. */
  month?: number;
  /** 1 to 31. */
  day?: number;
}

export interface Person {
  email?: string | null;
  name?: string | null;
  /** The attendee is the connected account. */
  self?: boolean;
}

export type PhoneKind = "mobile" | "home" | "work" | "homeFax" | "workFax" | "pager" | "other" | "custom";

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

export interface PostalAddress {
  type?: ContactKind;
  label?: string | null;
  /** The whole address as it is written on an envelope. */
  formatted?: string | null;
  street?: string | null;
  extended?: string | null;
  poBox?: string | null;
  locality?: string | null;
  region?: string | null;
  postalCode?: string | null;
  country?: string | null;
  /** ISO 3166-1 alpha-2. */
  countryCode?: string | null;
}

export interface RecipientDelivery {
  email?: string;
  status?: RecipientStatus;
  smtpReply?: string | null;
  /** RFC 3463, such as `5.1.1`. */
  enhancedStatus?: string | null;
  at?: Instant | null;
}

/** The server's answer for one recipient. */
export interface RecipientOutcome {
  email?: string;
  accepted?: boolean;
  /** Not accepted now, may be later: SMTP 4xx. */
  temporary?: boolean;
  /** The SMTP reply, one line: `550 5.1.1 no such user`. */
  reply?: string | null;
  /** RFC 3463: `5.1.1`. */
  enhancedStatus?: string | null;
}

export type RecipientStatus = "queued" | "accepted" | "delivered" | "bounced" | "deferred" | "complained";

export interface Relation {
  name?: string;
  /** As the provider names it: `spouse`, `assistant`. */
  type?: string | null;
}

export interface Reminder {
  method?: ReminderMethod;
  /** Minutes before the start, 0 to 40,320 (four weeks). */
  minutesBefore: number;
}

export type ReminderMethod = "popup" | "email";

export interface Reminders {
  /** The calendar's default reminders apply. */
  useDefault?: boolean;
  overrides?: Reminder[];
}

export type ResponseStatus = "needsAction" | "accepted" | "declined" | "tentative";

/** The reason why a message could not be sent, as its draft and its delivery show it. */
export interface SendError {
  code?: string;
  message?: string;
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
  warnings?: Warning[];
}

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
  parentId?: string | null;
  /** 1 to 1,024 characters. */
  title?: string;
  notes?: string | null;
  notesFormat?: NotesFormat;
  status?: TaskStatus;
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
  completedAt?: Instant | null;
  reminderAt?: Instant | null;
  /** RFC 5545 lines without DTSTART: at most one `RRULE:`, any `RDATE` and `EXDATE`. */
  recurrence?: string[];
  categories?: string[];
  assignees?: Assignee[];
  /** Sorts the list as text. */
  position?: string | null;
  hasAttachments?: boolean;
  checklistItems?: ChecklistItem[];
  links?: TaskLink[];
  /** The task in the provider's own web pages. */
  webUrl?: string | null;
}

/** The subject of a task: a resource here, or a page elsewhere. */
export interface TaskLink {
  id?: string;
  taskId?: string;
  url?: string | null;
  title?: string | null;
  applicationName?: string | null;
  externalId?: string | null;
  resourceType?: LinkedType;
  resourceId?: string | null;
  createdAt?: Instant;
}

/** A list of tasks. */
export interface TaskList {
  name?: string;
  /** The default list cannot be deleted. */
  role?: TaskListRole | null;
  isOwner?: boolean;
  isShared?: boolean;
  readOnly?: boolean;
  /** `#rrggbb`. */
  color?: string | null;
  sortOrder?: number;
  taskCount?: number | null;
  /** Tasks that are neither completed nor cancelled. */
  openCount?: number | null;
}

export type TaskListRole = "default" | "flagged";

export type TaskPriority = "low" | "normal" | "high";

export type TaskStatus = "needsAction" | "inProgress" | "completed" | "waiting" | "deferred" | "cancelled";

/** The features of this account's provider, for the capabilities operation. */
export interface TasksFeatures {
  createList?: boolean;
  updateList?: boolean;
  deleteList?: boolean;
  subtasks?: boolean;
  startDate?: boolean;
  /** False: due dates are days. */
  dueTime?: boolean;
  priority?: boolean;
  percentComplete?: boolean;
  recurrence?: boolean;
  categories?: boolean;
  assignees?: boolean;
  reminders?: boolean;
  /** The caller can decide the order of tasks. */
  ordering?: boolean;
  checklistItems?: boolean;
  links?: boolean;
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
  opens?: boolean;
  links?: boolean;
  replies?: boolean;
  /** Echoed in events; at most 2,048 characters. */
  label?: string | null;
}

export type Visibility = "default" | "public" | "private" | "confidential";

/** A warning to the caller of a call that succeeded. */
export interface Warning {
  code?: string;
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
