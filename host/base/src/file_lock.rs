//! Locks that keep other processes out.

use std::fs::File;

/// A locked file, unlocked when this is dropped. A process that is just being started has a copy of every open file: closing ours
/// would leave the lock to it for that moment, unlocking ends it.
pub struct FileLock(File);

impl FileLock {
    /// Wraps a file that is already locked.
    pub fn held(file: File) -> Self {
        FileLock(file)
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // It ends with the file in any case.
        let _ = self.0.unlock();
    }
}
