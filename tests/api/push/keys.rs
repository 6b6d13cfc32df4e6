//! Signers of tokens: the keys, and a server with their public halves.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_RSA_SHA256, SigningKey};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{OwnedRwLockWriteGuard, RwLock};

/// How long the server of keys says that its answer may be used, seconds.
pub const MAX_AGE_S: i64 = 600;

pub fn coded(bytes: impl AsRef<[u8]>) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

/// A key that signs tokens (RFC 7515), written without the library that the service verifies them with.
pub struct Signer {
    id: &'static str,
    algorithm: &'static str,
    pair: KeyPair,
}

impl Signer {
    pub fn es256(id: &'static str) -> Signer {
        let pair = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).expect("a key");
        Signer { id, algorithm: "ES256", pair }
    }

    pub fn rs256(id: &'static str) -> Signer {
        let pair = KeyPair::generate_for(&PKCS_RSA_SHA256).expect("a key");
        Signer { id, algorithm: "RS256", pair }
    }

    /// The public key as a JSON Web Key (RFC 7517).
    pub fn public(&self) -> Value {
        let (raw, common) = (self.pair.public_key_raw(), ("sig", self.algorithm, self.id));
        match self.algorithm {
            // 4, and then x and y.
            "ES256" => {
                json!({ "kty": "EC", "crv": "P-256", "use": common.0, "alg": common.1, "kid": common.2,
                "x": coded(&raw[1..33]), "y": coded(&raw[33..65]) })
            }
            // RSAPublicKey (RFC 8017, A.1.1): n has 2,048 bits behind nine bytes, e is 65,537.
            _ => json!({ "kty": "RSA", "use": common.0, "alg": common.1, "kid": common.2,
                "n": coded(&raw[9..265]), "e": "AQAB" }),
        }
    }

    /// The bytes of the public key.
    pub fn public_bytes(&self) -> &[u8] {
        self.pair.public_key_raw()
    }

    /// A token that says this.
    pub fn token(&self, claims: &Value) -> String {
        self.token_with(&json!({ "alg": self.algorithm, "kid": self.id, "typ": "JWT" }), claims)
    }

    /// Signs a token with this header.
    pub fn token_with(&self, header: &Value, claims: &Value) -> String {
        let message = format!("{}.{}", coded(header.to_string()), coded(claims.to_string()));
        let signature = self.pair.sign(message.as_bytes()).expect("a signature");
        let signature = if self.algorithm == "ES256" { fixed(&signature) } else { signature };
        format!("{message}.{}", coded(signature))
    }
}

/// A signature of ECDSA as tokens have it, r and s of 32 bytes each (RFC 7518, section 3.4), out of two integers in DER.
fn fixed(der: &[u8]) -> Vec<u8> {
    let (mut rest, mut both) = (&der[2..], Vec::new());
    for _ in 0..2 {
        let length = usize::from(rest[1]);
        let number = &rest[2..2 + length];
        // A zero says that the number is positive, and zeros at its beginning are left out.
        let digits = if number[0] == 0 { &number[1..] } else { number };
        both.extend(vec![0; 32 - digits.len()]);
        both.extend_from_slice(digits);
        rest = &rest[2 + length..];
    }
    both
}

/// A server with public keys, on the loopback interface.
pub struct KeyServer {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    keys: Mutex<Option<Value>>,
    asked: AtomicUsize,
    /// Held for writing, it holds answers back.
    gate: Arc<RwLock<()>>,
}

impl KeyServer {
    pub async fn start(keys: &[&Signer]) -> KeyServer {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let shared = Shared { keys: Mutex::default(), asked: AtomicUsize::default(), gate: Arc::default() };
        let server = KeyServer { address, shared: Arc::new(shared) };
        server.has(keys);
        let shared = server.shared.clone();
        let app = axum::Router::new().route("/keys", get(async move || answer(&shared).await));
        tokio::spawn(async move { axum::serve(listener, app).await.expect("the server stays") });
        server
    }

    pub fn url(&self) -> String {
        format!("http://{}/keys", self.address)
    }

    /// From now on it has these keys.
    pub fn has(&self, keys: &[&Signer]) {
        let keys: Vec<Value> = keys.iter().map(|key| key.public()).collect();
        *self.shared.keys.lock().expect("no test panics with it") = Some(json!({ "keys": keys }));
    }

    /// From now on it answers 500.
    pub fn fails(&self) {
        *self.shared.keys.lock().expect("no test panics with it") = None;
    }

    /// How often it was asked.
    pub fn asked(&self) -> usize {
        self.shared.asked.load(Ordering::Relaxed)
    }

    /// Holds answers back until what this returns is dropped.
    pub async fn hold(&self) -> OwnedRwLockWriteGuard<()> {
        self.shared.gate.clone().write_owned().await
    }
}

async fn answer(shared: &Shared) -> Response {
    shared.asked.fetch_add(1, Ordering::Relaxed);
    let _open = shared.gate.read().await;
    let keys = shared.keys.lock().expect("no test panics with it").clone();
    match keys {
        None => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        Some(keys) => {
            let life = format!("public, max-age={MAX_AGE_S}, must-revalidate");
            ([(header::CACHE_CONTROL, life)], Json(keys)).into_response()
        }
    }
}
