//! The baseline: a bare client that makes the same calls of the provider, over kept connections. HTTP/1.1 is implemented here, because a
//! general client costs more.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::Value;

use crate::bench::load::LoadMeasurement;
use crate::bench::providers::fake::ProviderFake;

/// Connections, and so simultaneous calls: as many as the connector has for one account.
const CONNECTIONS: usize = 4;
/// An answer that takes longer has failed.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// A call of the provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderCall {
    pub method: String,
    /// Path and query, percent-encoded.
    pub target: String,
    pub content_type: String,
    /// The field `Prefer`.
    pub prefer: String,
    /// `{n}` in it becomes a number that no other call has.
    pub content: String,
    pub round_trip: u64,
}

/// A client with its connections.
pub struct BareClient {
    address: SocketAddr,
    token: String,
    connections: Vec<TcpStream>,
}

static NUMBER: AtomicU64 = AtomicU64::new(0);

impl ProviderCall {
    /// A read of this path and query.
    pub fn get(target: String) -> ProviderCall {
        let (content_type, prefer, content) = (String::new(), String::new(), String::new());
        ProviderCall { method: "GET".to_owned(), target, content_type, prefer, content, round_trip: 1 }
    }

    /// The same call with this preference.
    pub fn preferring(mut self, prefer: &str) -> ProviderCall {
        prefer.clone_into(&mut self.prefer);
        self
    }

    /// Reads a call that the fake has recorded. An event that it makes gets another id each time.
    fn from_record(record: &Value) -> Result<ProviderCall> {
        let text = |name: &str| record[name].as_str().unwrap_or_default().to_owned();
        let path: Vec<String> = text("path").split('/').map(encode_segment).collect();
        let pairs = record["query"].as_array().into_iter().flatten();
        let query: Vec<String> = pairs
            .map(|pair| {
                let part = |at: usize| encode_segment(pair[at].as_str().unwrap_or_default());
                format!("{}={}", part(0), part(1))
            })
            .collect();
        let mut target = path.join("/");
        if !query.is_empty() {
            target = format!("{target}?{}", query.join("&"));
        }
        let mut content = text("content");
        if text("method") == "POST" && text("path").ends_with("/events") {
            let mut event: Value = serde_json::from_str(&content).context("an event is no JSON")?;
            // Each provider has its own name for what makes a request known again.
            let member = if event["transactionId"].is_string() { "transactionId" } else { "id" };
            event[member] = "bareevent{n}".into();
            content = event.to_string();
        }
        let round_trip = record["roundTrip"].as_u64().unwrap_or_default();
        let (method, content_type, prefer) = (text("method"), text("contentType"), text("prefer"));
        Ok(ProviderCall { method, target, content_type, prefer, content, round_trip })
    }
}

/// Repeats a request to us until two in a row lead to the same calls of the provider, and returns these by their round trips. Otherwise
/// calls of background jobs could be among them.
pub fn recorded(fake: &ProviderFake, ask: impl Fn() -> Result<()>) -> Result<Vec<Vec<ProviderCall>>> {
    const MAX_RECORDINGS: usize = 10;
    let mut before: Vec<String> = Vec::new();
    for _ in 0..MAX_RECORDINGS {
        fake.clear()?;
        ask()?;
        let calls = read_calls(fake)?;
        let mut names: Vec<String> = calls.iter().map(name_of).collect();
        names.sort();
        if names == before {
            return Ok(by_round_trip(calls));
        }
        before = names;
    }
    Err(anyhow!("the same request leads to other calls each time; the last ones were {before:?}"))
}

/// Returns the calls since the fake forgot those before, by their round trips.
pub fn recorded_so_far(fake: &ProviderFake) -> Result<Vec<Vec<ProviderCall>>> {
    read_calls(fake).map(by_round_trip)
}

fn read_calls(fake: &ProviderFake) -> Result<Vec<ProviderCall>> {
    let answer = fake.get("requests")?;
    let records = answer["requests"].as_array().context("the fake lists no requests")?;
    ensure!(!records.is_empty(), "the provider was not asked");
    records.iter().map(ProviderCall::from_record).collect()
}

fn name_of(call: &ProviderCall) -> String {
    let path = call.target.split('?').next().unwrap_or_default();
    // Tokens of batches and of events differ.
    format!("{} {path}", call.method)
}

fn by_round_trip(calls: Vec<ProviderCall>) -> Vec<Vec<ProviderCall>> {
    let mut rounds: Vec<Vec<ProviderCall>> = Vec::new();
    for call in calls {
        match rounds.last_mut().filter(|round| round.iter().all(|other| other.round_trip == call.round_trip))
        {
            Some(round) => round.push(call),
            None => rounds.push(vec![call]),
        }
    }
    rounds
}

/// Text for a segment of a path or for a query.
fn encode_segment(text: &str) -> String {
    text.bytes().fold(String::new(), |out, byte| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
            out + &char::from(byte).to_string()
        }
        _ => out + &format!("%{byte:02X}"),
    })
}

impl BareClient {
    /// A client of the fake.
    pub fn connect(fake: &ProviderFake) -> Result<BareClient> {
        let mut connections = Vec::with_capacity(CONNECTIONS);
        for _ in 0..CONNECTIONS {
            let stream = TcpStream::connect(fake.address).context("cannot connect to the fake")?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
            connections.push(stream);
        }
        Ok(BareClient { address: fake.address, token: fake.token()?, connections })
    }

    /// Makes one call, and returns the body of its answer.
    pub fn call(&mut self, call: &ProviderCall) -> Result<Vec<u8>> {
        let request = self.request(call);
        let stream = self.connections.first_mut().context("there is no connection")?;
        exchange(stream, &request).with_context(|| name_of(call))
    }

    /// Makes calls, those of one round trip in parallel.
    pub fn run(&mut self, rounds: &[Vec<ProviderCall>]) -> Result<()> {
        for round in rounds {
            match &round[..] {
                [call] => self.call(call).map(|_| ())?,
                calls => self.run_together(calls)?,
            }
        }
        Ok(())
    }

    fn run_together(&mut self, calls: &[ProviderCall]) -> Result<()> {
        let requests: Vec<String> = calls.iter().map(|call| self.request(call)).collect();
        thread::scope(|scope| {
            let work = |first: usize, stream: &mut TcpStream| -> Result<()> {
                for (call, request) in calls.iter().zip(&requests).skip(first).step_by(CONNECTIONS) {
                    exchange(stream, request).with_context(|| name_of(call))?;
                }
                Ok(())
            };
            let streams = self.connections.iter_mut().enumerate();
            let workers: Vec<_> =
                streams.map(|(first, stream)| scope.spawn(move || work(first, stream))).collect();
            workers.into_iter().try_for_each(|w| w.join().map_err(|_| anyhow!("a client panicked"))?)
        })
    }

    /// Repeats the calls for this long.
    pub fn measure(&mut self, rounds: &[Vec<ProviderCall>], length: Duration) -> Result<LoadMeasurement> {
        let mut measured = LoadMeasurement::default();
        self.run(rounds)?;
        let start = Instant::now();
        while start.elapsed() < length {
            let begun = Instant::now();
            self.run(rounds)?;
            measured.micros.push(u32::try_from(begun.elapsed().as_micros()).unwrap_or(u32::MAX));
            measured.requests += 1;
        }
        measured.seconds = start.elapsed().as_secs_f64();
        measured.micros.sort_unstable();
        Ok(measured)
    }

    fn request(&self, call: &ProviderCall) -> String {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed).to_string();
        let content = call.content.replace("{n}", &number);
        let mut head = format!(
            "{} {} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n",
            call.method, call.target, self.address, self.token
        );
        if !content.is_empty() {
            head += &format!("content-type: {}\r\n", call.content_type);
        }
        if !call.prefer.is_empty() {
            head += &format!("prefer: {}\r\n", call.prefer);
        }
        if call.method != "GET" {
            head += &format!("content-length: {}\r\n", content.len());
        }
        head + "\r\n" + &content
    }
}

/// Sends a request and reads its answer; returns the body if the status is a success.
fn exchange(stream: &mut TcpStream, request: &str) -> Result<Vec<u8>> {
    stream.write_all(request.as_bytes())?;
    let mut buffer = Vec::with_capacity(64 * 1024);
    let mut piece = vec![0; 64 * 1024];
    let mut more = |buffer: &mut Vec<u8>| -> Result<()> {
        let count = stream.read(&mut piece)?;
        ensure!(count > 0, "the fake closed the connection");
        buffer.extend_from_slice(&piece[..count]);
        Ok(())
    };
    let head_end = loop {
        more(&mut buffer)?;
        if let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
    };
    let head = String::from_utf8_lossy(&buffer[..head_end]).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    let length: usize = length.map_or(Ok(0), |length| length.trim().parse::<usize>())?;
    while buffer.len() < head_end + length {
        more(&mut buffer)?;
    }
    let body = buffer.split_off(head_end);
    let is_success = head.get(9..10) == Some("2");
    ensure!(is_success, "{} {}", head.lines().next().unwrap_or_default(), String::from_utf8_lossy(&body));
    Ok(body)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ProviderCall, by_round_trip};

    #[test]
    fn a_call_is_made_again_as_it_was_recorded() {
        let record = json!({
            "method": "GET", "path": "/calendar/v3/calendars/a@x.test/events", "query": [["q", "a b"], ["n", "1"]],
            "contentType": null, "content": "", "roundTrip": 3,
        });
        let call = ProviderCall::from_record(&record).unwrap();
        assert_eq!(call.target, "/calendar/v3/calendars/a%40x.test/events?q=a%20b&n=1");
        let record = json!({ "method": "POST", "path": "/calendars/a/events", "content": "{\"id\":\"x\"}", "roundTrip": 3 });
        let made = ProviderCall::from_record(&record).unwrap();
        assert_eq!(made.content, "{\"id\":\"bareevent{n}\"}");
        let next = ProviderCall { round_trip: 4, ..call.clone() };
        let rounds = by_round_trip(vec![call.clone(), made.clone(), next.clone()]);
        assert_eq!(rounds, [vec![call, made], vec![next]]);
    }
}
