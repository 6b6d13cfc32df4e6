//! Parses a JSON Web Key Set (RFC 7517): its keys that can verify signatures, the algorithm of each, and how long the set may be cached.

use std::sync::Arc;

use http::HeaderMap;
use http::header::{AGE, CACHE_CONTROL};
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyOperations, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde::Deserialize;
use serde_json::Value;

/// Number of keys of a set that are read; the others are ignored. Providers publish two to ten.
const MAX_KEYS: usize = 100;
/// Lifetime of a set without `Cache-Control`, ms.
const DEFAULT_LIFETIME_MS: i64 = 3_600_000;
/// Bounds of the lifetime that `Cache-Control` gives, ms.
const MIN_LIFETIME_MS: i64 = 5 * 60_000;
const MAX_LIFETIME_MS: i64 = 24 * 3_600_000;

/// Algorithms of RSA keys. The first one is the default.
const RSA_ALGORITHMS: [Algorithm; 6] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
];

/// A public key, and the only algorithm whose signatures it verifies (RFC 8725, section 3.1).
pub struct Key {
    id: String,
    pub algorithm: Algorithm,
    pub decoding_key: DecodingKey,
}

/// The keys of a set that can verify signatures. Symmetric keys, and keys for encryption, are left out.
pub struct KeySet {
    keys: Vec<Arc<Key>>,
    /// How long the set may be used after the request for it, ms: 5 minutes to 24 hours.
    pub lifetime_ms: i64,
}

#[derive(Deserialize)]
struct Document {
    keys: Vec<Value>,
}

impl KeySet {
    /// Parses a response with a set. Keys of unknown types and keys without an id are left out.
    ///
    /// # Errors
    /// What is wrong with the response: it is no set, or the set has no usable key.
    pub fn parse(headers: &HeaderMap, body: &[u8]) -> Result<KeySet, &'static str> {
        let document: Document = serde_json::from_slice(body).map_err(|_| "it is no JSON Web Key Set")?;
        let usable = |value: Value| Some(Arc::new(parse_key(&serde_json::from_value(value).ok()?)?));
        let keys: Vec<Arc<Key>> = document.keys.into_iter().take(MAX_KEYS).filter_map(usable).collect();
        match keys.is_empty() {
            true => Err("it has no key with an id that can verify signatures"),
            false => Ok(KeySet { keys, lifetime_ms: lifetime_ms(headers) }),
        }
    }

    /// The key with this id for signatures of this algorithm.
    pub fn find(&self, id: &str, algorithm: Algorithm) -> Option<&Arc<Key>> {
        self.keys.iter().find(|key| key.id == id && key.algorithm == algorithm)
    }
}

fn parse_key(jwk: &Jwk) -> Option<Key> {
    let common = &jwk.common;
    let is_for_signatures = matches!(common.public_key_use, None | Some(PublicKeyUse::Signature));
    let verifies = common.key_operations.as_ref().is_none_or(|all| all.contains(&KeyOperations::Verify));
    if !is_for_signatures || !verifies {
        return None;
    }
    let (id, algorithm) = (common.key_id.clone()?, key_algorithm(jwk)?);
    Some(Key { id, algorithm, decoding_key: DecodingKey::from_jwk(jwk).ok()? })
}

/// The algorithm of a key: the one that it names, if it fits the key's type, or the default one of its type if it names none.
fn key_algorithm(jwk: &Jwk) -> Option<Algorithm> {
    let possible: &[Algorithm] = match &jwk.algorithm {
        AlgorithmParameters::RSA(_) => &RSA_ALGORITHMS,
        AlgorithmParameters::EllipticCurve(ec) if ec.curve == EllipticCurve::P256 => &[Algorithm::ES256],
        AlgorithmParameters::EllipticCurve(ec) if ec.curve == EllipticCurve::P384 => &[Algorithm::ES384],
        AlgorithmParameters::OctetKeyPair(ed) if ed.curve == EllipticCurve::Ed25519 => &[Algorithm::EdDSA],
        _ => &[],
    };
    match jwk.common.key_algorithm {
        None => possible.first().copied(),
        Some(named) => named.to_string().parse::<Algorithm>().ok().filter(|named| possible.contains(named)),
    }
}

/// The freshness lifetime of a response (RFC 9111, sections 4.2 and 5.2.2), within the bounds above.
fn lifetime_ms(headers: &HeaderMap) -> i64 {
    let lines = headers.get_all(CACHE_CONTROL).iter().filter_map(|value| value.to_str().ok());
    let mut max_age_s = None;
    for directive in lines.flat_map(|line| line.split(',')) {
        let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
        match name.trim().to_ascii_lowercase().as_str() {
            "no-store" | "no-cache" => return MIN_LIFETIME_MS,
            "max-age" => max_age_s = Some(parse_seconds(value)),
            _ => {}
        }
    }
    let Some(max_age_s) = max_age_s else { return DEFAULT_LIFETIME_MS };
    let age_s = headers.get(AGE).and_then(|value| value.to_str().ok()).map_or(0, parse_seconds);
    max_age_s.saturating_sub(age_s).saturating_mul(1_000).clamp(MIN_LIFETIME_MS, MAX_LIFETIME_MS)
}

/// Parses seconds: 0 for what is no number, and `i64::MAX` for numbers that are too large.
fn parse_seconds(text: &str) -> i64 {
    let text = text.trim().trim_matches('"');
    let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if is_number { text.parse().unwrap_or(i64::MAX) } else { 0 }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use serde_json::json;

    use super::*;

    /// The EC key of RFC 7517, appendix A.1, with some members replaced.
    fn ec(changes: &Value) -> Value {
        let mut key = json!({ "kty": "EC", "crv": "P-256", "kid": "1",
            "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
            "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM" });
        for (name, value) in changes.as_object().unwrap() {
            key[name] = value.clone();
        }
        key
    }

    fn rsa(changes: &Value) -> Value {
        let mut key = json!({ "kty": "RSA", "kid": "1", "e": "AQAB", "n": "0vx7agoebGcQSuuPiLJX" });
        for (name, value) in changes.as_object().unwrap() {
            key[name] = value.clone();
        }
        key
    }

    /// The algorithm of a key, none if it is left out.
    fn algorithm_of(key: &Value) -> Option<Algorithm> {
        let body = json!({ "keys": [key] }).to_string();
        let set = KeySet::parse(&HeaderMap::new(), body.as_bytes()).ok()?;
        set.keys.first().map(|key| key.algorithm)
    }

    #[test]
    fn a_key_has_one_algorithm() {
        assert_eq!(algorithm_of(&ec(&json!({}))), Some(Algorithm::ES256));
        assert_eq!(algorithm_of(&ec(&json!({ "use": "sig", "alg": "ES256" }))), Some(Algorithm::ES256));
        assert_eq!(algorithm_of(&rsa(&json!({}))), Some(Algorithm::RS256));
        assert_eq!(algorithm_of(&rsa(&json!({ "alg": "PS384" }))), Some(Algorithm::PS384));
        for odd in [
            ec(&json!({ "alg": "RS256" })),
            ec(&json!({ "alg": "HS256" })),
            ec(&json!({ "alg": "ES384" })),
            ec(&json!({ "crv": "P-521" })),
            ec(&json!({ "crv": "secp256k1" })),
            ec(&json!({ "use": "enc" })),
            ec(&json!({ "key_ops": ["sign"] })),
            ec(&json!({ "kid": null })),
            ec(&json!({ "x": "%" })),
            rsa(&json!({ "alg": "ES256" })),
            rsa(&json!({ "alg": "RSA-OAEP" })),
            rsa(&json!({ "alg": "none" })),
            json!({ "kty": "oct", "kid": "1", "k": "c2VjcmV0" }),
            json!({ "kty": "oct", "kid": "1", "alg": "HS256", "k": "c2VjcmV0" }),
            json!("nonsense"),
        ] {
            assert_eq!(algorithm_of(&odd), None, "{odd}");
        }
    }

    #[test]
    fn unknown_keys_are_left_out() {
        let unknown = json!({ "kty": "AKP", "kid": "0" });
        let keys = [json!(7), unknown, ec(&json!({})), rsa(&json!({ "kid": "2" }))];
        let body = json!({ "keys": keys }).to_string();
        let set = KeySet::parse(&HeaderMap::new(), body.as_bytes()).ok().unwrap();
        assert!(set.find("1", Algorithm::ES256).is_some() && set.find("2", Algorithm::RS256).is_some());
        assert!(set.find("1", Algorithm::RS256).is_none() && set.find("0", Algorithm::ES256).is_none());
        for body in ["", "[]", "{}", "{\"keys\":{}}", "{\"keys\":[]}", "<html>"] {
            assert!(KeySet::parse(&HeaderMap::new(), body.as_bytes()).is_err(), "{body}");
        }
        let many = vec![ec(&json!({})); MAX_KEYS + 1];
        let body = json!({ "keys": many }).to_string();
        let set = KeySet::parse(&HeaderMap::new(), body.as_bytes()).ok().unwrap();
        assert_eq!(set.keys.len(), MAX_KEYS);
    }

    #[test]
    fn the_lifetime_is_that_of_cache_control_within_bounds() {
        let lifetime = |control: &'static str, age: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(CACHE_CONTROL, HeaderValue::from_static(control));
            headers.insert(AGE, HeaderValue::from_static(age));
            lifetime_ms(&headers)
        };
        assert_eq!(lifetime_ms(&HeaderMap::new()), DEFAULT_LIFETIME_MS);
        assert_eq!(lifetime("public, max-age=21600, must-revalidate, no-transform", "600"), 21_000_000);
        assert_eq!(lifetime("Max-Age=\"900\"", "x"), 900_000);
        assert_eq!(lifetime("public", "0"), DEFAULT_LIFETIME_MS);
        for short in ["max-age=1", "max-age=", "max-age=-1", "max-age=x", "no-store, max-age=900", "no-cache"]
        {
            assert_eq!(lifetime(short, "0"), MIN_LIFETIME_MS, "{short}");
        }
        assert_eq!(lifetime("max-age=900", "99999999999999999999"), MIN_LIFETIME_MS);
        assert_eq!(lifetime("max-age=99999999999999999999", "0"), MAX_LIFETIME_MS);
    }
}
