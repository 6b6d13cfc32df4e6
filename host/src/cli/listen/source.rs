//! The event stream of a running server: opening it, and the distinction between permanent and temporary refusals.

use std::time::Duration;

use anyhow::{Context, Error, Result};
use bytes::Bytes;
use http::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION, RETRY_AFTER, USER_AGENT,
};
use runtime::{OperatorAnswer, OperatorClient};
use serde_json::Value;
use url::Url;

use crate::cli::answer_failure::printable;
use crate::cli::refusal::failure;
use crate::cli::server_options::{self, authorization, describe_failure, url_of};

const PATH: &str = "/v1/events/stream";
/// Time limit for the head of the answer.
const HEAD_TIME: Duration = Duration::from_secs(30);
/// The server writes at least every 15 seconds: a stream that is silent for longer than this is dead.
const SILENCE: Duration = Duration::from_secs(45);

/// The position in the log at which a stream begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamPosition {
    /// Events from now on.
    Now,
    /// After the event with this sequence number.
    After(i64),
    /// After the event with this id in the stream, which is its sequence number.
    Event(String),
}

/// The reason why a stream cannot be opened.
#[derive(Debug)]
pub enum StreamRefusal {
    /// Permanent: the same request would be refused again.
    ForGood(Error),
    /// Temporary: another attempt may succeed, after this time at the earliest if the server named one.
    ForNow { why: String, retry_after: Option<Duration> },
}

/// The stream of a server.
pub struct Source {
    client: OperatorClient,
    url: Url,
    authorization: HeaderValue,
}

impl Source {
    /// The stream of events of these types and of these connections; of all if none are named. `server` is the server's base URL.
    pub fn new(
        client: OperatorClient,
        server: &Url,
        key: &str,
        event_types: &[String],
        connection_ids: &[String],
    ) -> Result<Source> {
        let mut url = url_of(server, PATH);
        for (name, values) in [("type", event_types), ("connection_id", connection_ids)] {
            if !values.is_empty() {
                url.query_pairs_mut().append_pair(name, &values.join(","));
            }
        }
        Ok(Source { client, url, authorization: authorization(key)? })
    }

    /// Opens the stream.
    pub async fn open(&self, position: &StreamPosition) -> Result<EventStream, StreamRefusal> {
        let (url, headers) = self.request(position).map_err(StreamRefusal::ForGood)?;
        let answer = self.client.get(&url, headers, HEAD_TIME).await;
        let answer = answer.map_err(|error| StreamRefusal::ForNow {
            why: describe_failure(&self.url, &error),
            retry_after: None,
        })?;
        let content_type = text_of(&answer.headers, CONTENT_TYPE.as_str()).to_ascii_lowercase();
        match answer.status {
            200 if content_type.starts_with("text/event-stream") => {
                Ok(EventStream { answer, url: self.url.clone() })
            }
            200 => Err(StreamRefusal::ForGood(failure(
                format!("there is no stream of events at {}", self.url),
                "name a Switchboard server with --server",
            ))),
            _ => Err(self.refused(answer).await),
        }
    }

    fn request(&self, position: &StreamPosition) -> Result<(Url, HeaderMap)> {
        let mut url = self.url.clone();
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, self.authorization.clone());
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        headers.insert(USER_AGENT, HeaderValue::from_static(server_options::USER_AGENT));
        match position {
            StreamPosition::Now => {}
            StreamPosition::After(sequence) => {
                url.query_pairs_mut().append_pair("after_sequence", &sequence.to_string());
            }
            StreamPosition::Event(id) => {
                let id = HeaderValue::try_from(id).context("the server's id of an event is no text")?;
                headers.insert("last-event-id", id);
            }
        }
        Ok((url, headers))
    }

    /// Interprets an answer that is no stream.
    async fn refused(&self, answer: OperatorAnswer) -> StreamRefusal {
        let status = answer.status;
        let location = text_of(&answer.headers, LOCATION.as_str()).to_owned();
        let retry_after =
            text_of(&answer.headers, RETRY_AFTER.as_str()).parse().ok().map(Duration::from_secs);
        let said = message(&answer.beginning().await).map_or_else(String::new, |text| format!(": {text}"));
        let for_good = |cause: String, help: &str| StreamRefusal::ForGood(failure(cause, help));
        match status {
            300..=399 => for_good(
                format!("the server redirects to {}", printable(&location)),
                "name the address that it has moved to with --server",
            ),
            401 => for_good(
                format!("the server refuses the API key{said}"),
                "run `switchboard login` with another key; `switchboard keys create` creates one",
            ),
            403 => for_good(
                format!("the API key may not read the events{said}"),
                "use a key that may read them: `switchboard keys create` creates one",
            ),
            404 | 405 => for_good(
                format!("the server has no such stream{said}"),
                "--server must name a Switchboard server, and --connection connections of the key's application",
            ),
            408 | 425 | 429 | 500..=599 => {
                StreamRefusal::ForNow { why: format!("the server answers {status}{said}"), retry_after }
            }
            409 => for_good(
                format!("the server cannot go on from here{said}"),
                "leave out --after to begin with new events",
            ),
            _ => for_good(
                format!("the server refuses the request with {status}{said}"),
                "correct the option that it names",
            ),
        }
    }
}

/// An open stream.
pub struct EventStream {
    answer: OperatorAnswer,
    url: Url,
}

impl EventStream {
    /// The next bytes; none when the server ended the stream. The error is the reason why nothing more comes.
    pub async fn piece(&mut self) -> Result<Option<Bytes>, String> {
        self.answer.piece(SILENCE).await.map_err(|error| describe_failure(&self.url, &error))
    }
}

fn text_of<'h>(headers: &'h HeaderMap, name: &str) -> &'h str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// The message in the body of an error.
fn message(body: &[u8]) -> Option<String> {
    let body: Value = serde_json::from_slice(body).ok()?;
    body["error"]["message"].as_str().map(printable)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(server: &str, filters: (&[&str], &[&str])) -> Source {
        let owned = |texts: &[&str]| -> Vec<String> { texts.iter().map(|text| (*text).to_owned()).collect() };
        let (event_types, connection_ids) = (owned(filters.0), owned(filters.1));
        let client = OperatorClient::new(&[]).unwrap();
        let server = Url::parse(server).unwrap();
        Source::new(client, &server, "uc_live_1", &event_types, &connection_ids).unwrap()
    }

    #[test]
    fn the_filters_are_in_the_url_and_the_position_in_url_or_header() {
        let all = source("http://127.0.0.1:8080", (&[], &[]));
        let (url, headers) = all.request(&StreamPosition::Now).unwrap();
        assert_eq!(url.as_str(), "http://127.0.0.1:8080/v1/events/stream");
        assert_eq!(headers["authorization"], "Bearer uc_live_1");
        let some = source("https://api.example/base/", (&["calendar.*", "task.created"], &["conn_1"]));
        let (url, headers) = some.request(&StreamPosition::After(7)).unwrap();
        let expected = "https://api.example/base/v1/events/stream?type=calendar.*%2Ctask.created&connection_id=conn_1&after_sequence=7";
        assert_eq!(url.as_str(), expected);
        assert!(!headers.contains_key("last-event-id"));
        let (url, headers) = some.request(&StreamPosition::Event("9".to_owned())).unwrap();
        assert!(!url.as_str().contains("after_sequence"));
        assert_eq!(headers["last-event-id"], "9");
    }

    #[test]
    fn a_message_is_shown_without_control_characters() {
        let body = br#"{"error":{"code":"insufficient_scope","message":"needs \u001b[31mevents.read"}}"#;
        assert_eq!(message(body), Some("needs [31mevents.read".to_owned()));
        assert_eq!(message(b"<html>"), None);
        assert_eq!(message(b"[]"), None);
    }
}
