//! The store of the fake: users, calendars with their events, lists of calendars, the log of changes, and the data of the other APIs for
//! each user.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::clock::Clock;
use crate::flights::Flights;
use crate::google::channels::Channels;
use crate::google::mail::{Mailbox, PubSub, SentMail};
use crate::google::oauth::Authority;
use crate::google::people::AddressBook;
use crate::google::task_lists::TaskBook;
use crate::google::times;
use crate::google::traps::TRAPS;
use crate::traps::Traps;

/// Everything that the fake stores.
pub struct State {
    pub clock: Clock,
    pub users: BTreeMap<String, User>,
    pub calendars: BTreeMap<String, Calendar>,
    pub authority: Authority,
    pub channels: Channels,
    pub traps: Traps,
    pub flights: Flights,
    /// By the user's address.
    pub mail: BTreeMap<String, Mailbox>,
    /// Messages that users sent, the oldest first.
    pub sent: Vec<SentMail>,
    pub pubsub: PubSub,
    /// By the user's address.
    pub people: BTreeMap<String, AddressBook>,
    /// By the user's address.
    pub tasks: BTreeMap<String, TaskBook>,
    /// The number of the latest change.
    sequence: u64,
}

/// A person with an account.
pub struct User {
    /// The address, which is the id of the primary calendar too.
    pub email: String,
    /// The id that stays when the address changes.
    pub sub: String,
    pub name: String,
    /// The list of calendars, by calendar id.
    pub entries: BTreeMap<String, ListEntry>,
    pub settings: BTreeMap<String, String>,
    /// Sync tokens of the list from before this change have expired.
    pub valid_from: u64,
}

/// An entry of a user's list of calendars.
pub struct ListEntry {
    pub access_role: String,
    /// The members that belong to the entry, such as `colorId`, `hidden` and `summaryOverride`.
    pub members: Map<String, Value>,
    pub is_deleted: bool,
    pub changed: u64,
}

/// The kind of a calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CalendarKind {
    Primary,
    Secondary,
    /// Public holidays: can be read and not be watched.
    Holidays,
    /// Birthdays of contacts: can be read, and their deltas have no deletions.
    Birthdays,
}

/// A calendar with its events.
pub struct Calendar {
    pub id: String,
    pub summary: String,
    pub description: Option<String>,
    pub location: Option<String>,
    pub time_zone: String,
    /// The address of the user whose data it is.
    pub owner: String,
    pub kind: CalendarKind,
    pub is_deleted: bool,
    pub changed: u64,
    pub events: BTreeMap<String, EventRecord>,
    /// Sync tokens from before this change have expired.
    pub valid_from: u64,
}

/// An event as it is stored: times are instants in UTC, and nothing that depends on the reader is in it.
#[derive(Clone, Debug)]
pub struct EventRecord {
    pub members: Map<String, Value>,
    pub changed: u64,
    /// Reads since a conference was requested and is not there yet.
    pub pending_reads: Option<u32>,
}

impl State {
    pub fn new(clock: Clock) -> State {
        State {
            clock,
            users: BTreeMap::new(),
            calendars: BTreeMap::new(),
            authority: Authority::default(),
            channels: Channels::default(),
            traps: Traps::new(TRAPS),
            flights: Flights::default(),
            mail: BTreeMap::new(),
            sent: Vec::new(),
            pubsub: PubSub::default(),
            people: BTreeMap::new(),
            tasks: BTreeMap::new(),
            sequence: 0,
        }
    }

    /// The number of the latest change.
    pub fn latest(&self) -> u64 {
        self.sequence
    }

    /// The number of a new change.
    pub fn next_change(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// Adds a user with a primary calendar in this zone and an empty mailbox.
    pub fn add_user(&mut self, email: &str, name: &str, time_zone: &str) {
        let sub = format!("1{:020}", self.users.len() + 1);
        let settings =
            [("timezone", time_zone), ("locale", "en"), ("weekStart", "0"), ("format24HourTime", "true")];
        let user = User {
            email: email.to_owned(),
            sub,
            name: name.to_owned(),
            entries: BTreeMap::new(),
            settings: settings.map(|(key, value)| (key.to_owned(), value.to_owned())).into(),
            valid_from: 0,
        };
        self.users.insert(email.to_owned(), user);
        self.mail.insert(email.to_owned(), Mailbox::default());
        self.insert_calendar(email, email, email, time_zone, CalendarKind::Primary);
        self.subscribe(email, email, "owner");
    }

    /// Adds a calendar of `owner` and puts it into the owner's list.
    pub fn add_calendar(&mut self, owner: &str, id: &str, summary: &str, time_zone: &str) {
        self.insert_calendar(owner, id, summary, time_zone, CalendarKind::Secondary);
        self.subscribe(owner, id, "owner");
    }

    /// Adds a calendar of public holidays to a user's list.
    pub fn add_holidays(&mut self, user: &str, id: &str, summary: &str, time_zone: &str) {
        self.insert_calendar("holidays@google.test", id, summary, time_zone, CalendarKind::Holidays);
        self.subscribe(user, id, "reader");
    }

    /// Adds the calendar of birthdays to a user's list.
    pub fn add_birthdays(&mut self, user: &str, id: &str, summary: &str, time_zone: &str) {
        self.insert_calendar("birthdays@google.test", id, summary, time_zone, CalendarKind::Birthdays);
        self.subscribe(user, id, "reader");
    }

    fn insert_calendar(&mut self, owner: &str, id: &str, summary: &str, time_zone: &str, kind: CalendarKind) {
        let changed = self.next_change();
        let calendar = Calendar {
            id: id.to_owned(),
            summary: summary.to_owned(),
            description: None,
            location: None,
            time_zone: time_zone.to_owned(),
            owner: owner.to_owned(),
            kind,
            is_deleted: false,
            changed,
            events: BTreeMap::new(),
            valid_from: 0,
        };
        self.calendars.insert(id.to_owned(), calendar);
    }

    /// Puts a calendar into a user's list with this role.
    pub fn subscribe(&mut self, user: &str, calendar: &str, role: &str) {
        let changed = self.next_change();
        let mut members = Map::new();
        members.insert("colorId".to_owned(), "14".into());
        members.insert("selected".to_owned(), true.into());
        members.insert("defaultReminders".to_owned(), json!([{ "method": "popup", "minutes": 10 }]));
        let entry = ListEntry { access_role: role.to_owned(), members, is_deleted: false, changed };
        if let Some(user) = self.users.get_mut(user) {
            user.entries.insert(calendar.to_owned(), entry);
        }
        self.channels.list_changed(user);
    }

    /// Stores an event as it stands, without a check: members that every event has are added where they are missing.
    /// Returns its id.
    pub fn put_event(&mut self, calendar: &str, event: Value) -> String {
        let changed = self.next_change();
        let now = times::stamp(self.clock.now_ms());
        let mut members = event.as_object().cloned().unwrap_or_default();
        let id = members.get("id").and_then(Value::as_str).map(str::to_owned);
        let id = id.unwrap_or_else(|| format!("seed{changed:06}"));
        let home = self.calendars.get(calendar);
        let owner = home.map_or_else(|| calendar.to_owned(), |home| home.owner.clone());
        // An exception has the UID of its series.
        let series = members.get("recurringEventId").and_then(Value::as_str);
        let series = series.and_then(|series| home?.events.get(series)?.text("iCalUID"));
        let uid = series.map_or_else(|| format!("{id}@google.com"), str::to_owned);
        let defaults = [
            ("id", id.clone().into()),
            ("status", "confirmed".into()),
            ("created", now.clone().into()),
            ("updated", now.into()),
            ("iCalUID", uid.into()),
            ("sequence", 0.into()),
            ("eventType", "default".into()),
            ("creator", json!({ "email": owner })),
            ("organizer", json!({ "email": calendar })),
        ];
        for (name, value) in defaults {
            members.entry(name.to_owned()).or_insert(value);
        }
        let record = EventRecord { members, changed, pending_reads: None };
        if let Some(home) = self.calendars.get_mut(calendar) {
            home.events.insert(id.clone(), record);
        }
        self.channels.events_changed(calendar);
        id
    }

    /// Changes members of an event as another program does, without a check; null removes a member.
    pub fn change_event(&mut self, calendar: &str, id: &str, change: Value) {
        let (number, now) = (self.next_change(), times::stamp(self.clock.now_ms()));
        let record = self.calendars.get_mut(calendar).and_then(|calendar| calendar.events.get_mut(id));
        if let Some(record) = record {
            for (name, value) in change.as_object().into_iter().flatten() {
                match value {
                    Value::Null => record.members.remove(name),
                    value => record.members.insert(name.clone(), value.clone()),
                };
            }
            record.members.insert("updated".to_owned(), now.into());
            record.changed = number;
        }
        self.channels.events_changed(calendar);
    }

    /// The stored members of an event.
    pub fn event(&self, calendar: &str, id: &str) -> Option<Value> {
        let record = self.calendars.get(calendar)?.events.get(id)?;
        Some(Value::Object(record.members.clone()))
    }

    /// The ids of a calendar's events, without those that are cancelled.
    pub fn event_ids(&self, calendar: &str) -> Vec<String> {
        let events = self.calendars.get(calendar).into_iter().flat_map(|calendar| &calendar.events);
        events.filter(|(_, record)| !record.is_cancelled()).map(|(id, _)| id.clone()).collect()
    }

    /// Lets all sync tokens of a calendar that were handed out so far expire.
    pub fn expire_sync_tokens(&mut self, calendar: &str) {
        let number = self.next_change();
        if let Some(calendar) = self.calendars.get_mut(calendar) {
            calendar.valid_from = number;
        }
    }

    /// Lets all sync tokens of a user's list of calendars that were handed out so far expire.
    pub fn expire_list_tokens(&mut self, user: &str) {
        let number = self.next_change();
        if let Some(user) = self.users.get_mut(user) {
            user.valid_from = number;
        }
    }

    /// Puts events as they really occur, and as few expect them, into a calendar: without an end, with a part that no rule has, in a zone
    /// that IANA does not know. Returns their ids.
    pub fn add_odd_events(&mut self, calendar: &str) -> Vec<String> {
        let at = |text: &str, zone: &str| json!({ "dateTime": text, "timeZone": zone });
        let events = [
            json!({ "id": "oddnoend", "summary": "No end", "start": at("2026-03-03T09:00:00Z", "UTC"), "endTimeUnspecified": true }),
            json!({ "id": "oddrule", "summary": "Unknown part", "recurrence": ["RRULE:FREQ=DAILY;COUNT=2;X-PART=1"],
                "start": at("2026-03-04T09:00:00Z", "UTC"), "end": at("2026-03-04T10:00:00Z", "UTC") }),
            json!({ "id": "oddzone", "summary": "Unknown zone",
                "start": at("2026-03-05T09:00:00Z", "Customized Time Zone"),
                "end": at("2026-03-05T10:00:00Z", "Customized Time Zone") }),
        ];
        events.into_iter().map(|event| self.put_event(calendar, event)).collect()
    }
}

impl Calendar {
    /// The zone in which times are written; UTC where the name is unknown.
    pub fn zone(&self) -> chrono_tz::Tz {
        times::find_zone(&self.time_zone).unwrap_or(chrono_tz::UTC)
    }
}

impl EventRecord {
    /// A member as text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.members.get(name).and_then(Value::as_str)
    }

    pub fn is_cancelled(&self) -> bool {
        self.text("status") == Some("cancelled")
    }

    pub fn is_series(&self) -> bool {
        self.members
            .get("recurrence")
            .is_some_and(|lines| lines.as_array().is_some_and(|all| !all.is_empty()))
    }

    pub fn etag(&self) -> String {
        etag(self.changed)
    }
}

/// The etag of a record that changed last with this number.
pub fn etag(changed: u64) -> String {
    format!("\"{}\"", 3_544_704_000_000_000 + changed * 2_000)
}
