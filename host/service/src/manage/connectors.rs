//! The connectors of this host: what they may do, what they did, and the change to an earlier version. Installed connectors are files in the
//! data directory of each host; only where a host is alone with its database can one host change them for the installation.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::error::{Code, Error, Result, not_found, refuse};
use runtime::{Installed, LoadedConnector, Source, StatsSnapshot, Store};

use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::app::{App, connector_dir};

/// The lock of changes of connectors.
pub(super) const CHANGE_LOCK: &str = "connectors";
/// The result of a call that did not fail, as it is counted.
const OK: &str = "ok";

/// A connector in service.
#[derive(Clone, Debug)]
pub struct ConnectorHealth {
    pub loaded: Arc<LoadedConnector>,
    /// Counters since this process started.
    pub stats: StatsSnapshot,
}

impl ConnectorHealth {
    fn new(loaded: Arc<LoadedConnector>) -> ConnectorHealth {
        let stats = loaded.stats();
        ConnectorHealth { loaded, stats }
    }

    /// Calls that have ended.
    pub fn calls(&self) -> u64 {
        self.stats.outcomes.iter().map(|(.., count)| count).sum()
    }

    /// Calls that have failed.
    pub fn errors(&self) -> u64 {
        let failed = self.stats.outcomes.iter().filter(|(_, _, code, _)| *code != OK);
        failed.map(|(.., count)| count).sum()
    }

    /// Calls that have ended, by their code: `ok`, or that of an error.
    pub fn by_code(&self) -> BTreeMap<&'static str, u64> {
        let mut counts = BTreeMap::new();
        for (_, _, code, count) in &self.stats.outcomes {
            *counts.entry(*code).or_default() += count;
        }
        counts
    }

    /// Whether it is installed, and not one that comes with the host.
    pub fn is_installed(&self) -> bool {
        self.loaded.source == Source::Installed
    }
}

/// The connectors in service on this host, by name.
pub fn list(app: &App) -> Vec<ConnectorHealth> {
    app.runtime.list().into_iter().map(ConnectorHealth::new).collect()
}

/// The connector of this name that is in service on this host.
pub fn find(app: &App, name: &str) -> Option<ConnectorHealth> {
    app.runtime.find(name).map(ConnectorHealth::new)
}

/// Whether this host may change connectors: no other host can have the same database, with connectors of its own.
pub fn may_change(app: &App) -> bool {
    !app.db.is_shared()
}

/// The entry of an installed connector in the store of this host; none where it is not installed.
///
/// # Errors
/// Errors of the file system.
pub async fn installed(app: &App, name: &str) -> Result<Option<Installed>> {
    let (folder, name) = (connector_dir(&app.config), name.to_owned());
    let read = move || -> anyhow::Result<Option<Installed>> {
        match folder.exists() {
            true => Ok(Store::open(&folder)?.index()?.connectors.remove(&name)),
            false => Ok(None),
        }
    };
    let found = tokio::task::spawn_blocking(read).await.map_err(anyhow::Error::from)?;
    Ok(found?)
}

/// Puts the version before the current one into service. `digest`: that of the current one, as the one who asks for it knows it.
///
/// # Errors
/// `not_found` where it is not installed; `invalid_state` without an earlier version, where another one is in service by now, and where several
/// hosts may have the database.
pub async fn roll_back(
    app: &App,
    name: &str,
    digest: &str,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let _lock = app.locks.lock(CHANGE_LOCK).await;
    let installed = changeable(app, name).await?;
    if installed.previous.is_empty() {
        return Err(refuse(Code::InvalidState, format!("{name} has no earlier version")));
    }
    // Rolling back twice ends where it began.
    if installed.current != digest {
        return Err(refuse(Code::InvalidState, format!("another version of {name} is in service by now")));
    }
    let answer = store(app, attempt, StoredResponse::no_content()).await?;
    app.runtime.rollback(name).await?;
    Ok(answer)
}

/// Takes an installed connector out of service. One of the same name that comes with the host takes its place.
///
/// # Errors
/// `not_found` where it is not installed; `invalid_state` where several hosts may have the database.
pub async fn remove(app: &App, name: &str, attempt: &IdempotentAttempt) -> Result<StoredResponse> {
    let _lock = app.locks.lock(CHANGE_LOCK).await;
    changeable(app, name).await?;
    let answer = store(app, attempt, StoredResponse::no_content()).await?;
    app.runtime.remove(name).await?;
    Ok(answer)
}

/// Refuses a change where several hosts may have the database.
///
/// # Errors
/// `invalid_state`.
pub fn ensure_may_change(app: &App) -> Result<()> {
    match may_change(app) {
        true => Ok(()),
        false => {
            let message = "each host of this database has connectors of its own: change them on each host";
            Err(refuse(Code::InvalidState, message))
        }
    }
}

/// The entry of a connector that this host may change.
async fn changeable(app: &App, name: &str) -> Result<Installed> {
    ensure_may_change(app)?;
    installed(app, name).await?.ok_or_else(|| not_found("connector"))
}

/// Stores what the attempt has to store. Files are no part of a transaction: the entry of the audit log comes first, because a change without an
/// entry would be worse than an entry whose change failed. An attempt with a claim would be answered as done even where the change fails: it is
/// to have none.
pub(super) async fn store(
    app: &App,
    attempt: &IdempotentAttempt,
    answer: StoredResponse,
) -> Result<StoredResponse> {
    let (attempt, keyed, kept, now) = (attempt.clone(), app.clone(), answer.clone(), app.now());
    app.db
        .write(move |tx| {
            Box::pin(async move {
                attempt.store(tx, &keyed.keyring, &kept, now).await?;
                Ok::<_, Error>(())
            })
        })
        .await?;
    Ok(answer)
}
