//! The files of a recording, in the folder that holds them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::recording::format::{EXTENSION, Recording};

impl Recording {
    /// Reads the recording in a folder; a missing folder has none.
    pub fn read(folder: &Path) -> Result<Recording> {
        let mut files = BTreeMap::new();
        for path in paths(folder)? {
            let text =
                fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            files.insert(name, text);
        }
        Ok(Recording::parse(&files)?)
    }

    /// Replaces the recording in a folder. Each file is replaced atomically; a file that cannot be written leaves all of them
    /// unchanged.
    pub fn save(&self, folder: &Path) -> Result<()> {
        let files = self.render()?;
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let temporary = |name: &str| folder.join(format!(".{name}.tmp"));
        for (name, text) in &files {
            let path = temporary(name);
            if let Err(error) = fs::write(&path, text) {
                for name in files.keys() {
                    // The file may not exist yet.
                    let _ = fs::remove_file(temporary(name));
                }
                return Err(error).with_context(|| format!("cannot write {}", path.display()));
            }
        }
        for name in files.keys() {
            let path = folder.join(name);
            fs::rename(temporary(name), &path).with_context(|| format!("cannot write {}", path.display()))?;
        }
        // Files of surfaces that the connector no longer has.
        for path in paths(folder)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if !files.contains_key(&name) {
                fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
            }
        }
        Ok(())
    }
}

/// The files of a recording.
fn paths(folder: &Path) -> Result<Vec<PathBuf>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let is_recording = |path: &PathBuf| path.extension().is_some_and(|extension| extension == EXTENSION);
    Ok(entries.flatten().map(|entry| entry.path()).filter(is_recording).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::format::RecordedCase;

    #[test]
    fn a_folder_holds_the_last_recording_alone() {
        let case = |id: &str, surface: &str| RecordedCase {
            id: id.into(),
            surface: surface.into(),
            at_ms: 0,
            exchanges: Vec::new(),
        };
        let cases = vec![case("D1", "lifecycle"), case("W1", "tasks")];
        let mut recording =
            Recording { connector: "notes@0.1.0".into(), seed: 7, cases, ..Recording::default() };
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("recordings");
        assert_eq!(Recording::read(&folder).unwrap(), Recording::default());
        recording.save(&folder).unwrap();
        assert_eq!(Recording::read(&folder).unwrap(), recording);
        recording.cases.remove(0);
        recording.save(&folder).unwrap();
        assert_eq!(Recording::read(&folder).unwrap(), recording);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }
}
