//! A cache of HTTP clients. Beyond its limit the least recently used one is dropped, with its idle connections.

use std::collections::HashMap;
use std::hash::Hash;

/// Maximum cached clients.
pub(super) const MAX_CLIENTS: usize = 512;

/// The cached clients by their keys, each with the number of its last use.
pub(super) struct ClientCache<K, C> {
    pub(super) clients: HashMap<K, (C, u64)>,
    uses: u64,
}

impl<K, C> Default for ClientCache<K, C> {
    fn default() -> Self {
        ClientCache { clients: HashMap::new(), uses: 0 }
    }
}

impl<K: Clone + Eq + Hash, C: Clone> ClientCache<K, C> {
    /// Returns the client with this key, which `build` makes if it is not cached.
    pub(super) fn get_or_build(&mut self, key: K, build: impl FnOnce() -> C) -> C {
        self.uses += 1;
        let now = self.uses;
        if let Some((client, used)) = self.clients.get_mut(&key) {
            *used = now;
            return client.clone();
        }
        if self.clients.len() >= MAX_CLIENTS {
            let oldest = self.clients.iter().min_by_key(|(_, (_, used))| *used).map(|(key, _)| key.clone());
            oldest.map(|key| self.clients.remove(&key));
        }
        let client = build();
        self.clients.insert(key, (client.clone(), now));
        client
    }
}
