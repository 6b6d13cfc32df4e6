//! The transaction in which the local copy of an account is written.

use storage::Tx;
use storage::locked::ConnectionLock;

use crate::app::App;
use crate::local_copy::change::CopyLocation;

/// A write transaction on the local copy of an account, under the lock on its connection, at one location.
pub struct CopyTransaction<'t, 'l> {
    pub tx: &'t mut Tx,
    pub app: &'t App,
    pub lock: &'l ConnectionLock,
    pub location: &'t CopyLocation,
}

impl<'l> CopyTransaction<'_, 'l> {
    /// Returns the same transaction at another location of the account.
    pub fn at<'a>(&'a mut self, location: &'a CopyLocation) -> CopyTransaction<'a, 'l> {
        CopyTransaction { tx: &mut *self.tx, app: self.app, lock: self.lock, location }
    }
}
