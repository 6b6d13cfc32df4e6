//! `/v1/contact-groups`

use harness::TestServer;
use serde_json::{Value, json};

use crate::contacts::people::zoe;

/// Membership can be said from either side, and shows on both.
#[tokio::test]
async fn a_group() {
    let server = TestServer::start().await;
    let (api, connection) = zoe(&server).await;
    let mut ids = Vec::new();
    for name in ["Ann", "Ben", "Cem"] {
        let body = json!({ "connectionId": connection, "displayName": name });
        ids.push(api.post("/v1/contacts", body).send().await.expect(201)["id"].clone());
    }
    let path_of = |id: &Value| format!("/v1/contacts/{}", id.as_str().unwrap());
    let body = json!({ "connectionId": connection, "name": "Board", "contactIds": [ids[1], ids[0]] });
    let group = api.post("/v1/contact-groups", body).keyed("g").send().await.expect(201);
    for field in "id connectionId bookId externalId name kind contactIds memberCount readOnly etag createdAt updatedAt metadata \
                  warnings"
        .split_whitespace()
    {
        assert!(group.get(field).is_some(), "{field}: {group:#}");
    }
    assert_eq!((&group["memberCount"], &group["kind"]), (&json!(2), &json!("user")));
    assert_eq!(api.get(path_of(&ids[0])).send().await.expect(200)["groupIds"], json!([group["id"]]));

    let path = format!("/v1/contact-groups/{}", group["id"].as_str().unwrap());
    let joined = api.patch(path_of(&ids[2]), json!({ "groupIds": [group["id"]] })).send().await.expect(200);
    assert_eq!(joined["groupIds"], json!([group["id"]]));
    let read = api.get(&path).send().await.expect(200);
    let mut sorted: Vec<&str> = ids.iter().map(|id| id.as_str().unwrap()).collect();
    sorted.sort_unstable();
    assert_eq!((&read["contactIds"], &read["memberCount"]), (&json!(sorted), &json!(3)));
    assert_ne!(read["etag"], group["etag"]);
    let change = json!({ "groupIds": [], "metadata": { "left": "yes" } });
    let left = api.patch(path_of(&ids[0]), change).send().await.expect(200);
    assert_eq!((&left["groupIds"], &left["metadata"]), (&json!([]), &json!({ "left": "yes" })));
    let read = api.get(path_of(&ids[0])).send().await.expect(200);
    assert_eq!((&read["groupIds"], &read["etag"]), (&json!([]), &left["etag"]));
    let fewer =
        api.patch(&path, json!({ "contactIds": [ids[2]], "name": "Council" })).send().await.expect(200);
    assert_eq!((&fewer["name"], &fewer["contactIds"]), (&json!("Council"), &json!([ids[2]])));
    assert_eq!(api.get(path_of(&ids[1])).send().await.expect(200)["groupIds"], json!([]));
    api.patch(&path, json!({ "name": "x" }))
        .if_match(group["etag"].as_str().unwrap())
        .send()
        .await
        .refused(409, "stale_etag");

    let listed = api.all(&format!("/v1/contact-groups?connection_id={connection}&q=council")).await;
    assert_eq!(listed.len(), 1);
    api.delete(&path).send().await.expect(204);
    api.get(&path).send().await.refused(404, "not_found");
    assert_eq!(
        api.get(path_of(&ids[2])).send().await.expect(200)["groupIds"],
        json!([]),
        "its contacts stay"
    );
}

/// Members are contacts of the same book.
#[tokio::test]
async fn members_of_other_books_are_refused() {
    let server = TestServer::start().await;
    let (api, connection) = zoe(&server).await;
    let club = api
        .post("/v1/contact-books", json!({ "connectionId": connection, "name": "Club" }))
        .send()
        .await
        .expect(201);
    let body = json!({ "bookId": club["id"], "displayName": "Elsewhere" });
    let elsewhere = api.post("/v1/contacts", body).send().await.expect(201);
    let here = api
        .post("/v1/contacts", json!({ "connectionId": connection, "displayName": "Here" }))
        .send()
        .await
        .expect(201);
    let group =
        |members: Value| json!({ "connectionId": connection, "name": "Mixed", "contactIds": members });
    let refused = api.post("/v1/contact-groups", group(json!([here["id"], elsewhere["id"]]))).send().await;
    assert_eq!(refused.refused(400, "invalid_parameter")["param"], "contactIds[1]");
    let twice = api.post("/v1/contact-groups", group(json!([here["id"], here["id"]]))).send().await;
    assert_eq!(twice.refused(400, "invalid_parameter")["param"], "contactIds[1]");
    let made = api.post("/v1/contact-groups", group(json!([here["id"]]))).send().await.expect(201);
    let path = format!("/v1/contacts/{}", elsewhere["id"].as_str().unwrap());
    let refused = api.patch(path, json!({ "groupIds": [made["id"]] })).send().await;
    assert_eq!(refused.refused(400, "invalid_parameter")["param"], "groupIds[0]");
}

/// A large group shows only the number of its members; they are listed with `group_id`.
#[tokio::test]
async fn a_large_group() {
    let server = TestServer::builder().config(|c| c.freshness_ms = 600_000).start().await;
    let (api, _) = zoe(&server).await;
    let provider = server.provider("zoe");
    let cards = "/sandbox/v1/books/contacts/cards";
    let ids: Vec<String> = (0..501).map(|n| format!("m-{n:03}")).collect();
    let made = ids.iter().map(|id| provider.post(cards, json!({ "id": id, "displayName": id })).send());
    for made in futures::future::join_all(made).await {
        made.expect(201);
    }
    provider
        .post(cards, json!({ "type": "contact_group", "name": "Many", "contactIds": ids }))
        .send()
        .await
        .expect(201);
    let groups = api.all("/v1/contact-groups").await;
    assert_eq!((&groups[0]["memberCount"], &groups[0]["contactIds"]), (&json!(501), &Value::Null));
    let members =
        api.all(&format!("/v1/contacts?group_id={}&limit=200", groups[0]["id"].as_str().unwrap())).await;
    assert_eq!(members.len(), 501);
}
