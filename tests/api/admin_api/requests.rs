//! `/v1/admin/applications/{applicationId}/requests`: what clients of an application asked for.

use base::tenant::Tenant;
use harness::{Actor, TestServer};
use serde_json::{Value, json};
use service::app::request_log::writing;
use service::manage::acting::{self, Target};
use service::manage::actor::Actor as Administrator;
use service::manage::request_log;
use storage::request_log::RequestLogMode;

use crate::admin_api::admin;

/// The list once it has a request that was answered with this error. Requests are logged behind their answers.
async fn logged(server: &TestServer, api: &Actor, path: &str) -> Value {
    for _ in 0..100 {
        writing::flush(&server.app).await.expect("the log is written");
        let list = api.get(path).send().await.expect(200);
        if list["data"].as_array().is_some_and(|data| !data.is_empty()) {
            return list;
        }
        tokio::task::yield_now().await;
    }
    panic!("nothing was logged");
}

async fn keep_shapes(server: &TestServer, tenant: &Tenant) {
    let (app, target) = (&server.app, Target::application(tenant, tenant.application_id.as_str()));
    let actor = Administrator::command("a test");
    let attempt = acting::attempt(app, &actor, "request_log_changed", &target, None);
    let set = request_log::set_mode(app, tenant, RequestLogMode::Shapes, &attempt).await;
    set.expect("the setting is stored");
}

/// A refused request is found by its application, class and key, and read with the field that was wrong; its body by those alone who may.
#[tokio::test]
async fn logged_requests_are_read() {
    let server = TestServer::start().await;
    let client = server.client().await;
    let tenant = server.test_application().await;
    keep_shapes(&server, &tenant).await;
    let sent = client.post("/v1/webhooks", json!({ "url": "nonsense", "eventTypes": ["*"] })).send().await;
    let request_id = sent.header("x-request-id").expect("an id").to_owned();
    let param = sent.answer["error"]["param"].clone();
    assert!(sent.status == 400 && param.is_string(), "{sent}");

    let api = admin(&server, &["admin.read"]).await;
    let base = format!("/v1/admin/applications/{}/requests", tenant.application_id);
    let list = logged(&server, &api, &format!("{base}?status=4xx")).await;
    let entry = &list["data"][0];
    assert_eq!(entry["id"], json!(request_id), "{list:#}");
    assert_eq!((&entry["method"], &entry["route"]), (&json!("POST"), &json!("/v1/webhooks")), "{entry:#}");
    assert_eq!((&entry["status"], &entry["errorParam"]), (&json!(400), &param), "{entry:#}");
    let key_id = entry["keyId"].as_str().expect("a key");
    let of_key = api.get(format!("{base}?key_id={key_id}")).send().await.expect(200);
    assert_eq!(of_key["data"][0]["id"], json!(request_id));
    let none = api.get(format!("{base}?status=5xx")).send().await.expect(200);
    assert_eq!(none["data"], json!([]));
    api.get(format!("{base}?status=teapot")).send().await.refused(400, "invalid_parameter");

    let one = format!("{base}/{request_id}");
    let shown = api.get(&one).send().await.expect(200);
    assert_eq!((&shown["errorParam"], &shown["bodies"]), (&param, &Value::Null), "{shown:#}");
    let with_bodies = format!("{one}?include=bodies");
    api.get(&with_bodies).send().await.refused(403, "insufficient_scope");
    let writer = admin(&server, &["admin.write"]).await;
    let seen = writer.get(&with_bodies).send().await.expect(200);
    assert_eq!(seen["bodies"]["isFull"], false, "{seen:#}");
    assert!(seen["bodies"]["request"].is_object() && !seen.to_string().contains("nonsense"), "{seen:#}");
    let log = api.get("/v1/admin/audit-log").send().await.expect(200);
    let entries = log["data"].as_array().cloned().unwrap_or_default();
    let seen: Vec<&Value> = entries.iter().filter(|entry| entry["act"] == "request_bodies_seen").collect();
    assert_eq!(seen.len(), 1, "the body was seen once: {log:#}");
    assert_eq!(seen[0]["actor"]["kind"], "key");

    // A request of another application is not there.
    let other = "/v1/admin/applications/app_none/requests";
    api.get(other).send().await.refused(404, "not_found");
    api.get(format!("{base}/req_none")).send().await.refused(404, "not_found");
    client.get(&base).send().await.refused(403, "insufficient_scope");
}
