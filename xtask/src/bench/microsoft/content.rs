//! The content of the account, which fills the fake before the measurements.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::bench::mail::messages;
use crate::bench::providers::fake::{ProviderFake, USER};

/// Minutes from one message to the next.
const MINUTES_APART: i64 = 20;
/// The time of the first message in Unix milliseconds: 2025-01-01T00:00:00Z.
const FIRST_MESSAGE_MS: i64 = 1_735_689_600_000;

/// Puts this many messages into folders in turn, the newest last; into the inbox where there are no folders.
pub fn put_messages(graph: &ProviderFake, count: usize, folders: &[String]) -> Result<()> {
    for number in 0..count {
        let raw = String::from_utf8(messages::message(number)).context("a message is text")?;
        let at = FIRST_MESSAGE_MS + i64::try_from(number)? * MINUTES_APART * 60_000;
        let folder = number.checked_rem(folders.len()).and_then(|at| folders.get(at));
        let folder = folder.map_or("inbox", String::as_str);
        graph.post(&format!("mail/{USER}/messages"), &json!({ "raw": raw, "folder": folder, "at": at }))?;
    }
    Ok(())
}

/// Adds this many mail folders, and returns their ids.
pub fn add_folders(graph: &ProviderFake, count: usize) -> Result<Vec<String>> {
    let add = |number: usize| {
        let folder = json!({ "name": format!("Folder {number}") });
        id_of(&graph.post(&format!("mail/{USER}/folders"), &folder)?)
    };
    (0..count).map(add).collect()
}

/// Adds a calendar of the user's with this many events, and returns its id at Graph.
pub fn add_calendar(graph: &ProviderFake, number: usize, events: usize) -> Result<String> {
    let calendar = json!({ "user": USER, "name": format!("Calendar {number}") });
    let id = id_of(&graph.post("calendar/calendars", &calendar)?)?;
    for number in 0..events {
        let (day, slot) = (number / 24 % 28 + 1, number % 24);
        let month = number / (24 * 28) % 12 + 1;
        let at = |minute: usize| json!({ "dateTime": format!("2027-{month:02}-{day:02}T{slot:02}:{minute:02}:00"), "timeZone": "UTC" });
        let event = json!({
            "subject": format!("Event {number}"),
            "location": { "displayName": format!("Room {}", number % 20) },
            "body": { "contentType": "text", "content": "Please bring the figures of last week." },
            "start": at(0),
            "end": at(30),
        });
        graph.post("calendar/events", &json!({ "user": USER, "calendar": id, "event": event }))?;
    }
    Ok(id)
}

/// Puts this many contacts and as many tasks into the account.
pub fn put_contacts_and_tasks(graph: &ProviderFake, count: usize) -> Result<()> {
    for number in 0..count {
        let address = json!({ "address": format!("card{number}@example.org"), "name": "Work" });
        let contact = json!({ "givenName": format!("Given {number}"), "surname": "Example", "emailAddresses": [address] });
        graph.post(&format!("contacts/{USER}/contacts"), &json!({ "contact": contact }))?;
        let task = json!({ "title": format!("Task {number}") });
        graph.post(&format!("todo/{USER}/tasks"), &json!({ "task": task }))?;
    }
    Ok(())
}

/// Lets the account make this many calls for a kind of data a minute; Graph refuses more.
pub fn limit_calls(graph: &ProviderFake, surface: &str, calls: u32) -> Result<()> {
    graph.post("limits", &json!({ "user": USER, "surface": surface, "calls": calls })).map(|_| ())
}

fn id_of(answer: &Value) -> Result<String> {
    Ok(answer["id"].as_str().context("the fake gives no id")?.to_owned())
}
