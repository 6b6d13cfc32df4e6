//! Names to addresses. The system's resolver blocks a thread for as long as a name's servers are silent, and whoever owns a name owns
//! those: so lookups have threads of their own, few of them, and of these no tenant has more than its share. What hangs delays the
//! tenant that asked for it and nobody else.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, oneshot};

use crate::admission::Gates;
use crate::limits::Limits;

/// How long an answer is good. The system's resolver does not tell how long its own is.
const KNOWN: Duration = Duration::from_secs(30);
/// How long it is that a name was not found.
const UNKNOWN: Duration = Duration::from_secs(5);
/// Names remembered.
const KEPT: usize = 1_024;

/// How names are looked up: by the system (files, DNS, whatever it is set up for), or by a test.
pub trait Lookup: Send + Sync {
    /// The addresses of a host. May block for as long as it likes.
    fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// As everything else on this machine looks them up.
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
    known: Arc<Mutex<Known>>,
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

    /// The addresses of `host`, at least one. An error of kind `TimedOut` where that takes too long, be it that the tenant's lookups
    /// are all under way.
    pub(crate) async fn resolve(&self, tenant: &str, host: &str) -> io::Result<Vec<IpAddr>> {
        let host = host.to_ascii_lowercase();
        let known = self.known.lock().expect("no panic while remembering names").get(&host);
        let found = match known {
            Some(known) => known,
            None => {
                let asked = tokio::time::timeout(self.within, self.ask(tenant, host));
                asked.await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??
            }
        };
        if found.is_empty() { Err(io::Error::from(io::ErrorKind::NotFound)) } else { Ok(found) }
    }

    async fn ask(&self, tenant: &str, host: String) -> io::Result<Vec<IpAddr>> {
        // The narrow gate first: who waits there holds nothing that others need.
        let share = self.tenants.of(tenant).acquire_owned().await;
        let room = self.total.clone().acquire_owned().await;
        let (lookup, known) = (self.lookup.clone(), self.known.clone());
        let (answer, answered) = oneshot::channel();
        let work = move || {
            // Given back when the lookup is over, not when nobody waits for it any more: it still has its thread.
            let _room = (share, room);
            let found = lookup.addresses(&host).unwrap_or_default();
            known.lock().expect("no panic while remembering names").put(host, found.clone());
            // Whoever asked may have given up.
            let _ = answer.send(found);
        };
        std::thread::Builder::new().name("lookup".to_owned()).spawn(work)?;
        answered.await.map_err(|_| io::Error::other("the lookup ended without an answer"))
    }
}

/// Answers of late.
#[derive(Default)]
struct Known(HashMap<String, (Instant, Vec<IpAddr>)>);

impl Known {
    fn is_good((since, found): &(Instant, Vec<IpAddr>)) -> bool {
        since.elapsed() < if found.is_empty() { UNKNOWN } else { KNOWN }
    }

    fn get(&self, host: &str) -> Option<Vec<IpAddr>> {
        self.0.get(host).filter(|entry| Known::is_good(entry)).map(|(_, found)| found.clone())
    }

    fn put(&mut self, host: String, found: Vec<IpAddr>) {
        if self.0.len() >= KEPT {
            self.0.retain(|_, entry| Known::is_good(entry));
        }
        if self.0.len() >= KEPT {
            self.0.clear();
        }
        self.0.insert(host, (Instant::now(), found));
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

    /// All threads for blocking work of this runtime are two: were lookups done there, the third would wait for the first.
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
        let mut known = Known::default();
        for n in 0..5_000 {
            known.put(n.to_string(), vec![IpAddr::from([1, 2, 3, 4])]);
        }
        assert!(known.0.len() <= KEPT && known.get("4999").is_some());
    }
}
