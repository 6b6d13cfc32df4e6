//! The event that follows from an item that was added: read from the stream of the server.

use std::time::Duration;

use anyhow::{Context, Result};
use runtime::event_stream::{Item, Parser};
use serde_json::Value;
use tokio::time::{self, Instant};

use crate::cli::listen::source::{EventStream, Source, StreamPosition, StreamRefusal};
use crate::cli::refusal::{SERVER_FAILED, exit_failure, failure};
use crate::cli::server_options::ServerAccess;

/// Longest line of the stream, and most data of one event.
const MAX_EVENT_BYTES: usize = 1 << 20;
/// The fields that hold the title of a resource.
const TITLES: [&str; 3] = ["title", "subject", "displayName"];

/// An open stream of the events of one type and one connection.
pub struct EventReader {
    stream: EventStream,
    parser: Parser,
}

impl EventReader {
    /// Opens the stream, which begins with events that happen from now on.
    ///
    /// # Errors
    /// If the server refuses it, or cannot be reached.
    pub async fn open(access: &ServerAccess, event_type: &str, connection_id: &str) -> Result<EventReader> {
        let (types, connections) = ([event_type.to_owned()], [connection_id.to_owned()]);
        let source = Source::new(access.client.clone(), &access.server, access.key()?, &types, &connections)?;
        let stream = source.open(&StreamPosition::Now).await.map_err(|refusal| match refusal {
            StreamRefusal::ForGood(error) => error,
            StreamRefusal::ForNow { why, .. } => exit_failure(SERVER_FAILED, why, "try again in a minute"),
        })?;
        Ok(EventReader { stream, parser: Parser::new(MAX_EVENT_BYTES) })
    }

    /// Returns the event whose resource has this title.
    ///
    /// # Errors
    /// If it does not come before the deadline.
    pub async fn find(&mut self, title: &str, wait: Duration) -> Result<Value> {
        let found = time::timeout_at(Instant::now() + wait, self.read(title)).await;
        found.unwrap_or_else(|_| {
            Err(failure(
                format!("\"{title}\" was added, but its event did not come within {} s", wait.as_secs()),
                "wait longer with --wait; `switchboard listen` shows the event when it comes",
            ))
        })
    }

    async fn read(&mut self, title: &str) -> Result<Value> {
        loop {
            let piece = self.stream.piece().await;
            let piece = piece.map_err(|why| exit_failure(SERVER_FAILED, why, "run the command again"))?;
            let Some(piece) = piece else {
                return Err(failure("the server ended the stream of events", "run the command again"));
            };
            let mut rest: &[u8] = &piece;
            while let Some(item) = self.parser.next_item(&mut rest)? {
                let Item::Event(event) = item else { continue };
                let event: Value =
                    serde_json::from_str(&event.data).context("the server sent an event that is not JSON")?;
                if has_title(&event, title) {
                    return Ok(event);
                }
            }
        }
    }
}

fn has_title(event: &Value, title: &str) -> bool {
    TITLES.iter().any(|field| event["data"]["resource"][field] == title)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::has_title;

    #[test]
    fn an_event_is_known_by_the_title_of_its_resource() {
        let event = |resource| json!({ "type": "task.created", "data": { "resource": resource } });
        assert!(has_title(&event(json!({ "title": "Test 1" })), "Test 1"));
        assert!(has_title(&event(json!({ "subject": "Test 1" })), "Test 1"));
        assert!(!has_title(&event(json!({ "title": "Test 2" })), "Test 1"));
        assert!(!has_title(&event(json!(null)), "Test 1"));
    }
}
