//! The content of the account, which fills the fake before the measurements.

use anyhow::{Context, Result};
use serde_json::json;

use crate::bench::mail::messages;
use crate::bench::providers::fake::{ProviderFake, USER};

/// Minutes from one message to the next.
const MINUTES_APART: i64 = 20;
/// The time of the first message in Unix milliseconds: 2025-01-01T00:00:00Z.
const FIRST_MESSAGE_MS: i64 = 1_735_689_600_000;

/// Limits the user's mailbox to this many units a minute.
pub fn limit_mail(google: &ProviderFake, units: u32) -> Result<()> {
    google.post(&format!("mail/{USER}/units"), &json!({ "limit": units })).map(|_| ())
}

/// Puts this many messages into the inbox, the newest last. None is a reply: each is a separate thread.
pub fn put_messages(google: &ProviderFake, count: usize) -> Result<()> {
    for number in 0..count {
        let raw = String::from_utf8(messages::message(number)).context("a message is text")?;
        let is_reference = |line: &&str| line.starts_with("In-Reply-To:") || line.starts_with("References:");
        let raw: String = raw.split_inclusive('\n').filter(|line| !is_reference(line)).collect();
        let at = FIRST_MESSAGE_MS + i64::try_from(number)? * MINUTES_APART * 60_000;
        let message = json!({ "raw": raw, "labels": ["INBOX"], "at": at });
        google.post(&format!("mail/{USER}/messages"), &message)?;
    }
    Ok(())
}

/// Adds a calendar of the user's with this many events, and returns its id at Google.
pub fn add_calendar(google: &ProviderFake, number: usize, events: usize) -> Result<String> {
    let id = format!("bench{number}@group.calendar.google.com");
    let calendar =
        json!({ "owner": USER, "id": id, "summary": format!("Calendar {number}"), "timeZone": "UTC" });
    google.post("calendars", &calendar)?;
    put_events(google, &id, events)?;
    Ok(id)
}

/// Adds a colleague's calendar with this many events, of which the user sees only the busy times.
pub fn add_hidden_calendar(google: &ProviderFake, number: usize, events: usize) -> Result<()> {
    let email = format!("colleague{number}@example.com");
    google.add_user(&email, &format!("Colleague {number}"))?;
    put_events(google, &email, events)?;
    let entry = json!({ "user": USER, "calendar": email, "role": "freeBusyReader" });
    google.post("subscriptions", &entry).map(|_| ())
}

fn put_events(google: &ProviderFake, calendar: &str, count: usize) -> Result<()> {
    for number in 0..count {
        let (day, slot) = (number / 24 % 28 + 1, number % 24);
        let month = number / (24 * 28) % 12 + 1;
        let at = |minute: usize| json!({ "dateTime": format!("2027-{month:02}-{day:02}T{slot:02}:{minute:02}:00Z"), "timeZone": "UTC" });
        let event = json!({
            "summary": format!("Event {number}"),
            "location": format!("Room {}", number % 20),
            "description": "Please bring the figures of last week.",
            "start": at(0),
            "end": at(30),
        });
        google.post(&format!("events/{calendar}"), &event)?;
    }
    Ok(())
}

/// Puts this many contacts and as many tasks into the account.
pub fn put_contacts_and_tasks(google: &ProviderFake, count: usize) -> Result<()> {
    for number in 0..count {
        let contact = json!({
            "names": [{ "givenName": format!("Given {number}"), "familyName": "Example" }],
            "emailAddresses": [{ "value": format!("card{number}@example.org") }],
        });
        google.post(&format!("people/{USER}/contacts"), &contact)?;
        google.post(&format!("tasks/{USER}"), &json!({ "title": format!("Task {number}") }))?;
    }
    Ok(())
}
