//! Queues of one account's requests under the limits of `[limits]`: a maximum of concurrent requests, and of units within a time. All calls
//! of this process count together, those of other hosts do not.
//!
//! Requests that may not be sent yet wait in a queue of their account: first those that a caller waits for, then background ones, each in
//! order of arrival. A request whose bucket is used up lets those of other buckets pass. No lock is held across I/O.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::manifest::{AccountLimits, RateLimit};

/// Maximum waiting requests of one account; more are refused.
const MAX_WAITERS: usize = 256;
/// Longest wait of a background call for units: then it releases its permits, and is retried when there are units.
const BACKGROUND_WAIT: Duration = Duration::from_secs(5);
/// Interval at which a waiting request checks again: requests ahead of it may have taken the units that it waited for.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Retry delay of a request that was refused while it waited for others of its account, ms.
const QUEUE_WAIT_MS: u64 = 1_000;
/// Number of parts of `per_s` by which used units are counted: units become available at most one part late.
const WINDOW_PARTS: i64 = 60;
/// Number of accounts at which idle accounts with all their units are first dropped.
const FIRST_SWEEP: usize = 1_024;

/// The host's clock, ms since 1970.
pub(crate) type PaceClock = Arc<dyn Fn() -> i64 + Send + Sync>;

/// The limits of a call's account, and how the call may use them.
pub(crate) struct PaceRules {
    pub(crate) limits: Arc<AccountLimits>,
    /// Whether the call is a background call: no API request waits for it.
    pub(crate) is_background: bool,
    pub(crate) now: PaceClock,
}

impl PaceRules {
    /// No limits: requests never wait.
    pub(crate) fn unlimited(now: PaceClock) -> PaceRules {
        PaceRules { limits: Arc::default(), is_background: false, now }
    }
}

/// A request to be sent.
pub(super) struct PaceRequest<'a> {
    /// The connection's id.
    pub(super) account: &'a str,
    /// The bucket that counts it.
    pub(super) bucket: Option<&'a RateLimit>,
    pub(super) units: u32,
    /// Units of the bucket that earlier requests of the same call have used.
    pub(super) used: u64,
    /// How long it may wait.
    pub(super) within: Duration,
}

impl PaceRequest<'_> {
    /// Whether its call alone needs more than these units.
    fn exceeds(&self, units: impl Fn(&RateLimit) -> u32) -> bool {
        let needed = self.used.saturating_add(u64::from(self.units));
        self.used > 0 && self.bucket.is_some_and(|rate| needed > u64::from(units(rate)))
    }

    /// Whether the request leaves the reserve to others. A call that alone needs more than the background's share would use that up, be
    /// refused and restart for ever: it may finish like a call that a caller waits for.
    fn leaves_reserve(&self, pacing: &PaceRules) -> bool {
        pacing.is_background && !self.exceeds(|rate| rate.allowed(true))
    }

    /// Whether the bucket has fewer units than its call needs, so that waiting is useless.
    pub(super) fn is_hopeless(&self) -> bool {
        self.exceeds(|rate| rate.units)
    }
}

/// The error of a request for which the limits leave no room in time.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PaceRefusal {
    /// Time after which there may be room, ms.
    pub(super) wait_ms: u64,
}

/// The accounts that have limits, by connection.
#[derive(Default)]
pub(crate) struct Paces {
    accounts: Mutex<Accounts>,
}

#[derive(Default)]
struct Accounts {
    by_id: HashMap<String, AccountPace>,
    /// Number of accounts at which idle ones are next dropped.
    sweep_at: usize,
}

/// The requests of one account.
#[derive(Default)]
struct AccountPace {
    /// The limits as given by the newest request.
    limits: Arc<AccountLimits>,
    running: usize,
    waiters: VecDeque<Waiter>,
    windows: HashMap<String, Window>,
    last_number: u64,
}

/// A request that waits.
struct Waiter {
    number: u64,
    bucket: Option<String>,
    units: u32,
    /// Whether it queues behind others and leaves them the reserve.
    is_background: bool,
    /// Signals that it may be sent.
    turn: oneshot::Sender<()>,
}

/// Used units of a bucket, each with the time at which they become available again, ms since 1970, the next first.
#[derive(Default)]
struct Window {
    used: VecDeque<(i64, u32)>,
    total: u64,
}

impl Window {
    /// Drops units that are available again by `now`.
    fn renew(&mut self, now: i64, rate: &RateLimit) {
        // A clock that was set back must not block an account for longer than its limits do.
        let latest = now.saturating_add(back_after_ms(rate));
        for (back_at, _) in self.used.iter_mut().rev().take_while(|(back_at, _)| *back_at > latest) {
            *back_at = latest;
        }
        while let Some((_, units)) = self.used.front().copied().filter(|(back_at, _)| *back_at <= now) {
            self.used.pop_front();
            self.total -= u64::from(units);
        }
    }

    /// Milliseconds until so many units, of `allowed` in all, are available; 0: now. A request for more than all waits until all are.
    fn wait_ms(&self, units: u64, allowed: u32, now: i64) -> u64 {
        let room = u64::from(allowed).saturating_sub(units);
        let mut left = self.total;
        for (back_at, units) in &self.used {
            if left <= room {
                break;
            }
            left -= u64::from(*units);
            if left <= room {
                return u64::try_from(back_at - now).unwrap_or(0).max(1);
            }
        }
        0
    }

    fn take(&mut self, units: u32, now: i64, rate: &RateLimit) {
        let part = part_ms(rate);
        let back_at = now - now.rem_euclid(part) + back_after_ms(rate);
        match self.used.back_mut() {
            Some((last, used)) if *last >= back_at => *used += units,
            _ => self.used.push_back((back_at, units)),
        }
        self.total += u64::from(units);
    }
}

/// One of the parts by which a bucket's units are counted, ms.
fn part_ms(rate: &RateLimit) -> i64 {
    (i64::from(rate.per_s) * 1_000 / WINDOW_PARTS).max(1)
}

/// The time after the beginning of a part at which its units are available again, ms: at least `per_s` after each was used.
fn back_after_ms(rate: &RateLimit) -> i64 {
    i64::from(rate.per_s) * 1_000 + part_ms(rate)
}

impl AccountPace {
    /// Wakes all requests that may be sent now.
    fn advance(&mut self, now: i64) {
        let mut held: HashSet<Option<String>> = HashSet::new();
        for is_background in [false, true] {
            let mut at = 0;
            while let Some(waiter) = self.waiters.get(at) {
                let most = self.limits.concurrent.map_or(usize::MAX, usize::from);
                if self.running >= most {
                    return;
                }
                let is_next = waiter.is_background == is_background && !held.contains(&waiter.bucket);
                if !is_next {
                    at += 1;
                    continue;
                }
                let (bucket, units) = (waiter.bucket.clone(), waiter.units);
                if self.units_wait_ms(bucket.as_deref(), u64::from(units), is_background, now) > 0 {
                    held.insert(bucket);
                    at += 1;
                    continue;
                }
                if let Some(waiter) = self.waiters.remove(at) {
                    self.running += 1;
                    self.take(&waiter, now);
                    // The receiver of a dropped waiter is gone; its place is released by itself.
                    let _ = waiter.turn.send(());
                }
            }
        }
    }

    /// Milliseconds until a waiting request and those before it have their units; 0: now, or it no longer waits.
    fn wait_ms(&mut self, number: u64, now: i64) -> u64 {
        let Some(own) = self.waiters.iter().find(|waiter| waiter.number == number) else { return 0 };
        let is_ahead = |other: &&Waiter| match (other.is_background, own.is_background) {
            (false, true) => true,
            (true, false) => false,
            _ => other.number <= own.number,
        };
        let of_bucket = self.waiters.iter().filter(|other| other.bucket == own.bucket);
        let units: u64 = of_bucket.filter(is_ahead).map(|waiter| u64::from(waiter.units)).sum();
        let (bucket, is_background) = (own.bucket.clone(), own.is_background);
        self.units_wait_ms(bucket.as_deref(), units, is_background, now)
    }

    /// Milliseconds until the bucket has so many units for a call of this kind; 0: now.
    fn units_wait_ms(&mut self, bucket: Option<&str>, units: u64, is_background: bool, now: i64) -> u64 {
        let limits = self.limits.clone();
        let Some(rate) = rate_of(&limits, bucket) else { return 0 };
        let Some(window) = self.windows.get_mut(&rate.name) else { return 0 };
        window.renew(now, rate);
        window.wait_ms(units, rate.allowed(is_background), now)
    }

    fn take(&mut self, waiter: &Waiter, now: i64) {
        let limits = self.limits.clone();
        let Some(rate) = rate_of(&limits, waiter.bucket.as_deref()) else { return };
        let window = self.windows.entry(rate.name.clone()).or_default();
        window.take(waiter.units, now, rate);
    }

    /// Whether nothing of it needs to be kept.
    fn is_idle(&mut self, now: i64) -> bool {
        let limits = self.limits.clone();
        self.windows.retain(|name, window| {
            let Some(rate) = rate_of(&limits, Some(name)) else { return false };
            window.renew(now, rate);
            !window.used.is_empty()
        });
        self.running == 0 && self.waiters.is_empty() && self.windows.is_empty()
    }
}

/// Returns the bucket of this name. None: it is no longer among the limits, so nothing is counted.
fn rate_of<'l>(limits: &'l AccountLimits, bucket: Option<&str>) -> Option<&'l RateLimit> {
    limits.rates.iter().find(|rate| Some(rate.name.as_str()) == bucket)
}

impl Paces {
    /// Waits until the account's limits allow the request. Fails if they do not in time, at once if that is already certain; then no units
    /// are used. A caller that stops waiting leaves nothing behind.
    pub(super) async fn enter(
        self: &Arc<Self>,
        request: PaceRequest<'_>,
        pacing: &PaceRules,
    ) -> Result<PacePass, PaceRefusal> {
        let ends_at = Instant::now() + request.within;
        let units_within = if request.leaves_reserve(pacing) { BACKGROUND_WAIT } else { request.within };
        let refusal = |wait_ms: u64| PaceRefusal { wait_ms: wait_ms.max(QUEUE_WAIT_MS) };
        let (pass, mut turn) = self.queue(&request, pacing).ok_or_else(|| refusal(0))?;
        loop {
            let wait_ms = self.advance(&pass, (pacing.now)());
            if turn.try_recv().is_ok() {
                return Ok(pass);
            }
            let (at, wait) = (Instant::now(), Duration::from_millis(wait_ms));
            if at >= ends_at || (wait_ms > 0 && at + wait > ends_at.min(at + units_within)) {
                return Err(refusal(wait_ms));
            }
            // Without a wait for units, a request in flight has to end, which wakes this one.
            let wake_at = if wait_ms > 0 { at + wait } else { ends_at.min(at + LOOK_EVERY) };
            tokio::select! {
                told = &mut turn => return told.map(|()| pass).map_err(|_| refusal(0)),
                () = tokio::time::sleep_until(wake_at) => {}
            }
        }
    }

    /// Wakes all requests that may be sent now. Returns how long this one has to wait for units, ms.
    fn advance(&self, of: &PacePass, now: i64) -> u64 {
        let mut accounts = self.lock();
        let Some(account) = accounts.by_id.get_mut(&of.account) else { return 0 };
        account.advance(now);
        account.wait_ms(of.number, now)
    }

    /// Puts a request into the queue. None: too many wait.
    fn queue(
        self: &Arc<Self>,
        request: &PaceRequest<'_>,
        pacing: &PaceRules,
    ) -> Option<(PacePass, oneshot::Receiver<()>)> {
        let now = (pacing.now)();
        let mut accounts = self.lock();
        accounts.sweep(now);
        let account = accounts.by_id.entry(request.account.to_owned()).or_default();
        account.limits = pacing.limits.clone();
        if account.waiters.len() >= MAX_WAITERS {
            return None;
        }
        account.last_number += 1;
        let (turn, told) = oneshot::channel();
        account.waiters.push_back(Waiter {
            number: account.last_number,
            bucket: request.bucket.map(|rate| rate.name.clone()),
            // A request for more units than the bucket has is sent when it is full.
            units: request.bucket.map_or(0, |rate| request.units.min(rate.units)),
            is_background: request.leaves_reserve(pacing),
            turn,
        });
        let pass = PacePass {
            paces: self.clone(),
            account: request.account.to_owned(),
            number: account.last_number,
            now: pacing.now.clone(),
        };
        Some((pass, told))
    }

    /// Returns the units that requests of an account have used and that are not available again at `now` (ms since 1970), by bucket.
    pub(super) fn used_units(&self, account: &str, now: i64) -> BTreeMap<String, u64> {
        let mut accounts = self.lock();
        let Some(account) = accounts.by_id.get_mut(account) else { return BTreeMap::new() };
        let limits = account.limits.clone();
        let used = account.windows.iter_mut().filter_map(|(name, window)| {
            window.renew(now, rate_of(&limits, Some(name))?);
            Some((name.clone(), window.total))
        });
        used.collect()
    }

    fn lock(&self) -> MutexGuard<'_, Accounts> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Accounts {
    /// Drops idle accounts if the number of accounts has doubled since the last time.
    fn sweep(&mut self, now: i64) {
        if self.by_id.len() >= self.sweep_at.max(FIRST_SWEEP) {
            self.by_id.retain(|_, account| !account.is_idle(now));
            self.sweep_at = self.by_id.len() * 2;
        }
    }
}

/// The place of a request in the queue, and then the permit to send it. Released when dropped: when the response was read, or the caller
/// has given up. Granted units count as used.
pub(super) struct PacePass {
    paces: Arc<Paces>,
    account: String,
    number: u64,
    now: PaceClock,
}

impl Drop for PacePass {
    fn drop(&mut self) {
        let now = (self.now)();
        let mut accounts = self.paces.lock();
        let Some(account) = accounts.by_id.get_mut(&self.account) else { return };
        match account.waiters.iter().position(|waiter| waiter.number == self.number) {
            Some(at) => drop(account.waiters.remove(at)),
            None => account.running = account.running.saturating_sub(1),
        }
        account.advance(now);
    }
}

#[cfg(test)]
mod tests;
