//! How many turns of a class run at a time on this host, together and for one application, one connection and one server: whoever waits for a
//! server that hangs leaves room for all others. Where turns wait for providers, those that last have a pool of their own.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use storage::jobs::{Busy, Candidate};
use storage::wakes::JobClass;
use tokio::time::Instant;

use crate::app::App;
use crate::job_runner::fair_share::{Share, Shares};

/// How often a full look is followed by another one at the most.
const LOOK_AGAIN_EVERY: Duration = Duration::from_millis(250);

/// What counts as long in a class with a pool for slow turns.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// A turn that lasts longer than this moves to the pool for slow turns.
    move_after: Duration,
    /// A job is slow after work that took longer than this: its next turn begins in that pool.
    slow_after: Duration,
    /// A slow job is not slow any more after work that took less than this.
    fast_below: Duration,
}

impl Pace {
    fn of(class: JobClass) -> Pace {
        let ms = Duration::from_millis;
        match class {
            // A delivery waits for its endpoint nearly all of the time, and waits as well in the other pool. Endpoints that begin to hang
            // all at once hold each place of the fast ones no longer than this. An answer whose body does not end takes a second.
            JobClass::Deliver => Pace { move_after: ms(100), slow_after: ms(500), fast_below: ms(250) },
            _ => Pace { move_after: ms(2_000), slow_after: ms(2_000), fast_below: ms(1_000) },
        }
    }
}

/// Most turns of a class.
#[derive(Clone, Copy, Debug)]
struct Limits {
    fast: usize,
    /// Of the fast ones, those of one application; none: as many as the class has.
    fast_of_application: Option<usize>,
    /// 0: the class has one pool.
    slow: usize,
    /// Of one application; none: as many as the class has.
    application: Option<usize>,
    /// On one connection; none: as many as the class has.
    connection: Option<usize>,
    /// At one server, of slow turns where these have a pool; none: as many as the class has.
    target: Option<usize>,
}

impl Limits {
    fn of(class: JobClass) -> Limits {
        let one_pool = |fast| Limits {
            fast,
            fast_of_application: None,
            slow: 0,
            application: None,
            connection: None,
            target: None,
        };
        match class {
            // One turn works on one endpoint, and mostly waits for it: a thousand endpoints that hang leave room for those that answer. Where
            // the slow ones are full, an application whose endpoints are now fast and now slow leaves room for the others.
            JobClass::Deliver => {
                Limits { fast_of_application: Some(32), slow: 1_024, target: Some(256), ..one_pool(40) }
            }
            // Fewer than the runtime runs in the background: those of one provider leave room for others there too.
            JobClass::Send => {
                Limits { application: Some(12), connection: Some(2), target: Some(8), ..one_pool(24) }
            }
            // Fewer together than the runtime runs calls for one application: somebody may wait for another one.
            JobClass::Pull => Limits { slow: 14, connection: Some(2), target: Some(10), ..one_pool(6) },
            // A turn is an open stream.
            JobClass::Watch => one_pool(2_000),
            _ => one_pool(6),
        }
    }
}

impl Limits {
    /// Whether such a turn counts for its server. Where slow turns have a pool, those that are not have places of their own anyway: accounts
    /// that hang must not take them from the others of the same provider.
    fn counts_target(self, is_slow: bool) -> bool {
        self.slow == 0 || is_slow
    }
}

/// How long a turn lasts at least, or an attempt of a delivery, that moves to the pool for those that last.
pub fn move_after(class: JobClass) -> Duration {
    Pace::of(class).move_after
}

/// Whether a job counts as slow after a turn of this length, or of a delivery after an attempt of this length; `was_slow` before it.
pub fn is_slow(class: JobClass, elapsed: Duration, was_slow: bool) -> bool {
    let pace = Pace::of(class);
    Limits::of(class).slow > 0 && (elapsed > pace.slow_after || was_slow && elapsed >= pace.fast_below)
}

/// The permits of a class. All clones are one.
#[derive(Clone)]
pub struct Permits {
    class: JobClass,
    limits: Limits,
    taken: Arc<Mutex<RunningJobs>>,
}

/// The turns that are under way, counted by whose they are.
#[derive(Default)]
struct RunningJobs {
    fast: usize,
    slow: usize,
    applications: BTreeMap<String, usize>,
    connections: BTreeMap<String, usize>,
    targets: BTreeMap<String, usize>,
    /// What applications have and had of each pool.
    shares: Shares,
    /// When a full look was last followed by another one.
    looked_again_at: Option<Instant>,
}

impl Permits {
    /// Of a class of which nothing is under way.
    pub fn new(class: JobClass) -> Permits {
        Permits { class, limits: Limits::of(class), taken: Arc::default() }
    }

    pub fn class(&self) -> JobClass {
        self.class
    }

    /// Whether no turn can begin, whatever it works on.
    pub fn are_all_taken(&self) -> bool {
        let taken = self.taken();
        taken.fast >= self.limits.fast && taken.slow >= self.limits.slow
    }

    /// Those who have as many turns as they may.
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
            connections: full(&taken.connections, limits.connection),
            targets: full(&taken.targets, limits.target),
            are_targets_of_slow: limits.slow > 0,
        }
    }

    /// Whether a look that was full may be followed by another one: it may read a long backlog, so now and then.
    pub fn may_look_again(&self, now: Instant) -> bool {
        let mut taken = self.taken();
        let may = taken.looked_again_at.is_none_or(|at| now.duration_since(at) >= LOOK_AGAIN_EVERY);
        if may {
            taken.looked_again_at = Some(now);
        }
        may
    }

    /// A permit for a turn of this job. None: it has to wait.
    pub fn take(&self, hint: &Candidate) -> Option<Permit> {
        let limits = self.limits;
        let is_slow = hint.is_slow && limits.slow > 0;
        let connection = hint.connection_id.clone().unwrap_or_default();
        let mut taken = self.taken();
        let has_place = match is_slow {
            true => taken.slow < limits.slow,
            false => {
                let own = taken.shares.running(false, &hint.application_id);
                taken.fast < limits.fast && limits.fast_of_application.is_none_or(|most| own < most)
            }
        };
        let is_free = has_place
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
        })
    }

    /// Of these hints those that there is a permit for, with it: of each pool the application comes next that has the fewest turns under way,
    /// and of several the one that was served the least; of its hints the one that is due first.
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
}

/// What has no name has no bound.
fn full(counts: &BTreeMap<String, usize>, limit: Option<usize>) -> Vec<String> {
    let Some(limit) = limit else { return Vec::new() };
    let full = counts.iter().filter(|(name, count)| !name.is_empty() && **count >= limit);
    full.map(|(name, _)| name.clone()).collect()
}

/// What has no name has no bound.
fn has_room(counts: &BTreeMap<String, usize>, name: &str, limit: Option<usize>) -> bool {
    let count = counts.get(name).copied().unwrap_or_default();
    name.is_empty() || limit.is_none_or(|limit| count < limit)
}

/// The place of a turn, given back when it is dropped.
pub struct Permit {
    permits: Permits,
    is_slow: bool,
    application: String,
    connection: String,
    target: String,
    /// It counts for its server.
    has_target: bool,
    /// Since when it has its place in the pool.
    since: Instant,
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
    /// Runs a turn with this permit. One that lasts goes to the pool for slow turns as soon as there is room.
    pub async fn during(mut self, app: App, turn: impl Future<Output = ()>) {
        tokio::pin!(turn);
        if self.permits.limits.slow == 0 || self.is_slow {
            return turn.await;
        }
        let move_after = Pace::of(self.permits.class).move_after;
        while tokio::time::timeout(move_after, &mut turn).await.is_err() {
            if self.move_to_slow() {
                // There is a place for another turn.
                app.db.wakes().wake(self.permits.class);
                return turn.await;
            }
        }
    }

    fn move_to_slow(&mut self) -> bool {
        let mut taken = self.permits.taken();
        if taken.slow >= self.permits.limits.slow {
            return false;
        }
        taken.slow += 1;
        taken.fast = taken.fast.saturating_sub(1);
        taken.shares.end(false, &self.application, self.since.elapsed());
        taken.shares.begin(true, &self.application);
        // A delivery that takes a moment says little of its server: at one with many endpoints, those that are asked all the time would take
        // the places of those that are slow, or are asked for the first time.
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

    #[test]
    fn slow_turns_have_places_of_their_own() {
        let permits = Permits::new(JobClass::Pull);
        let slow: Vec<Permit> =
            (0..20).filter_map(|n| permits.take(&pull(&format!("slow {n}"), "", true))).collect();
        assert_eq!((slow.len(), permits.busy().pool), (14, Some(true)));
        let mut fast: Vec<Permit> =
            (0..20).filter_map(|n| permits.take(&pull(&format!("fast {n}"), "", false))).collect();
        assert_eq!(fast.len(), 6);
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
    fn no_connection_and_no_server_takes_all_places() {
        let permits = Permits::new(JobClass::Pull);
        let _two = [permits.take(&pull("one", "", false)), permits.take(&pull("one", "", false))];
        assert!(permits.take(&pull("one", "", false)).is_none());
        let server: Vec<Permit> =
            (0..20).filter_map(|n| permits.take(&pull(&format!("at {n}"), "mail.test:993", true))).collect();
        assert_eq!(server.len(), 10);
        assert_eq!(permits.busy().targets, ["mail.test:993"]);
        assert!(permits.take(&pull("other", "mail.test:993", true)).is_none());
        assert!(permits.take(&pull("other", "other.test:993", true)).is_some());
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
        // An endpoint that answers at once and whose body never ends takes a second of each attempt.
        assert!(is_slow(JobClass::Deliver, ms(1_000), false));
        assert!(!is_slow(JobClass::Deliver, ms(500), false));
        assert!(is_slow(JobClass::Deliver, ms(250), true));
        assert!(!is_slow(JobClass::Deliver, ms(249), true));
    }
}
