//! A provider's Retry-After holds for all that its connection does, and for no other connection. Requests to the provider are counted.

use harness::Actor;
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimePrinter;
use serde_json::{Value, json};

use crate::email::mailbox::{Mailbox, Provider, text};
use crate::email::sync::start;

async fn requests(api: &Actor) -> i64 {
    let usage = api.get("/v1/usage").send().await.expect(200);
    usage["sync"]["providerCalls"].as_i64().expect("a number")
}

/// Returns the number of requests once earlier pulls in the background have ended, which count their requests at their end.
async fn settled_requests(mailbox: &Mailbox) -> i64 {
    mailbox.server.pull().await;
    requests(&mailbox.api).await
}

/// Seconds that the refusal asks to wait.
fn wait(refused: &harness::Exchange) -> i64 {
    refused
        .header("retry-after")
        .and_then(|s| s.parse().ok())
        .unwrap_or_else(|| panic!("no Retry-After: {refused}"))
}

async fn delivery(mailbox: &Mailbox, message: &Value) -> (Value, Value) {
    let path = format!("/v1/email/messages/{}?fields=summary", text(&message["id"]));
    let now = mailbox.api.get(path).send().await.expect(200);
    (now["delivery"]["state"].clone(), now["delivery"]["attempts"].clone())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_retry_after_holds_for_the_connection() {
    let mailbox = Mailbox::open(Provider::Sandbox).await.expect("a sandbox");
    let sandbox = mailbox.there.sandbox().expect("it is the sandbox");
    start(&mailbox).await;
    let message = mailbox.send(json!({ "subject": "Before" })).await;
    let star = |is: bool| mailbox.patch(&message["id"], json!({ "starred": is }));
    let limited = json!({ "status": 429, "retryAfterS": 120, "method": "PATCH" });
    sandbox.post("/sandbox/faults", limited).send().await.expect(201);
    let refused = star(true).send().await;
    assert_eq!(wait(&refused), 120);
    refused.refused(429, "provider_rate_limited");

    // None of the following sends a request: reads that a client waits for, background jobs, messages to send.
    let before = settled_requests(&mailbox).await;
    mailbox.server.clock.advance_ms(30_000);
    let refused = star(true).send().await;
    assert_eq!(wait(&refused), 90, "what is left of it");
    refused.refused(429, "provider_rate_limited");
    mailbox
        .api
        .post(format!("/v1/connections/{}/refresh", mailbox.connection), json!({}))
        .send()
        .await
        .refused(429, "provider_rate_limited");
    let listed = mailbox.get(format!("/v1/email/messages?connection_id={}", mailbox.connection)).send().await;
    assert_eq!(listed.expect(200)["data"].as_array().map(Vec::len), Some(1), "the copy is served");
    let waiting = mailbox.submit(json!({ "subject": "Waiting" })).await;
    for _ in 0..3 {
        mailbox.server.clock.advance_ms(20_000);
        mailbox.server.pull().await;
        mailbox.server.hand_over().await;
    }
    assert_eq!(delivery(&mailbox, &waiting).await, (json!("queued"), json!(0)), "no attempt was made");
    assert_eq!(requests(&mailbox.api).await, before);

    // Another account of the same provider is not affected.
    let theirs = mailbox.connect_other().await;
    mailbox.get(format!("/v1/email/messages?connection_id={theirs}")).send().await.expect(200);
    assert!(requests(&mailbox.api).await > before);

    mailbox.later(31).await;
    assert_eq!(delivery(&mailbox, &waiting).await, (json!("sent"), json!(1)));
    let starred = star(true).send().await.expect(200);
    assert_eq!(starred["starred"], true);
}

/// A send that is refused so is an attempt; the next one waits for as long as the provider wants.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_send_waits_as_long_as_the_provider_wants() {
    let mailbox = Mailbox::open(Provider::Sandbox).await.expect("a sandbox");
    let sandbox = mailbox.there.sandbox().expect("it is the sandbox");
    mailbox.list("").await;
    let limited =
        json!({ "status": 429, "retryAfterS": 300, "method": "POST", "pathPrefix": "/sandbox/v1/mail/send" });
    sandbox.post("/sandbox/faults", limited).send().await.expect(201);
    let message = mailbox.submit(json!({})).await;
    mailbox.server.hand_over().await;
    assert_eq!(delivery(&mailbox, &message).await, (json!("queued"), json!(1)));
    mailbox.later(60).await;
    mailbox.later(239).await;
    assert_eq!(delivery(&mailbox, &message).await, (json!("queued"), json!(1)));
    mailbox.later(1).await;
    assert_eq!(delivery(&mailbox, &message).await, (json!("sent"), json!(2)));
}

/// A provider that asks for a day's pause gets the next request after an hour.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_is_left_alone_for_more_than_an_hour() {
    let mailbox = Mailbox::open(Provider::Sandbox).await.expect("a sandbox");
    let sandbox = mailbox.there.sandbox().expect("it is the sandbox");
    let limited = json!({ "status": 429, "retryAfterS": 86_400, "method": "POST", "pathPrefix": "/sandbox/v1/mail/drafts" });
    sandbox.post("/sandbox/faults", limited).send().await.expect(201);
    let new = json!({ "connectionId": mailbox.connection, "subject": "x" });
    mailbox.api.post("/v1/email/drafts", new.clone()).send().await.refused(429, "provider_rate_limited");
    mailbox.server.clock.advance_ms(3_599_000);
    let refused = mailbox.api.post("/v1/email/drafts", new.clone()).send().await;
    assert_eq!(wait(&refused), 1);
    refused.refused(429, "provider_rate_limited");
    mailbox.server.clock.advance_ms(1_000);
    mailbox.api.post("/v1/email/drafts", new).send().await.expect(201);
}

/// A provider that is down and gives a Retry-After is left alone like one that is overloaded: 503 and others of 5xx, in seconds or as a
/// date (RFC 9110, section 10.2.3).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outage_with_a_retry_after_holds_for_the_connection() {
    let mailbox = Mailbox::open(Provider::Sandbox).await.expect("a sandbox");
    let sandbox = mailbox.there.sandbox().expect("it is the sandbox");
    start(&mailbox).await;
    let message = mailbox.send(json!({ "subject": "Before" })).await;
    let star = |is: bool| mailbox.patch(&message["id"], json!({ "starred": is }));
    let date = |seconds: i64| {
        let at = Timestamp::from_millisecond(mailbox.server.clock.now_ms() + seconds * 1_000);
        DateTimePrinter::new().timestamp_to_rfc9110_string(&at.expect("a time")).expect("a date")
    };
    for (number, (status, is_date)) in [(503, false), (502, false), (503, true)].into_iter().enumerate() {
        let mut outage = json!({ "status": status, "method": "PATCH" });
        match is_date {
            true => outage["retryAfter"] = json!(date(120)),
            false => outage["retryAfterS"] = json!(120),
        }
        sandbox.post("/sandbox/faults", outage).send().await.expect(201);
        let is_starred = number % 2 == 0;
        let refused = star(is_starred).send().await;
        assert_eq!(wait(&refused), 120);
        let error = refused.refused(503, "provider_unavailable");
        assert_eq!(error["retryable"], true);

        let before = settled_requests(&mailbox).await;
        mailbox.server.clock.advance_ms(30_000);
        let refused = star(is_starred).send().await;
        assert_eq!(wait(&refused), 90, "what is left of it");
        refused.refused(429, "provider_rate_limited");
        let list = format!("/v1/email/messages?connection_id={}", mailbox.connection);
        let listed = mailbox.get(list).send().await.expect(200);
        assert_eq!(listed["data"].as_array().map(Vec::len), Some(1), "the copy is served");
        for _ in 0..4 {
            mailbox.server.clock.advance_ms(20_000);
            mailbox.server.pull().await;
            mailbox.server.hand_over().await;
        }
        assert_eq!(requests(&mailbox.api).await, before, "nothing asks the provider");
        mailbox.server.clock.advance_ms(11_000);
        let starred = star(is_starred).send().await.expect(200);
        assert_eq!(starred["starred"], is_starred);
    }
}

/// The host's own reads wait as long as the provider asks for, not as long as its own rule says.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pull_waits_as_long_as_a_provider_that_is_down_wants() {
    let mailbox = Mailbox::open(Provider::Sandbox).await.expect("a sandbox");
    let sandbox = mailbox.there.sandbox().expect("it is the sandbox");
    start(&mailbox).await;
    mailbox.list("").await;
    let down = json!({ "status": 503, "retryAfterS": 600, "method": "GET" });
    sandbox.post("/sandbox/faults", down).send().await.expect(201);
    mailbox.list("").await;
    let before = settled_requests(&mailbox).await;
    for _ in 0..5 {
        mailbox.server.clock.advance_ms(100_000);
        mailbox.server.pull().await;
    }
    assert_eq!(requests(&mailbox.api).await, before);
    mailbox.server.clock.advance_ms(101_000);
    mailbox.server.pull().await;
    assert!(requests(&mailbox.api).await > before);
}
