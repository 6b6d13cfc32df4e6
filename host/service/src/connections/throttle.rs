//! A provider that answers 429, or 503 and others of 5xx, with Retry-After wants to be left alone for so long, and so does one whose connector
//! says that (`Context::note_wait` of the SDK). That holds for everything that the connection does, pulls, sends and requests that somebody
//! waits for: nothing asks the provider before the time is over. Where the connector's manifest names buckets (`[limits]`) and the wait is of
//! one of them, it holds for the kinds of data of that bucket alone. Other connections are not concerned.

use std::sync::Arc;

use base::tenant::Tenant;
use runtime::{self, Answer, BucketStats, Code, ProviderWait, Surface};
use storage::throttles::{self as table, ConnectionThrottles, Throttle};

use crate::app::App;
use crate::app::throttle_limit::LONGEST_MS;
use crate::connections::call_target::CallTarget;

/// How an error of ours begins that no provider was asked for: `is_held`.
const HELD: &str = "held back until ";
/// The names in `extra` of an answer under which a connector notes a wait (`Context::note_wait` of the SDK).
const WAIT_MS: &str = "wait-ms";
const BUCKET: &str = "bucket";

/// The time when the provider may be asked again for data of this kind, ms since 1970; none when it may be now.
pub async fn until(
    app: &App,
    tenant: &Tenant,
    connection_id: &str,
    surface: Surface,
) -> anyhow::Result<Option<i64>> {
    let now = app.now();
    let known = load(app, tenant, connection_id).await?;
    let Some(throttles) = &*known else { return Ok(None) };
    let ahead = throttles.waits.iter().filter(|wait| wait.until > now);
    let of_surface = ahead.filter(|wait| concerns(app, &throttles.provider, &wait.bucket, surface));
    Ok(of_surface.map(|wait| wait.until).max())
}

/// Whether calls for this kind of data wait for a bucket.
fn concerns(app: &App, provider: &str, bucket: &str, surface: Surface) -> bool {
    let is_of_bucket = || {
        let connector = app.runtime.find(provider)?;
        let rate = connector.manifest.limits.rates.iter().find(|rate| rate.name == bucket)?;
        Some(rate.surfaces.contains(&surface))
    };
    // A bucket that a newer version of the connector no longer has holds nothing.
    bucket.is_empty() || is_of_bucket().unwrap_or(false)
}

/// The waits of a connection, from memory if they were read within the last second. None: there is no such connection.
async fn load(
    app: &App,
    tenant: &Tenant,
    connection_id: &str,
) -> anyhow::Result<Arc<Option<ConnectionThrottles>>> {
    let now = app.now();
    if let Some(known) = app.throttles.get(connection_id, now) {
        return Ok(known);
    }
    let stored = Arc::new(table::find(app.db.reader(), tenant, connection_id).await?);
    // A connection that is being made has an id before it has a row.
    if stored.is_some() {
        app.throttles.put(connection_id.to_owned(), stored.clone(), now);
    }
    Ok(stored)
}

/// The error of a call that is not made. None: it may be made.
pub async fn refusal_of(app: &App, target: &CallTarget<'_>, surface: Surface) -> Option<runtime::Error> {
    match until(app, target.tenant, target.connection_id, surface).await {
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

/// The error of a call of which the host sent nothing, or nothing that changes anything, because the limits of `[limits]` were reached: it is
/// held back as one is that the provider wants not to be made. Any other error as it is.
pub fn held_by_limits(app: &App, e: runtime::Error, is_repeatable: bool) -> runtime::Error {
    let e = without_held(e);
    let Some(wait_ms) = unsent_ms(&e, is_repeatable) else { return e };
    let wait = i64::try_from(wait_ms).unwrap_or(LONGEST_MS).min(LONGEST_MS);
    let message = "the provider's limits for this account are used up for a while";
    runtime::Error { message: message.to_owned(), stats: e.stats, ..held(app, app.now() + wait) }
}

/// The error of a call that was made. That one was not made is this host's word alone: a connector that says the same in its detail would be
/// called again and again without a failure.
fn without_held(mut e: runtime::Error) -> runtime::Error {
    if is_held(&e) {
        e.author.detail.insert(0, ' ');
    }
    e
}

/// How long the limits hold a call of which nothing was sent, or nothing that changes anything, ms. None: it did not end because of them.
fn unsent_ms(e: &runtime::Error, is_repeatable: bool) -> Option<u64> {
    let buckets = e.stats.buckets.as_deref().filter(|buckets| buckets.waits.is_empty())?;
    let is_unsent = e.stats.http_requests == 0 && !buckets.has_lines;
    buckets.held_ms.filter(|_| e.is_transient() && (is_repeatable || is_unsent))
}

/// Whether a call was not made because the provider wants to be left alone: that is no failure of anything.
pub fn is_held(e: &runtime::Error) -> bool {
    e.code == Code::RateLimited && e.author.detail.starts_with(HELD)
}

/// Keeps how long the provider wants to be left alone according to a call. A failure without a Retry-After says nothing of that.
pub async fn note_outcome(app: &App, target: &CallTarget<'_>, outcome: &Result<Answer, runtime::Error>) {
    let waits = match outcome {
        Ok(answer) => noted_wait(app, target.provider, answer).into_iter().collect(),
        Err(e) if is_held(e) => return,
        Err(e) => waits_of(e),
    };
    note(app, target, &waits).await;
}

/// The wait that a connector notes in an answer. One of a bucket that the connector's manifest does not name is of the whole account.
fn noted_wait(app: &App, provider: &str, answer: &Answer) -> Option<ProviderWait> {
    let value = |name: &str| answer.extra.iter().find(|(given, _)| given == name).map(|(_, value)| value);
    let ms = value(WAIT_MS)?.parse::<u64>().ok().filter(|ms| *ms > 0)?;
    let connector = app.runtime.find(provider)?;
    let is_known =
        |bucket: &&String| connector.manifest.limits.rates.iter().any(|rate| rate.name == **bucket);
    Some(ProviderWait { bucket: value(BUCKET).filter(is_known).cloned().unwrap_or_default(), ms })
}

/// The waits that a failure asks for.
fn waits_of(e: &runtime::Error) -> Vec<ProviderWait> {
    let none = BucketStats::default();
    let buckets = e.stats.buckets.as_deref().unwrap_or(&none);
    // The connector's own word goes before that of a header. Other errors that pass may have a time to wait that is not the provider's, such as
    // that of a token endpoint.
    let said = e.retry_after_ms.filter(|ms| *ms > 0 && e.code == Code::RateLimited);
    match (buckets.waits.as_slice(), said) {
        ([], None) => Vec::new(),
        // Without a header to go by it is of the bucket that all requests of the call were of.
        ([], Some(ms)) => vec![ProviderWait { bucket: buckets.only.clone(), ms }],
        ([one], Some(ms)) => vec![ProviderWait { bucket: one.bucket.clone(), ms }],
        (waits, _) if e.is_transient() => waits.to_vec(),
        _ => Vec::new(),
    }
}

/// Keeps waits, each for an hour at most.
async fn note(app: &App, target: &CallTarget<'_>, waits: &[ProviderWait]) {
    let throttle = |wait: &ProviderWait| Throttle {
        bucket: wait.bucket.clone(),
        until: app.now() + i64::try_from(wait.ms).unwrap_or(LONGEST_MS).min(LONGEST_MS),
    };
    let waits: Vec<Throttle> = waits.iter().map(throttle).collect();
    if waits.is_empty() {
        return;
    }
    if let Err(e) = keep(app, target, waits).await {
        tracing::error!(connection = target.connection_id, error = %format!("{e:#}"),
            "how long a provider wants to be left alone cannot be kept");
    }
}

async fn keep(app: &App, target: &CallTarget<'_>, waits: Vec<Throttle>) -> anyhow::Result<()> {
    let known = load(app, target.tenant, target.connection_id).await?;
    // Of an account that is only being connected nothing is kept.
    let Some(mut throttles) = (*known).clone() else { return Ok(()) };
    for wait in &waits {
        match throttles.waits.iter_mut().find(|known| known.bucket == wait.bucket) {
            Some(known) => known.until = known.until.max(wait.until),
            None => throttles.waits.push(wait.clone()),
        }
    }
    // First, so that this host keeps to it though it cannot be written.
    app.throttles.put(target.connection_id.to_owned(), Arc::new(Some(throttles)), app.now());
    let (tenant, id) = (target.tenant.clone(), target.connection_id.to_owned());
    app.db
        .write(move |tx| {
            Box::pin(async move {
                for wait in &waits {
                    table::set(tx, &tenant, &id, wait).await?;
                }
                Ok(())
            })
        })
        .await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(code: Code, buckets: BucketStats) -> runtime::Error {
        let mut error = runtime::Error::new(code, "");
        error.stats.buckets = Some(Box::new(buckets));
        error
    }

    fn wait(bucket: &str, ms: u64) -> ProviderWait {
        ProviderWait { bucket: bucket.to_owned(), ms }
    }

    #[test]
    fn a_change_of_which_something_was_sent_is_not_held() {
        let held = BucketStats { held_ms: Some(5), ..BucketStats::default() };
        let unsent = |e: &runtime::Error| (unsent_ms(e, true), unsent_ms(e, false));
        let mut e = failed(Code::Unavailable, held.clone());
        assert_eq!(unsent(&e), (Some(5), Some(5)));
        e.stats.http_requests = 1;
        assert_eq!(unsent(&e), (Some(5), None));
        let over_lines = BucketStats { has_lines: true, ..held.clone() };
        let over_lines = failed(Code::Unavailable, over_lines);
        assert_eq!(unsent(&over_lines), (Some(5), None), "a line may have sent it");
        assert_eq!(unsent(&failed(Code::NotFound, held.clone())), (None, None), "another failure");
        let refused = BucketStats { waits: vec![wait("mail", 9)], ..held };
        assert_eq!(unsent(&failed(Code::RateLimited, refused)), (None, None), "the provider's own wait");
    }

    #[test]
    fn a_connector_cannot_say_that_it_was_not_called() {
        let e = runtime::Error::new(Code::RateLimited, format!("{HELD}1700000000000"));
        assert!(is_held(&e));
        assert!(!is_held(&without_held(e)));
    }

    #[test]
    fn a_wait_is_of_the_bucket_that_asked_for_it() {
        let of = |code: Code, said: Option<u64>, waits: Vec<ProviderWait>, only: &str| {
            let mut e = failed(code, BucketStats { waits, only: only.to_owned(), ..BucketStats::default() });
            e.retry_after_ms = said;
            waits_of(&e)
        };
        let (mail, calendar) = (wait("mail", 7), wait("calendar", 9));
        let both = || vec![calendar.clone(), mail.clone()];
        assert_eq!(of(Code::RateLimited, Some(5), vec![], "mail"), [wait("mail", 5)]);
        assert_eq!(of(Code::RateLimited, Some(5), vec![], ""), [wait("", 5)]);
        assert_eq!(of(Code::RateLimited, Some(5), vec![mail.clone()], "mail"), [wait("mail", 5)]);
        assert_eq!(of(Code::RateLimited, Some(9), both(), ""), both());
        assert_eq!(of(Code::Unavailable, Some(5), vec![wait("mail", 7)], "mail"), [wait("mail", 7)]);
        // A token endpoint's, or one of an answer that the connector got over.
        assert!(of(Code::Unavailable, Some(5), vec![], "mail").is_empty());
        assert!(of(Code::NotFound, None, vec![mail], "mail").is_empty());
        assert!(waits_of(&runtime::Error::new(Code::RateLimited, "")).is_empty());
    }
}
