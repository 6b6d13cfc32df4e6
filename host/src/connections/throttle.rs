//! A provider that answers 429, or 503 and others of 5xx, with Retry-After wants to be left alone for so long. That holds for everything
//! that the connection does, pulls, sends and requests that somebody waits for, on every host: nothing asks the provider before the time is
//! over. Other connections are not concerned.

use base::error::Result;
use base::tenant::Tenant;
use runtime::{self, Answer, Code};
use storage::connections as table;
use storage::connections::Connection;

use crate::app::App;
use crate::app::throttle_limit::LONGEST_MS;
use crate::connections::call_target::CallTarget;
use crate::connections::refusal;

/// How an error of ours begins that no provider was asked for: `is_held`.
const HELD: &str = "held back until ";

/// When the provider may be asked again, ms since 1970; none when it may be now.
pub async fn until(app: &App, tenant: &Tenant, connection_id: &str) -> anyhow::Result<Option<i64>> {
    let now = app.now();
    let known = match app.throttles.get(connection_id, now) {
        Some(known) => *known,
        None => {
            let stored = table::throttled_until(app.db.reader(), tenant, connection_id).await?;
            app.throttles.put(connection_id.to_owned(), stored.into(), now);
            stored
        }
    };
    Ok(known.filter(|until| *until > now))
}

/// Fails while the provider wants to be left alone.
pub async fn check(app: &App, connection: &Connection) -> Result<()> {
    match until(app, &connection.tenant, &connection.id).await? {
        None => Ok(()),
        Some(until) => Err(refusal::of(&connection.provider, &held(app, until))),
    }
}

/// The error of a call that is not made. None: it may be made.
pub async fn refusal_of(app: &App, target: &CallTarget<'_>) -> Option<runtime::Error> {
    match until(app, target.tenant, target.connection_id).await {
        Ok(until) => until.map(|until| held(app, until)),
        Err(e) => Some(runtime::Error::new(Code::Host, format!("{e:#}"))),
    }
}

fn held(app: &App, until: i64) -> runtime::Error {
    let mut error = runtime::Error::new(Code::RateLimited, format!("{HELD}{until}"));
    error.message = "the provider asked to be left alone for a while and is not asked before that".to_owned();
    error.retry_after_ms = u64::try_from(until - app.now()).ok();
    error
}

/// Whether a call was not made because the provider wants to be left alone: that is no failure of anything.
pub fn is_held(e: &runtime::Error) -> bool {
    e.code == Code::RateLimited && e.author.detail.starts_with(HELD)
}

/// Keeps what a call says of how long the provider wants to be left alone. An answer without a Retry-After says nothing of that.
pub async fn note(app: &App, target: &CallTarget<'_>, outcome: &Result<Answer, runtime::Error>) {
    let Err(e) = outcome else { return };
    // Other errors that pass may have a time to wait that is not the provider's, such as that of a token endpoint.
    let is_asked =
        e.code == Code::RateLimited || (e.is_transient() && e.stats.provider_retry_after_ms.is_some());
    let asked = e.retry_after_ms.or(e.stats.provider_retry_after_ms).filter(|ms| *ms > 0);
    let Some(wait) = asked.filter(|_| is_asked) else { return };
    let until = app.now() + i64::try_from(wait).unwrap_or(LONGEST_MS).min(LONGEST_MS);
    let (tenant, id) = (target.tenant.clone(), target.connection_id.to_owned());
    let written: anyhow::Result<()> = app
        .db
        .write(move |tx| Box::pin(async move { table::set_throttled(tx, &tenant, &id, until).await }))
        .await;
    app.throttles.put(target.connection_id.to_owned(), Some(until).into(), app.now());
    if let Err(e) = written {
        tracing::error!(connection = target.connection_id, error = %format!("{e:#}"),
            "how long a provider wants to be left alone cannot be kept");
    }
}
