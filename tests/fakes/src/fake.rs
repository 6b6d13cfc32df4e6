//! The handle of a fake provider: its store, its faults and traps, and the requests that it got.

use std::future::Future;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::clock::Clock;
use crate::door::Provider;
use crate::faults::Fault;
use crate::flights::Flights;
use crate::journal::{Journal, RecordedRequest};
use crate::oracle::Violation;
use crate::traps::Traps;

/// The part of a fake that answers requests.
pub trait FakeService: Provider + Sized {
    /// The fake's store.
    type State: Send + 'static;
    /// A request as the fake records it.
    type Request: RecordedRequest;

    fn state(&self) -> &Mutex<Self::State>;
    fn journal(&self) -> &Mutex<Journal<Self::Request>>;
    /// Calls wait while this is true.
    fn is_held(&self) -> &watch::Sender<bool>;
    fn clock(state: &Self::State) -> &Clock;
    fn traps(state: &mut Self::State) -> &mut Traps;
    fn flights(state: &mut Self::State) -> &mut Flights;
    /// Posts the notifications that are due. Returns the statuses of the answers; 0 where there was none.
    fn notify(&self) -> impl Future<Output = Vec<u16>> + Send;
}

/// A fake, until it is dropped.
pub struct Fake<S: FakeService> {
    pub(crate) service: Arc<S>,
    url: String,
    serving: Vec<JoinHandle<()>>,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<S: FakeService> Fake<S> {
    /// The handle of a service with this origin, which these tasks serve.
    pub(crate) fn new(service: Arc<S>, url: String, serving: Vec<JoinHandle<()>>) -> Fake<S> {
        Fake { service, url, serving }
    }

    /// The origin, without a slash at the end.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Reads or changes the fake's store.
    pub fn with<T>(&self, access: impl FnOnce(&mut S::State) -> T) -> T {
        access(&mut lock(self.service.state()))
    }

    /// Moves the clock of the fake.
    pub fn advance(&self, by: Duration) {
        S::clock(&lock(self.service.state())).advance(by);
    }

    /// The requests since the start, or since `clear_requests`.
    pub fn requests(&self) -> Vec<S::Request> {
        lock(self.service.journal()).requests.clone()
    }

    /// Forgets the requests so far and returns them.
    pub fn clear_requests(&self) -> Vec<S::Request> {
        mem::take(&mut lock(self.service.journal()).requests)
    }

    /// Queues a fault of a request, or of a part of a batch.
    pub fn fault(&self, fault: Fault) {
        lock(self.service.journal()).faults.push(fault);
    }

    /// Forgets the faults that wait for their requests.
    pub fn clear_faults(&self) {
        lock(self.service.journal()).faults.clear();
    }

    /// Switches a trap on for this many times; 0 switches it off.
    ///
    /// # Panics
    /// No trap has this name.
    pub fn trap(&self, name: &str, times: u32) {
        self.trap_later(name, 0, times);
    }

    /// Switches a trap on for this many times, after it has stayed silent for `skips` times.
    ///
    /// # Panics
    /// No trap has this name.
    pub fn trap_later(&self, name: &str, skips: u32, times: u32) {
        let set = self.with(|state| S::traps(state).set_later(name, skips, times));
        set.unwrap_or_else(|error| panic!("{error}"));
    }

    /// Ends the faults and traps.
    pub fn calm(&self) {
        self.clear_faults();
        self.with(|state| S::traps(state).clear());
    }

    /// Lets calls wait from now on, or answers those that wait and all others.
    pub fn hold(&self, is_held: bool) {
        self.service.is_held().send_replace(is_held);
    }

    /// The requests and answers that the provider's document forbids.
    pub fn violations(&self) -> Vec<Violation> {
        lock(self.service.journal()).violations.clone()
    }

    /// Posts the notifications that are due. Returns the statuses of the answers; 0 where there was none.
    pub async fn notify(&self) -> Vec<u16> {
        self.service.notify().await
    }

    /// Serves until the process ends.
    pub async fn serve(mut self) {
        if let Some(serving) = self.serving.first_mut() {
            // The task ends by an abort alone.
            let _ = serving.await;
        }
    }
}

impl<S: FakeService> Drop for Fake<S> {
    fn drop(&mut self) {
        self.serving.iter().for_each(JoinHandle::abort);
    }
}
