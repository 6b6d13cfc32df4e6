//! The event log for people: newest first, without the content of events.

use base::error::Result;
use storage::api_keys::ApiKey;
use storage::webhooks::replay_lines::{self, TimedLine};

use crate::app::App;
use crate::webhooks::events::{EventLogFilter, EventRequest, log_end};

/// Entries of the log that are read for one page, whether they are wanted or not.
const MAX_READ: i64 = 5_000;
/// Entries that are read at first: a page without a filter needs no more.
const FIRST_STEP: i64 = 200;
/// Entries that are read at a time after that.
const NEXT_STEP: i64 = 1_200;

/// Events before a place in the log, newest first.
#[derive(Debug)]
pub struct RecentEvents {
    pub lines: Vec<TimedLine>,
    /// The sequence before which the list continues; none: it ends here. A page with a next one may be short, or empty.
    pub next: Option<i64>,
    /// The last sequence of the log when it was read: what happens later has a higher one.
    pub newest: i64,
}

/// At most `limit` events that the key may see, before a place; without one, the newest. At most 5,000 entries of the log are read.
///
/// # Errors
/// Those of an `EventLogFilter`, and those of the database.
pub async fn page(
    app: &App,
    key: &ApiKey,
    wish: &EventRequest,
    before: Option<i64>,
    limit: usize,
) -> Result<RecentEvents> {
    let (reader, tenant) = (app.db.reader(), &key.tenant);
    let filter = EventLogFilter::new(app, key, wish).await?;
    let newest = log_end(reader, tenant).await?;
    let mut place = before.unwrap_or(i64::MAX).min(newest.saturating_add(1));
    let (mut lines, mut read) = (Vec::new(), 0);
    while read < MAX_READ {
        let step = if read == 0 { FIRST_STEP } else { NEXT_STEP };
        let wanted = step.min(MAX_READ - read);
        let chunk = replay_lines::before(reader, tenant, place, wanted).await?;
        let is_end = i64::try_from(chunk.len()).is_ok_and(|count| count < wanted);
        for timed in chunk {
            let is_asked_for = filter.admits(&timed.line);
            if is_asked_for && lines.len() == limit {
                return Ok(RecentEvents { lines, next: Some(place), newest });
            }
            place = timed.line.sequence;
            if is_asked_for {
                lines.push(timed);
            }
        }
        if is_end {
            return Ok(RecentEvents { lines, next: None, newest });
        }
        read += wanted;
    }
    Ok(RecentEvents { lines, next: Some(place), newest })
}
