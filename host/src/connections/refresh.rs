//! Trying the credentials of a connection again.

use base::error::{Code, Error, Refusal, Result, not_found};
use runtime::Loaded;
use storage::connections::{self as table, Connection};
use storage::locked::ConnectionLock;
use storage::sync_states;

use crate::answer::{Answer, Attempt};
use crate::app::App;
use crate::connections::check::{self, Checked};
use crate::connections::{connector, credentials, find, state, view};
use crate::log::{self, Note};

/// Tries the stored credentials again; what the provider says decides the status.
pub async fn refresh(app: &App, connection: Connection, attempt: &Attempt) -> Result<Answer> {
    let _one = app.locks.lock(&format!("refresh:{}", connection.id)).await;
    let connection = find(app, &connection.tenant, &connection.id).await?;
    let connector = connector(app, &connection.provider)?;
    let given = credentials::stored(app, &connection)?;
    let settings = check::settings_of(app, &connection);
    match check::run(app, &connection.tenant, (&connector, &connection.id), &settings, &given).await {
        Ok(checked) => refreshed(app, &connection, &connector, checked, attempt).await,
        Err(Error::Refused(r)) if matches!(r.code, Code::ProviderRejected | Code::ReauthRequired) => {
            state::mark_reauth_required(app, &connection, &r).await?;
            Err(Refusal { code: Code::ReauthRequired, ..*r }.into())
        }
        Err(e) => {
            if state::is_outage(&e) {
                state::unanswered(app, &connection).await;
            }
            Err(e)
        }
    }
}

/// Keeps that the provider took the credentials. The row is the one that is there now: somebody may have changed it, or disconnected
/// the account, while the provider was asked.
async fn refreshed(
    app: &App,
    connection: &Connection,
    connector: &Loaded,
    checked: Checked,
    attempt: &Attempt,
) -> Result<Answer> {
    let (tenant, id) = (connection.tenant.clone(), connection.id.clone());
    let (version, attempt) = (connector.manifest.version.clone(), attempt.clone());
    let (app, held) = (app.clone(), app.clone());
    let answer = held.db.write(move |tx| {
        Box::pin(async move {
            let lock = ConnectionLock::take(tx, &tenant, &id).await?;
            let lock = lock.ok_or_else(|| not_found("connection"))?;
            let mut fresh = Connection::clone(&lock);
            let change = if fresh.status == "active" { "updated" } else { "recovered" };
            fresh.connector_version = version;
            fresh.settings = checked.settings;
            fresh.last_refresh_at = Some(app.now());
            fresh.last_refresh_error = None;
            fresh.failing_since = None;
            state::set_status(&app, &mut fresh, "active", None);
            fresh.updated_at = app.now();
            fresh.etag = view::etag(&fresh);
            table::update(tx, &lock, &fresh).await?;
            sync_states::forget_attempts(tx, &fresh.id).await?;
            let states = sync_states::of_connection(&mut *tx, &fresh.id).await?;
            let body = view::json(&app, &fresh, &states).to_string();
            let answer = Answer::ok(body.clone()).etag(&fresh.etag);
            let note = Note::of_connection(&fresh, change, Some(body));
            log::append(tx, &app, &fresh.tenant, vec![note]).await?;
            attempt.store(tx, &app.keyring, &answer, app.now()).await?;
            Ok::<_, Error>(answer)
        })
    });
    let answer = answer.await?;
    held.opened.clear();
    Ok(answer)
}
