//! Lists over all connections: one that cannot be read hides nothing of the others, and the answer tells of it.

use harness::{Actor, TestServer};
use serde_json::{Value, json};

use crate::local_reads::{SECOND_MS, server, source};

/// From now on an account's requests are all answered with this status.
async fn fail(server: &TestServer, account: &str, status: u16) {
    let fault = json!({ "status": status, "times": 1_000 });
    server.provider(account).post("/sandbox/faults", fault).send().await.expect(201);
}

async fn mend(server: &TestServer, account: &str) {
    server.provider(account).delete("/sandbox/faults").send().await.expect(204);
}

/// The connections of what is listed, each once.
fn owners(page: &Value) -> Vec<&Value> {
    let mut owners: Vec<&Value> =
        page["data"].as_array().expect("a list").iter().map(|one| &one["connectionId"]).collect();
    owners.dedup();
    owners
}

async fn lists(api: &Actor) -> Value {
    api.get("/v1/task-lists").send().await.expect(200)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_known_of_the_only_account_is_an_error() {
    let server = server().await;
    let api = server.client().await;
    let zoe = api.connect_account("zoe").await;
    fail(&server, "zoe", 503).await;
    for path in ["/v1/task-lists", "/v1/calendars", "/v1/contact-books", "/v1/contacts"] {
        api.get(path).send().await.refused(503, "provider_unavailable");
    }
    mend(&server, "zoe").await;
    server.clock.advance_ms(SECOND_MS);
    let page = lists(&api).await;
    assert_eq!(owners(&page), [&json!(zoe)]);
    assert_eq!((page.get("complete"), page.get("warnings")), (None, None), "nothing is missing");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_account_that_cannot_be_read_is_named() {
    let server = server().await;
    let api = server.client().await;
    let (alice, zoe) = (api.connect_account("alice").await, api.connect_account("zoe").await);
    fail(&server, "zoe", 503).await;
    let answer = api.get("/v1/task-lists").send().await;
    assert_eq!(source(&answer), (Some("provider"), Some("0")), "what is there was just read: {answer}");
    let page = answer.expect(200);
    assert_eq!(owners(&page), [&json!(alice)]);
    assert_eq!(page["complete"], false);
    let warnings = page["warnings"].as_array().expect("warnings");
    assert_eq!(warnings.len(), 1, "{page:#}");
    assert_eq!((&warnings[0]["code"], &warnings[0]["target"]), (&json!("provider_unavailable"), &json!(zoe)));
    assert!(warnings[0]["message"].is_string(), "{page:#}");

    // What was read before is shown while its provider is away.
    mend(&server, "zoe").await;
    server.clock.advance_ms(SECOND_MS);
    let whole = lists(&api).await;
    assert_eq!(whole.get("complete"), None, "{whole:#}");
    fail(&server, "zoe", 503).await;
    server.clock.advance_ms(60 * SECOND_MS);
    assert_eq!(lists(&api).await["data"], whole["data"]);
}

/// Its copy is old from then on: every list says so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_account_that_must_be_connected_again_is_named() {
    let server = server().await;
    let api = server.client().await;
    let (_, zoe) = (api.connect_account("alice").await, api.connect_account("zoe").await);
    let whole = lists(&api).await;
    fail(&server, "zoe", 401).await;
    server.clock.advance_ms(60 * SECOND_MS);
    for _ in 0..2 {
        let page = lists(&api).await;
        assert_eq!((&page["complete"], &page["data"]), (&json!(false), &whole["data"]));
        let warnings = page["warnings"].as_array().expect("warnings");
        assert_eq!(warnings.len(), 1, "{page:#}");
        assert_eq!((&warnings[0]["code"], &warnings[0]["target"]), (&json!("reauth_required"), &json!(zoe)));
    }
}
