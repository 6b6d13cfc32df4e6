//! The calendar surface over CalDAV. One file per concern; this one has what they share.

pub mod account;
pub mod collections;
pub mod events;
pub mod freebusy;
pub mod objects;
pub mod sync;

use connector_sdk::{Context, Outcome};
use model::Instant;
use model::wire::calendar::CalendarFeatures;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::ical::people::Selves;
use crate::ical::read::Reader;
use crate::webdav::Client;

/// One call: the server, and how its objects are read.
pub struct Session<'a> {
    pub client: Client<'a>,
    pub reader: Reader,
}

impl<'a> Session<'a> {
    /// `time_zone` is the calendar's, for floating times and all-day events.
    pub fn new(cx: &'a Context<'a>, time_zone: Option<&str>) -> Outcome<Self> {
        let given = cx.connection.addresses.iter().map(String::as_str);
        let found = list_setting(cx, "calendarUserAddresses");
        let username = cx.connection.username.as_deref().filter(|name| name.contains('@'));
        let selves = Selves::new(given.chain(found).chain(username));
        Ok(Session { client: Client::new(cx)?, reader: Reader::new(selves, time_zone) })
    }

    pub fn cx(&self) -> &'a Context<'a> {
        self.client.cx
    }

    pub fn now(&self) -> Instant {
        Instant::from_millis(self.cx().now_ms())
    }
}

/// A list of texts among the connection's settings.
pub fn list_setting<'a>(cx: &'a Context, name: &str) -> impl Iterator<Item = &'a str> {
    cx.connection.settings.get(name).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// Whether the server announced this in its `DAV` header.
pub fn has_class(cx: &Context, class: &str) -> bool {
    list_setting(cx, "davClasses").any(|found| found == class)
}

/// A UUID that is the same for every attempt at one change in one place, so that a repeated create finds the first. Without an
/// idempotency key it is random.
pub fn stable_id(cx: &Context, place: &str) -> String {
    let seed = match &cx.idempotency_key {
        Some(key) => Sha256::digest(format!("{place}\n{key}").as_bytes()).to_vec(),
        None => cx.random_bytes(16),
    };
    let mut bytes = [0u8; 16];
    bytes.copy_from_slice(&seed[..16]);
    // RFC 9562: version 8 (made by a rule of one's own), variant 10.
    bytes[6] = (bytes[6] & 0x0F) | 0x80;
    bytes[8] = (bytes[8] & 0x3F) | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

/// What the server can do, from what `check` found.
pub fn features(cx: &Context) -> CalendarFeatures {
    let scheduling = has_class(cx, "calendar-auto-schedule");
    CalendarFeatures {
        create_calendar: true,
        update_calendar: true,
        delete_calendar: true,
        recurrence: true,
        this_and_following: true,
        attendees: true,
        scheduling,
        rsvp: true,
        conference: Vec::new(),
        reminders: true,
        attachments: true,
        free_busy: true,
        free_busy_by_email: cx.setting("scheduleOutboxUrl").is_some(),
        push: false,
        delta: "syncToken".into(),
    }
}
