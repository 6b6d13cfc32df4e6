//! The cache of compiled code, kept from one run to the next.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result};

const KEY_BYTES: usize = 32;
/// Versions of the connector whose compiled code is kept.
const KEPT: usize = 8;

/// Removes the code compiled for older versions of the connector.
pub fn prune(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let is_code = |path: &Path| path.extension().is_some_and(|extension| extension == "cwasm");
    let mut code: Vec<(SystemTime, PathBuf)> = entries
        .flatten()
        .filter(|entry| is_code(&entry.path()))
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    code.sort();
    for (_, path) in code.iter().rev().skip(KEPT) {
        // Another run may have removed it.
        let _ = std::fs::remove_file(path);
    }
}

/// Returns the key of a folder's compiled code, made the first time. Its readers can write code that the next run executes, so it lies
/// in the author's own project and is used for nothing else.
pub fn key(folder: &Path) -> Result<[u8; KEY_BYTES]> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let path = folder.join("key");
    let mut key = [0; KEY_BYTES];
    getrandom::fill(&mut key).context("there is no randomness")?;
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
        Ok(mut file) => {
            file.write_all(&key).with_context(|| format!("cannot write {}", path.display()))?;
            Ok(key)
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let kept = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            // Another run wrote it at the same moment: this run then compiles for itself.
            Ok(kept.try_into().unwrap_or(key))
        }
        Err(error) => Err(error).with_context(|| format!("cannot make {}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_code_goes_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        key(dir.path()).unwrap();
        for version in 0..KEPT + 3 {
            std::fs::write(dir.path().join(format!("{version}.cwasm")), "code").unwrap();
        }
        prune(dir.path());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), KEPT + 1);
        assert!(dir.path().join("key").is_file());
    }

    #[test]
    fn a_folder_keeps_its_key() {
        let dir = tempfile::tempdir().unwrap();
        let first = key(dir.path()).unwrap();
        assert_eq!(key(dir.path()).unwrap(), first);
        let other = tempfile::tempdir().unwrap();
        assert_ne!(key(other.path()).unwrap(), first);
        std::fs::write(dir.path().join("key"), "cut").unwrap();
        assert_ne!(key(dir.path()).unwrap(), first);
    }
}
