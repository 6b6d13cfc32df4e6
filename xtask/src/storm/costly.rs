//! The content of an attacker's account that is costly to answer for: hourly series, a series with a long description, and a provider
//! that is down.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::http::Client;
use crate::server::Server;

/// Hourly series of one calendar.
const SERIES: u32 = 4;
/// Targets of one free/busy request: as many as it takes.
const TARGETS: usize = 50;
/// Bytes of each of the two forms of a description, plain and HTML: 0.5 MB together.
const DESCRIPTION: usize = 250_000;
/// The account at the provider that is down.
const DOWN: &str = "down-for-long";

/// Requests, ready to be sent.
pub struct Costly {
    /// The body of a free/busy request.
    pub free_busy: String,
    /// The path of the instances of a series with a long description.
    pub expansion: String,
    /// The path of the events of a calendar whose provider is down.
    pub down: String,
}

impl Costly {
    /// Makes all of it in the account of `connection`, which is the provider's `attacker`.
    pub fn make(server: &Server, client: &Client, connection: &str) -> Result<Costly> {
        let free_busy = hourly(client, connection)?;
        let expansion = create_described_series(server, client, connection)?;
        Ok(Costly { free_busy, expansion, down: down(server, client)? })
    }
}

fn post(client: &Client, path: &str, body: &Value) -> Result<Value> {
    client.send("POST", path, &[], Some(body))?.expect(&[201])
}

fn id(made: &Value) -> Result<String> {
    Ok(made["id"].as_str().context("no id")?.to_owned())
}

/// An event of half an hour, some minutes after midnight.
pub fn event(minutes: u32) -> Value {
    json!({ "title": "x", "start": format!("2030-01-01T00:{minutes:02}:00Z"),
        "end": format!("2030-01-01T00:{:02}:00Z", minutes + 30) })
}

fn hourly(client: &Client, connection: &str) -> Result<String> {
    let made = json!({ "connectionId": connection, "name": "Hourly" });
    let calendar = id(&post(client, "/v1/calendars", &made)?)?;
    for number in 0..SERIES {
        let mut series = event(number * 5);
        series["timeZone"] = json!("UTC");
        series["recurrence"] = json!(["RRULE:FREQ=HOURLY"]);
        post(client, &format!("/v1/calendars/{calendar}/events"), &series)?;
    }
    let target = json!({ "connectionId": connection, "calendarIds": [calendar] });
    let query = json!({ "start": "2030-01-01T00:00:00Z", "end": "2030-04-01T00:00:00Z", "targets": vec![target; TARGETS] });
    Ok(query.to_string())
}

/// Makes the series at the provider, which allows longer texts than the API.
fn create_described_series(server: &Server, client: &Client, connection: &str) -> Result<String> {
    let provider = Client::new(&server.url, "sandbox-attacker");
    let made = json!({ "name": "Described", "timeZone": "UTC" });
    let theirs = id(&post(&provider, "/sandbox/v1/calendars", &made)?)?;
    let at = |hour: u8| json!(format!("2030-01-01T{hour:02}:00:00Z"));
    let long = "a word ".repeat(DESCRIPTION / 7);
    let series = json!({ "title": "Series", "start": at(11), "end": at(12), "timeZone": "UTC", "recurrence": ["RRULE:FREQ=DAILY"],
        "description": long, "descriptionHtml": format!("<p>{long}</p>") });
    post(&provider, &format!("/sandbox/v1/calendars/{theirs}/events"), &series)?;
    let calendars = client.get(&format!("/v1/calendars?connection_id={connection}&limit=200"))?;
    let mut calendars = calendars["data"].as_array().context("no list")?.iter();
    let calendar =
        id(calendars.find(|one| one["name"] == "Described").context("the calendar is not listed")?)?;
    let events = format!("/v1/calendars/{calendar}/events");
    let listed = client.get(&events)?;
    anyhow::ensure!(listed["data"].as_array().is_some_and(|all| all.len() == 1), "the series is not listed");
    Ok(format!("{events}?start=2030-01-01T00:00:00Z&end=2030-12-31T00:00:00Z&expand=true&limit=200"))
}

/// Makes a calendar at a provider that is down from now on and asks for a minute's pause.
fn down(server: &Server, client: &Client) -> Result<String> {
    let account = json!({ "provider": "sandbox", "scopes": ["calendar.read", "calendar.write"],
        "credentials": { "username": format!("{DOWN}@sandbox.test"), "password": "sandbox" } });
    let connection = id(&post(client, "/v1/connections", &account)?)?;
    let made = json!({ "connectionId": connection, "name": "Away" });
    let calendar = id(&post(client, "/v1/calendars", &made)?)?;
    let fault = json!({ "status": 503, "retryAfterS": 60, "times": 1_000 });
    post(&Client::new(&server.url, &format!("sandbox-{DOWN}")), "/sandbox/faults", &fault)?;
    Ok(format!("/v1/calendars/{calendar}/events"))
}
