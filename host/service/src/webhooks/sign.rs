//! Signatures of notifications (Standard Webhooks): `v1` is an HMAC-SHA256 with a secret that the receiver shares, `v1a` an Ed25519
//! signature that the receiver verifies with a public key. The signed text is `id.timestamp.body`.

use std::ops::RangeInclusive;

use anyhow::{Context, anyhow};
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use http::HeaderValue;
use sha2::Sha256;
use zeroize::Zeroizing;

/// Prefixes of shared secrets, private and public keys.
const SECRET: &str = "whsec_";
const PRIVATE_KEY: &str = "whsk_";
const PUBLIC_KEY: &str = "whpk_";

/// Length of a shared secret, bytes.
const SECRET_BYTES: RangeInclusive<usize> = 24..=64;
/// Length of a generated secret, bytes.
pub const NEW_SECRET_BYTES: usize = 32;
/// Bytes of the seed of an Ed25519 key pair (RFC 8032).
pub const SEED_BYTES: usize = 32;

/// The keys that sign the notifications of one webhook.
pub struct SigningKeys {
    /// One for each secret, already keyed.
    macs: Vec<Hmac<Sha256>>,
    pair: Option<Ed25519KeyPair>,
}

impl SigningKeys {
    /// `secrets` are `whsec_…`, newest first: each adds a signature. `private_key` is `whsk_…`, and adds one more.
    pub fn new(secrets: &[String], private_key: Option<&str>) -> anyhow::Result<SigningKeys> {
        let mac = |secret: &String| {
            let key = parse_secret(secret).map_err(|why| anyhow!("the secret of a webhook {why}"))?;
            Ok(<Hmac<Sha256> as KeyInit>::new_from_slice(&key).expect("HMAC takes a key of any length"))
        };
        Ok(SigningKeys {
            macs: secrets.iter().map(mac).collect::<anyhow::Result<_>>()?,
            pair: private_key.map(key_pair).transpose()?,
        })
    }
}

/// The value of the header `webhook-signature`: all signatures, separated by spaces. `at_s` is the time of the attempt, in seconds since
/// 1970.
pub fn signatures(keys: &SigningKeys, id: &str, at_s: i64, body: &[u8]) -> HeaderValue {
    let head = format!("{id}.{at_s}.");
    let mut all: Vec<String> = Vec::with_capacity(keys.macs.len() + 1);
    for mac in &keys.macs {
        // Updated in parts, so that the body is not copied for each secret.
        let signature = mac.clone().chain_update(head.as_bytes()).chain_update(body).finalize().into_bytes();
        all.push(format!("v1,{}", BASE64_STANDARD.encode(signature)));
    }
    if let Some(pair) = &keys.pair {
        // Ed25519 reads the message twice, so it needs it in one piece.
        let signature = pair.sign(&[head.as_bytes(), body].concat());
        all.push(format!("v1a,{}", BASE64_STANDARD.encode(signature)));
    }
    HeaderValue::try_from(all.join(" ")).expect("base64 is good for a header")
}

/// Decodes the key in a secret, given or generated. The error is the end of a sentence that begins with the field's name.
pub fn parse_secret(text: &str) -> Result<Zeroizing<Vec<u8>>, &'static str> {
    let coded = text.strip_prefix(SECRET).ok_or("must begin with \"whsec_\"")?;
    let key = BASE64_STANDARD.decode(coded).map(Zeroizing::new);
    let key = key.map_err(|_| "must be \"whsec_\" and base64 (RFC 4648, section 4, with padding)")?;
    match SECRET_BYTES.contains(&key.len()) {
        true => Ok(key),
        false => Err("must be \"whsec_\" and the base64 of 24 to 64 bytes"),
    }
}

/// The text of a secret with this key.
pub fn secret(key: &[u8; NEW_SECRET_BYTES]) -> Zeroizing<String> {
    Zeroizing::new(format!("{SECRET}{}", BASE64_STANDARD.encode(key)))
}

/// Returns the private key (`whsk_…`) with this seed, to be encrypted, and the public key (`whpk_…`) for receivers.
pub fn new_key_pair(seed: &[u8; SEED_BYTES]) -> anyhow::Result<(Zeroizing<String>, String)> {
    let private_key = Zeroizing::new(format!("{PRIVATE_KEY}{}", BASE64_STANDARD.encode(seed)));
    let pair = key_pair(&private_key)?;
    let public_key = format!("{PUBLIC_KEY}{}", BASE64_STANDARD.encode(pair.public_key()));
    Ok((private_key, public_key))
}

fn key_pair(private_key: &str) -> anyhow::Result<Ed25519KeyPair> {
    let coded = private_key.strip_prefix(PRIVATE_KEY).context("a private key begins with \"whsk_\"")?;
    let seed = Zeroizing::new(BASE64_STANDARD.decode(coded).context("a private key is not base64")?);
    let seed = Some(seed).filter(|seed| seed.len() == SEED_BYTES).context("a private key has 32 bytes")?;
    Ed25519KeyPair::from_seed_unchecked(&seed).map_err(|e| anyhow!("a private key is not usable: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification's reference libraries.
    const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    const AT_S: i64 = 1_614_265_330;
    const BODY: &[u8] = b"{\"test\": 2432232314}";
    const KEY: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const SIGNATURE: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

    /// The bytes 0 to 31.
    fn counted() -> [u8; 32] {
        std::array::from_fn(|n| u8::try_from(n).unwrap())
    }

    #[test]
    fn a_signature_is_that_of_the_reference_libraries() {
        let keys = SigningKeys::new(&[KEY.to_owned()], None).unwrap();
        assert_eq!(signatures(&keys, ID, AT_S, BODY), SIGNATURE);
    }

    #[test]
    fn every_secret_signs_newest_first() {
        let newer = secret(&counted()).to_string();
        assert_eq!(newer, "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
        let keys = SigningKeys::new(&[newer, KEY.to_owned()], None).unwrap();
        let both = format!("v1,O4Gjv1HqPqsMrjmczoggs/sWA8gZD0VyHG+fLh4+ktI= {SIGNATURE}");
        assert_eq!(signatures(&keys, ID, AT_S, BODY), both.as_str());
    }

    /// Made with Python's `cryptography`.
    #[test]
    fn an_asymmetric_signature_follows_the_others() {
        let (private_key, public_key) = new_key_pair(&counted()).unwrap();
        assert_eq!(public_key, "whpk_A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=");
        let keys = SigningKeys::new(&[KEY.to_owned()], Some(private_key.as_str())).unwrap();
        let signature =
            "v1a,yoUrgEkc12aGqm0n4Sydmdz55xJfTz4AsAgieHFjmkR7LJtqVCZOQYzvvHjI5kAey+r4iaBGxTFRrl2iBQxtDQ==";
        assert_eq!(signatures(&keys, ID, AT_S, BODY), format!("{SIGNATURE} {signature}").as_str());
    }

    #[test]
    fn a_secret_is_24_to_64_bytes() {
        let of = |bytes: usize| format!("whsec_{}", BASE64_STANDARD.encode(vec![7_u8; bytes]));
        for (text, is_good) in [
            (of(23), false),
            (of(24), true),
            (of(64), true),
            (of(65), false),
            ("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".to_owned(), false),
            ("whsec_not base64 at all, but long enough".to_owned(), false),
        ] {
            assert_eq!(parse_secret(&text).is_ok(), is_good, "{text}");
        }
        assert!(SigningKeys::new(&[KEY.to_owned()], Some("whsk_AAEC")).is_err());
    }
}
