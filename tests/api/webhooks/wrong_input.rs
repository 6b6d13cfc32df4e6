//! Faults of subscriptions are reported with their field.

use harness::TestServer;
use serde_json::{Value, json};

const WEBHOOKS: &str = "/v1/webhooks";
const HOOK: &str = "https://1.1.1.1/hook";

/// Invalid fields, with the expected code and field of the error.
fn faults() -> Vec<(Value, &'static str, &'static str)> {
    let fault = "invalid_parameter";
    let names: Vec<String> = (0..101).map(|n| format!("event.{n}")).collect();
    let many: Value = (0..11).map(|n| (format!("X-{n}"), json!("x"))).collect();
    vec![
        (json!({ "url": null }), "missing_field", "url"),
        (json!({ "url": "nonsense" }), "invalid_url", "url"),
        (json!({ "url": "ftp://1.1.1.1/" }), "invalid_url", "url"),
        (json!({ "url": "http://1.1.1.1/" }), "invalid_url", "url"),
        (json!({ "url": "https://user:password@1.1.1.1/" }), "invalid_url", "url"),
        (json!({ "url": "https://1.1.1.1/#part" }), "invalid_url", "url"),
        (json!({ "url": format!("https://1.1.1.1/{}", "x".repeat(2_048)) }), "invalid_url", "url"),
        (json!({ "url": 5 }), fault, "url"),
        (json!({ "eventTypes": [] }), "missing_field", "eventTypes"),
        (json!({ "eventTypes": "*" }), fault, "eventTypes"),
        (json!({ "eventTypes": ["*", "calendar.event.exploded"] }), fault, "eventTypes[1]"),
        (json!({ "eventTypes": ["nonsense.*"] }), fault, "eventTypes[0]"),
        (json!({ "eventTypes": ["task.created", "task.created"] }), fault, "eventTypes[1]"),
        (json!({ "eventTypes": names }), fault, "eventTypes"),
        (json!({ "connectionIds": ["conn_none"] }), fault, "connectionIds[0]"),
        (json!({ "connectionIds": [""] }), fault, "connectionIds[0]"),
        (json!({ "connectionId": "conn_none" }), fault, "connectionId"),
        (json!({ "description": "x".repeat(1_025) }), fault, "description"),
        (json!({ "status": "failing" }), fault, "status"),
        (json!({ "status": "asleep" }), fault, "status"),
        (json!({ "payloadMode": "fat" }), fault, "payloadMode"),
        (json!({ "ordered": "yes" }), fault, "ordered"),
        (json!({ "signatures": [] }), fault, "signatures"),
        (json!({ "signatures": ["v1a"] }), fault, "signatures"),
        (json!({ "signatures": ["v1", "v2"] }), fault, "signatures[1]"),
        (json!({ "signatures": ["v1", "v1"] }), fault, "signatures[1]"),
        (json!({ "secret": "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" }), fault, "secret"),
        (json!({ "secret": "whsec_c2hvcnQ=" }), fault, "secret"),
        (json!({ "secretGraceSeconds": 604_801 }), fault, "secretGraceSeconds"),
        (json!({ "headers": { "Host": "example.com" } }), fault, "headers.Host"),
        (json!({ "headers": { "Webhook-Id": "x" } }), fault, "headers.Webhook-Id"),
        (json!({ "headers": { "content-type": "x" } }), fault, "headers.content-type"),
        (json!({ "headers": { "Transfer-Encoding": "x" } }), fault, "headers.Transfer-Encoding"),
        (json!({ "headers": { "not a name": "x" } }), fault, "headers.not a name"),
        (json!({ "headers": { "X-Lines": "a\r\nb" } }), fault, "headers.X-Lines"),
        (json!({ "headers": { "X-Twice": "a", "x-twice": "b" } }), fault, "headers.x-twice"),
        (json!({ "headers": { "X-Large": "x".repeat(4_096) } }), fault, "headers"),
        (json!({ "headers": many }), fault, "headers"),
        (json!({ "maxPerSecond": 0 }), fault, "maxPerSecond"),
        (json!({ "maxPerSecond": 1_001 }), fault, "maxPerSecond"),
        (json!({ "maxConcurrent": 0 }), fault, "maxConcurrent"),
        (json!({ "maxConcurrent": 65 }), fault, "maxConcurrent"),
        (json!({ "metadata": { "": "x" } }), fault, "metadata."),
        (json!({ "cursor": 5 }), fault, "cursor"),
        (json!({ "publicKey": "whpk_" }), fault, "publicKey"),
    ]
}

#[tokio::test]
async fn each_wrong_field_is_named() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let good = json!({ "url": HOOK, "eventTypes": ["*"] });
    let made = api.post(WEBHOOKS, good.clone()).send().await.expect(201);
    let path = format!("{WEBHOOKS}/{}", made["id"].as_str().expect("an id"));
    for (wrong, code, param) in faults() {
        let mut body = good.clone();
        for (name, value) in wrong.as_object().expect("an object") {
            body[name] = value.clone();
        }
        let error = api.post(WEBHOOKS, body).send().await.refused(400, code);
        assert_eq!(error["param"], param, "{wrong}");
        let error = api.patch(&path, wrong.clone()).send().await.refused(400, code);
        assert_eq!(error["param"], param, "{wrong}");
    }
    let read = api.get(&path).send().await.expect(200);
    assert_eq!((&read["etag"], api.all(WEBHOOKS).await.len()), (&made["etag"], 1), "nothing was changed");
}

#[tokio::test]
async fn what_is_required_is_named() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let error = api.post(WEBHOOKS, json!({})).send().await.refused(400, "missing_field");
    assert_eq!(error["param"], "url");
    let error = api.post(WEBHOOKS, json!({ "url": HOOK })).send().await.refused(400, "missing_field");
    assert_eq!(error["param"], "eventTypes");
    let disabled = json!({ "url": HOOK, "eventTypes": ["*"], "status": "disabled" });
    let error = api.post(WEBHOOKS, disabled).send().await.refused(400, "invalid_parameter");
    assert_eq!(error["param"], "status");
}

/// An unknown field is reported, or refused if the caller is strict.
#[tokio::test]
async fn an_unknown_field_is_told() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let body = json!({ "url": HOOK, "eventTypes": ["*"], "colour": "red" });
    let made = api.post(WEBHOOKS, body.clone()).send().await.expect(201);
    assert_eq!(made["warnings"][0]["field"], "colour");
    let strict = api.post(WEBHOOKS, body).header("prefer", "handling=strict").send().await;
    assert_eq!(strict.refused(400, "unknown_field")["param"], "colour");
    let path = format!("{WEBHOOKS}/{}", made["id"].as_str().expect("an id"));
    let strict = api.patch(path, json!({ "colour": "red" })).header("prefer", "handling=strict").send().await;
    assert_eq!(strict.refused(400, "unknown_field")["param"], "colour");
}
