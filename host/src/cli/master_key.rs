//! The master key of a data directory, compared with a database.

use std::path::Path;

use anyhow::Result;
use base::clock::Entropy;
use base::keyring::Keyring;
use service::app;
use service::connections::credentials;
use storage::{Db, api_keys, connections as connection_rows, installation, migrations};

use crate::cli::refusal::failure;

/// Environment variables of the master key, in their order.
const VARIABLES: [&str; 2] = ["SWITCHBOARD_MASTER_KEY", "SWITCHBOARD_MASTER_KEY_FILE"];

/// The migration that creates the table with the fingerprint.
const INSTALLATION_MIGRATION: i64 = 8;

/// The place of a master key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeySource {
    Variable(&'static str),
    /// `master.key` in the data directory.
    File,
}

/// The place of the master key for a data directory; none if the first start would create one.
pub fn find_source(data_dir: &Path) -> Option<KeySource> {
    let set = VARIABLES.into_iter().find(|variable| std::env::var_os(variable).is_some());
    let has_file = data_dir.join(app::MASTER_KEY_FILE).exists();
    set.map(KeySource::Variable).or(has_file.then_some(KeySource::File))
}

/// The keyring of an existing master key; none if there is none.
pub fn find(data_dir: &Path) -> Result<Option<Keyring>> {
    match find_source(data_dir) {
        Some(_) => app::open_keyring(data_dir, &Entropy::system()).map(Some),
        None => Ok(None),
    }
}

/// The keyring of the installation that a database belongs to. A new master key is made only where the database belongs to none so far.
///
/// # Errors
/// If the master key is missing, or the database belongs to another one.
pub async fn open(db: &Db, data_dir: &Path) -> Result<Keyring> {
    if find_source(data_dir).is_none() {
        ensure_new(db, data_dir).await?;
    }
    let keyring = app::open_keyring(data_dir, &Entropy::system())?;
    app::same_keyring(db, &keyring).await?;
    Ok(keyring)
}

/// Fails where a database belongs to a master key already: one that is made now could not decrypt its secrets.
pub async fn ensure_new(db: &Db, data_dir: &Path) -> Result<()> {
    match find_fingerprint(db).await? {
        None => Ok(()),
        Some(fingerprint) => Err(failure(
            format!(
                "this database belongs to the master key {fingerprint}, and there is no {}",
                data_dir.join(app::MASTER_KEY_FILE).display()
            ),
            "name the server's --data-dir, or give its master key with SWITCHBOARD_MASTER_KEY or SWITCHBOARD_MASTER_KEY_FILE",
        )),
    }
}

/// The fingerprint of the master key that a database belongs to; none if no host has started on it so far.
async fn find_fingerprint(db: &Db) -> Result<Option<String>> {
    match migrations::version(db).await? {
        ..INSTALLATION_MIGRATION => Ok(None),
        _ => installation::find(db.reader(), app::KEYRING_ID).await,
    }
}

/// The result of comparing a master key with a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyMatch {
    /// No host has started on the database so far.
    Unused,
    /// The fingerprint is the same; no account is connected, or the schema is not this program's.
    Fingerprint,
    /// The fingerprint is the same, and the credentials of an account were decrypted.
    SealedValue,
}

/// Compares the database's fingerprint with the master key, as `serve` does, and decrypts the credentials of an account.
///
/// # Errors
/// If the database belongs to another master key, or the credentials do not decrypt.
pub async fn ensure_matches(db: &Db, keyring: &Keyring) -> Result<KeyMatch> {
    let Some(fingerprint) = find_fingerprint(db).await? else { return Ok(KeyMatch::Unused) };
    app::ensure_key_of_database(&fingerprint, keyring)?;
    if !migrations::pending(db).await?.is_empty() {
        return Ok(KeyMatch::Fingerprint);
    }
    for tenant in api_keys::tenants(db.reader()).await? {
        let connections = connection_rows::list(db.reader(), &tenant, ("", ""), "", 1).await?;
        if let Some(connection) = connections.first() {
            keyring.open(&credentials::place(&connection.id, &connection.tenant), &connection.credentials)?;
            return Ok(KeyMatch::SealedValue);
        }
    }
    Ok(KeyMatch::Fingerprint)
}

/// The fingerprint of the master key that a database belongs to.
///
/// # Errors
/// If no host has started on the database so far.
pub async fn load_fingerprint(db: &Db) -> Result<String> {
    let found = find_fingerprint(db).await?;
    found.ok_or_else(|| failure("the database belongs to no master key yet", "start a server on it first"))
}
