//! Contacts on real CardDAV servers.

use serde_json::{Value, json};

use crate::dav::{connect, got, put, server, servers};

/// A card as Apple's address book writes it, with things that no model has.
const FOREIGN: &str = "BEGIN:VCARD
VERSION:3.0
UID:foreign-1
N:Lovelace;Ada;King;Countess;
FN:Countess Ada King Lovelace
ORG:Analytical Engines;Mathematics;
item1.EMAIL;type=INTERNET;type=pref:ada@example.org
item1.X-ABLabel:Estate
TEL;type=CELL;type=VOICE:+44 20 7946 0958
BDAY;X-APPLE-OMIT-YEAR=1604:1604-12-10
X-ABUID:5AD380FD-B2DE-4261-BA99-DE1D1DB52FBE
X-CUSTOM;X-P=\"a;b\":kept as it is
NOTE:first
END:VCARD
";

/// Connect, books, contacts, groups, a picture, a foreign card, the feed, and refusals.
async fn main_job(name: &str, url: &str, user: &str) {
    let server = server().await;
    let api = server.client().await;
    let connection = connect(&api, url, user).await;
    assert_eq!(connection["missingScopes"], json!([]), "{name}");
    let id = connection["id"].as_str().expect("an id");
    let book = json!({ "connectionId": id, "name": "Main job" });
    let book = api.post("/v1/contact-books", book).send().await.expect(201);
    let book_path = format!("/v1/contact-books/{}", book["id"].as_str().expect("an id"));
    api.post("/v1/contacts/sync/start", json!({ "connectionId": id })).send().await.expect(202);
    let feed = format!("/v1/contacts/sync/changes?connection_id={id}");

    let new = json!({ "bookId": book["id"], "givenName": "Grace", "familyName": "Hopper", "starred": false,
        "emails": [{ "value": "grace@navy.example", "type": "work", "primary": true }],
        "phones": [{ "value": "+1 212 555 0123", "type": "mobile" }],
        "addresses": [{ "type": "home", "street": "1 Main St", "locality": "New York", "countryCode": "US" }],
        "organizations": [{ "name": "US Navy", "title": "Rear admiral" }],
        "birthday": { "month": 12, "day": 9 }, "notes": "COBOL; \"A-0\", and\nmore",
        "photo": { "url": "data:image/png;base64,iVBORw0KGgo=" } });
    let grace = api.post("/v1/contacts?strict=true", new.clone()).keyed("grace").send().await.expect(201);
    assert_eq!(grace["warnings"], json!([]), "{name}: a card has a place for all of it");
    assert_eq!(api.post("/v1/contacts?strict=true", new).keyed("grace").send().await.expect(201), grace);
    assert_eq!(
        (&grace["displayName"], &grace["notes"]),
        (&json!("Grace Hopper"), &json!("COBOL; \"A-0\", and\nmore"))
    );
    assert_eq!(grace["birthday"], json!({ "year": null, "month": 12, "day": 9 }));
    assert_eq!(grace["phones"][0]["e164"], "+12125550123");
    let grace_path = format!("/v1/contacts/{}", grace["id"].as_str().expect("an id"));
    let read = api.get(&grace_path).send().await.expect(200);
    assert_eq!(
        (&read["emails"], &read["etag"]),
        (&grace["emails"], &grace["etag"]),
        "{name}: nothing changed since"
    );
    let picture = api.get(format!("{grace_path}/photo")).send().await.expect(200);
    assert_eq!(picture["contentBase64"], "iVBORw0KGgo=", "{name}");

    let href = book["externalId"].as_str().expect("an external id");
    put(url, user, href, "foreign.vcf", ("text/vcard; charset=utf-8", FOREIGN)).await;
    put(url, user, href, "late.vcf", ("text/vcard; charset=utf-8", &FOREIGN.replace("foreign-1", "late-1")))
        .await;
    let listed = api
        .get(format!("/v1/contacts?book_id={}&email=ada@example.org", book["id"].as_str().expect("an id")));
    let listed = listed.header("cache-control", "no-cache").send().await.expect(200);
    let ada = listed["data"]
        .as_array()
        .expect("a list")
        .iter()
        .find(|c| c["externalId"].as_str().expect("an external id").ends_with("foreign.vcf"));
    let ada = ada.unwrap_or_else(|| panic!("{name}: {listed:#}")).clone();
    assert_eq!((&ada["emails"][0]["label"], &ada["birthday"]["year"]), (&json!("Estate"), &Value::Null));
    let ada_path = format!("/v1/contacts/{}", ada["id"].as_str().expect("an id"));
    let changed =
        api.patch(&ada_path, json!({ "notes": "second" })).if_match(ada["etag"].as_str().expect("an etag"));
    let changed = changed.send().await.expect(200);
    assert_eq!((&changed["notes"], &changed["emails"]), (&json!("second"), &ada["emails"]));
    let text = got(url, user, ada["externalId"].as_str().expect("an external id")).await;
    for kept in ["X-CUSTOM", "kept as it is", "5AD380FD-B2DE-4261-BA99-DE1D1DB52FBE", "Estate", "NOTE:second"]
    {
        assert!(text.contains(kept), "{name}: {kept} is gone:\n{text}");
    }
    api.patch(&ada_path, json!({ "notes": "x" }))
        .if_match(ada["etag"].as_str().expect("an etag"))
        .send()
        .await
        .refused(409, "stale_etag");

    let group = json!({ "bookId": book["id"], "name": "Pioneers", "contactIds": [ada["id"], grace["id"]] });
    let group = api.post("/v1/contact-groups", group).send().await.expect(201);
    assert_eq!(group["memberCount"], 2, "{name}: {group:#}");
    let left = api.patch(&grace_path, json!({ "groupIds": [] })).send().await.expect(200);
    assert_eq!(left["groupIds"], json!([]));
    let group = api
        .get(format!("/v1/contact-groups/{}", group["id"].as_str().expect("an id")))
        .send()
        .await
        .expect(200);
    assert_eq!(group["contactIds"], json!([ada["id"]]), "{name}");

    let told =
        api.get(format!("{feed}&limit=500")).header("cache-control", "no-cache").send().await.expect(200);
    let kinds: Vec<&str> =
        told["data"].as_array().expect("a list").iter().filter_map(|c| c["resourceType"].as_str()).collect();
    assert!(
        ["contact", "contact_group", "contact_book"].iter().all(|k| kinds.contains(k)),
        "{name}: {kinds:?}"
    );
    let cursor = told["sync_cursor"].as_str().expect("a cursor");
    api.delete(&grace_path).send().await.expect(204);
    let told = api
        .get(format!("{feed}&cursor={cursor}"))
        .header("cache-control", "no-cache")
        .send()
        .await
        .expect(200);
    let deleted: Vec<&Value> =
        told["data"].as_array().expect("a list").iter().filter(|c| c["changeType"] == "deleted").collect();
    assert_eq!(deleted.len(), 1, "{name}: {told:#}");
    assert_eq!(deleted[0]["resourceId"], grace["id"]);

    api.delete(&book_path).send().await.refused(409, "not_empty");
    api.delete(format!("{book_path}?force=true")).send().await.expect(204);
    api.get(&ada_path).send().await.refused(404, "not_found");
    let none = json!({ "connectionId": id, "bookId": book["id"], "displayName": "x" });
    api.post("/v1/contacts", none).send().await.refused(400, "invalid_parameter");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn contacts_on_real_servers() {
    for (name, url) in servers() {
        main_job(name, &url, "t08").await;
    }
}

/// A card of an unknown version is read as far as possible, or reported in the sync state; either way it stops nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_odd_card_stops_nothing() {
    // Cyrus refuses malformed cards; Radicale's storage accepts any.
    let Some((name, url)) = servers().into_iter().find(|(name, _)| *name == "radicale") else { return };
    let server = server().await;
    let api = server.client().await;
    let connection = connect(&api, &url, "t09").await;
    let id = connection["id"].as_str().expect("an id");
    let book = json!({ "connectionId": id, "name": "Odd" });
    let book = api.post("/v1/contact-books", book).send().await.expect(201);
    let href = book["externalId"].as_str().expect("an external id");
    put(&url, "t09", href, "good.vcf", ("text/vcard", FOREIGN)).await;
    let odd = "BEGIN:VCARD\nVERSION:9.7\nUID:odd\nFN:Odd\nN:Odd;;;;\nEND:VCARD\n";
    put(&url, "t09", href, "odd.vcf", ("text/vcard", odd)).await;
    let listed = api.all(&format!("/v1/contacts?book_id={}", book["id"].as_str().expect("an id"))).await;
    assert!(listed.iter().any(|c| c["displayName"] == "Countess Ada King Lovelace"), "{name}: {listed:#?}");
    api.post("/v1/contacts/sync/start", json!({ "connectionId": id })).send().await.expect(202);
    let status = api.get(format!("/v1/contacts/sync/status/{id}")).send().await.expect(200);
    let readable =
        listed.iter().any(|c| c["externalId"].as_str().expect("an external id").ends_with("odd.vcf"));
    assert!(readable || status["itemErrorCount"] == 1, "{name}: neither read nor told: {status:#}");
    api.delete(format!("/v1/contact-books/{}?force=true", book["id"].as_str().expect("an id")))
        .send()
        .await
        .expect(204);
}
