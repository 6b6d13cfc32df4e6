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
        "name": { "first": "Ada", "last": "Lovelace" },
        "mails": [{ "address": "ada@engine.example", "use": "office", "main": true }],
    })
}

fn circle(members: &[&str]) -> Value {
    json!({ "id": "circle", "kind": "circle", "label": "Circle", "members": members })
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
        (&main["title"], &main["main"], &main["locked"]),
        (&json!("Contacts"), &json!(true), &json!(false))
    );
    assert_eq!((&team["title"], &team["locked"]), (&json!("Team directory"), &json!(true)));
    assert_eq!(team["may"], json!({ "look": true, "edit": false, "remove": false }));

    let (cards, _) = api.walk_path(CARDS, "").await;
    let circles = cards.iter().filter(|c| c["kind"] == "circle").count();
    assert_eq!((cards.len() - circles, circles), (40, 2));
    assert_eq!(main["persons"], 40);
    let sato = api.get(&format!("{CARDS}/sato-hanako")).await.expect(200);
    assert_eq!((&sato["label"], &sato["name"]["lastSound"]), (&json!("佐藤花子"), &json!("さとう")));
    let (team, _) = api.walk_path(&format!("{BOOKS}/directory/cards"), "").await;
    assert!(team.iter().all(|c| c["locked"] == true));
    assert_eq!(team.iter().filter(|c| c["origin"] == "directory").count(), 10);

    let fresh = api.as_person("ci-4711");
    let books = fresh.get(BOOKS).await.expect(200);
    assert_eq!((books["books"].as_array().unwrap().len(), &books["books"][0]["persons"]), (1, &json!(0)));
}

#[tokio::test]
async fn books() {
    let api = Api::start();
    let path = format!("{BOOKS}/side");
    let body = || Some(json!({ "id": "side", "title": "Side", "notes": "aside" }));
    let key = [("idempotency-key", "b1")];
    let made = api.send("POST", BOOKS, &key, body()).await.expect(201);
    assert_eq!(made["may"], json!({ "look": true, "edit": true, "remove": true }));
    assert_eq!(api.send("POST", BOOKS, &key, body()).await.expect(201), made);
    api.post(BOOKS, body().unwrap()).await.refused(409, "exists");
    let etag = made["etag"].as_str().unwrap();
    let changed =
        api.send("PATCH", &path, &[("if-match", etag)], Some(json!({ "title": "Aside" }))).await.expect(200);
    assert_eq!((&changed["title"], &changed["notes"]), (&json!("Aside"), &json!("aside")));
    api.send("DELETE", &path, &[("if-match", etag)], None).await.refused(412, "stale");
    api.patch(&path, json!({ "title": " " })).await.refused(422, "invalidField");
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
    api.patch(&format!("{BOOKS}/directory"), json!({ "title": "Mine" })).await.refused(403, "locked");
    api.post(&format!("{BOOKS}/directory/cards"), ada()).await.refused(403, "locked");
}

#[tokio::test]
async fn one_person() {
    let api = Api::start();
    let made = api.post(CARDS, ada()).await;
    assert_eq!(made.headers["etag"], made.body["card"]["etag"].as_str().unwrap());
    let card = made.expect(201)["card"].clone();
    assert_eq!(
        (&card["label"], &card["kind"], &card["origin"]),
        (&json!("Ada Lovelace"), &json!("person"), &json!("entered"))
    );
    assert_eq!(
        card["mails"],
        json!([{ "address": "ada@engine.example", "use": "office", "called": null, "main": true }])
    );

    let path = format!("{CARDS}/ada-lovelace");
    let etag = card["etag"].as_str().unwrap();
    let birthday = json!({ "birthday": { "month": 12, "day": 10 }, "name": { "before": "Countess" } });
    let changed = api.send("PATCH", &path, &[("if-match", etag)], Some(birthday.clone())).await.expect(200);
    let card = &changed["card"];
    assert_eq!(card["birthday"], json!({ "year": null, "month": 12, "day": 10 }));
    assert_eq!((&card["name"]["first"], &card["name"]["before"]), (&json!("Ada"), &json!("Countess")));
    assert_eq!(card["label"], "Ada Lovelace", "a label stays when a name changes");
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
        (0..count).map(|n| json!({ "address": format!("m{n}@x.example") })).collect()
    };
    let cases = [
        (json!({ "notes": "nobody" }), "label"),
        (merged(ada(), json!({ "mails": many(101) })), "mails"),
        (merged(ada(), json!({ "mails": many(10_000) })), "mails"),
        (merged(ada(), json!({ "mails": [{ "address": "" }] })), "mails[0].address"),
        (merged(ada(), json!({ "phones": [{ "number": "1", "line": "red" }] })), "phones[0].line"),
        (merged(ada(), json!({ "birthday": { "year": 2023, "month": 2, "day": 29 } })), "birthday"),
        (merged(ada(), json!({ "days": [{ "on": { "month": 13, "day": 1 } }] })), "days[0].on"),
        (merged(ada(), json!({ "members": ["dana-petrov"] })), "members"),
        (merged(circle(&[]), json!({ "mails": [] })), "mails"),
        (merged(circle(&[]), json!({ "label": "" })), "label"),
        (json!({ "kind": "robot", "label": "R" }), "kind"),
        (merged(ada(), json!({ "label": "[sandbox:invalid]" })), "label"),
        (merged(ada(), json!({ "notes": "x".repeat(300_000) })), "notes"),
        (merged(ada(), json!({ "emails": [] })), "emails"),
    ];
    for (body, field) in cases {
        let refused = api.post(CARDS, body).await;
        assert_eq!(refused.body["error"]["field"], field, "{}", refused.body);
        refused.refused(422, "invalidField");
    }
    api.patch(&format!("{CARDS}/dana-petrov"), json!({ "kind": "circle" }))
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
    assert_eq!(refused.body["error"]["field"], "members[1]");
    refused.refused(400, "notAMember");
    api.post(CARDS, circle(&["friends"])).await.refused(400, "notAMember");
    let made = api.post(CARDS, circle(&["ada-lovelace", "dana-petrov", "ada-lovelace"])).await.expect(201);
    assert_eq!(made["card"]["members"], json!(["ada-lovelace", "dana-petrov"]));

    let (_, token) = api.walk_path(CARDS, "").await;
    let gone = api.delete(&format!("{CARDS}/dana-petrov")).await.expect(200);
    let left: Vec<&Value> = gone["others"].as_array().unwrap().iter().map(|c| &c["id"]).collect();
    assert_eq!(left, ["customers", "circle"]);
    assert_eq!(gone["others"][1]["members"], json!(["ada-lovelace"]));
    let (changes, _) = api.walk_path(CARDS, &format!("syncToken={token}")).await;
    assert_eq!(changes.len(), 3);
    api.delete(&format!("{CARDS}/circle")).await.expect(200);
    api.get(&format!("{CARDS}/ada-lovelace")).await.expect(200);
    api.patch(&format!("{BOOKS}/directory/cards/everyone"), json!({ "label": "All" }))
        .await
        .refused(403, "locked");
}

/// Bytes go in and come out at one place; everywhere else there is their fingerprint.
#[tokio::test]
async fn pictures() {
    let api = Api::start();
    let bytes = STANDARD.encode(b"\x89PNG a picture");
    let picture = json!({ "bytes": bytes, "type": "image/png" });
    let made = api.post(CARDS, merged(ada(), json!({ "picture": picture }))).await.expect(201);
    let path = format!("{CARDS}/ada-lovelace");
    let shown = made["card"]["picture"].clone();
    assert_eq!(
        (&shown["bytes"], &shown["type"], &shown["url"]),
        (&Value::Null, &json!("image/png"), &Value::Null)
    );
    let stored = api.get(&format!("{path}/picture")).await.expect(200);
    assert_eq!(stored, json!({ "type": "image/png", "bytes": bytes, "fingerprint": shown["fingerprint"] }));

    // A resource that was read can be sent back; another fingerprint is invalid.
    let same = api.patch(&path, json!({ "picture": shown })).await.expect(200);
    assert_eq!(same["card"]["etag"], made["card"]["etag"]);
    api.patch(&path, json!({ "picture": { "fingerprint": "other" } })).await.refused(422, "invalidField");
    api.patch(&path, json!({ "picture": { "bytes": "é", "type": "image/png" } }))
        .await
        .refused(422, "invalidField");
    api.patch(&path, json!({ "picture": { "bytes": bytes, "type": "text/html" } }))
        .await
        .refused(422, "invalidField");
    let big =
        json!({ "picture": { "bytes": STANDARD.encode(vec![0; (512 << 10) + 1]), "type": "image/png" } });
    api.patch(&path, big).await.refused(422, "invalidField");
    let largest = json!({ "picture": { "bytes": STANDARD.encode(vec![0; 512 << 10]), "type": "image/png" } });
    api.patch(&path, largest).await.expect(200);

    let url = json!({ "picture": { "url": "https://p.example/ada.png" } });
    let linked = api.patch(&path, url).await.expect(200);
    assert_ne!(linked["card"]["picture"]["fingerprint"], shown["fingerprint"]);
    api.get(&format!("{path}/picture")).await.refused(404, "notFound");
    assert_eq!(
        api.patch(&path, json!({ "picture": null })).await.expect(200)["card"]["picture"],
        Value::Null
    );
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

/// Keys, magic words and faults work for cards as for events.
#[tokio::test]
async fn trouble() {
    let api = Api::start();
    let key = [("idempotency-key", "k1")];
    let first = api.send("POST", CARDS, &key, Some(ada())).await.expect(201);
    assert_eq!(api.send("POST", CARDS, &key, Some(ada())).await.expect(201), first);
    api.send("POST", CARDS, &key, Some(circle(&[]))).await.refused(422, "keyReused");
    let path = format!("{CARDS}/ada-lovelace");
    let key = [("idempotency-key", "k2")];
    let gone = api.send("DELETE", &path, &key, None).await.expect(200);
    assert_eq!(api.send("DELETE", &path, &key, None).await.expect(200), gone);

    let lost = merged(ada(), json!({ "id": "lost", "label": "Lost [sandbox:lost-answer]" }));
    assert_eq!(api.post(CARDS, lost.clone()).await.body, Value::Null);
    api.post(CARDS, lost).await.refused(409, "exists");
    let limited = merged(ada(), json!({ "label": "[sandbox:rate-limit]" }));
    api.post(CARDS, limited).await.refused(429, "tooManyRequests");
    api.post("/sandbox/faults", json!({ "garbled": true })).await.expect(201);
    let page = api.get(CARDS).await.expect(200);
    assert!(page["cards"].as_array().unwrap().iter().all(|c| c["mails"] == 42 && c["id"].is_string()));
}

/// Everything outlives the process.
#[tokio::test]
async fn restart() {
    let dir = tempfile::tempdir().unwrap();
    let api = Api::open(Some(dir.path()));
    let (_, token) = api.walk_path(CARDS, "").await;
    let picture = json!({ "picture": { "bytes": STANDARD.encode("p"), "type": "image/png" } });
    let key = [("idempotency-key", "k")];
    let made = api.send("POST", CARDS, &key, Some(merged(ada(), picture.clone()))).await.expect(201);
    api.delete(&format!("{CARDS}/li-na")).await.expect(200);
    api.post(BOOKS, json!({ "id": "side", "title": "Side" })).await.expect(201);
    api.post(BOOKS, json!({ "id": "other", "title": "Other" })).await.expect(201);
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
