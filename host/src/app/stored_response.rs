//! `StoredResponse`: what a request is answered with, and `IdempotentAttempt`: the idempotent attempt that it belongs to. They live below the
//! API because an answer is stored in the transaction of its effect: both are on disk, or neither is.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, anyhow};
use base::keyring::Keyring;
use bytes::Bytes;
use serde_json::Value;
use storage::{Tx, idempotency};

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

/// One attempt at a write. With an `Idempotency-Key` it holds the claim; without, it only carries a random key for the
/// connector.
#[derive(Clone)]
pub struct IdempotentAttempt {
    /// What the connector makes provider-side ids from: equal for repeated attempts with one client key.
    pub connector_key: String,
    /// An earlier attempt with this key died half-way: its effect at the provider may exist. Look before writing again.
    pub resumed: bool,
    claim: Option<Claim>,
    answered: Arc<AtomicBool>,
}

/// The claimed row, and the fence that proves that it is still ours.
#[derive(Clone, Debug)]
pub struct Claim {
    pub application_id: String,
    pub scope: String,
    pub fence: String,
}

impl Claim {
    /// Where the sealed answer belongs.
    pub fn place(&self) -> String {
        format!("idempotency.answer:{}:{}", self.application_id, self.scope)
    }
}

impl IdempotentAttempt {
    pub fn new(connector_key: String, resumed: bool, claim: Option<Claim>) -> Self {
        IdempotentAttempt { connector_key, resumed, claim, answered: Arc::default() }
    }

    pub fn claim(&self) -> Option<&Claim> {
        self.claim.as_ref()
    }

    /// Whether the answer was stored with the effect.
    pub fn is_answered(&self) -> bool {
        self.answered.load(Ordering::SeqCst)
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
        let Some(claim) = &self.claim else { return Ok(()) };
        let place = claim.place();
        let headers: Vec<(&str, &str)> = answer.headers.iter().map(|(n, v)| (*n, v.as_str())).collect();
        let stored = idempotency::StoredAnswer {
            status: i64::from(answer.status),
            headers: serde_json::to_string(&headers)?,
            body: keyring.seal(&place, &answer.body)?,
        };
        let key = (claim.application_id.as_str(), claim.scope.as_str(), claim.fence.as_str());
        if !idempotency::answer(tx, key, &stored, now).await? {
            return Err(anyhow!("another attempt took over this Idempotency-Key"));
        }
        let answered = Arc::clone(&self.answered);
        tx.after_commit(move || answered.store(true, Ordering::SeqCst));
        Ok(())
    }
}
