//! The limits of an account under many requests: never too many at once, never too many units within a time, and no request waits
//! for ever.
//!
//! Time is `FakeTime`, which advances when all requests wait. The timers of `Paces::enter` are real and never fire in
//! `FakeTime::run`, which wakes requests when their units are back. Two tests let the timers fire, after milliseconds and after
//! `LOOK_EVERY`.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};

use super::*;
use crate::manifest::WaitScope;
use crate::surface::Surface;

const ACCOUNT: &str = "conn_1";
/// Polls after which a test without a result fails. Hundreds of requests take a few thousand.
const MAX_STEPS: usize = 50_000;

/// A clock that advances when all requests wait: to the next wake-up of a sleeper, or to the time at which units are back.
struct FakeTime {
    /// Ms since 1970.
    at: Arc<AtomicI64>,
    /// Sleepers by the time at which they wake.
    sleepers: Mutex<BTreeMap<i64, Vec<Waker>>>,
}

impl FakeTime {
    fn new() -> FakeTime {
        FakeTime { at: Arc::new(AtomicI64::new(1_700_000_000_123)), sleepers: Mutex::default() }
    }

    fn now(&self) -> i64 {
        self.at.load(Ordering::Relaxed)
    }

    fn clock(&self) -> PaceClock {
        let at = self.at.clone();
        Arc::new(move || at.load(Ordering::Relaxed))
    }

    /// Sets the clock forward, or back.
    fn shift(&self, ms: i64) {
        self.at.fetch_add(ms, Ordering::Relaxed);
    }

    async fn sleep(&self, ms: u64) {
        let until = self.now() + i64::try_from(ms).unwrap();
        poll_fn(|context| {
            if self.now() >= until {
                return Poll::Ready(());
            }
            self.sleepers.lock().unwrap().entry(until).or_default().push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Polls until there is a result. Fails when all requests wait, and no event is left.
    fn run<T>(&self, paces: &Paces, body: impl Future<Output = T>) -> T {
        // Nothing runs in it: requests make their timers there.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let _entered = runtime.enter();
        let woken = Arc::<WakeFlag>::default();
        let waker = Waker::from(woken.clone());
        let mut body = pin!(body);
        for _ in 0..MAX_STEPS {
            if let Poll::Ready(result) = body.as_mut().poll(&mut Context::from_waker(&waker)) {
                return result;
            }
            if !woken.is_set.swap(false, Ordering::Relaxed) {
                self.go_on(paces);
            }
        }
        panic!("no result after {MAX_STEPS} steps");
    }

    /// Sets the clock to the next event, wakes the sleepers until then, and all requests that may be sent.
    fn go_on(&self, paces: &Paces) {
        let mut accounts = paces.lock();
        let mut sleepers = self.sleepers.lock().unwrap();
        let units_back = accounts.by_id.values_mut().filter_map(|account| self.units_back(account)).min();
        let next = sleepers.keys().next().copied().into_iter().chain(units_back).min();
        let now = next.expect("everybody waits, and nothing is to come").max(self.now());
        self.at.store(now, Ordering::Relaxed);
        let later = sleepers.split_off(&(now + 1));
        let woken = std::mem::replace(&mut *sleepers, later);
        woken.into_values().flatten().for_each(Waker::wake);
        accounts.by_id.values_mut().for_each(|account| account.advance(now));
    }

    /// The first time at which a request of this account wakes to see whether it has its units.
    fn units_back(&self, account: &mut AccountPace) -> Option<i64> {
        let now = self.now();
        let numbers: Vec<u64> = account.waiters.iter().map(|waiter| waiter.number).collect();
        let waits = numbers.into_iter().map(|number| account.wait_ms(number, now));
        waits.filter(|wait_ms| *wait_ms > 0).min().map(|wait_ms| now + i64::try_from(wait_ms).unwrap())
    }
}

/// A waker that records that a future can proceed.
#[derive(Default)]
struct WakeFlag {
    is_set: AtomicBool,
}

impl Wake for WakeFlag {
    fn wake(self: Arc<Self>) {
        self.is_set.store(true, Ordering::Relaxed);
    }
}

fn rate(name: &str, units: u32, per_s: u32, reserve: u8) -> RateLimit {
    RateLimit {
        name: name.to_owned(),
        hosts: Vec::new(),
        surfaces: vec![Surface::Email],
        wait_scope: WaitScope::Bucket,
        units,
        per_s,
        reserve,
    }
}

fn limits(concurrent: Option<u8>, rates: Vec<RateLimit>) -> Arc<AccountLimits> {
    Arc::new(AccountLimits { concurrent, rates })
}

fn pacing(limits: &Arc<AccountLimits>, is_background: bool, now: &PaceClock) -> PaceRules {
    PaceRules { limits: limits.clone(), is_background, now: now.clone() }
}

async fn enter(
    paces: &Arc<Paces>,
    of: &PaceRules,
    units: u32,
    within_ms: u64,
) -> Result<PacePass, PaceRefusal> {
    let within = Duration::from_millis(within_ms);
    let request = PaceRequest { account: ACCOUNT, bucket: of.limits.rates.first(), units, used: 0, within };
    paces.enter(request, of).await
}

#[test]
fn never_more_than_concurrent_are_under_way_and_all_get_their_turn() {
    let (paces, time) = (Arc::<Paces>::default(), FakeTime::new());
    let of = pacing(&limits(Some(3), vec![]), false, &time.clock());
    let (running, most, order) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(Vec::new()));
    let all: FuturesUnordered<_> = (0..40_u64)
        .map(|number| {
            let (paces, time, of, running, most, order) = (&paces, &time, &of, &running, &most, &order);
            async move {
                let pass = enter(paces, of, 1, 60_000).await.unwrap();
                order.lock().unwrap().push(number);
                most.fetch_max(running.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
                time.sleep(10 + number * 7 % 30).await;
                running.fetch_sub(1, Ordering::Relaxed);
                drop(pass);
            }
        })
        .collect();
    assert_eq!(time.run(&paces, all.count()), 40);
    assert_eq!(most.load(Ordering::Relaxed), 3);
    assert_eq!(order.into_inner().unwrap(), (0..40).collect::<Vec<_>>(), "in the order in which they came");
    let accounts = paces.lock();
    assert_eq!((accounts.by_id[ACCOUNT].running, accounts.by_id[ACCOUNT].waiters.len()), (0, 0));
}

/// Units that a request has used.
struct Usage {
    at: i64,
    units: u32,
    is_background: bool,
}

/// The most units that were used in any period of this length.
fn most_within<'u>(used: impl Iterator<Item = &'u Usage> + Clone, ms: i64) -> u32 {
    let from = |first: &Usage| {
        let stretch = first.at..first.at + ms;
        used.clone().filter(|usage| stretch.contains(&usage.at)).map(|usage| usage.units).sum::<u32>()
    };
    used.clone().map(from).max().unwrap_or(0)
}

/// Requests of all kinds over minutes: in no period of `per_s` are more units used than there are, and by the background not more
/// than it may use.
#[test]
fn units_never_exceed_within_any_stretch_of_time() {
    let (paces, time) = (Arc::<Paces>::default(), FakeTime::new());
    let limits = limits(Some(5), vec![rate("mail", 100, 10, 20)]);
    let used: Mutex<Vec<Usage>> = Mutex::default();
    let mut seed = 7_u64;
    let mut random = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let all: FuturesUnordered<_> = (0..400)
        .map(|_| {
            let (units, after, takes) = (random(12) as u32 + 1, random(60_000), random(300));
            let of = pacing(&limits, random(3) > 0, &time.clock());
            let (paces, time, used) = (&paces, &time, &used);
            async move {
                time.sleep(after).await;
                // Background requests are retried after the wait.
                let pass = loop {
                    match enter(paces, &of, units, 120_000).await {
                        Ok(pass) => break pass,
                        Err(refusal) => time.sleep(refusal.wait_ms).await,
                    }
                };
                used.lock().unwrap().push(Usage { at: time.now(), units, is_background: of.is_background });
                time.sleep(takes).await;
                drop(pass);
            }
        })
        .collect();
    assert_eq!(time.run(&paces, all.count()), 400);
    let used = used.into_inner().unwrap();
    let most = most_within(used.iter(), 10_000);
    let most_of_background = most_within(used.iter().filter(|usage| usage.is_background), 10_000);
    assert!(most <= 100 && most_of_background <= 80, "{most}, {most_of_background} of the background");
    assert!(most > 80, "the background leaves the reserve to others: {most}");
    let took_ms = used.last().unwrap().at - used.first().unwrap().at;
    let sum: u32 = used.iter().map(|usage| usage.units).sum();
    let at_most_ms = i64::from(sum) * 10_000 / 80 * 3 / 2 + 60_000;
    assert!(took_ms < at_most_ms, "{took_ms} ms for {sum} units");
}

#[test]
fn the_background_leaves_the_reserve_and_goes_behind_those_who_wait() {
    let (paces, time) = (Arc::<Paces>::default(), FakeTime::new());
    let limits = limits(None, vec![rate("mail", 100, 60, 20)]);
    let (waiting, background) = (pacing(&limits, false, &time.clock()), pacing(&limits, true, &time.clock()));
    time.run(&paces, async {
        drop(enter(&paces, &background, 80, 1_000).await.unwrap());
        let refusal = enter(&paces, &background, 1, 30_000).now_or_never().unwrap().err().unwrap();
        assert!((58_000..=62_000).contains(&refusal.wait_ms), "told at once: {refusal:?}");
        drop(enter(&paces, &waiting, 20, 1_000).await.unwrap());
        let refusal = enter(&paces, &waiting, 1, 30_000).now_or_never().unwrap().err().unwrap();
        assert!((58_000..=62_000).contains(&refusal.wait_ms), "{refusal:?}");
        // A request that may wait that long gets its units, and the background has none before that.
        let began = time.now();
        let (first, second) =
            tokio::join!(async { enter(&paces, &background, 80, 30_000).await.is_ok() }, async {
                enter(&paces, &waiting, 90, 70_000).await.is_ok()
            });
        assert_eq!((first, second), (false, true));
        assert!((58_000..=62_000).contains(&(time.now() - began)), "{} ms", time.now() - began);
        // More units than there are in all: when all are there.
        time.sleep(62_000).await;
        drop(enter(&paces, &background, 5_000, 1_000).await.unwrap());
        assert!(enter(&paces, &waiting, 1, 1_000).now_or_never().unwrap().is_err());
        // Both wait for the same units: the background came first, and is served second.
        time.shift(58_000);
        let mut behind = pin!(enter(&paces, &background, 80, 30_000));
        assert!(futures::poll!(behind.as_mut()).is_pending());
        drop(enter(&paces, &waiting, 30, 30_000).await.unwrap());
        assert!(futures::poll!(behind.as_mut()).is_pending());
    });
}

#[test]
fn a_call_of_the_background_that_needs_more_than_its_share_ends() {
    let (paces, time) = (Arc::<Paces>::default(), FakeTime::new());
    let limits = limits(None, vec![rate("mail", 100, 60, 20)]);
    let background = pacing(&limits, true, &time.clock());
    let request = |units: u32, used: u64| {
        let within = Duration::from_secs(1);
        PaceRequest { account: ACCOUNT, bucket: limits.rates.first(), units, used, within }
    };
    time.run(&paces, async {
        drop(paces.enter(request(80, 0), &background).await.unwrap());
        assert!(paces.enter(request(10, 0), &background).now_or_never().unwrap().is_err(), "another call");
        drop(paces.enter(request(10, 80), &background).await.unwrap());
        assert!(!request(10, 90).is_hopeless() && request(11, 90).is_hopeless());
        assert!(!request(5_000, 0).is_hopeless(), "it goes when all are there");
    });
}

#[test]
fn a_bucket_that_is_used_up_holds_no_other_one() {
    let (paces, time) = (Arc::<Paces>::default(), FakeTime::new());
    let limits = limits(Some(2), vec![rate("mail", 1, 60, 0), rate("calendar", 10, 60, 0)]);
    let of = pacing(&limits, false, &time.clock());
    time.run(&paces, async {
        drop(enter(&paces, &of, 1, 1_000).await.unwrap());
        let mut held = pin!(enter(&paces, &of, 1, 90_000));
        assert!(futures::poll!(held.as_mut()).is_pending());
        let within = Duration::from_millis(10);
        let bucket = limits.rates.get(1);
        let request = PaceRequest { account: ACCOUNT, bucket, units: 1, used: 0, within };
        assert!(paces.enter(request, &of).now_or_never().unwrap().is_ok());
        let began = time.now();
        assert!(held.await.is_ok());
        assert!((59_000..=62_000).contains(&(time.now() - began)), "{} ms", time.now() - began);
    });
}

/// Real timers, of milliseconds.
#[tokio::test]
async fn a_request_wakes_when_its_units_are_back_and_when_its_time_is_up() {
    let (paces, time) = (Arc::<Paces>::default(), FakeTime::new());
    let limits = limits(Some(1), vec![rate("mail", 1, 60, 0)]);
    let (of, background) = (pacing(&limits, false, &time.clock()), pacing(&limits, true, &time.clock()));
    drop(enter(&paces, &of, 1, 1_000).await.unwrap());
    let wait_ms = enter(&paces, &of, 1, 1_000).await.err().unwrap().wait_ms;
    time.shift(i64::try_from(wait_ms).unwrap() - 5);
    let mut behind = pin!(enter(&paces, &background, 1, 60_000));
    let mut next = pin!(enter(&paces, &of, 1, 60_000));
    assert!(futures::poll!(behind.as_mut()).is_pending(), "5 ms before the unit is back");
    assert!(futures::poll!(next.as_mut()).is_pending(), "5 ms before the unit is back");
    time.shift(5);
    let (overtaken, pass) = tokio::join!(behind, next);
    let _pass = pass.unwrap();
    let refusal = overtaken.err().unwrap();
    assert!((58_000..=62_000).contains(&refusal.wait_ms), "the background comes again: {refusal:?}");
    // Behind one in flight: its units are available, but it is not served in time.
    time.shift(62_000);
    let refusal = enter(&paces, &of, 1, 10).await.err().unwrap();
    assert_eq!(refusal, PaceRefusal { wait_ms: QUEUE_WAIT_MS });
}

/// Real timers: it wakes after `LOOK_EVERY`, and not at the end of its time.
#[tokio::test]
async fn one_that_lost_its_units_to_another_is_looked_at_again() {
    let (paces, time) = (Arc::<Paces>::default(), FakeTime::new());
    let limits = limits(Some(1), vec![rate("mail", 10, 60, 0)]);
    let (waiting, background) = (pacing(&limits, false, &time.clock()), pacing(&limits, true, &time.clock()));
    let first = enter(&paces, &waiting, 1, 1_000).await.unwrap();
    // There are units for it, until a request with precedence arrives.
    let mut behind = pin!(enter(&paces, &background, 5, 600_000));
    assert!(futures::poll!(behind.as_mut()).is_pending());
    let mut ahead = pin!(enter(&paces, &waiting, 9, 1_000));
    assert!(futures::poll!(ahead.as_mut()).is_pending());
    drop(first);
    drop(ahead.await.unwrap());
    // No request is in flight any more whose end would wake it.
    time.shift(62_000);
    let found = tokio::time::timeout(Duration::from_secs(60), behind).await;
    assert!(found.is_ok_and(|turn| turn.is_ok()));
}

#[test]
fn a_caller_that_waits_no_longer_gives_its_place_back() {
    let (paces, time) = (Arc::<Paces>::default(), FakeTime::new());
    let of = pacing(&limits(Some(1), vec![rate("mail", 10, 60, 0)]), false, &time.clock());
    let of_many = pacing(&limits(Some(1), vec![]), false, &time.clock());
    time.run(&paces, async {
        let pass = enter(&paces, &of, 1, 1_000).await.unwrap();
        let mut given_up = Box::pin(enter(&paces, &of, 1, 60_000));
        let mut next = Box::pin(enter(&paces, &of, 1, 60_000));
        assert!(futures::poll!(&mut given_up).is_pending() && futures::poll!(&mut next).is_pending());
        drop(given_up);
        drop(pass);
        let pass = next.await.unwrap();
        // A request that may be sent, and is dropped before it knows.
        let mut told = Box::pin(enter(&paces, &of, 1, 60_000));
        assert!(futures::poll!(&mut told).is_pending());
        drop(pass);
        drop(told);
        let next = enter(&paces, &of, 1, 10).now_or_never();
        assert!(next.unwrap().is_ok(), "nothing is under way");
        // A request is refused at once if the queue is full.
        let _pass = enter(&paces, &of_many, 1, 10).await.unwrap();
        let mut line: Vec<_> =
            (0..MAX_WAITERS).map(|_| Box::pin(enter(&paces, &of_many, 1, 60_000))).collect();
        for one in &mut line {
            assert!(futures::poll!(one).is_pending());
        }
        assert!(enter(&paces, &of_many, 1, 60_000).now_or_never().unwrap().is_err());
        // One of the queue is dropped, and there is room for another.
        drop(line.pop());
        assert!(enter(&paces, &of_many, 1, 60_000).now_or_never().is_none());
    });
}

#[test]
fn idle_accounts_are_forgotten_when_their_units_are_back() {
    let (paces, time) = (Arc::<Paces>::default(), FakeTime::new());
    let of = pacing(&limits(None, vec![rate("mail", 10, 60, 0)]), false, &time.clock());
    let use_one = async |number: usize| {
        let account = format!("conn_{number}");
        let within = Duration::from_millis(10);
        let bucket = of.limits.rates.first();
        let request = PaceRequest { account: &account, bucket, units: 1, used: 0, within };
        drop(paces.enter(request, &of).await.unwrap());
    };
    time.run(&paces, async {
        for number in 0..=FIRST_SWEEP {
            use_one(number).await;
        }
        assert_eq!(paces.lock().by_id.len(), FIRST_SWEEP + 1, "none has its unit back");
        time.shift(62_000);
        for number in FIRST_SWEEP..=2 * FIRST_SWEEP {
            use_one(number).await;
        }
        let left = paces.lock().by_id.len();
        assert!(left < FIRST_SWEEP + 3, "{left} accounts");
        // A clock that was set back delays no request for longer than the limits do.
        drop(enter(&paces, &of, 10, 10).await.unwrap());
        time.shift(-3_600_000);
        let refusal = enter(&paces, &of, 1, 10).now_or_never().unwrap().err().unwrap();
        assert!(refusal.wait_ms <= 62_000, "{refusal:?}");
        time.shift(62_000);
        assert!(enter(&paces, &of, 1, 10).now_or_never().unwrap().is_ok());
    });
}

#[test]
fn used_units_are_told_until_they_are_back() {
    let (paces, time) = (Arc::<Paces>::default(), FakeTime::new());
    let of = pacing(&limits(None, vec![rate("mail", 10, 60, 0)]), false, &time.clock());
    time.run(&paces, async {
        assert!(paces.used_units(ACCOUNT, time.now()).is_empty());
        drop(enter(&paces, &of, 3, 10).await.unwrap());
        drop(enter(&paces, &of, 4, 10).await.unwrap());
        assert_eq!(paces.used_units(ACCOUNT, time.now()), BTreeMap::from([("mail".to_owned(), 7)]));
        assert!(paces.used_units("conn_other", time.now()).is_empty());
        assert_eq!(paces.used_units(ACCOUNT, time.now() + 62_000), BTreeMap::from([("mail".to_owned(), 0)]));
    });
}
