//! Free times for the page, from the same search as the API's. The page needs only the starts of slots, not their tokens, each of which is
//! signed.

use base::error::Result;
use model::Instant;
use model::scheduling::slots::SlotQuery;
use service::app::App;
use service::bookings::slots::{self, SlotStart};

use crate::api::book::subject::BookableEventType;

pub const DAY_MS: i64 = 24 * 60 * 60_000;
/// Longest range of one search.
const STEP_MS: i64 = 62 * DAY_MS;
/// Most searches for the next free time after a month without one.
const MAX_STEPS: usize = 3;
/// Most slots of one search: every five minutes of its range, and no grid is finer.
const MAX_STARTS: i64 = 18_000;
/// Times that are offered in place of one that is taken.
const OTHERS: usize = 3;

/// All starts in a range of at most 62 days.
pub async fn starts(
    app: &App,
    subject: &BookableEventType,
    from_ms: i64,
    to_ms: i64,
) -> Result<Vec<SlotStart>> {
    if from_ms >= to_ms {
        return Ok(Vec::new());
    }
    let query = query(subject, from_ms, to_ms, MAX_STARTS);
    // In one search: each page would read all calendars again.
    let mut starts = slots::starts(app, &subject.asker, &query, MAX_STARTS).await?;
    starts.retain(|start| !subject.is_now(start.at));
    Ok(starts)
}

/// The first free time after a month without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextTime {
    At(Instant),
    /// There is none within the booking window.
    None,
    /// The search failed, or gave up before the end of the window.
    Unknown,
}

/// The first start in a range of any length, searched only up to a limit.
pub async fn first(app: &App, subject: &BookableEventType, mut from_ms: i64, to_ms: i64) -> Result<NextTime> {
    for _ in 0..MAX_STEPS {
        let end_ms = to_ms.min(from_ms.saturating_add(STEP_MS));
        if from_ms >= end_ms {
            break;
        }
        // Two, because the first one can be the current time of the booking to be rescheduled.
        let query = query(subject, from_ms, end_ms, 2);
        let starts = slots::starts(app, &subject.asker, &query, 2).await?;
        if let Some(start) = starts.into_iter().find(|start| !subject.is_now(start.at)) {
            return Ok(NextTime::At(start.at));
        }
        from_ms = end_ms;
    }
    Ok(if from_ms >= to_ms { NextTime::None } else { NextTime::Unknown })
}

/// Whether a meeting can begin at this time.
pub async fn is_free(app: &App, subject: &BookableEventType, start: Instant) -> Result<bool> {
    let from_ms = start.as_millis();
    let found = first(app, subject, from_ms, from_ms.saturating_add(1)).await?;
    Ok(matches!(found, NextTime::At(_)))
}

/// The free times nearest to one that is taken, earliest first. Empty if the search fails: the visitor still has the list.
pub async fn nearest(app: &App, subject: &BookableEventType, start: Instant) -> Vec<Instant> {
    let at_ms = start.as_millis();
    let from_ms = app.now().max(at_ms.saturating_sub(DAY_MS));
    let found = starts(app, subject, from_ms, from_ms.saturating_add(8 * DAY_MS)).await.unwrap_or_default();
    let mut found: Vec<Instant> = found.into_iter().map(|start| start.at).collect();
    found.retain(|other| *other != start);
    found.sort_by_key(|other| other.as_millis().abs_diff(at_ms));
    found.truncate(OTHERS);
    found.sort_unstable();
    found
}

fn query(subject: &BookableEventType, from_ms: i64, to_ms: i64, limit: i64) -> SlotQuery {
    SlotQuery {
        event_type_id: Some(subject.bookable.row.id.clone()),
        start: Instant::from_millis(from_ms),
        end: Instant::from_millis(to_ms),
        duration_minutes: Some(subject.minutes),
        reschedule_booking_id: subject.moved.as_ref().map(|moved| moved.id.clone()),
        limit: Some(limit),
        ..SlotQuery::default()
    }
}
