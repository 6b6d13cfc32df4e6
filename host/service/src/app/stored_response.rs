//! `StoredResponse`: the response to a request, and `IdempotentAttempt`: the idempotent attempt that it belongs to. They live below the API
//! because a response is stored in the transaction of its effect: both are on disk, or neither is.

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
    /// Headers beyond those of every response: `etag`, `location`.
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

    /// Adds `warnings` at the end of the body, which is a JSON object.
    pub fn warned(mut self, warnings: &[Value]) -> Self {
        if let Some(object) = self.body.strip_suffix(b"}") {
            let comma = if object.ends_with(b"{") { "" } else { "," };
            let warnings = format!("{comma}\"warnings\":{}}}", Value::from(warnings));
            self.body = [object, warnings.as_bytes()].concat().into();
        }
        self
    }

    /// Sets the resource's version as `ETag`.
    pub fn etag(self, etag: &str) -> Self {
        let etag = etag.to_owned();
        self.header("etag", etag)
    }
}

/// One attempt at a write. With an `Idempotency-Key` it holds the claim, which ends with the last clone of the attempt; without, it only
/// carries a random key for the connector.
#[derive(Clone)]
pub struct IdempotentAttempt {
    /// The key from which the connector derives provider-side ids: equal for repeated attempts with one client key.
    pub connector_key: String,
    /// An earlier attempt with this key was interrupted: its effect at the provider may exist. Check before writing again.
    pub resumed: bool,
    /// Time at which the first attempt with this key began, ms since 1970; none if unknown, or if this is the first one.
    pub first_at: Option<i64>,
    claim: Option<Arc<RunningClaim>>,
    /// The entry of the audit log about this write.
    entry: Option<Arc<AuditEntry>>,
}

impl IdempotentAttempt {
    pub fn new(connector_key: String, resumed: bool, claim: Option<RunningClaim>) -> Self {
        IdempotentAttempt { connector_key, resumed, first_at: None, claim: claim.map(Arc::new), entry: None }
    }

    /// Returns the same attempt with an entry of the audit log, which `store` writes in the same transaction. The code that ends the claim
    /// after the handler gets the attempt without the entry, because it also stores responses of writes without an effect.
    pub fn audited(&self, entry: AuditEntry) -> Self {
        IdempotentAttempt { entry: Some(Arc::new(entry)), ..self.clone() }
    }

    /// Returns the same attempt without its entry of the audit log: for a change that changed nothing.
    pub fn without_entry(&self) -> Self {
        IdempotentAttempt { entry: None, ..self.clone() }
    }

    /// Returns the same attempt for creating the resource with this id. An audit entry without a target gets it: the id is not known
    /// before.
    pub fn about(&self, id: &str) -> Self {
        let named = |entry: &Arc<AuditEntry>| match entry.target.is_empty() {
            true => Arc::new(AuditEntry { target: id.to_owned(), ..AuditEntry::clone(entry) }),
            false => Arc::clone(entry),
        };
        IdempotentAttempt { entry: self.entry.as_ref().map(named), ..self.clone() }
    }

    /// Returns the same attempt with the time at which the first attempt with its key began, ms since 1970.
    pub fn first_made_at(self, at: Option<i64>) -> Self {
        IdempotentAttempt { first_at: at, ..self }
    }

    /// Returns the claim; it is settled once the response was stored with the effect.
    pub fn claim(&self) -> Option<&RunningClaim> {
        self.claim.as_deref()
    }

    /// Records that a change is about to be sent to a provider: whatever the response, a repetition of the request is a resumed attempt.
    pub fn note_call(&self) {
        if let Some(claim) = &self.claim {
            claim.note_call();
        }
    }

    /// Stores the response and the audit entry; call it last in the effect's transaction. Fails, and so rolls the effect back, if another
    /// attempt has taken the claim over.
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
