//! A stream of events as server-sent events (WHATWG HTML, section 9.2). It is read from the log as fast as its client consumes it, and
//! buffers no later events: a slow client lags behind and costs no memory. Any number of streams may wait for one log.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;

use base::error::{Code, Refusal, Result};
use bytes::Bytes;
use futures::Stream;
use storage::api_keys::{self, ApiKey};
use storage::lane::Lane;
use storage::log;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::{Instant, sleep_until};

use crate::app::App;
use crate::app::event_log::check_position;
use crate::app::stream_keys::KeyWatch;
use crate::webhooks::events::{self, EventLogFilter, EventRequest, WHOLE_AT_A_TIME};
use crate::webhooks::key_watch;

/// Maximum log entries that are read at a time, without their content.
const PAGE: i64 = 100;
/// Bytes after which a chunk ends. If the log held more than this for a chunk, the next one has a single event.
const LARGE_BYTES: usize = 64 << 10;
/// `Retry-After` of a refusal because of too many streams, seconds.
const WAIT_S: u64 = 5;
/// Ends a stream whose client should open another one after this delay, ms.
const RECONNECT: &str = "retry: 1000\n\n";
/// Ends a stream whose position is no longer in the log.
const POSITION_LOST: &str = "event: sync_reset_required\ndata: {\"code\":\"sync_reset_required\",\"message\":\"events after this position are \
                         no longer kept: read the resources again, then continue from there\"}\n\n";
/// Ends a stream whose key was revoked or has expired.
const WITHOUT_KEY: &str = ": the API key is not valid any more\n\n";

/// A stream before its first byte.
pub struct EventStream {
    app: App,
    key: Arc<ApiKey>,
    key_watch: KeyWatch,
    filter: EventLogFilter,
    /// Sequence up to which every event was sent, or does not match.
    position: i64,
    /// Sequence that was last sent to the client, with which it reconnects.
    told: i64,
    /// Ids of the next events, in order; at most `PAGE`.
    next_ids: VecDeque<String>,
    /// Sequence up to which the log was searched for them.
    looked_to: i64,
    /// Maximum events of the next chunk.
    batch: usize,
    grown: watch::Receiver<()>,
    draining: watch::Receiver<bool>,
    /// The lane of the request that opened the stream, for which its reads count.
    lane: Lane,
    ends_at: Instant,
    beat_at: Instant,
    has_begun: bool,
    /// Permits of the key, of its application and of the host.
    _room: [OwnedSemaphorePermit; 3],
}

/// The next output of a stream.
enum StreamChunk {
    Next(Bytes),
    Last(Bytes),
}

/// The result of reading the log for a stream.
enum LogRead {
    Events(Bytes),
    /// None of the entries read matches, and there are more entries.
    More,
    Nothing,
    Overtaken,
}

impl EventStream {
    /// Opens a stream of events after a position; without a position, of events from now on.
    ///
    /// # Errors
    /// 429 if the key, its application or the host has its maximum of streams, 409 `sync_reset_required` if the log no longer holds
    /// everything after the position, and the errors of an `EventLogFilter`.
    pub async fn open(
        app: &App,
        key: Arc<ApiKey>,
        wish: &EventRequest,
        after: Option<i64>,
    ) -> Result<EventStream> {
        let room = take_room(app, &key)?;
        let filter = EventLogFilter::new(app, &key, wish).await?;
        // Subscribed before the log is read: each later write wakes the stream.
        let grown = app.db.wakes().growth_of(&key.tenant.application_id);
        let last = log::last_sequence(app.db.reader(), &key.tenant).await?;
        if let Some(after) = after {
            check_position(after, log::floor(app.db.reader(), &key.tenant).await?, last)?;
        }
        let (position, now, limits) = (after.unwrap_or(last), Instant::now(), app.config.event_streams);
        Ok(EventStream {
            app: app.clone(),
            key_watch: key_watch::begin(app, &key),
            key,
            filter,
            position,
            told: position,
            next_ids: VecDeque::new(),
            looked_to: position,
            batch: 1,
            grown,
            draining: app.draining(),
            lane: Lane::current(),
            ends_at: now + limits.longest,
            beat_at: now + limits.beat_every,
            has_begun: false,
            _room: room,
        })
    }

    /// Returns the bytes of the stream. Each chunk is built when it is polled.
    pub fn pieces(self) -> impl Stream<Item = Result<Bytes, Infallible>> + Send + 'static {
        futures::stream::unfold(Some(self), |stream| async move {
            let mut stream = stream?;
            match stream.next().await {
                StreamChunk::Next(bytes) => Some((Ok::<_, Infallible>(bytes), Some(stream))),
                StreamChunk::Last(bytes) => Some((Ok(bytes), None)),
            }
        })
    }

    async fn next(&mut self) -> StreamChunk {
        if !self.has_begun {
            self.has_begun = true;
            // A client that loses its connection before the first event reconnects with this position, and misses nothing.
            return StreamChunk::Next(format!("retry: 1000\nid: {}\n\n", self.position).into());
        }
        loop {
            let (is_draining, now) = (*self.draining.borrow(), Instant::now());
            if is_draining || now >= self.ends_at {
                return StreamChunk::Last(Bytes::from_static(RECONNECT.as_bytes()));
            }
            if self.key_watch.has_ended() || !is_valid(&self.key, self.app.now()) {
                return StreamChunk::Last(Bytes::from_static(WITHOUT_KEY.as_bytes()));
            }
            if now >= self.beat_at {
                return self.beat(now).await;
            }
            let lane = self.lane.clone();
            match lane.scope(self.read()).await {
                Ok(LogRead::Events(bytes)) => return StreamChunk::Next(bytes),
                // Lets other tasks run.
                Ok(LogRead::More) => tokio::task::yield_now().await,
                Ok(LogRead::Nothing) => self.wait(now).await,
                Ok(LogRead::Overtaken) => {
                    return StreamChunk::Last(Bytes::from_static(POSITION_LOST.as_bytes()));
                }
                Err(e) => return failure_chunk(&e),
            }
        }
    }

    /// Returns a heartbeat if the key is still valid. Its id says how far the log was searched, so that a client that waits for rare events
    /// does not reconnect with a position that was deleted long ago.
    async fn beat(&mut self, now: Instant) -> StreamChunk {
        self.beat_at = now + self.app.config.event_streams.beat_every;
        let (reader, key) = (self.app.db.reader(), &self.key);
        let lane = self.lane.clone();
        match lane.scope(api_keys::find(reader, &key.tenant, None, &key.id)).await {
            Ok(Some(key)) if is_valid(&key, self.app.now()) => {}
            Ok(_) => return StreamChunk::Last(Bytes::from_static(WITHOUT_KEY.as_bytes())),
            Err(e) => return failure_chunk(&e.into()),
        }
        if self.position == self.told {
            return StreamChunk::Next(Bytes::from_static(b":\n\n"));
        }
        self.told = self.position;
        StreamChunk::Next(format!(":\nid: {}\n\n", self.told).into())
    }

    /// Waits until there may be something to do.
    async fn wait(&mut self, now: Instant) {
        let look_at = now + self.app.config.event_streams.look_every;
        let until = look_at.min(self.beat_at).min(self.ends_at);
        // The application that `self` holds keeps both senders alive.
        tokio::select! {
            _ = self.grown.changed() => {}
            _ = self.draining.wait_for(|is_draining| *is_draining) => {}
            () = self.key_watch.ended() => {}
            () = sleep_until(until) => {}
        }
    }

    async fn read(&mut self) -> Result<LogRead> {
        if self.next_ids.is_empty()
            && let Some(read) = self.find_read().await?
        {
            return Ok(read);
        }
        let (reader, tenant) = (self.app.db.reader(), &self.key.tenant);
        let ids: Vec<String> = self.next_ids.iter().take(self.batch).cloned().collect();
        let entries = log::whole_by_ids(reader, tenant, &ids).await?;
        // The floor is read after the entries: entries above it now existed when they were read.
        if log::floor(reader, tenant).await? > self.position {
            return Ok(LogRead::Overtaken);
        }
        // A resource that is too large for an event is read nevertheless.
        let held: usize = entries.iter().filter_map(|entry| entry.resource.as_deref()).map(str::len).sum();
        let (mut text, mut sent) = (Vec::new(), ids.len());
        for entry in &entries {
            if text.len() > LARGE_BYTES {
                // This event begins the next chunk; this chunk has at least one.
                sent = ids.iter().position(|id| *id == entry.id).unwrap_or(sent);
                break;
            }
            append(&mut text, entry.sequence, &entry.entry_type, &events::body(entry, tenant));
            self.position = entry.sequence;
        }
        self.told = self.position;
        self.next_ids.drain(..sent);
        if self.next_ids.is_empty() {
            self.position = self.looked_to;
        }
        self.batch = match held > LARGE_BYTES {
            true => 1,
            false => (self.batch * 2).min(WHOLE_AT_A_TIME),
        };
        Ok(LogRead::Events(text.into()))
    }

    /// Searches for the next events. None: some were found.
    async fn find_read(&mut self) -> Result<Option<LogRead>> {
        let (reader, tenant) = (self.app.db.reader(), &self.key.tenant);
        // All entries up to this number are readable: a writer locks the application's row from taking a number to the commit.
        let last = log::last_sequence(reader, tenant).await?;
        if last < self.position {
            // The database was restored to an earlier state, so sequences that were sent are assigned again (`check_position`).
            return Ok(Some(LogRead::Overtaken));
        }
        if last == self.position {
            return Ok(Some(LogRead::Nothing));
        }
        let mut lines = log::light_after(reader, tenant, self.position, PAGE).await?;
        if log::floor(reader, tenant).await? > self.position {
            return Ok(Some(LogRead::Overtaken));
        }
        let is_end = events::is_end(&lines, PAGE, last);
        lines.retain(|line| line.sequence <= last);
        // Some numbers have no entry.
        self.looked_to = lines.last().filter(|_| !is_end).map_or(last, |line| line.sequence);
        let admitted = lines.into_iter().filter(|line| self.filter.admits(line));
        self.next_ids = admitted.map(|line| line.id).collect();
        if !self.next_ids.is_empty() {
            return Ok(None);
        }
        self.position = self.looked_to;
        Ok(Some(if is_end { LogRead::Nothing } else { LogRead::More }))
    }
}

/// Takes the permits for a stream of this key, which are released when dropped.
pub(super) fn take_room(app: &App, key: &ApiKey) -> Result<[OwnedSemaphorePermit; 3]> {
    let limits = app.config.event_streams;
    let full = |whose: &str, most: usize| {
        let message = format!("{whose} has {most} event streams open, which is the most; close one of them");
        Refusal::new(Code::RateLimited, message).retry_after_s(WAIT_S)
    };
    let shares = app.stream_shares.of(key.budget_id());
    let own = shares.try_acquire_owned().map_err(|_| full("the API key", limits.of_key))?;
    let application = app.application_stream_shares.of(&key.tenant.application_id).try_acquire_owned();
    let application = application.map_err(|_| full("the application", limits.of_application))?;
    let one = app.stream_room.clone().try_acquire_owned();
    Ok([own, application, one.map_err(|_| full("this host", limits.of_host))?])
}

fn is_valid(key: &ApiKey, now: i64) -> bool {
    key.revoked_at.is_none() && key.expires_at.is_none_or(|at| at > now)
}

/// Ends the stream because the database does not answer: the client reconnects shortly and continues at its position.
fn failure_chunk(e: &base::error::Error) -> StreamChunk {
    if !e.is_outage() {
        tracing::warn!(error = ?e, "an event stream ends");
    }
    StreamChunk::Last(Bytes::from_static(RECONNECT.as_bytes()))
}

/// Appends an event. Its text is one line; further lines would each become a `data` field.
fn append(text: &mut Vec<u8>, sequence: i64, kind: &str, body: &[u8]) {
    text.extend_from_slice(format!("id: {sequence}\nevent: {kind}\n").as_bytes());
    for line in body.split(|byte| matches!(byte, b'\n' | b'\r')) {
        text.extend_from_slice(b"data: ");
        text.extend_from_slice(line);
        text.push(b'\n');
    }
    text.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_three_lines_and_an_empty_one() {
        let mut text = Vec::new();
        append(&mut text, 4_711, "task.created", br#"{"id":"ev_1"}"#);
        append(&mut text, 4_712, "task.deleted", b"{\n}");
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "id: 4711\nevent: task.created\ndata: {\"id\":\"ev_1\"}\n\nid: 4712\nevent: task.deleted\ndata: {\ndata: }\n\n"
        );
    }
}
