//! `/v1/contacts/{contactId}/photo`

use harness::TestServer;
use serde_json::{Value, json};

use crate::contacts::people::zoe;

/// The smallest picture: one transparent pixel.
const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

/// A picture is stored by a data: URL, shown by its etag, read by a separate request, and removed with null.
#[tokio::test]
async fn a_picture_in_the_record() {
    let server = TestServer::start().await;
    let (api, connection) = zoe(&server).await;
    let body = json!({ "connectionId": connection, "displayName": "Pixel",
        "photo": { "url": format!("data:image/png;base64,{PIXEL}") } });
    let contact = api.post("/v1/contacts", body).send().await.expect(201);
    assert_eq!(contact["photo"]["url"], Value::Null);
    assert!(contact["photo"]["etag"].is_string(), "{contact:#}");
    let path = format!("/v1/contacts/{}", contact["id"].as_str().unwrap());
    let photo = format!("{path}/photo");
    let picture = api.get(&photo).send().await.expect(200);
    assert_eq!(picture["contentType"], "image/png");
    assert_eq!(picture["contentBase64"], PIXEL);
    assert_eq!(picture["size"], 70);
    let raw = api.get(format!("{photo}?format=raw")).send().await;
    assert_eq!((raw.status, raw.header("content-type")), (200, Some("image/png")));
    assert_eq!(raw.header("x-content-type-options"), Some("nosniff"));

    let kept = api.patch(&path, json!({ "nickname": "Dot" })).send().await.expect(200);
    assert_eq!(kept["photo"], contact["photo"]);
    let linked = json!({ "photo": { "url": "https://example.org/p.png" } });
    let linked = api.patch(&path, linked).send().await.expect(200);
    assert_eq!(linked["photo"]["url"], "https://example.org/p.png");
    api.get(&photo).send().await.refused(404, "not_found");
    let gone = api.patch(&path, json!({ "photo": null })).send().await.expect(200);
    assert_eq!(gone["photo"], Value::Null);
}
