//! Lookups of keys in the database. A text that is no key by its checksum never gets here, but anybody can compute a checksum, so a flood
//! of invented keys looks like many applications that send their first request. A rate limit per address must not refuse lookups: one
//! address can be a whole office or cloud, and after a restart all of its valid keys are as unknown as the invented ones. A lookup is one
//! read by an index, far less than the cost of any valid request, so all are made. Lookups of unknown keys queue: few run at once, and of
//! one address only some of these, so that a flood takes no more than a part of the readers from others, and addresses alternate. An
//! address has few connections, so its turn comes soon.

use std::net::IpAddr;
use std::sync::Mutex;
use std::time::Duration;

use base::error::{Code, Refusal, Result};
use compute::named_semaphores::Shares;
use quick_cache::unsync::Cache;
use service::app::App;
use storage::old_secrets::{self, PresentedKey};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use tokio::time::timeout;

use crate::web::rate_limit::site;

/// Most keys that are cached as valid.
const MAX_KNOWN_KEYS: usize = 100_000;
/// Concurrent lookups of unknown keys: half of the database's readers.
const MAX_LOOKUPS: usize = 4;
/// Concurrent lookups of unknown keys of one address (`site`).
const MAX_LOOKUPS_OF_ADDRESS: usize = 2;
/// Longest wait of a lookup for its turn. Ten thousand others, as many as there can be connections, are done long before.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Lookups of keys by hash.
pub struct KeyLookups {
    /// Keys that were recently valid. A request with one of these is looked up at once, whatever else is queued.
    known: Mutex<Cache<String, ()>>,
    all: Semaphore,
    of_address: Shares,
}

impl Default for KeyLookups {
    fn default() -> Self {
        KeyLookups {
            known: Mutex::new(Cache::new(MAX_KNOWN_KEYS)),
            all: Semaphore::new(MAX_LOOKUPS),
            of_address: Shares::new(MAX_LOOKUPS_OF_ADDRESS),
        }
    }
}

impl KeyLookups {
    /// The current key with a secret of this hash, for a request from `ip`; none if there is no such key.
    ///
    /// # Errors
    /// `overloaded` if an unknown key waits for 30 s.
    pub async fn find(&self, app: &App, hash: &str, ip: IpAddr) -> Result<Option<PresentedKey>> {
        if self.is_known(hash) {
            return Ok(Box::pin(old_secrets::find_key(app.db.reader(), hash)).await?);
        }
        let Ok(turn) = timeout(LONGEST_WAIT, self.turn(ip)).await else {
            let message =
                "more API keys are being looked up than the database answers for; try again shortly";
            return Err(Refusal::new(Code::Overloaded, message).retry_after_s(1).into());
        };
        let found = Box::pin(old_secrets::find_key(app.db.reader(), hash)).await?;
        drop(turn);
        if found.as_ref().is_some_and(|found| found.key.revoked_at.is_none()) {
            self.remember(hash);
        }
        Ok(found)
    }

    /// Waits for the turn of an unknown key: first among those of its address, so that each address has few in the global queue.
    async fn turn(&self, ip: IpAddr) -> (Option<OwnedSemaphorePermit>, Option<SemaphorePermit<'_>>) {
        let of_address = self.of_address.of(&site(ip).to_string());
        // Only a closed semaphore fails, and these are never closed.
        (of_address.acquire_owned().await.ok(), self.all.acquire().await.ok())
    }

    fn is_known(&self, hash: &str) -> bool {
        self.known.lock().is_ok_and(|known| known.get(hash).is_some())
    }

    fn remember(&self, hash: &str) {
        if let Ok(mut known) = self.known.lock() {
            known.insert(hash.to_owned(), ());
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::poll;

    use super::*;

    /// Whether a lookup of this address can run now.
    async fn has_turn(lookups: &KeyLookups, ip: &str) -> bool {
        let mut turn = Box::pin(lookups.turn(ip.parse().unwrap()));
        poll!(turn.as_mut()).is_ready()
    }

    #[tokio::test]
    async fn an_address_has_a_part_of_the_turns_and_those_who_wait_come_in_order() {
        let lookups = KeyLookups::default();
        let flood = "192.0.2.1".parse().unwrap();
        let held = [lookups.turn(flood).await, lookups.turn(flood).await];
        assert!(!has_turn(&lookups, "192.0.2.1").await);
        assert!(has_turn(&lookups, "192.0.2.2").await, "a flood leaves turns for other addresses");
        let mut waiting: Vec<_> = (0..100).map(|_| Box::pin(lookups.turn(flood))).collect();
        for turn in &mut waiting {
            assert!(poll!(turn.as_mut()).is_pending());
        }
        drop(held);
        for turn in waiting {
            // Each permit is released on drop.
            drop(turn.await);
        }
        assert_eq!(lookups.all.available_permits(), MAX_LOOKUPS);
    }
}
