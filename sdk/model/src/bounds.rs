//! Bounds of what clients may write. The validators of the host and the schemas of requests use the same constants, so that the document
//! promises what the server checks. Lengths of texts are in characters, unless the comment says bytes.

/// Characters of a text of one line, such as a title or a name.
pub const MAX_LINE: usize = 1_024;
/// Characters of a text of several lines, such as a description.
pub const MAX_TEXT: usize = 65_536;
/// Characters of a short text, such as a label or the name of a collection.
pub const MAX_LABEL: usize = 255;
/// Bytes of a request body without files. A text without a bound of its own cannot be longer either.
pub const MAX_BODY: usize = 2 << 20;
/// Bytes of a URL.
pub const MAX_URL: usize = 2_048;
/// Characters of an id of the service.
pub const MAX_ID: usize = 64;
/// Bytes of the name of a time zone. The longest one of the tz database has 32.
pub const MAX_ZONE_NAME: usize = 64;
/// Bytes of an email address (RFC 5321 section 4.5.3.1.3).
pub const MAX_ADDRESS: usize = 254;
/// Lines of a recurrence rule set.
pub const MAX_RECURRENCE: usize = 50;
/// First year that calendars support.
pub const MIN_YEAR: i16 = 1900;
/// Last year that calendars support.
pub const MAX_YEAR: i16 = 2200;
/// Minutes of a day.
pub const DAY_MINUTES: i64 = 24 * 60;
/// Minutes of the longest year.
pub const YEAR_MINUTES: i64 = 366 * DAY_MINUTES;

/// Lists and the parameters that filter them.
pub mod list {
    /// Items of a page if the request names no number.
    pub const DEFAULT_LIMIT: i64 = 50;
    /// Items of a page; a larger number is taken as this one.
    pub const MAX_LIMIT: i64 = 200;
    /// Characters of search words.
    pub const MAX_QUERY: usize = 256;
    /// Characters of an email address to filter by.
    pub const MAX_ADDRESS: usize = 320;
    /// Characters of a phone number to filter by.
    pub const MAX_PHONE: usize = 128;
    /// Characters of a query in the provider's own language.
    pub const MAX_NATIVE_QUERY: usize = 4_096;
    /// Characters of the kind or the application of a background job to filter by.
    pub const MAX_FILTER: usize = 100;
    /// Characters of the name of a provider.
    pub const MAX_PROVIDER: usize = 40;
}

/// The caller's own notes on a resource.
pub mod metadata {
    /// Keys of a map.
    pub const MAX_KEYS: usize = 50;
    /// Characters of a key; a key has at least one.
    pub const MAX_KEY: usize = 40;
    /// Characters of a value.
    pub const MAX_VALUE: usize = 500;
}

/// Events.
pub mod event {
    /// Attendees of an event.
    pub const MAX_ATTENDEES: usize = 500;
    /// Reminders of an event.
    pub const MAX_REMINDERS: usize = 20;
    /// Minutes from a reminder to the start of the event: four weeks.
    pub const MAX_REMINDER_MINUTES: i64 = 40_320;
    /// Attachments of an event.
    pub const MAX_ATTACHMENTS: usize = 50;
    /// Days from the start to the end of an event. A longer one is a mistake, or an attempt to fill every range.
    pub const MAX_DAYS: i64 = 400;
    /// Days of a list that has the instances of series.
    pub const MAX_EXPANDED_DAYS: i64 = 400;
    /// Characters of the comment of an answer to an invitation.
    pub const MAX_COMMENT: usize = 2_000;
}

/// Queries for busy times and for times at which people can meet.
pub mod free_busy {
    /// Days that a query for busy times may cover.
    pub const MAX_DAYS: i64 = 92;
    /// Targets of a query for busy times.
    pub const MAX_TARGETS: usize = 50;
    /// Calendars that a target or a member names.
    pub const MAX_CALENDARS: usize = 50;
    /// Days that all periods of a query for meeting times may cover together.
    pub const MAX_AVAILABILITY_DAYS: i64 = 62;
    /// Periods of a query for meeting times.
    pub const MAX_PERIODS: usize = 50;
    /// Members of all groups together.
    pub const MAX_MEMBERS: usize = 50;
    /// Rows of open hours in one list.
    pub const MAX_HOURS: usize = 50;
    /// Days on which one row of open hours does not apply.
    pub const MAX_EXDATES: usize = 400;
    /// Events, and bookings, that do not count as busy.
    pub const MAX_IGNORED: usize = 500;
    /// Times of an answer.
    pub const MAX_LIMIT: i64 = 1_000;
}

/// Messages, drafts and their files.
pub mod mail {
    /// Recipients of a message (to, cc and bcc together). Servers take 100 at the least (RFC 5321 section 4.5.3.1.8), and large ones some
    /// hundreds.
    pub const MAX_RECIPIENTS: usize = 500;
    /// Authors of a message.
    pub const MAX_FROM: usize = 10;
    /// Addresses that answers go to.
    pub const MAX_REPLY_TO: usize = 100;
    /// Files of a message.
    pub const MAX_FILES: usize = 100;
    /// Bytes of all files of a message together.
    pub const MAX_FILE_BYTES: usize = 25 << 20;
    /// Header fields of the caller's own.
    pub const MAX_HEADERS: usize = 50;
    /// Characters of a subject.
    pub const MAX_SUBJECT: usize = 998;
    /// Bytes of a display name, and of an address in a draft: a line of mail (RFC 5322 section 2.1.1).
    pub const MAX_NAME: usize = 998;
    /// Bytes of the name of a header field.
    pub const MAX_HEADER_NAME: usize = 64;
    /// Bytes of the value of a header field.
    pub const MAX_HEADER_VALUE: usize = 8 << 10;
    /// Bytes of the name of a file.
    pub const MAX_FILE_NAME: usize = 255;
    /// Bytes of a media type with its parameters.
    pub const MAX_MEDIA_TYPE: usize = 900;
    /// Bytes of a Content-ID, or of a Message-ID, without angle brackets.
    pub const MAX_CONTENT_ID: usize = 900;
    /// Characters of the label of tracked opens and clicks.
    pub const MAX_TRACKING_LABEL: usize = 2_048;
    /// Keywords, and folders, that a change of a message names.
    pub const MAX_KEYWORDS: usize = 100;
    /// Bytes of a keyword.
    pub const MAX_KEYWORD: usize = 100;
    /// Bytes of a message that is imported.
    pub const MAX_RAW: usize = 35 << 20;
    /// Bytes of a request with files.
    pub const MAX_REQUEST: usize = 40 << 20;
    /// Days from the request to the time of a scheduled message.
    pub const MAX_AHEAD_DAYS: i64 = 90;
}

/// Contacts, contact books and groups.
pub mod contact {
    /// Entries of each list of a contact, such as its email addresses.
    pub const MAX_ENTRIES: usize = 100;
    /// Groups of a contact.
    pub const MAX_GROUPS: usize = 500;
    /// Bytes of a picture.
    pub const MAX_PICTURE: usize = 512 << 10;
    /// Characters of a phone number.
    pub const MAX_PHONE: usize = 128;
    /// Characters of the type of a relation or an anniversary, and of the protocol of an instant messaging address.
    pub const MAX_KIND: usize = 64;
    /// Largest year of a birthday or an anniversary; the smallest is 1.
    pub const MAX_YEAR: i64 = 9_999;
    /// Members of a group that its create names.
    pub const MAX_MEMBERS: usize = 500;
    /// Books, and contacts, that a query for merge suggestions names.
    pub const MAX_NAMED: usize = 100;
}

/// Tasks and task lists.
pub mod task {
    /// Entries of each list of a task, such as its categories.
    pub const MAX_ENTRIES: usize = 100;
}

/// Event types, schedules, slots and bookings.
pub mod scheduling {
    /// Characters of a slug.
    pub const MAX_SLUG: usize = 64;
    /// Minutes of the shortest meeting.
    pub const MIN_DURATION: i64 = 5;
    /// Minutes of the longest meeting: a day.
    pub const MAX_DURATION: i64 = crate::bounds::DAY_MINUTES;
    /// Durations that an invitee can choose from.
    pub const MAX_DURATIONS: usize = 20;
    /// Hosts of an event type.
    pub const MAX_HOSTS: usize = 100;
    /// Calendars of a host that are checked for conflicts.
    pub const MAX_CALENDARS: usize = 50;
    /// Largest weight of a host in the rotation.
    pub const MAX_WEIGHT: i64 = 1_000_000;
    /// Largest priority of a host; the smallest is its negative.
    pub const MAX_PRIORITY: i64 = 1_000_000;
    /// Seats of a slot.
    pub const MAX_SEATS: i64 = 1_000;
    /// Times that an invitee may reschedule a booking.
    pub const MAX_RESCHEDULES: i64 = 1_000;
    /// Locations of an event type.
    pub const MAX_PLACES: usize = 20;
    /// Questions of an event type.
    pub const MAX_QUESTIONS: usize = 50;
    /// Characters of the key of a question.
    pub const MAX_KEY: usize = 64;
    /// Options of a question.
    pub const MAX_OPTIONS: usize = 100;
    /// Characters of the label of a question, and of an option.
    pub const MAX_LABEL: usize = 256;
    /// Web sites that may embed a booking page.
    pub const MAX_DOMAINS: usize = 50;
    /// Reminders of a booking.
    pub const MAX_REMINDERS: usize = 10;
    /// Days of a rolling booking window.
    pub const MAX_WINDOW_DAYS: i64 = 3_650;
    /// Rows of hours in a week, and windows of an exceptional date.
    pub const MAX_WINDOWS: usize = 50;
    /// Exceptional dates of a schedule.
    pub const MAX_OVERRIDES: usize = 400;
    /// Days that a query for slots may cover.
    pub const MAX_SLOT_DAYS: i64 = 62;
    /// Slots of an answer.
    pub const MAX_SLOTS: i64 = 1_000;
    /// Guests of a booking.
    pub const MAX_GUESTS: usize = 50;
    /// Characters of a name, which is part of the title of an event.
    pub const MAX_NAME: usize = 256;
    /// Bytes of a phone number.
    pub const MAX_PHONE: usize = 64;
    /// Characters of an invitee's notes.
    pub const MAX_NOTES: usize = 10_000;
    /// Characters of an answer to a question.
    pub const MAX_ANSWER: usize = 4_096;
    /// Bytes of all answers of a booking as JSON.
    pub const MAX_ANSWERS_BYTES: usize = 32 << 10;
    /// Characters of the reason of a cancellation or a decline.
    pub const MAX_REASON: usize = 2_000;
}

/// Webhooks and replays.
pub mod webhook {
    /// Event types of a subscription.
    pub const MAX_EVENT_TYPES: usize = 100;
    /// Connections of a subscription.
    pub const MAX_CONNECTIONS: usize = 1_000;
    /// Custom headers of a subscription.
    pub const MAX_HEADERS: usize = 10;
    /// Bytes of the names and values of all custom headers together.
    pub const MAX_HEADER_BYTES: usize = 4 << 10;
    /// Seconds for which an old secret still signs: a week.
    pub const MAX_GRACE_S: i64 = 604_800;
    /// Notifications per second.
    pub const MAX_PER_SECOND: i64 = 1_000;
    /// Notifications that are sent at the same time.
    pub const MAX_CONCURRENT: i64 = 64;
    /// Events that a replay names.
    pub const MAX_REPLAYED: usize = 1_000;
    /// Types, and connections, that a request for events names.
    pub const MAX_NAMED: usize = 100;
}

/// Connections and the authorization of accounts.
pub mod connection {
    /// Bytes of a user name.
    pub const MAX_USERNAME: usize = 2_048;
    /// Bytes of a password or a token.
    pub const MAX_SECRET: usize = 8_192;
    /// Bytes of a setting.
    pub const MAX_SETTING: usize = 2_048;
    /// Bytes of the state that a client gives an authorization.
    pub const MAX_STATE: usize = 1_024;
    /// Bytes of the address that a client proposes to the provider's sign-in page.
    pub const MAX_HINT: usize = 1_024;
    /// Bytes of the code that a provider sends to the callback.
    pub const MAX_CALLBACK_CODE: usize = 4_096;
    /// Bytes of the state, and of an error, that a provider sends to the callback.
    pub const MAX_CALLBACK_STATE: usize = 128;
    /// Bytes of the issuer that a provider names to the callback.
    pub const MAX_CALLBACK_ISSUER: usize = 512;
}

/// Keys, access tokens, applications and operators.
pub mod access {
    /// Bytes of a parameter of the token endpoint.
    pub const MAX_TOKEN_PARAMETER: usize = 4_096;
    /// Connections of an access token.
    pub const MAX_CONNECTIONS: usize = 20;
    /// Web sites that may use an access token.
    pub const MAX_DOMAINS: usize = 100;
    /// Scopes of an access token.
    pub const MAX_SCOPES: usize = 100;
    /// Seconds of the shortest life of an access token.
    pub const MIN_TOKEN_LIFE_S: i64 = 60;
    /// Seconds of the longest life of an access token.
    pub const MAX_TOKEN_LIFE_S: i64 = 3_600;
    /// Redirect URIs of an application.
    pub const MAX_REDIRECTS: usize = 100;
    /// Characters of the name of an application or an organization.
    pub const MAX_NAME: usize = 100;
    /// Bytes of a client secret of a provider.
    pub const MAX_CLIENT_SECRET: usize = 4_096;
    /// Bytes of a client id of a provider.
    pub const MAX_CLIENT_ID: usize = 2_048;
    /// Roles of an operator.
    pub const MAX_ROLES: usize = 100;
    /// Characters of the name of an operator.
    pub const MAX_OPERATOR_NAME: usize = 200;
    /// Seconds for which an earlier secret of a key still works: a week.
    pub const MAX_OVERLAP_S: i64 = 7 * 86_400;
    /// Addresses and domains that an assistant may send to.
    pub const MAX_AGENT_RECIPIENTS: usize = 100;
    /// Messages and invitations that an assistant may send per hour.
    pub const MAX_AGENT_SENDS: i64 = 1_000;
    /// The same of a key whose policy names no number.
    pub const DEFAULT_AGENT_SENDS: i64 = 20;
}

/// Failures that test keys plan in the sandbox.
pub mod test_mode {
    /// Milliseconds that the provider waits.
    pub const MAX_DELAY_MS: i64 = 120_000;
    /// Seconds that an answer asks to wait.
    pub const MAX_RETRY_AFTER_S: i64 = 3_600;
    /// Calls that pass first, and calls that fail.
    pub const MAX_CALLS: i64 = 1_000;
}
