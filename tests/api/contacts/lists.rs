//! `/v1/contacts`: search, filters, order.

use std::collections::BTreeSet;

use futures::future::join_all;
use harness::{Actor, TestServer};
use serde_json::{Value, json};

use crate::contacts::people::zoe;

async fn add(api: &Actor, connection: &str, mut body: Value) -> Value {
    body["connectionId"] = json!(connection);
    api.post("/v1/contacts", body).send().await.expect(201)
}

fn names(found: &[Value]) -> Vec<&str> {
    found.iter().map(|c| c["displayName"].as_str().expect("a text")).collect()
}

/// Lists are sorted by name without regard to case, in any script; then by id.
#[tokio::test]
async fn contacts_are_in_the_order_of_their_names() {
    let server = TestServer::start().await;
    let (api, connection) = zoe(&server).await;
    for name in ["bob", "Alice", "Émile", "ALICE", "山田 太郎", "Zoë", "émile", "Bob"] {
        add(&api, &connection, json!({ "displayName": name })).await;
    }
    let all = api.all("/v1/contacts?limit=3").await;
    let folded: Vec<String> = names(&all).iter().map(|n| n.to_lowercase()).collect();
    assert_eq!(folded, ["alice", "alice", "bob", "bob", "zoë", "émile", "émile", "山田 太郎"]);
    let twins: Vec<&str> = all[..2].iter().map(|c| c["id"].as_str().unwrap()).collect();
    assert!(twins[0] < twins[1]);
}

/// Search looks in all fields of a contact; case and accents do not matter.
#[tokio::test]
async fn search() {
    let server = TestServer::start().await;
    let (api, connection) = zoe(&server).await;
    let body = json!({ "displayName": "José García", "organizations": [{ "name": "Ünal & Söhne" }],
        "emails": [{ "value": "jose@unal.example" }], "notes": "100% reliable_person" });
    add(&api, &connection, body).await;
    add(&api, &connection, json!({ "displayName": "Josefine Meier", "nickname": "Fine" })).await;
    for (q, found) in [
        ("jose", 2),
        ("JOSÉ garcia", 1),
        ("unal sohne", 1),
        ("fine", 1),
        ("unal.example", 1),
        ("100%25", 1),
        ("liable_per", 1),
        ("1000", 0),
        ("_", 1),
        ("meier garcia", 0),
    ] {
        let all = api.all(&format!("/v1/contacts?q={}", q.replace(' ', "+"))).await;
        assert_eq!(all.len(), found, "{q}: {:?}", names(&all));
    }
    let many = api.get(format!("/v1/contacts?q={}", "a+".repeat(9))).send().await;
    assert_eq!(many.refused(400, "invalid_parameter")["param"], "q");
}

/// An address is found in any case, a number in any spelling, members by their group.
#[tokio::test]
async fn filters() {
    let server = TestServer::start().await;
    let (api, connection) = zoe(&server).await;
    let body = json!({ "displayName": "Ann", "emails": [{ "value": "Ann@Example.ORG" }],
        "phones": [{ "value": "+49 (30) 901820" }, { "value": "030 1234" }] });
    let ann = add(&api, &connection, body).await;
    let ben =
        add(&api, &connection, json!({ "displayName": "Ben", "emails": [{ "value": "ben@example.org" }] }))
            .await;
    let group = json!({ "connectionId": connection, "name": "Team", "contactIds": [ann["id"], ben["id"]] });
    let group = api.post("/v1/contact-groups", group).send().await.expect(201);
    let book = ann["bookId"].as_str().unwrap();
    let group = group["id"].as_str().unwrap();
    for (query, found) in [
        ("email=ann@example.org".to_owned(), vec!["Ann"]),
        ("email=ann@example.or".to_owned(), vec![]),
        ("phone=%2B4930901820".to_owned(), vec!["Ann"]),
        ("phone=%2B49-30-901820".to_owned(), vec!["Ann"]),
        ("phone=0301234".to_owned(), vec!["Ann"]),
        (format!("group_id={group}"), vec!["Ann", "Ben"]),
        (format!("group_id={group}&email=ben@example.org"), vec!["Ben"]),
        (format!("group_id={group}&q=ann"), vec!["Ann"]),
        (format!("book_id={book}"), vec!["Ann", "Ben"]),
        (format!("connection_id={connection}&q=ben"), vec!["Ben"]),
        ("updated_after=2026-03-01T08:00:01Z".to_owned(), vec![]),
        ("updated_after=2026-03-01T08:00:00Z".to_owned(), vec!["Ann", "Ben"]),
    ] {
        assert_eq!(names(&api.all(&format!("/v1/contacts?{query}")).await), found, "{query}");
    }
    for (query, param) in [
        ("book_id=cbk_none", "book_id"),
        ("group_id=cgr_none", "group_id"),
        ("updated_after=yesterday", "updated_after"),
        ("limit=0", "limit"),
    ] {
        let refused = api.get(format!("/v1/contacts?{query}")).send().await;
        assert_eq!(refused.refused(400, "invalid_parameter")["param"], param);
    }
    api.get("/v1/contacts?connection_id=conn_none").send().await.refused(404, "not_found");
    let first = api.get("/v1/contacts?limit=1").send().await.expect(200);
    let cursor = first["next_cursor"].as_str().unwrap();
    let other = api.get(format!("/v1/contacts?limit=1&q=ann&cursor={cursor}")).send().await;
    other.refused(400, "invalid_cursor");
}

/// Paging through 5,000 contacts seven at a time, while another client writes, lists each unchanged one exactly once.
#[tokio::test]
async fn a_walk_under_churn_is_whole() {
    const CONTACTS: usize = 5_000;
    let server = TestServer::builder().config(|c| c.freshness_ms = 600_000).start().await;
    let (api, connection) = zoe(&server).await;
    let provider = server.provider("zoe");
    for chunk in (0..CONTACTS).collect::<Vec<_>>().chunks(100) {
        let made = chunk.iter().map(|n| {
            let label = format!("Person {:04}", n * 7919 % CONTACTS);
            provider
                .post(
                    "/sandbox/v1/books/contacts/cards",
                    json!({ "id": format!("p-{n:05}"), "displayName": label }),
                )
                .send()
        });
        for made in join_all(made).await {
            made.expect(201);
        }
    }
    let all = api.all("/v1/contacts?limit=200").await;
    assert_eq!(all.len(), CONTACTS);
    // Every tenth is renamed or goes while the list is walked, and new ones come.
    let ids: Vec<String> = all.iter().map(|c| c["id"].as_str().unwrap().to_owned()).collect();
    let touched: BTreeSet<&String> = ids.iter().step_by(10).collect();
    let writer = async {
        for (n, id) in touched.iter().enumerate() {
            let path = format!("/v1/contacts/{id}");
            match n % 3 {
                0 => api.delete(path).send().await.expect(204),
                1 => api.patch(path, json!({ "displayName": format!("Aaron {n}") })).send().await.expect(200),
                _ => api
                    .patch(path, json!({ "displayName": format!("Zacharias {n}") }))
                    .send()
                    .await
                    .expect(200),
            };
            let new = json!({ "connectionId": connection, "displayName": format!("Person {n:04} new") });
            api.post("/v1/contacts", new).send().await.expect(201);
        }
    };
    let (walked, ()) = tokio::join!(api.all("/v1/contacts?limit=7"), writer);
    let mut seen = BTreeSet::new();
    for contact in &walked {
        let id = contact["id"].as_str().unwrap().to_owned();
        assert!(seen.insert(id.clone()) || touched.contains(&id), "twice: {contact:#}");
    }
    let missed: Vec<&String> = ids.iter().filter(|id| !touched.contains(id) && !seen.contains(*id)).collect();
    assert!(missed.is_empty(), "missed: {missed:?}");
}
