//! Renewals of providers' tokens that are running. The process waits for them before it ends, since a refresh token that was used and whose
//! successor is not stored is lost. In the background only a few run at a time for each authorization server.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// Most background renewals at one authorization server at a time.
const MAX_RENEWALS_PER_SERVER: usize = 4;

/// All renewals of this process.
#[derive(Default)]
pub struct Renewals {
    state: watch::Sender<RenewalState>,
    /// By the origin of the token endpoint.
    background: Mutex<HashMap<String, Weak<Semaphore>>>,
}

/// The state that `close` waits for.
#[derive(Clone, Copy, Debug, Default)]
struct RenewalState {
    running: usize,
    is_closed: bool,
}

/// A running renewal, until it is dropped.
pub struct UnderWay<'a>(&'a Renewals);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.state.send_modify(|state| state.running -= 1);
    }
}

impl Renewals {
    /// Begins a renewal; hold the guard until the new tokens are stored. None: the process is ending.
    pub fn begin(&self) -> Option<UnderWay<'_>> {
        let has_begun = self.state.send_if_modified(|state| {
            state.running += usize::from(!state.is_closed);
            !state.is_closed
        });
        has_begun.then(|| UnderWay(self))
    }

    /// Returns a permit for a background renewal at the server of this origin. None: the limit is reached.
    pub fn turn(&self, origin: &str) -> Option<OwnedSemaphorePermit> {
        self.semaphore(origin).try_acquire_owned().ok()
    }

    fn semaphore(&self, origin: &str) -> Arc<Semaphore> {
        // Without the map each caller gets a semaphore of its own: the limit is only a courtesy to providers.
        let Ok(mut all) = self.background.lock() else {
            return Arc::new(Semaphore::new(MAX_RENEWALS_PER_SERVER));
        };
        if let Some(semaphore) = all.get(origin).and_then(Weak::upgrade) {
            return semaphore;
        }
        if all.len() > 1024 {
            all.retain(|_, semaphore| semaphore.strong_count() > 0);
        }
        let semaphore = Arc::new(Semaphore::new(MAX_RENEWALS_PER_SERVER));
        all.insert(origin.to_owned(), Arc::downgrade(&semaphore));
        semaphore
    }

    /// Returns the number of running renewals.
    pub fn running(&self) -> usize {
        self.state.borrow().running
    }

    /// Prevents new renewals and waits until none is running.
    pub async fn close(&self) {
        self.state.send_modify(|state| state.is_closed = true);
        // The sender lives as long as `self`.
        let _ = self.state.subscribe().wait_for(|state| state.running == 0).await;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_server_is_asked_for_four_at_a_time() {
        let renewals = Renewals::default();
        let turns: Vec<_> =
            (0..MAX_RENEWALS_PER_SERVER).filter_map(|_| renewals.turn("https://a.test")).collect();
        assert_eq!(turns.len(), MAX_RENEWALS_PER_SERVER);
        assert!(renewals.turn("https://a.test").is_none());
        assert!(renewals.turn("https://b.test").is_some());
        drop(turns);
        assert!(renewals.turn("https://a.test").is_some());
    }

    #[tokio::test]
    async fn the_end_waits_for_what_is_under_way() {
        let renewals = Renewals::default();
        let one = renewals.begin().unwrap();
        assert_eq!(renewals.running(), 1);
        let soon = tokio::time::timeout(Duration::from_millis(10), renewals.close()).await;
        assert!(soon.is_err(), "one is under way");
        assert!(renewals.begin().is_none(), "none begins any more");
        drop(one);
        renewals.close().await;
        assert_eq!(renewals.running(), 0);
    }
}
