//! Converts the model's events to Google's JSON, with only the members that the caller changed.

use model::calendar::{
    Attendee, AttendeeKind, AttendeeRole, Event, EventAttachment, EventKind, EventStatus, Reminder,
    ReminderMethod, ResponseStatus, ShowAs, Visibility,
};
use model::wire::Warning;
use serde_json::{Map, Value, json};

use crate::calendar::info::CalendarInfo;
use crate::calendar::native;
use crate::calendar::rules;

/// The maximum number of attachments of an event.
const MAX_ATTACHMENTS: usize = 25;
/// The maximum number of an event's own reminders, which replace the calendar's.
const MAX_REMINDERS: usize = 5;

/// The fields that together define start and end.
pub const TIMES: [&str; 7] = ["start", "end", "timeZone", "endTimeZone", "allDay", "startDate", "endDate"];

/// The fields of an event that are written.
#[derive(Clone, Copy, Debug)]
pub enum WrittenFields<'a> {
    /// A new event: its times, and those of these fields that have a value.
    New(&'a [String]),
    /// A patch of these fields, in which null clears a member.
    Patch(&'a [String]),
}

/// Returns Google's JSON of an event, and warnings about fields that Google does not support. `before` is the current event at Google, from
/// which guests keep members that the model does not have.
pub fn event_to(
    event: &Event,
    fields: WrittenFields<'_>,
    before: Option<&native::Event>,
    calendar: &CalendarInfo,
) -> (Map<String, Value>, Vec<Warning>) {
    let (is_new, names) = match fields {
        WrittenFields::New(names) => (true, names),
        WrittenFields::Patch(names) => (false, names),
    };
    let mut document = EventDocument { event, is_new, names, body: Map::new(), warnings: Vec::new() };
    document.put_times();
    document.put_texts();
    document.put_states(calendar);
    document.put_kind();
    document.put_guests(before);
    if document.has("recurrence") {
        let lines = rules::google_lines(&event.recurrence, &event.time_zone, event.all_day);
        document.set("recurrence", json!(lines));
    }
    if document.has("reminders") {
        document.put_reminders();
    }
    if document.has("attachments") {
        document.put_attachments();
    }
    document.warn_of_the_rest();
    let EventDocument { mut body, warnings, .. } = document;
    if is_new {
        body.retain(|_, value| !value.is_null() && *value != json!([]));
    }
    (body, warnings)
}

/// The JSON of an event under construction.
struct EventDocument<'a> {
    event: &'a Event,
    is_new: bool,
    names: &'a [String],
    body: Map<String, Value>,
    warnings: Vec<Warning>,
}

impl EventDocument<'_> {
    fn has(&self, field: &str) -> bool {
        self.names.iter().any(|name| name == field)
    }

    fn set(&mut self, name: &str, value: Value) {
        self.body.insert(name.to_owned(), value);
    }

    fn warn(&mut self, field: &str, message: &str) {
        self.warnings.push(field_warning(field, message));
    }

    /// Writes the times. When a timed event becomes an all-day one or the reverse, the members of the other kind are cleared.
    fn put_times(&mut self) {
        if !self.is_new && !TIMES.iter().any(|field| self.has(field)) {
            return;
        }
        let event = self.event;
        let is_other_kind = !self.is_new && self.has("allDay");
        let (start, end) = if event.all_day {
            (date(event.start_date.as_deref()), date(event.end_date.as_deref()))
        } else {
            let zone = event.time_zone.as_str();
            let end_zone = event.end_time_zone.as_deref().unwrap_or(zone);
            (date_time(event.start, zone), date_time(event.end, end_zone))
        };
        for (name, mut value) in [("start", start), ("end", end)] {
            let others: &[&str] = if event.all_day { &["dateTime", "timeZone"] } else { &["date"] };
            for other in others.iter().filter(|_| is_other_kind) {
                value.insert((*other).to_owned(), Value::Null);
            }
            self.set(name, Value::Object(value));
        }
    }

    /// Writes the texts. Google has one description, which may be HTML.
    fn put_texts(&mut self) {
        let event = self.event;
        for (field, name, value) in
            [("title", "summary", &event.title), ("location", "location", &event.location)]
        {
            if self.has(field) {
                self.set(name, json!(value));
            }
        }
        let html = event.description_html.as_ref().filter(|_| self.has("descriptionHtml"));
        match (html, self.has("description") || self.has("descriptionHtml")) {
            (Some(html), _) => self.set("description", json!(html)),
            (None, true) => self.set("description", json!(event.description)),
            (None, false) => {}
        }
    }

    fn put_states(&mut self, calendar: &CalendarInfo) {
        let event = self.event;
        if self.has("status") {
            self.set("status", json!(status_to(event.status)));
        }
        if self.has("visibility") {
            self.set("visibility", json!(visibility_to(event.visibility)));
        }
        if self.has("showAs") {
            self.set(
                "transparency",
                json!(if is_transparent(event.show_as) { "transparent" } else { "opaque" }),
            );
            if !is_said(event.show_as, event.event_kind) {
                self.warn("showAs", "Google knows free and busy alone");
            }
        }
        if self.has("color") {
            let nearest = event.color.as_deref().and_then(|color| calendar.palette.nearest(color));
            self.set("colorId", json!(nearest.map(|(id, _)| id)));
            if event.color.is_some() && nearest.is_none_or(|(_, is_exact)| !is_exact) {
                self.warn("color", "Google has a few colours: the nearest one is used");
            }
        }
    }

    /// Writes the kind, which cannot be changed after creation.
    fn put_kind(&mut self) {
        if !self.has("eventKind") {
            return;
        }
        match (self.is_new, self.event.event_kind) {
            (true, EventKind::Default) => {}
            (true, EventKind::OutOfOffice) => self.set("eventType", json!("outOfOffice")),
            (true, EventKind::FocusTime) => self.set("eventType", json!("focusTime")),
            (true, EventKind::WorkingLocation) => {
                self.warn("eventKind", "working locations can only be set in Google Calendar");
            }
            (false, _) => self.warn("eventKind", "the kind of an event cannot be changed"),
        }
    }

    fn put_guests(&mut self, before: Option<&native::Event>) {
        let event = self.event;
        let flags = [
            ("hideAttendees", "guestsCanSeeOtherGuests", !event.hide_attendees),
            ("guestsCanModify", "guestsCanModify", event.guests_can_modify),
            ("guestsCanInvite", "guestsCanInviteOthers", event.guests_can_invite),
        ];
        for (field, name, value) in flags {
            if self.has(field) {
                self.set(name, json!(value));
            }
        }
        if self.has("attendees") {
            let guests: Vec<Value> = event.attendees.iter().map(|ours| guest_to(ours, before)).collect();
            self.set("attendees", Value::Array(guests));
            let is_kept = |guest: &Attendee| {
                matches!(guest.role, AttendeeRole::Required | AttendeeRole::Optional)
                    && !matches!(guest.kind, AttendeeKind::Group)
            };
            if !event.attendees.iter().all(is_kept) {
                self.warn("attendees", "Google knows required and optional guests, and no groups");
            }
        }
    }

    fn put_reminders(&mut self) {
        let reminders = &self.event.reminders;
        let overrides: Vec<Value> = match reminders.use_default {
            true => Vec::new(),
            false => reminders.overrides.iter().take(MAX_REMINDERS).map(reminder_to).collect(),
        };
        if overrides.len() < reminders.overrides.len() {
            self.warn("reminders", "an event has the calendar's reminders, or at most 5 of its own");
        }
        self.set("reminders", json!({ "useDefault": reminders.use_default, "overrides": overrides }));
    }

    fn put_attachments(&mut self) {
        let files = self.event.attachments.iter().filter(|file| file.url.is_some());
        let files: Vec<Value> = files.take(MAX_ATTACHMENTS).map(attachment_to).collect();
        if files.len() < self.event.attachments.len() {
            self.warn("attachments", "an event has at most 25 attachments, each with a url");
        }
        self.set("attachments", Value::Array(files));
    }

    fn warn_of_the_rest(&mut self) {
        let event = self.event;
        if self.has("locations") && event.locations.as_ref().is_some_and(|all| !all.is_empty()) {
            self.warn("locations", "Google has one location, a text");
        }
        if self.has("capacity") && event.capacity.is_some() {
            self.warn("capacity", "Google has no capacity of events");
        }
    }
}

/// Whether an event shown in this state leaves its time free.
fn is_transparent(show_as: ShowAs) -> bool {
    matches!(show_as, ShowAs::Free | ShowAs::WorkingElsewhere)
}

/// Whether transparency and kind together can express this state.
fn is_said(show_as: ShowAs, kind: EventKind) -> bool {
    match show_as {
        ShowAs::Busy | ShowAs::Free => true,
        ShowAs::Oof => kind == EventKind::OutOfOffice,
        ShowAs::WorkingElsewhere => kind == EventKind::WorkingLocation,
        ShowAs::Tentative => false,
    }
}

fn date(day: Option<&str>) -> Map<String, Value> {
    Map::from_iter([("date".to_owned(), json!(day))])
}

/// The JSON of an instant with its zone. Google requires the zone's name for a series, and stores it for any event.
fn date_time(at: model::Instant, zone: &str) -> Map<String, Value> {
    let mut value = Map::from_iter([("dateTime".to_owned(), json!(at))]);
    if !zone.is_empty() {
        value.insert("timeZone".to_owned(), json!(zone));
    }
    value
}

fn status_to(status: EventStatus) -> &'static str {
    match status {
        EventStatus::Confirmed => "confirmed",
        EventStatus::Tentative => "tentative",
        EventStatus::Cancelled => "cancelled",
    }
}

fn visibility_to(visibility: Visibility) -> &'static str {
    match visibility {
        Visibility::Default => "default",
        Visibility::Public => "public",
        Visibility::Private => "private",
        Visibility::Confidential => "confidential",
    }
}

/// Returns Google's `responseStatus` for an attendee's response.
pub fn response_to(response: ResponseStatus) -> &'static str {
    match response {
        ResponseStatus::NeedsAction => "needsAction",
        ResponseStatus::Accepted => "accepted",
        ResponseStatus::Declined => "declined",
        ResponseStatus::Tentative => "tentative",
    }
}

/// The JSON of a guest. An existing guest keeps response and additional guests, unless the caller changes the response.
fn guest_to(ours: &Attendee, before: Option<&native::Event>) -> Value {
    let known = before
        .and_then(|event| event.attendees.iter().find(|guest| guest.email.eq_ignore_ascii_case(&ours.email)));
    let response = match (ours.response_status, known.and_then(|guest| guest.response_status.as_deref())) {
        (ResponseStatus::NeedsAction, Some(response)) => response,
        (response, _) => response_to(response),
    };
    let mut guest = Map::from_iter([
        ("email".to_owned(), json!(ours.email)),
        ("responseStatus".to_owned(), json!(response)),
    ]);
    let texts = [
        ("displayName", ours.name.as_ref().or(known.and_then(|guest| guest.display_name.as_ref()))),
        ("comment", ours.comment.as_ref().or(known.and_then(|guest| guest.comment.as_ref()))),
    ];
    guest.extend(texts.into_iter().filter_map(|(name, text)| Some((name.to_owned(), json!(text?)))));
    let is_resource = matches!(ours.kind, AttendeeKind::Resource | AttendeeKind::Room);
    let flags = [("optional", ours.role == AttendeeRole::Optional), ("resource", is_resource)];
    guest.extend(
        flags.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| (name.to_owned(), json!(true))),
    );
    if let Some(known) = known.filter(|guest| guest.additional_guests > 0) {
        guest.insert("additionalGuests".to_owned(), json!(known.additional_guests));
    }
    Value::Object(guest)
}

/// Returns Google's JSON of a reminder.
pub fn reminder_to(ours: &Reminder) -> Value {
    let method = match ours.method {
        ReminderMethod::Popup => "popup",
        ReminderMethod::Email => "email",
    };
    json!({ "method": method, "minutes": ours.minutes_before })
}

fn attachment_to(ours: &EventAttachment) -> Value {
    let mut file = Map::from_iter([("fileUrl".to_owned(), json!(ours.url))]);
    let texts = [("title", &ours.title), ("mimeType", &ours.mime_type)];
    file.extend(texts.into_iter().filter_map(|(name, text)| Some((name.to_owned(), json!(text.as_ref()?)))));
    Value::Object(file)
}

/// Returns the warning that Google does not support a field.
pub fn field_warning(field: &str, message: &str) -> Warning {
    Warning {
        code: "field_not_supported".to_owned(),
        message: message.to_owned(),
        target: Some(field.to_owned()),
    }
}
