//! Resolution of names to addresses. The system's resolver blocks a thread for as long as a name's servers are silent, and the
//! owner of a name controls those servers: so lookups have a few threads of their own, and no tenant has more than its share of
//! them. A hanging lookup delays only the tenant that requested it, and of that tenant only names that are not cached.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::admission::Gates;
use crate::limits::Limits;

/// How long an answer is cached. The system's resolver does not report the TTL.
const KNOWN: Duration = Duration::from_secs(30);
/// How long a stale answer is used while the name cannot be looked up again in time. Addresses are checked whenever they are
/// used.
const STALE: Duration = Duration::from_secs(10 * 60);
/// Longest wait for the new lookup of a name with a stale answer.
const ANEW_WITHIN: Duration = Duration::from_secs(1);
/// How long a failed lookup is cached: at least this, and after a slow one ten times its duration, within a bound. A name whose
/// servers are silent then needs a thread for a small part of the time.
const UNKNOWN: Duration = Duration::from_secs(5);
const LONG_UNKNOWN: Duration = Duration::from_secs(30);
/// Names remembered.
const KEPT: usize = 1_024;

/// The lookup of names: by the system (files, DNS, whatever it is set up for), or by a test.
pub trait Lookup: Send + Sync {
    /// The addresses of a host. May block for any time.
    fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// The lookup of this machine's own resolver.
pub struct SystemLookup;

impl Lookup for SystemLookup {
    fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        Ok((host, 0).to_socket_addrs()?.map(|address| address.ip()).collect())
    }
}

/// Lookups of all tenants.
pub(crate) struct Names {
    lookup: Arc<dyn Lookup>,
    total: Arc<Semaphore>,
    tenants: Gates,
    within: Duration,
    known: Arc<Mutex<LookupCache>>,
}

impl Names {
    pub(crate) fn new(lookup: Arc<dyn Lookup>, limits: &Limits) -> Self {
        Names {
            lookup,
            total: Arc::new(Semaphore::new(limits.lookups)),
            tenants: Gates::new(limits.lookups_per_tenant),
            within: Duration::from_millis(limits.lookup_timeout_ms),
            known: Arc::default(),
        }
    }

    /// The addresses of `host`, at least one. An error of kind `TimedOut` where that takes too long, even if only because all
    /// lookups of the tenant are in use.
    pub(crate) async fn resolve(&self, tenant: &str, host: &str) -> io::Result<Vec<IpAddr>> {
        let host = host.to_ascii_lowercase();
        let known = self.known.lock().expect("no panic while remembering names").get(&host);
        let found = match known {
            Some((found, true)) => found,
            Some((found, false)) => self.anew(tenant, host, found).await,
            None => {
                let asked = tokio::time::timeout(self.within, async {
                    // The narrow gate first: a waiter there holds no permit that others need.
                    let share = self.tenants.gate(tenant).acquire_owned().await.map_err(io::Error::other)?;
                    self.ask(share, host).await
                });
                asked.await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??
            }
        };
        if found.is_empty() { Err(io::Error::from(io::ErrorKind::NotFound)) } else { Ok(found) }
    }

    /// The addresses of a host whose answer is stale: a new answer, or the stale one where there is none in time. Does not wait
    /// if all lookups of the tenant are in use.
    async fn anew(&self, tenant: &str, host: String, old: Vec<IpAddr>) -> Vec<IpAddr> {
        let Ok(share) = self.tenants.gate(tenant).try_acquire_owned() else { return old };
        let asked = tokio::time::timeout(ANEW_WITHIN.min(self.within), self.ask(share, host));
        match asked.await {
            Ok(Ok(found)) => found,
            Ok(Err(_)) | Err(_) => old,
        }
    }

    async fn ask(&self, share: OwnedSemaphorePermit, host: String) -> io::Result<Vec<IpAddr>> {
        let room = self.total.clone().acquire_owned().await;
        let (lookup, known) = (self.lookup.clone(), self.known.clone());
        let (answer, answered) = oneshot::channel();
        let work = move || {
            // Released when the lookup is over, not when its callers have given up: it still has its thread.
            let _room = (share, room);
            let began = Instant::now();
            let found = lookup.addresses(&host).unwrap_or_default();
            let took = began.elapsed();
            known.lock().expect("no panic while remembering names").put(host, found.clone(), took);
            // The caller may have given up.
            let _ = answer.send(found);
        };
        std::thread::Builder::new().name("lookup".to_owned()).spawn(work)?;
        answered.await.map_err(|_| io::Error::other("the lookup ended without an answer"))
    }
}

/// Recent answers.
#[derive(Default)]
struct LookupCache(HashMap<String, CachedLookup>);

struct CachedLookup {
    since: Instant,
    /// None: the name was not found.
    addresses: Vec<IpAddr>,
    /// How long it is fresh.
    good_for: Duration,
}

impl CachedLookup {
    fn is_good(&self) -> bool {
        self.since.elapsed() < self.good_for
    }

    /// Whether it is fresh, or may be used where there is no other one.
    fn is_usable(&self) -> bool {
        self.is_good() || !self.addresses.is_empty() && self.since.elapsed() < STALE
    }
}

impl LookupCache {
    /// An answer, and whether it is fresh; if not, it may be used where there is no other one.
    fn get(&self, host: &str) -> Option<(Vec<IpAddr>, bool)> {
        let answer = self.0.get(host).filter(|answer| answer.is_usable())?;
        Some((answer.addresses.clone(), answer.is_good()))
    }

    /// Stores an answer. `took`: the duration of the lookup.
    fn put(&mut self, host: String, addresses: Vec<IpAddr>, took: Duration) {
        for is_kept in [CachedLookup::is_usable, CachedLookup::is_good] {
            if self.0.len() >= KEPT {
                self.0.retain(|_, answer| is_kept(answer));
            }
        }
        if self.0.len() >= KEPT {
            self.0.clear();
        }
        let is_known = self.0.get(&host).is_some_and(|old| !old.addresses.is_empty() && old.is_usable());
        if is_known && addresses.is_empty() && took >= ANEW_WITHIN {
            // Silent servers do not mean that the name is gone.
            return;
        }
        let good_for = match addresses.is_empty() {
            true => (took * 10).clamp(UNKNOWN, LONG_UNKNOWN),
            false => KNOWN,
        };
        self.0.insert(host, CachedLookup { since: Instant::now(), addresses, good_for });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Condvar;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Names of `slow.test` hang until they are let go.
    #[derive(Default)]
    struct Slow {
        hanging: AtomicUsize,
        asked: AtomicUsize,
        let_go: Mutex<bool>,
        bell: Condvar,
    }

    impl Slow {
        fn release(&self) {
            *self.let_go.lock().unwrap() = true;
            self.bell.notify_all();
        }
    }

    impl Lookup for Slow {
        fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>> {
            self.asked.fetch_add(1, Ordering::SeqCst);
            if host == "none.test" {
                return Err(io::Error::from(io::ErrorKind::NotFound));
            }
            if host.ends_with("slow.test") {
                self.hanging.fetch_add(1, Ordering::SeqCst);
                let _free = self.bell.wait_while(self.let_go.lock().unwrap(), |free| !*free).unwrap();
                self.hanging.fetch_sub(1, Ordering::SeqCst);
            }
            Ok(vec![IpAddr::from([1, 2, 3, 4])])
        }
    }

    fn names(lookup: &Arc<Slow>, lookup_timeout_ms: u64) -> Arc<Names> {
        let limits = Limits { lookups: 6, lookups_per_tenant: 4, lookup_timeout_ms, ..Limits::default() };
        Arc::new(Names::new(lookup.clone(), &limits))
    }

    /// This runtime has only two threads for blocking work: were lookups done there, the third would wait for the first.
    #[test]
    fn names_that_hang_hold_up_nobody_else() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .max_blocking_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let slow = Arc::new(Slow::default());
        runtime.block_on(async {
            let names = names(&slow, 60_000);
            let mut hung = tokio::task::JoinSet::new();
            for n in 0..50 {
                let names = names.clone();
                hung.spawn(async move { names.resolve("greedy", &format!("n{n}.slow.test")).await });
            }
            while slow.hanging.load(Ordering::SeqCst) < 4 {
                tokio::task::yield_now().await;
            }
            let found = names.resolve("other", "quick.test").await.unwrap();
            assert_eq!(found, [IpAddr::from([1, 2, 3, 4])]);
            assert_eq!(tokio::task::spawn_blocking(|| 7).await.unwrap(), 7);
            assert_eq!(slow.asked.load(Ordering::SeqCst), 5, "the tenant has its share, and no more");
            slow.release();
            for found in hung.join_all().await {
                assert!(found.is_ok());
            }
        });
    }

    #[tokio::test]
    async fn a_lookup_has_a_time() {
        let slow = Arc::new(Slow::default());
        let names = names(&slow, 50);
        for n in 0..6 {
            let late = names.resolve("t", &format!("n{n}.slow.test")).await.unwrap_err();
            assert_eq!(late.kind(), io::ErrorKind::TimedOut);
        }
        assert_eq!(slow.asked.load(Ordering::SeqCst), 4, "what was given up still has its thread");
        slow.release();
        while slow.hanging.load(Ordering::SeqCst) > 0 {
            tokio::task::yield_now().await;
        }
        let late_answer = names.resolve("t", "n0.slow.test").await;
        assert!(late_answer.is_ok(), "it came late, and is known");
    }

    #[tokio::test]
    async fn answers_are_remembered_and_their_number_is_bounded() {
        let slow = Arc::new(Slow::default());
        let names = names(&slow, 60_000);
        for _ in 0..3 {
            assert!(names.resolve("t", "Quick.test").await.is_ok());
            assert_eq!(names.resolve("u", "none.test").await.unwrap_err().kind(), io::ErrorKind::NotFound);
        }
        assert_eq!(slow.asked.load(Ordering::SeqCst), 2);
        let mut known = LookupCache::default();
        for n in 0..5_000 {
            known.put(n.to_string(), vec![IpAddr::from([1, 2, 3, 4])], Duration::ZERO);
        }
        assert!(known.0.len() <= KEPT && known.get("4999").is_some_and(|(_, is_good)| is_good));
    }

    #[tokio::test]
    async fn a_name_that_was_known_needs_no_lookup_while_others_hang() {
        let slow = Arc::new(Slow::default());
        let names = names(&slow, 60_000);
        assert!(names.resolve("t", "quick.test").await.is_ok());
        let grow_old = || {
            let mut known = names.known.lock().unwrap();
            let answer = known.0.get_mut("quick.test").unwrap();
            answer.good_for = Duration::ZERO;
        };
        grow_old();
        let mut hung = tokio::task::JoinSet::new();
        for n in 0..10 {
            let names = names.clone();
            hung.spawn(async move { names.resolve("t", &format!("n{n}.slow.test")).await });
        }
        while slow.hanging.load(Ordering::SeqCst) < 4 {
            tokio::task::yield_now().await;
        }
        // All lookups of the tenant are in use: the stale answer is used.
        assert_eq!(names.resolve("t", "quick.test").await.unwrap(), [IpAddr::from([1, 2, 3, 4])]);
        assert_eq!(slow.asked.load(Ordering::SeqCst), 5);
        slow.release();
        for found in hung.join_all().await {
            assert!(found.is_ok());
        }
        // Otherwise the name is looked up again.
        assert!(names.resolve("t", "quick.test").await.is_ok());
        assert_eq!(slow.asked.load(Ordering::SeqCst), 12);
    }

    #[test]
    fn that_a_name_is_unknown_is_remembered_by_how_long_it_took() {
        let mut known = LookupCache::default();
        for (took, good_for) in [(0, 5), (2, 20), (60, 30)] {
            known.put("none.test".to_owned(), Vec::new(), Duration::from_secs(took));
            assert_eq!(known.0["none.test"].good_for, Duration::from_secs(good_for));
        }
        assert_eq!(known.get("none.test"), Some((Vec::new(), true)));
        // A name that was found stays cached while its servers are silent, and is removed when they report it as gone.
        let found = vec![IpAddr::from([1, 2, 3, 4])];
        known.put("some.test".to_owned(), found.clone(), Duration::ZERO);
        known.put("some.test".to_owned(), Vec::new(), Duration::from_secs(10));
        assert_eq!(known.get("some.test"), Some((found, true)));
        known.put("some.test".to_owned(), Vec::new(), Duration::ZERO);
        assert_eq!(known.get("some.test"), Some((Vec::new(), true)));
    }
}
