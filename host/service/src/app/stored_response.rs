//! `StoredResponse`: what a request is answered with, and `IdempotentAttempt`: the idempotent attempt that it belongs to. They live below the
//! API because an answer is stored in the transaction of its effect: both are on disk, or neither is.

use std::sync::Arc;

use anyhow::Result;
use base::error::{Code, Refusal};
use base::keyring::Keyring;
use bytes::Bytes;
use serde_json::Value;
use storage::audit_log::AuditEntry;
use storage::{Tx, audit_log, idempotency};

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
    /// When the first attempt with this key began, ms since 1970; none where that is not known, or where this is the first one.
    pub first_at: Option<i64>,
    claim: Option<Arc<RunningClaim>>,
    /// What the audit log says of the write.
    entry: Option<Arc<AuditEntry>>,
}

impl IdempotentAttempt {
    pub fn new(connector_key: String, resumed: bool, claim: Option<RunningClaim>) -> Self {
        IdempotentAttempt { connector_key, resumed, first_at: None, claim: claim.map(Arc::new), entry: None }
    }

    /// The same attempt, whose effect is written into the audit log too: `store` does both, so that neither is there without the other. What
    /// ends the claim after the handler gets the attempt without the entry, because it also stores answers of writes that had no effect.
    pub fn audited(&self, entry: AuditEntry) -> Self {
        IdempotentAttempt { entry: Some(Arc::new(entry)), ..self.clone() }
    }

    /// The same attempt, at making the thing with this id. An entry of the audit log without a target names it: the id is not known before.
    pub fn about(&self, id: &str) -> Self {
        let named = |entry: &Arc<AuditEntry>| match entry.target.is_empty() {
            true => Arc::new(AuditEntry { target: id.to_owned(), ..AuditEntry::clone(entry) }),
            false => Arc::clone(entry),
        };
        IdempotentAttempt { entry: self.entry.as_ref().map(named), ..self.clone() }
    }

    /// The same, where the first attempt with its key began at this time, ms since 1970.
    pub fn first_made_at(self, at: Option<i64>) -> Self {
        IdempotentAttempt { first_at: at, ..self }
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

    /// Stores the answer, and the entry of the audit log; call it last in the effect's transaction. Fails, and so undoes the effect, when
    /// another attempt took the claim over meanwhile.
    pub async fn store(
        &self,
        tx: &mut Tx,
        keyring: &Keyring,
        answer: &StoredResponse,
        now: i64,
    ) -> Result<()> {
        if let Some(entry) = &self.entry {
            audit_log::insert(tx, entry).await?;
        }
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
