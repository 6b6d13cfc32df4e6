//! The folder for the files of a backup, beside the backup's target. Only this user can read it, and the next command removes the folder of
//! one that was killed.

use std::fs::{File, Permissions, TryLockError};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use anyhow::{Context, Result, bail};
use base::file_lock::FileLock;
use tempfile::TempDir;

const PREFIX: &str = ".switchboard-backup-";
/// The file in the folder that its command keeps locked while it runs.
const LOCK: &str = "lock";
/// Attempts to create a folder: another command can mistake one that was just created for an abandoned one.
const ATTEMPTS: usize = 3;

/// A folder for files of one backup, removed on drop.
pub struct StagingFolder {
    // Before the folder: on a network share an open file keeps its folder.
    _lock: FileLock,
    dir: TempDir,
}

impl StagingFolder {
    /// Creates a folder in `folder`, for this user alone, and removes abandoned ones.
    pub fn create(folder: &Path) -> Result<StagingFolder> {
        let context = || format!("cannot write into {}", folder.display());
        remove_abandoned(folder).with_context(context)?;
        for _ in 0..ATTEMPTS {
            let mut builder = tempfile::Builder::new();
            builder.prefix(PREFIX).permissions(Permissions::from_mode(0o700));
            let dir = builder.tempdir_in(folder).with_context(context)?;
            let lock = File::options().write(true).create_new(true).open(dir.path().join(LOCK));
            let lock = lock.with_context(context)?;
            // If files cannot be locked, no other command takes this lock either.
            if !matches!(lock.try_lock(), Err(TryLockError::WouldBlock)) && dir.path().join(LOCK).exists() {
                return Ok(StagingFolder { _lock: FileLock::held(lock), dir });
            }
        }
        bail!("other backups are being written into {}: try again", folder.display())
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Removes the folder, even while other work still writes into it.
    pub fn remove(&self) {
        for _ in 0..ATTEMPTS {
            if std::fs::remove_dir_all(self.path()).is_ok() {
                return;
            }
        }
    }
}

/// Removes the folders of this user's backups whose commands were killed.
fn remove_abandoned(folder: &Path) -> std::io::Result<()> {
    let user = rustix::process::geteuid().as_raw();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX)
            && entry.metadata().is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == user);
        if !is_ours {
            continue;
        }
        // A folder without a lock was created this moment.
        let Ok(lock) = File::options().write(true).open(entry.path().join(LOCK)) else { continue };
        if lock.try_lock().is_ok() {
            let _lock = FileLock::held(lock);
            // A folder that cannot be removed does not prevent a backup.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_for_its_owner_alone_and_goes_away() {
        let place = tempfile::tempdir().unwrap();
        let staging = StagingFolder::create(place.path()).unwrap();
        assert_eq!(staging.path().metadata().unwrap().permissions().mode() & 0o777, 0o700);
        std::fs::write(staging.path().join("switchboard.db"), b"rows").unwrap();
        staging.remove();
        assert!(!staging.path().exists());
        drop(staging);
        drop(StagingFolder::create(place.path()).unwrap());
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    }

    #[test]
    fn the_folder_of_a_command_that_was_killed_is_removed_and_that_of_one_that_runs_is_kept() {
        let place = tempfile::tempdir().unwrap();
        let running = StagingFolder::create(place.path()).unwrap();
        let killed = place.path().join(".switchboard-backup-killed");
        let other = place.path().join("switchboard-backup-mine");
        for folder in [&killed, &other] {
            std::fs::create_dir(folder).unwrap();
            std::fs::write(folder.join(LOCK), b"").unwrap();
            std::fs::write(folder.join("switchboard.db"), b"rows").unwrap();
        }
        let next = StagingFolder::create(place.path()).unwrap();
        assert!(!killed.exists() && other.exists());
        assert!(running.path().exists() && next.path().exists());
    }
}
