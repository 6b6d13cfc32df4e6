//! `StoredResponse`: what a request is answered with, and `IdempotentAttempt`: the idempotent attempt that it belongs to. They live below the
//! API because an answer is stored in the transaction of its effect: both are on disk, or neither is.

use std::sync::Arc;

use anyhow::Result;
use base::error::{Code, Refusal};
use base::keyring::Keyring;
use bytes::Bytes;
use serde_json::Value;
use storage::{Tx, idempotency};

use crate::app::running_claims::RunningClaim;

/// Status, headers and JSON text.
#[derive(Clone, Debug)]
pub struct StoredResponse {
    pub status: u16,
    /// Beyond those that every response has: `etag`, `location`.
    pub headers: Vec<(&'static str, String)>,
    /// Empty for 204.
    pub body: Bytes,
}

impl StoredResponse {
    pub fn json(status: u16, body: impl Into<Bytes>) -> Self {
        StoredResponse { status, headers: Vec::new(), body: body.into() }
    }

    pub fn ok(body: impl Into<Bytes>) -> Self {
        StoredResponse::json(200, body)
    }

    pub fn created(body: impl Into<Bytes>) -> Self {
        StoredResponse::json(201, body)
    }

    pub fn accepted(body: impl Into<Bytes>) -> Self {
        StoredResponse::json(202, body)
    }

    pub fn no_content() -> Self {
        StoredResponse::json(204, Bytes::new())
    }

    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// With `warnings` at the end of the JSON object that the body is.
    pub fn warned(mut self, warnings: &[Value]) -> Self {
        if let Some(object) = self.body.strip_suffix(b"}") {
            let comma = if object.ends_with(b"{") { "" } else { "," };
            let warnings = format!("{comma}\"warnings\":{}}}", Value::from(warnings));
            self.body = [object, warnings.as_bytes()].concat().into();
        }
        self
    }

    /// With the resource's version as `ETag`.
    pub fn etag(self, etag: &str) -> Self {
        let etag = etag.to_owned();
        self.header("etag", etag)
    }
}

/// One attempt at a write. With an `Idempotency-Key` it holds the claim, which ends with the last clone of the attempt; without, it only
/// carries a random key for the connector.
#[derive(Clone)]
pub struct IdempotentAttempt {
    /// What the connector makes provider-side ids from: equal for repeated attempts with one client key.
    pub connector_key: String,
    /// An earlier attempt with this key died half-way: its effect at the provider may exist. Look before writing again.
    pub resumed: bool,
    claim: Option<Arc<RunningClaim>>,
}

impl IdempotentAttempt {
    pub fn new(connector_key: String, resumed: bool, claim: Option<RunningClaim>) -> Self {
        IdempotentAttempt { connector_key, resumed, claim: claim.map(Arc::new) }
    }

    /// The claim; it is settled once the answer was stored with the effect.
    pub fn claim(&self) -> Option<&RunningClaim> {
        self.claim.as_deref()
    }

    /// Notes that a provider is about to be asked for a change: whatever the request is answered with, its repetition is a resumed attempt.
    pub fn note_call(&self) {
        if let Some(claim) = &self.claim {
            claim.note_call();
        }
    }

    /// Stores the answer; call it last in the effect's transaction. Fails, and so undoes the effect, when another attempt
    /// took the claim over meanwhile.
    pub async fn store(
        &self,
        tx: &mut Tx,
        keyring: &Keyring,
        answer: &StoredResponse,
        now: i64,
    ) -> Result<()> {
        let Some(running) = &self.claim else { return Ok(()) };
        let claim = running.claim();
        let place = claim.place();
        let headers: Vec<(&str, &str)> = answer.headers.iter().map(|(n, v)| (*n, v.as_str())).collect();
        let stored = idempotency::StoredAnswer {
            status: i64::from(answer.status),
            headers: serde_json::to_string(&headers)?,
            body: keyring.seal(&place, &answer.body)?,
        };
        let key = (claim.application_id.as_str(), claim.scope.as_str(), claim.fence.as_str());
        if !idempotency::answer(tx, key, &stored, now).await? {
            let message = "another attempt took over this Idempotency-Key; try again shortly";
            return Err(Refusal::new(Code::IdempotencyInProgress, message).retry_after_s(1).into());
        }
        let running = Arc::clone(running);
        tx.after_commit(move || running.settle());
        Ok(())
    }
}
