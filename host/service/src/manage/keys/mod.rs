//! API keys: made, rotated, revoked. A rotation gives a key another secret: its id, and everything that rests on it, stays.

pub mod admin_keys;
pub mod agent;
pub mod restrictions;

use base::clock::{Clock, Entropy};
use base::error::{Code, Error, Result, invalid, not_found, refuse};
use base::ids::{self, Kind};
use base::keyring;
use base::tenant::Tenant;
use model::Instant;
use model::application::NewApiKey;
use model::bounds::access::MAX_OVERLAP_S;
use serde_json::{Value, json};
use storage::Tx;
use storage::api_keys::{self, ApiKey, KeyKind};
use storage::key_revocations::{self, KeyWebhooks};
use storage::{old_secrets, organizations};

use crate::app::App;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::manage::keys::restrictions::{ensure_within, restrict};

/// Requests per minute of a key that is given no limit.
pub const RATE_LIMIT: i64 = 1_000;
/// Seconds for which the secret before a rotation still works if the request names no number.
pub const DEFAULT_OVERLAP_S: i64 = 86_400;

/// A request for a new key.
pub struct KeyRequest {
    pub new: NewApiKey,
    /// Warnings about the request, which the answer repeats.
    pub warnings: Vec<Value>,
}

/// A request for a rotation.
pub struct SecretRotation {
    /// Seconds for which the present secret goes on working: 0 to `MAX_OVERLAP_S`.
    pub overlap_s: i64,
    /// Warnings about the request, which the answer repeats.
    pub warnings: Vec<Value>,
}

/// A key of an application that is to be changed.
#[derive(Clone, Debug)]
pub struct KeyTarget {
    pub tenant: Tenant,
    /// The key whose descendants, and itself, are the only ones that can be changed. None: all of the application.
    pub family: Option<String>,
    pub id: String,
}

/// The answer that shows a secret, this once.
pub struct NewSecret {
    /// The key's id.
    pub id: String,
    /// Its JSON has the secret in `key`.
    pub answer: StoredResponse,
}

/// A key with its new secret's beginning and end, and the end of the secret before.
pub struct RotatedKey {
    pub key: ApiKey,
    /// When the old secret stops working, in milliseconds since 1970.
    pub previous_expires_at: i64,
}

impl RotatedKey {
    /// The key as the API and `switchboard keys rotate` print it, with its secret.
    pub fn json(&self, secret: &str) -> Value {
        let mut shown = self.key.json();
        shown["key"] = json!(secret);
        shown["previousExpiresAt"] = json!(Instant::from_millis(self.previous_expires_at));
        shown
    }
}

impl KeyTarget {
    /// The key, which fails with `not_found` where there is none.
    async fn load(&self, tx: &mut Tx) -> Result<ApiKey> {
        let found = api_keys::find(&mut *tx, &self.tenant, self.family.as_deref(), &self.id).await?;
        found.ok_or_else(|| not_found("API key"))
    }
}

/// Makes a key with at most the rights of its maker, in the maker's application.
///
/// # Errors
/// Names the field that is wrong, or wider than the maker has it.
pub async fn create(
    app: &App,
    maker: &ApiKey,
    mut request: KeyRequest,
    attempt: &IdempotentAttempt,
) -> Result<NewSecret> {
    let now = app.now();
    restrict(&mut request.new, maker, now)?;
    let KeyRequest { new, warnings } = request;
    let is_test = organizations::is_test_application(app.db.reader(), &maker.tenant.application_id).await?;
    let made = app.keyring.new_key_of_application(is_test);
    let key = ApiKey {
        tenant: maker.tenant.clone(),
        scopes: new.scopes,
        allowed_domains: new.allowed_domains,
        allowed_ips: new.allowed_ips,
        connection_ids: new.connection_ids,
        rate_limit_per_minute: new.rate_limit_per_minute.unwrap_or(maker.rate_limit_per_minute),
        expires_at: new.expires_at.map(Instant::as_millis),
        created_by: Some(maker.id.clone()),
        agent: new.agent,
        ..unsaved(&app.clock, &app.entropy, &made, new.name)
    };
    let id = key.id.clone();
    let mut body = key.json();
    body["key"] = json!(made.key);
    let answer = StoredResponse::created(body.to_string())
        .warned(&warnings)
        .header("location", format!("/v1/api-keys/{id}"));
    let (hash, kept, keyed, attempt) = (made.hash, answer.clone(), app.clone(), attempt.about(&id));
    app.db
        .write(move |tx| {
            Box::pin(async move {
                api_keys::insert(tx, &key, &hash).await?;
                attempt.store(tx, &keyed.keyring, &kept, now).await?;
                Ok::<_, Error>(())
            })
        })
        .await?;
    app.sites.clear();
    Ok(NewSecret { id, answer })
}

/// A key that may do nothing yet, of no application yet.
pub fn unsaved(clock: &Clock, entropy: &Entropy, new: &keyring::NewApiKey, name: String) -> ApiKey {
    ApiKey {
        id: ids::new(Kind::ApiKey, clock, entropy),
        tenant: Tenant { organization_id: String::new(), application_id: String::new() },
        name,
        prefix: new.prefix.clone(),
        last4: new.last4.clone(),
        scopes: Vec::new(),
        allowed_domains: Vec::new(),
        allowed_ips: Vec::new(),
        connection_ids: Vec::new(),
        rate_limit_per_minute: RATE_LIMIT,
        expires_at: None,
        last_used_at: None,
        last_used_ip: None,
        created_by: None,
        revoked_at: None,
        created_at: clock.now_ms(),
        kind: KeyKind::Key,
        grant_id: None,
        agent: None,
    }
}

/// Gives a key another secret, for `asker` to learn: itself, or a key with at most its rights. The present secret works beside it for a time;
/// other hosts refuse it within a second after that.
///
/// # Errors
/// `not_found`; `insufficient_scope` and `forbidden` for a key that may do more than `asker`; `invalid_parameter` of `overlapSeconds`;
/// `invalid_state` as `replace_secret`.
pub async fn rotate(
    app: &App,
    asker: &ApiKey,
    target: &KeyTarget,
    rotation: SecretRotation,
    attempt: &IdempotentAttempt,
) -> Result<NewSecret> {
    let SecretRotation { overlap_s, warnings } = rotation;
    if !(0..=MAX_OVERLAP_S).contains(&overlap_s) {
        let message = format!("overlapSeconds must be from 0 to {MAX_OVERLAP_S} (7 days)");
        return Err(invalid(Code::InvalidParameter, "overlapSeconds", message));
    }
    let (now, id) = (app.now(), target.id.clone());
    let (target, asker, keyed, attempt) = (target.clone(), asker.clone(), app.clone(), attempt.clone());
    let answer = app
        .db
        .write(move |tx| {
            Box::pin(async move {
                let key = target.load(tx).await?;
                if key.id != asker.id {
                    ensure_within(&key, &asker)?;
                }
                let made = keyed.keyring.new_key_of_application(key.is_test());
                let rotated = replace_secret(tx, &key, &made, overlap_s, now).await?;
                let answer = StoredResponse::ok(rotated.json(&made.key).to_string()).warned(&warnings);
                attempt.store(tx, &keyed.keyring, &answer, now).await?;
                Ok::<_, Error>(answer)
            })
        })
        .await?;
    app.keys.clear();
    Ok(NewSecret { id, answer })
}

/// Replaces the secret of a key. The present one works for `overlap_s` seconds more; with 0 it ends at once, and so does one that an earlier
/// rotation left.
///
/// # Errors
/// `invalid_state`: the key is an access token, revoked or expired, or the overlap of an earlier rotation is under way and another one is
/// asked for.
pub async fn replace_secret(
    tx: &mut Tx,
    key: &ApiKey,
    new: &keyring::NewApiKey,
    overlap_s: i64,
    now: i64,
) -> Result<RotatedKey> {
    if key.is_token() {
        let message = "an access token cannot be rotated: request a new one";
        return Err(refuse(Code::InvalidState, message));
    }
    if key.expires_at.is_some_and(|at| at <= now) {
        return Err(refuse(Code::InvalidState, "this API key has expired: create a new one"));
    }
    // From here on the row is locked: of two rotations at once the second one finds the overlap of the first.
    if !api_keys::hold(tx, &key.tenant, &key.id).await? {
        return Err(refuse(Code::InvalidState, "this API key was revoked: create a new one"));
    }
    if overlap_s == 0 {
        old_secrets::remove_of_key(tx, &key.id).await?;
    } else if let Some(old) = old_secrets::find(&mut *tx, &key.id, now).await? {
        let until = Instant::from_millis(old.expires_at);
        let message = format!(
            "the old secret of the last rotation works until {until}: rotate again after that, or with overlapSeconds 0 to end both secrets now"
        );
        return Err(refuse(Code::InvalidState, message));
    }
    let overlap_ends_at = now + overlap_s * 1_000;
    if overlap_s > 0 {
        old_secrets::keep_present(tx, &key.id, now, overlap_ends_at).await?;
    }
    api_keys::set_secret(tx, &key.id, new).await?;
    let key = ApiKey { prefix: new.prefix.clone(), last4: new.last4.clone(), ..key.clone() };
    let previous_expires_at = key.expires_at.map_or(overlap_ends_at, |at| at.min(overlap_ends_at));
    Ok(RotatedKey { key, previous_expires_at })
}

/// Ends the overlap of a rotation: from now on the present secret alone works. Nothing changes outside an overlap.
pub async fn end_old_secrets(
    app: &App,
    target: &KeyTarget,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let answer = StoredResponse::no_content();
    let (target, keyed, attempt, kept, now) =
        (target.clone(), app.clone(), attempt.clone(), answer.clone(), app.now());
    app.db
        .write(move |tx| {
            Box::pin(async move {
                let key = target.load(tx).await?;
                let removed = old_secrets::remove_of_key(tx, &key.id).await?;
                let attempt = if removed == 0 { attempt.without_entry() } else { attempt };
                attempt.store(tx, &keyed.keyring, &kept, now).await?;
                Ok::<_, Error>(())
            })
        })
        .await?;
    app.keys.clear();
    Ok(answer)
}

/// Revokes a key for good, with its old secrets, access tokens and grants.
pub async fn revoke(
    app: &App,
    target: &KeyTarget,
    webhooks: KeyWebhooks,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let answer = StoredResponse::no_content();
    let (target, keyed, attempt, kept, now) =
        (target.clone(), app.clone(), attempt.clone(), answer.clone(), app.now());
    app.db
        .write(move |tx| {
            Box::pin(async move {
                let key = target.load(tx).await?;
                key_revocations::revoke(tx, &key.tenant, &key.id, webhooks, now).await?;
                let attempt = if key.revoked_at.is_some() { attempt.without_entry() } else { attempt };
                attempt.store(tx, &keyed.keyring, &kept, now).await?;
                Ok::<_, Error>(())
            })
        })
        .await?;
    app.keys.clear();
    app.sites.clear();
    Ok(answer)
}

/// Whether a key works at `now`: `active`, `expired` or `revoked`.
pub fn state(key: &ApiKey, now: i64) -> &'static str {
    match key {
        _ if key.revoked_at.is_some() => "revoked",
        _ if key.expires_at.is_some_and(|at| at <= now) => "expired",
        _ => "active",
    }
}
