//! From a client's JSON to a checked event or calendar, and from there to the JSON that is answered. Pure: nothing here knows
//! the state or HTTP.

use model::Instant;
use model::calendar::{
    Calendar as CalendarBody, Conference, ConferenceStatus, Event as EventBody, EventStatus, EventType,
    Reminder, ShowAs,
};
use serde_json::{Map, Value, json};

use crate::calendar::series::original_ms;
use crate::calendar::types::{Calendar, Event, meeting_address};
use crate::patch::{MAX_LINE, MAX_TEXT, colour, few, merged, read, text, title};
use crate::problem::Problem;
use crate::receipts::etag;
use crate::times::zone;

const MAX_ATTENDEES: usize = 500;
const MAX_SMALL_LIST: usize = 50;
const MAX_RECURRENCE_LINES: usize = 500;

/// Members of an event that the provider sets, beside the model's read-only ones: accepted in a body, so that an event that was read can
/// be sent back, and ignored.
const EVENT_OWN: &[&str] = &["organizer", "exceptions", "appliesToFollowing"];

/// The event that `patch` makes of `base`, checked. The rule of a series is checked where it is expanded.
pub fn event(base: &Event, patch: &Map<String, Value>, calendar: &Calendar) -> Result<Event, Problem> {
    let mut body: EventBody = merged(&base.body, patch, EVENT_OWN)?;
    body.i_cal_uid = body.i_cal_uid.or_else(|| base.body.i_cal_uid.clone());
    for attendee in &mut body.attendees {
        attendee.email = attendee.email.trim().to_lowercase();
        (attendee.is_self, attendee.organizer) = (false, false);
    }
    let is_pending = base.body.conference.as_ref().is_some_and(|c| c.status == ConferenceStatus::Pending);
    // Only the provider lets a meeting wait for its address.
    if let Some(conference) = body.conference.as_mut().filter(|c| !is_pending && c.join_url.is_none())
        && conference.status == ConferenceStatus::Pending
    {
        conference.status = ConferenceStatus::Ready;
    }
    let mut event = Event { body, ..base.clone() };
    let has_times = !base.id.is_empty() && !base.is_all_day();
    for field in ["start", "end"] {
        let is_missing = patch.get(field).map_or(!has_times, Value::is_null);
        if is_missing && !event.is_all_day() {
            let message = format!("{field} is missing: give start and end, or allDay, startDate and endDate");
            return Err(Problem::field(field, message));
        }
    }
    event.normalise(calendar.zone_name())?;
    check_event(&event.body)?;
    Ok(event)
}

fn check_event(event: &EventBody) -> Result<(), Problem> {
    text("iCalUid", event.i_cal_uid.as_ref(), 255)?;
    text("title", event.title.as_ref(), MAX_LINE)?;
    text("description", event.description.as_ref(), MAX_TEXT)?;
    text("descriptionHtml", event.description_html.as_ref(), MAX_TEXT)?;
    text("location", event.location.as_ref(), MAX_LINE)?;
    colour("color", event.color.as_ref())?;
    few("locations", event.locations.as_ref().map_or(0, Vec::len), MAX_SMALL_LIST)?;
    few("attendees", event.attendees.len(), MAX_ATTENDEES)?;
    few("recurrence", event.recurrence.len(), MAX_RECURRENCE_LINES)?;
    few("attachments", event.attachments.len(), MAX_SMALL_LIST)?;
    reminders("reminders.overrides", &event.reminders.overrides)?;
    for (at, attendee) in event.attendees.iter().enumerate() {
        let field = format!("attendees[{at}].email");
        if !attendee.email.contains('@') || attendee.email.len() > 320 {
            return Err(Problem::field(&field, "email must be an address such as bob@sandbox.test"));
        }
        if event.attendees[..at].iter().any(|other| other.email == attendee.email) {
            return Err(Problem::field(&field, "every attendee is listed once"));
        }
    }
    if event.capacity.is_some_and(|capacity| capacity < 1) {
        return Err(Problem::field("capacity", "capacity must be at least 1"));
    }
    Ok(())
}

/// The calendar that `patch` makes of `base`, checked. Beside the model's fields a client sets `apart`, and `conferenceTypes`.
pub fn calendar(base: &Calendar, patch: &Map<String, Value>) -> Result<Calendar, Problem> {
    let mut patch = patch.clone();
    let (apart, types) = (patch.remove("apart"), patch.remove("conferenceTypes"));
    let mut body: CalendarBody = merged(&base.body, &patch, &[])?;
    if let Some(types) = types {
        body.conference_types = read(types).map_err(|e| Problem::field("conferenceTypes", e.message))?;
    }
    title("name", &body.name)?;
    text("description", body.description.as_ref(), MAX_TEXT)?;
    text("location", body.location.as_ref(), MAX_LINE)?;
    colour("color", body.color.as_ref())?;
    reminders("defaultReminders", &body.default_reminders)?;
    if let Some(name) = &body.time_zone {
        zone(name, "timeZone")?;
    }
    let apart = apart.map_or(Ok(base.apart), read)?;
    Ok(Calendar { body, apart, ..base.clone() })
}

fn reminders(field: &str, reminders: &[Reminder]) -> Result<(), Problem> {
    few(field, reminders.len(), MAX_SMALL_LIST)?;
    match reminders.iter().position(|r| !(0..=40_320).contains(&r.minutes_before)) {
        Some(at) => {
            let field = format!("{field}[{at}].minutesBefore");
            Err(Problem::field(&field, "minutesBefore must be 0 to 40320"))
        }
        None => Ok(()),
    }
}

/// Completes a meeting of a service whose meetings the provider makes, unless it is pending. Its address is derived from the
/// event's id, so that a repetition gives the same one.
pub fn complete_conference(conference: &mut Conference, event_id: &str) {
    let address = meeting_address(conference.provider).filter(|_| conference.join_url.is_none());
    let Some(address) = address.filter(|_| conference.status != ConferenceStatus::Pending) else { return };
    let code: String = event_id.chars().filter(char::is_ascii_alphanumeric).take(10).collect();
    conference.status = ConferenceStatus::Ready;
    conference.join_url = Some(format!("{address}/{code}"));
    conference.meeting_id = Some(code);
}

/// An event as one account sees it.
pub struct View<'a> {
    pub mail: &'a str,
    pub calendar: &'a Calendar,
    /// Version of the event, or of the series that it belongs to.
    pub seq: u64,
}

impl View<'_> {
    /// A single event or a series with its changed instances.
    pub fn event(&self, event: &Event) -> Value {
        if let Some(series) = &event.series {
            let mut document = self.bare(event, EventType::Exception);
            document["seriesId"] = json!(series);
            return document;
        }
        let kind = if event.is_series() { EventType::Series } else { EventType::Single };
        let mut document = self.bare(event, kind);
        let changed =
            event.overrides.iter().map(|(original, changed)| self.instance(event, original, changed));
        document["exceptions"] = changed.collect();
        document
    }

    /// One instance of a series, changed or not, by its original local start.
    pub fn instance(&self, series: &Event, original: &str, instance: &Event) -> Value {
        let is_changed = series.overrides.contains_key(original);
        let mut document =
            self.bare(instance, if is_changed { EventType::Exception } else { EventType::Occurrence });
        let original_ms = original_ms(series, original, &self.calendar.zone());
        document["id"] = json!(format!("{}@{original}", series.id));
        document["seriesId"] = json!(series.id);
        document["recurrence"] = json!([]);
        document["recurrenceId"] = json!(original);
        document["originalStart"] = json!(original_ms.map(Instant::from_millis));
        document
    }

    fn bare(&self, event: &Event, event_type: EventType) -> Value {
        let mut body = event.body.clone();
        body.event_type = event_type;
        if event.is_all_day() {
            let (start_ms, end_ms) = event.span_ms(&self.calendar.zone());
            (body.start, body.end) = (Instant::from_millis(start_ms), Instant::from_millis(end_ms));
            self.calendar.zone_name().clone_into(&mut body.time_zone);
        }
        body.html_link = Some(format!("https://calendar.sandbox.test/{}/{}", self.calendar.id, event.id));
        body.busy = body.derived_busy();
        body.read_only = self.calendar.body.read_only || !may_edit(event, self.mail);
        let own = body.attendees.iter().find(|attendee| attendee.email == self.mail);
        body.my_response = own.map(|attendee| attendee.response_status);
        for person in body.organizer.iter_mut().chain(&mut body.creator) {
            person.is_self = person.email.as_deref() == Some(self.mail);
        }
        let organizer = body.organizer.as_ref().and_then(|person| person.email.clone());
        for attendee in &mut body.attendees {
            attendee.is_self = attendee.email == self.mail;
            attendee.organizer = organizer.as_ref() == Some(&attendee.email);
        }
        let mut document = json!(body);
        document["id"] = json!(event.id);
        document["etag"] = json!(etag(self.seq));
        document["calendarId"] = json!(self.calendar.id);
        document["createdAt"] = json!(event.created_at);
        document["updatedAt"] = json!(event.updated_at);
        document
    }
}

/// Whether the account may change the fields that all attendees see.
pub fn may_edit(event: &Event, mail: &str) -> bool {
    event.is_organized_by(mail) || event.body.guests_can_modify
}

/// Whether it blocks time in a calendar that counts it.
pub fn is_busy(event: &Event) -> bool {
    event.body.status != EventStatus::Cancelled && event.body.show_as != ShowAs::Free
}
