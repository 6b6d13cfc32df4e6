//! Address books and cards of the sandbox provider.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::sandbox_provider::{Api, merged};

const BOOKS: &str = "/sandbox/v1/books";
const CARDS: &str = "/sandbox/v1/books/contacts/cards";

fn ada() -> Value {
    json!({
        "id": "ada-lovelace",
        "givenName": "Ada",
        "familyName": "Lovelace",
        "emails": [{ "value": "ada@engine.example", "type": "work", "primary": true }],
    })
}

fn circle(members: &[&str]) -> Value {
    json!({ "id": "circle", "type": "contact_group", "name": "Circle", "contactIds": members })
}

/// The three know people; anybody else begins with an empty main book.
#[tokio::test]
async fn seeded_books() {
    let api = Api::start();
    let me = api.get("/sandbox/v1/me").await.expect(200);
    assert_eq!(me["products"], json!(["email", "calendar", "contacts", "tasks"]));
    assert_eq!(me["grants"].as_array().unwrap().len(), 9);
    let books = api.get(BOOKS).await.expect(200);
    let (main, team) = (&books["books"][0], &books["books"][1]);
    assert_eq!(
        (&main["name"], &main["isDefault"], &main["readOnly"]),
        (&json!("Contacts"), &json!(true), &json!(false))
    );
    assert_eq!((&team["name"], &team["readOnly"]), (&json!("Team directory"), &json!(true)));
    assert_eq!(team["rights"], json!({ "read": true, "write": false, "delete": false }));

    let (cards, _) = api.walk_path(CARDS, "").await;
    let circles = cards.iter().filter(|c| c["type"] == "contact_group").count();
    assert_eq!((cards.len() - circles, circles), (40, 2));
    assert_eq!(main["contactCount"], 40);
    let sato = api.get(&format!("{CARDS}/sato-hanako")).await.expect(200);
    assert_eq!((&sato["displayName"], &sato["phoneticFamilyName"]), (&json!("佐藤花子"), &json!("さとう")));
    let (team, _) = api.walk_path(&format!("{BOOKS}/directory/cards"), "").await;
    assert_eq!(team.iter().filter(|c| c["readOnly"] == true && c["kind"] == "system").count(), 1);
    assert_eq!(team.iter().filter(|c| c["source"] == "directory").count(), 10);

    let fresh = api.as_person("ci-4711");
    let books = fresh.get(BOOKS).await.expect(200);
    assert_eq!(
        (books["books"].as_array().unwrap().len(), &books["books"][0]["contactCount"]),
        (1, &json!(0))
    );
}

#[tokio::test]
async fn books() {
    let api = Api::start();
    let path = format!("{BOOKS}/side");
    let body = || Some(json!({ "id": "side", "name": "Side", "description": "aside" }));
    let key = [("idempotency-key", "b1")];
    let made = api.send("POST", BOOKS, &key, body()).await.expect(201);
    assert_eq!(made["rights"], json!({ "read": true, "write": true, "delete": true }));
    assert_eq!(api.send("POST", BOOKS, &key, body()).await.expect(201), made);
    api.post(BOOKS, body().unwrap()).await.refused(409, "exists");
    let etag = made["etag"].as_str().unwrap();
    let changed =
        api.send("PATCH", &path, &[("if-match", etag)], Some(json!({ "name": "Aside" }))).await.expect(200);
    assert_eq!((&changed["name"], &changed["description"]), (&json!("Aside"), &json!("aside")));
    api.send("DELETE", &path, &[("if-match", etag)], None).await.refused(412, "stale");
    api.patch(&path, json!({ "name": " " })).await.refused(422, "invalidField");
    api.patch(&path, json!({ "colour": "#ffffff" })).await.refused(422, "invalidField");

    api.post(&format!("{path}/cards"), ada()).await.expect(201);
    api.delete(&path).await.refused(409, "notEmpty");
    for _ in 0..2 {
        let key = [("idempotency-key", "b2")];
        api.send("DELETE", &format!("{path}?force=true"), &key, None).await.expect(204);
    }
    api.get(&path).await.refused(404, "notFound");
    api.delete(&format!("{BOOKS}/contacts?force=true")).await.refused(409, "mainBook");
    api.delete(&format!("{BOOKS}/directory?force=true")).await.refused(403, "locked");
    api.patch(&format!("{BOOKS}/directory"), json!({ "name": "Mine" })).await.refused(403, "locked");
    api.post(&format!("{BOOKS}/directory/cards"), ada()).await.refused(403, "locked");
}

#[tokio::test]
async fn one_person() {
    let api = Api::start();
    let made = api.post(CARDS, ada()).await;
    assert_eq!(made.headers["etag"], made.body["card"]["etag"].as_str().unwrap());
    let card = made.expect(201)["card"].clone();
    assert_eq!(
        (&card["displayName"], &card["type"], &card["source"]),
        (&json!("Ada Lovelace"), &json!("contact"), &json!("addressBook"))
    );
    assert_eq!(
        card["emails"],
        json!([{ "value": "ada@engine.example", "type": "work", "label": null, "primary": true }])
    );

    let path = format!("{CARDS}/ada-lovelace");
    let etag = card["etag"].as_str().unwrap();
    let birthday = json!({ "birthday": { "month": 12, "day": 10 }, "prefix": "Countess" });
    let changed = api.send("PATCH", &path, &[("if-match", etag)], Some(birthday.clone())).await.expect(200);
    let card = &changed["card"];
    assert_eq!(card["birthday"], json!({ "year": null, "month": 12, "day": 10 }));
    assert_eq!((&card["givenName"], &card["prefix"]), (&json!("Ada"), &json!("Countess")));
    assert_eq!(card["displayName"], "Ada Lovelace", "it stays when a part of the name changes");
    api.send("PATCH", &path, &[("if-match", etag)], Some(json!({ "starred": true })))
        .await
        .refused(412, "stale");
    let same = api.patch(&path, birthday).await.expect(200);
    assert_eq!(same["card"]["etag"], card["etag"], "what changes nothing makes no new version");
    api.send("DELETE", &path, &[("if-match", etag)], None).await.refused(412, "stale");
    let gone = api.delete(&path).await.expect(200);
    assert_eq!(gone, json!({ "card": null, "others": [], "dropped": [] }));
    api.get(&path).await.refused(404, "notFound");
}

/// A refusal names the field.
#[tokio::test]
async fn wrong_cards() {
    let api = Api::start();
    let many = |count: usize| -> Value {
        (0..count).map(|n| json!({ "value": format!("m{n}@x.example") })).collect()
    };
    let cases = [
        (json!({ "notes": "nobody" }), "displayName"),
        (merged(ada(), json!({ "emails": many(101) })), "emails"),
        (merged(ada(), json!({ "emails": many(10_000) })), "emails"),
        (merged(ada(), json!({ "emails": [{ "value": "" }] })), "emails[0].value"),
        (merged(ada(), json!({ "phones": [{ "value": "1", "type": "red" }] })), "phones[0].type"),
        (merged(ada(), json!({ "birthday": { "year": 2023, "month": 2, "day": 29 } })), "birthday"),
        (
            merged(ada(), json!({ "anniversaries": [{ "date": { "month": 13, "day": 1 } }] })),
            "anniversaries[0].date",
        ),
        (merged(ada(), json!({ "contactIds": ["dana-petrov"] })), "contactIds"),
        (merged(circle(&[]), json!({ "emails": [] })), "emails"),
        (merged(circle(&[]), json!({ "name": "" })), "name"),
        (json!({ "type": "robot", "displayName": "R" }), "type"),
        (merged(ada(), json!({ "displayName": "[sandbox:invalid]" })), "displayName"),
        (merged(ada(), json!({ "notes": "x".repeat(300_000) })), "notes"),
        (merged(ada(), json!({ "mails": [] })), "mails"),
    ];
    for (body, field) in cases {
        let refused = api.post(CARDS, body).await;
        assert_eq!(refused.body["error"]["field"], field, "{}", refused.body);
        refused.refused(422, "invalidField");
    }
    api.patch(&format!("{CARDS}/dana-petrov"), json!({ "type": "contact_group" }))
        .await
        .refused(422, "invalidField");
    api.post(CARDS, merged(ada(), json!({ "notes": "x".repeat(1 << 20) }))).await.refused(413, "tooLarge");
}

/// A circle has persons of its book, each once; one that is deleted leaves it.
#[tokio::test]
async fn circles() {
    let api = Api::start();
    api.post(CARDS, ada()).await.expect(201);
    let refused = api.post(CARDS, circle(&["ada-lovelace", "team-bob"])).await;
    assert_eq!(refused.body["error"]["field"], "contactIds[1]");
    refused.refused(400, "notAMember");
    api.post(CARDS, circle(&["friends"])).await.refused(400, "notAMember");
    let made = api.post(CARDS, circle(&["ada-lovelace", "dana-petrov", "ada-lovelace"])).await.expect(201);
    assert_eq!(made["card"]["contactIds"], json!(["ada-lovelace", "dana-petrov"]));

    let (_, token) = api.walk_path(CARDS, "").await;
    let gone = api.delete(&format!("{CARDS}/dana-petrov")).await.expect(200);
    let left: Vec<&Value> = gone["others"].as_array().unwrap().iter().map(|c| &c["id"]).collect();
    assert_eq!(left, ["customers", "circle"]);
    assert_eq!(gone["others"][1]["contactIds"], json!(["ada-lovelace"]));
    let (changes, _) = api.walk_path(CARDS, &format!("syncToken={token}")).await;
    assert_eq!(changes.len(), 3);
    api.delete(&format!("{CARDS}/circle")).await.expect(200);
    api.get(&format!("{CARDS}/ada-lovelace")).await.expect(200);
    api.patch(&format!("{BOOKS}/directory/cards/everyone"), json!({ "name": "All" }))
        .await
        .refused(403, "locked");
}

fn png(bytes: impl AsRef<[u8]>) -> String {
    format!("data:image/png;base64,{}", STANDARD.encode(bytes))
}

/// A photo goes in as a `data:` URL, and comes out at one place; everywhere else there is its etag.
#[tokio::test]
async fn photos() {
    let api = Api::start();
    let photo = |url: &str| json!({ "photo": { "url": url } });
    let made = api.post(CARDS, merged(ada(), photo(&png("a picture")))).await.expect(201);
    let path = format!("{CARDS}/ada-lovelace");
    let shown = made["card"]["photo"].clone();
    assert!(shown["url"].is_null() && shown["etag"].is_string());
    let stored = api.get(&format!("{path}/picture")).await.expect(200);
    let bytes = STANDARD.encode("a picture");
    let expected = json!({ "contentType": "image/png", "contentBase64": bytes, "etag": shown["etag"] });
    assert_eq!(stored, expected);

    // A resource that was read can be sent back; another etag is invalid.
    let same = api.patch(&path, json!({ "photo": shown })).await.expect(200);
    assert_eq!(same["card"]["etag"], made["card"]["etag"]);
    api.patch(&path, json!({ "photo": { "etag": "other" } })).await.refused(422, "invalidField");
    let large = png(vec![0; (512 << 10) + 1]);
    for bad in ["data:image/png;base64,é", "data:text/html;base64,AAAA", "data:image/png,A", &large] {
        api.patch(&path, photo(bad)).await.refused(422, "invalidField");
    }
    api.patch(&path, photo(&png(vec![0; 512 << 10]))).await.expect(200);

    let linked = api.patch(&path, photo("https://p.example/ada.png")).await.expect(200);
    assert_ne!(linked["card"]["photo"]["etag"], shown["etag"]);
    api.get(&format!("{path}/picture")).await.refused(404, "notFound");
    let none = api.patch(&path, json!({ "photo": null })).await.expect(200);
    assert_eq!(none["card"]["photo"], Value::Null);
}

/// Lists of cards are walked as lists of events are, and a token is for its own book.
#[tokio::test]
async fn follow_changes() {
    let api = Api::start();
    let (_, token) = api.walk_path(CARDS, "").await;
    let list = format!("{CARDS}?syncToken={token}");
    api.get(&format!("{BOOKS}/directory/cards?syncToken={token}")).await.refused(400, "badRequest");
    api.get(&format!("/sandbox/v1/lists/tasks/todos?syncToken={token}")).await.refused(400, "badRequest");
    api.get(&format!("{CARDS}?limit=251")).await.refused(422, "invalidField");
    assert_eq!(api.get(&format!("{CARDS}?q=ada")).await.status.as_u16(), 400, "there are no filters");
    api.post(CARDS, ada()).await.expect(201);
    api.delete(&format!("{CARDS}/li-na")).await.expect(200);
    let (changes, token) = api.walk_path(CARDS, &format!("syncToken={token}")).await;
    assert_eq!(changes.len(), 3, "a person, a deletion, and the circle that it was in");
    assert_eq!((&changes[1]["id"], &changes[1]["deleted"]), (&json!("li-na"), &json!(true)));
    api.send("POST", "/sandbox/reset", &[], None).await.expect(204);
    api.get(&list).await.refused(410, "syncTokenExpired");
    api.get(&format!("{CARDS}?syncToken={token}")).await.refused(410, "syncTokenExpired");
    api.get(&format!("{CARDS}/ada-lovelace")).await.refused(404, "notFound");
    api.get(&format!("{CARDS}/li-na")).await.expect(200);
}

/// Everything outlives the process.
#[tokio::test]
async fn restart() {
    let dir = tempfile::tempdir().unwrap();
    let api = Api::open(Some(dir.path()));
    let (_, token) = api.walk_path(CARDS, "").await;
    let picture = json!({ "photo": { "url": png("p") } });
    let key = [("idempotency-key", "k")];
    let made = api.send("POST", CARDS, &key, Some(merged(ada(), picture.clone()))).await.expect(201);
    api.delete(&format!("{CARDS}/li-na")).await.expect(200);
    api.post(BOOKS, json!({ "id": "side", "name": "Side" })).await.expect(201);
    api.post(BOOKS, json!({ "id": "other", "name": "Other" })).await.expect(201);
    api.delete(&format!("{BOOKS}/other")).await.expect(204);
    let (before, _) = api.walk_path(CARDS, "").await;
    let books = api.get(BOOKS).await.expect(200);
    drop(api);

    let api = Api::open(Some(dir.path()));
    assert_eq!(api.walk_path(CARDS, "").await.0, before);
    assert_eq!(api.get(BOOKS).await.expect(200), books);
    assert_eq!(api.walk_path(CARDS, &format!("syncToken={token}")).await.0.len(), 3);
    let again = api.send("POST", CARDS, &key, Some(merged(ada(), picture))).await.expect(201);
    assert_eq!(again, made);
    api.get(&format!("{CARDS}/ada-lovelace/picture")).await.expect(200);
}
