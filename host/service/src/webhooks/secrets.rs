//! Encrypted fields of a subscription: secrets, signing key and headers. Each can only be decrypted in its own column of its own row.

use std::collections::BTreeMap;

use base::error::Result;
use base::input::validate;
use model::webhook::SignatureVersion;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use storage::webhooks::Webhook;

use crate::app::App;
use crate::webhooks::sign;

/// Most earlier secrets that sign beside the current one; beyond it the oldest stop.
const MAX_PREVIOUS: usize = 10;

/// An earlier secret.
#[derive(Serialize, Deserialize)]
struct SealedPreviousSecret {
    secret: String,
    /// End of its validity, Unix ms.
    until: i64,
}

fn place(column: &str, id: &str) -> String {
    format!("webhooks.{column}:{id}")
}

fn seal_json(app: &App, column: &str, id: &str, value: &impl Serialize) -> Result<String> {
    Ok(app.keyring.seal(&place(column, id), &serde_json::to_vec(value)?)?)
}

fn open_json<T: DeserializeOwned>(app: &App, column: &str, id: &str, sealed: &str) -> Result<T> {
    Ok(serde_json::from_slice(&app.keyring.open(&place(column, id), sealed)?)?)
}

/// The headers that are sent with each notification.
pub fn headers(app: &App, w: &Webhook) -> Result<BTreeMap<String, String>> {
    open_json(app, "headers", &w.id, &w.headers)
}

/// Replaces the headers that are sent with each notification.
pub fn set_headers(app: &App, w: &mut Webhook, headers: &BTreeMap<String, String>) -> Result<()> {
    w.headers = seal_json(app, "headers", &w.id, headers)?;
    Ok(())
}

/// Gives a new subscription its secret: the given one, or one made here. Returns it.
pub fn begin(app: &App, w: &mut Webhook, given: Option<String>) -> Result<String> {
    let secret = choose_secret(app, given)?;
    w.secret = app.keyring.seal(&place("secret", &w.id), secret.as_bytes())?;
    w.previous_secrets = seal_json(app, "previous_secrets", &w.id, &Vec::<SealedPreviousSecret>::new())?;
    Ok(secret)
}

/// Replaces the secret of a subscription by the given or a generated one. The current secret signs beside it for `grace_s` seconds; without
/// a grace period it ends at once, together with all earlier ones. Returns the new one.
pub fn rotate(app: &App, w: &mut Webhook, given: Option<String>, grace_s: i64) -> Result<String> {
    let secret = choose_secret(app, given)?;
    let present = app.keyring.open(&place("secret", &w.id), &w.secret)?;
    if grace_s == 0 {
        end_previous(app, w)?;
    }
    if present.as_slice() == secret.as_bytes() {
        return Ok(secret);
    }
    let now = app.now();
    let mut previous: Vec<SealedPreviousSecret> =
        open_json(app, "previous_secrets", &w.id, &w.previous_secrets)?;
    previous.retain(|p| p.until > now && p.secret != secret);
    if grace_s > 0 {
        let present = String::from_utf8_lossy(&present).into_owned();
        previous.insert(0, SealedPreviousSecret { secret: present, until: now + grace_s * 1_000 });
        previous.truncate(MAX_PREVIOUS);
    }
    w.secret = app.keyring.seal(&place("secret", &w.id), secret.as_bytes())?;
    w.previous_secrets = seal_json(app, "previous_secrets", &w.id, &previous)?;
    Ok(secret)
}

/// Ends all earlier secrets of a subscription: only the current one signs.
pub fn end_previous(app: &App, w: &mut Webhook) -> Result<()> {
    let previous: Vec<SealedPreviousSecret> = open_json(app, "previous_secrets", &w.id, &w.previous_secrets)?;
    if !previous.is_empty() {
        w.previous_secrets = seal_json(app, "previous_secrets", &w.id, &Vec::<SealedPreviousSecret>::new())?;
    }
    Ok(())
}

fn choose_secret(app: &App, given: Option<String>) -> Result<String> {
    match given {
        None => Ok(sign::secret(&app.entropy.bytes()).to_string()),
        Some(secret) => match sign::parse_secret(&secret) {
            Ok(_) => Ok(secret),
            Err(why) => Err(validate::fault("secret", why)),
        },
    }
}

/// Adds a key pair if the subscription uses `v1a`, and removes it otherwise.
pub fn set_key_pair(app: &App, w: &mut Webhook) -> Result<()> {
    let is_wanted = w.signatures.contains(&SignatureVersion::V1a);
    if is_wanted && w.signing_key.is_none() {
        let (private_key, public_key) = sign::new_key_pair(&app.entropy.bytes())?;
        w.signing_key = Some(app.keyring.seal(&place("signing_key", &w.id), private_key.as_bytes())?);
        w.public_key = Some(public_key);
    } else if !is_wanted {
        (w.signing_key, w.public_key) = (None, None);
    }
    Ok(())
}
