//! Lists over all connections: one that cannot be read hides no items of the others, and the response names it.

use harness::{Actor, TestServer};
use serde_json::{Value, json};

use crate::email::mailbox::text;
use crate::local_reads::{SECOND_MS, fail, server, source};

async fn mend(server: &TestServer, account: &str) {
    server.provider(account).delete("/sandbox/faults").send().await.expect(204);
}

/// Returns the connections of the listed items, each once.
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

    // Earlier data is shown while its provider is away, and the response says that it is old.
    mend(&server, "zoe").await;
    server.clock.advance_ms(SECOND_MS);
    let whole = lists(&api).await;
    assert_eq!(whole.get("complete"), None, "{whole:#}");
    fail(&server, "zoe", 503).await;
    server.clock.advance_ms(60 * SECOND_MS);
    let page = lists(&api).await;
    assert_eq!((&page["complete"], &page["data"]), (&json!(false), &whole["data"]));
    let warnings = page["warnings"].as_array().expect("warnings");
    assert_eq!(warnings.len(), 1, "{page:#}");
    assert_eq!((&warnings[0]["code"], &warnings[0]["target"]), (&json!("provider_unavailable"), &json!(zoe)));
}

/// The last page alone has this information too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_page_says_what_is_missing() {
    let server = server().await;
    let api = server.client().await;
    let connect = async |account: &str| {
        let credentials = json!({ "username": format!("{account}@sandbox.test"), "password": "sandbox" });
        let scopes = ["tasks.read", "email.read"];
        let account = json!({ "provider": "sandbox", "credentials": credentials, "scopes": scopes });
        text(&api.connect(account).await["id"])
    };
    let (_, zoe) = (connect("alice").await, connect("zoe").await);
    let lists = ["/v1/task-lists?limit=1", "/v1/email/folders?limit=1"];
    for list in lists {
        assert!(api.all(list).await.len() > 1, "{list}");
    }
    fail(&server, "zoe", 401).await;
    server.clock.advance_ms(60 * SECOND_MS);
    for list in lists {
        let mut cursor = String::new();
        loop {
            let answer = api.get(format!("{list}{cursor}")).send().await;
            assert!(source(&answer).0.is_some(), "{answer}");
            let page = answer.expect(200);
            let target = &page["warnings"][0]["target"];
            assert_eq!((&page["complete"], target), (&json!(false), &json!(zoe)), "{list}{cursor}");
            let Some(next) = page["next_cursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        assert!(!cursor.is_empty(), "{list} has one page");
    }
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
