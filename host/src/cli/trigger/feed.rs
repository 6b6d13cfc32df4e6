//! The sync of the part of an account that an event changes. Events follow only where it was started.

use std::time::Duration;

use anyhow::Result;
use model::sync::Surface;
use serde_json::{Value, json};
use tokio::time::{self, Instant};

use crate::cli::answer_failure::printable;
use crate::cli::output::print_note;
use crate::cli::refusal::failure;
use crate::cli::trigger::session::ApiSession;

/// Time between two reads of a state.
const READ_EVERY: Duration = Duration::from_millis(250);

/// The sync of a mailbox, a calendar, the contacts or a task list.
pub struct SyncFeed {
    /// The words for it in a note.
    name: &'static str,
    start: StartRequest,
    status_path: String,
    /// The list of its items, with the filter by connection where the path does not say it.
    list_path: String,
    list_connection: Option<String>,
}

/// The request that starts a sync.
struct StartRequest {
    path: String,
    body: Value,
}

impl SyncFeed {
    /// Returns the sync that reports what is added to this part of a connection's account.
    ///
    /// # Errors
    /// If the connection has no calendar or no task list, or the key may not read them.
    pub async fn load(session: &ApiSession, surface: Surface, connection_id: &str) -> Result<SyncFeed> {
        Ok(match surface {
            Surface::Email => SyncFeed::of_account("mailbox", "email", "/v1/email/messages", connection_id),
            Surface::Contacts => SyncFeed::of_account("contacts", "contacts", "/v1/contacts", connection_id),
            Surface::Calendar => {
                let is_main = |calendar: &Value| calendar["isPrimary"] == true;
                let id = main_list(session, "/v1/calendars", connection_id, is_main).await?;
                SyncFeed::of_list("main calendar", format!("/v1/calendars/{id}"), "events")
            }
            Surface::Tasks => {
                let is_main = |list: &Value| list["role"] == "default";
                let id = main_list(session, "/v1/task-lists", connection_id, is_main).await?;
                SyncFeed::of_list("main task list", format!("/v1/task-lists/{id}"), "tasks")
            }
        })
    }

    /// The sync of a whole surface of an account.
    fn of_account(name: &'static str, surface: &str, list_path: &str, connection_id: &str) -> SyncFeed {
        let body = json!({ "connectionId": connection_id });
        SyncFeed {
            name,
            start: StartRequest { path: format!("/v1/{surface}/sync/start"), body },
            status_path: format!("/v1/{surface}/sync/status/{connection_id}"),
            list_path: list_path.to_owned(),
            list_connection: Some(connection_id.to_owned()),
        }
    }

    /// The sync of a calendar or a task list.
    fn of_list(name: &'static str, path: String, items: &str) -> SyncFeed {
        SyncFeed {
            name,
            start: StartRequest { path: format!("{path}/sync/start"), body: json!({}) },
            status_path: format!("{path}/sync/status"),
            list_path: format!("{path}/{items}"),
            list_connection: None,
        }
    }

    /// Starts the sync if it was not started, and waits until the copy has all changes: what a first sync finds is no new event.
    ///
    /// # Errors
    /// If the sync cannot be started, fails, or is not done at the deadline.
    pub async fn catch_up(&self, session: &ApiSession, deadline: Instant) -> Result<()> {
        let before = session.get(&self.status_path, &[]).await?;
        // A copy that was only read has a state too; starting again changes nothing.
        let mut state = session.post(&self.start.path, &self.start.body).await?;
        if before["status"] == "idle" {
            print_note(&format!("started the sync of the {}: events follow only where it runs", self.name));
        }
        loop {
            let status = state["status"].as_str().unwrap_or_default().to_owned();
            match status.as_str() {
                "caught_up" => return Ok(()),
                "blocked" | "error" => return Err(self.failed(&state)),
                _ if Instant::now() >= deadline => return Err(self.late(&status)),
                _ => time::sleep(READ_EVERY).await,
            }
            state = session.get(&self.status_path, &[]).await?;
        }
    }

    /// Has the provider asked for changes now, instead of when its notification comes. Whether that succeeds shows in the event.
    pub async fn refresh(&self, session: &ApiSession) {
        let mut query = vec![("fresh", "true"), ("limit", "1")];
        if let Some(id) = &self.list_connection {
            query.push(("connection_id", id.as_str()));
        }
        let _ = session.get(&self.list_path, &query).await;
    }

    fn failed(&self, state: &Value) -> anyhow::Error {
        let why = state["lastError"]["message"].as_str().map(printable);
        let why = why.unwrap_or_else(|| "the connection is not active".to_owned());
        failure(
            format!("the sync of the {} fails: {why}", self.name),
            "`switchboard api GET /v1/connections` shows the state of the connection; --connection names another one",
        )
    }

    fn late(&self, status: &str) -> anyhow::Error {
        failure(
            format!("the sync of the {} is not done yet ({})", self.name, printable(status)),
            "run the command again, or wait longer with --wait",
        )
    }
}

/// The id of the main list among those of a connection, or else of the first one.
async fn main_list(
    session: &ApiSession,
    path: &str,
    connection_id: &str,
    is_main: impl Fn(&Value) -> bool,
) -> Result<String> {
    let lists = session.list(path, &[("connection_id", connection_id)]).await?;
    let found = lists.iter().find(|list| is_main(list)).or(lists.first());
    match found.and_then(|list| list["id"].as_str()) {
        Some(id) => Ok(id.to_owned()),
        None => Err(failure(
            format!("the connection {} has nothing at {path}", printable(connection_id)),
            "name another connection with --connection",
        )),
    }
}
