//! Idempotency-Key: run once, or replay. The key is claimed before the work; the answer is stored in the transaction of the
//! effect (`answer.rs`). What dies in between leaves a claim without an answer: the next attempt takes it over, is told that
//! it is a repeat, and so looks at the provider before it writes again.

use std::time::Duration;

use anyhow::Context;
use axum::body::Body;
use axum::response::Response;
use base::error::{Code, Refusal, Result, invalid};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use storage::idempotency as table;
use storage::idempotency::{NewClaim, StoredAnswer};

use crate::api::access::api_key::Caller;
use crate::api::request::fingerprint::of_parts;
use crate::api::response::error::{FailedCode, is_of_the_moment};
use crate::app::App;
use crate::app::stored_response::{Claim, IdempotentAttempt};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const IDEMPOTENT_REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// How long a claim is left alone: longer than any request may take.
const LEASE_MS: i64 = 90_000;
/// A claim whose host has no lease is free after this time: it may have just started.
const GONE_AFTER_MS: i64 = 10_000;
/// How long a copy waits for the first attempt's answer.
const WAIT_MS: u64 = 2_000;
const WAIT_STEP_MS: u64 = 25;

/// What to do with a write.
pub enum ClaimResult {
    /// Run it, as this attempt.
    Run(IdempotentAttempt),
    /// It ran: this is its answer.
    Replay(Box<Response>),
}

/// Largest answer that is kept for replays, in bytes: more than any write answers.
const MAX_STORED: usize = 8 << 20;

/// What a claim is about: told apart by API key, method and path, compared by everything else.
pub struct ClaimedRequest<'a> {
    pub method: &'a str,
    pub path: &'a str,
    pub query: &'a str,
    pub headers: &'a HeaderMap,
    /// Fingerprint of the body.
    pub body: &'a str,
}

/// Claims the request's key, or finds the answer that it already has.
pub async fn begin(app: &App, caller: &Caller, request: &ClaimedRequest<'_>) -> Result<ClaimResult> {
    let Some(key) = key(request.headers)? else {
        return Ok(ClaimResult::Run(IdempotentAttempt::new(
            hex::encode(app.entropy.bytes::<16>()),
            false,
            None,
        )));
    };
    let application_id = caller.tenant().application_id.as_str();
    // Of one API key, or of one grant: an answer can hold what only the key that asked may see, such as the key that it made.
    let scope = of_parts(&[request.method, request.path, caller.key.idempotency_scope(), key]);
    claim_scope(app, application_id, scope, fingerprint(request)).await
}

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
        if insert(app, &claim, &fingerprint, now).await? {
            return Ok(ClaimResult::Run(attempt(claim, false)));
        }
        let Some(found) = table::find(app.db.reader(), application_id, &scope).await? else { continue };
        if found.fingerprint != fingerprint {
            return Err(invalid(
                Code::IdempotencyKeyReused,
                "Idempotency-Key",
                "this Idempotency-Key was used for another request; use a new key for a new request",
            ));
        }
        if let Some(answer) = found.answer {
            return Ok(ClaimResult::Replay(Box::new(replay(app, &claim, &answer)?)));
        }
        if is_dead(app, &found, now) && take_over(app, &claim, &fingerprint, &found.fence, now).await? {
            return Ok(ClaimResult::Run(attempt(claim, true)));
        }
        if waiting.elapsed() >= Duration::from_millis(WAIT_MS) {
            let message = "a request with this Idempotency-Key is still running; try again shortly";
            return Err(Refusal::new(Code::IdempotencyInProgress, message).retry_after_s(1).into());
        }
        tokio::time::sleep(Duration::from_millis(WAIT_STEP_MS)).await;
    }
}

/// After the handler: what it did not store with an effect is stored now, or the claim is given back.
pub async fn finish(app: &App, attempt: &IdempotentAttempt, response: Response) -> Response {
    let Some(claim) = attempt.claim().filter(|_| !attempt.is_answered()) else { return response };
    let outcome = match response.status() {
        // Began and ended: the same request gets the same answer.
        StatusCode::CONFLICT if may_end_otherwise(&response) => expire(app, claim).await,
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
        status if status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED => {
            expire(app, claim).await
        }
        // It never began.
        _ => release(app, claim).await,
    };
    report(outcome);
    response
}

/// Whether a conflict says nothing of the request: a connection that could not be used will be usable again. The claim stays, free to
/// take, because a provider may have refused in the middle of a write.
fn may_end_otherwise(response: &Response) -> bool {
    response.extensions().get::<FailedCode>().is_some_and(|failed| is_of_the_moment(failed.0))
}

fn report(outcome: Result<()>) {
    if let Err(e) = outcome {
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

/// Whether a claim has nobody behind it: its time is over, or the host that claimed is gone. On SQLite no other process serves this database,
/// so every claim of another id is of one that is gone; on PostgreSQL a host is gone when its lease is over, and one that lost its lease
/// goes on under another id.
fn is_dead(app: &App, found: &table::Claim, now: i64) -> bool {
    if found.lease_until <= now {
        return true;
    }
    if found.owner == app.presence.id() {
        return false;
    }
    let claimed_at = found.lease_until - LEASE_MS;
    let is_gone = match found.owner_until {
        Some(until) => until <= now,
        None => now - claimed_at >= GONE_AFTER_MS,
    };
    is_gone || !app.db.is_shared()
}

fn attempt(claim: Claim, resumed: bool) -> IdempotentAttempt {
    let connector_key = of_parts(&[&claim.application_id, &claim.scope]);
    IdempotentAttempt::new(connector_key, resumed, Some(claim))
}

async fn release(app: &App, claim: &Claim) -> Result<()> {
    let claim = claim.clone();
    app.db
        .write(move |tx| {
            Box::pin(async move {
                Ok(table::delete(tx, &claim.application_id, &claim.scope, &claim.fence).await?)
            })
        })
        .await
}

async fn expire(app: &App, claim: &Claim) -> Result<()> {
    let claim = claim.clone();
    app.db
        .write(move |tx| {
            Box::pin(async move {
                Ok(table::expire(tx, &claim.application_id, &claim.scope, &claim.fence).await?)
            })
        })
        .await
}

async fn store(
    app: &App,
    attempt: &IdempotentAttempt,
    parts: &http::response::Parts,
    body: &Bytes,
) -> Result<()> {
    let mut answer = crate::app::stored_response::StoredResponse::json(parts.status.as_u16(), body.clone());
    for (name, fixed) in
        [(header::ETAG, "etag"), (header::LOCATION, "location"), (header::RETRY_AFTER, "retry-after")]
    {
        if let Some(value) = parts.headers.get(name).and_then(|v| v.to_str().ok()) {
            answer = answer.header(fixed, value);
        }
    }
    let (attempt, at, keyed) = (attempt.clone(), app.now(), app.clone());
    app.db
        .write(move |tx| Box::pin(async move { Ok(attempt.store(tx, &keyed.keyring, &answer, at).await?) }))
        .await
}

fn replay(app: &App, claim: &Claim, stored: &StoredAnswer) -> Result<Response> {
    let body = app.keyring.open(&claim.place(), &stored.body)?;
    let status = u16::try_from(stored.status).ok().and_then(|s| StatusCode::from_u16(s).ok());
    let mut response = Response::new(Body::from(body.to_vec()));
    *response.status_mut() = status.context("a stored answer has an impossible status")?;
    let headers: Vec<(String, String)> = serde_json::from_str(&stored.headers)?;
    for (name, value) in headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            response.headers_mut().insert(name, value);
        }
    }
    if !body.is_empty() {
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    response.headers_mut().insert(IDEMPOTENT_REPLAYED, HeaderValue::from_static("true"));
    Ok(response)
}

/// The key: 1 to 255 printable ASCII characters.
fn key(headers: &HeaderMap) -> Result<Option<&str>> {
    let mut values = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(first) = values.next() else { return Ok(None) };
    let text = first.to_str().unwrap_or_default();
    let fits = (1..=255).contains(&text.len()) && text.bytes().all(|b| (0x20..0x7f).contains(&b));
    if !fits || values.next().is_some() {
        let message = "Idempotency-Key must be given once, with 1 to 255 printable ASCII characters";
        return Err(invalid(Code::InvalidIdempotencyKey, "Idempotency-Key", message));
    }
    Ok(Some(text))
}

/// Equal for requests that mean the same.
fn fingerprint(request: &ClaimedRequest<'_>) -> String {
    let if_match = request.headers.get(header::IF_MATCH).and_then(|v| v.to_str().ok()).unwrap_or_default();
    of_parts(&[request.query, if_match, request.body])
}
