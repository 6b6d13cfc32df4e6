//! `/v1/usage`

use harness::TestServer;
use serde_json::json;

/// Requests are counted by outcome, surface and key, the last seconds included.
#[tokio::test]
async fn what_the_application_used() {
    let server = TestServer::start().await;
    let api = server.key("test", |key| key.rate_limit_per_minute = 100).await;
    api.connect_sandbox().await;
    api.get("/v1/connections/conn_none").send().await.expect(404);
    let usage = api.get("/v1/usage").send().await.expect(200);
    assert_eq!((&usage["requests"]["success"], &usage["requests"]["clientError"]), (&json!(1), &json!(1)));
    assert_eq!(
        (&usage["requests"]["bySurface"], &usage["connections"]["active"]),
        (&json!({ "management": 2 }), &json!(1))
    );
    assert_eq!(usage["rateLimit"]["limitPerMinute"], 100);
    assert_eq!(usage["rateLimit"]["remaining"], 97);
    assert_eq!(
        (&usage["periodStart"], &usage["periodEnd"]),
        (&json!("2026-03-01T00:00:00.000Z"), &json!("2026-03-02T00:00:00.000Z"))
    );
    // All provider calls of a connector count, but for no key.
    assert!(usage["sync"]["providerCalls"].as_i64().is_some_and(|n| n > 0), "{usage:#}");
    assert_eq!(
        (&usage["sync"]["providerThrottled"], usage["keys"].as_array().map(Vec::len)),
        (&json!(0), Some(1))
    );
    assert_eq!(usage["rateLimit"]["resetAt"], "2026-03-01T08:01:00.000Z");
    server.app.usage.flush(&server.app.db).await.expect("the counts are written");
    let written = api.get("/v1/usage").send().await.expect(200);
    assert_eq!(written["sync"], usage["sync"]);
    assert_eq!((&written["keys"][0]["name"], &written["keys"][0]["requests"]), (&json!("test"), &json!(3)));
    let other = server.key("other", |_| {}).await;
    assert_eq!(other.get("/v1/usage").send().await.expect(200)["requests"]["total"], 0);
    let error =
        api.get("/v1/usage?start=2026-03-02&end=2026-03-01").send().await.refused(400, "invalid_time_range");
    assert_eq!(error["param"], "end");
}
