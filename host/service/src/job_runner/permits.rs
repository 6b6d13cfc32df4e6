//! Limits of the concurrent runs of a class on this host: in total, and of one application, one connection and one server, so that runs
//! that wait for a hanging server leave room for all others. Classes that wait for providers have a second pool for slow runs; a run that
//! becomes slow while that pool is full is asked to stop and to continue later. In each pool an application has a limited share of the
//! permits.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use storage::jobs::{Busy, Candidate};
use storage::wakes::{JobClass, Wakes};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::job_runner::fair_share::{Share, Shares};

/// Shortest time between two repeated queries after a full one.
pub const LOOK_AGAIN_EVERY: Duration = Duration::from_millis(250);

/// The durations at which a run counts as slow, in a class with a pool for slow runs.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// A run that lasts longer than this moves to the slow pool.
    move_after: Duration,
    /// A job is slow after a run that took longer than this: its next run starts in the slow pool.
    slow_after: Duration,
    /// A slow job becomes fast after a run that took less than this.
    fast_below: Duration,
}

impl Pace {
    fn for_class(class: JobClass) -> Pace {
        let ms = Duration::from_millis;
        match class {
            // A delivery waits for its endpoint nearly all of the time, and waits as well in the slow pool. If many endpoints begin to hang
            // at once, each holds a fast permit no longer than this. A response whose body does not end takes a second.
            JobClass::Deliver => Pace { move_after: ms(100), slow_after: ms(500), fast_below: ms(250) },
            _ => Pace { move_after: ms(2_000), slow_after: ms(2_000), fast_below: ms(1_000) },
        }
    }
}

/// The maximum concurrent runs of a class.
#[derive(Clone, Copy, Debug)]
struct Limits {
    fast: usize,
    /// Fast permits of one application; none: as many as the class has.
    fast_of_application: Option<usize>,
    /// Permits of the slow pool. 0: the class has one pool.
    slow: usize,
    /// Slow permits of one application; none: as many as the class has.
    slow_of_application: Option<usize>,
    /// Permits of one application in both pools; none: as many as the class has.
    application: Option<usize>,
    /// Permits of one connection; none: as many as the class has.
    connection: Option<usize>,
    /// Permits for one server; if there is a slow pool, only its runs count. None: as many as the class has.
    target: Option<usize>,
}

impl Limits {
    fn for_class(class: JobClass) -> Limits {
        let one_pool = |fast| Limits {
            fast,
            fast_of_application: None,
            slow: 0,
            slow_of_application: None,
            application: None,
            connection: None,
            target: None,
        };
        match class {
            // One run serves one endpoint, and mostly waits for it: a thousand hanging endpoints leave room for those that answer. While
            // the slow pool is full, an application whose endpoints alternate between fast and slow leaves room for the others.
            JobClass::Deliver => {
                Limits { fast_of_application: Some(32), slow: 1_024, target: Some(256), ..one_pool(40) }
            }
            // Fewer than the runtime's background calls, so that one provider leaves room for others there too.
            JobClass::Send => {
                Limits { application: Some(12), connection: Some(2), target: Some(8), ..one_pool(24) }
            }
            // Fewer in total than the runtime's calls for one application, since an API request may be waiting too. One application gets at
            // most about three quarters of each pool: if its accounts at a hundred providers hang, permits remain for the others.
            JobClass::Pull => Limits {
                fast_of_application: Some(6),
                slow: 14,
                slow_of_application: Some(10),
                connection: Some(2),
                target: Some(10),
                ..one_pool(8)
            },
            // Each run is an open stream.
            JobClass::Watch => one_pool(2_000),
            // Some of these wait for providers too: token renewals, revocations, reading messages.
            JobClass::Upkeep => Limits { application: Some(6), ..one_pool(8) },
            _ => one_pool(6),
        }
    }
}

impl Limits {
    /// Whether such a run counts for its server. With a slow pool, fast runs do not count: hanging accounts must not take permits from
    /// others of the same provider.
    fn counts_target(self, is_slow: bool) -> bool {
        self.slow == 0 || is_slow
    }

    /// Returns the permits of a pool, and the share of one application.
    fn of_pool(self, is_slow: bool) -> (usize, Option<usize>) {
        if is_slow { (self.slow, self.slow_of_application) } else { (self.fast, self.fast_of_application) }
    }
}

/// Returns the duration after which a run, or an attempt of a delivery, moves to the slow pool.
pub fn move_after(class: JobClass) -> Duration {
    Pace::for_class(class).move_after
}

/// Whether a job counts as slow after a run of this duration (of a delivery: an attempt); `was_slow`: whether it did before.
pub fn is_slow(class: JobClass, elapsed: Duration, was_slow: bool) -> bool {
    let pace = Pace::for_class(class);
    Limits::for_class(class).slow > 0 && (elapsed > pace.slow_after || was_slow && elapsed >= pace.fast_below)
}

/// The permits of a class. Clones share their state.
#[derive(Clone)]
pub struct Permits {
    class: JobClass,
    limits: Limits,
    pace: Pace,
    taken: Arc<Mutex<RunningJobs>>,
}

/// The current runs, counted by application, connection and server.
#[derive(Default)]
struct RunningJobs {
    fast: usize,
    slow: usize,
    applications: BTreeMap<String, usize>,
    connections: BTreeMap<String, usize>,
    targets: BTreeMap<String, usize>,
    /// The service that applications have received from each pool.
    shares: Shares,
    /// Time of the last repeated query behind a full one.
    looked_again_at: Option<Instant>,
}

impl Permits {
    /// Creates the permits of a class, with no runs.
    pub fn new(class: JobClass) -> Permits {
        Permits {
            class,
            limits: Limits::for_class(class),
            pace: Pace::for_class(class),
            taken: Arc::default(),
        }
    }

    pub fn class(&self) -> JobClass {
        self.class
    }

    /// Whether no job can start.
    pub fn are_all_taken(&self) -> bool {
        let taken = self.taken();
        taken.fast >= self.limits.fast && taken.slow >= self.limits.slow
    }

    /// Returns the full pool, and the applications, connections and servers that have reached their limits.
    pub fn busy(&self) -> Busy {
        let (taken, limits) = (self.taken(), self.limits);
        let pool = match limits.slow {
            0 => None,
            _ if taken.fast >= limits.fast => Some(false),
            _ if taken.slow >= limits.slow => Some(true),
            _ => None,
        };
        Busy {
            pool,
            applications: full(&taken.applications, limits.application),
            slow_applications: taken.without_place(true, limits),
            fast_applications: taken.without_place(false, limits),
            connections: full(&taken.connections, limits.connection),
            targets: full(&taken.targets, limits.target),
            are_targets_of_slow: limits.slow > 0,
        }
    }

    /// Whether a full query may be repeated at once. Because it may read a long backlog, only once per `LOOK_AGAIN_EVERY`.
    pub fn may_look_again(&self, now: Instant) -> bool {
        let mut taken = self.taken();
        let may = taken.looked_again_at.is_none_or(|at| now.duration_since(at) >= LOOK_AGAIN_EVERY);
        if may {
            taken.looked_again_at = Some(now);
        }
        may
    }

    /// Returns a permit for a run of this job. None: it has to wait.
    pub fn take(&self, hint: &Candidate) -> Option<Permit> {
        let limits = self.limits;
        let is_slow = hint.is_slow && limits.slow > 0;
        let connection = hint.connection_id.clone().unwrap_or_default();
        let mut taken = self.taken();
        let is_free = taken.has_place(is_slow, &hint.application_id, limits)
            && has_room(&taken.applications, &hint.application_id, limits.application)
            && has_room(&taken.connections, &connection, limits.connection)
            && (!limits.counts_target(is_slow) || has_room(&taken.targets, &hint.target, limits.target));
        if !is_free {
            return None;
        }
        *taken.pool(is_slow) += 1;
        *taken.applications.entry(hint.application_id.clone()).or_default() += 1;
        *taken.connections.entry(connection.clone()).or_default() += 1;
        let has_target = limits.counts_target(is_slow);
        if has_target {
            *taken.targets.entry(hint.target.clone()).or_default() += 1;
        }
        taken.shares.begin(is_slow, &hint.application_id);
        drop(taken);
        let (application, target) = (hint.application_id.clone(), hint.target.clone());
        Some(Permit {
            permits: self.clone(),
            is_slow,
            application,
            connection,
            target,
            has_target,
            since: Instant::now(),
            preempted: Arc::default(),
        })
    }

    /// Returns the candidates that get a permit, with the permit. In each pool the application with the fewest runs comes next, among
    /// equals the one served least; of its candidates the one that is due first.
    pub fn choose(&self, hints: Vec<Candidate>) -> Vec<(Candidate, Permit)> {
        let mut waiting: BTreeMap<Share, VecDeque<Candidate>> = BTreeMap::new();
        for hint in hints {
            let of = (hint.is_slow && self.limits.slow > 0, hint.application_id.clone());
            waiting.entry(of).or_default().push_back(hint);
        }
        self.taken().shares.wait(waiting.keys().cloned().collect());
        let mut chosen = Vec::new();
        while !self.are_all_taken() {
            let Some(next) = self.taken().shares.next(&waiting) else { break };
            let Some(hint) = waiting.get_mut(&next).and_then(VecDeque::pop_front) else { break };
            if waiting.get(&next).is_some_and(VecDeque::is_empty) {
                waiting.remove(&next);
            }
            if let Some(permit) = self.take(&hint) {
                chosen.push((hint, permit));
            }
        }
        chosen
    }

    fn taken(&self) -> MutexGuard<'_, RunningJobs> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunningJobs {
    fn pool(&mut self, is_slow: bool) -> &mut usize {
        if is_slow { &mut self.slow } else { &mut self.fast }
    }

    /// Whether the pool has a permit for one more run of this application.
    fn has_place(&self, is_slow: bool, application: &str, limits: Limits) -> bool {
        let (most, of_application) = limits.of_pool(is_slow);
        let running = if is_slow { self.slow } else { self.fast };
        running < most && of_application.is_none_or(|most| self.shares.running(is_slow, application) < most)
    }

    /// Returns the applications that have no permit left in the pool.
    fn without_place(&self, is_slow: bool, limits: Limits) -> Vec<String> {
        let (_, of_application) = limits.of_pool(is_slow);
        let Some(most) = of_application else { return Vec::new() };
        let names = self.applications.keys();
        names.filter(|name| self.shares.running(is_slow, name) >= most).cloned().collect()
    }
}

/// Returns the names at their limit. An empty name has no limit.
fn full(counts: &BTreeMap<String, usize>, limit: Option<usize>) -> Vec<String> {
    let Some(limit) = limit else { return Vec::new() };
    let full = counts.iter().filter(|(name, count)| !name.is_empty() && **count >= limit);
    full.map(|(name, _)| name.clone()).collect()
}

/// Whether one more run fits the limit. An empty name has no limit.
fn has_room(counts: &BTreeMap<String, usize>, name: &str, limit: Option<usize>) -> bool {
    let count = counts.get(name).copied().unwrap_or_default();
    name.is_empty() || limit.is_none_or(|limit| count < limit)
}

/// The permit of a run, released when it is dropped.
pub struct Permit {
    permits: Permits,
    is_slow: bool,
    application: String,
    connection: String,
    target: String,
    /// Whether it counts for its server.
    has_target: bool,
    /// Time since which it is in its pool.
    since: Instant,
    /// Notified when the run should stop because it is slow and the slow pool is full.
    preempted: Arc<Notify>,
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut taken = self.permits.taken();
        taken.shares.end(self.is_slow, &self.application, self.since.elapsed());
        let pool = taken.pool(self.is_slow);
        *pool = pool.saturating_sub(1);
        give_back(&mut taken.applications, &self.application);
        give_back(&mut taken.connections, &self.connection);
        if self.has_target {
            give_back(&mut taken.targets, &self.target);
        }
    }
}

fn give_back(counts: &mut BTreeMap<String, usize>, name: &str) {
    if let Some(count) = counts.get_mut(name) {
        *count = count.saturating_sub(1);
        if *count == 0 {
            counts.remove(name);
        }
    }
}

impl Permit {
    /// Returns the signal that asks the run to stop, so that a run that can continue later frees its permit.
    pub fn preempted(&self) -> Arc<Notify> {
        Arc::clone(&self.preempted)
    }

    /// Runs a future with this permit. A slow run moves to the slow pool, or is preempted while that is full.
    pub async fn during(mut self, wakes: Wakes, turn: impl Future<Output = ()>) {
        tokio::pin!(turn);
        if self.permits.limits.slow == 0 || self.is_slow {
            return turn.await;
        }
        while tokio::time::timeout(self.permits.pace.move_after, &mut turn).await.is_err() {
            if self.move_to_slow() {
                // A fast permit is free now.
                wakes.wake(self.permits.class);
                return turn.await;
            }
            self.preempted.notify_one();
        }
    }

    fn move_to_slow(&mut self) -> bool {
        let mut taken = self.permits.taken();
        let limits = self.permits.limits;
        // For deliveries the duration says little about the server, as explained below.
        let has_target_room =
            self.permits.class == JobClass::Deliver || has_room(&taken.targets, &self.target, limits.target);
        if !(has_target_room && taken.has_place(true, &self.application, limits)) {
            return false;
        }
        taken.slow += 1;
        taken.fast = taken.fast.saturating_sub(1);
        taken.shares.end(false, &self.application, self.since.elapsed());
        taken.shares.begin(true, &self.application);
        // A short delay says little about the server of a delivery: at one with many endpoints, those that get requests all the time would
        // take the permits of those that are slow, or get their first request.
        self.has_target = self.permits.class != JobClass::Deliver;
        if self.has_target {
            *taken.targets.entry(self.target.clone()).or_default() += 1;
        }
        drop(taken);
        (self.is_slow, self.since) = (true, Instant::now());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(application: &str, connection: &str, target: &str) -> Candidate {
        Candidate {
            id: "send:one".into(),
            kind: "send".into(),
            application_id: application.into(),
            connection_id: Some(connection.into()),
            target: target.into(),
            is_slow: false,
            due_at: 0,
        }
    }

    fn pull(connection: &str, target: &str, is_slow: bool) -> Candidate {
        Candidate { kind: "pull".into(), is_slow, ..job("app", connection, target) }
    }

    #[test]
    fn a_connection_a_server_and_an_application_have_a_bound_each() {
        let permits = Permits::new(JobClass::Send);
        let of_one: Vec<_> = (0..3).map_while(|_| permits.take(&job("a", "c0", "s"))).collect();
        assert_eq!(of_one.len(), 2);
        assert_eq!(permits.busy().connections, ["c0"]);
        let of_server: Vec<_> =
            (1..20).map_while(|n| permits.take(&job(&format!("a{n}"), &format!("c{n}"), "s"))).collect();
        assert_eq!(of_server.len(), 6, "with the two before it has eight");
        assert_eq!(permits.busy().targets, ["s"]);
        let of_application: Vec<_> =
            (0..20).map_while(|n| permits.take(&job("a", &format!("d{n}"), &format!("s{n}")))).collect();
        assert_eq!(of_application.len(), 10, "with the two before it has twelve");
        assert_eq!(permits.busy().applications, ["a"]);
        assert!(permits.take(&job("b", "e", "other")).is_some(), "others have room");

        drop((of_one, of_server, of_application));
        let busy = permits.busy();
        assert!(busy.connections.is_empty() && busy.targets.is_empty() && busy.applications.is_empty());
        assert!(permits.take(&job("a", "c0", "s")).is_some());
    }

    #[test]
    fn jobs_that_name_no_server_share_no_bound_of_servers() {
        let permits = Permits::new(JobClass::Send);
        let held: Vec<_> =
            (0..10).map_while(|n| permits.take(&job(&format!("a{n}"), &format!("c{n}"), ""))).collect();
        assert_eq!(held.len(), 10);
        assert!(permits.busy().targets.is_empty());
    }

    #[test]
    fn other_classes_have_the_bound_of_the_class_alone() {
        let permits = Permits::new(JobClass::Fanout);
        let held: Vec<_> = (0..40).map_while(|_| permits.take(&job("a", "c", "s"))).collect();
        assert_eq!(held.len(), 6);
        assert!(permits.are_all_taken() && permits.busy().connections.is_empty());
        drop(held);
        assert!(!permits.are_all_taken());
    }

    fn taken(permits: &Permits, hint: impl Fn(usize) -> Candidate) -> Vec<Permit> {
        (0..100).filter_map(|n| permits.take(&hint(n))).collect()
    }

    fn pull_of(application: &str, n: usize, is_slow: bool) -> Candidate {
        Candidate { application_id: application.into(), ..pull(&format!("{application}{n}"), "", is_slow) }
    }

    #[test]
    fn slow_turns_have_places_of_their_own() {
        let permits = Permits::new(JobClass::Pull);
        let slow = taken(&permits, |n| pull_of(&format!("app {}", n % 2), n, true));
        assert_eq!((slow.len(), permits.busy().pool), (14, Some(true)));
        let mut fast = taken(&permits, |n| pull_of(&format!("app {}", n % 2), n + 100, false));
        assert_eq!(fast.len(), 8);
        assert!(permits.are_all_taken());
        assert!(!fast[0].move_to_slow(), "there is no room");
        drop(slow);
        assert_eq!(permits.busy().pool, Some(false));
        assert!(fast[0].move_to_slow());
        assert_eq!(permits.busy().pool, None);
        assert!(permits.take(&pull("one more", "", false)).is_some());
        drop(fast);
        let taken = permits.taken();
        assert_eq!((taken.fast, taken.slow, taken.connections.len(), taken.targets.len()), (0, 0, 0, 0));
    }

    #[test]
    fn an_application_leaves_places_of_both_pools_to_others() {
        let permits = Permits::new(JobClass::Pull);
        let mut fast = taken(&permits, |n| pull_of("greedy", n, false));
        assert_eq!(fast.len(), 6);
        let busy = permits.busy();
        assert_eq!(busy.fast_applications, ["greedy"]);
        assert!(busy.slow_applications.is_empty(), "its slow jobs have places");
        let slow = taken(&permits, |n| pull_of("greedy", n + 100, true));
        assert_eq!(slow.len(), 10);
        assert_eq!(permits.busy().slow_applications, ["greedy"]);
        assert!(!fast[0].move_to_slow(), "it has its part of the places of those that last");
        let others = [false, true].map(|is_slow| taken(&permits, |n| pull_of("other", n, is_slow)).len());
        assert_eq!(others, [2, 4]);
        drop(slow);
        assert!(fast[0].move_to_slow());
        let busy = permits.busy();
        assert!(busy.slow_applications.is_empty() && busy.fast_applications.is_empty());

        let upkeep = Permits::new(JobClass::Upkeep);
        assert_eq!(taken(&upkeep, |n| pull_of("greedy", n, false)).len(), 6);
        let _greedy = taken(&upkeep, |n| pull_of("greedy", n, false));
        assert_eq!(taken(&upkeep, |n| pull_of("other", n, false)).len(), 2);
    }

    #[test]
    fn a_turn_moves_only_where_its_server_has_room_among_the_slow() {
        let permits = Permits::new(JobClass::Pull);
        let mut moved = 0;
        let mut turns = Vec::new();
        for n in 0..12 {
            let of =
                Candidate { target: "mail.test:993".into(), ..pull_of(&format!("app {}", n % 3), n, false) };
            let mut permit = permits.take(&of).expect("a fast place is free");
            moved += usize::from(permit.move_to_slow());
            turns.push(permit);
        }
        assert_eq!(moved, 10);
        assert!(permits.take(&pull_of("other", 0, true)).is_some(), "another server has room");
    }

    /// Returns the numbers of fast and slow runs.
    fn running(permits: &Permits) -> (usize, usize) {
        let taken = permits.taken();
        (taken.fast, taken.slow)
    }

    /// Slow runs from the first moment on, which stop when they are asked to.
    #[tokio::test]
    async fn a_turn_that_lasts_ends_where_there_is_no_place_for_it() {
        let mut permits = Permits::new(JobClass::Pull);
        permits.pace.move_after = Duration::ZERO;
        let slow = taken(&permits, |n| pull_of("greedy", n, true));
        assert_eq!(slow.len(), 10);
        let permit = permits.take(&pull_of("greedy", 100, false)).expect("a fast place is free");
        let preempted = permit.preempted();
        permit.during(Wakes::default(), async move { preempted.notified().await }).await;
        assert_eq!(running(&permits), (0, 10));

        // With room in the slow pool it continues there.
        drop(slow);
        let permit = permits.take(&pull_of("greedy", 100, false)).expect("a fast place is free");
        let (preempted, wakes) = (permit.preempted(), Wakes::default());
        let lasting = permit.during(wakes.clone(), async move { preempted.notified().await });
        tokio::pin!(lasting);
        tokio::select! {
            () = &mut lasting => panic!("it was not asked to end"),
            () = wakes.woken(JobClass::Pull) => {}
        }
        assert_eq!(running(&permits), (0, 1));
    }

    #[test]
    fn no_connection_and_no_server_takes_all_places() {
        let permits = Permits::new(JobClass::Pull);
        let _two = [permits.take(&pull("one", "", false)), permits.take(&pull("one", "", false))];
        assert!(permits.take(&pull("one", "", false)).is_none());
        let server: Vec<Permit> =
            (0..20).filter_map(|n| permits.take(&pull(&format!("at {n}"), "mail.test:993", true))).collect();
        assert_eq!(server.len(), 10);
        assert_eq!(permits.busy().targets, ["mail.test:993"]);
        let of_another =
            |target| Candidate { application_id: "another".into(), ..pull("other", target, true) };
        assert!(permits.take(&of_another("mail.test:993")).is_none());
        assert!(permits.take(&of_another("other.test:993")).is_some());
        assert!(permits.take(&pull("other", "mail.test:993", false)).is_some(), "what is not slow has room");
        drop(server);
        assert!(permits.take(&pull("other", "mail.test:993", true)).is_some());
    }

    #[test]
    fn endpoints_that_hang_leave_room_for_those_that_answer() {
        let permits = Permits::new(JobClass::Deliver);
        let one_server: Vec<Permit> =
            (0..300).filter_map(|n| permits.take(&pull(&format!("{n}"), "hooks.test:443", true))).collect();
        assert_eq!(one_server.len(), 256);
        let slow: Vec<Permit> =
            (0..2_000).filter_map(|n| permits.take(&pull("", &format!("slow{n}.test:443"), true))).collect();
        assert_eq!(slow.len(), 1_024 - 256);
        let fast: Vec<Permit> =
            (0..100).filter_map(|_| permits.take(&pull("", "hooks.test:443", false))).collect();
        assert_eq!(fast.len(), 32, "one application leaves room for others");
        let of_another = Candidate { application_id: "another".into(), ..pull("", "hooks.test:443", false) };
        let others: Vec<Permit> = (0..100).filter_map(|_| permits.take(&of_another)).collect();
        assert_eq!(others.len(), 8);
        drop(fast);
        assert!(permits.take(&pull("", "hooks.test:443", false)).is_some());
    }

    #[test]
    fn deliveries_that_take_a_moment_leave_the_places_of_their_server() {
        let permits = Permits::new(JobClass::Deliver);
        let mut moved: Vec<Permit> = Vec::new();
        for n in 0..300 {
            let mut permit = permits.take(&pull("", "hooks.test:443", false)).expect("there is a place");
            assert!(permit.move_to_slow(), "{n}");
            moved.push(permit);
        }
        assert!(permits.busy().targets.is_empty());
        assert!(permits.take(&pull("", "hooks.test:443", true)).is_some(), "one that is slow has a place");
        drop(moved);
        let taken = permits.taken();
        assert_eq!((taken.fast, taken.slow, taken.targets.len()), (0, 0, 0));
    }

    #[test]
    fn a_job_is_slow_until_a_turn_is_fast_again() {
        let ms = Duration::from_millis;
        assert!(is_slow(JobClass::Pull, ms(2_001), false));
        assert!(!is_slow(JobClass::Pull, ms(1_999), false));
        assert!(is_slow(JobClass::Pull, ms(1_000), true));
        assert!(!is_slow(JobClass::Pull, ms(999), true));
        assert!(!is_slow(JobClass::Watch, ms(60_000), false));
        // An endpoint that responds at once and whose body never ends takes a second of each attempt.
        assert!(is_slow(JobClass::Deliver, ms(1_000), false));
        assert!(!is_slow(JobClass::Deliver, ms(500), false));
        assert!(is_slow(JobClass::Deliver, ms(250), true));
        assert!(!is_slow(JobClass::Deliver, ms(249), true));
    }
}
