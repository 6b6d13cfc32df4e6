//! A cache of calendars' busy times. Without it a search among many hosts would read and decode all events of a range for each host. Every
//! visible change of an event takes the next number of its application's log, so busy times that were computed at the calendar's present
//! number are still valid. One small query checks that, on either engine and with any number of hosts. On SQLite, where this process alone
//! writes resources, even that query is skipped while nothing was committed.

use std::sync::Arc;

use anyhow::Result;
use base::tenant::Tenant;
use model::calendar::ShowAs;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use scheduling::interval::Interval;
use storage::{Db, log};

/// Upper bound of the cache, bytes.
const BYTES: u64 = 64 << 20;
/// Expected number of cached calendars.
const CALENDARS: usize = 8_192;
/// Size of one busy interval, bytes.
const STRETCH: usize = size_of::<(Interval, ShowAs)>();
/// Lifetime of an entry, ms. The log drops its oldest entries, and must still hold every entry that was written after the busy times were
/// computed.
const LIFE_MS: i64 = 3_600_000;

/// Busy stretches of a calendar and how they show.
pub type BusyStretches = Arc<[(Interval, ShowAs)]>;

/// The parameters that busy times depend on, apart from the events: the key of the cache.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Name {
    pub calendar_id: String,
    /// The requested range, ms since 1970.
    pub range: Interval,
    /// The zone of all-day events.
    pub zone: String,
    /// Only events that the account attends or organizes count.
    pub attending: bool,
    pub is_owned: bool,
    pub tentative_as_busy: bool,
    /// Ids of events that do not count, sorted.
    pub ignored: Vec<String>,
}

/// The position of the log before the events were read.
#[derive(Clone, Copy, Debug)]
pub struct LogMark {
    /// The number of the calendar's last log entry.
    last: Option<i64>,
    /// The database's count of commits before that number was read; none where other processes write too.
    commits: Option<u64>,
    /// When the events were read, ms since 1970.
    at: i64,
}

#[derive(Clone)]
struct CachedBusyTimes {
    mark: LogMark,
    times: BusyStretches,
}

#[derive(Clone)]
struct BusyTimesWeight;

impl Weighter<Name, CachedBusyTimes> for BusyTimesWeight {
    fn weight(&self, name: &Name, kept: &CachedBusyTimes) -> u64 {
        let ignored: usize = name.ignored.iter().map(|id| id.len() + size_of::<String>()).sum();
        (name.calendar_id.len() + name.zone.len() + ignored + kept.times.len() * STRETCH) as u64 + 256
    }
}

/// Busy times by name.
pub struct BusyTimes(Cache<Name, CachedBusyTimes, BusyTimesWeight>);

impl Default for BusyTimes {
    fn default() -> Self {
        BusyTimes(Cache::with_weighter(CALENDARS, BYTES, BusyTimesWeight))
    }
}

impl BusyTimes {
    /// Returns the busy times with this name if no event of the calendar has changed since they were computed, and the mark for `keep`.
    /// Must be called before the events are read: a change in between makes the busy times stale.
    pub async fn known(
        &self,
        db: &Db,
        tenant: &Tenant,
        now: i64,
        name: &Name,
    ) -> Result<(Option<BusyStretches>, LogMark)> {
        let kept = self.0.get(name).filter(|kept| (0..LIFE_MS).contains(&(now - kept.mark.at)));
        let commits = db.commits();
        if let Some(kept) = kept.as_ref().filter(|kept| commits.is_some() && kept.mark.commits == commits) {
            return Ok((Some(kept.times.clone()), kept.mark));
        }
        let last = log::last_in(db.resources(), tenant, &name.calendar_id).await?;
        match kept.filter(|kept| kept.mark.last == last) {
            Some(kept) => {
                let mark = LogMark { commits, ..kept.mark };
                self.keep(name.clone(), mark, kept.times.clone());
                Ok((Some(kept.times), mark))
            }
            None => Ok((None, LogMark { last, commits, at: now })),
        }
    }

    /// Stores busy times that were computed from events read after the mark was made.
    pub fn keep(&self, name: Name, mark: LogMark, times: BusyStretches) {
        self.0.insert(name, CachedBusyTimes { mark, times });
    }
}
