//! `switchboard listen`: shows the events of a running server as they happen, and posts them to the user's own program, signed like
//! deliveries to webhooks.

mod forward;
pub mod source;

use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use base::clock::{Clock, Entropy};
use bytes::Bytes;
use clap::Args;
use model::Instant;
use runtime::OperatorClient;
use runtime::event_stream::{Event, Item, Parser};
use serde::Deserialize;
use service::webhooks::sign;
use tokio::time;
use url::Url;

use crate::cli::answer_failure::{printable, printable_json};
use crate::cli::listen::forward::{Forward, ForwardResult};
use crate::cli::listen::source::{EventStream, Source, StreamPosition, StreamRefusal};
use crate::cli::output::print_note;
use crate::cli::refusal::failure;
use crate::cli::serve::Signals;
use crate::cli::server_options::{ServerOptions, parse_server, read_secret_text, read_variable};

/// The first wait before the stream is reopened, and the longest; doubled each time.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// The longest wait that a server may ask for.
const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(300);
/// Time after which an open stream counts as stable: the next wait is the first again.
const SETTLED: Duration = Duration::from_secs(30);
/// Longest line of the stream, and most data of one event.
const MAX_EVENT_BYTES: usize = 1 << 20;
/// The last event of a stream whose position is no longer in the log.
const RESET_REQUIRED: &str = "sync_reset_required";

/// Show events as they happen, and forward them to a program on this machine
///
/// Reads the event stream of a running server. --forward-to posts each event to that URL like a delivery to a webhook: with the same
/// body, headers and signature, one at a time in the order of the log, and up to three times until the answer is 2xx. The signing secret
/// is generated at the start and printed to stderr. No webhook is needed, and none is changed.
///
/// Each event is a line on stdout: time, type and id, and with --forward-to the answer and its duration. After a lost connection the
/// stream continues after the last event that was handled. Ctrl-C ends it.
///
/// The API key is read from a variable, a file, or a profile of `switchboard login`, never from an argument. Only events that the key may
/// read are shown.
#[derive(Args)]
#[command(after_help = "\
Examples:
  switchboard login
  switchboard listen
  switchboard listen --forward-to http://localhost:3000/webhooks --events 'calendar.*,task.created'
  switchboard listen --server https://api.example.com --api-key-file key.txt --print-json | jq .data.resource")]
pub struct Listen {
    /// URL that each event is posted to; without it events are only shown
    #[arg(long, value_name = "URL", value_parser = parse_server)]
    forward_to: Option<Url>,
    /// Only events of these types: exact names, `family.*` or `*`, as `eventTypes` of a webhook (repeatable)
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    events: Vec<String>,
    /// Only events of this connection, by its id (repeatable)
    #[arg(long = "connection", value_name = "ID", value_delimiter = ',')]
    connections: Vec<String>,
    /// Begin after the event with this sequence number instead of now
    #[arg(long, value_name = "SEQUENCE", value_parser = clap::value_parser!(i64).range(0..))]
    after: Option<i64>,
    /// File that holds the signing secret, `whsec_…` [default: one that is generated at the start]
    #[arg(long, value_name = "FILE", conflicts_with = "secret_env")]
    secret_file: Option<PathBuf>,
    /// Environment variable that holds the signing secret
    #[arg(long, value_name = "VAR")]
    secret_env: Option<String>,
    /// Print the body of each event on a line of its own to stdout, and everything else to stderr
    #[arg(long)]
    print_json: bool,
    #[command(flatten)]
    server: ServerOptions,
}

impl Listen {
    /// Listens until the process is stopped, stdout is closed, or the server refuses permanently.
    pub async fn run(self) -> Result<ExitCode> {
        let mut signals = Signals::new()?;
        let mut listening = self.begin()?;
        tokio::select! {
            ended = listening.run() => ended?,
            () = signals.end() => {}
        }
        if let StreamPosition::Event(id) = &listening.position {
            print_note(&format!("ended; --after {id} goes on from here"));
        }
        Ok(ExitCode::SUCCESS)
    }

    fn begin(self) -> Result<ListenSession> {
        let access = self.server.resolve()?;
        let (key, client) = (access.key()?, access.client.clone());
        let source = Source::new(client.clone(), &access.server, key, &self.events, &self.connections)?;
        print_note(&format!("listening to {}", access.server));
        let forward = match &self.forward_to {
            Some(url) => Some(self.forward(client, url)?),
            None => None,
        };
        Ok(ListenSession {
            source,
            forward,
            position: self.after.map_or(StreamPosition::Now, StreamPosition::After),
            pause: RetryPause::default(),
            is_open: false,
            prints_json: self.print_json,
            clock: Clock::system(),
        })
    }

    fn forward(&self, client: OperatorClient, url: &Url) -> Result<Forward> {
        let given = match (&self.secret_file, &self.secret_env) {
            (Some(file), _) => Some(read_secret_text(file)?),
            (None, Some(name)) => Some(read_variable(name).ok_or_else(|| {
                failure(
                    format!("--secret-env: there is no variable {name} with text in it"),
                    "set it to the signing secret, whsec_…, or leave the flag out to have one generated",
                )
            })?),
            (None, None) => None,
        };
        let secret = match &given {
            Some(secret) => secret.clone(),
            None => sign::secret(&Entropy::system().bytes()),
        };
        let forward = Forward::new(client, url.clone(), &secret)?;
        // A secret that was given is known already, and is not printed.
        let shown = if given.is_some() { "the given secret" } else { secret.as_str() };
        print_note(&format!("forwarding to {url}, signed with {shown}"));
        Ok(forward)
    }
}

/// The fields of an event that are shown.
#[derive(Deserialize)]
struct Head {
    id: String,
    #[serde(rename = "type")]
    event_type: String,
}

/// The waits between two attempts to open the stream.
struct RetryPause {
    first: Duration,
    next: Duration,
}

impl Default for RetryPause {
    fn default() -> Self {
        RetryPause { first: FIRST_WAIT, next: FIRST_WAIT }
    }
}

impl RetryPause {
    /// The next wait. `random` adds up to a quarter, so that clients that were disconnected together do not reconnect together.
    fn wait(&mut self, random: u8) -> Duration {
        let wait = self.next + self.next * u32::from(random) / (4 * u32::from(u8::MAX));
        self.next = (self.next * 2).min(LONGEST_WAIT);
        wait.min(LONGEST_WAIT)
    }

    fn reset(&mut self) {
        self.next = self.first;
    }

    /// Sets the server's value for the first wait.
    fn set_first(&mut self, ms: u64) {
        self.first = Duration::from_millis(ms).clamp(FIRST_WAIT, LONGEST_WAIT);
    }
}

/// The end of a stream.
enum StreamEnd {
    /// The server ended it, as it does once an hour and at shutdown.
    InOrder,
    BrokenOff(String),
    /// Stdout is closed.
    Unread,
}

/// The running command.
struct ListenSession {
    source: Source,
    forward: Option<Forward>,
    /// The position up to which every event was handled.
    position: StreamPosition,
    pause: RetryPause,
    /// Whether a stream has been opened.
    is_open: bool,
    prints_json: bool,
    clock: Clock,
}

impl ListenSession {
    /// Reads one stream after the other until stdout is closed.
    async fn run(&mut self) -> Result<()> {
        loop {
            let (began, position) = (time::Instant::now(), self.position.clone());
            let (why, asked) = match self.source.open(&self.position).await {
                Ok(stream) => match self.read(stream).await? {
                    StreamEnd::Unread => return Ok(()),
                    StreamEnd::InOrder => (None, None),
                    StreamEnd::BrokenOff(why) => (Some(why), None),
                },
                Err(StreamRefusal::ForGood(error)) => return Err(error),
                Err(StreamRefusal::ForNow { why, retry_after }) => (Some(why), retry_after),
            };
            if began.elapsed() >= SETTLED || self.position != position {
                self.pause.reset();
            }
            let [random] = Entropy::system().bytes::<1>();
            let wait = self.pause.wait(random).max(asked.unwrap_or_default().min(LONGEST_RETRY_AFTER));
            if let Some(why) = why {
                print_note(&format!("{why}; trying again in {} s", wait.as_secs()));
            }
            time::sleep(wait).await;
        }
    }

    async fn read(&mut self, mut stream: EventStream) -> Result<StreamEnd> {
        if !self.is_open {
            // What happens from here on is not missed.
            print_note("waiting for events");
            self.is_open = true;
        }
        let mut parser = Parser::new(MAX_EVENT_BYTES);
        loop {
            let piece = match stream.piece().await {
                Ok(Some(piece)) => piece,
                Ok(None) => return Ok(StreamEnd::InOrder),
                Err(why) => return Ok(StreamEnd::BrokenOff(why)),
            };
            let mut rest: &[u8] = &piece;
            while let Some(item) = parser.next_item(&mut rest)? {
                match item {
                    Item::Event(event) => {
                        if !self.take(event).await? {
                            return Ok(StreamEnd::Unread);
                        }
                    }
                    Item::LastEventId(id) => self.advance(id),
                    Item::Retry(ms) => self.pause.set_first(ms),
                }
            }
        }
    }

    /// Sets the position after the event with this id, for the next stream.
    fn advance(&mut self, id: String) {
        if !id.is_empty() {
            self.position = StreamPosition::Event(id);
        }
    }

    /// Forwards and shows an event. Returns false if stdout is closed.
    async fn take(&mut self, event: Event) -> Result<bool> {
        if event.event_type == RESET_REQUIRED {
            return Err(failure(
                "the events after this position are no longer kept: some would be missed",
                "leave out --after to begin with new events",
            ));
        }
        let Event { id, data, .. } = event;
        let body = Bytes::from(data);
        let head: Head = serde_json::from_slice(&body)
            .context("the server sent an event that is none: is it a newer version than this program?")?;
        let forwarded = match &self.forward {
            Some(forward) => Some(forward.send(&head.id, &body).await?),
            None => None,
        };
        let line = line(self.clock.now(), &head, forwarded.as_ref());
        let is_read = if self.prints_json {
            if forwarded.is_some() {
                print_note(&line);
            }
            show(printable_json(&String::from_utf8_lossy(&body)).as_bytes())?
        } else {
            show(line.as_bytes())?
        };
        self.advance(id);
        Ok(is_read)
    }
}

/// The line that shows an event.
fn line(at: Instant, head: &Head, forwarded: Option<&ForwardResult>) -> String {
    let mut line = format!("{at}  {}  {}", printable(&head.event_type), printable(&head.id));
    if let Some(forwarded) = forwarded {
        line.push_str(&format!("  {}  {} ms", forwarded.status, forwarded.took.as_millis()));
        match (forwarded.is_delivered, forwarded.tries) {
            (true, 1) => {}
            (true, tries) => line.push_str(&format!("  after {tries} tries")),
            (false, 1) => line.push_str("  given up"),
            (false, tries) => line.push_str(&format!("  given up after {tries} tries")),
        }
    }
    line
}

/// Writes a line to stdout. Returns false if stdout is closed (`| head`).
fn show(line: &[u8]) -> Result<bool> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(line).and_then(|()| stdout.write_all(b"\n")).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(e) => Err(e).context("cannot write to stdout"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_doubled_from_one_to_thirty_seconds() {
        let mut pause = RetryPause::default();
        let waits: Vec<u64> = (0..7).map(|_| pause.wait(0).as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 30, 30]);
        assert_eq!(pause.wait(u8::MAX), LONGEST_WAIT);
        pause.reset();
        assert_eq!(pause.wait(u8::MAX), Duration::from_millis(1_250));
        for (wish_ms, first_ms) in [(5_000, 5_000), (0, 1_000), (u64::MAX, 30_000)] {
            pause.set_first(wish_ms);
            pause.reset();
            assert_eq!(pause.wait(0), Duration::from_millis(first_ms), "{wish_ms}");
        }
    }

    #[test]
    fn a_line_tells_what_became_of_an_event() {
        let head = Head { id: "ev_1".to_owned(), event_type: "task.created".to_owned() };
        let forwarded = |status: &str, is_delivered: bool, tries: i64| ForwardResult {
            status: status.to_owned(),
            is_delivered,
            tries,
            took: Duration::from_millis(12),
        };
        let at = Instant::from_millis(0);
        let shown = |forwarded: Option<ForwardResult>| {
            let line = line(at, &head, forwarded.as_ref());
            line.split_once("  ").unwrap().1.to_owned()
        };
        assert_eq!(shown(None), "task.created  ev_1");
        assert_eq!(shown(Some(forwarded("204", true, 1))), "task.created  ev_1  204  12 ms");
        let late = shown(Some(forwarded("204", true, 2)));
        assert_eq!(late, "task.created  ev_1  204  12 ms  after 2 tries");
        let gone = shown(Some(forwarded("410", false, 1)));
        assert_eq!(gone, "task.created  ev_1  410  12 ms  given up");
        let silent = shown(Some(forwarded("timeout", false, 3)));
        assert_eq!(silent, "task.created  ev_1  timeout  12 ms  given up after 3 tries");
    }
}
