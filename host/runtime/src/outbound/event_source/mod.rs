//! Listening to the event source of a JMAP server (RFC 8620 section 7.3), an answer that does not end, until the server reports a
//! change. The content of the change is ignored: the connector reads it, in a call like any other.
//!
//! Redirects are not followed: credentials go only to the connection's own servers. The stream is read within limits of the
//! length of lines and events, of bytes per minute, and of silence; beyond them the wait ends, and the listener comes back later.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::time::Duration;

use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, StatusCode};
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::time::Instant;

use crate::bindings::http::{Err, Header, Req};
use crate::event_stream::{Item, Parser};
use crate::manifest::EventSource;
use crate::outbound::exchange::chunk;
use crate::outbound::news::{Listener, News, Teller};
use crate::outbound::{CallEgress, refused};

/// The bytes that a read counts as at least: a server that sends single bytes costs the host a wake-up for each.
const READ_COSTS: usize = 64;
const MINUTE: Duration = Duration::from_secs(60);

/// The format of an event source.
const EVENTS: &str = "text/event-stream";

impl CallEgress {
    /// Listens to an account's event source, until that ends: `Ok` where the server has ended it. "unsupported" where there is
    /// none.
    pub(crate) async fn listen_to_events(
        &self,
        source: &EventSource,
        settings: &Map<String, Value>,
        tell: &Listener<'_>,
    ) -> Result<(), Err> {
        let text = |name: &str| settings.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let (Some(template), Some(account)) = (text(&source.url), text(&source.account)) else {
            return Err(refused("unsupported", "the server has no event source"));
        };
        if self.shared.transport.is_some() {
            return Err(refused(
                "unsupported",
                "nothing is waited for where another program plays the provider",
            ));
        }
        let silence = Duration::from_millis(self.shared.limits.event_silence_ms);
        let request = request(fill_template(template, &source.types, (silence / 3).as_secs().max(1)));
        let opening = tokio::time::timeout(self.remaining(), self.open(request)).await;
        let answer = opening.map_err(|_| refused("timeout", "the server did not answer in time"))??;
        let (head, mut body) = answer.into_parts();
        check(head.status, &head.headers)?;
        tell(News::Listening);
        let mut teller = Teller::new(tell);
        let mut states = States { account, types: &source.types, known: HashMap::new() };
        let mut parser = Parser::new(self.shared.limits.event_bytes);
        let mut allowance = MinuteBudget::new(self.shared.limits.idle_bytes_per_minute);
        let mut silent_at = Instant::now() + silence;
        loop {
            let next = teller.tell_at().map_or(silent_at, |at| at.min(silent_at));
            match tokio::time::timeout_at(next, chunk(&mut body)).await {
                Ok(piece) => {
                    let Some(piece) = piece? else { return Ok(()) };
                    silent_at = Instant::now() + silence;
                    allowance.take(piece.len())?;
                    let mut unread: &[u8] = &piece;
                    while let Some(item) = parser.next_item(&mut unread).map_err(|_| too_much())? {
                        if let Item::Event(event) = item
                            && states.change(event.data.as_bytes())
                        {
                            teller.changed();
                        }
                    }
                }
                Err(_) if Instant::now() >= silent_at => {
                    return Err(refused("timeout", "the server sent no ping in time"));
                }
                // The delayed notification is due.
                Err(_) => {}
            }
            teller.tell_rest();
        }
    }
}

/// The request that opens the stream.
fn request(url: String) -> Req {
    let header = |name: &str, value: &str| Header { name: name.to_owned(), value: value.into() };
    Req {
        method: "GET".to_owned(),
        url,
        headers: vec![header("accept", EVENTS), header("cache-control", "no-cache")],
        body: Vec::new(),
        auth: None,
        timeout_ms: None,
        max_bytes: None,
        extra: Vec::new(),
    }
}

/// The template (RFC 6570 level 1) with its variables. An unknown one is empty; an unclosed brace stays, which makes the URL
/// invalid.
fn fill_template(template: &str, types: &[String], ping_s: u64) -> String {
    let mut url = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, after)) = after.split_once('}') else { break };
        url.push_str(before);
        match name {
            // Their names are letters and digits.
            "types" => url.push_str(&types.join("%2C")),
            "closeafter" => url.push_str("no"),
            "ping" => url.push_str(&ping_s.to_string()),
            _ => {}
        }
        rest = after;
    }
    url + rest
}

/// Whether the answer is a stream of events.
fn check(status: StatusCode, headers: &HeaderMap) -> Result<(), Err> {
    match status {
        StatusCode::OK => {}
        StatusCode::UNAUTHORIZED => {
            return Err(refused("auth-expired", "the server does not take the credentials"));
        }
        // 204 tells clients not to reconnect; with the others the server has no event source at this URL, or not for this
        // account.
        StatusCode::NO_CONTENT
        | StatusCode::FORBIDDEN
        | StatusCode::NOT_FOUND
        | StatusCode::METHOD_NOT_ALLOWED
        | StatusCode::NOT_ACCEPTABLE
        | StatusCode::GONE
        | StatusCode::NOT_IMPLEMENTED => {
            return Err(refused("unsupported", "the server does not serve its event source"));
        }
        StatusCode::TOO_MANY_REQUESTS => {
            return Err(refused("rate-limited", "the server asks to retry later"));
        }
        other if other.is_redirection() => {
            return Err(refused("unavailable", "the server redirects its event source to another URL"));
        }
        _ => return Err(refused("unavailable", "the server does not serve its event source now")),
    }
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().trim();
    let media_type = text(CONTENT_TYPE).split(';').next().unwrap_or_default().trim();
    let coding = text(CONTENT_ENCODING);
    if !media_type.eq_ignore_ascii_case(EVENTS)
        || !(coding.is_empty() || coding.eq_ignore_ascii_case("identity"))
    {
        return Err(refused("unavailable", "the server answers with something else than a stream of events"));
    }
    Ok(())
}

fn too_much() -> Err {
    refused("too-large", "the server sends more than there is to be said")
}

/// The limit of a server's bytes in a minute.
struct MinuteBudget {
    per_minute: usize,
    left: usize,
    /// When the allowance of a minute is renewed.
    until: Instant,
}

impl MinuteBudget {
    fn new(per_minute: usize) -> Self {
        MinuteBudget { per_minute, left: per_minute, until: Instant::now() + MINUTE }
    }

    fn take(&mut self, bytes: usize) -> Result<(), Err> {
        if Instant::now() >= self.until {
            *self = MinuteBudget::new(self.per_minute);
        }
        self.left = self.left.checked_sub(bytes.max(READ_COSTS)).ok_or_else(too_much)?;
        Ok(())
    }
}

/// RFC 8620 section 7.1. A ping has other data, and changes nothing.
#[derive(Deserialize)]
struct StateChange {
    /// The new states, by account and type.
    #[serde(default)]
    changed: HashMap<String, HashMap<String, String>>,
}

/// The last known states of an account's types.
struct States<'a> {
    account: &'a str,
    types: &'a [String],
    known: HashMap<&'a str, String>,
}

impl States<'_> {
    /// Whether this event reports something new. Unreadable events report nothing.
    fn change(&mut self, data: &[u8]) -> bool {
        let Ok(StateChange { mut changed }) = serde_json::from_slice(data) else { return false };
        let mut states = changed.remove(self.account).unwrap_or_default();
        let mut is_new = false;
        for name in self.types {
            if let Some(state) = states.remove(name) {
                is_new |= self.known.get(name.as_str()) != Some(&state);
                self.known.insert(name, state);
            }
        }
        is_new
    }
}
