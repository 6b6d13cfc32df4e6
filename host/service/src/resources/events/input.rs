//! Validation of events: bounds and formats of the fields that a client may write, before the provider is called; errors name their field.

use std::collections::HashMap;

use base::error::{Code, Result, invalid};
use base::input::validate;
use model::bounds::event::{MAX_ATTACHMENTS, MAX_ATTENDEES, MAX_REMINDER_MINUTES, MAX_REMINDERS};
use model::bounds::{MAX_LABEL, MAX_LINE, MAX_TEXT};
use model::calendar::{Attendee, Event, EventType};

/// Checks the fields of an event that `changed` names. Other fields, and list entries that `before` had, are not checked: other programs
/// may have written them.
pub fn valid(event: &Event, changed: &[String], before: &Event) -> Result<()> {
    let is_new = |field: &str| changed.iter().any(|f| f == field);
    lengths(event, &is_new)?;
    if is_new("attendees") {
        attendees(&event.attendees, &before.attendees)?;
    }
    if is_new("organizer")
        && let Some(email) = event.organizer.as_ref().and_then(|o| o.email.as_deref())
    {
        validate::address("organizer.email", email)?;
    }
    if let Some(color) = event.color.as_ref().filter(|_| is_new("color")) {
        validate::color(color)?;
    }
    if is_new("reminders") {
        reminders(event)?;
    }
    if is_new("attachments") {
        attachments(event, before)?;
    }
    if is_new("recurrence") || is_new("allDay") {
        recurrence(event)?;
    }
    if is_new("capacity") && event.capacity.is_some_and(|n| n < 1) {
        return Err(invalid(Code::InvalidParameter, "capacity", "capacity must be at least 1"));
    }
    Ok(())
}

fn lengths(event: &Event, is_new: &impl Fn(&str) -> bool) -> Result<()> {
    let fields = [
        ("title", &event.title, MAX_LINE),
        ("location", &event.location, MAX_LINE),
        ("description", &event.description, MAX_TEXT),
        ("descriptionHtml", &event.description_html, MAX_TEXT),
        ("iCalUid", &event.i_cal_uid, MAX_LABEL),
    ];
    let mut changed = fields.into_iter().filter(|(field, ..)| is_new(field));
    changed.try_for_each(|(field, value, max)| validate::text(field, value.as_deref(), max))
}

/// Checks attendees. An address that `had` contains may be no email address (`urn:uuid:…`), and may occur as often as before.
fn attendees(attendees: &[Attendee], had: &[Attendee]) -> Result<()> {
    validate::length("attendees", attendees.len(), MAX_ATTENDEES.max(had.len()))?;
    let key = |attendee: &Attendee| ::mail::address::folded(&attendee.email);
    let mut known: HashMap<String, usize> = HashMap::new();
    for attendee in had {
        *known.entry(key(attendee)).or_default() += 1;
    }
    let mut seen: HashMap<String, usize> = HashMap::new();
    for (i, attendee) in attendees.iter().enumerate() {
        let field = format!("attendees[{i}].email");
        let known = known.get(&key(attendee)).copied();
        if known.is_none() {
            validate::address(&field, &attendee.email)?;
        }
        let times = seen.entry(key(attendee)).or_default();
        *times += 1;
        if *times > known.unwrap_or(1) {
            return Err(invalid(Code::InvalidParameter, field.clone(), format!("{field} is there twice")));
        }
    }
    Ok(())
}

fn reminders(event: &Event) -> Result<()> {
    validate::length("reminders.overrides", event.reminders.overrides.len(), MAX_REMINDERS)?;
    for (i, reminder) in event.reminders.overrides.iter().enumerate() {
        if !(0..=MAX_REMINDER_MINUTES).contains(&reminder.minutes_before) {
            let field = format!("reminders.overrides[{i}].minutesBefore");
            let message = format!("{field} must be from 0 to {MAX_REMINDER_MINUTES}");
            return Err(invalid(Code::InvalidParameter, field, message));
        }
    }
    Ok(())
}

fn attachments(event: &Event, before: &Event) -> Result<()> {
    validate::length("attachments", event.attachments.len(), MAX_ATTACHMENTS.max(before.attachments.len()))?;
    let had = |url: &Option<String>| before.attachments.iter().any(|attachment| attachment.url == *url);
    for (i, attachment) in event.attachments.iter().enumerate().filter(|(_, one)| !had(&one.url)) {
        let (field, url) = (format!("attachments[{i}].url"), attachment.url.as_deref().unwrap_or_default());
        validate::url(&field, url, &["http", "https", "cid", "mid"], "an http or https URL")?;
    }
    Ok(())
}

fn recurrence(event: &Event) -> Result<()> {
    if event.recurrence.is_empty() {
        return Ok(());
    }
    if matches!(event.event_type, EventType::Occurrence | EventType::Exception) {
        let message = "an instance cannot recur; change the series, or use recurrenceScope thisAndFollowing";
        return Err(invalid(Code::InvalidRecurrence, "recurrence", message));
    }
    validate::recurrence(&event.recurrence, event.all_day)
}
