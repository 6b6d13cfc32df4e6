//! Signatures while secrets are rotated, and signatures by a key pair.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use harness::receiver::Received;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use tokio_rustls::rustls::SignatureScheme;
use tokio_rustls::rustls::crypto::aws_lc_rs;

use crate::webhooks::desk::{CREATED, Desk};

fn path(webhook: &Value) -> String {
    format!("/v1/webhooks/{}", webhook["id"].as_str().expect("an id"))
}

fn secret(webhook: &Value) -> String {
    webhook["secret"].as_str().expect("a secret").to_owned()
}

/// Returns the signed content, as defined by Standard Webhooks: `id.timestamp.body`.
fn signed(received: &Received) -> Vec<u8> {
    let head = format!("{}.{}.", received.header("webhook-id"), received.header("webhook-timestamp"));
    [head.as_bytes(), &received.body[..]].concat()
}

/// The signature by a shared secret, computed independently.
fn v1(secret: &str, received: &Received) -> String {
    let key = BASE64_STANDARD.decode(secret.strip_prefix("whsec_").expect("a secret")).expect("base64");
    let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(&key).expect("a key");
    mac.update(&signed(received));
    format!("v1,{}", BASE64_STANDARD.encode(mac.finalize().into_bytes()))
}

fn signatures(received: &Received) -> Vec<&str> {
    received.header("webhook-signature").split(' ').collect()
}

/// Whether an Ed25519 signature is good, by the verifier that TLS uses for certificates.
fn is_by(public_key: &str, message: &[u8], signature: &str) -> bool {
    let key = BASE64_STANDARD.decode(public_key.strip_prefix("whpk_").expect("a key")).expect("base64");
    let signature = BASE64_STANDARD.decode(signature.strip_prefix("v1a,").expect("v1a")).expect("base64");
    let known = aws_lc_rs::default_provider().signature_verification_algorithms;
    let of_scheme = known.mapping.iter().find(|(scheme, _)| *scheme == SignatureScheme::ED25519);
    let (_, verifiers) = of_scheme.expect("TLS has Ed25519");
    verifiers[0].verify_signature(&key, message, &signature).is_ok()
}

async fn next(desk: &mut Desk) -> Received {
    desk.create_event("Planning").await;
    desk.server.deliver().await;
    desk.receiver.next().await
}

/// The receiver can take the new secret within the grace period: both sign, the newest first.
#[tokio::test]
async fn both_secrets_sign_within_the_grace() {
    let mut desk = Desk::start().await;
    let webhook = desk.subscription(json!({ "eventTypes": CREATED })).await;
    let old = secret(&webhook);
    let rotate = json!({ "rotateSecret": true, "secretGraceSeconds": 3_600 });
    let new = secret(&desk.api.patch(path(&webhook), rotate).send().await.expect(200));
    assert_ne!(new, old);
    let received = next(&mut desk).await;
    assert_eq!(signatures(&received), [v1(&new, &received), v1(&old, &received)]);
    desk.server.clock.advance_ms(3_599_000);
    let received = next(&mut desk).await;
    assert_eq!(signatures(&received), [v1(&new, &received), v1(&old, &received)]);
    desk.server.clock.advance_ms(1_000);
    let received = next(&mut desk).await;
    assert_eq!(signatures(&received), [v1(&new, &received)], "the grace is over");
}

/// Without a grace the old secret stops at once, and a secret of one's own is as good as one that is made.
#[tokio::test]
async fn a_secret_of_ones_own_without_a_grace() {
    let mut desk = Desk::start().await;
    let webhook = desk.subscription(json!({ "eventTypes": CREATED })).await;
    let own = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let body = json!({ "secret": own, "secretGraceSeconds": 0 });
    assert_eq!(secret(&desk.api.patch(path(&webhook), body).send().await.expect(200)), own);
    let received = next(&mut desk).await;
    assert_eq!(signatures(&received), [v1(own, &received)]);
    let long = json!({ "rotateSecret": true, "secretGraceSeconds": 604_801 });
    let error = desk.api.patch(path(&webhook), long).send().await.refused(400, "invalid_parameter");
    assert_eq!(error["param"], "secretGraceSeconds");
}

/// A secret that was stolen is out of use at once, and so is every one before it that was still within its grace.
#[tokio::test]
async fn without_a_grace_all_earlier_secrets_end() {
    let mut desk = Desk::start().await;
    let webhook = desk.subscription(json!({ "eventTypes": CREATED })).await;
    let week = json!({ "rotateSecret": true, "secretGraceSeconds": 604_800 });
    for _ in 0..2 {
        desk.api.patch(path(&webhook), week.clone()).send().await.expect(200);
    }
    let at_once = json!({ "rotateSecret": true, "secretGraceSeconds": 0 });
    let new = secret(&desk.api.patch(path(&webhook), at_once).send().await.expect(200));
    let received = next(&mut desk).await;
    assert_eq!(signatures(&received), [v1(&new, &received)]);

    // The same secret once more, or no new secret at all.
    for ending in [json!({ "secretGraceSeconds": 0 }), json!({ "secret": null, "secretGraceSeconds": 0 })] {
        let newest = secret(&desk.api.patch(path(&webhook), week.clone()).send().await.expect(200));
        let received = next(&mut desk).await;
        assert!(signatures(&received).len() > 1);
        let kept = desk.api.patch(path(&webhook), ending).send().await.expect(200);
        assert_eq!(kept["secret"], Value::Null, "it is shown once");
        let received = next(&mut desk).await;
        assert_eq!(signatures(&received), [v1(&newest, &received)]);
    }
    let newest = secret(&desk.api.patch(path(&webhook), week).send().await.expect(200));
    let same = json!({ "secret": newest, "secretGraceSeconds": 0 });
    desk.api.patch(path(&webhook), same).send().await.expect(200);
    let received = next(&mut desk).await;
    assert_eq!(signatures(&received), [v1(&newest, &received)]);
}

/// Ten earlier secrets sign at most: of more, the oldest stop before their time.
#[tokio::test]
async fn ten_earlier_secrets_sign_at_most() {
    let mut desk = Desk::start().await;
    let webhook = desk.subscription(json!({ "eventTypes": CREATED })).await;
    let mut secrets = vec![secret(&webhook)];
    for _ in 0..12 {
        let rotate = json!({ "rotateSecret": true, "secretGraceSeconds": 604_800 });
        secrets.insert(0, secret(&desk.api.patch(path(&webhook), rotate).send().await.expect(200)));
    }
    let received = next(&mut desk).await;
    let expected: Vec<String> = secrets.iter().take(11).map(|secret| v1(secret, &received)).collect();
    assert_eq!(signatures(&received), expected);
}

/// The receiver needs no secret to verify `v1a`: the public key is readable, and verifies genuine deliveries and nothing else.
#[tokio::test]
async fn v1a_verifies() {
    let mut desk = Desk::start().await;
    let webhook = desk.subscription(json!({ "eventTypes": CREATED, "signatures": ["v1", "v1a"] })).await;
    let shown = desk.api.get(path(&webhook)).send().await.expect(200);
    let public_key = shown["publicKey"].as_str().expect("a key").to_owned();
    assert_eq!(shown["publicKey"], webhook["publicKey"]);
    let received = next(&mut desk).await;
    let all = signatures(&received);
    assert_eq!((all.len(), all[0]), (2, v1(&secret(&webhook), &received).as_str()));
    let message = signed(&received);
    assert!(is_by(&public_key, &message, all[1]));
    let mut other = message.clone();
    other[0] ^= 1;
    assert!(!is_by(&public_key, &other, all[1]), "another message");

    // A rotation of the secret leaves the key pair as it is.
    let rotate = json!({ "rotateSecret": true, "secretGraceSeconds": 0 });
    let rotated = desk.api.patch(path(&webhook), rotate).send().await.expect(200);
    assert_eq!(rotated["publicKey"], public_key.as_str());
    let received = next(&mut desk).await;
    assert!(is_by(&public_key, &signed(&received), signatures(&received)[1]));
}

/// A vector of RFC 8032 (section 7.1, test 3), so that the verifier above is known to be one.
#[test]
fn the_verifier_knows_the_vector_of_the_rfc() {
    let digit = |c: u8| u8::try_from(char::from(c).to_digit(16).expect("hexadecimal")).expect("a digit");
    let base64 = |hex: &str| {
        let bytes: Vec<u8> =
            hex.as_bytes().chunks(2).map(|pair| digit(pair[0]) * 16 + digit(pair[1])).collect();
        BASE64_STANDARD.encode(bytes)
    };
    let key = format!("whpk_{}", base64("fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025"));
    let signature = format!(
        "v1a,{}",
        base64(
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac\
             18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
        )
    );
    assert!(is_by(&key, &[0xaf, 0x82], &signature));
    assert!(!is_by(&key, &[0xaf, 0x83], &signature));
}
