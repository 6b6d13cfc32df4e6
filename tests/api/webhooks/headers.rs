//! The headers of a webhook: their values are sent to the receiver, and never shown.

use serde_json::{Value, json};

use crate::webhooks::changes::{UPDATED, log};
use crate::webhooks::desk::Desk;

const MASK: &str = "********";
const SECRET: &str = "Bearer of-the-receiver";

/// A desk with a webhook that has two headers, and the webhook's path.
async fn desk() -> (Desk, String) {
    let desk = Desk::start().await;
    let headers = json!({ "Authorization": SECRET, "X-Team": "a" });
    let made = desk.subscription(json!({ "eventTypes": [UPDATED], "headers": headers })).await;
    assert_eq!(made["headers"], json!({ "Authorization": MASK, "X-Team": MASK }), "{made:#}");
    let path = format!("/v1/webhooks/{}", made["id"].as_str().expect("an id"));
    (desk, path)
}

/// The two headers as the receiver gets them.
async fn received(desk: &mut Desk) -> (String, String) {
    log(desk, &["a"]).await;
    desk.server.deliver().await;
    let received = desk.receiver.next().await;
    (received.header("authorization").to_owned(), received.header("x-team").to_owned())
}

async fn patch(desk: &Desk, path: &str, headers: Value) -> Value {
    desk.api.patch(path, json!({ "headers": headers })).send().await.expect(200)["headers"].clone()
}

/// No answer holds a value: neither to who may only read nor to who writes, and neither in pages nor in a replayed answer.
#[tokio::test]
async fn values_are_shown_to_nobody() {
    let (mut desk, path) = desk().await;
    let reader = desk.server.client_with(&["webhooks.read"]).await;
    let change = || desk.api.patch(&path, json!({ "headers": { "X-Team": "b" } })).keyed("k");
    for answer in [
        reader.get(&path).send().await,
        reader.get("/v1/webhooks").send().await,
        change().send().await,
        change().send().await,
        reader.get(format!("{path}/deliveries")).send().await,
    ] {
        assert_eq!(answer.status, 200, "{answer}");
        assert!(!answer.text.contains("of-the-receiver"), "{answer}");
    }
    let headers = reader.get(&path).send().await.expect(200)["headers"].clone();
    assert_eq!(headers, json!({ "Authorization": MASK, "X-Team": MASK }));
    assert_eq!(received(&mut desk).await, (SECRET.to_owned(), "b".to_owned()), "the receiver gets them");
}

/// A webhook that was read can be written back, with or without a change: a masked value keeps the stored one.
#[tokio::test]
async fn a_masked_value_that_is_sent_back_keeps_what_is_stored() {
    let (mut desk, path) = desk().await;
    let read = desk.api.get(&path).send().await.expect(200);
    let same = desk.api.patch(&path, read.clone()).send().await.expect(200);
    assert_eq!(same["etag"], read["etag"], "nothing has changed");
    assert_eq!(received(&mut desk).await, (SECRET.to_owned(), "a".to_owned()));
    let shown = patch(&desk, &path, json!({ "authorization": MASK, "X-Team": "b" })).await;
    assert_eq!(shown, json!({ "Authorization": MASK, "X-Team": MASK }));
    assert_eq!(received(&mut desk).await, (SECRET.to_owned(), "b".to_owned()));
    let shown = patch(&desk, &path, json!({ "Authorization": "Bearer new", "X-Team": null })).await;
    assert_eq!(shown, json!({ "Authorization": MASK }));
    assert_eq!(received(&mut desk).await, ("Bearer new".to_owned(), String::new()));
}

/// The mask is no value: without a stored value it is refused.
#[tokio::test]
async fn a_mask_without_a_stored_value_is_refused() {
    let (mut desk, path) = desk().await;
    let masked = json!({ "headers": { "X-New": MASK } });
    let error = desk.api.patch(&path, masked.clone()).send().await.refused(400, "invalid_parameter");
    assert_eq!(error["param"], "headers.X-New");
    let mut new = masked;
    new["url"] = desk.receiver.url().into();
    new["eventTypes"] = json!(["*"]);
    let error = desk.api.post("/v1/webhooks", new).send().await.refused(400, "invalid_parameter");
    assert_eq!(error["param"], "headers.X-New");
    assert_eq!(received(&mut desk).await, (SECRET.to_owned(), "a".to_owned()));
}

/// A key that may change a webhook does not learn a stored value by leading it to a server of their own.
#[tokio::test]
async fn stored_values_do_not_follow_to_another_server() {
    let (mut desk, path) = desk().await;
    let elsewhere = "https://1.1.1.1/hook";
    for headers in [
        json!({}),
        json!({ "Authorization": MASK }),
        json!({ "X-Team": "b" }),
        json!({ "authorization": null, "X-Team": null }),
        json!({ "AUTHORIZATION": MASK, "X-Team": null }),
    ] {
        let change = json!({ "url": elsewhere, "headers": headers });
        let error = desk.api.patch(&path, change).send().await.refused(400, "invalid_parameter");
        assert_eq!(error["param"], "headers.Authorization", "{headers}");
    }
    let another_path = format!("{}/v2", desk.receiver.url());
    desk.api.patch(&path, json!({ "url": another_path })).send().await.expect(200);
    assert_eq!(received(&mut desk).await, (SECRET.to_owned(), "a".to_owned()), "the server is the same");
    let given = json!({ "url": elsewhere, "headers": { "Authorization": "x", "X-Team": null } });
    let moved = desk.api.patch(&path, given).send().await.expect(200);
    assert_eq!((&moved["url"], &moved["headers"]), (&json!(elsewhere), &json!({ "Authorization": MASK })));
    let without = json!({ "url": desk.receiver.url(), "headers": null });
    assert_eq!(desk.api.patch(&path, without).send().await.expect(200)["headers"], json!({}));
}
