//! What a client may write into an event: bounds and formats, checked before the provider is asked, each fault with its field.

use model::calendar::{Event, EventType};

use crate::error::{Code, Result, invalid};

const MAX_TITLE: usize = 1_024;
const MAX_TEXT: usize = 65_536;
const MAX_ATTENDEES: usize = 500;
const MAX_LINES: usize = 50;
const MAX_REMINDERS: usize = 20;
const MAX_ATTACHMENTS: usize = 50;
const MAX_REMINDER_MINUTES: i64 = 40_320;

/// Checks a whole event as it shall be.
pub fn check(event: &Event) -> Result<()> {
    lengths(event)?;
    people(event)?;
    if let Some(color) = &event.color {
        self::color(color)?;
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
        ("title", &event.title, MAX_TITLE),
        ("location", &event.location, MAX_TITLE),
        ("description", &event.description, MAX_TEXT),
        ("descriptionHtml", &event.description_html, MAX_TEXT),
        ("iCalUid", &event.i_cal_uid, 255),
    ];
    for (field, value, max) in fields {
        if value.as_ref().is_some_and(|text| text.chars().count() > max) {
            let message = format!("{field} may have at most {max} characters");
            return Err(invalid(Code::InvalidParameter, field, message));
        }
        if value.as_ref().is_some_and(|text| text.contains('\0')) {
            return Err(invalid(Code::InvalidParameter, field, format!("{field} must not contain NUL")));
        }
    }
    Ok(())
}

fn people(event: &Event) -> Result<()> {
    if event.attendees.len() > MAX_ATTENDEES {
        let message = format!("an event may have at most {MAX_ATTENDEES} attendees");
        return Err(invalid(Code::InvalidParameter, "attendees", message));
    }
    for (i, attendee) in event.attendees.iter().enumerate() {
        address(&format!("attendees[{i}].email"), &attendee.email)?;
        let twin = event.attendees[..i].iter().any(|a| a.email.eq_ignore_ascii_case(&attendee.email));
        if twin {
            let field = format!("attendees[{i}].email");
            return Err(invalid(Code::InvalidParameter, field.clone(), format!("{field} is there twice")));
        }
    }
    match event.organizer.as_ref().and_then(|o| o.email.as_deref()) {
        Some(email) => address("organizer.email", email),
        None => Ok(()),
    }
}

/// An address that can stand in a mailto URI: something, an @, something, and nothing that would break out of a line.
fn address(field: &str, email: &str) -> Result<()> {
    let fits = email.len() <= 320
        && email.split_once('@').is_some_and(|(local, domain)| !local.is_empty() && !domain.is_empty())
        && !email
            .chars()
            .any(|c| c.is_control() || c.is_whitespace() || matches!(c, '<' | '>' | '"' | ',' | ';'));
    if fits {
        Ok(())
    } else {
        Err(invalid(Code::InvalidParameter, field, format!("{field} must be an e-mail address")))
    }
}

/// `#rrggbb`.
pub fn color(color: &str) -> Result<()> {
    let fits =
        color.len() == 7 && color.starts_with('#') && color[1..].bytes().all(|b| b.is_ascii_hexdigit());
    if fits { Ok(()) } else { Err(invalid(Code::InvalidParameter, "color", "color must look like #1a2b3c")) }
}

fn reminders(event: &Event) -> Result<()> {
    if event.reminders.overrides.len() > MAX_REMINDERS {
        let message = format!("an event may have at most {MAX_REMINDERS} reminders");
        return Err(invalid(Code::InvalidParameter, "reminders.overrides", message));
    }
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
    if event.attachments.len() > MAX_ATTACHMENTS {
        let message = format!("an event may have at most {MAX_ATTACHMENTS} attachments");
        return Err(invalid(Code::InvalidParameter, "attachments", message));
    }
    for (i, attachment) in event.attachments.iter().enumerate() {
        let fits = attachment.url.as_deref().is_some_and(|u| {
            u.len() <= 2048
                && url::Url::parse(u).is_ok_and(|u| matches!(u.scheme(), "http" | "https" | "cid" | "mid"))
        });
        if !fits {
            let field = format!("attachments[{i}].url");
            return Err(invalid(
                Code::InvalidUrl,
                field.clone(),
                format!("{field} must be an http or https URL"),
            ));
        }
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
    if event.recurrence.len() > MAX_LINES {
        let message = format!("recurrence may have at most {MAX_LINES} lines");
        return Err(invalid(Code::InvalidRecurrence, "recurrence", message));
    }
    recurrence::validate(&event.recurrence, event.all_day).map_err(|e| {
        let at = event.recurrence.iter().position(|l| l.starts_with(&e.line));
        let field = at.map_or("recurrence".to_owned(), |i| format!("recurrence[{i}]"));
        invalid(Code::InvalidRecurrence, field, e.to_string())
    })
}
