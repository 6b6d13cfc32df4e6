//! Unpacks a backup, which may be damaged or malicious: only plain files that the manifest lists are written, with the sizes and digests in
//! the manifest.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File};
use std::io::{BufReader, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use sha2::{Digest, Sha256};
use tar::{Archive, Entry};

use crate::cli::backup::manifest::{BackupFile, BackupManifest, MANIFEST, MAX_MANIFEST_BYTES};
use crate::cli::restore::places::RestorePlaces;

/// Bytes that are unpacked at a time.
const CHUNK_BYTES: usize = 256 << 10;
const DAMAGED: &str = "it is no backup, or is damaged";

/// Unpacks a backup beside its targets. `check` sees the manifest before any file is written.
pub fn unpack(
    file: &Path,
    places: &RestorePlaces,
    check: impl FnOnce(&BackupManifest) -> Result<()>,
) -> Result<BackupManifest> {
    ensure!(file.metadata().context("there is no such file")?.is_file(), "it is no file");
    let opened = File::open(file).context("it cannot be read")?;
    let mut archive = Archive::new(BufReader::with_capacity(CHUNK_BYTES, opened));
    // Raw: entries that change the name or length of others count as entries, and are refused.
    let mut entries = archive.entries().context(DAMAGED)?.raw(true);
    let first = entries.next().context(DAMAGED)?.context(DAMAGED)?;
    let manifest = read_manifest(first)?;
    check(&manifest)?;
    let mut missing: BTreeMap<&str, &BackupFile> =
        manifest.files.iter().map(|file| (file.name.as_str(), file)).collect();
    places.begin().context("its files cannot be unpacked")?;
    for entry in entries {
        let mut entry = entry.context(DAMAGED)?;
        let name = name(&entry)?;
        let listed = missing.remove(name.as_str());
        let listed =
            listed.with_context(|| format!("it has a file {name:?} that its manifest does not list"))?;
        ensure!(entry.size() == listed.size, "{name} in it has another size than its manifest says");
        write_checked(&places.staged(&name), &mut entry, listed)?;
    }
    if let Some((name, _)) = missing.first_key_value() {
        anyhow::bail!("it is not whole: {name} is missing");
    }
    Ok(manifest)
}

fn read_manifest(entry: Entry<'_, impl Read>) -> Result<BackupManifest> {
    ensure!(name(&entry)? == MANIFEST, "{DAMAGED}: it does not begin with {MANIFEST}");
    ensure!(entry.size() <= MAX_MANIFEST_BYTES, "its manifest has more than {MAX_MANIFEST_BYTES} bytes");
    let mut text = Vec::new();
    entry.take(MAX_MANIFEST_BYTES).read_to_end(&mut text).context(DAMAGED)?;
    BackupManifest::parse(&text)
}

/// The name of an entry; fails unless it is a plain file.
fn name(entry: &Entry<'_, impl Read>) -> Result<String> {
    let name = String::from_utf8(entry.path_bytes().into_owned()).context(DAMAGED)?;
    ensure!(entry.header().entry_type().is_file(), "it has {name:?}, which is no plain file");
    Ok(name)
}

/// Writes a file that must not exist yet to disk, and compares it with the manifest.
fn write_checked(target: &Path, content: &mut impl Read, listed: &BackupFile) -> Result<()> {
    let context = || format!("{} cannot be unpacked", listed.name);
    if let Some(folder) = target.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder).with_context(context)?;
    }
    let file = File::options().write(true).create_new(true).mode(0o600).open(target);
    let (mut file, mut hash) = (file.with_context(context)?, Sha256::new());
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let length = content.read(&mut chunk).context(DAMAGED)?;
        let Some(read) = chunk.get(..length).filter(|read| !read.is_empty()) else { break };
        hash.update(read);
        file.write_all(read).with_context(context)?;
    }
    file.sync_all().with_context(context)?;
    ensure!(hex::encode(hash.finalize()) == listed.sha256, "{} in it is damaged", listed.name);
    Ok(())
}

#[cfg(test)]
mod tests {
    use tar::{Builder, EntryType, Header};

    use super::*;
    use crate::cli::backup::archive::{self, BackupContent, BackupSource};
    use crate::cli::backup::manifest::{BackupEngine, DATABASE, FORMAT};
    use service::app::config::Config;

    /// A target folder, and a backup whose database is invalid.
    struct Scene {
        dir: tempfile::TempDir,
        places: RestorePlaces,
        manifest: BackupManifest,
    }

    fn scene() -> Scene {
        let dir = tempfile::tempdir().unwrap();
        let data_dir = dir.path().join("data");
        std::fs::create_dir(&data_dir).unwrap();
        let places = RestorePlaces::new(&Config { data_dir, ..Config::default() });
        let sources = [source(DATABASE, b"rows"), source("connectors/index.json", b"{}")];
        let manifest = BackupManifest {
            format: FORMAT,
            version: "0.1.0".to_owned(),
            schema_version: 1,
            engine: BackupEngine::Sqlite,
            key_fingerprint: "key".to_owned(),
            taken_at: "2026-03-01T08:00:00Z".to_owned(),
            files: sources.iter().map(|source| source.measure().unwrap()).collect(),
        };
        let file = dir.path().join("backup.tar");
        assert!(archive::write(&file, dir.path(), &manifest, &sources).unwrap() > 0);
        let again = archive::write(&file, dir.path(), &manifest, &sources);
        assert!(again.is_err(), "it is not overwritten");
        Scene { dir, places, manifest }
    }

    fn source(name: &str, content: &[u8]) -> BackupSource {
        BackupSource { name: name.to_owned(), content: BackupContent::Bytes(content.to_vec()) }
    }

    impl Scene {
        fn unpack(&self, name: &str) -> Result<BackupManifest> {
            let unpacked = unpack(&self.dir.path().join(name), &self.places, |_| Ok(()));
            if unpacked.is_err() {
                self.places.discard().unwrap();
            }
            unpacked
        }

        /// Writes an archive of these entries, each with its type, name and content.
        fn write(&self, name: &str, entries: &[(EntryType, &str, &[u8])]) {
            let mut archive = Builder::new(File::create(self.dir.path().join(name)).unwrap());
            for (kind, name, content) in entries {
                let mut header = Header::new_ustar();
                // Not `set_path`, which refuses the names of a hostile archive.
                header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
                header.set_entry_type(*kind);
                header.set_size(content.len() as u64);
                header.set_cksum();
                archive.append(&header, *content).unwrap();
            }
            archive.finish().unwrap();
        }
    }

    #[test]
    fn a_backup_comes_back_as_it_was() {
        use std::os::unix::fs::PermissionsExt;

        let scene = scene();
        assert_eq!(scene.unpack("backup.tar").unwrap(), scene.manifest);
        for (name, content) in [(DATABASE, b"rows".as_slice()), ("connectors/index.json", b"{}".as_slice())] {
            let staged = scene.places.staged(name);
            assert_eq!(std::fs::read(&staged).unwrap(), content);
            assert_eq!(staged.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{name}");
        }
        scene.places.put_in_place().unwrap();
        let data = scene.dir.path().join("data");
        assert_eq!(std::fs::read(data.join("switchboard.db")).unwrap(), b"rows");
        assert_eq!(std::fs::read(data.join("connectors/index.json")).unwrap(), b"{}");
        assert!(!scene.places.staging.exists());
    }

    #[test]
    fn a_backup_that_was_cut_or_changed_is_refused() {
        let scene = scene();
        let whole = std::fs::read(scene.dir.path().join("backup.tar")).unwrap();
        let cut = whole.get(..whole.len() / 2).unwrap();
        std::fs::write(scene.dir.path().join("cut.tar"), cut).unwrap();
        let at = whole.windows(4).position(|bytes| bytes == b"rows").unwrap();
        let mut changed = whole.clone();
        changed[at] = b'R';
        std::fs::write(scene.dir.path().join("changed.tar"), changed).unwrap();
        std::fs::write(scene.dir.path().join("text.tar"), "no archive at all").unwrap();
        for (name, said) in
            [("cut.tar", ""), ("changed.tar", "switchboard.db in it is damaged"), ("text.tar", DAMAGED)]
        {
            let refused = format!("{:#}", scene.unpack(name).unwrap_err());
            assert!(refused.contains(said), "{name}: {refused}");
        }
    }

    #[test]
    fn an_archive_writes_nothing_but_what_its_manifest_lists() {
        let scene = scene();
        let manifest = serde_json::to_vec(&scene.manifest).unwrap();
        let plain = |name: &'static str, content: &'static [u8]| (EntryType::Regular, name, content);
        let other = |kind: EntryType, name: &'static str| (kind, name, [].as_slice());
        let first = (EntryType::Regular, MANIFEST, manifest.as_slice());
        let database = plain(DATABASE, b"rows");
        let connectors = "connectors/index.json";
        for (name, entries, said) in [
            ("order", vec![database, first], "does not begin with"),
            ("absent", vec![first, database], "connectors/index.json is missing"),
            ("twice", vec![first, database, database], "does not list"),
            ("up", vec![first, plain("../evil", b"x")], "does not list"),
            ("root", vec![first, plain("/tmp/evil", b"x")], "does not list"),
            ("long", vec![first, plain(DATABASE, b"rows and more")], "another size"),
            ("link", vec![first, other(EntryType::Symlink, connectors)], "no plain file"),
            ("hard", vec![first, other(EntryType::Link, DATABASE)], "no plain file"),
            ("folder", vec![first, other(EntryType::Directory, "connectors")], "no plain file"),
            (
                "renamed",
                vec![first, (EntryType::GNULongName, "long", b"../evil".as_slice())],
                "no plain file",
            ),
            ("sparse", vec![first, other(EntryType::GNUSparse, DATABASE)], ""),
        ] {
            scene.write(name, &entries);
            let refused = format!("{:#}", scene.unpack(name).unwrap_err());
            assert!(refused.contains(said), "{name}: {refused}");
            assert!(!scene.dir.path().join("evil").exists() && !scene.places.staging.exists(), "{name}");
        }
    }
}
