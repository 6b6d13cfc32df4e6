//! The API keys of this host's open event streams, and the signals by which streams learn that their key has ended.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

/// The keys of this host's streams.
#[derive(Clone, Default)]
pub struct StreamKeys(Arc<Mutex<OpenKeys>>);

#[derive(Default)]
struct OpenKeys {
    /// By the keys' ids.
    keys: HashMap<String, OpenKey>,
    /// A task looks at them.
    is_watched: bool,
}

struct OpenKey {
    streams: usize,
    ended: watch::Sender<bool>,
}

/// The view that one stream has of its key, until the stream is dropped.
pub struct KeyWatch {
    keys: StreamKeys,
    key_id: String,
    ended: watch::Receiver<bool>,
}

impl KeyWatch {
    /// Whether the key was seen to be revoked or expired.
    pub fn has_ended(&self) -> bool {
        *self.ended.borrow()
    }

    /// Waits until the key is seen to be revoked or expired.
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
        if let Some(key) = open.keys.get_mut(&self.key_id) {
            key.streams -= 1;
            if key.streams == 0 {
                open.keys.remove(&self.key_id);
            }
        }
    }
}

impl StreamKeys {
    /// Adds a stream of a key. True: nobody looks at the keys yet, and the caller has to see to it.
    pub fn add(&self, key_id: &str) -> (KeyWatch, bool) {
        let mut open = self.open();
        let key = open.keys.entry(key_id.to_owned());
        let key = key.or_insert_with(|| OpenKey { streams: 0, ended: watch::Sender::new(false) });
        key.streams += 1;
        let ended = key.ended.subscribe();
        let is_unwatched = !std::mem::replace(&mut open.is_watched, true);
        (KeyWatch { keys: self.clone(), key_id: key_id.to_owned(), ended }, is_unwatched)
    }

    /// The keys that have streams. None: there are none, and nobody looks at them from now on.
    pub fn ids(&self) -> Option<Vec<String>> {
        let mut open = self.open();
        open.is_watched = !open.keys.is_empty();
        open.is_watched.then(|| open.keys.keys().cloned().collect())
    }

    /// Ends the streams of these keys.
    pub fn end(&self, ids: &[String]) {
        let open = self.open();
        for key in ids.iter().filter_map(|id| open.keys.get(id)) {
            key.ended.send_replace(true);
        }
    }

    /// Notes that nobody looks at the keys any more: the next stream begins anew.
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

    #[test]
    fn a_key_is_looked_at_while_it_has_a_stream() {
        let keys = StreamKeys::default();
        let (first, is_first) = keys.add("key_a");
        let (second, is_second) = keys.add("key_a");
        let (other, _) = keys.add("key_b");
        assert_eq!((is_first, is_second), (true, false));
        keys.end(&["key_a".to_owned(), "key_c".to_owned()]);
        assert_eq!((first.has_ended(), second.has_ended(), other.has_ended()), (true, true, false));
        drop((first, other));
        assert_eq!(keys.ids(), Some(vec!["key_a".to_owned()]));
        drop(second);
        assert_eq!(keys.ids(), None);
        // A key that comes again is another stream's: it is looked at anew.
        let (again, is_again) = keys.add("key_a");
        assert_eq!((again.has_ended(), is_again), (false, true));
    }
}
