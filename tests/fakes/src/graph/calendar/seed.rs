//! The other side: calendars and events as tests put them there, and changes that other people and programs make. None of it is a request,
//! and none of it sends a message.

use serde_json::{Value, json};

use crate::graph::calendar::book::{
    CalendarBook, EventItem, EventKey, EventRemoval, GraphCalendarKind, MeetingMail,
};
use crate::graph::calendar::edit;
use crate::graph::calendar::event_body;
use crate::graph::calendar::event_files;
use crate::graph::calendar::instances;
use crate::graph::calendar::places::{self, EventHome};
use crate::graph::calendar::respond;
use crate::graph::calendar::zones;
use crate::graph::ids;
use crate::graph::mail::{AttachmentKind, StoredAttachment};
use crate::graph::state::GraphState;

/// Members of a seeded event that no client can set.
const SEED_MEMBERS: [&str; 6] = [
    "organizer",
    "originalStartTimeZone",
    "originalEndTimeZone",
    "responseStatus",
    "hasAttachments",
    "isCancelled",
];

impl GraphState {
    /// The calendars of an account.
    ///
    /// # Panics
    /// There is no such account.
    pub fn calendar_book(&mut self, user: &str) -> &mut CalendarBook {
        self.calendars.get_mut(user).unwrap_or_else(|| panic!("no account {user}"))
    }

    /// Adds a calendar of the account. Returns its id.
    pub fn add_calendar(&mut self, user: &str, name: &str) -> String {
        self.calendar_book(user).add_calendar(name, GraphCalendarKind::Secondary)
    }

    /// Adds a calendar that can be read alone: `GraphCalendarKind::Holidays` or `Birthdays`. Returns its id.
    pub fn add_read_only_calendar(&mut self, user: &str, name: &str, kind: GraphCalendarKind) -> String {
        self.calendar_book(user).add_calendar(name, kind)
    }

    /// Adds another person's calendar to the list of an account. Returns its id.
    pub fn add_foreign_calendar(&mut self, user: &str, owner: &str, name: &str) -> String {
        let book = self.calendar_book(user);
        let id = book.add_calendar(name, GraphCalendarKind::Foreign);
        if let Some(calendar) = book.calendars.get_mut(&id) {
            calendar.foreign_owner = Some((owner.to_owned(), name.to_owned()));
        }
        id
    }

    /// The id of an account's calendar: of the one with this id or name, or of the default one for an empty name.
    ///
    /// # Panics
    /// There is none.
    pub fn calendar_id(&mut self, user: &str, calendar: &str) -> String {
        let book = self.calendar_book(user);
        if calendar.is_empty() {
            return book.default_calendar();
        }
        let found = book.calendars.values().find(|one| one.id == calendar || one.name == calendar);
        found.map(|one| one.id.clone()).unwrap_or_else(|| panic!("{user} has no calendar {calendar}"))
    }

    /// Stores an event as a request has it; it may have members that no client can set, such as `organizer` and `iCalUId`. `calendar` is an
    /// id, a name, or empty for the default one. Returns its immutable id.
    ///
    /// # Panics
    /// Exchange would refuse it.
    pub fn put_event(&mut self, user: &str, calendar: &str, event: Value) -> String {
        let now_ms = self.clock.now_ms();
        let calendar = self.calendar_id(user, calendar);
        let book = self.calendar_book(user);
        let (body, extra) = split(event);
        let number = edit::create(book, &calendar, &body, now_ms)
            .unwrap_or_else(|error| panic!("{}: {}", error.code, error.message));
        if let Some(item) = book.items.get_mut(&number) {
            item.pending_join_reads = 0;
            write_extra(item, &extra);
        }
        let key = EventKey::item(number);
        self.note_event(user, key, "created");
        ids::immutable(&key.to_string())
    }

    /// Changes an event or an occurrence as another client does; `id` is an immutable one.
    ///
    /// # Panics
    /// There is no such event, or Exchange would refuse the change.
    pub fn edit_event(&mut self, user: &str, id: &str, change: Value) {
        let now_ms = self.clock.now_ms();
        let key = event_key(id);
        let (body, extra) = split(change);
        let book = self.calendar_book(user);
        edit::patch(book, key, &body, now_ms)
            .unwrap_or_else(|error| panic!("{}: {}", error.code, error.message));
        if let Some(item) = book.items.get_mut(&key.number) {
            write_extra(item, &extra);
        }
        self.note_event(user, key, "updated");
    }

    /// Attaches something to an event as another client does; `id` is an immutable one. Files have a type and no bytes.
    ///
    /// # Panics
    /// There is no such event.
    pub fn attach_to_event(
        &mut self,
        user: &str,
        id: &str,
        kind: AttachmentKind,
        name: &str,
        mime_type: &str,
    ) {
        let now_ms = self.clock.now_ms();
        let key = event_key(id);
        let book = self.calendar_book(user);
        let item = book.items.get_mut(&key.number).unwrap_or_else(|| panic!("no event {id}"));
        let new = StoredAttachment {
            number: event_files::next_number(item),
            kind,
            name: name.to_owned(),
            content_type: mime_type.to_owned(),
            content_id: None,
            content_location: None,
            is_inline: false,
            bytes: Vec::new(),
        };
        event_files::add(item, new);
        book.touch(key.number, now_ms);
        self.note_event(user, key, "updated");
    }

    /// Deletes an event or an occurrence as another client does.
    ///
    /// # Panics
    /// The id is malformed.
    pub fn delete_event(&mut self, user: &str, id: &str) {
        let now_ms = self.clock.now_ms();
        let key = event_key(id);
        let book = self.calendar_book(user);
        let Some(home) = EventHome::find(book, key.number) else { return };
        let kind = match key.date {
            Some(date) => {
                book.remove_occurrence(key.number, date, now_ms);
                "updated"
            }
            None => {
                book.remove_item(key.number);
                "deleted"
            }
        };
        places::note(self, user, kind, key, &home);
    }

    /// Moves an event to another calendar as Outlook does: the immutable id stays.
    ///
    /// # Panics
    /// There is no such event or calendar.
    pub fn move_event(&mut self, user: &str, id: &str, calendar: &str) {
        let now_ms = self.clock.now_ms();
        let target = self.calendar_id(user, calendar);
        let key = event_key(id);
        let book = self.calendar_book(user);
        let home = EventHome::find(book, key.number).unwrap_or_else(|| panic!("no event {id}"));
        let changed = book.next_change();
        book.removals.push(EventRemoval { key, calendar: home.calendar.clone(), changed });
        if let Some(item) = book.items.get_mut(&key.number) {
            item.calendar = target;
            item.place += 1;
        }
        book.touch(key.number, now_ms);
        places::note(self, user, "deleted", key, &home);
        self.note_event(user, key, "created");
    }

    /// An attendee of an event that the account organizes answers: `accepted`, `declined` or `tentativelyAccepted`.
    ///
    /// # Panics
    /// The id is malformed.
    pub fn answer_invitation(&mut self, user: &str, id: &str, attendee: &str, response: &str) {
        let now_ms = self.clock.now_ms();
        let key = event_key(id);
        let book = self.calendar_book(user);
        let status = json!({ "response": response, "time": zones::stamp(now_ms, 3) });
        respond::write_attendee(book, key, attendee, &status);
        book.touch(key.number, now_ms);
        self.note_event(user, key, "updated");
    }

    /// An invitation arrives: the event is in the default calendar, tentatively. Returns its immutable id.
    ///
    /// # Panics
    /// Exchange would refuse the event.
    pub fn invite(&mut self, user: &str, organizer: &str, event: Value) -> String {
        let mut event = event;
        let own = json!({ "emailAddress": { "address": user, "name": user }, "type": "required" });
        match event["attendees"].as_array_mut() {
            Some(attendees) if attendees.iter().any(|one| event_body::is_same(one, user)) => {}
            Some(attendees) => attendees.push(own),
            None => event["attendees"] = json!([own]),
        }
        event["organizer"] = json!({ "emailAddress": { "address": organizer, "name": organizer } });
        event["responseStatus"] = json!({ "response": "notResponded", "time": event_body::NO_TIME });
        event["showAs"] = "tentative".into();
        self.put_event(user, "", event)
    }

    /// The organizer of a meeting cancels it: the attendee's event stays, as cancelled.
    ///
    /// # Panics
    /// There is no such event.
    pub fn cancel_invitation(&mut self, user: &str, id: &str) {
        let subject = self.stored_event(user, id).map(|event| event["subject"].clone());
        let subject = subject.as_ref().and_then(Value::as_str).unwrap_or_default();
        let change =
            json!({ "subject": format!("Canceled: {subject}"), "isCancelled": true, "showAs": "free" });
        self.edit_event(user, id, change);
    }

    /// Messages that an account has sent to people in meetings, the oldest first.
    pub fn meeting_mails(&mut self, user: &str) -> Vec<MeetingMail> {
        self.calendar_book(user).mails.clone()
    }

    /// Lets the delta tokens of an account's calendars expire.
    pub fn expire_calendar_tokens(&mut self, user: &str) {
        let book = self.calendar_book(user);
        let number = book.next_change();
        book.oldest_token = number;
    }

    /// Immutable ids of an account's series and events that stand alone.
    pub fn event_ids(&mut self, user: &str) -> Vec<String> {
        let items = self.calendar_book(user).items.keys();
        items.map(|number| ids::immutable(&EventKey::item(*number).to_string())).collect()
    }

    /// The stored members of an event or an occurrence, with `start` and `end` in UTC, `recurrence`, and `cancelled` and `exceptions` by their
    /// days.
    pub fn stored_event(&mut self, user: &str, id: &str) -> Option<Value> {
        let book = self.calendar_book(user);
        let shape = instances::find(book, event_key(id))?;
        let mut event = Value::Object(shape.members.clone());
        event["start"] = shape.span.start.format("%Y-%m-%dT%H:%M:%S").to_string().into();
        event["end"] = shape.span.end.format("%Y-%m-%dT%H:%M:%S").to_string().into();
        event["isAllDay"] = shape.span.is_all_day.into();
        event["startZone"] = shape.span.start_zone.clone().into();
        event["calendar"] = shape.item.calendar.clone().into();
        if let Some(series) = &shape.item.series {
            event["recurrence"] = series.recurrence.clone();
            event["cancelled"] = series.cancelled.iter().map(ToString::to_string).collect();
            event["exceptions"] = series.exceptions.keys().map(ToString::to_string).collect();
        }
        Some(event)
    }

    fn note_event(&mut self, user: &str, key: EventKey, kind: &str) {
        let home = EventHome::find(self.calendar_book(user), key.number);
        if let Some(home) = home {
            places::note(self, user, kind, key, &home);
        }
    }
}

/// The immutable id of an occurrence of a series, by the local day of its original start.
///
/// # Panics
/// The id or the date is malformed.
pub fn occurrence_id(series: &str, date: &str) -> String {
    let number = event_key(series).number;
    let date = date.parse().unwrap_or_else(|_| panic!("{date} is no date"));
    ids::immutable(&EventKey { number, date: Some(date) }.to_string())
}

fn event_key(id: &str) -> EventKey {
    let key = ids::parse_item(id).ok().and_then(|parsed| EventKey::parse(&parsed.key));
    key.unwrap_or_else(|| panic!("{id} is no id of an event"))
}

/// The members that a request may have, and those of a seed alone.
fn split(event: Value) -> (Value, Value) {
    let (mut body, mut extra) = (event, json!({}));
    if let Some(members) = body.as_object_mut() {
        for name in SEED_MEMBERS.iter().chain(&["iCalUId"]) {
            if let Some(value) = members.remove(*name) {
                extra[*name] = value;
            }
        }
    }
    (body, extra)
}

fn write_extra(item: &mut EventItem, extra: &Value) {
    for (name, value) in extra.as_object().into_iter().flatten() {
        match (name.as_str(), value.as_str()) {
            ("iCalUId", Some(uid)) => item.uid = uid.to_owned(),
            _ => {
                item.members.insert(name.clone(), value.clone());
            }
        }
    }
}
