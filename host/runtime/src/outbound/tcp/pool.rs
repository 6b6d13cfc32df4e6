//! Idle connections for the next call of their account: a call then needs no login.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use crate::outbound::tcp::line::Line;
use crate::outbound::tcp::server::{Protocol, Server};

/// Idle connections of one account to one server.
const PER_KEY: usize = 3;
/// Idle connections in all; beyond that the one that has been idle for longest is closed.
const KEPT: usize = 512;
/// Longest idle time. Servers end idle connections: IMAP after half an hour, SMTP after five minutes.
const IDLE: Duration = Duration::from_secs(120);

/// The owner and the server of a pooled connection, which no other owner ever gets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) tenant: String,
    pub(crate) connection: String,
    pub(crate) connector: Arc<str>,
    pub(crate) server: Server,
    pub(crate) protocol: Protocol,
    /// A fingerprint of the credentials: new ones require a new login.
    pub(crate) login: [u8; 32],
}

/// A connection, and the connector's knowledge of it.
pub(crate) struct IdleConnection {
    pub(crate) line: Line,
    pub(crate) capabilities: Vec<String>,
    pub(crate) note: String,
}

/// The idle connections of a host.
#[derive(Default)]
pub(crate) struct ConnectionPool(Mutex<HashMap<Key, Vec<(Instant, IdleConnection)>>>);

impl ConnectionPool {
    /// The connection of this key that was used last.
    pub(crate) fn take(&self, key: &Key) -> Option<IdleConnection> {
        let mut kept = self.0.lock().ok()?;
        let lines = kept.get_mut(key)?;
        let mut found = None;
        while let Some((since, line)) = lines.pop() {
            if since.elapsed() < IDLE && line.line.is_open() {
                found = Some(line);
                break;
            }
        }
        if lines.is_empty() {
            kept.remove(key);
        }
        found
    }

    pub(crate) fn put(&self, key: Key, line: IdleConnection) {
        let Ok(mut kept) = self.0.lock() else { return };
        let count: usize = kept.values().map(Vec::len).sum();
        if count >= KEPT {
            let oldest = kept.iter().min_by_key(|(_, lines)| lines.first().map(|(since, _)| *since));
            let oldest = oldest.map(|(key, _)| key.clone());
            oldest.map(|key| kept.remove(&key));
        }
        let lines = kept.entry(key).or_default();
        if lines.len() >= PER_KEY {
            lines.remove(0);
        }
        lines.push((Instant::now(), line));
    }

    /// Closes connections that have been idle for too long.
    fn end_idle(&self) {
        let Ok(mut kept) = self.0.lock() else { return };
        for lines in kept.values_mut() {
            lines.retain(|(since, _)| since.elapsed() < IDLE);
        }
        kept.retain(|_, lines| !lines.is_empty());
    }

    /// Closes idle connections for as long as the pool lives.
    pub(crate) fn tend(pool: &Arc<ConnectionPool>, runtime: &tokio::runtime::Handle) {
        let weak: Weak<ConnectionPool> = Arc::downgrade(pool);
        runtime.spawn(async move {
            loop {
                tokio::time::sleep(IDLE / 4).await;
                let Some(pool) = weak.upgrade() else { break };
                pool.end_idle();
            }
        });
    }
}
