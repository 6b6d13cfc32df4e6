//! Rows are read under a lock before they are changed, and the transaction holds the lock to its end. The types here make that
//! the only way: a write needs the row as `lock_*` returned it, and `lock_*` needs the lock on the row's connection.
//!
//! One lock covers all rows of an account: its items, its outgoing messages, its sync states. On PostgreSQL it is the row lock on
//! the connection (`for no key update`, which rows that refer to it do not wait for), which other hosts wait for. On SQLite the
//! writer runs one transaction after the other, so the transaction itself is the lock.

use std::ops::Deref;

use anyhow::{Result, ensure};

use crate::connection::Connection;

/// The lock on a live connection, with the row as it is under the lock. It belongs to the transaction that took it.
#[derive(Debug)]
pub struct ConnectionLock {
    row: Connection,
}

impl ConnectionLock {
    /// For `take` alone, which is next to the statement that locks the row (`connections.rs`).
    pub(super) fn new(row: Connection) -> Self {
        ConnectionLock { row }
    }

    /// Fails when a row is another connection's: this lock does not cover it.
    pub(super) fn covers(&self, connection_id: &str) -> Result<()> {
        ensure!(
            self.row.id == connection_id,
            "the lock on {} does not cover rows of {connection_id}",
            self.row.id
        );
        Ok(())
    }
}

impl Deref for ConnectionLock {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.row
    }
}

/// A row that was read under a connection's lock. It lives no longer than the lock, so that it cannot be taken to another
/// transaction.
#[derive(Debug)]
pub struct LockedRow<'l, T> {
    row: T,
    lock: &'l ConnectionLock,
}

impl<'l, T> LockedRow<'l, T> {
    /// For `lock_*` in this folder alone.
    pub(super) fn new(lock: &'l ConnectionLock, row: T) -> Self {
        LockedRow { row, lock }
    }

    /// The lock under which it was read.
    pub(super) fn lock(&self) -> &'l ConnectionLock {
        self.lock
    }

    /// The row alone, which can be read but no longer written.
    pub fn into_row(self) -> T {
        self.row
    }
}

impl<T: Clone> Clone for LockedRow<'_, T> {
    fn clone(&self) -> Self {
        LockedRow { row: self.row.clone(), lock: self.lock }
    }
}

impl<T> Deref for LockedRow<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.row
    }
}
