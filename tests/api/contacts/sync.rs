//! `/v1/contacts/sync`

use std::collections::BTreeMap;

use harness::{Actor, TestServer};
use serde_json::{Value, json};

use crate::contacts::people::zoe;
use crate::local_reads::{held, hold, let_go};

/// A client's replica of everything in the feed, by id.
#[derive(Default)]
pub struct Replica {
    pub cursor: Option<String>,
    pub resources: BTreeMap<String, Value>,
    pub told: Vec<(String, String)>,
}

impl Replica {
    pub async fn catch_up(&mut self, api: &Actor, feed: &str, limit: usize) {
        loop {
            let sign = if feed.contains('?') { '&' } else { '?' };
            let mut path = format!("{feed}{sign}limit={limit}");
            if let Some(cursor) = &self.cursor {
                path.push_str(&format!("&cursor={cursor}"));
            }
            let page = api.get(path).send().await.expect(200);
            for change in page["data"].as_array().expect("a list") {
                let id = change["resourceId"].as_str().expect("a text").to_owned();
                let kind = format!(
                    "{} {}",
                    change["resourceType"].as_str().expect("a text"),
                    change["changeType"].as_str().expect("a text")
                );
                match change["changeType"].as_str() {
                    Some("deleted") => {
                        assert!(self.resources.remove(&id).is_some(), "deleted before created: {id}")
                    }
                    _ => {
                        self.resources.insert(id.clone(), change["resource"].clone());
                    }
                }
                self.told.push((kind, id));
            }
            self.cursor = page["sync_cursor"].as_str().map(str::to_owned);
            if page["next_cursor"].is_null() {
                return;
            }
        }
    }

    fn news(&mut self) -> Vec<String> {
        std::mem::take(&mut self.told).into_iter().map(|(kind, _)| kind).collect()
    }
}

/// One feed has all books of a connection, their groups and their contacts; every change, by any program, is reported once.
#[tokio::test]
async fn a_replica_follows_all_books() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let connection = api.connect_account("alice").await;
    let start = json!({ "connectionId": connection });
    let feed = format!("/v1/contacts/sync/changes?connection_id={connection}");
    api.get(&feed).send().await.refused(409, "sync_not_started");
    let state = api.post("/v1/contacts/sync/start", start.clone()).send().await.expect(202);
    assert_eq!((&state["surface"], &state["scopeId"]), (&json!("contacts"), &Value::Null));
    api.post("/v1/contacts/sync/start", start).send().await.expect(200);

    let mut replica = Replica::default();
    replica.catch_up(&api, &feed, 7).await;
    let count = |replica: &Replica, prefix: &str| {
        replica.resources.keys().filter(|id| id.starts_with(prefix)).count()
    };
    assert_eq!(count(&replica, "cbk_"), 2);
    assert!(count(&replica, "con_") > 30 && count(&replica, "cgr_") >= 3);
    replica.told.clear();
    replica.catch_up(&api, &feed, 100).await;
    assert_eq!(replica.news(), Vec::<String>::new());

    let books = format!("/v1/contact-books?connection_id={connection}");
    let book = api.named(&books, "Contacts").await;
    let new =
        api.post("/v1/contacts", json!({ "bookId": book, "displayName": "New" })).send().await.expect(201);
    server.clock.advance_ms(1);
    replica.catch_up(&api, &feed, 100).await;
    assert_eq!(replica.news(), ["contact created"]);
    assert_eq!(replica.resources[new["id"].as_str().unwrap()], new);

    let group =
        api.post("/v1/contact-groups", json!({ "bookId": book, "name": "G", "contactIds": [new["id"]] }));
    let group = group.send().await.expect(201);
    server.clock.advance_ms(1);
    replica.catch_up(&api, &feed, 100).await;
    let mut news = replica.news();
    news.sort();
    assert_eq!(news, ["contact updated", "contact_group created"], "a membership shows on both sides");
    assert_eq!(replica.resources[new["id"].as_str().unwrap()]["groupIds"], json!([group["id"]]));

    let card = format!("/sandbox/v1/books/contacts/cards/{}", new["externalId"].as_str().unwrap());
    server.provider("alice").delete(card).send().await.expect(200);
    server.clock.advance_ms(1);
    replica.catch_up(&api, &feed, 100).await;
    let mut news = replica.news();
    news.sort();
    assert_eq!(news, ["contact deleted", "contact_group updated"]);
    let group = &replica.resources[group["id"].as_str().unwrap()];
    assert_eq!((&group["contactIds"], &group["memberCount"]), (&json!([]), &json!(0)));
}

/// An unreadable record is quarantined and shown; all others go on.
#[tokio::test]
async fn an_unreadable_card_stops_nothing() {
    let server = TestServer::start().await;
    let (api, connection) = zoe(&server).await;
    let provider = server.provider("zoe");
    let cards = "/sandbox/v1/books/contacts/cards";
    provider.post(cards, json!({ "id": "good", "displayName": "Good" })).send().await.expect(201);
    provider
        .post(cards, json!({ "id": "poison", "displayName": "Bad [sandbox:crash]" }))
        .send()
        .await
        .expect(201);
    api.post("/v1/contacts/sync/start", json!({ "connectionId": connection })).send().await.expect(202);
    let feed = format!("/v1/contacts/sync/changes?connection_id={connection}");
    let mut replica = Replica::default();
    replica.catch_up(&api, &feed, 100).await;
    let names: Vec<&Value> =
        replica.resources.values().map(|r| &r["displayName"]).filter(|n| n.is_string()).collect();
    assert_eq!(names, ["Good"]);
    let status = api.get(format!("/v1/contacts/sync/status/{connection}")).send().await.expect(200);
    assert_eq!(status["status"], "caught_up");
    assert_eq!(status["itemErrorCount"], 1);
    assert_eq!(status["itemErrors"][0]["externalId"], "poison");
    provider.patch(format!("{cards}/poison"), json!({ "displayName": "Mended" })).send().await.expect(200);
    server.clock.advance_ms(1);
    replica.catch_up(&api, &feed, 100).await;
    let status = api.get(format!("/v1/contacts/sync/status/{connection}")).send().await.expect(200);
    assert_eq!((&status["itemErrorCount"], &status["itemErrors"]), (&json!(0), &json!([])));
    assert!(replica.resources.values().any(|r| r["displayName"] == "Mended"));
}

/// Books that were read before do not make the others look read.
#[tokio::test]
async fn an_unread_book_is_not_caught_up() {
    let server = TestServer::start().await;
    let (api, connection) = zoe(&server).await;
    let club = json!({ "connectionId": connection, "name": "Club" });
    let club = api.post("/v1/contact-books", club).send().await.expect(201);
    let books = api.all(&format!("/v1/contact-books?connection_id={connection}")).await;
    let main = books.iter().find(|book| book["isDefault"] == true).unwrap();
    api.all(&format!("/v1/contacts?book_id={}", club["id"].as_str().unwrap())).await;
    let pull = format!("pull:{connection}:contacts:{}", main["id"].as_str().unwrap());
    let held = server.app.locks.lock(&pull).await;
    api.post("/v1/contacts/sync/start", json!({ "connectionId": connection })).send().await.expect(202);
    let status = async || api.get(format!("/v1/contacts/sync/status/{connection}")).send().await.expect(200);
    let first = status().await;
    assert_eq!((&first["status"], &first["lastSuccessAt"]), (&json!("initial"), &Value::Null));
    drop(held);
    api.all(&format!("/v1/contacts?connection_id={connection}")).await;
    assert_eq!(status().await["status"], "caught_up");
    let new = json!({ "connectionId": connection, "name": "New" });
    server.clock.advance_ms(1);
    api.post("/v1/contact-books", new).send().await.expect(201);
    assert_eq!(status().await["status"], "caught_up", "what was made since is for the next round");
}

/// A book that the list has just reported is not read along with the list, however long the provider took to answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn books_that_were_only_listed_are_not_caught_up() {
    let server = TestServer::start().await;
    let (api, connection) = zoe(&server).await;
    let provider = server.provider("zoe");
    hold(&provider, "/sandbox/v1/books").await;
    let answer = async {
        held(&provider).await;
        server.clock.advance_ms(1_000);
        let_go(&provider).await;
    };
    let listing = api.get(format!("/v1/contact-books?connection_id={connection}")).send();
    let (listed, ()) = tokio::join!(listing, answer);
    assert!(listed.expect(200)["data"].as_array().is_some_and(|books| !books.is_empty()));
    let status = api.get(format!("/v1/contacts/sync/status/{connection}")).send().await.expect(200);
    assert_eq!((&status["status"], &status["lastSuccessAt"]), (&json!("initial"), &Value::Null));
}

/// A soft reset keeps cursors and reports nothing new; a hard one ends them.
#[tokio::test]
async fn resets() {
    let server = TestServer::start().await;
    let (api, connection) = zoe(&server).await;
    let cards = "/sandbox/v1/books/contacts/cards";
    server.provider("zoe").post(cards, json!({ "displayName": "One" })).send().await.expect(201);
    api.post("/v1/contacts/sync/start", json!({ "connectionId": connection })).send().await.expect(202);
    let feed = format!("/v1/contacts/sync/changes?connection_id={connection}");
    let mut replica = Replica::default();
    replica.catch_up(&api, &feed, 100).await;
    replica.told.clear();
    let reset = |mode: &str| json!({ "connectionId": connection, "mode": mode });
    api.post("/v1/contacts/sync/reset", reset("soft")).send().await.expect(202);
    server.clock.advance_ms(1);
    replica.catch_up(&api, &feed, 100).await;
    assert!(replica.told.is_empty(), "{:?}", replica.told);
    api.post("/v1/contacts/sync/reset", reset("hard")).send().await.expect(202);
    let old = format!("{feed}&cursor={}", replica.cursor.clone().unwrap());
    api.get(old).send().await.refused(409, "sync_reset_required");
    let mut anew = Replica::default();
    anew.catch_up(&api, &feed, 100).await;
    assert_eq!(anew.resources, replica.resources);
    for (path, body) in [("start", json!({})), ("reset", json!({}))] {
        let refused = api.post(format!("/v1/contacts/sync/{path}"), body).send().await;
        assert_eq!(refused.refused(400, "missing_field")["param"], "connectionId");
    }
    let refused = api.get("/v1/contacts/sync/changes").send().await;
    assert_eq!(refused.refused(400, "missing_field")["param"], "connection_id");
}
