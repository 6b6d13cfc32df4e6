//! Connecting an account by OAuth 2.0 (RFC 6749, section 4.1): the address to send the user to (`start`), the user's return (`callback`),
//! what is stored of it (`commit`, `authorized_account`), and what the return is answered with (`outcome`). A client that asked for a code
//! exchanges it (`exchange`), or the account is dropped (`unredeemed`).

mod authorized_account;
mod callback;
mod commit;
mod exchange;
mod outcome;
mod start;
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
pub use start::{ReturnTo, start};
pub use unredeemed::EXPIRE_CODE;

/// How long an authorization can be finished, in milliseconds.
const LIFETIME_MS: i64 = 10 * 60_000;

/// How long a client can exchange the code that it is sent, in milliseconds.
const CODE_LIFETIME_MS: i64 = 60_000;

/// What a user's return has in its query (RFC 6749, section 4.1.2; RFC 9207). The caller has checked that each is there once at
/// most and no longer than it may be.
#[derive(Clone, Default)]
pub struct CallbackParams {
    pub code: Option<String>,
    pub state: Option<String>,
    pub iss: Option<String>,
    pub error: Option<String>,
    /// The answer is JSON and not for a browser.
    pub wants_json: bool,
}

// Written by hand so that no log line can hold a secret.
impl fmt::Debug for CallbackParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CallbackParams(..)")
    }
}

/// What is sealed in `authorizations.secrets` until the authorization ends.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Secrets {
    /// PKCE (RFC 7636, section 4.1) between this host and the provider.
    verifier: String,
    /// OpenID Connect Core, section 3.1.2.1; only where the identity comes from the `id_token`.
    nonce: Option<String>,
    /// The client's own `state`, which it gets back.
    client_state: Option<String>,
}

impl Secrets {
    fn seal(&self, app: &App, state_hash: &str, organization_id: &str) -> Result<String> {
        let text = serde_json::to_vec(self)?;
        Ok(app.keyring.seal(&place(state_hash, organization_id), &text)?)
    }

    /// Opens the secrets of an authorization that is not finished.
    fn open(app: &App, pending: &PendingAuthorization) -> Result<Secrets> {
        let place = place(&pending.state_hash, &pending.tenant.organization_id);
        let text = app.keyring.open(&place, &pending.secrets)?;
        Ok(serde_json::from_slice(&text).context("the secrets of an authorization")?)
    }
}

/// Where sealed secrets belong.
fn place(state_hash: &str, organization_id: &str) -> String {
    format!("authorizations.secrets:{state_hash}:{organization_id}")
}

/// What is kept in `authorizations.options`.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct AuthorizationOptions {
    /// Of the connection to make.
    tags: BTreeMap<String, String>,
    /// The client id that the user was sent with: a code is exchanged with no other.
    client_id: String,
}

/// 32 random bytes as text: 43 characters, which is also what a PKCE verifier has to have (RFC 7636, section 4.1).
fn random_text(app: &App) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(app.entropy.bytes::<32>())
}
