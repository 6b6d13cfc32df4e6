//! Waits that providers ask for: by 429, or 503 and other 5xx, with Retry-After, or through a connector (`Context::note_wait` of the SDK).
//! A wait applies to all calls of the connection, for pulls, sends and client requests: the provider gets no call before it is over. If the
//! connector's manifest names buckets (`[limits]`) and the wait belongs to one of them, it applies only to the surfaces of that bucket; if
//! the bucket has `wait_scope = "surface"`, only to the surface of the call. Other connections are not affected.

use std::sync::Arc;

use base::tenant::Tenant;
use runtime::{self, Answer, BucketStats, Code, ProviderWait, RateLimit, Surface, WaitScope};
use storage::throttles::{self as table, ConnectionThrottles, Throttle};

use crate::app::App;
use crate::app::throttle_limit::LONGEST_MS;
use crate::connections::call_target::CallTarget;

/// Prefix of the error detail of a call that the host did not make, see `is_held`.
const HELD: &str = "held back until ";
/// Names in `extra` of a response in which a connector reports a wait (`Context::note_wait` of the SDK).
const WAIT_MS: &str = "wait-ms";
const BUCKET: &str = "bucket";
/// Separates the bucket from the surface in the name under which a wait is stored. Bucket names do not contain it.
const SURFACE_SEPARATOR: char = ':';

/// Returns the time from which the provider may be called for this surface, ms since 1970; none if it may be called now.
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

/// Whether a stored wait delays calls for this surface.
fn concerns(app: &App, provider: &str, stored: &str, surface: Surface) -> bool {
    let is_of_bucket = || {
        app.runtime.find(provider).map(|connector| delays(&connector.manifest.limits.rates, stored, surface))
    };
    stored.is_empty() || is_of_bucket().unwrap_or(false)
}

/// Whether a wait that is stored under this name delays calls for this surface. A bucket that a newer version of the connector no longer
/// has delays nothing.
fn delays(rates: &[RateLimit], stored: &str, surface: Surface) -> bool {
    let (bucket, only) = match stored.split_once(SURFACE_SEPARATOR) {
        Some((bucket, only)) => (bucket, Some(only)),
        None => (stored, None),
    };
    let rate = rates.iter().find(|rate| rate.name == bucket);
    rate.is_some_and(|rate| rate.surfaces.contains(&surface))
        && only.is_none_or(|only| only == surface.as_str())
}

/// Returns the name under which a wait of this bucket is stored after a call for this surface. Calls for the account itself have no
/// surface: their waits apply to the whole bucket.
fn stored_name(rates: &[RateLimit], bucket: &str, surface: Surface) -> String {
    let rate = rates.iter().find(|rate| rate.name == bucket);
    let is_of_surface =
        |rate: &RateLimit| rate.wait_scope == WaitScope::Surface && rate.surfaces.contains(&surface);
    match rate.is_some_and(is_of_surface) {
        true => format!("{bucket}{SURFACE_SEPARATOR}{surface}"),
        false => bucket.to_owned(),
    }
}

/// Returns the waits of a connection, cached for a second. None: the connection does not exist.
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
    // A new connection has an id before its row exists.
    if stored.is_some() {
        app.throttles.put(connection_id.to_owned(), stored.clone(), now);
    }
    Ok(stored)
}

/// Returns the error of a call that must not be made now. None: it may be made.
pub async fn refusal_of(app: &App, target: &CallTarget<'_>, surface: Surface) -> Option<runtime::Error> {
    match until(app, target.tenant, target.connection_id, surface).await {
        Ok(until) => until.map(|until| held_error(app, until)),
        Err(e) => Some(runtime::Error::new(Code::Host, format!("{e:#}"))),
    }
}

fn held_error(app: &App, until: i64) -> runtime::Error {
    let mut error = runtime::Error::new(Code::RateLimited, format!("{HELD}{until}"));
    error.message = "the provider asked for a pause, and is not called before it ends".to_owned();
    error.retry_after_ms = u64::try_from(until - app.now()).ok();
    error
}

/// Converts the error of a call that sent no request, or none with an effect, because `[limits]` were reached: the call counts as held
/// back, as during a wait of the provider. Returns other errors unchanged.
pub fn held_by_limits(app: &App, e: runtime::Error, is_repeatable: bool) -> runtime::Error {
    let e = without_held(e);
    let Some(wait_ms) = unsent_ms(&e, is_repeatable) else { return e };
    let wait = i64::try_from(wait_ms).unwrap_or(LONGEST_MS).min(LONGEST_MS);
    let message = "the provider's limits for this account are used up for a while";
    runtime::Error { message: message.to_owned(), stats: e.stats, ..held_error(app, app.now() + wait) }
}

/// Removes the mark of a held call from the error of a call that was made. Only the host may set that mark: a connector that sets it would
/// be retried for ever without a failure.
fn without_held(mut e: runtime::Error) -> runtime::Error {
    if is_held(&e) {
        e.author.detail.insert(0, ' ');
    }
    e
}

/// Returns the time for which the limits delay a call that sent no request, or none with an effect, ms. None: it ended for another reason.
fn unsent_ms(e: &runtime::Error, is_repeatable: bool) -> Option<u64> {
    let buckets = e.stats.buckets.as_deref().filter(|buckets| buckets.waits.is_empty())?;
    let is_unsent = e.stats.http_requests == 0 && !buckets.has_lines;
    buckets.held_ms.filter(|_| e.is_transient() && (is_repeatable || is_unsent))
}

/// Whether a call was held back because of a provider's wait, which is not a failure.
pub fn is_held(e: &runtime::Error) -> bool {
    e.code == Code::RateLimited && e.author.detail.starts_with(HELD)
}

/// Stores the waits that a call for this surface reports. A failure without a Retry-After reports none.
pub async fn note_outcome(
    app: &App,
    target: &CallTarget<'_>,
    surface: Surface,
    outcome: &Result<Answer, runtime::Error>,
) {
    let mut waits: Vec<ProviderWait> = match outcome {
        Ok(answer) => noted_wait(app, target.provider, answer).into_iter().collect(),
        Err(e) if is_held(e) => return,
        Err(e) => waits_of(e),
    };
    if let Some(connector) = app.runtime.find(target.provider) {
        for wait in &mut waits {
            wait.bucket = stored_name(&connector.manifest.limits.rates, &wait.bucket, surface);
        }
    }
    record_waits(app, target, &waits).await;
}

/// Returns the wait that a connector reports in a response. A bucket that the connector's manifest lacks stands for the whole account.
fn noted_wait(app: &App, provider: &str, answer: &Answer) -> Option<ProviderWait> {
    let value = |name: &str| answer.extra.iter().find(|(given, _)| given == name).map(|(_, value)| value);
    let ms = value(WAIT_MS)?.parse::<u64>().ok().filter(|ms| *ms > 0)?;
    let connector = app.runtime.find(provider)?;
    let is_known =
        |bucket: &&String| connector.manifest.limits.rates.iter().any(|rate| rate.name == **bucket);
    Some(ProviderWait { bucket: value(BUCKET).filter(is_known).cloned().unwrap_or_default(), ms })
}

/// Returns the waits that a failed call asks for.
fn waits_of(e: &runtime::Error) -> Vec<ProviderWait> {
    let none = BucketStats::default();
    let buckets = e.stats.buckets.as_deref().unwrap_or(&none);
    // The connector's own value overrides that of a header. Other transient errors may carry a wait that is not the provider's, such as a
    // token endpoint's.
    let said = e.retry_after_ms.filter(|ms| *ms > 0 && e.code == Code::RateLimited);
    match (buckets.waits.as_slice(), said) {
        ([], None) => Vec::new(),
        // Without a header the wait belongs to the bucket that all requests of the call used.
        ([], Some(ms)) => vec![ProviderWait { bucket: buckets.only.clone(), ms }],
        ([one], Some(ms)) => vec![ProviderWait { bucket: one.bucket.clone(), ms }],
        (waits, _) if e.is_transient() => waits.to_vec(),
        _ => Vec::new(),
    }
}

/// Stores waits, each limited to an hour.
async fn record_waits(app: &App, target: &CallTarget<'_>, waits: &[ProviderWait]) {
    let throttle = |wait: &ProviderWait| Throttle {
        bucket: wait.bucket.clone(),
        until: app.now() + i64::try_from(wait.ms).unwrap_or(LONGEST_MS).min(LONGEST_MS),
    };
    let waits: Vec<Throttle> = waits.iter().map(throttle).collect();
    if waits.is_empty() {
        return;
    }
    if let Err(e) = store_waits(app, target, waits).await {
        tracing::error!(connection = target.connection_id, error = %format!("{e:#}"),
            "a wait that a provider asked for cannot be stored");
    }
}

async fn store_waits(app: &App, target: &CallTarget<'_>, waits: Vec<Throttle>) -> anyhow::Result<()> {
    let known = load(app, target.tenant, target.connection_id).await?;
    // Nothing is stored for an account that is still being connected.
    let Some(mut throttles) = (*known).clone() else { return Ok(()) };
    for wait in &waits {
        match throttles.waits.iter_mut().find(|known| known.bucket == wait.bucket) {
            Some(known) => known.until = known.until.max(wait.until),
            None => throttles.waits.push(wait.clone()),
        }
    }
    // In memory first, so that this host respects the wait even if the write fails.
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

    /// A bucket of mail and calendars.
    fn rate(name: &str, wait_scope: WaitScope) -> RateLimit {
        let (hosts, surfaces) = (Vec::new(), vec![Surface::Email, Surface::Calendar]);
        RateLimit { name: name.to_owned(), hosts, surfaces, wait_scope, units: 1, per_s: 1, reserve: 0 }
    }

    #[test]
    fn a_wait_delays_the_kinds_of_data_of_its_scope() {
        let rates = [rate("all", WaitScope::Bucket), rate("each", WaitScope::Surface)];
        let stored = |bucket: &str, surface| stored_name(&rates, bucket, surface);
        for (bucket, met_by, name, delayed) in [
            ("all", Surface::Email, "all", [true, true, false]),
            ("each", Surface::Email, "each:email", [true, false, false]),
            ("each", Surface::Calendar, "each:calendar", [false, true, false]),
            ("each", Surface::Lifecycle, "each", [true, true, false]),
            ("gone", Surface::Email, "gone", [false, false, false]),
        ] {
            assert_eq!(stored(bucket, met_by), name);
            let of = [Surface::Email, Surface::Calendar, Surface::Tasks];
            assert_eq!(of.map(|surface| delays(&rates, name, surface)), delayed, "{name}");
        }
        assert_eq!(stored("", Surface::Email), "", "the whole account");
        assert!(!delays(&rates, "each:tasks", Surface::Tasks), "the bucket has no tasks any more");
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
        // A token endpoint's wait, or one of a response that the connector recovered from.
        assert!(of(Code::Unavailable, Some(5), vec![], "mail").is_empty());
        assert!(of(Code::NotFound, None, vec![mail], "mail").is_empty());
        assert!(waits_of(&runtime::Error::new(Code::RateLimited, "")).is_empty());
    }
}
