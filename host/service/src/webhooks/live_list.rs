//! Live events of an application for a list in the panel, without their content. A list that is far behind skips events that a page would
//! no longer show. The reader is checked again before each piece: the list ends with their session or role.

use std::pin::Pin;
use std::time::Duration;

use base::error::Result;
use base::tenant::Tenant;
use futures::Stream;
use storage::api_keys::ApiKey;
use storage::lane::Lane;
use storage::webhooks::replay_lines::{self, TimedLine};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::{Instant, sleep_until};

use crate::app::App;
use crate::webhooks::events::{EventLogFilter, EventRequest, log_end};
use crate::webhooks::stream::take_room;

/// Entries of the log that are read at a time.
const PAGE: i64 = 100;
/// Entries that a list is behind at most; earlier ones are skipped.
const MAX_BEHIND: i64 = 1_000;
/// The least time between two looks at the log, however fast it grows.
const PACE: Duration = Duration::from_millis(250);

/// Says whether the reader may still see the list.
pub type ReaderCheck = Box<dyn Fn() -> CheckFuture + Send + Sync>;
/// The future of a `ReaderCheck`.
pub type CheckFuture = Pin<Box<dyn Future<Output = Result<bool>> + Send>>;

/// A list that is watched, before its first piece.
pub struct LiveList {
    app: App,
    tenant: Tenant,
    filter: EventLogFilter,
    check: ReaderCheck,
    /// Everything up to this sequence was sent, skipped, or is not asked for.
    position: i64,
    grown: watch::Receiver<()>,
    draining: watch::Receiver<bool>,
    /// Reads count as those of the request that opened the list.
    lane: Lane,
    /// The log is not looked at before.
    rests_until: Instant,
    beat_at: Instant,
    ends_at: Instant,
    /// Permits of the reader, of the application and of the host.
    _room: [OwnedSemaphorePermit; 3],
}

/// A piece of a list that is watched.
#[derive(Debug)]
pub enum LivePiece {
    /// Events, newest first, and the sequence up to which the log was read.
    Lines(Vec<TimedLine>, i64),
    /// A sign of life, with the same sequence.
    Beat(i64),
    /// The last piece: the list can be opened again.
    Again,
    /// The last piece: its reader may not see the list any more.
    Over,
}

impl LiveList {
    /// Returns a list of the events after a sequence; without one, of those that are logged from now on. `key` has the rights of the
    /// reader.
    ///
    /// # Errors
    /// 429 where the reader, the application or the host has as many streams as it may, and the errors of an `EventLogFilter`.
    pub async fn open(
        app: &App,
        key: &ApiKey,
        wish: &EventRequest,
        after: Option<i64>,
        check: ReaderCheck,
    ) -> Result<LiveList> {
        let room = take_room(app, key)?;
        let filter = EventLogFilter::new(app, key, wish).await?;
        // Subscribed before the log is read: each later write wakes the list.
        let grown = app.db.wakes().growth_of(&key.tenant.application_id);
        let position = match after {
            Some(after) => after,
            None => log_end(app.db.reader(), &key.tenant).await?,
        };
        let (now, limits) = (Instant::now(), app.config.event_streams);
        Ok(LiveList {
            app: app.clone(),
            tenant: key.tenant.clone(),
            filter,
            check,
            position,
            grown,
            draining: app.draining(),
            lane: Lane::current(),
            rests_until: now,
            beat_at: now,
            ends_at: now + limits.longest,
            _room: room,
        })
    }

    /// The pieces of the list. Each is made when it is asked for.
    pub fn pieces(self) -> impl Stream<Item = LivePiece> + Send + 'static {
        futures::stream::unfold(Some(self), |list| async move {
            let mut list = list?;
            let piece = list.next().await;
            let goes_on = matches!(piece, LivePiece::Lines(..) | LivePiece::Beat(_));
            Some((piece, goes_on.then_some(list)))
        })
    }

    async fn next(&mut self) -> LivePiece {
        loop {
            let (is_draining, now) = (*self.draining.borrow(), Instant::now());
            if is_draining || now >= self.ends_at {
                return LivePiece::Again;
            }
            if now < self.rests_until {
                sleep_until(self.rests_until).await;
                continue;
            }
            let lane = self.lane.clone();
            match lane.scope(self.read(now)).await {
                Ok(Some(piece)) => return piece,
                Ok(None) => self.wait(now).await,
                Err(e) => {
                    if !e.is_outage() {
                        tracing::warn!(error = ?e, "a live list of events ends");
                    }
                    return LivePiece::Again;
                }
            }
        }
    }

    /// The next piece; none while there is nothing to say.
    async fn read(&mut self, now: Instant) -> Result<Option<LivePiece>> {
        let check = (self.check)();
        if !check.await? {
            return Ok(Some(LivePiece::Over));
        }
        // Also after a read that found nothing: a log may grow fast by entries that the list does not show.
        self.rests_until = now + PACE;
        let mut lines = self.read_next().await?;
        if !lines.is_empty() {
            lines.reverse();
            return Ok(Some(LivePiece::Lines(lines, self.position)));
        }
        if now < self.beat_at {
            return Ok(None);
        }
        self.beat_at = now + self.app.config.event_streams.beat_every;
        Ok(Some(LivePiece::Beat(self.position)))
    }

    /// Events that come next, oldest first; none up to the end of the log.
    async fn read_next(&mut self) -> Result<Vec<TimedLine>> {
        let (reader, tenant) = (self.app.db.reader(), &self.tenant);
        let last = log_end(reader, tenant).await?;
        // It is ahead where the database was put back to an earlier state.
        self.position = self.position.clamp(last.saturating_sub(MAX_BEHIND), last);
        while self.position < last {
            let mut lines = replay_lines::after(reader, tenant, (self.position, last), PAGE).await?;
            let is_end = i64::try_from(lines.len()).is_ok_and(|count| count < PAGE);
            // Numbers without an entry exist.
            self.position = lines.last().filter(|_| !is_end).map_or(last, |timed| timed.line.sequence);
            lines.retain(|timed| self.filter.admits(&timed.line));
            if !lines.is_empty() {
                return Ok(lines);
            }
        }
        Ok(Vec::new())
    }

    /// Waits until there may be something to do.
    async fn wait(&mut self, now: Instant) {
        let look_at = now + self.app.config.event_streams.look_every;
        let until = look_at.min(self.beat_at).min(self.ends_at);
        // The application that is held here keeps both senders.
        tokio::select! {
            _ = self.grown.changed() => {}
            _ = self.draining.wait_for(|is_draining| *is_draining) => {}
            () = sleep_until(until) => {}
        }
    }
}
