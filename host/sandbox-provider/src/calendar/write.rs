//! From a client's JSON to a checked event or calendar, and from there to the JSON that is answered. Pure: nothing here knows
//! the state or HTTP.

use serde_json::{Map, Value, json};

use crate::calendar::types::{Alert, Calendar, Event, EventState, Video, VideoState, When};
use crate::patch::{MAX_LINE, MAX_TEXT, colour, few, patched, text, title};
use crate::problem::Problem;
use crate::receipts::etag;
use crate::times::{instant, offset_time, stored_zone};

const MAX_GUESTS: usize = 500;
const MAX_SMALL_LIST: usize = 50;
const MAX_REPEAT_LINES: usize = 500;

/// Fields of an event that a client may set.
const EVENT_FIELDS: &[&str] = &[
    "uid",
    "when",
    "subject",
    "body",
    "place",
    "places",
    "colour",
    "state",
    "availability",
    "privacy",
    "category",
    "guests",
    "guestRules",
    "seats",
    "repeat",
    "video",
    "alerts",
    "files",
];
/// Read-only fields of an event: accepted in a body, so that an event that was read can be sent back, and ignored.
const EVENT_OWN: &[&str] = &[
    "id",
    "etag",
    "calendar",
    "kind",
    "revision",
    "original",
    "webLink",
    "locked",
    "host",
    "author",
    "myAnswer",
    "overrides",
    "series",
    "createdAt",
    "updatedAt",
];
const CALENDAR_FIELDS: &[&str] =
    &["title", "notes", "zone", "colour", "place", "alerts", "countsAsBusy", "videoServices", "apart"];
const CALENDAR_OWN: &[&str] = &["id", "etag", "main", "mine", "access", "locked", "createdAt", "updatedAt"];

/// The event that `patch` makes of `base`, checked. The rule of a series is checked where it is expanded.
pub fn event(base: &Event, patch: &Map<String, Value>, calendar: &Calendar) -> Result<Event, Problem> {
    let mut patch = patch.clone();
    // A moment is a whole: a day must not meet the time that was there before.
    let when = patch.remove("when");
    let mut event: Event = patched(base, &patch, EVENT_FIELDS, EVENT_OWN)?;
    if let Some(when) = when {
        let when: When = serde_path_to_error::deserialize(when).map_err(|e| {
            let path = format!("when.{}", e.path());
            Problem::field(&path, e.into_inner().to_string())
        })?;
        event.when = when;
    }
    event.when = event.when.normalised(&calendar.zone)?;
    for guest in &mut event.guests {
        guest.mail = guest.mail.trim().to_lowercase();
    }
    check_event(&event)?;
    Ok(event)
}

fn check_event(event: &Event) -> Result<(), Problem> {
    text("uid", Some(&event.uid), 255)?;
    text("subject", event.subject.as_ref(), MAX_LINE)?;
    text("body.text", event.body.text.as_ref(), MAX_TEXT)?;
    text("body.html", event.body.html.as_ref(), MAX_TEXT)?;
    text("place", event.place.as_ref(), MAX_LINE)?;
    colour(event.colour.as_ref())?;
    few("places", event.places.as_ref().map_or(0, Vec::len), MAX_SMALL_LIST)?;
    few("guests", event.guests.len(), MAX_GUESTS)?;
    few("repeat", event.repeat.len(), MAX_REPEAT_LINES)?;
    few("files", event.files.len(), MAX_SMALL_LIST)?;
    alerts("alerts.own", &event.alerts.own)?;
    for (at, guest) in event.guests.iter().enumerate() {
        if !guest.mail.contains('@') || guest.mail.len() > 320 {
            return Err(Problem::field(
                &format!("guests[{at}].mail"),
                "mail must be an address such as bob@sandbox.test",
            ));
        }
        if event.guests[..at].iter().any(|g| g.mail == guest.mail) {
            return Err(Problem::field(&format!("guests[{at}].mail"), "every guest is listed once"));
        }
    }
    if event.seats.is_some_and(|s| s < 1) {
        return Err(Problem::field("seats", "seats must be at least 1"));
    }
    Ok(())
}

/// The calendar that `patch` makes of `base`, checked.
pub fn calendar(base: &Calendar, patch: &Map<String, Value>) -> Result<Calendar, Problem> {
    let calendar: Calendar = patched(base, patch, CALENDAR_FIELDS, CALENDAR_OWN)?;
    title("title", &calendar.title)?;
    text("notes", calendar.notes.as_ref(), MAX_TEXT)?;
    text("place", calendar.place.as_ref(), MAX_LINE)?;
    colour(calendar.colour.as_ref())?;
    alerts("alerts", &calendar.alerts)?;
    crate::times::zone(&calendar.zone, "zone")?;
    Ok(calendar)
}

fn alerts(field: &str, alerts: &[Alert]) -> Result<(), Problem> {
    few(field, alerts.len(), MAX_SMALL_LIST)?;
    match alerts.iter().position(|a| !(0..=40_320).contains(&a.lead_minutes)) {
        Some(at) => {
            Err(Problem::field(&format!("{field}[{at}].leadMinutes"), "leadMinutes must be 0 to 40320"))
        }
        None => Ok(()),
    }
}

/// Completes a meeting of a service whose meetings the provider makes, unless it is to stay pending. Its address is derived from
/// the event's id, so that a repetition gives the same one.
pub fn complete_video(video: &mut Video, event_id: &str) {
    let Some(address) = video.service.address().filter(|_| video.url.is_none()) else { return };
    if video.pending {
        video.state = VideoState::Creating;
        return;
    }
    let code: String = event_id.chars().filter(char::is_ascii_alphanumeric).take(10).collect();
    video.state = VideoState::Ready;
    video.url = Some(format!("{address}/{code}"));
    video.code = Some(code);
}

/// An event as one account sees it.
pub struct View<'a> {
    pub mail: &'a str,
    pub calendar: &'a Calendar,
    /// Version of the event, or of the series that it belongs to.
    pub seq: u64,
}

impl View<'_> {
    /// A single event or a series with its overrides.
    pub fn event(&self, event: &Event) -> Value {
        let mut document = self.bare(event);
        if event.series.is_some() {
            document["kind"] = json!("override");
            if let Some(fields) = document.as_object_mut() {
                fields.remove("overrides");
            }
            return document;
        }
        document["kind"] = json!(if event.is_series() { "series" } else { "single" });
        let overrides =
            event.overrides.iter().map(|(original, changed)| self.instance(event, original, changed));
        document["overrides"] = overrides.collect();
        document
    }

    /// One instance of a series, changed or not, by its original local start.
    pub fn instance(&self, series: &Event, original: &str, instance: &Event) -> Value {
        let zone = stored_zone(&self.calendar.zone);
        let is_changed = series.overrides.contains_key(original);
        let mut document = self.bare(instance);
        document["id"] = json!(format!("{}@{original}", series.id));
        document["series"] = json!(series.id);
        document["kind"] = json!(if is_changed { "override" } else { "instance" });
        document["repeat"] = json!([]);
        let original_ms = crate::calendar::series::original_ms(series, original, &zone);
        document["original"] = json!({ "local": original, "time": original_ms.map(instant) });
        if let Some(fields) = document.as_object_mut() {
            fields.remove("overrides");
        }
        document
    }

    fn bare(&self, event: &Event) -> Value {
        let mut document = serde_json::to_value(event).unwrap_or_else(|_| json!({}));
        let calendar_zone = stored_zone(&self.calendar.zone);
        if event.is_all_day() {
            let (from, to) = event.when.span_ms(&calendar_zone);
            for (side, ms) in [("from", from), ("to", to)] {
                document["when"][side]["time"] = json!(offset_time(ms, &calendar_zone));
                document["when"][side]["zone"] = json!(self.calendar.zone);
            }
        }
        document["etag"] = json!(etag(self.seq));
        document["calendar"] = json!(self.calendar.id);
        document["webLink"] =
            json!(format!("https://calendar.sandbox.test/{}/{}", self.calendar.id, event.id));
        document["locked"] = json!(self.calendar.locked || !may_edit(event, self.mail));
        document["myAnswer"] = json!(event.guests.iter().find(|g| g.mail == self.mail).map(|g| g.answer));
        for role in ["host", "author"] {
            let is_me = document[role]["mail"].as_str() == Some(self.mail);
            if document[role].is_object() {
                document[role]["me"] = json!(is_me);
            }
        }
        let host = event.host.as_ref().and_then(|h| h.mail.as_deref());
        for (at, guest) in event.guests.iter().enumerate() {
            document["guests"][at]["me"] = json!(guest.mail == self.mail);
            document["guests"][at]["host"] = json!(host == Some(guest.mail.as_str()));
        }
        document
    }
}

/// Whether the account may change the fields that all guests see.
pub fn may_edit(event: &Event, mail: &str) -> bool {
    let is_host = event.host.as_ref().is_none_or(|h| h.mail.as_deref() == Some(mail));
    is_host || event.guest_rules.may_edit
}

/// Whether it blocks time in a calendar that counts it.
pub fn is_busy(event: &Event) -> bool {
    use crate::calendar::types::Availability;
    event.state != EventState::CalledOff && event.availability != Availability::Free
}
