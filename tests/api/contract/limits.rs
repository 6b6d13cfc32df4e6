//! Contract, Limits: the budget of a key.

use harness::TestServer;

/// The limit is exact, every response shows it, and refused requests are free.
#[tokio::test]
async fn a_budget_is_a_sliding_minute() {
    let server = TestServer::start().await;
    let api = server.key("test", |key| key.rate_limit_per_minute = 3).await;
    for left in ["2", "1", "0"] {
        let answer = api.get("/v1/connections").send().await;
        assert_eq!(
            (answer.header("x-ratelimit-limit"), answer.header("x-ratelimit-remaining")),
            (Some("3"), Some(left))
        );
        answer.expect(200);
        server.clock.advance_ms(10_000);
    }
    let over = api.get("/v1/connections").send().await;
    assert_eq!(over.header("retry-after"), Some("30"));
    over.refused(429, "rate_limited");
    server.clock.advance_ms(30_000);
    api.get("/v1/connections").send().await.expect(200);
    api.get("/v1/connections").send().await.refused(429, "rate_limited");
}

/// A budget is a key's own.
#[tokio::test]
async fn one_key_does_not_use_up_anothers_budget() {
    let server = TestServer::start().await;
    let one = server.key("test", |key| key.rate_limit_per_minute = 1).await;
    let other = server.key("test", |key| key.rate_limit_per_minute = 1).await;
    one.get("/v1/connections").send().await.expect(200);
    one.get("/v1/connections").send().await.refused(429, "rate_limited");
    other.get("/v1/connections").send().await.expect(200);
}

/// Keys that do not exist are refused within the address's budget. Valid keys cost nothing of it, and continue to work whatever else the
/// address sends: one that was used before, and one at its first request.
#[tokio::test]
async fn invented_keys_use_up_their_addresss_budget_and_nobody_elses() {
    let server = TestServer::builder().config(|c| c.anonymous_per_minute = 5).start().await;
    let (known, fresh) = (server.client().await, server.client().await);
    known.get("/v1/connections").send().await.expect(200);
    let mut invented = server.anonymous();
    for i in 0..20 {
        invented.key = Some(server.app.keyring.new_api_key().key);
        let answer = invented.get("/v1/connections").send().await;
        match i {
            0..5 => answer.refused(401, "invalid_api_key"),
            _ => answer.refused(429, "rate_limited"),
        };
    }
    invented.key = Some("uc_live_malformed".to_owned());
    invented.get("/v1/connections").send().await.refused(429, "rate_limited");
    // A lookup is cached for a second; after that the store is asked again.
    server.clock.advance_ms(5_000);
    known.get("/v1/connections").send().await.expect(200);
    fresh.get("/v1/connections").send().await.expect(200);
    invented.get("/v1/connections").send().await.refused(429, "rate_limited");
    server.clock.advance_ms(55_000);
    invented.get("/v1/connections").send().await.refused(401, "invalid_api_key");
}

/// Probes ask the store at most once a second, and an address asks them a bounded number of times.
#[tokio::test]
async fn probes_are_bounded() {
    let server = TestServer::start().await;
    let anybody = server.anonymous();
    for _ in 0..300 {
        anybody.get("/readyz").send().await.expect(200);
    }
    let over = anybody.get("/readyz").send().await;
    assert_eq!((over.status, over.header("retry-after")), (429, Some("60")));
    anybody.get("/healthz").send().await.expect(200);
    server.clock.advance_ms(60_000);
    anybody.get("/readyz").send().await.expect(200);
}
