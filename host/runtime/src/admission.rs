//! Admission of calls: each call needs permits of its tenant's share and of its connector's, an instance, and memory before it
//! starts. A call without room waits a little in a bounded queue; the pool itself would not queue but fail.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::code::Code;
use crate::error::Error;
use crate::limits::Limits;

pub(crate) struct Admission {
    limits: Limits,
    memory_mib: Arc<Semaphore>,
    instances: Arc<Semaphore>,
    background: Arc<Semaphore>,
    connectors: Gates,
    tenants: Gates,
    queued: AtomicUsize,
}

/// The permits of a call, released when dropped.
pub(crate) struct CallPermits {
    _permits: [Option<OwnedSemaphorePermit>; 5],
}

/// How full it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    pub running: usize,
    pub queued: usize,
    pub memory_mib: usize,
}

impl Admission {
    pub(crate) fn new(limits: &Limits) -> Self {
        Admission {
            memory_mib: Arc::new(Semaphore::new(limits.total_memory_mib)),
            instances: Arc::new(Semaphore::new(limits.max_concurrent)),
            background: Arc::new(Semaphore::new(limits.max_background)),
            connectors: Gates::new(limits.max_per_connector),
            tenants: Gates::new(limits.max_per_tenant),
            queued: AtomicUsize::new(0),
            limits: limits.clone(),
        }
    }

    /// Acquires the permits of one call, at once or after waiting; `Busy` when the queue is full or the wait too long.
    pub(crate) async fn admit(
        &self,
        tenant: &str,
        connector: &str,
        memory_mib: usize,
        background: bool,
    ) -> Result<CallPermits, Error> {
        // The narrow gates first: a waiter there holds no permit that others need.
        let gates = [
            (Some(self.tenants.gate(tenant)), 1),
            (Some(self.connectors.gate(connector)), 1),
            (if background { Some(self.background.clone()) } else { None }, 1),
            (Some(self.instances.clone()), 1),
            (Some(self.memory_mib.clone()), memory_mib.min(self.limits.total_memory_mib)),
        ];
        if let Some(admitted) = at_once(&gates) {
            return Ok(admitted);
        }
        let _place = Place::take(&self.queued, self.limits.max_queued)
            .ok_or_else(|| self.busy("the queue is full"))?;
        let wait = async {
            let mut permits = [const { None }; 5];
            for (permit, (gate, weight)) in permits.iter_mut().zip(gates) {
                if let Some(gate) = gate {
                    let weight = u32::try_from(weight).unwrap_or(u32::MAX);
                    *permit = gate.acquire_many_owned(weight).await.ok();
                }
            }
            CallPermits { _permits: permits }
        };
        tokio::time::timeout(Duration::from_millis(self.limits.queue_timeout_ms), wait)
            .await
            .map_err(|_| self.busy("no room within the queue's time"))
    }

    fn busy(&self, why: &str) -> Error {
        let now = self.occupancy();
        let mut error = Error::new(
            Code::Busy,
            format!("{why}: {} running, {} queued, {} MiB", now.running, now.queued, now.memory_mib),
        );
        error.retry_after_ms = Some(self.limits.queue_timeout_ms.max(1_000));
        error
    }

    pub(crate) fn occupancy(&self) -> Occupancy {
        Occupancy {
            running: self.limits.max_concurrent - self.instances.available_permits(),
            queued: self.queued.load(Ordering::Relaxed),
            memory_mib: self.limits.total_memory_mib - self.memory_mib.available_permits(),
        }
    }
}

type Gate = (Option<Arc<Semaphore>>, usize);

fn at_once(gates: &[Gate; 5]) -> Option<CallPermits> {
    let mut permits = [const { None }; 5];
    for (permit, (gate, weight)) in permits.iter_mut().zip(gates) {
        if let Some(gate) = gate {
            *permit = Some(gate.clone().try_acquire_many_owned(u32::try_from(*weight).ok()?).ok()?);
        }
    }
    Some(CallPermits { _permits: permits })
}

/// A place in the queue.
struct Place<'a>(&'a AtomicUsize);

impl<'a> Place<'a> {
    fn take(queued: &'a AtomicUsize, max: usize) -> Option<Self> {
        if queued.fetch_add(1, Ordering::Relaxed) < max {
            return Some(Place(queued));
        }
        queued.fetch_sub(1, Ordering::Relaxed);
        None
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// One semaphore per name, dropped when it is no longer used.
pub(crate) struct Gates {
    each: usize,
    by_name: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// Number of names from which on idle ones are swept.
const SWEEP_FROM: usize = 1_024;

impl Gates {
    pub(crate) fn new(each: usize) -> Self {
        Gates { each, by_name: Mutex::default() }
    }

    pub(crate) fn gate(&self, name: &str) -> Arc<Semaphore> {
        let mut by_name = self.by_name.lock().expect("no panic while choosing a gate");
        if let Some(gate) = by_name.get(name) {
            return gate.clone();
        }
        if by_name.len() >= SWEEP_FROM {
            by_name.retain(|_, gate| Arc::strong_count(gate) > 1);
        }
        let gate = Arc::new(Semaphore::new(self.each));
        by_name.insert(name.to_owned(), gate.clone());
        gate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> Limits {
        Limits {
            max_concurrent: 4,
            max_per_tenant: 2,
            total_memory_mib: 100,
            queue_timeout_ms: 20,
            max_queued: 1,
            ..Limits::default()
        }
    }

    #[tokio::test]
    async fn a_tenant_cannot_take_everything() {
        let a = Admission::new(&limits());
        let first = a.admit("t1", "x", 10, false).await.unwrap();
        let _second = a.admit("t1", "x", 10, false).await.unwrap();
        assert_eq!(a.admit("t1", "x", 10, false).await.map(|_| ()).unwrap_err().code, Code::Busy);
        let _other = a.admit("t2", "x", 10, false).await.unwrap();
        assert_eq!(a.occupancy(), Occupancy { running: 3, queued: 0, memory_mib: 30 });
        drop(first);
        assert!(a.admit("t1", "x", 10, false).await.is_ok());
    }

    #[tokio::test]
    async fn memory_is_weighed_and_the_queue_is_bounded() {
        let a = Admission::new(&limits());
        let large = a.admit("t1", "x", 90, false).await.unwrap();
        let (one, two) = tokio::join!(a.admit("t2", "x", 20, false), a.admit("t3", "x", 20, false));
        assert_eq!([one.is_err(), two.is_err()], [true, true]);
        drop(large);
        assert!(a.admit("t2", "x", 20, false).await.is_ok());
        assert_eq!(a.occupancy(), Occupancy { running: 0, queued: 0, memory_mib: 0 });
    }
}
