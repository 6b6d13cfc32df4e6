//! `/v1/contacts`: one contact's life.

use harness::{Actor, TestServer};
use serde_json::{Value, json};

pub async fn zoe(server: &TestServer) -> (Actor, String) {
    let api = server.client().await;
    let connection = api.connect_account("zoe").await;
    (api, connection)
}

fn ada() -> Value {
    json!({
        "given_name": "Ada", "family_name": "Lovelace", "nickname": "Enchantress",
        "emails": [
            { "value": "Ada@Example.org", "type": "work", "primary": true },
            { "value": "ada@home.example", "type": "custom", "label": "Estate" }
        ],
        "phones": [{ "value": "+44 20 7946 0958", "type": "mobile" }],
        "organizations": [{ "name": "Analytical Engines", "title": "Mathematician" }],
        "addresses": [{ "type": "home", "street": "12 St James's Square", "locality": "London", "country_code": "GB" }],
        "birthday": { "year": 1815, "month": 12, "day": 10 },
        "anniversaries": [{ "type": "wedding", "date": { "month": 7, "day": 8 } }],
        "urls": [{ "value": "https://ada.example.org/", "type": "work" }],
        "im_addresses": [{ "protocol": "xmpp", "handle": "ada@chat.example" }],
        "relations": [{ "name": "Charles Babbage", "type": "friend" }],
        "notes": "Wrote the first program",
        "metadata": { "crm": "42" }
    })
}

/// Every field of a contact, present even where it is not set.
const FIELDS: &str = "id bookId connectionId externalId displayName givenName middleName familyName prefix suffix nickname \
    phoneticGivenName phoneticFamilyName emails phones addresses organizations urls imAddresses relations birthday \
    anniversaries notes photo groupIds source starred mergedInto etag createdAt updatedAt metadata warnings";

/// The display name is made of the parts, and numbers are shown as E.164.
#[tokio::test]
async fn create_a_contact() {
    let server = TestServer::start().await;
    let (api, connection) = zoe(&server).await;
    let mut body = ada();
    body["connection_id"] = json!(connection);
    let created = api.post("/v1/contacts", body).send().await;
    assert!(created.header("location").is_some_and(|l| l.starts_with("/v1/contacts/con_")), "{created}");
    let contact = created.expect(201);
    let missing: Vec<&str> = FIELDS.split_whitespace().filter(|f| contact.get(f).is_none()).collect();
    assert!(missing.is_empty(), "fields that are not there: {missing:?}");
    assert_eq!(contact["displayName"], "Ada Lovelace");
    assert_eq!(contact["phones"][0]["e164"], "+442079460958");
    assert_eq!(contact["emails"][1]["label"], "Estate");
    assert_eq!(contact["organizations"][0]["current"], json!(true), "nobody said that it is over");
    assert_eq!(contact["birthday"], json!({ "year": 1815, "month": 12, "day": 10 }));
    assert_eq!(contact["anniversaries"][0]["date"], json!({ "year": null, "month": 7, "day": 8 }));
    assert_eq!(contact["metadata"]["crm"], "42");
    assert_eq!(contact["warnings"], json!([]));
    let books = api.all(&format!("/v1/contact-books?connection_id={connection}")).await;
    assert_eq!(contact["bookId"], books[0]["id"], "without a book it goes to the default one");

    let path = format!("/v1/contacts/{}", contact["id"].as_str().unwrap());
    let read = api.get(&path).send().await.expect(200);
    assert_eq!(read, contact);
}

/// A repeated create returns the same contact and makes no second one.
#[tokio::test]
async fn a_create_happens_once() {
    let server = TestServer::start().await;
    let (api, connection) = zoe(&server).await;
    let mut body = ada();
    body["connectionId"] = json!(connection);
    let first = api.post("/v1/contacts", body.clone()).keyed("one").send().await.expect(201);
    let again = api.post("/v1/contacts", body.clone()).keyed("one").send().await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.expect(201), first);
    body["nickname"] = json!("Other");
    api.post("/v1/contacts", body).keyed("one").send().await.refused(409, "idempotency_key_reused");
    assert_eq!(api.all("/v1/contacts").await.len(), 1);
}

/// An answer that is lost on its way is found by the retry, not doubled.
#[tokio::test]
async fn a_lost_answer_is_found_again() {
    let server = TestServer::start().await;
    let (api, connection) = zoe(&server).await;
    let body = json!({ "connectionId": connection, "displayName": "Lost [sandbox:lost-answer]" });
    let lost = api.post("/v1/contacts", body.clone()).keyed("two").send().await;
    assert!(lost.status >= 500, "{lost}");
    let found = api.post("/v1/contacts", body).keyed("two").send().await.expect(201);
    let all = api.all("/v1/contacts").await;
    assert_eq!(all.len(), 1);
    assert_eq!(all[0]["id"], found["id"]);
}

/// A change carries the etag that it is based on; a stale one is 409 with the current one, also if the contact was changed at the
/// provider.
#[tokio::test]
async fn a_stale_etag_is_a_conflict() {
    let server = TestServer::start().await;
    let (api, connection) = zoe(&server).await;
    let mut body = ada();
    body["connectionId"] = json!(connection);
    let contact = api.post("/v1/contacts", body).send().await.expect(201);
    let path = format!("/v1/contacts/{}", contact["id"].as_str().unwrap());
    let first = contact["etag"].as_str().unwrap();
    let changed =
        api.patch(&path, json!({ "nickname": "Countess" })).if_match(first).send().await.expect(200);
    assert_ne!(changed["etag"], contact["etag"]);
    let stale = api.patch(&path, json!({ "nickname": "No", "etag": first })).send().await;
    assert_eq!(stale.refused(409, "stale_etag")["current_etag"], changed["etag"]);

    let provider = server.provider("zoe");
    let card = format!("/sandbox/v1/books/contacts/cards/{}", contact["externalId"].as_str().unwrap());
    provider.patch(card, json!({ "notes": "changed elsewhere" })).send().await.expect(200);
    let second = changed["etag"].as_str().unwrap();
    let stale = api.patch(&path, json!({ "nickname": "No" })).if_match(second).send().await;
    let current = stale.refused(409, "stale_etag")["current_etag"].clone();
    let read = api.get(&path).send().await.expect(200);
    assert_eq!((&read["etag"], &read["notes"]), (&current, &json!("changed elsewhere")));

    api.delete(&path).if_match(second).send().await.refused(409, "stale_etag");
    api.delete(&path).if_match(current.as_str().unwrap()).send().await.expect(204);
    api.get(&path).send().await.refused(404, "not_found");
}

/// null clears, absent keeps, lists are replaced whole; a name that was made of its parts goes along with them.
#[tokio::test]
async fn a_patch_is_a_merge_patch() {
    let server = TestServer::start().await;
    let (api, connection) = zoe(&server).await;
    let mut body = ada();
    body["connectionId"] = json!(connection);
    let contact = api.post("/v1/contacts", body).send().await.expect(201);
    let path = format!("/v1/contacts/{}", contact["id"].as_str().unwrap());
    let patch = json!({ "familyName": "King", "birthday": { "year": null }, "notes": null,
        "emails": [{ "value": "ada@king.example" }], "whatever": 1 });
    let changed = api.patch(&path, patch).send().await.expect(200);
    assert_eq!(changed["displayName"], "Ada King");
    assert_eq!(changed["birthday"], json!({ "year": null, "month": 12, "day": 10 }));
    assert_eq!(changed["notes"], Value::Null);
    assert_eq!(changed["emails"].as_array().map(Vec::len), Some(1));
    assert_eq!(changed["phones"], contact["phones"]);
    assert_eq!(changed["warnings"][0]["code"], "unknown_field");
    let named = api.patch(&path, json!({ "displayName": "The Countess" })).send().await.expect(200);
    assert_eq!(named["displayName"], "The Countess");
    let kept = api.patch(&path, json!({ "familyName": "Byron" })).send().await.expect(200);
    assert_eq!(kept["displayName"], "The Countess", "a name of its own stays");
    let strict = api.patch(&path, json!({ "whatever": 1 })).header("prefer", "handling=strict").send().await;
    assert_eq!(strict.refused(400, "unknown_field")["param"], "whatever");
    for (field, value) in
        [("mergedInto", json!("con_1")), ("source", json!("directory")), ("bookId", json!("cbk_1"))]
    {
        let refused = api.patch(&path, json!({ field: value })).send().await;
        assert_eq!(refused.refused(400, "invalid_parameter")["param"], field);
    }
    let same = json!({ "bookId": contact["bookId"], "source": "addressBook" });
    assert_eq!(api.patch(&path, same).send().await.expect(200)["etag"], kept["etag"]);
}

/// Invalid values are refused, with the field, and nothing is written.
#[tokio::test]
async fn misfits_are_told_by_field() {
    let server = TestServer::start().await;
    let (api, connection) = zoe(&server).await;
    let many =
        |n: usize| -> Value { (0..n).map(|i| json!({ "value": format!("a{i}@example.org") })).collect() };
    let cases = [
        (json!({}), "displayName", "missing_field"),
        (json!({ "displayName": "  " }), "displayName", "missing_field"),
        (
            json!({ "displayName": "A", "birthday": { "month": 2, "day": 30 } }),
            "birthday",
            "invalid_parameter",
        ),
        (
            json!({ "displayName": "A", "birthday": { "year": 2023, "month": 2, "day": 29 } }),
            "birthday",
            "invalid_parameter",
        ),
        (
            json!({ "displayName": "A", "birthday": { "month": 13, "day": 1 } }),
            "birthday",
            "invalid_parameter",
        ),
        (
            json!({ "displayName": "A", "anniversaries": [{ "date": { "month": 4, "day": 31 } }] }),
            "anniversaries[0].date",
            "invalid_parameter",
        ),
        (json!({ "displayName": "A", "notes": "x".repeat(1 << 20) }), "notes", "invalid_parameter"),
        (json!({ "displayName": "A", "emails": many(10_000) }), "emails", "invalid_parameter"),
        (
            json!({ "displayName": "A", "emails": [{ "value": "nobody" }] }),
            "emails[0].value",
            "invalid_parameter",
        ),
        (
            json!({ "displayName": "A", "emails": [{ "value": "a@b.c", "type": "boat" }] }),
            "emails[0].type",
            "invalid_parameter",
        ),
        (
            json!({ "displayName": "A", "emails": [{ "value": "a@b.c", "type": "custom" }] }),
            "emails[0].label",
            "missing_field",
        ),
        (
            json!({ "displayName": "A", "phones": [{ "value": "1", "primary": true }, { "value": "2", "primary": true }] }),
            "phones[1].primary",
            "invalid_parameter",
        ),
        (json!({ "displayName": "A", "phones": [{ "value": "+" }] }), "phones[0].value", "invalid_parameter"),
        (json!({ "displayName": "A", "addresses": [{}] }), "addresses[0].formatted", "missing_field"),
        (
            json!({ "displayName": "A", "addresses": [{ "street": "x", "countryCode": "Germany" }] }),
            "addresses[0].countryCode",
            "invalid_parameter",
        ),
        (json!({ "displayName": "A", "urls": [{ "value": "not a url" }] }), "urls[0].value", "invalid_url"),
        (
            json!({ "displayName": "A", "photo": { "url": "data:text/html;base64,PGI+" } }),
            "photo.url",
            "invalid_parameter",
        ),
        (json!({ "displayName": "A", "photo": { "url": "ftp://x/y" } }), "photo.url", "invalid_url"),
        (
            json!({ "displayName": "A", "groupIds": ["cgr_01JZZZZZZZZZZZZZZZZZZZZZZZ"] }),
            "groupIds[0]",
            "invalid_parameter",
        ),
        (json!({ "displayName": "A", "source": "directory" }), "source", "invalid_parameter"),
        (
            json!({ "displayName": "A", "bookId": "cbk_01JZZZZZZZZZZZZZZZZZZZZZZZ" }),
            "bookId",
            "invalid_parameter",
        ),
        (json!({ "displayName": "A\u{0}" }), "displayName", "invalid_parameter"),
        (json!({ "displayName": 7 }), "displayName", "invalid_parameter"),
    ];
    for (mut body, field, code) in cases {
        body["connectionId"] = json!(connection);
        let refused = api.post("/v1/contacts", body).send().await;
        assert_eq!(refused.refused(400, code)["param"], field);
    }
    let nowhere = api.post("/v1/contacts", json!({ "displayName": "A" })).send().await;
    assert_eq!(nowhere.refused(400, "missing_field")["param"], "bookId");
    assert!(api.all("/v1/contacts").await.is_empty());
}

/// A book that is read-only stays as it is, and a key without the scope gets nowhere.
#[tokio::test]
async fn who_may_not_write_does_not() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let connection = api.connect_account("alice").await;
    let books = format!("/v1/contact-books?connection_id={connection}");
    let team = api.named(&books, "Team directory").await;
    let body = json!({ "bookId": team, "displayName": "Intruder" });
    api.post("/v1/contacts", body).send().await.refused(400, "capability_not_supported");
    let reader = server.client_with(&["contacts.read"]).await;
    let one = reader.all(&format!("/v1/contacts?book_id={team}")).await[0].clone();
    assert_eq!(one["source"], "directory");
    let path = format!("/v1/contacts/{}", one["id"].as_str().unwrap());
    reader.delete(&path).send().await.refused(403, "insufficient_scope");
    let other = server.key("other", |_| {}).await;
    other.get(&path).send().await.refused(404, "not_found");
    assert!(other.all("/v1/contacts").await.is_empty());
}
