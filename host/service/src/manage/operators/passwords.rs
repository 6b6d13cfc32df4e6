//! Passwords of operators: which ones are taken, and their hashes (Argon2id with the parameters that OWASP names as the least). Two are hashed
//! at a time, some wait, and more are refused: sign-ins never take the processors from requests.

use anyhow::anyhow;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use base::error::{Code, Refusal, Result};
use base::input::validate;
use tokio::sync::OwnedSemaphorePermit;

use crate::app::App;

/// Characters of a password.
const MIN_CHARS: usize = 12;
const MAX_CHARS: usize = 1_024;
/// Different characters of a password.
const MIN_DIFFERENT: usize = 6;
/// Characters that a password has beside the address or the name of the product.
const MIN_OWN_CHARS: usize = 6;
/// The name of the product, which everybody tries.
const PRODUCT: &str = "switchboard";

/// Argon2id: memory in KiB, passes, lanes.
const MEMORY_KIB: u32 = 19 * 1_024;
const PASSES: u32 = 2;
const LANES: u32 = 1;

/// A hash that no password has, with the parameters of all others: verifying takes as long for an address that nobody has.
const NO_HASH: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$c3dpdGNoYm9hcmQgc2FsdA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// Room for one hash that runs or waits, until it is dropped.
pub struct HashingRoom {
    _permit: OwnedSemaphorePermit,
}

/// Room for a hash; none when too many wait already.
pub fn room(app: &App) -> Option<HashingRoom> {
    app.hashing_room.clone().try_acquire_owned().ok().map(|permit| HashingRoom { _permit: permit })
}

/// The same for those who can do nothing but try again.
///
/// # Errors
/// `overloaded`.
pub fn room_or_refuse(app: &App) -> Result<HashingRoom> {
    room(app).ok_or_else(|| {
        let message = "too many people sign in at this moment; try again shortly";
        Refusal::new(Code::Overloaded, message).retry_after_s(1).into()
    })
}

/// Refuses what is too long to be hashed.
///
/// # Errors
/// `invalid_parameter`, param `password`.
pub fn check_length(password: &str) -> Result<()> {
    validate::text("password", Some(password), MAX_CHARS)
}

/// Refuses a new password that is too easily guessed.
///
/// # Errors
/// `invalid_parameter`, param `password`.
pub fn check_new(password: &str, email: &str) -> Result<()> {
    check_length(password)?;
    if password.chars().count() < MIN_CHARS {
        return Err(validate::fault("password", "must have at least 12 characters"));
    }
    let mut different: Vec<char> = password.chars().collect();
    different.sort_unstable();
    different.dedup();
    if different.len() < MIN_DIFFERENT {
        return Err(validate::fault("password", "must have at least 6 different characters"));
    }
    let (password, email) = (password.to_lowercase(), email.to_lowercase());
    let (name, _) = email.rsplit_once('@').unwrap_or((email.as_str(), ""));
    let is_own = |word: &str| {
        !word.is_empty()
            && password.contains(word)
            && password.replace(word, "").chars().count() < MIN_OWN_CHARS
    };
    if is_own(&email) || is_own(name) || is_own(PRODUCT) {
        return Err(validate::fault(
            "password",
            "must be more than your email address or the name of this product",
        ));
    }
    Ok(())
}

/// The hash of a password as a PHC string. `name` tells who waits for whom: of one name one is hashed at a time.
pub async fn hash(app: &App, _room: &HashingRoom, name: &str, password: &str) -> Result<String> {
    let salt = app.entropy.bytes::<16>();
    let hashed = app.hashing.run_heavy(name, || {
        let hash = argon2()?.hash_password_with_salt(password.as_bytes(), &salt);
        hash.map(|hash| hash.to_string()).map_err(|e| anyhow!("cannot hash a password: {e}"))
    });
    Ok(hashed.await?)
}

/// Whether this is the password of the hash. Without a hash it takes as long, and is never right.
pub async fn verify(
    app: &App,
    _room: &HashingRoom,
    name: &str,
    password: &str,
    hash: Option<&str>,
) -> Result<bool> {
    let expected = hash.unwrap_or(NO_HASH);
    let verified = app.hashing.run_heavy(name, || {
        let verified: argon2::password_hash::Result<()> =
            argon2()?.verify_password(password.as_bytes(), expected);
        match verified {
            Ok(()) => Ok(true),
            Err(argon2::password_hash::Error::PasswordInvalid) => Ok(false),
            Err(e) => Err(anyhow!("the stored hash of a password cannot be used: {e}")),
        }
    });
    Ok(verified.await? && hash.is_some())
}

fn argon2() -> anyhow::Result<Argon2<'static>> {
    let params = Params::new(MEMORY_KIB, PASSES, LANES, None).map_err(|e| anyhow!("Argon2: {e}"))?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashed(password: &str) -> String {
        let hash = argon2().unwrap().hash_password_with_salt(password.as_bytes(), b"sixteen bytes ok");
        hash.unwrap().to_string()
    }

    fn is_right(password: &str, hash: &str) -> bool {
        let verified: argon2::password_hash::Result<()> =
            argon2().unwrap().verify_password(password.as_bytes(), hash);
        verified.is_ok()
    }

    #[test]
    fn a_hash_names_its_parameters_and_is_of_one_password() {
        let hash = hashed("correct horse battery");
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        assert!(is_right("correct horse battery", &hash));
        assert!(!is_right("correct horse battery ", &hash));
    }

    #[test]
    fn the_hash_of_nobody_is_a_hash_that_no_password_has() {
        let verified: argon2::password_hash::Result<()> =
            argon2().unwrap().verify_password(b"correct horse battery", NO_HASH);
        assert!(matches!(verified, Err(argon2::password_hash::Error::PasswordInvalid)));
        let parameters = |hash: &str| hash.split('$').take(4).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(parameters(NO_HASH), parameters(&hashed("correct horse battery")), "it takes as long");
    }

    #[test]
    fn new_passwords_are_long_and_not_what_everybody_tries() {
        let email = "ada.lovelace@example.com";
        for good in ["correct horse battery", "пароль, который длинный", "switchboard of my own"]
        {
            assert!(check_new(good, email).is_ok(), "{good}");
        }
        let long = "x1y2z3".repeat(171);
        for bad in [
            "elevenchars",
            "aaaaaaaaaaaabbbb",
            "Switchboard1!",
            "ada.lovelace@example.com",
            "ADA.LOVELACE@example.com12",
            "ada.lovelace99",
            long.as_str(),
        ] {
            let param = match check_new(bad, email) {
                Err(base::error::Error::Refused(refusal)) => refusal.param,
                _ => None,
            };
            assert_eq!(param.as_deref(), Some("password"), "{bad}");
        }
    }
}
