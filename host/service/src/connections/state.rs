//! The status of a connection: `active`, `degraded` while its provider does not answer, `reauth_required` once the provider refuses the
//! credentials. A change of status is logged; a call that changes nothing writes and queries nothing.

use base::error::{Code, Error, Refusal, Result};
use storage::connections::Connection;
use storage::locked::ConnectionLock;
use storage::{connections as table, sync_states};

use crate::app::App;
use crate::app::event_log::{self, NewLogEntry};
use crate::connections::{refusal, view};

/// Time without an answer after which a provider counts as down.
const OUTAGE_MS: i64 = 15 * 60_000;

/// The effect of a change of the state.
enum StateChange {
    /// No write is needed.
    Nothing,
    /// Written without a log entry.
    Quiet,
    /// Written and logged as `connection.<word>`.
    Told(&'static str),
}

/// Stores what the outcome of a call says about the provider; `connection` is the row that was read for the call.
pub async fn record_outcome(app: &App, connection: &Connection, outcome: Result<(), &runtime::Error>) {
    match outcome {
        Ok(()) => mark_connected(app, connection).await,
        Err(e) if is_silence(refusal::code(e)) => unanswered(app, connection).await,
        // The provider refused, so it is reachable. Refused credentials are a state of their own; without a status the connector or this
        // host may have failed, which says nothing about the provider.
        Err(e) if e.code != runtime::Code::AuthExpired && e.provider_status.is_some() => {
            mark_connected(app, connection).await;
        }
        Err(_) => {}
    }
}

/// Whether an error means that the provider gave no answer.
pub fn is_outage(e: &Error) -> bool {
    e.code().is_some_and(is_silence)
}

fn is_silence(code: Code) -> bool {
    matches!(code, Code::ProviderUnavailable | Code::ProviderTimeout)
}

async fn mark_connected(app: &App, connection: &Connection) {
    if connection.failing_since.is_none() && connection.status != "degraded" {
        return;
    }
    let turn = change(app, connection, |app, fresh| {
        let was_down = fresh.status == "degraded";
        if fresh.failing_since.take().is_none() && !was_down {
            return StateChange::Nothing;
        }
        if !was_down {
            return StateChange::Quiet;
        }
        set_status(app, fresh, "active", None);
        StateChange::Told("recovered")
    });
    report(connection, turn.await);
}

/// Records that the provider gave no answer. Once that has lasted, the connection is degraded: still used, since the outage may be over.
pub async fn unanswered(app: &App, connection: &Connection) {
    let is_long = |app: &App, c: &Connection| c.failing_since.is_some_and(|at| app.now() - at >= OUTAGE_MS);
    if connection.failing_since.is_some() && !(is_long(app, connection) && connection.status == "active") {
        return;
    }
    let turn = change(app, connection, move |app, fresh| {
        if fresh.failing_since.is_none() {
            fresh.failing_since = Some(app.now());
            return StateChange::Quiet;
        }
        if !is_long(app, fresh) || fresh.status != "active" {
            return StateChange::Nothing;
        }
        set_status(app, fresh, "degraded", Some("provider_outage"));
        StateChange::Told("degraded")
    });
    report(connection, turn.await);
}

/// Logs a failure to store the state; the caller needs only the outcome of its call.
fn report(connection: &Connection, turn: Result<()>) {
    if let Err(e) = turn {
        tracing::error!(error = %e, connection = %connection.id, "cannot keep how a connection stands");
    }
}

/// Records that the provider refused the credentials: nothing works until the account is connected again.
pub async fn mark_reauth_required(app: &App, connection: &Connection, why: &Refusal) -> Result<()> {
    let error = refresh_error(app, why);
    change(app, connection, move |app, fresh| {
        if fresh.status == "reauth_required" {
            return StateChange::Nothing;
        }
        lost(app, fresh, "credentials_invalid", error)
    })
    .await
}

/// Records that the authorization server no longer renews the tokens of `connection`, with the same effect. Does nothing if the connection
/// has other credentials by now. `reason`: the connection's `statusReason`.
pub async fn mark_token_refused(
    app: &App,
    connection: &Connection,
    reason: &'static str,
    why: &Refusal,
) -> Result<()> {
    let (error, version) = (refresh_error(app, why), connection.credentials_version);
    change(app, connection, move |app, fresh| {
        if fresh.status == "reauth_required" || fresh.credentials_version != version {
            return StateChange::Nothing;
        }
        lost(app, fresh, reason, error)
    })
    .await
}

fn refresh_error(app: &App, why: &Refusal) -> String {
    let at = app.clock.now();
    serde_json::json!({ "code": why.code.as_str(), "message": why.message, "at": at }).to_string()
}

fn lost(app: &App, fresh: &mut Connection, reason: &str, error: String) -> StateChange {
    set_status(app, fresh, "reauth_required", Some(reason));
    fresh.failing_since = None;
    fresh.last_refresh_error = Some(error);
    StateChange::Told("reauth_required")
}

/// Sets the status and the time of its change.
pub fn set_status(app: &App, connection: &mut Connection, status: &str, reason: Option<&str>) {
    if connection.status != status {
        connection.status = status.to_owned();
        connection.status_changed_at = app.now();
    }
    connection.status_reason = reason.map(str::to_owned);
}

/// Changes the row under its lock: the caller's copy may be older than a result that another call, here or on another host, has just
/// stored. An account that was disconnected has no state.
async fn change(
    app: &App,
    connection: &Connection,
    act: impl FnOnce(&App, &mut Connection) -> StateChange + Clone + Send + 'static,
) -> Result<()> {
    let (tenant, id) = (connection.tenant.clone(), connection.id.clone());
    let (app, held) = (app.clone(), app.clone());
    held.db
        .write(move |tx| {
            Box::pin(async move {
                let Some(lock) = ConnectionLock::take(tx, &tenant, &id).await? else { return Ok(()) };
                let mut fresh = Connection::clone(&lock);
                let word = match act(&app, &mut fresh) {
                    StateChange::Nothing => return Ok(()),
                    StateChange::Quiet => return Ok(table::update(tx, &lock, &fresh).await?),
                    StateChange::Told(word) => word,
                };
                fresh.updated_at = app.now();
                fresh.etag = view::etag(&fresh);
                table::update(tx, &lock, &fresh).await?;
                let states = sync_states::of_connection(&mut *tx, &fresh.id).await?;
                let body = view::json(&app, &fresh, &states).to_string();
                let note = NewLogEntry::of_connection(&fresh, word, Some(body));
                event_log::append(tx, &app, &fresh.tenant, vec![note]).await?;
                Ok::<_, Error>(())
            })
        })
        .await?;
    held.opened.clear();
    Ok(())
}
