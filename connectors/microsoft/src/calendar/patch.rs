//! Converts the model's events to Graph's JSON, with only the members that the caller changed and that differ from Graph's.

use connector_sdk::Outcome;
use model::calendar::{
    Attendee, Event, EventKind, EventStatus, Location, ReminderMethod, Reminders, ShowAs, Visibility,
};
use model::wire::Warning;
use serde_json::{Map, Value, json};

use crate::calendar::body::{body_to, is_same};
use crate::calendar::files::attachments_from;
use crate::calendar::info::MailboxInfo;
use crate::calendar::native;
use crate::calendar::patterned::{PatternedRecurrence, RecurrencePattern, SeriesStart, rule_from, rule_to};
use crate::calendar::people::{are_same, attendee_to, attendees_from, is_kept};
use crate::calendar::times::{local_start, times_to};

/// The fields that together define start and end.
pub const TIMES: [&str; 7] = ["start", "end", "timeZone", "endTimeZone", "allDay", "startDate", "endDate"];

/// The fields of an event that are written.
#[derive(Clone, Copy, Debug)]
pub enum WrittenFields<'a> {
    /// A new event: its times, and those of these fields that have a value.
    New(&'a [String]),
    /// A patch of these fields.
    Patch(&'a [String]),
}

/// The JSON of an event, and warnings about fields that Graph does not support.
#[derive(Debug, Default)]
pub struct WrittenEvent {
    pub body: Map<String, Value>,
    pub warnings: Vec<Warning>,
}

/// Returns Graph's JSON of an event. `before` is the current event at Graph. Fails for a recurrence that Graph has no pattern for.
pub fn event_to(
    event: &Event,
    fields: WrittenFields<'_>,
    before: Option<&native::Event>,
    mailbox: &MailboxInfo,
) -> Outcome<WrittenEvent> {
    let (is_new, names) = match fields {
        WrittenFields::New(names) => (true, names),
        WrittenFields::Patch(names) => (false, names),
    };
    let mut document =
        EventDocument { event, is_new, names, before, mailbox, written: WrittenEvent::default() };
    document.put_times()?;
    document.put_texts();
    document.put_description();
    document.put_states();
    document.put_attendees();
    document.put_recurrence()?;
    document.put_reminders();
    document.warn_of_the_rest();
    Ok(document.written)
}

/// The JSON of an event under construction.
struct EventDocument<'a> {
    event: &'a Event,
    is_new: bool,
    names: &'a [String],
    before: Option<&'a native::Event>,
    mailbox: &'a MailboxInfo,
    written: WrittenEvent,
}

impl EventDocument<'_> {
    fn has(&self, field: &str) -> bool {
        self.names.iter().any(|name| name == field)
    }

    fn set(&mut self, name: &str, value: Value) {
        self.written.body.insert(name.to_owned(), value);
    }

    fn warn(&mut self, field: &str, message: &str) {
        self.written.warnings.push(field_warning(field, message));
    }

    fn put_times(&mut self) -> Outcome<()> {
        if !self.is_new && !TIMES.iter().any(|field| self.has(field)) {
            return Ok(());
        }
        let (start, end) = times_to(self.event, &self.mailbox.time_zone)?;
        self.set("start", start);
        self.set("end", end);
        if self.is_new || self.has("allDay") {
            self.set("isAllDay", json!(self.event.all_day));
        }
        Ok(())
    }

    /// Writes the texts. Graph refuses null for a text, so no text is an empty one.
    fn put_texts(&mut self) {
        let event = self.event;
        if self.has("title") {
            self.set("subject", json!(event.title.as_deref().unwrap_or_default()));
        }
        let places = event.locations.as_ref().filter(|places| !places.is_empty() && self.has("locations"));
        match places {
            Some(places) => {
                let all: Vec<Value> = places.iter().map(location_to).collect();
                if let Some(first) = all.first().cloned() {
                    self.set("location", first);
                }
                self.set("locations", Value::Array(all));
            }
            None if self.has("location") || self.has("locations") => {
                let name = event.location.as_deref().unwrap_or_default();
                if !self.is_new || !name.is_empty() {
                    self.set("location", json!({ "displayName": name }));
                }
            }
            None => {}
        }
    }

    /// Writes the description. An unchanged body is not sent, because that would remove the link of an online meeting.
    fn put_description(&mut self) {
        let event = self.event;
        let is_html = self.has("descriptionHtml") && event.description_html.is_some();
        if !self.has("description") && !self.has("descriptionHtml") {
            return;
        }
        let is_empty = event.description.is_none() && !is_html;
        let is_unchanged = match self.before {
            Some(before) => is_same(event, is_html, before),
            None => self.is_new && is_empty,
        };
        if !is_unchanged {
            self.set("body", body_to(event, is_html, self.before));
        }
    }

    fn put_states(&mut self) {
        let event = self.event;
        if self.has("visibility") {
            self.set("sensitivity", json!(sensitivity_to(event.visibility)));
        }
        if self.has("showAs") {
            self.set("showAs", json!(show_as_to(event.show_as)));
        }
        if self.has("hideAttendees") {
            self.set("hideAttendees", json!(event.hide_attendees));
        }
        if self.has("status") && event.status != EventStatus::Confirmed {
            self.warn("status", "Outlook has no status of an event: delete it to cancel it");
        }
    }

    /// Writes the attendees. The list replaces the current one, and everybody in it gets mail.
    fn put_attendees(&mut self) {
        let event = self.event;
        if !self.has("attendees") || self.is_new && event.attendees.is_empty() {
            return;
        }
        let theirs = self.before.map(|before| attendees_from(before, self.mailbox));
        if theirs.is_some_and(|theirs| are_same(&event.attendees, &theirs)) {
            return;
        }
        let guests: Vec<Value> = event.attendees.iter().filter(is_invited).map(attendee_to).collect();
        self.set("attendees", Value::Array(guests));
        if !event.attendees.iter().all(is_kept) {
            self.warn(
                "attendees",
                "Outlook has required and optional attendees and resources, and no groups",
            );
        }
    }

    /// Writes the rule. Excluded instances are not part of it: they are deleted one by one.
    fn put_recurrence(&mut self) -> Outcome<()> {
        if !self.has("recurrence") {
            return Ok(());
        }
        let lines = rule_lines(&self.event.recurrence);
        if lines.is_empty() {
            if !self.is_new {
                self.set("recurrence", Value::Null);
            }
            return Ok(());
        }
        let start = start_of(self.event, self.mailbox);
        let written = in_own_words(rule_to(&lines, &start)?, self.before, &start);
        self.set("recurrence", json!(written));
        Ok(())
    }

    /// Writes the reminder. If it is not set explicitly, Outlook adds one of 15 minutes.
    fn put_reminders(&mut self) {
        if !self.has("reminders") {
            if self.is_new {
                self.set("isReminderOn", json!(false));
            }
            return;
        }
        let reminders = &self.event.reminders;
        let minutes = minutes_of(reminders);
        self.set("isReminderOn", json!(reminders.use_default || minutes.is_some()));
        if let Some(minutes) = minutes {
            self.set("reminderMinutesBeforeStart", json!(minutes));
        }
        let is_popup = |method: ReminderMethod| method == ReminderMethod::Popup;
        let is_whole = reminders.overrides.len() <= 1
            && reminders.overrides.iter().all(|reminder| is_popup(reminder.method));
        if !is_whole {
            self.warn("reminders", "Outlook has one reminder of an event, on the screen");
        }
    }

    fn warn_of_the_rest(&mut self) {
        let event = self.event;
        let has_other_files = event.attachments != self.before.map(attachments_from).unwrap_or_default();
        let lost = [
            ("color", event.color.is_some(), "Outlook has no colour of one event"),
            ("eventKind", event.event_kind != EventKind::Default, "Outlook has no kinds of events"),
            ("capacity", event.capacity.is_some(), "Outlook has no capacity of events"),
            ("guestsCanModify", event.guests_can_modify, "in Outlook only the organizer changes an event"),
            ("guestsCanInvite", !event.guests_can_invite, "in Outlook attendees can forward an invitation"),
            (
                "attachments",
                has_other_files,
                "attachments of Outlook's events are added and removed in Outlook",
            ),
            ("iCalUid", event.i_cal_uid.is_some(), "Outlook chooses the UID of an event by itself"),
        ];
        for (field, is_lost, message) in lost {
            if is_lost && self.has(field) {
                self.warn(field, message);
            }
        }
    }
}

/// Whether this attendee is invited: everyone but the organizer, whom Graph stores separately.
fn is_invited(attendee: &&Attendee) -> bool {
    !attendee.organizer && !attendee.email.is_empty()
}

/// The lines of a series without EXDATE lines.
pub fn rule_lines(recurrence: &[String]) -> Vec<String> {
    recurrence.iter().filter(|line| !is_exdate(line)).cloned().collect()
}

/// Whether a line is an EXDATE.
pub fn is_exdate(line: &str) -> bool {
    line.get(..6).is_some_and(|name| name.eq_ignore_ascii_case("EXDATE"))
}

/// Returns the start of a series in its own time zone.
pub fn start_of(event: &Event, mailbox: &MailboxInfo) -> SeriesStart {
    // All-day events start at midnight in the mailbox's zone.
    let zone = Some(event.time_zone.clone()).filter(|zone| !zone.is_empty() && !event.all_day);
    let zone = zone.unwrap_or_else(|| mailbox.time_zone.clone());
    let day = event.start_date.as_deref().and_then(|day| day.parse::<jiff::civil::Date>().ok());
    let local = match day.filter(|_| event.all_day) {
        Some(day) => day.to_datetime(jiff::civil::Time::midnight()),
        None => local_start(&Event { time_zone: zone.clone(), ..event.clone() }),
    };
    SeriesStart { local, is_all_day: event.all_day, zone }
}

/// Returns the recurrence with Graph's current pattern if that has the same days, for example with another first day of the week, because a
/// series with a new pattern would lose its changed instances.
pub fn in_own_words(
    written: PatternedRecurrence,
    before: Option<&native::Event>,
    start: &SeriesStart,
) -> PatternedRecurrence {
    let is_same = |own: &&PatternedRecurrence| {
        let read = rule_from(own, start).ok().and_then(|lines| rule_to(&lines, start).ok());
        read.is_some_and(|read| read.pattern == written.pattern)
    };
    let Some(own) = before.and_then(|before| before.recurrence.as_ref()).filter(is_same) else {
        return written;
    };
    // Graph returns 0 for numbers that a pattern does not use.
    let used = |number: Option<i8>| number.filter(|number| *number != 0);
    let pattern = RecurrencePattern {
        month: used(own.pattern.month),
        day_of_month: used(own.pattern.day_of_month),
        ..own.pattern.clone()
    };
    PatternedRecurrence { pattern, ..written }
}

/// The minutes before the start of the one reminder that is kept: the last one that is a notification.
fn minutes_of(reminders: &Reminders) -> Option<i64> {
    let popups = reminders.overrides.iter().filter(|reminder| reminder.method == ReminderMethod::Popup);
    popups.map(|reminder| reminder.minutes_before).min().filter(|_| !reminders.use_default)
}

fn sensitivity_to(visibility: Visibility) -> &'static str {
    match visibility {
        Visibility::Default | Visibility::Public => "normal",
        Visibility::Private => "private",
        Visibility::Confidential => "confidential",
    }
}

fn show_as_to(show_as: ShowAs) -> &'static str {
    match show_as {
        ShowAs::Busy => "busy",
        ShowAs::Free => "free",
        ShowAs::Tentative => "tentative",
        ShowAs::Oof => "oof",
        ShowAs::WorkingElsewhere => "workingElsewhere",
    }
}

fn location_to(ours: &Location) -> Value {
    let name = ours.name.as_ref().or(ours.address.as_ref()).or(ours.uri.as_ref());
    let mut place = json!({ "displayName": name.map(String::as_str).unwrap_or_default() });
    if let Some(address) = &ours.address {
        place["address"] = json!({ "street": address });
    }
    if let Some(uri) = &ours.uri {
        place["locationUri"] = json!(uri);
    }
    let coordinates = ours.geo.as_deref().and_then(|geo| geo.split_once(','));
    let numbers = coordinates.and_then(|(latitude, longitude)| {
        Some((latitude.trim().parse::<f64>().ok()?, longitude.trim().parse::<f64>().ok()?))
    });
    if let Some((latitude, longitude)) = numbers {
        place["coordinates"] = json!({ "latitude": latitude, "longitude": longitude });
    }
    place
}

/// Returns the warning that Outlook does not support a field.
pub fn field_warning(field: &str, message: &str) -> Warning {
    Warning {
        code: "field_not_supported".to_owned(),
        message: message.to_owned(),
        target: Some(field.to_owned()),
    }
}
