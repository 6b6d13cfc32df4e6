//! Claims: a write runs once, or its answer is replayed. A claim is made before the work; the answer is stored in the transaction of the
//! effect (`app::stored_response`). What ends without an answer leaves a free claim (`app::running_claims`): the next attempt takes it over,
//! is told that it is a repeat, and so looks at the provider before it writes again.

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

/// Time after which anybody may take a claim over that was not renewed, ms.
const LEASE_MS: i64 = CLAIM_LEASE_MS as i64;
/// A claim whose host has no lease is free after this time: it may have just started.
const GONE_AFTER_MS: i64 = 10_000;
/// How long a copy waits for the first attempt's answer.
const WAIT_MS: u64 = 2_000;
const WAIT_STEP_MS: u64 = 25;

/// Headers that are stored with an answer.
const STORED_HEADERS: [&str; 3] = ["etag", "location", "retry-after"];

/// What to do with a write.
pub enum ClaimResult {
    /// Run it, as this attempt.
    Run(IdempotentAttempt),
    /// It ran: this is its answer.
    Replay(StoredResponse),
}

/// Largest answer that is kept for replays, in bytes: more than any write answers.
const MAX_STORED: usize = 8 << 20;

/// Claims a scope of an application for the request of a fingerprint, or finds the answer that it already has.
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
        // Before the row is there: whether an insert was committed whose connection broke, nobody knows.
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

/// After the handler: what it did not store with an effect is stored now, or the claim ends. What cannot be written now is written when the
/// database is back, after the last clone of the attempt is dropped.
pub async fn finish(app: &App, attempt: &IdempotentAttempt, response: Response) -> Response {
    let Some(claim) = attempt.claim().filter(|claim| !claim.is_settled()) else { return response };
    let code = response.extensions().get::<FailedCode>().map(|failed| failed.0);
    let end = match response.status() {
        StatusCode::CONFLICT if code.is_some_and(|code| may_end_otherwise(code, attempt.resumed)) => {
            ClaimEnd::Free
        }
        // Began and ended: the same request gets the same answer.
        status if status.is_success() || status == StatusCode::CONFLICT => {
            let (parts, body) = response.into_parts();
            let Ok(bytes) = axum::body::to_bytes(body, MAX_STORED).await else {
                return Response::from_parts(parts, Body::empty());
            };
            let kept = store(app, attempt, &parts, &bytes).await;
            report(kept);
            return Response::from_parts(parts, Body::from(bytes));
        }
        // It may have had an effect at the provider: the next attempt must look, so the claim stays, but free to take.
        status if status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED => ClaimEnd::Free,
        // It never began, but an attempt before it may have had an effect; or the provider was asked, and may have refused in the middle of
        // several requests, such as the reading of what it had made.
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

/// Whether a conflict says nothing of the request: a connection that could not be used will be usable again, and the other version that a
/// repeat met may be the one that its first attempt made. The claim stays, free to take, because a provider may have refused in the middle
/// of a write.
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

/// Whether a claim has nobody behind it. Of its own requests a process knows whether they run, whatever clocks show, however long they take
/// and whatever could not be written. Of others: its time is over, or the host that claimed is gone. On SQLite no other process serves this
/// database, so every claim of another id is of one that is gone; on PostgreSQL a host is gone when its lease is over. It renews the claims of
/// requests that last, also those that it made under another id, before it lost its lease.
fn is_dead(app: &App, found: &table::Claim, now: i64) -> bool {
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
