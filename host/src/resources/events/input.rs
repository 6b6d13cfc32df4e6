//! What a client may write into an event: bounds and formats, checked before the provider is asked, each fault with its field.

use model::calendar::{Event, EventType};

use crate::error::{Code, Result, invalid};
use crate::resources::check::{self, MAX_LINE, MAX_TEXT};

const MAX_ATTENDEES: usize = 500;
const MAX_REMINDERS: usize = 20;
const MAX_ATTACHMENTS: usize = 50;
const MAX_REMINDER_MINUTES: i64 = 40_320;

/// Checks a whole event as it shall be.
pub fn valid(event: &Event) -> Result<()> {
    lengths(event)?;
    people(event)?;
    if let Some(color) = &event.color {
        check::color(color)?;
    }
    reminders(event)?;
    attachments(event)?;
    recurrence(event)?;
    if event.capacity.is_some_and(|n| n < 1) {
        return Err(invalid(Code::InvalidParameter, "capacity", "capacity must be at least 1"));
    }
    Ok(())
}

fn lengths(event: &Event) -> Result<()> {
    let fields = [
        ("title", &event.title, MAX_LINE),
        ("location", &event.location, MAX_LINE),
        ("description", &event.description, MAX_TEXT),
        ("descriptionHtml", &event.description_html, MAX_TEXT),
        ("iCalUid", &event.i_cal_uid, 255),
    ];
    fields.into_iter().try_for_each(|(field, value, max)| check::text(field, value.as_deref(), max))
}

fn people(event: &Event) -> Result<()> {
    check::length("attendees", event.attendees.len(), MAX_ATTENDEES)?;
    for (i, attendee) in event.attendees.iter().enumerate() {
        check::address(&format!("attendees[{i}].email"), &attendee.email)?;
        let twin = event.attendees[..i].iter().any(|a| a.email.eq_ignore_ascii_case(&attendee.email));
        if twin {
            let field = format!("attendees[{i}].email");
            return Err(invalid(Code::InvalidParameter, field.clone(), format!("{field} is there twice")));
        }
    }
    match event.organizer.as_ref().and_then(|o| o.email.as_deref()) {
        Some(email) => check::address("organizer.email", email),
        None => Ok(()),
    }
}

fn reminders(event: &Event) -> Result<()> {
    check::length("reminders.overrides", event.reminders.overrides.len(), MAX_REMINDERS)?;
    for (i, reminder) in event.reminders.overrides.iter().enumerate() {
        if !(0..=MAX_REMINDER_MINUTES).contains(&reminder.minutes_before) {
            let field = format!("reminders.overrides[{i}].minutesBefore");
            let message = format!("{field} must be from 0 to {MAX_REMINDER_MINUTES}");
            return Err(invalid(Code::InvalidParameter, field, message));
        }
    }
    Ok(())
}

fn attachments(event: &Event) -> Result<()> {
    check::length("attachments", event.attachments.len(), MAX_ATTACHMENTS)?;
    for (i, attachment) in event.attachments.iter().enumerate() {
        let (field, url) = (format!("attachments[{i}].url"), attachment.url.as_deref().unwrap_or_default());
        check::url(&field, url, &["http", "https", "cid", "mid"], "an http or https URL")?;
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
    check::recurrence(&event.recurrence, event.all_day)
}
