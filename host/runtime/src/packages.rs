//! Connectors on disk: the folder of bundled ones, and the store of installed ones, which is addressed by digest and has a small index
//! file. `switchboard connector …` may change the store while a host runs.
//!
//! ```text
//! <store>/packages/<digest>/connector.toml, component.wasm      written once, never changed
//! <store>/index.json                                            name → current digest, previous digests
//! ```

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::files;
use crate::manifest::Manifest;

const MANIFEST: &str = "connector.toml";
const COMPONENT: &str = "component.wasm";
const MAX_MANIFEST: u64 = 256 << 10;
/// Maximum bytes of the index file.
const MAX_INDEX: u64 = 4 << 20;
/// Versions stored for rollback, per connector.
const KEPT_VERSIONS: usize = 5;

/// The origin of a connector. An installed one takes precedence over a bundled one of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The folder given with `--connectors`.
    Bundle,
    /// The store: installed by the operator.
    Installed,
    /// A folder that is watched during development.
    Watched,
}

/// A manifest and its component, with their digests.
#[derive(Clone)]
pub(crate) struct Package {
    pub(crate) manifest: Arc<Manifest>,
    pub(crate) manifest_text: String,
    pub(crate) wasm: Arc<Vec<u8>>,
    /// SHA-256 of the component.
    pub(crate) sha256: String,
    /// SHA-256 over manifest and component.
    pub(crate) digest: String,
    pub(crate) source: Source,
}

/// The index entry of one connector.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installed {
    /// Digest of the version in service.
    pub current: String,
    /// The version number in the manifest, for display.
    pub version: String,
    /// Earlier versions, the latest first: the targets of `rollback`.
    #[serde(default)]
    pub previous: Vec<Previous>,
}

/// A version that was in service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Previous {
    pub digest: String,
    pub version: String,
}

/// The index file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Index {
    #[serde(default)]
    pub connectors: BTreeMap<String, Installed>,
}

impl Package {
    /// Reads `connector.toml` and the component beside it, `<name>.wasm`. A component of more than `max_wasm` bytes is not
    /// read.
    pub(crate) fn read(dir: &Path, source: Source, max_wasm: usize) -> anyhow::Result<Self> {
        let text = manifest_text(&dir.join(MANIFEST))?;
        let manifest = Manifest::parse(&text)?;
        let named = dir.join(format!("{}.wasm", manifest.name));
        let path = if source == Source::Installed { dir.join(COMPONENT) } else { named };
        let wasm = files::read_regular(&path, max_wasm as u64)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let of_wasm = Sha256::digest(&wasm);
        let both = Sha256::new().chain_update(Sha256::digest(text.as_bytes())).chain_update(of_wasm);
        let (sha256, digest) = (hex::encode(of_wasm), hex::encode(both.finalize()));
        Ok(Package {
            manifest: Arc::new(manifest),
            manifest_text: text,
            wasm: Arc::new(wasm),
            sha256,
            digest,
            source,
        })
    }
}

/// The text of a manifest: a regular file of at most 256 KiB.
pub fn manifest_text(path: &Path) -> anyhow::Result<String> {
    let content =
        files::read_regular(path, MAX_MANIFEST).with_context(|| format!("cannot read {}", path.display()))?;
    String::from_utf8(content).ok().with_context(|| format!("{} is not UTF-8", path.display()))
}

/// The installed version that a package may replace.
#[derive(Clone, Debug)]
pub(crate) enum Predecessor {
    Any,
    /// The one with this digest; none: no connector of the name is installed.
    Version(Option<String>),
}

/// Returns the folders inside `dir` that contain a `connector.toml`, sorted. None if `dir` does not exist.
pub(crate) fn bundled(dir: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).with_context(|| format!("reading {}", dir.display())),
    };
    let mut found: Vec<PathBuf> =
        entries.flatten().map(|e| e.path()).filter(|p| p.join(MANIFEST).is_file()).collect();
    found.sort();
    Ok(found)
}

/// The store of installed connectors.
#[derive(Clone, Debug)]
pub struct Store {
    dir: PathBuf,
}

impl Store {
    /// Opens the store in `dir`, and creates it if necessary.
    pub fn open(dir: &Path) -> anyhow::Result<Self> {
        let packages = dir.join("packages");
        std::fs::create_dir_all(&packages).with_context(|| format!("creating {}", packages.display()))?;
        Ok(Store { dir: dir.to_owned() })
    }

    /// Reads the index of the installed connectors.
    pub fn index(&self) -> anyhow::Result<Index> {
        let path = self.index_path();
        match files::read_regular(&path, MAX_INDEX) {
            Ok(bytes) => {
                serde_json::from_slice(&bytes).with_context(|| format!("reading {}", path.display()))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Index::default()),
            Err(error) => Err(error).with_context(|| format!("reading {}", path.display())),
        }
    }

    /// Returns the manifest of the version in service; none if no connector of the name is installed.
    pub fn manifest(&self, name: &str) -> anyhow::Result<Option<Manifest>> {
        let Some(entry) = self.index()?.connectors.remove(name) else { return Ok(None) };
        let text = manifest_text(&self.package_dir(&entry.current).join(MANIFEST))?;
        Manifest::parse(&text).map(Some)
    }

    /// Takes a connector out of service. Its files stay, so that installing it again is quick.
    pub fn remove(&self, name: &str) -> anyhow::Result<()> {
        self.change(|index| {
            index
                .connectors
                .remove(name)
                .map(|_| ())
                .with_context(|| format!("no connector \"{name}\" is installed"))
        })
    }

    /// Puts the previous version into service. A second rollback undoes the first.
    pub fn rollback(&self, name: &str) -> anyhow::Result<Installed> {
        self.change(|index| {
            let entry = index
                .connectors
                .get_mut(name)
                .with_context(|| format!("no connector \"{name}\" is installed"))?;
            if entry.previous.is_empty() {
                bail!("\"{name}\" has no earlier version");
            }
            let back = entry.previous.remove(0);
            let from = Previous {
                digest: std::mem::replace(&mut entry.current, back.digest),
                version: std::mem::replace(&mut entry.version, back.version),
            };
            entry.previous.insert(0, from);
            Ok(entry.clone())
        })
    }

    /// Returns the bytes of the index file; none if the file is missing or cannot be read.
    pub(crate) fn index_bytes(&self) -> Option<Vec<u8>> {
        files::read_regular(&self.index_path(), MAX_INDEX).ok()
    }

    /// Writes a package that was checked, and puts it into service in place of `predecessor`.
    pub(crate) fn insert(&self, package: &Package, predecessor: &Predecessor) -> anyhow::Result<Installed> {
        self.write(package)?;
        self.change(|index| {
            let name = &package.manifest.name;
            let current = index.connectors.get(name).map(|entry| entry.current.clone());
            if let Predecessor::Version(expected) = predecessor {
                ensure!(
                    current == *expected,
                    "another version of \"{name}\" was installed in the meantime: try again"
                );
            }
            let entry = index.connectors.entry(name.clone()).or_default();
            if entry.current != package.digest {
                let digest = std::mem::replace(&mut entry.current, package.digest.clone());
                let version = std::mem::replace(&mut entry.version, package.manifest.version.clone());
                if !digest.is_empty() {
                    entry.previous.retain(|p| p.digest != digest && p.digest != package.digest);
                    entry.previous.insert(0, Previous { digest, version });
                    entry.previous.truncate(KEPT_VERSIONS);
                }
            }
            Ok(entry.clone())
        })
    }

    /// Reads and verifies the package with this digest.
    pub(crate) fn read(&self, digest: &str, max_wasm: usize) -> anyhow::Result<Package> {
        let package = Package::read(&self.package_dir(digest), Source::Installed, max_wasm)?;
        ensure!(package.digest == digest, "the files of package {digest} were changed");
        Ok(package)
    }

    fn index_path(&self) -> PathBuf {
        self.dir.join("index.json")
    }

    fn package_dir(&self, digest: &str) -> PathBuf {
        self.dir.join("packages").join(digest)
    }

    fn write(&self, package: &Package) -> anyhow::Result<()> {
        let target = self.package_dir(&package.digest);
        if self.read(&package.digest, package.wasm.len()).is_ok() {
            return Ok(());
        }
        let packages = self.dir.join("packages");
        let temporary = tempfile::tempdir_in(&packages)
            .with_context(|| format!("writing into {}", packages.display()))?;
        files::write_atomically(&temporary.path().join(MANIFEST), package.manifest_text.as_bytes())?;
        files::write_atomically(&temporary.path().join(COMPONENT), &package.wasm)?;
        if target.exists() {
            // The folder exists with other content than its digest: after a crash, or a manual change.
            std::fs::remove_dir_all(&target).with_context(|| format!("removing {}", target.display()))?;
        }
        std::fs::rename(temporary.keep(), &target)
            .with_context(|| format!("writing {}", target.display()))?;
        files::sync_dir(&packages)
    }

    /// Changes the index under a lock that other processes respect.
    fn change<T>(&self, change: impl FnOnce(&mut Index) -> anyhow::Result<T>) -> anyhow::Result<T> {
        let lock = File::create(self.dir.join("index.lock"))?;
        lock.lock().context("locking the connector store")?;
        let mut index = self.index()?;
        let result = change(&mut index)?;
        files::write_atomically(&self.index_path(), &serde_json::to_vec_pretty(&index)?)?;
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(store: &Path, version: &str) -> Package {
        let dir = store.join(format!("src-{version}"));
        std::fs::create_dir_all(&dir).unwrap();
        let text = format!("name = \"x\"\nversion = \"{version}\"\ntitle = \"X\"\nsurfaces = [\"tasks\"]\n");
        std::fs::write(dir.join(MANIFEST), text).unwrap();
        std::fs::write(dir.join("x.wasm"), b"not looked at").unwrap();
        Package::read(&dir, Source::Bundle, 100).unwrap()
    }

    #[test]
    fn versions_come_and_go() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let (one, two) = (package(dir.path(), "1.0.0"), package(dir.path(), "2.0.0"));
        assert_ne!(one.digest, two.digest, "another manifest is another version");
        store.insert(&one, &Predecessor::Version(None)).unwrap();
        assert!(
            store.insert(&two, &Predecessor::Version(None)).is_err(),
            "it was not compared with this one"
        );
        let installed = store.insert(&two, &Predecessor::Version(Some(one.digest.clone()))).unwrap();
        assert_eq!((&*installed.version, &installed.previous[0].digest), ("2.0.0", &one.digest));
        let again = store.insert(&two, &Predecessor::Any).unwrap();
        assert_eq!(again, installed, "installing it again changes nothing");
        assert_eq!(store.manifest("x").unwrap().unwrap().version, "2.0.0");
        assert!(store.manifest("y").unwrap().is_none());
        assert_eq!(store.rollback("x").unwrap().current, one.digest);
        assert_eq!(store.rollback("x").unwrap().current, two.digest);
        assert_eq!(store.read(&one.digest, 100).unwrap().manifest.version, "1.0.0");
        store.remove("x").unwrap();
        assert!(store.rollback("x").is_err() && store.remove("x").is_err());
    }

    #[test]
    fn changed_files_are_noticed_and_mended() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let one = package(dir.path(), "1.0.0");
        store.insert(&one, &Predecessor::Any).unwrap();
        std::fs::write(store.package_dir(&one.digest).join(COMPONENT), b"evil").unwrap();
        assert!(store.read(&one.digest, 100).is_err());
        store.insert(&one, &Predecessor::Any).unwrap();
        assert!(store.read(&one.digest, 100).is_ok());
    }
}
