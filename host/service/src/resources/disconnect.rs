//! Disconnecting an account.

use base::error::{Error, Result, not_found};
use storage::connections::Connection;
use storage::locked::ConnectionLock;
use storage::retention::purge;
use storage::scheduling::host_gone;
use storage::{connections as table, job_claims, token_grants, watches};

use crate::app::App;
use crate::app::event_log::{self, NewLogEntry};
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::connections::revocation;
use crate::push::stop;

/// Disconnects an account: deletes the credentials and hides the local copy at once; its rows are deleted step by step (`retention`). The
/// id stays in use, and the log keeps its entries. Tokens that no other connection needs are then revoked at the provider, if it supports
/// revocation.
pub async fn delete(
    app: &App,
    connection: Connection,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    // First, because the provider's subscriptions cannot be stopped without the credentials.
    stop::stop_all(app, &connection).await;
    let _no_pull = app.locks.lock(&format!("connection:{}", connection.id)).await;
    let (app, attempt, answer, held) =
        (app.clone(), attempt.clone(), StoredResponse::no_content(), app.clone());
    let connection_id = connection.id.clone();
    let kept = answer.clone();
    held.db
        .write(move |tx| {
            Box::pin(async move {
                let lock = ConnectionLock::take(tx, &connection.tenant, &connection.id).await?;
                let lock = lock.ok_or_else(|| not_found("connection"))?;
                let tokens = revocation::find_grant(tx, &app, &lock).await?;
                table::delete(tx, &lock, app.now()).await?;
                token_grants::revoke_of_connection(tx, &connection.tenant, &connection.id, app.now()).await?;
                let note = NewLogEntry::of_connection(&connection, "revoked", None);
                event_log::append(tx, &app, &connection.tenant, vec![note]).await?;
                watches::remove_of_connection(tx, &lock).await?;
                job_claims::remove_of_connection(tx, &lock).await?;
                purge::begin(tx, &connection.tenant, &connection.id, app.now()).await?;
                host_gone::enqueue(tx, &connection.tenant, &connection.id, app.now()).await?;
                if let Some((grant, given)) = &tokens {
                    revocation::enqueue(tx, &app, &lock.tenant, &lock.provider, grant, given).await?;
                }
                attempt.store(tx, &app.keyring, &kept, app.now()).await?;
                Ok::<_, Error>(())
            })
        })
        .await?;
    held.watches.remove(&connection_id);
    held.opened.clear();
    held.keys.clear();
    Ok(answer)
}
