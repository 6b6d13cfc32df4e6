//! `/v1/contact-books`

use harness::TestServer;
use serde_json::json;

use crate::contacts::people::zoe;

/// The life of a book. It has a count of contacts, and is deleted with them only on request.
#[tokio::test]
async fn a_book() {
    let server = TestServer::start().await;
    let (api, connection) = zoe(&server).await;
    let new = json!({ "connectionId": connection, "name": "Club", "description": "Friday" });
    let book = api.post("/v1/contact-books", new).keyed("b").send().await.expect(201);
    for field in "id connectionId externalId name description isDefault readOnly contactCount rights etag createdAt updatedAt \
                  metadata warnings"
        .split_whitespace()
    {
        assert!(book.get(field).is_some(), "{field}: {book:#}");
    }
    assert_eq!(book["rights"], json!({ "read": true, "write": true, "delete": true }));
    let path = format!("/v1/contact-books/{}", book["id"].as_str().unwrap());
    let changed = api.patch(&path, json!({ "name": "Saturday", "metadata": { "a": "b" } }));
    let changed = changed.if_match(book["etag"].as_str().unwrap()).send().await.expect(200);
    assert_eq!((&changed["name"], &changed["metadata"]["a"]), (&json!("Saturday"), &json!("b")));
    api.patch(&path, json!({ "name": "x", "etag": book["etag"] })).send().await.refused(409, "stale_etag");
    let read_only = api.patch(&path, json!({ "isDefault": true })).send().await;
    assert_eq!(read_only.refused(400, "invalid_parameter")["param"], "isDefault");

    let contact = json!({ "bookId": book["id"], "displayName": "Member" });
    let contact = api.post("/v1/contacts", contact).send().await.expect(201);
    api.all(&format!("/v1/contacts?book_id={}", book["id"].as_str().unwrap())).await;
    let counted = api.get(&path).send().await.expect(200);
    assert_eq!(counted["contactCount"], 1);
    assert_eq!(counted["etag"], changed["etag"], "a count is no part of the version");
    let listed = api.all(&format!("/v1/contact-books?connection_id={connection}&limit=1")).await;
    assert_eq!(listed.len(), 2);
    assert!(listed.contains(&counted), "{listed:#?}");
    let same = api.patch(&path, counted.clone()).send().await.expect(200);
    assert_eq!(same, counted, "what was read can be sent back, and every answer counts");
    let other = api.patch(&path, json!({ "contactCount": 7 })).send().await;
    assert_eq!(other.refused(400, "invalid_parameter")["param"], "contactCount");

    api.delete(&path).send().await.refused(409, "not_empty");
    api.get(&path).send().await.expect(200);
    api.delete(format!("{path}?force=true")).send().await.expect(204);
    api.get(&path).send().await.refused(404, "not_found");
    api.get(format!("/v1/contacts/{}", contact["id"].as_str().unwrap()))
        .send()
        .await
        .refused(404, "not_found");

    let empty = json!({ "connectionId": connection, "name": "Empty" });
    let empty = api.post("/v1/contact-books", empty).send().await.expect(201);
    api.delete(format!("/v1/contact-books/{}", empty["id"].as_str().unwrap())).send().await.expect(204);
    let nameless = api.post("/v1/contact-books", json!({ "connectionId": connection })).send().await;
    assert_eq!(nameless.refused(400, "missing_field")["param"], "name");
}

/// The provider's own rules stay: the main book cannot be deleted.
#[tokio::test]
async fn the_default_book_stays() {
    let server = TestServer::start().await;
    let (api, connection) = zoe(&server).await;
    let books = api.all(&format!("/v1/contact-books?connection_id={connection}")).await;
    assert_eq!(books[0]["isDefault"], true);
    let path = format!("/v1/contact-books/{}", books[0]["id"].as_str().unwrap());
    api.delete(format!("{path}?force=true")).send().await.refused(409, "invalid_state");
}
