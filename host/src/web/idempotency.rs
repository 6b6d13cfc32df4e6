//! Claims: a write runs once, or its answer is replayed. A claim is made before the work; the answer is stored in the transaction of the
//! effect (`app::stored_response`). A write that ends without an answer leaves a free claim (`app::running_claims`): the next attempt takes
//! it over, learns that it is a repetition, and so checks the provider before it writes again.

use std::time::Duration;

use anyhow::Context;
use axum::body::Body;
use axum::response::Response;
use base::error::{Code, Refusal, Result, invalid};
use bytes::Bytes;
use http::StatusCode;
use service::app::App;
use service::app::running_claims::{CLAIM_LEASE_MS, Claim, ClaimEnd, RunningClaim};
use service::app::stored_response::{IdempotentAttempt, StoredResponse};
use storage::idempotency as table;
use storage::idempotency::{NewClaim, StoredAnswer};

use crate::web::error::{FailedCode, is_of_the_moment};
use crate::web::fingerprint::of_parts;

/// Time after which a claim that was not renewed may be taken over, ms.
const LEASE_MS: i64 = CLAIM_LEASE_MS as i64;
/// A claim whose host has no lease is free after this time: the host may have just started.
const GONE_AFTER_MS: i64 = 10_000;
/// Time that a concurrent copy waits for the first attempt's answer.
const WAIT_MS: u64 = 2_000;
const WAIT_STEP_MS: u64 = 25;

/// Headers that are stored with an answer.
const STORED_HEADERS: [&str; 3] = ["etag", "location", "retry-after"];

/// The result of a claim.
pub enum ClaimResult {
    /// Run the write, as this attempt.
    Run(IdempotentAttempt),
    /// The write already ran, with this answer.
    Replay(StoredResponse),
}

/// Largest answer that is stored for replays, in bytes: larger than that of any write.
const MAX_STORED: usize = 8 << 20;

/// Claims a scope of an application for the request with a fingerprint, or finds its stored answer.
pub async fn claim_scope(
    app: &App,
    application_id: &str,
    scope: String,
    fingerprint: String,
) -> Result<ClaimResult> {
    let waiting = tokio::time::Instant::now();
    loop {
        let fence = hex::encode(app.entropy.bytes::<12>());
        let now = app.now();
        let claim = Claim { application_id: application_id.to_owned(), scope: scope.clone(), fence };
        // Before the row exists: if the connection breaks, it is unknown whether the insert was committed.
        let running = app.claims.begin(claim.clone());
        if insert(app, &claim, &fingerprint, now).await? {
            running.set_end(ClaimEnd::Free);
            return Ok(ClaimResult::Run(attempt(running, false)));
        }
        running.settle();
        let Some(found) = table::find(app.db.reader(), application_id, &scope).await? else { continue };
        if found.fingerprint != fingerprint {
            return Err(invalid(
                Code::IdempotencyKeyReused,
                "Idempotency-Key",
                "this Idempotency-Key was used for another request; use a new key for a new request",
            ));
        }
        if let Some(answer) = found.answer {
            return Ok(ClaimResult::Replay(replay(app, &claim, &answer)?));
        }
        if is_dead(app, &found, now) {
            running.set_end(ClaimEnd::Free);
            if take_over(app, &claim, &fingerprint, &found.fence, now).await? {
                let repeated = attempt(running, true).first_made_at(found.first_claimed_at);
                return Ok(ClaimResult::Run(repeated));
            }
            running.settle();
        }
        if waiting.elapsed() >= Duration::from_millis(WAIT_MS) {
            let message = "a request with this Idempotency-Key is still running; try again shortly";
            return Err(Refusal::new(Code::IdempotencyInProgress, message).retry_after_s(1).into());
        }
        tokio::time::sleep(Duration::from_millis(WAIT_STEP_MS)).await;
    }
}

/// Ends a claim after the handler: stores an answer that was not stored with an effect, or ends the claim without one. If the database is
/// down, this is written when it is back, after the last clone of the attempt is dropped.
pub async fn finish(app: &App, attempt: &IdempotentAttempt, response: Response) -> Response {
    let Some(claim) = attempt.claim().filter(|claim| !claim.is_settled()) else { return response };
    let code = response.extensions().get::<FailedCode>().map(|failed| failed.0);
    let end = match response.status() {
        StatusCode::CONFLICT if code.is_some_and(|code| may_end_otherwise(code, attempt.resumed)) => {
            ClaimEnd::Free
        }
        // It began and ended: the same request gets the same answer.
        status if status.is_success() || status == StatusCode::CONFLICT => {
            let (parts, body) = response.into_parts();
            let Ok(bytes) = axum::body::to_bytes(body, MAX_STORED).await else {
                return Response::from_parts(parts, Body::empty());
            };
            let kept = store(app, attempt, &parts, &bytes).await;
            report(kept);
            return Response::from_parts(parts, Body::from(bytes));
        }
        // It may have had an effect at the provider: the next attempt must check, so the claim stays, but can be taken over.
        status if status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED => ClaimEnd::Free,
        // It never began, but an earlier attempt may have had an effect; or the provider was called, and may have refused in the middle of
        // several requests, for example when the new record was read back.
        _ if attempt.resumed || claim.has_called() || code == Some(Code::ProviderRateLimited) => {
            ClaimEnd::Free
        }
        // It never began.
        _ => ClaimEnd::Unused,
    };
    if let Err(e) = claim.finish(end).await {
        tracing::debug!(error = %format!("{e:#}"), "the end of an Idempotency-Key is written when the database is back");
    }
    response
}

/// Whether a conflict is temporary: an unusable connection will be usable again, and the other version that a repetition met may be the one
/// that its first attempt made. The claim stays, but can be taken over, because a provider may have refused in the middle of a write.
fn may_end_otherwise(code: Code, is_repeat: bool) -> bool {
    is_of_the_moment(code) || is_repeat && code == Code::StaleEtag
}

fn report(outcome: Result<()>) {
    if let Err(e) = outcome
        && !e.is_outage()
    {
        tracing::error!(error = %e, "the state of an Idempotency-Key could not be written");
    }
}

async fn insert(app: &App, claim: &Claim, fingerprint: &str, now: i64) -> Result<bool> {
    let (claim, fingerprint, owner) = (claim.clone(), fingerprint.to_owned(), app.presence.id());
    app.db
        .write(move |tx| {
            Box::pin(
                async move { Ok(table::insert(tx, &new_claim(&claim, &fingerprint, &owner, now)).await?) },
            )
        })
        .await
}

async fn take_over(app: &App, claim: &Claim, fingerprint: &str, from: &str, now: i64) -> Result<bool> {
    let (claim, fingerprint, owner, from) =
        (claim.clone(), fingerprint.to_owned(), app.presence.id(), from.to_owned());
    app.db
        .write(move |tx| {
            Box::pin(async move {
                Ok(table::take_over(tx, &new_claim(&claim, &fingerprint, &owner, now), &from).await?)
            })
        })
        .await
}

fn new_claim<'a>(claim: &'a Claim, fingerprint: &'a str, owner: &'a str, now: i64) -> NewClaim<'a> {
    NewClaim {
        application_id: &claim.application_id,
        scope: &claim.scope,
        fingerprint,
        fence: &claim.fence,
        owner,
        now,
        lease_until: now + LEASE_MS,
    }
}

/// Whether the process behind a claim is gone. A process knows which of its own requests are running, whatever the clocks and however long
/// they take. A claim of another process is dead if its time is over, or its host is gone. On SQLite no other process serves this database,
/// so every claim with another id is dead; on PostgreSQL a host is gone when its lease is over. A host renews the claims of long requests,
/// also those that it made under an earlier id, before it lost its lease.
fn is_dead(app: &App, found: &table::StoredClaim, now: i64) -> bool {
    if app.claims.is_running(&found.fence) {
        return false;
    }
    if found.lease_until <= now || found.owner == app.presence.id() {
        return true;
    }
    let claimed_at = found.lease_until - LEASE_MS;
    let is_gone = match found.owner_until {
        Some(until) => until <= now,
        None => now - claimed_at >= GONE_AFTER_MS,
    };
    is_gone || !app.db.is_shared()
}

fn attempt(running: RunningClaim, resumed: bool) -> IdempotentAttempt {
    let claim = running.claim();
    let connector_key = of_parts(&[&claim.application_id, &claim.scope]);
    IdempotentAttempt::new(connector_key, resumed, Some(running))
}

async fn store(
    app: &App,
    attempt: &IdempotentAttempt,
    parts: &http::response::Parts,
    body: &Bytes,
) -> Result<()> {
    let mut answer = StoredResponse::json(parts.status.as_u16(), body.clone());
    for name in STORED_HEADERS {
        if let Some(value) = parts.headers.get(name).and_then(|v| v.to_str().ok()) {
            answer = answer.header(name, value);
        }
    }
    let (attempt, at, keyed) = (attempt.clone(), app.now(), app.clone());
    app.db
        .write(move |tx| Box::pin(async move { Ok(attempt.store(tx, &keyed.keyring, &answer, at).await?) }))
        .await
}

/// The stored answer of a claim.
fn replay(app: &App, claim: &Claim, stored: &StoredAnswer) -> Result<StoredResponse> {
    let body = app.keyring.open(&claim.place(), &stored.body)?;
    let status = u16::try_from(stored.status).context("a stored answer has an impossible status")?;
    let headers: Vec<(String, String)> = serde_json::from_str(&stored.headers)?;
    let known = |(name, value): (String, String)| {
        STORED_HEADERS.iter().find(|known| **known == name).map(|known| (*known, value))
    };
    let headers = headers.into_iter().filter_map(known).collect();
    Ok(StoredResponse { status, headers, body: body.to_vec().into() })
}
