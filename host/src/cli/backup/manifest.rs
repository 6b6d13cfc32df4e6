//! The first file of a backup: a list of the files that follow, and the requirements of a restore.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

/// The format of backups that this program writes, and the newest that it reads.
pub const FORMAT: u32 = 1;
/// Name of the manifest in a backup.
pub const MANIFEST: &str = "manifest.json";
/// Name of the SQLite database in a backup.
pub const DATABASE: &str = "switchboard.db";
/// Name of the settings file in a backup.
pub const SETTINGS: &str = "settings.toml";
/// Folder of the installed connectors in a backup.
pub const CONNECTORS: &str = "connectors";
/// Most bytes of a manifest.
pub const MAX_MANIFEST_BYTES: u64 = 4 << 20;
/// Most files in a backup.
const MAX_FILES: usize = 10_000;
/// Most bytes of the version, the fingerprint and the time.
const MAX_TEXT_BYTES: usize = 64;
/// Most bytes of a file's name: more does not fit into a tar header.
const MAX_NAME_BYTES: usize = 200;

/// The database engine of an installation.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BackupEngine {
    Sqlite,
    /// The database is not in the backup: `pg_dump` copies it.
    Postgres,
}

/// The content of `manifest.json`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BackupManifest {
    pub format: u32,
    /// Version of the program that wrote the backup.
    pub version: String,
    /// Version of the database's schema.
    pub schema_version: i64,
    pub engine: BackupEngine,
    /// Identifies the master key; the key itself is in no backup.
    pub key_fingerprint: String,
    /// RFC 3339.
    pub taken_at: String,
    /// The files that follow, in their order.
    pub files: Vec<BackupFile>,
}

/// A file in a backup.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BackupFile {
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// In hex.
    pub sha256: String,
}

impl BackupManifest {
    /// Parses a manifest, and checks that its files have names that a backup can have.
    pub fn parse(text: &[u8]) -> Result<BackupManifest> {
        #[derive(Deserialize)]
        struct Version {
            format: u32,
        }
        let version: Version = serde_json::from_slice(text).context("its manifest cannot be read")?;
        ensure!(
            version.format <= FORMAT,
            "its format is {}, and this program reads formats up to {FORMAT}: use the version of switchboard that wrote it, or a newer one",
            version.format
        );
        let manifest: BackupManifest = serde_json::from_slice(text).context("its manifest cannot be read")?;
        for (name, value) in [
            ("version", &manifest.version),
            ("keyFingerprint", &manifest.key_fingerprint),
            ("takenAt", &manifest.taken_at),
        ] {
            // They are printed on terminals.
            let is_plain = value.bytes().all(|byte| byte.is_ascii_graphic());
            ensure!(
                is_plain && value.len() <= MAX_TEXT_BYTES,
                "its manifest is damaged: {name} must have at most {MAX_TEXT_BYTES} plain characters"
            );
        }
        ensure!(manifest.files.len() <= MAX_FILES, "it has more than {MAX_FILES} files");
        let mut names = BTreeSet::new();
        for file in &manifest.files {
            ensure!(is_allowed(&file.name), "it has a file {:?}, which is no part of a backup", file.name);
            ensure!(names.insert(file.name.as_str()), "it has the file {} twice", file.name);
        }
        let has_database = names.contains(DATABASE);
        ensure!(
            has_database == (manifest.engine == BackupEngine::Sqlite),
            "it has no database that fits its engine"
        );
        Ok(manifest)
    }

    /// Total bytes of all files.
    pub fn total_bytes(&self) -> u64 {
        self.files.iter().fold(0, |sum, file| sum.saturating_add(file.size))
    }
}

/// Whether a backup can contain a file of this name: the database, the settings, or one below the folder of the connectors.
pub fn is_allowed(name: &str) -> bool {
    if matches!(name, DATABASE | SETTINGS) {
        return true;
    }
    let mut parts = name.split('/');
    let is_plain = |part: &str| {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        !part.is_empty() && !part.starts_with('.') && part.chars().all(fits)
    };
    name.len() <= MAX_NAME_BYTES
        && parts.next() == Some(CONNECTORS)
        && (1..=3).contains(&name.matches('/').count())
        && parts.all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(files: &[&str]) -> BackupManifest {
        let file = |name: &&str| BackupFile { name: (*name).to_owned(), size: 1, sha256: String::new() };
        BackupManifest {
            format: FORMAT,
            version: "0.1.0".to_owned(),
            schema_version: 1,
            engine: BackupEngine::Sqlite,
            key_fingerprint: "key".to_owned(),
            taken_at: "2026-03-01T08:00:00Z".to_owned(),
            files: files.iter().map(file).collect(),
        }
    }

    fn parsed(manifest: &BackupManifest) -> Result<BackupManifest> {
        BackupManifest::parse(&serde_json::to_vec(manifest).unwrap())
    }

    #[test]
    fn files_are_the_database_the_settings_and_connectors() {
        let whole =
            manifest(&[DATABASE, SETTINGS, "connectors/index.json", "connectors/packages/ab/component.wasm"]);
        assert_eq!(parsed(&whole).unwrap(), whole);
        for name in [
            "master.key",
            "../switchboard.db",
            "/etc/passwd",
            "connectors",
            "connectors/",
            "connectors/../master.key",
            "connectors/./index.json",
            "connectors//index.json",
            "connectors/a/b/c/d",
            "connectors/a b",
            "connectors/.ssh",
            "connectors\\index.json",
        ] {
            let refused = parsed(&manifest(&[DATABASE, name])).unwrap_err().to_string();
            assert!(refused.contains("no part of a backup"), "{name}: {refused}");
        }
        let long = format!("connectors/{}", "a".repeat(MAX_NAME_BYTES));
        assert!(parsed(&manifest(&[DATABASE, &long])).is_err());
        assert!(parsed(&manifest(&[DATABASE, DATABASE])).unwrap_err().to_string().contains("twice"));
        assert!(parsed(&manifest(&[SETTINGS])).unwrap_err().to_string().contains("no database"));
    }

    #[test]
    fn a_manifest_brings_nothing_to_a_terminal() {
        let long = "1".repeat(MAX_TEXT_BYTES + 1);
        for text in ["\u{1b}[2Jevil", "0.1\nok restored", "\u{202e}0.1", long.as_str()] {
            let hostile = BackupManifest { version: text.to_owned(), ..manifest(&[DATABASE]) };
            let refused = parsed(&hostile).unwrap_err().to_string();
            assert!(
                refused.contains("version must have at most 64 plain") && !refused.contains("evil"),
                "{refused}"
            );
        }
    }

    #[test]
    fn a_newer_format_is_told_as_such() {
        let refused = BackupManifest::parse(br#"{"format": 2, "new": true}"#).unwrap_err().to_string();
        assert!(refused.contains("reads formats up to 1"), "{refused}");
    }
}
