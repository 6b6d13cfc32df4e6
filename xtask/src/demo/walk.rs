//! The main job, request by request: connect, list, create (twice with one Idempotency-Key), change, use a stale etag, sync, delete. The
//! mailbox is in `mail`, OAuth in `oauth`, contacts and tasks in `people`, a webhook in `webhooks`, a booking in `scheduling`. Each
//! response is checked, and the first unexpected one ends the walk.

use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::http::{Answer, Client, render_body};

/// The time limit of the first scan of an account.
const FIRST_SYNC: Duration = Duration::from_secs(120);

/// One walk: the client, the account to connect, and the ids so far.
pub struct Walk {
    client: Client,
    connect: Value,
    connection: String,
    account: Value,
    calendar: String,
    event: String,
    number: usize,
}

impl Walk {
    /// Creates a walk over the account in `connect`, the body of `POST /v1/connections`.
    pub fn new(client: Client, connect: Value) -> Walk {
        let none = String::new;
        Walk {
            client,
            connect,
            connection: none(),
            account: Value::Null,
            calendar: none(),
            event: none(),
            number: 0,
        }
    }

    /// Runs the whole walk, and returns the id of the connection, which is kept.
    pub fn run(mut self) -> Result<String> {
        let own_calendar = self.connect["provider"] != "sandbox";
        self.connect()?;
        if !own_calendar {
            self.connect_by_oauth()?;
        }
        if self.has("email") {
            self.write_to_oneself()?;
        }
        if !self.has("calendar") {
            return Ok(self.connection);
        }
        self.choose_calendar(own_calendar)?;
        self.list_events()?;
        let created = self.create_event()?;
        let etag = self.change_event(&created)?;
        let cursor = self.first_sync()?;
        let (etag, cursor) = self.change_and_sync(&etag, &cursor)?;
        self.delete_and_sync(&etag, &cursor)?;
        self.hear_of_an_event()?;
        self.be_booked()?;
        if own_calendar {
            let path = format!("/v1/calendars/{}", self.calendar);
            self.ask("Delete the calendar again", "DELETE", &path, &[], None)?.expect(&[204])?;
        }
        self.meet_somebody()?;
        self.do_something()?;
        Ok(self.connection)
    }

    /// The id of the connection.
    pub fn connection(&self) -> &str {
        &self.connection
    }

    fn has(&self, surface: &str) -> bool {
        self.account["surfaces"].as_array().is_some_and(|all| all.iter().any(|s| s == surface))
    }

    /// Returns the address of the account: the provider's, else the login name.
    pub fn address(&self) -> String {
        let known = self.account["email"].as_str();
        known.or(self.connect["credentials"]["username"].as_str()).unwrap_or_default().to_owned()
    }

    /// Returns whether the provider names the address.
    pub fn is_address_known(&self) -> bool {
        self.account["email"].is_string()
    }

    fn connect(&mut self) -> Result<()> {
        let body = self.connect.clone();
        let answer = self.ask("Connect an account", "POST", "/v1/connections", &[], Some(&body))?;
        let connection = answer.expect(&[201])?;
        ensure!(connection["status"] == "active", "the connection is not active");
        self.connection = text(&connection, "id")?;
        self.account = connection;
        Ok(())
    }

    /// Chooses the calendar: the sandbox account's own; on a real server a new one, so that user data stays unchanged.
    fn choose_calendar(&mut self, own: bool) -> Result<()> {
        if own {
            let body = json!({ "connection_id": self.connection, "name": "Switchboard demo" });
            let answer =
                self.ask("Create a calendar for the demo", "POST", "/v1/calendars", &[], Some(&body))?;
            self.calendar = text(&answer.expect(&[201])?, "id")?;
        }
        let path = format!("/v1/calendars?connection_id={}", self.connection);
        let calendars = self.ask("List the calendars", "GET", &path, &[], None)?.expect(&[200])?;
        let calendars = list(&calendars)?;
        if own {
            ensure!(
                calendars.iter().any(|c| c["id"] == *self.calendar),
                "the new calendar is not in the list"
            );
            return Ok(());
        }
        let writable = calendars.iter().filter(|c| c["readOnly"] == false);
        let chosen = writable
            .max_by_key(|c| c["isPrimary"] == true)
            .context("the account has no calendar to write to")?;
        self.calendar = text(chosen, "id")?;
        Ok(())
    }

    fn list_events(&mut self) -> Result<()> {
        let path = format!("{}?limit=5", self.events());
        let answer = self.ask("List events", "GET", &path, &[], None)?;
        ensure!(!answer.header("x-request-id").is_empty(), "there is no x-request-id");
        ensure!(!answer.header("x-ratelimit-remaining").is_empty(), "there is no x-ratelimit-remaining");
        list(&answer.expect(&[200])?).map(|_| ())
    }

    /// Creates an event and repeats the request, as a client does that lost the first response.
    fn create_event(&mut self) -> Result<Value> {
        let body = json!({
            "connection_id": self.connection,
            "title": "Planning",
            "start": "2030-01-15T09:00:00Z",
            "end": "2030-01-15T10:00:00Z",
            "timeZone": "Europe/Berlin",
            "location": "Room 4",
        });
        let path = self.events();
        let key = [("idempotency-key", "demo-create-1")];
        let created = self.ask("Create an event", "POST", &path, &key, Some(&body))?;
        ensure!(
            created.header("etag") == created.body["etag"].as_str().unwrap_or("none"),
            "header and body differ in the etag"
        );
        let created = created.expect(&[201])?;
        self.event = text(&created, "id")?;
        let title = "The same request with the same key again: the first answer, no second event";
        let again = self.ask(title, "POST", &path, &key, Some(&body))?;
        ensure!(
            again.header("idempotent-replayed") == "true",
            "the answer is not marked idempotent-replayed"
        );
        ensure!(again.expect(&[201])? == created, "the second answer differs from the first");
        Ok(created)
    }

    /// Changes the event with its etag, then once more with the etag that is now stale; returns the current one.
    fn change_event(&mut self, created: &Value) -> Result<String> {
        let stale = text(created, "etag")?;
        let body = json!({ "title": "Planning, moved", "end": "2030-01-15T10:30:00Z" });
        let path = self.event();
        let changed =
            self.ask("Change it, if unchanged since", "PATCH", &path, &[("if-match", &stale)], Some(&body))?;
        let changed = changed.expect(&[200])?;
        ensure!(changed["title"] == "Planning, moved", "the title did not change");
        let etag = text(&changed, "etag")?;
        ensure!(etag != stale, "the etag did not change");
        let body = json!({ "title": "Lost update" });
        let title = "Change it with the old etag: refused";
        let refused =
            self.ask(title, "PATCH", &path, &[("if-match", &stale)], Some(&body))?.expect(&[409])?;
        ensure!(refused["error"]["code"] == "stale_etag", "the code is not stale_etag");
        ensure!(refused["error"]["current_etag"] == *etag, "current_etag is not the current etag");
        let event = self.ask("Read it", "GET", &path, &[], None)?.expect(&[200])?;
        ensure!(
            event["title"] == "Planning, moved" && event["etag"] == *etag,
            "the refused change left a trace"
        );
        Ok(etag)
    }

    /// Starts the sync and reads the feed from its beginning until it is up to date; returns the cursor to continue from.
    fn first_sync(&mut self) -> Result<String> {
        let path = format!("/v1/calendars/{}/sync/start", self.calendar);
        let body = json!({ "connection_id": self.connection });
        self.ask("Start incremental sync", "POST", &path, &[], Some(&body))?.expect(&[200, 202])?;
        let start = Instant::now();
        let mut cursor = None;
        let mut seen = false;
        loop {
            let page = self.changes("Read the changes, from the beginning", cursor.as_deref())?;
            seen |= self.mine(&page)?.is_some();
            cursor = Some(text(&page, "sync_cursor")?);
            if page["next_cursor"].is_string() {
                cursor = Some(text(&page, "next_cursor")?);
            } else if seen && page["sync_status"] == "caught_up" {
                return text(&page, "sync_cursor");
            } else if start.elapsed() > FIRST_SYNC {
                bail!("sync had not caught up after {} s (event seen: {seen})", FIRST_SYNC.as_secs());
            } else {
                sleep(Duration::from_millis(300));
            }
        }
    }

    fn change_and_sync(&mut self, etag: &str, cursor: &str) -> Result<(String, String)> {
        let body = json!({ "title": "Planning, with minutes", "etag": etag });
        let changed = self
            .ask("Change the event (etag in the body)", "PATCH", &self.event(), &[], Some(&body))?
            .expect(&[200])?;
        let page = self.changes("What changed since? This event, once", Some(cursor))?;
        let change = self.mine(&page)?.context("the change is not in the feed")?;
        ensure!(list(&page)?.len() == 1, "the feed has more than the one change");
        ensure!(change["changeType"] == "updated", "the change is not an update");
        ensure!(
            change["resource"]["title"] == "Planning, with minutes",
            "the feed has an old state of the event"
        );
        Ok((text(&changed, "etag")?, text(&page, "sync_cursor")?))
    }

    fn delete_and_sync(&mut self, etag: &str, cursor: &str) -> Result<()> {
        let path = self.event();
        self.ask("Delete the event", "DELETE", &path, &[("if-match", etag)], None)?.expect(&[204])?;
        let page = self.changes("What changed since? It is gone", Some(cursor))?;
        let change = self.mine(&page)?.context("the deletion is not in the feed")?;
        ensure!(change["changeType"] == "deleted", "the change is not a deletion");
        let cursor = text(&page, "sync_cursor")?;
        let page = self.changes("And since then? Nothing", Some(&cursor))?;
        ensure!(list(&page)?.is_empty(), "the feed repeats itself");
        let gone = self.ask("Read the deleted event: not found", "GET", &path, &[], None)?.expect(&[404])?;
        ensure!(gone["error"]["code"] == "not_found", "the code is not not_found");
        Ok(())
    }

    /// Returns one page of the calendar's change feed.
    fn changes(&mut self, title: &str, cursor: Option<&str>) -> Result<Value> {
        let mut path = format!("/v1/calendars/{}/sync/changes", self.calendar);
        if let Some(cursor) = cursor {
            path += &format!("?cursor={cursor}");
        }
        self.ask(title, "GET", &path, &[], None)?.expect(&[200])
    }

    /// Returns the change of our event on this page, if there is one.
    fn mine<'a>(&self, page: &'a Value) -> Result<Option<&'a Value>> {
        Ok(list(page)?.iter().find(|change| change["resourceId"] == *self.event))
    }

    /// The id of the demo's calendar.
    pub fn calendar(&self) -> &str {
        &self.calendar
    }

    /// The path of the events of the demo's calendar.
    pub fn events(&self) -> String {
        format!("/v1/calendars/{}/events", self.calendar)
    }

    fn event(&self) -> String {
        format!("/v1/calendars/{}/events/{}", self.calendar, self.event)
    }

    /// Sends a request and shows both sides of it.
    pub fn ask(
        &mut self,
        title: &str,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Result<Answer> {
        self.number += 1;
        println!("\n── {}. {title}\n{method} {path}", self.number);
        for (name, value) in headers {
            println!("{name}: {value}");
        }
        if let Some(body) = body {
            println!("{}", render_body(&hide_password(body)));
        }
        let answer = self.client.send(method, path, headers, body)?;
        println!("\n{} ({} ms)", answer.status, answer.took.as_millis());
        for name in ["etag", "idempotent-replayed", "retry-after", "x-ratelimit-remaining", "x-request-id"] {
            let value = answer.header(name);
            if !value.is_empty() {
                println!("{name}: {value}");
            }
        }
        println!("{}", render_body(&answer.body));
        Ok(answer)
    }
}

/// Renders a body for display, without the password.
fn hide_password(body: &Value) -> Value {
    let mut body = body.clone();
    if let Some(password) = body.pointer_mut("/credentials/password") {
        *password = Value::String("…".to_owned());
    }
    body
}

pub fn text(value: &Value, field: &str) -> Result<String> {
    Ok(value[field]
        .as_str()
        .with_context(|| format!("there is no {field} in:\n{}", render_body(value)))?
        .to_owned())
}

pub fn list(value: &Value) -> Result<&Vec<Value>> {
    value["data"].as_array().with_context(|| format!("there is no data in:\n{}", render_body(value)))
}
