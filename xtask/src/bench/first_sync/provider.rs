//! The synced account: filled once, by the API of the sandbox provider. Each server begins with a copy of the provider's file.

use std::path::PathBuf;

use anyhow::{Result, anyhow, ensure};
use serde_json::{Value, json};
use ureq::Agent;
use ureq::http::Request;

use crate::bench::mail::messages;
use crate::bench::rig::Rig;

pub const MESSAGES: usize = 10_000;
pub const EVENTS: usize = 5_000;
pub const CONTACTS: usize = 10_000;

/// The provider's file, below the data directory of the server that serves the provider.
pub const JOURNAL: &str = "sandbox/journal.jsonl";

/// The provider's token of the account.
const TOKEN: &str = "sandbox-bench";
/// Clients that fill the account at once.
const CLIENTS: usize = 16;

/// A record to create at the provider.
struct NewRecord {
    path: String,
    content_type: &'static str,
    body: Vec<u8>,
}

/// Fills the account, stops the provider's server, and returns the provider's file.
pub fn fill(rig: &Rig) -> Result<PathBuf> {
    let folder = rig.folder("first-sync-provider")?;
    let server = rig.server(&folder, &[])?;
    post_all(&server.url, MESSAGES, message)?;
    post_all(&server.url, EVENTS, event)?;
    post_all(&server.url, CONTACTS, contact)?;
    server.stop()?;
    Ok(folder.join(JOURNAL))
}

fn post_all(url: &str, count: usize, record: fn(usize) -> NewRecord) -> Result<()> {
    std::thread::scope(|scope| {
        let client = |first: usize| {
            move || -> Result<()> {
                let agent: Agent =
                    Agent::config_builder().http_status_as_error(false).proxy(None).build().into();
                for number in (first..count).step_by(CLIENTS) {
                    post(&agent, url, record(number))?;
                }
                Ok(())
            }
        };
        let clients: Vec<_> = (0..CLIENTS).map(|first| scope.spawn(client(first))).collect();
        clients.into_iter().try_for_each(|c| c.join().map_err(|_| anyhow!("a client panicked"))?)
    })
}

fn post(agent: &Agent, url: &str, record: NewRecord) -> Result<()> {
    let NewRecord { path, content_type, body } = record;
    let request = Request::builder()
        .method("POST")
        .uri(format!("{url}{path}"))
        .header("authorization", format!("Bearer {TOKEN}"))
        .header("content-type", content_type);
    let mut response = agent.run(request.body(body)?)?;
    let text = response.body_mut().read_to_string()?;
    ensure!(response.status().as_u16() == 201, "POST {path}: {} {text}", response.status());
    Ok(())
}

/// Returns an instant of 2026, later for a higher number.
fn instant(number: usize, minutes_after: usize) -> String {
    let (day, minute) = (number / 72, number % 72 * 20 + minutes_after);
    // Months of 28 days, which all months have.
    let (month, day) = (1 + day / 28, 1 + day % 28);
    format!("2026-{month:02}-{day:02}T{:02}:{:02}:00Z", minute / 60, minute % 60)
}

fn message(number: usize) -> NewRecord {
    NewRecord {
        path: format!("/sandbox/v1/mail/messages?receivedAt={}", instant(number, 0)),
        content_type: "message/rfc822",
        body: messages::message(number),
    }
}

/// A record of the account's calendar or address book.
fn record(path: &str, body: &Value) -> NewRecord {
    NewRecord {
        path: format!("/sandbox/v1/{path}"),
        content_type: "application/json",
        body: body.to_string().into_bytes(),
    }
}

fn event(number: usize) -> NewRecord {
    let event = json!({
        "start": instant(number, 0),
        "end": instant(number, 15),
        "timeZone": "Europe/Berlin",
        "title": format!("Event {number}"),
        "location": format!("Room {}", number % 20),
        "description": "Please bring the figures of last week.",
        "attendees": [{ "email": format!("person{}@example.org", number % 200), "name": format!("Person {}", number % 200) }],
    });
    record("calendars/work/events", &event)
}

fn contact(number: usize) -> NewRecord {
    let card = json!({
        "type": "contact",
        "givenName": format!("Given {number}"),
        "familyName": format!("Family {}", number % 100),
        "emails": [{ "value": format!("card{number}@example.org"), "type": "work" }],
        "phones": [{ "value": format!("+49 30 {number:07}"), "type": "mobile" }],
        "organizations": [{ "name": "Example AG", "title": "Engineer" }],
    });
    record("books/contacts/cards", &card)
}
