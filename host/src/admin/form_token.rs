//! Tokens of forms. A token is of this service and of one session, or of the cookie that a visitor has before one: a form that another site
//! wrote has none. Each page has tokens of its own, so that nothing of a token can be guessed from the length of compressed pages; the random
//! part is the idempotency key of what the form does, so that a form that is sent twice acts once.

use base::keyring::Keyring;
use service::app::App;
use sha2::{Digest, Sha256};

/// Name of the field of a form that holds its token.
pub const TOKEN: &str = "token";
const KIND: &str = "panel-form";
/// Time for which a form can be sent, ms. Shorter than answers of claims are kept: no form acts twice.
const LIFE_MS: i64 = 12 * 60 * 60_000;

/// A new token for a form that is sent with this cookie.
pub fn new_token(app: &App, cookie: &str) -> String {
    let nonce = hex::encode(app.entropy.bytes::<16>());
    app.keyring.signed(storage::json_text(&(nonce, KIND, app.now(), bound_to(cookie))).as_bytes())
}

/// The random part of a token that was made for this cookie, and not too long ago; none of any other text.
pub fn nonce(app: &App, cookie: &str, token: &str) -> Option<String> {
    read(&app.keyring, app.now(), cookie, token)
}

fn read(keyring: &Keyring, now: i64, cookie: &str, token: &str) -> Option<String> {
    let text = keyring.verified(token)?;
    let (nonce, kind, made_at, bound): (String, String, i64, String) = serde_json::from_slice(&text).ok()?;
    let is_good = kind == KIND && bound == bound_to(cookie) && (0..LIFE_MS).contains(&(now - made_at));
    is_good.then_some(nonce)
}

/// The part of a token that ties it to its cookie.
fn bound_to(cookie: &str) -> String {
    hex::encode(&Sha256::digest([b"panel-form/".as_slice(), cookie.as_bytes()].concat())[..16])
}

#[cfg(test)]
mod tests {
    use base::clock::Entropy;

    use super::*;

    fn keyring() -> Keyring {
        Keyring::new(&[7; 32], Entropy::seeded(1)).unwrap()
    }

    fn signed(kind: &str, made_at: i64, cookie: &str) -> String {
        keyring().signed(storage::json_text(&("n", kind, made_at, bound_to(cookie))).as_bytes())
    }

    #[test]
    fn a_token_is_of_one_cookie_and_of_half_a_day() {
        let nonce = |now, cookie, token: &str| read(&keyring(), now, cookie, token);
        let token = signed(KIND, 1_000, "one");
        assert_eq!(nonce(1_000, "one", &token).as_deref(), Some("n"));
        assert_eq!(nonce(1_000 + LIFE_MS - 1, "one", &token).as_deref(), Some("n"));
        assert_eq!(nonce(1_000 + LIFE_MS, "one", &token), None);
        assert_eq!(nonce(999, "one", &token), None, "it was made later");
        assert_eq!(nonce(1_000, "other", &token), None);
        assert_eq!(nonce(1_000, "one", &signed("booking-form", 1_000, "one")), None);
        assert_eq!(nonce(1_000, "one", ""), None);
    }
}
