//! Connecting an account by OAuth 2.0 (RFC 6749, section 4.1): the URL to send the user to (`start`), the user's return (`callback`), its
//! storage (`reconnection`, `commit`, `authorized_account`), and the response to it (`outcome`). A client that requested a code exchanges it
//! (`exchange`), or the account is dropped (`unredeemed`).

mod authorized_account;
mod callback;
mod commit;
mod exchange;
mod outcome;
mod reconnection;
mod start;
mod unmatched_return;
mod unredeemed;

use std::collections::BTreeMap;
use std::fmt;

use anyhow::Context;
use base::error::Result;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use storage::authorizations::PendingAuthorization;

use crate::app::App;

pub use callback::callback;
pub use exchange::{CodeRequest, exchange};
pub use outcome::{CallbackOutcome, PageReason};
pub use start::{ReturnTo, StartOptions, start};
pub use unredeemed::EXPIRE_CODE;

/// Lifetime of an authorization, in milliseconds.
const LIFETIME_MS: i64 = 10 * 60_000;

/// Lifetime of a client's code, in milliseconds.
const CODE_LIFETIME_MS: i64 = 60_000;

/// The query parameters of a user's return (RFC 6749, section 4.1.2; RFC 9207). The caller has checked that each occurs at most once and is
/// not too long.
#[derive(Clone, Default)]
pub struct CallbackParams {
    pub code: Option<String>,
    pub state: Option<String>,
    pub iss: Option<String>,
    pub error: Option<String>,
    /// `True` in the return of an administrator who was asked to approve the client for an organization ("Admin consent on the Microsoft
    /// identity platform").
    pub admin_consent: Option<String>,
    /// The response is JSON and not for a browser.
    pub wants_json: bool,
}

// A manual implementation, so that no log line can hold a secret.
impl fmt::Debug for CallbackParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CallbackParams(..)")
    }
}

/// The content of `authorizations.secrets` until the authorization ends, before sealing.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Secrets {
    /// PKCE (RFC 7636, section 4.1) between this host and the provider.
    verifier: String,
    /// OpenID Connect Core, section 3.1.2.1; only where the identity comes from the `id_token`.
    nonce: Option<String>,
    /// The client's own `state`, which is returned to it.
    client_state: Option<String>,
}

impl Secrets {
    fn seal(&self, app: &App, state_hash: &str, organization_id: &str) -> Result<String> {
        let text = serde_json::to_vec(self)?;
        Ok(app.keyring.seal(&place(state_hash, organization_id), &text)?)
    }

    /// Opens the secrets of an authorization that has not ended.
    fn open(app: &App, pending: &PendingAuthorization) -> Result<Secrets> {
        let place = place(&pending.state_hash, &pending.tenant.organization_id);
        let text = app.keyring.open(&place, &pending.secrets)?;
        Ok(serde_json::from_slice(&text).context("the secrets of an authorization")?)
    }
}

/// Returns the context that sealed secrets are bound to.
fn place(state_hash: &str, organization_id: &str) -> String {
    format!("authorizations.secrets:{state_hash}:{organization_id}")
}

/// The content of `authorizations.options`.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct AuthorizationOptions {
    /// The tags of the connection to create.
    tags: BTreeMap<String, String>,
    /// The client id of the authorization request: the code is exchanged with no other.
    client_id: String,
    /// Whether the application's connection of the same account, if there is one, gets the new grant.
    reconnects: bool,
}

/// Returns 32 random bytes as text: 43 characters, the minimum of a PKCE verifier (RFC 7636, section 4.1).
fn random_text(app: &App) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(app.entropy.bytes::<32>())
}
