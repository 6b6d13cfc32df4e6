//! Contract, Limits: the budget of a key.

use harness::TestServer;

/// The limit is exact, told on every answer, and refused requests cost nothing.
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
