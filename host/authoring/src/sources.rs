//! The files that a build of a project reads, and their changes.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use notify::{RecommendedWatcher, RecursiveMode, Watcher};

use crate::fault::{Fault, Result};
use crate::project::Project;

/// A file that builds write themselves: its changes trigger no build.
const OF_BUILDS: &str = "Cargo.lock";
/// Files directly in the project folder.
const FILES: [&str; 8] = [
    "connector.toml",
    "project.toml",
    "Cargo.toml",
    OF_BUILDS,
    "build.rs",
    "package.json",
    "package-lock.json",
    "tsconfig.json",
];
/// Folders that are read with everything in them.
const FOLDERS: [&str; 2] = ["src", "vendor"];
/// The maximum depth of folders; deeper ones are not read.
const DEEPEST: usize = 32;

/// The files that a build reads, at one moment: paths in the project's folder, with a digest of the content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources(BTreeMap<PathBuf, u64>);

impl Sources {
    /// Reads the current files. A file that cannot be read counts as absent: it is being written.
    pub fn read(project: &Project) -> Sources {
        let mut found = BTreeMap::new();
        for file in FILES {
            insert_file_hash(&project.folder, Path::new(file), &mut found);
        }
        for folder in FOLDERS {
            walk(&project.folder, Path::new(folder), DEEPEST, &mut found);
        }
        Sources(found)
    }

    /// Returns the paths of files that were added, removed or changed.
    pub fn changed(&self, now: &Sources) -> Vec<PathBuf> {
        let other = |path: &&PathBuf| self.0.get(*path) != now.0.get(*path);
        let gone = self.0.keys().filter(|path| !now.0.contains_key(*path));
        now.0.keys().filter(other).chain(gone).cloned().collect()
    }

    /// Records the files that the build itself has written, so that they do not count as changes.
    pub fn built(&mut self, now: &Sources) {
        let own = Path::new(OF_BUILDS);
        match now.0.get(own) {
            Some(digest) => drop(self.0.insert(own.to_owned(), *digest)),
            None => drop(self.0.remove(own)),
        }
    }
}

fn walk(root: &Path, folder: &Path, deepest: usize, found: &mut BTreeMap<PathBuf, u64>) {
    let Ok(entries) = fs::read_dir(root.join(folder)) else { return };
    for entry in entries.flatten() {
        let path = folder.join(entry.file_name());
        // Links are not followed: they may form a cycle.
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && deepest > 0 => walk(root, &path, deepest - 1, found),
            Ok(kind) if kind.is_file() => insert_file_hash(root, &path, found),
            _ => {}
        }
    }
}

fn insert_file_hash(root: &Path, path: &Path, found: &mut BTreeMap<PathBuf, u64>) {
    if let Ok(bytes) = fs::read(root.join(path)) {
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        found.insert(path.to_owned(), hasher.finish());
    }
}

/// A watch for changes of the files that a build reads; it ends when it is dropped.
pub struct SourceWatch {
    _watcher: RecommendedWatcher,
}

impl SourceWatch {
    /// Starts a watch. It calls `tell` on a separate thread for each event, several times for one change. An event need not be a change of
    /// content: [`Sources::changed`] checks that. Only a new watch sees a folder that did not exist.
    pub fn start(project: &Project, tell: impl Fn() + Send + 'static) -> Result<SourceWatch> {
        let fault = |error: notify::Error| {
            let said = format!("{} cannot be watched: {error}", project.folder.display());
            Fault::new(
                said,
                "free some watches: raise fs.inotify.max_user_watches, or close programs that watch many files",
            )
        };
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            if event.is_ok_and(|event| !event.kind.is_access()) {
                tell();
            }
        })
        .map_err(fault)?;
        watcher.watch(&project.folder, RecursiveMode::NonRecursive).map_err(fault)?;
        for folder in FOLDERS.map(|folder| project.folder.join(folder)) {
            if folder.is_dir() {
                watcher.watch(&folder, RecursiveMode::Recursive).map_err(fault)?;
            }
        }
        Ok(SourceWatch { _watcher: watcher })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;
    use crate::language::Language;
    use crate::project::{BuiltIn, Provider};

    fn project(folder: &Path) -> Project {
        fs::create_dir(folder.join("src")).unwrap();
        fs::write(folder.join("src/lib.rs"), "one").unwrap();
        fs::write(folder.join("connector.toml"), "name = \"x\"").unwrap();
        Project {
            folder: folder.to_owned(),
            name: "x".into(),
            surfaces: Vec::new(),
            language: Language::Rust,
            provider: Provider::BuiltIn(BuiltIn::Paper),
            settings: BTreeMap::new(),
            collection: None,
            is_replayed: false,
            record: crate::project::Record::default(),
        }
    }

    #[test]
    fn content_counts_and_not_the_time() {
        let dir = tempfile::tempdir().unwrap();
        let project = project(dir.path());
        let mut seen = Sources::read(&project);
        fs::write(dir.path().join("src/lib.rs"), "one").unwrap();
        fs::create_dir(dir.path().join("build")).unwrap();
        fs::write(dir.path().join("build/x.wasm"), "built").unwrap();
        assert_eq!(seen.changed(&Sources::read(&project)), Vec::<PathBuf>::new());
        fs::write(dir.path().join("src/lib.rs"), "two").unwrap();
        fs::write(dir.path().join("src/new.rs"), "").unwrap();
        fs::remove_file(dir.path().join("connector.toml")).unwrap();
        let changed = ["src/lib.rs", "src/new.rs", "connector.toml"].map(PathBuf::from);
        assert_eq!(seen.changed(&Sources::read(&project)), changed);

        // A build's own change of its lock file does not count, but one by the author does.
        seen = Sources::read(&project);
        fs::write(dir.path().join("Cargo.lock"), "built").unwrap();
        let now = Sources::read(&project);
        seen.built(&now);
        assert_eq!(seen.changed(&now), Vec::<PathBuf>::new());
        fs::write(dir.path().join("Cargo.lock"), "updated").unwrap();
        assert_eq!(seen.changed(&Sources::read(&project)), [PathBuf::from("Cargo.lock")]);
    }

    #[test]
    fn a_change_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let project = project(dir.path());
        let (tell, told) = mpsc::channel();
        let _watch = SourceWatch::start(&project, move || {
            let _ = tell.send(());
        })
        .unwrap();
        fs::write(dir.path().join("src/lib.rs"), "two").unwrap();
        told.recv_timeout(Duration::from_secs(30)).unwrap();
    }
}
