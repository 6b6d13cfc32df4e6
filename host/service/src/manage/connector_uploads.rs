//! Uploaded connectors: checked as on the command line, then kept for an hour on this host until an operator has reviewed their permissions
//! and installs them. Until then they are not in service. Each start, and each upload, removes expired ones.
//!
//! ```text
//! <data>/uploads/<ms>-<random>/connector.toml, <name>.wasm      checked, waits to be installed
//! <data>/uploads/<ms>-<random>.part/connector.toml, upload      arrives, or is checked
//! ```

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use base::error::{Code, Error, Result, invalid, not_found, refuse};
use runtime::{InstallCandidate, Limits, Manifest, Store, read_regular};
use serde_json::json;

use crate::app::stored_response::StoredResponse;
use crate::app::{App, connector_dir};
use crate::manage::acting::{self, Target};
use crate::manage::actor::Actor;
use crate::manage::connectors::{CHANGE_LOCK, ensure_may_change, store};

/// The manifest's file in the folder of an upload.
pub const MANIFEST_FILE: &str = "connector.toml";
/// The file of the component during the upload: only the manifest has its name.
pub const COMPONENT_FILE: &str = "upload";
/// Suffix of the folder of an unchecked upload.
pub const UNCHECKED: &str = ".part";
/// Maximum bytes of an uploaded manifest, as on the command line.
pub const MAX_MANIFEST_BYTES: usize = 256 << 10;
/// Maximum bytes of an uploaded component, as on the command line.
pub const MAX_COMPONENT_BYTES: usize = 40 << 20;

/// Time for which an upload is kept, ms.
const LIFE_MS: i64 = 60 * 60_000;
/// Maximum kept uploads; beyond it the oldest is removed.
const MAX_WAITING: usize = 4;
/// Maximum characters of the reason why a connector is refused.
const MAX_REASON_CHARS: usize = 4_000;
/// The parameter of refusals that quote why a connector is refused.
pub const CONNECTOR: &str = "connector";
/// Message of the refusal if the disk has no room for the files.
pub const NO_ROOM: &str = "the data directory has no room for the files";

/// An upload that was checked.
pub struct UploadedConnector {
    candidate: InstallCandidate,
    folder: PathBuf,
    pub replaced: Option<ReplacedConnector>,
}

/// The connector that an upload replaces.
pub struct ReplacedConnector {
    pub version: String,
    pub digest: String,
    /// None if the files of the installed version cannot be read.
    pub manifest: Option<Arc<Manifest>>,
    /// Whether it was installed, and is not one that is bundled with the host.
    pub is_installed: bool,
}

/// The versions that a page showed: an upload is installed only if both are unchanged.
#[derive(Clone, Debug)]
pub struct ShownVersions {
    /// The digest of the upload.
    pub digest: String,
    /// The digest of the connector that it replaces; empty if there is none.
    pub replaced: String,
}

impl UploadedConnector {
    /// The upload's manifest.
    pub fn manifest(&self) -> &Manifest {
        self.candidate.manifest()
    }

    /// The versions to show on a page about it.
    pub fn versions(&self) -> ShownVersions {
        let replaced = self.replaced.as_ref().map(|replaced| replaced.digest.clone());
        ShownVersions { digest: self.candidate.digest().to_owned(), replaced: replaced.unwrap_or_default() }
    }
}

/// Returns the folder of this host's uploads, which is created if missing, with room for another one: expired uploads are removed.
///
/// # Errors
/// `storage_full`, and other errors of the file system.
pub async fn ensure_folder(app: &App) -> Result<PathBuf> {
    let (folder, now) = (folder(app), app.now());
    let made = folder.clone();
    let make = move || {
        let result = std::fs::create_dir_all(&made);
        sweep(&made, now);
        Ok(result)
    };
    blocking(make).await?.map_err(write_error)?;
    Ok(folder)
}

/// Removes expired uploads, and interrupted ones after a crash. Call it at the start, before any upload can arrive.
pub async fn remove_leftovers(app: &App) {
    let (folder, now) = (folder(app), app.now());
    let remove = move || {
        for (_, name) in stored(&folder).into_iter().filter(|(_, name)| name.ends_with(UNCHECKED)) {
            remove_folder(&folder.join(name));
        }
        sweep(&folder, now);
        Ok(())
    };
    if let Err(e) = blocking(remove).await {
        tracing::warn!(error = %format!("{e:#}"), "old uploads of connectors were not removed");
    }
}

/// Converts the error of a file that cannot be written.
pub fn write_error(e: std::io::Error) -> Error {
    match e.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            tracing::warn!(error = %e, "{NO_ROOM}");
            refuse(Code::StorageFull, NO_ROOM)
        }
        _ => anyhow::Error::new(e).context("writing an upload").into(),
    }
}

fn folder(app: &App) -> PathBuf {
    app.config.data_dir.join("uploads")
}

/// Checks the connector in the folder `received`, which lies in the folder of uploads, and keeps it. Returns its id.
///
/// # Errors
/// `invalid_parameter` with the param `connector` and the reason for a connector that no host would accept; `invalid_state` where several hosts
/// may have the database; errors of the file system.
pub async fn keep(app: &App, received: &Path) -> Result<String> {
    ensure_may_change(app)?;
    let candidate = read_received(app, received.to_owned()).await?;
    app.runtime.check_candidate(&candidate).await.map_err(|e| refused(&e))?;
    let id = format!("{}-{}", app.now(), hex::encode(app.entropy.bytes::<8>()));
    let (all, from, now) = (folder(app), received.to_owned(), app.now());
    let to = all.join(&id);
    let keep = move || {
        std::fs::rename(&from, &to).with_context(|| format!("renaming {}", from.display()))?;
        sweep(&all, now);
        Ok(())
    };
    blocking(keep).await?;
    Ok(id)
}

/// The refusal of a connector. The message is the runtime's, as the command line prints it.
fn refused(e: &anyhow::Error) -> Error {
    let reason = format!("{e:#}");
    // It may quote names of the connector, of any number and length.
    let mut shown: String =
        reason.chars().take(MAX_REASON_CHARS).filter(|c| !is_direction_mark(*c)).collect();
    if reason.chars().nth(MAX_REASON_CHARS).is_some() {
        shown.push('…');
    }
    invalid(Code::InvalidParameter, CONNECTOR, shown)
}

/// Whether a character changes the display order of others.
fn is_direction_mark(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Reads the received files, under the name that the manifest gives.
async fn read_received(app: &App, received: PathBuf) -> Result<InstallCandidate> {
    let path = received.join(MANIFEST_FILE);
    let read = move || -> anyhow::Result<Option<String>> {
        Ok(String::from_utf8(read_regular(&path, MAX_MANIFEST_BYTES as u64)?).ok())
    };
    let text = blocking(read).await?;
    let text = text
        .ok_or_else(|| invalid(Code::InvalidParameter, CONNECTOR, format!("{MANIFEST_FILE} is not UTF-8")))?;
    // A manifest's name is a plain word, so it leads to no other folder.
    let manifest = Manifest::parse(&text).map_err(|e| refused(&e))?;
    let store = connector_dir(&app.config);
    let read = move || {
        let component = received.join(format!("{}.wasm", manifest.name));
        std::fs::rename(received.join(COMPONENT_FILE), component)?;
        read_candidate(&received, &store)
    };
    blocking(read).await
}

/// The connector in a folder, beside the installed one of its name.
fn read_candidate(folder: &Path, store: &Path) -> anyhow::Result<InstallCandidate> {
    let store = if store.exists() { Some(Store::open(store)?) } else { None };
    InstallCandidate::read(folder, store.as_ref(), &Limits::default())
}

/// Finds the upload with this id; none once it is installed or has expired.
///
/// # Errors
/// Errors of the file system.
pub async fn find(app: &App, id: &str) -> Result<Option<UploadedConnector>> {
    let is_waiting = made_at(id).is_some_and(|at| app.now().saturating_sub(at) < LIFE_MS);
    if !is_waiting || !is_id(id) {
        return Ok(None);
    }
    let (path, store) = (folder(app).join(id), connector_dir(&app.config));
    let read = move || match read_candidate(&path, &store) {
        Ok(candidate) => Ok(Some((candidate, path))),
        // It never existed, or was removed a moment ago.
        Err(_) if !path.join(MANIFEST_FILE).exists() => Ok(None),
        Err(e) => Err(e),
    };
    let Some((candidate, folder)) = blocking(read).await? else { return Ok(None) };
    let replaced = find_replaced(app, &candidate);
    Ok(Some(UploadedConnector { candidate, folder, replaced }))
}

/// Returns the connector that a candidate replaces: the installed one of its name, else the one in service.
fn find_replaced(app: &App, candidate: &InstallCandidate) -> Option<ReplacedConnector> {
    if let Some(installed) = candidate.installed() {
        return Some(ReplacedConnector {
            version: installed.version.clone(),
            digest: installed.digest().to_owned(),
            manifest: installed.manifest.as_ref().ok().cloned(),
            is_installed: true,
        });
    }
    let live = app.runtime.find(&candidate.manifest().name)?;
    Some(ReplacedConnector {
        version: live.manifest.version.clone(),
        digest: live.digest.clone(),
        manifest: Some(live.manifest.clone()),
        is_installed: false,
    })
}

/// Installs an upload, with its entry in the audit log, and puts it into service. The answer names the connector (`name`).
///
/// # Errors
/// `not_found` for an upload that does not wait any more; `invalid_state` where the page showed other versions, and where several hosts may have
/// the database; `invalid_parameter` as of `keep`.
pub async fn install(app: &App, actor: &Actor, id: &str, shown: &ShownVersions) -> Result<StoredResponse> {
    let _lock = app.locks.lock(CHANGE_LOCK).await;
    ensure_may_change(app)?;
    let uploaded = find(app, id).await?.ok_or_else(|| not_found("upload"))?;
    let versions = uploaded.versions();
    if (&versions.digest, &versions.replaced) != (&shown.digest, &shown.replaced) {
        let message = "another version of this connector was installed since the page was shown";
        return Err(refuse(Code::InvalidState, message));
    }
    let manifest = uploaded.manifest();
    let (name, version) = (manifest.name.clone(), manifest.version.clone());
    let replaced = uploaded.replaced.as_ref().map(|replaced| replaced.version.clone());
    // It is compiled already, so this is quick; the audit log must only name accepted connectors.
    app.runtime.check_candidate(&uploaded.candidate).await.map_err(|e| refused(&e))?;
    let details = json!({ "version": version, "digest": versions.digest, "replacedVersion": replaced });
    let target = Target::installation(name.as_str()).details(details);
    let attempt = acting::attempt(app, actor, "connector_installed", &target, None);
    let answer = StoredResponse::ok(serde_json::to_vec(&json!({ "name": name }))?);
    // Installing the same version again changes nothing, but puts it into service if it could not be loaded.
    let is_new =
        uploaded.replaced.as_ref().is_none_or(|old| !old.is_installed || old.digest != versions.digest);
    let attempt = if is_new { attempt } else { attempt.without_entry() };
    let answer = store(app, &attempt, answer).await?;
    app.runtime.install_candidate(uploaded.candidate).await?;
    let folder = uploaded.folder;
    let remove = move || {
        remove_folder(&folder);
        Ok(())
    };
    blocking(remove).await?;
    Ok(answer)
}

/// Removes expired uploads, and the oldest beyond the maximum.
fn sweep(folder: &Path, now: i64) {
    let mut all = stored(folder);
    all.sort_unstable_by(|a, b| b.cmp(a));
    let mut waiting = 0;
    for (at, name) in all {
        let is_checked = !name.ends_with(UNCHECKED);
        waiting += usize::from(is_checked);
        let is_over = now.saturating_sub(at) >= LIFE_MS;
        if is_over || (is_checked && waiting > MAX_WAITING) {
            remove_folder(&folder.join(&name));
        }
    }
}

/// Returns the uploads in a folder, with their times; none if the folder cannot be read, perhaps because it does not exist yet.
fn stored(folder: &Path) -> Vec<(i64, String)> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter_map(|name| made_at(&name).map(|at| (at, name))).collect()
}

/// Removes the folder of an upload. A failure does not refuse other uploads.
fn remove_folder(folder: &Path) {
    match std::fs::remove_dir_all(folder) {
        // Another request may have removed it at the same moment.
        Err(e) if e.kind() != ErrorKind::NotFound => {
            tracing::warn!(folder = %folder.display(), error = %e, "an upload was not removed");
        }
        _ => {}
    }
}

/// Returns the time in the name of an upload's folder, ms since 1970.
fn made_at(name: &str) -> Option<i64> {
    name.split_once('-')?.0.parse().ok()
}

/// Whether a text has the form of an id, so that it leads to no other folder and no unchecked upload.
fn is_id(id: &str) -> bool {
    id.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-' || (b'a'..=b'f').contains(&byte))
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> anyhow::Result<T> + Send + 'static) -> Result<T> {
    Ok(tokio::task::spawn_blocking(work).await.map_err(anyhow::Error::from)??)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upload_is_as_large_as_the_command_line_reads() {
        assert_eq!(MAX_COMPONENT_BYTES, Limits::default().component_bytes);
    }

    #[test]
    fn a_reason_is_short_and_in_its_order() {
        let long = format!("it imports \u{202e}{}", "x".repeat(10_000));
        let Error::Refused(refusal) = refused(&anyhow::anyhow!(long)) else { panic!("it is a refusal") };
        assert!(refusal.message.starts_with("it imports xx") && refusal.message.ends_with("x…"));
        assert_eq!(refusal.message.chars().count(), MAX_REASON_CHARS);
        let Error::Refused(refusal) = refused(&anyhow::anyhow!("short")) else { panic!("it is a refusal") };
        assert_eq!(refusal.message, "short");
    }

    #[test]
    fn an_id_leads_to_an_upload_alone() {
        assert!(is_id("1772352000000-00ff00ff00ff00ff"));
        assert_eq!(made_at("1772352000000-00ff00ff00ff00ff"), Some(1_772_352_000_000));
        for other in ["..", "1-a/../../x", "1-a.part", "1-A", "1-a\0", "%2e", "{u}"] {
            assert!(!is_id(other), "{other}");
        }
    }

    #[test]
    fn uploads_are_few_and_end_after_an_hour() {
        let dir = tempfile::tempdir().expect("a folder");
        let now = 10 * LIFE_MS;
        let old = (now - LIFE_MS).to_string();
        let names = [
            "old",
            "5-a.part",
            "1-1",
            "1-2",
            &format!("{old}-a"),
            &format!("{now}-a"),
            &format!("{now}-b"),
            &format!("{now}-c"),
            &format!("{now}-d"),
            &format!("{now}-e"),
            &format!("{now}-f.part"),
        ]
        .map(str::to_owned);
        for name in &names {
            std::fs::create_dir(dir.path().join(name)).expect("a folder");
        }
        sweep(dir.path(), now);
        let mut left: Vec<String> = std::fs::read_dir(dir.path())
            .expect("the folder")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        left.sort_unstable();
        let kept = ["b", "c", "d", "e", "f.part"].map(|end| format!("{now}-{end}"));
        assert_eq!(left, [kept.as_slice(), &["old".to_owned()]].concat());
    }
}
