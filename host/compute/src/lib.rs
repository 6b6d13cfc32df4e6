//! CPU-bound work: parsing large bodies, building and cleaning messages. It runs where it blocks no worker of the runtime, with at most as
//! many concurrent pieces as there are processors, and half of that for each tenant: a busy tenant waits for its own work and delays no
//! other. On a busy machine its threads have a lower priority than those that answer requests.

pub mod named_semaphores;

use std::sync::{Arc, OnceLock};

use rayon::{ThreadPool, ThreadPoolBuilder};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::named_semaphores::Shares;

/// Maximum input that is processed inline, bytes: about a millisecond, less than a thread switch costs.
const INLINE_BYTES: usize = 32 << 10;

/// The permits for such work. Cheap to clone.
#[derive(Clone)]
pub struct Compute(Arc<Places>);

struct Places {
    all: Arc<Semaphore>,
    tenants: Shares,
}

/// A permit, released when it is dropped.
pub struct Place {
    _own: Option<OwnedSemaphorePermit>,
    _one: Option<OwnedSemaphorePermit>,
}

impl Default for Compute {
    fn default() -> Self {
        Compute::new(processors())
    }
}

impl Compute {
    /// `places` permits, half of them for one tenant.
    pub fn new(places: usize) -> Self {
        let tenants = Shares::new((places / 2).max(1));
        Compute(Arc::new(Places { all: Arc::new(Semaphore::new(places)), tenants }))
    }

    /// Runs `work` on `bytes` of a tenant's input. Large input waits for a permit.
    pub async fn run<T: Send>(&self, tenant: &str, bytes: usize, work: impl FnOnce() -> T + Send) -> T {
        if bytes <= INLINE_BYTES {
            return work();
        }
        self.run_heavy(tenant, work).await
    }

    /// Runs `work` that may take long for a tenant, whatever the length of its input: always waits for a permit.
    pub async fn run_heavy<T: Send>(&self, tenant: &str, work: impl FnOnce() -> T + Send) -> T {
        let _place = self.place(tenant).await;
        off_worker(work)
    }

    /// Waits for a permit. The tenant's own share comes first: a caller that waits for it takes no permit from others.
    pub async fn place(&self, tenant: &str) -> Place {
        // Only a closed semaphore fails, and these are never closed.
        let own = self.0.tenants.of(tenant).acquire_owned().await.ok();
        let one = self.0.all.clone().acquire_owned().await.ok();
        Place { _own: own, _one: one }
    }
}

/// Runs `work` on `bytes` of input without a permit: for code that cannot wait, and whose callers are limited otherwise.
pub fn at_once<T: Send>(bytes: usize, work: impl FnOnce() -> T + Send) -> T {
    if bytes <= INLINE_BYTES { work() } else { off_worker(work) }
}

/// Runs `work` on a compute thread and blocks until it ends; the runtime first moves the worker's other tasks.
fn off_worker<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let busy = || match busy_threads() {
        Some(threads) => threads.install(work),
        None => work(),
    };
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(busy),
        // A single-threaded runtime cannot move its tasks; neither can a thread outside a runtime.
        _ => busy(),
    }
}

/// The number of concurrent pieces of work: at least two, so that one tenant never has all of it.
fn processors() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from).max(2)
}

/// The compute threads, one per processor; none if the system gives none.
fn busy_threads() -> Option<&'static ThreadPool> {
    static THREADS: OnceLock<Option<ThreadPool>> = OnceLock::new();
    let start = || {
        let threads =
            ThreadPoolBuilder::new().num_threads(processors()).thread_name(|_| "compute".to_owned());
        threads.start_handler(|_| come_after_requests()).build().ok()
    };
    THREADS.get_or_init(start).as_ref()
}

/// Niceness of compute threads: on a busy processor they get about a third of the time of a thread that answers requests.
const NICENESS: i32 = 5;

/// Lowers the priority of this thread below those that answer requests. Linux only, where niceness is per thread.
pub fn come_after_requests() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::nice(NICENESS);
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    const MUCH: usize = INLINE_BYTES + 1;

    /// Heavy work without end leaves the only worker free: a small request is served.
    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn heavy_work_holds_no_worker() {
        let (started, has_started) = tokio::sync::oneshot::channel();
        let (end, ended) = mpsc::channel::<()>();
        let work = move || (started.send(()), ended.recv().is_err());
        let heavy = tokio::spawn(async move { Compute::new(2).run("a", MUCH, work).await });
        has_started.await.expect("it starts");
        assert!(tokio::spawn(async { true }).await.expect("a worker is free"));
        assert!(!heavy.is_finished(), "it is at work all the time");
        drop(end);
        assert!(heavy.await.expect("it ends").1);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn work_of_unknown_length_runs_on_the_threads_for_it() {
        let name = || std::thread::current().name().map(str::to_owned);
        let heavy = Compute::new(2).run_heavy("a", name).await;
        let small = Compute::new(2).run("a", 0, name).await;
        assert_eq!(heavy.as_deref(), Some("compute"));
        assert_ne!(small, heavy);
    }

    #[cfg(target_os = "linux")]
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn heavy_work_comes_after_requests() {
        let niceness = || rustix::process::getpriority_process(None).expect("every thread has one");
        let heavy = Compute::new(2).run("a", MUCH, niceness).await;
        assert_eq!(heavy, (niceness() + NICENESS).min(19));
        assert_eq!(
            Compute::new(2).run("a", INLINE_BYTES, niceness).await,
            niceness(),
            "little work is done here"
        );
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn one_tenant_leaves_places_for_others() {
        let compute = Compute::new(2);
        let (end, ended) = mpsc::channel::<()>();
        let (started, has_started) = tokio::sync::oneshot::channel();
        let first = tokio::spawn({
            let compute = compute.clone();
            let work = move || (started.send(()), ended.recv().is_err());
            async move { compute.run("greedy", MUCH, work).await }
        });
        has_started.await.expect("it starts");
        let waiting: Vec<_> = (0..10)
            .map(|_| {
                let compute = compute.clone();
                tokio::spawn(async move { compute.run("greedy", MUCH, || ()).await })
            })
            .collect();
        compute.run("modest", MUCH, || ()).await;
        assert!(waiting.iter().all(|w| !w.is_finished()), "the greedy one waits for itself");
        drop(end);
        assert!(first.await.expect("it ends").1);
        for work in waiting {
            work.await.expect("it ends");
        }
    }
}
