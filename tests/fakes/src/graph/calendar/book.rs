//! The calendars of one mailbox with their events: series with their exceptions and cancelled occurrences, and what was removed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use chrono::NaiveDate;
use serde_json::{Map, Value, json};

use crate::graph::calendar::span::EventSpan;
use crate::graph::ids;
use crate::graph::mail::StoredAttachment;

/// Everything of the calendar surface in one mailbox.
pub struct CalendarBook {
    pub address: String,
    pub name: String,
    /// The zone of the mailbox, as `mailboxSettings` has it.
    pub time_zone: String,
    /// Whether it is a personal account: no Teams, no `getSchedule`.
    pub is_personal: bool,
    pub calendars: BTreeMap<String, GraphCalendar>,
    pub groups: BTreeMap<String, CalendarGroup>,
    pub items: BTreeMap<u64, EventItem>,
    pub removals: Vec<EventRemoval>,
    /// Messages that the mailbox sent to people in meetings, the oldest first: Exchange sends them without being asked.
    pub mails: Vec<MeetingMail>,
    /// Delta tokens from before this change have expired.
    pub oldest_token: u64,
    sequence: u64,
}

/// The kind of a calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphCalendarKind {
    Default,
    Secondary,
    /// Public holidays: can be read alone.
    Holidays,
    /// Birthdays of contacts: can be read alone.
    Birthdays,
    /// A calendar that another person shares: listed, and empty without the scopes for shared ones.
    Foreign,
}

/// A calendar of the list.
#[derive(Clone, Debug)]
pub struct GraphCalendar {
    pub id: String,
    /// The id of the folder, which links in events have in the place of the list's id.
    pub folder_id: String,
    pub name: String,
    pub color: String,
    pub hex_color: String,
    pub kind: GraphCalendarKind,
    pub group: String,
    /// The address and the name of the owner, where it is another person.
    pub foreign_owner: Option<(String, String)>,
    /// The place in the list.
    pub number: u64,
    pub changed: u64,
}

/// A group of calendars.
#[derive(Clone, Debug)]
pub struct CalendarGroup {
    pub id: String,
    pub name: String,
    pub is_default: bool,
    pub changed: u64,
}

/// An event that stands alone, or a series with all that belongs to it.
#[derive(Clone, Debug)]
pub struct EventItem {
    pub number: u64,
    /// The id of the calendar.
    pub calendar: String,
    pub uid: String,
    /// Members as they are answered; those that follow from others are not among them.
    pub members: Map<String, Value>,
    pub span: EventSpan,
    pub series: Option<EventSeries>,
    /// Attachments; those of a series are those of its instances too.
    pub files: Vec<StoredAttachment>,
    pub created_ms: i64,
    pub modified_ms: i64,
    /// The number of its latest change, which its change key shows.
    pub changed: u64,
    pub transaction_id: Option<String>,
    /// The number of calendars that it has been moved to: part of the ids that change.
    pub place: u64,
    /// Reads that still answer no link to join the meeting.
    pub pending_join_reads: u32,
}

/// The rule of a series, and the occurrences that differ from it, by the local day of their original start.
#[derive(Clone, Debug)]
pub struct EventSeries {
    /// The normalized `patternedRecurrence`.
    pub recurrence: Value,
    /// The zone that the days of the pattern are counted in.
    pub zone: String,
    pub exceptions: BTreeMap<NaiveDate, SeriesException>,
    pub cancelled: BTreeSet<NaiveDate>,
}

/// An occurrence that differs from its series.
#[derive(Clone, Debug)]
pub struct SeriesException {
    /// The members that differ.
    pub members: Map<String, Value>,
    pub span: EventSpan,
}

/// An event that a calendar has no longer.
#[derive(Clone, Debug)]
pub struct EventRemoval {
    pub key: EventKey,
    pub calendar: String,
    pub changed: u64,
}

/// A message on a meeting that the mailbox sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeetingMail {
    pub kind: MeetingMailKind,
    /// The addresses of its receivers, in the order of the attendees.
    pub to: Vec<String>,
    pub subject: String,
    pub comment: String,
    pub event: u64,
}

/// The kind of a message on a meeting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeetingMailKind {
    Invitation,
    Update,
    Cancellation,
    Response,
}

/// An event, or one occurrence of a series by the local day of its original start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EventKey {
    pub number: u64,
    pub date: Option<NaiveDate>,
}

impl EventKey {
    pub fn item(number: u64) -> EventKey {
        EventKey { number, date: None }
    }

    /// Parses what `Display` writes.
    pub fn parse(text: &str) -> Option<EventKey> {
        let text = text.strip_prefix("event-")?;
        match text.split_once('_') {
            None => Some(EventKey::item(text.parse().ok()?)),
            Some((number, date)) => {
                Some(EventKey { number: number.parse().ok()?, date: Some(date.parse().ok()?) })
            }
        }
    }
}

impl fmt::Display for EventKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "event-{}", self.number)?;
        match self.date {
            Some(date) => write!(f, "_{date}"),
            None => Ok(()),
        }
    }
}

impl CalendarBook {
    /// The calendars of a new mailbox: one group with the default calendar.
    pub fn new(address: &str, name: &str, time_zone: &str, is_personal: bool) -> CalendarBook {
        let mut book = CalendarBook {
            address: address.to_owned(),
            name: name.to_owned(),
            time_zone: time_zone.to_owned(),
            is_personal,
            calendars: BTreeMap::new(),
            groups: BTreeMap::new(),
            items: BTreeMap::new(),
            removals: Vec::new(),
            mails: Vec::new(),
            oldest_token: 0,
            sequence: 0,
        };
        book.add_group("My Calendars", true);
        book.add_calendar("Calendar", GraphCalendarKind::Default);
        book
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

    /// Adds a group of calendars. Returns its id.
    pub fn add_group(&mut self, name: &str, is_default: bool) -> String {
        let changed = self.next_change();
        let id = ids::stable(&format!("calendar-group-{changed}"));
        let group = CalendarGroup { id: id.clone(), name: name.to_owned(), is_default, changed };
        self.groups.insert(id.clone(), group);
        id
    }

    /// Adds a calendar to the default group. Returns its id.
    pub fn add_calendar(&mut self, name: &str, kind: GraphCalendarKind) -> String {
        let changed = self.next_change();
        let id = ids::stable(&format!("calendar-{changed}"));
        let group = self.groups.values().find(|group| group.is_default).map(|group| group.id.clone());
        let calendar = GraphCalendar {
            id: id.clone(),
            folder_id: format!("AQMkFolder{changed:08}="),
            name: name.to_owned(),
            color: "auto".to_owned(),
            hex_color: String::new(),
            kind,
            group: group.unwrap_or_default(),
            foreign_owner: None,
            number: changed,
            changed,
        };
        self.calendars.insert(id.clone(), calendar);
        id
    }

    /// The id of the default calendar.
    pub fn default_calendar(&self) -> String {
        let found = self.calendars.values().find(|calendar| calendar.kind == GraphCalendarKind::Default);
        found.map(|calendar| calendar.id.clone()).unwrap_or_default()
    }

    /// Stores a change of an item: the mailbox has a new change, which the item's change key shows.
    pub fn touch(&mut self, number: u64, now_ms: i64) {
        let changed = self.next_change();
        if let Some(item) = self.items.get_mut(&number) {
            item.changed = changed;
            item.modified_ms = now_ms;
        }
    }

    /// Removes an event with all that belongs to it.
    pub fn remove_item(&mut self, number: u64) -> Option<EventItem> {
        let item = self.items.remove(&number)?;
        let changed = self.next_change();
        self.removals.push(EventRemoval {
            key: EventKey::item(number),
            calendar: item.calendar.clone(),
            changed,
        });
        Some(item)
    }

    /// Removes an occurrence. Returns whether it was there.
    pub fn remove_occurrence(&mut self, number: u64, date: NaiveDate, now_ms: i64) -> bool {
        let Some(series) = self.items.get_mut(&number).and_then(|item| item.series.as_mut()) else {
            return false;
        };
        series.exceptions.remove(&date);
        let is_new = series.cancelled.insert(date);
        self.touch(number, now_ms);
        is_new
    }

    /// Whether the mailbox's owner organizes the event.
    pub fn is_organizer(&self, item: &EventItem) -> bool {
        let organizer = item.members.get("organizer").unwrap_or(&Value::Null);
        let address = organizer["emailAddress"]["address"].as_str();
        address.is_none_or(|address| address.eq_ignore_ascii_case(&self.address))
    }

    /// The owner of the mailbox as a recipient.
    pub fn recipient(&self) -> Value {
        json!({ "emailAddress": { "name": self.name, "address": self.address } })
    }

    /// Records a message to these people, where there are any.
    pub fn record_mail(&mut self, mail: MeetingMail) {
        if !mail.to.is_empty() {
            self.mails.push(mail);
        }
    }
}

impl GraphCalendar {
    /// Whether the owner of the mailbox may change its events.
    pub fn can_edit(&self) -> bool {
        matches!(self.kind, GraphCalendarKind::Default | GraphCalendarKind::Secondary)
    }
}

impl EventItem {
    pub fn key(&self) -> EventKey {
        EventKey::item(self.number)
    }

    /// The etag; exceptions and occurrences are inside the item and have the same one.
    pub fn etag(&self) -> String {
        ids::etag(self.changed)
    }

    /// The addresses of the attendees but the one that is given.
    pub fn attendees_but(&self, address: &str) -> Vec<String> {
        let attendees = self.members.get("attendees").and_then(Value::as_array).into_iter().flatten();
        let addresses = attendees.filter_map(|one| one["emailAddress"]["address"].as_str());
        addresses.filter(|one| !one.eq_ignore_ascii_case(address)).map(str::to_owned).collect()
    }

    pub fn text(&self, name: &str) -> &str {
        self.members.get(name).and_then(Value::as_str).unwrap_or_default()
    }
}
