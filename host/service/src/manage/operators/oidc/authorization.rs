//! The way of a browser to the provider and back. What it left for stands in a signed cookie, so that a return counts in this browser alone; all
//! other values follow from the cookie's random part by the master key. A return counts once, on whichever host.

use base::error::Result;
use base::keyring::Keyring;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::app::App;
use crate::manage::operators::oidc::claims::{self, ExpectedClaims, IdClaims};
use crate::manage::operators::oidc::discovery;
use crate::manage::operators::oidc::tokens::{self, AuthorizationSecrets};
use crate::manage::operators::oidc::{LEEWAY_MS, OidcFault, OidcProvider, provider, return_url};
use crate::manage::operators::sessions::Session;
use crate::manage::operators::tries;
use storage::operator_identities::OperatorIdentity;

const KIND: &str = "panel-oidc";
/// Time for which a return counts, ms.
const LIFE_MS: i64 = 10 * 60_000;
/// Longest way back that a cookie holds, bytes.
const MAX_NEXT: usize = 200;
/// Characters of an error of the provider that the log shows.
const MAX_SHOWN: usize = 100;

/// The purpose of an authorization.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OidcPurpose {
    /// To sign in.
    SignIn,
    /// To accept an invitation.
    Join,
    /// To give an operator who is signed in this identity.
    Connect,
    /// To prove again who an operator is who is signed in.
    Confirm,
}

/// A browser's way to the provider.
pub struct OidcDeparture {
    /// The address to go to.
    pub url: String,
    /// The value of the cookie that the browser comes back with.
    pub cookie: String,
}

/// The query of a return.
#[derive(Clone, Copy, Debug, Default)]
pub struct OidcReturn<'a> {
    pub state: &'a str,
    pub code: &'a str,
    pub error: &'a str,
    /// RFC 9207; empty where the provider does not send it.
    pub issuer: &'a str,
}

/// The content of the cookie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingAuthorization {
    seed: String,
    pub purpose: OidcPurpose,
    /// The id of the session that left; empty without one.
    session_id: String,
    /// The page to go on to, by its path below `/admin/`.
    pub next: String,
    /// Milliseconds since 1970.
    pub left_at: i64,
}

/// The provider's proof of a person's identity.
#[derive(Clone, Debug)]
pub struct OidcProof {
    pub identity: OperatorIdentity,
    pub claims: IdClaims,
    /// When the browser left for the provider, milliseconds since 1970.
    pub left_at: i64,
}

impl PendingAuthorization {
    fn sealed(&self, keyring: &Keyring) -> String {
        let PendingAuthorization { seed, purpose, session_id, next, left_at } = self;
        keyring.signed(storage::json_text(&(KIND, seed, purpose, session_id, next, left_at)).as_bytes())
    }

    /// The authorization of a cookie. None: it is not one of ours, another session's, or too old.
    pub fn read(app: &App, cookie: &str, session: Option<&Session>) -> Option<PendingAuthorization> {
        let pending = PendingAuthorization::opened(&app.keyring, cookie, app.now())?;
        (pending.session_id == session_id(session)).then_some(pending)
    }

    fn opened(keyring: &Keyring, cookie: &str, now: i64) -> Option<PendingAuthorization> {
        let text = keyring.verified(cookie)?;
        let fields: (String, String, OidcPurpose, String, String, i64) =
            serde_json::from_slice(&text).ok()?;
        let (kind, seed, purpose, session_id, next, left_at) = fields;
        // The clock of the host that it left may be ahead of this one's.
        let is_good = kind == KIND && (-LEEWAY_MS..LIFE_MS).contains(&now.saturating_sub(left_at));
        is_good.then_some(PendingAuthorization { seed, purpose, session_id, next, left_at })
    }

    fn secrets(&self, keyring: &Keyring) -> AuthorizationSecrets {
        let tag = |name: &str| keyring.purpose(name).tag(self.seed.as_bytes());
        AuthorizationSecrets {
            state: tag("oidc-state"),
            nonce: tag("oidc-nonce"),
            verifier: Zeroizing::new(tag("oidc-verifier")),
        }
    }
}

/// The session to which an authorization is bound; that of a sign-in is bound to the browser alone.
fn session_id(session: Option<&Session>) -> &str {
    session.map_or("", |session| session.id.as_str())
}

/// Begins an authorization. `next` is the page to go on to after it.
///
/// # Errors
/// `Unavailable` where the provider does not say where to go, or there is none.
pub async fn begin(
    app: &App,
    purpose: OidcPurpose,
    next: &str,
    session: Option<&Session>,
) -> Result<OidcDeparture, OidcFault> {
    let provider = provider(app).ok_or(OidcFault::Unavailable)?;
    let Ok(_room) = provider.client.room.try_acquire() else { return Err(OidcFault::Unavailable) };
    let metadata = discovery::metadata(app, provider).await?;
    let pending = PendingAuthorization {
        seed: hex::encode(app.entropy.bytes::<16>()),
        purpose,
        session_id: session_id(session).to_owned(),
        next: if next.len() <= MAX_NEXT { next.to_owned() } else { String::new() },
        left_at: app.now(),
    };
    let asks_again = purpose == OidcPurpose::Confirm;
    let secrets = pending.secrets(&app.keyring);
    let url = tokens::authorization_url(provider, &metadata, &return_url(app), &secrets, asks_again)?;
    Ok(OidcDeparture { url: url.to_string(), cookie: pending.sealed(&app.keyring) })
}

/// Completes an authorization: its return is used up, and its code exchanged for the proof of who the person is.
///
/// # Errors
/// Database errors.
pub async fn prove(
    app: &App,
    pending: &PendingAuthorization,
    returned: OidcReturn<'_>,
) -> Result<Result<OidcProof, OidcFault>> {
    if !app.keyring.purpose("oidc-state").is_tag(pending.seed.as_bytes(), returned.state) {
        return Ok(Err(OidcFault::State));
    }
    if !tries::use_up(app, &tries::of_return(app, &pending.seed)).await? {
        return Ok(Err(OidcFault::State));
    }
    let Some(provider) = provider(app) else { return Ok(Err(OidcFault::Unavailable)) };
    Ok(redeem(app, provider, pending, returned).await)
}

async fn redeem(
    app: &App,
    provider: OidcProvider<'_>,
    pending: &PendingAuthorization,
    returned: OidcReturn<'_>,
) -> Result<OidcProof, OidcFault> {
    let issuer = provider.settings.issuer.as_str();
    if !returned.issuer.is_empty() && returned.issuer != issuer {
        tracing::warn!(issuer, "a return to the panel names another OpenID provider");
        return Err(OidcFault::Token);
    }
    match returned.error {
        "" => {}
        "access_denied" => return Err(OidcFault::Declined),
        error => {
            let error: String = error.chars().take(MAX_SHOWN).collect();
            tracing::warn!(issuer, ?error, "the panel's OpenID provider refused an authorization");
            return Err(OidcFault::Refused);
        }
    }
    let Ok(_room) = provider.client.room.try_acquire() else { return Err(OidcFault::Unavailable) };
    let metadata = discovery::metadata(app, provider).await?;
    let secrets = pending.secrets(&app.keyring);
    let (url, code) = (return_url(app), returned.code);
    let issued = tokens::exchange(provider, &metadata, &url, &secrets.verifier, code).await?;
    let expected = ExpectedClaims {
        issuer,
        client_id: &provider.settings.client_id,
        nonce: &secrets.nonce,
        left_at: pending.left_at,
    };
    let mut claims = claims::verify(app, &metadata, &issued.id_token, &expected).await?;
    if pending.purpose == OidcPurpose::Join {
        claims = claims::with_email(provider, &metadata, claims, &issued.access_token).await?;
    }
    let identity = OperatorIdentity { issuer: issuer.to_owned(), subject: claims.sub.clone() };
    Ok(OidcProof { identity, claims, left_at: pending.left_at })
}

#[cfg(test)]
mod tests {
    use base::clock::Entropy;

    use super::*;

    fn keyring(byte: u8) -> Keyring {
        Keyring::new(&[byte; 32], Entropy::seeded(1)).unwrap()
    }

    fn pending() -> PendingAuthorization {
        PendingAuthorization {
            seed: "0f".repeat(16),
            purpose: OidcPurpose::SignIn,
            session_id: "ops_01JQ8Z6V9C4T7R2M5N8P3K1W0X".to_owned(),
            next: "x".repeat(MAX_NEXT),
            left_at: 1_000_000_000_000,
        }
    }

    #[test]
    fn a_cookie_is_ours_and_counts_for_ten_minutes() {
        let (own, pending) = (keyring(7), pending());
        let cookie = pending.sealed(&own);
        assert!(cookie.len() <= 512, "browsers send no more back: {}", cookie.len());
        let opened = |keyring: &Keyring, after| {
            PendingAuthorization::opened(keyring, &cookie, pending.left_at + after)
        };
        assert_eq!(opened(&own, 0).as_ref(), Some(&pending));
        for good in [-LEEWAY_MS, LIFE_MS - 1] {
            assert_eq!(opened(&own, good).as_ref(), Some(&pending), "{good}");
        }
        for over in [-LEEWAY_MS - 1, LIFE_MS] {
            assert_eq!(opened(&own, over), None, "{over}");
        }
        assert_eq!(opened(&keyring(8), 0), None);
        let other = own.signed(b"[\"panel-form\",\"\",\"sign_in\",\"\",\"\",1000000000000]");
        assert_eq!(PendingAuthorization::opened(&own, &other, pending.left_at), None);
    }

    #[test]
    fn values_of_an_authorization_tell_nothing_of_each_other() {
        let secrets = pending().secrets(&keyring(7));
        let all = [secrets.state.as_str(), secrets.nonce.as_str(), secrets.verifier.as_str()];
        assert!(all.iter().all(|value| value.len() == 43), "{all:?}");
        assert!(all[0] != all[1] && all[1] != all[2] && all[0] != all[2]);
        assert_ne!(all[0], pending().secrets(&keyring(8)).state);
    }
}
