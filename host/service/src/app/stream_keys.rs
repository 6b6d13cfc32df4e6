//! The API keys of this host's open event streams, by the secret that opened each stream, and the signals that end streams whose key or
//! secret has ended.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use storage::old_secrets::LiveSecret;
use tokio::sync::watch;

/// The keys of this host's streams.
#[derive(Clone, Default)]
pub struct StreamKeys(Arc<Mutex<OpenKeys>>);

#[derive(Default)]
struct OpenKeys {
    /// By secret.
    keys: BTreeMap<LiveSecret, OpenKey>,
    /// Whether a task checks them.
    is_watched: bool,
}

struct OpenKey {
    streams: usize,
    ended: watch::Sender<bool>,
}

/// One stream's view of its key, until the stream is dropped.
pub struct KeyWatch {
    keys: StreamKeys,
    secret: LiveSecret,
    ended: watch::Receiver<bool>,
}

impl KeyWatch {
    /// Whether the key was found revoked, expired or rotated.
    pub fn has_ended(&self) -> bool {
        *self.ended.borrow()
    }

    /// Waits until the key is found revoked, expired or rotated.
    pub async fn ended(&mut self) {
        let has_ended = self.ended.wait_for(|has_ended| *has_ended).await.is_ok();
        if !has_ended {
            // The sender lives as long as this does.
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for KeyWatch {
    fn drop(&mut self) {
        let mut open = self.keys.open();
        if let Some(key) = open.keys.get_mut(&self.secret) {
            key.streams -= 1;
            if key.streams == 0 {
                open.keys.remove(&self.secret);
            }
        }
    }
}

impl StreamKeys {
    /// Adds a stream that a secret of a key has opened. True: no task checks the keys yet, and the caller has to start one.
    pub fn add(&self, secret: &LiveSecret) -> (KeyWatch, bool) {
        let mut open = self.open();
        let key = open.keys.entry(secret.clone());
        let key = key.or_insert_with(|| OpenKey { streams: 0, ended: watch::Sender::new(false) });
        key.streams += 1;
        let ended = key.ended.subscribe();
        let is_unwatched = !std::mem::replace(&mut open.is_watched, true);
        (KeyWatch { keys: self.clone(), secret: secret.clone(), ended }, is_unwatched)
    }

    /// Returns the secrets that have streams. None: there are none, and the keys count as unchecked from now on.
    pub fn secrets(&self) -> Option<BTreeSet<LiveSecret>> {
        let mut open = self.open();
        open.is_watched = !open.keys.is_empty();
        open.is_watched.then(|| open.keys.keys().cloned().collect())
    }

    /// Ends the streams of these secrets.
    pub fn end(&self, secrets: &BTreeSet<LiveSecret>) {
        let open = self.open();
        for key in secrets.iter().filter_map(|secret| open.keys.get(secret)) {
            key.ended.send_replace(true);
        }
    }

    /// Records that no task checks the keys any more: the next stream starts one.
    pub fn set_unwatched(&self) {
        self.open().is_watched = false;
    }

    fn open(&self) -> MutexGuard<'_, OpenKeys> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(key_id: &str, last4: &str) -> LiveSecret {
        LiveSecret { key_id: key_id.to_owned(), prefix: "uc_live_abcdef".to_owned(), last4: last4.to_owned() }
    }

    #[test]
    fn a_key_is_looked_at_while_it_has_a_stream() {
        let keys = StreamKeys::default();
        let [old, new, of_another] =
            [secret("key_a", "0000"), secret("key_a", "1111"), secret("key_b", "0000")];
        let (first, is_first) = keys.add(&old);
        let (second, is_second) = keys.add(&old);
        let (rotated, _) = keys.add(&new);
        let (other, _) = keys.add(&of_another);
        assert_eq!((is_first, is_second), (true, false));
        keys.end(&BTreeSet::from([old.clone(), secret("key_c", "0000")]));
        assert_eq!((first.has_ended(), second.has_ended()), (true, true));
        assert_eq!((rotated.has_ended(), other.has_ended()), (false, false));
        drop((first, rotated, other));
        assert_eq!(keys.secrets(), Some(BTreeSet::from([old.clone()])));
        drop(second);
        assert_eq!(keys.secrets(), None);
        // A key that comes again is another stream's: its end is not remembered.
        let (again, is_again) = keys.add(&old);
        assert_eq!((again.has_ended(), is_again), (false, true));
    }
}
