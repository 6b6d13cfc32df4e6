//! Busy times of calendars that were worked out before and are still true. To work them out, all events of a range are read and decoded,
//! and a search among many hosts would do that for each of them. Every visible change of an event takes the next number of its
//! application's log, so what was worked out at the last number that the calendar has now is what would be worked out now. One small query
//! says so, on either engine and with any number of hosts; on SQLite, where this process alone writes resources, not even that is needed
//! as long as nothing at all was committed.

use std::sync::Arc;

use anyhow::Result;
use base::tenant::Tenant;
use model::calendar::ShowAs;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use scheduling::interval::Interval;
use storage::{Db, log};

/// Most bytes that are kept.
const BYTES: u64 = 64 << 20;
/// About how many calendars that is.
const CALENDARS: usize = 8_192;
/// Bytes of a stretch of time.
const STRETCH: usize = size_of::<(Interval, ShowAs)>();
/// How long they are kept, ms: the log forgets its oldest lines, and must not have forgotten one that came after them.
const LIFE_MS: i64 = 3_600_000;

/// Busy stretches of a calendar and how they show.
pub type BusyStretches = Arc<[(Interval, ShowAs)]>;

/// What busy times depend on, apart from the events.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Name {
    pub calendar_id: String,
    /// The range that is looked at, ms since 1970.
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

/// Where the log stood before the events were read.
#[derive(Clone, Copy, Debug)]
pub struct LogMark {
    /// The number of the calendar's last line.
    last: Option<i64>,
    /// The database's count of commits before that number was read; none where others write too.
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
    /// The busy times with this name if no event of the calendar has changed since they were worked out; and the mark under which they are
    /// to be kept (`keep`) where they are worked out now. It has to be asked for before the events are read: a change meanwhile makes
    /// them old.
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

    /// Keeps busy times that were worked out from events which were read after the mark was made.
    pub fn keep(&self, name: Name, mark: LogMark, times: BusyStretches) {
        self.0.insert(name, CachedBusyTimes { mark, times });
    }
}
