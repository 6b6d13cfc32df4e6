//! Applications by the API of the administration: name, handle, redirect URIs and request log in one write.

use harness::{Actor, TestServer};
use serde_json::{Value, json};

use crate::admin_api::{acts, admin, audit};

const LIST: &str = "/v1/admin/applications";

/// The id of a new organization.
pub async fn organization(api: &Actor, name: &str) -> String {
    let made = api.post("/v1/admin/organizations", json!({ "name": name })).send().await.expect(201);
    made["id"].as_str().expect("an id").to_owned()
}

/// The id of a new application of an organization.
pub async fn application(api: &Actor, organization_id: &str, name: &str) -> String {
    let new = json!({ "organizationId": organization_id, "name": name });
    api.post(LIST, new).send().await.expect(201)["id"].as_str().expect("an id").to_owned()
}

fn names(found: &[Value]) -> Value {
    found.iter().map(|found| found["name"].clone()).collect()
}

/// Reads back what an application was created with; a change replaces each field that it names as a whole, and no other.
#[tokio::test]
async fn applications_are_made_and_changed() {
    let server = TestServer::start().await;
    let api = admin(&server, &["admin.write"]).await;
    let acme = organization(&api, "Acme").await;
    let uris = json!(["http://localhost:4000/cb", "https://app.example.test/cb"]);
    let new = json!({
        "organizationId": acme, "name": "Shop", "handle": "acme-shop", "redirectUris": uris, "requestLog": "shapes",
    });
    let made = api.post(LIST, new.clone()).keyed("shop").send().await.expect(201);
    assert_eq!(api.post(LIST, new.clone()).keyed("shop").send().await.expect(201), made);
    for (field, value) in new.as_object().expect("an object") {
        assert_eq!(&made[field], value, "{field}");
    }
    let path = format!("{LIST}/{}", made["id"].as_str().expect("an id"));
    let read = api.get(&path).send().await;
    assert_eq!(read.header("etag"), made["etag"].as_str());
    let mut shown = made.clone();
    shown.as_object_mut().expect("an object").remove("warnings");
    assert_eq!(read.expect(200), shown);

    let change =
        json!({ "handle": null, "redirectUris": ["https://app.example.test/other"], "colour": "red" });
    let changed = api.patch(&path, change).if_match(made["etag"].as_str().expect("an etag"));
    let changed = changed.send().await.expect(200);
    assert_eq!((&changed["handle"], &changed["name"]), (&Value::Null, &made["name"]));
    assert_eq!(changed["redirectUris"], json!(["https://app.example.test/other"]));
    assert_eq!(
        (&changed["requestLog"], &changed["warnings"][0]["field"]),
        (&json!("shapes"), &json!("colour"))
    );
    api.patch(&path, json!({ "name": "Store" }))
        .if_match(made["etag"].as_str().expect("an etag"))
        .send()
        .await
        .refused(409, "stale_etag");
    server.clock.advance_ms(1);
    let renamed = api.patch(&path, json!({ "name": "Store", "requestLog": "off" })).send().await.expect(200);
    assert_eq!((&renamed["name"], &renamed["requestLog"]), (&json!("Store"), &json!("off")));
    assert_eq!(renamed["redirectUris"], changed["redirectUris"]);
    // What changes nothing is not in the audit log.
    for field in ["name", "handle", "redirectUris", "requestLog"] {
        server.clock.advance_ms(1);
        let same = json!({ field: renamed[field] });
        assert_eq!(api.patch(&path, same).send().await.expect(200)["etag"], renamed["etag"], "{field}");
    }

    let entries = audit(&server).await;
    let details: Vec<_> =
        entries.iter().filter(|e| e.act == "application_changed").map(|e| &e.details).collect();
    assert_eq!(
        details,
        [&json!({ "fields": ["name", "requestLog"] }), &json!({ "fields": ["handle", "redirectUris"] })]
    );
    let id = made["id"].as_str().expect("an id").to_owned();
    assert!(acts(&server).await.contains(&("application_created".to_owned(), id)));
}

/// Lists are those of an organization, or of all; each is walked in pages.
#[tokio::test]
async fn applications_are_listed() {
    let server = TestServer::start().await;
    let api = admin(&server, &["admin.write"]).await;
    let (acme, beta) = (organization(&api, "Acme").await, organization(&api, "Beta").await);
    for (organization_id, name) in [(&acme, "Shop"), (&beta, "Crm"), (&acme, "Office")] {
        server.clock.advance_ms(1);
        application(&api, organization_id, name).await;
    }
    let all = api.all(&format!("{LIST}?limit=2")).await;
    assert_eq!(names(&all), json!(["Shop", "Crm", "Office"]), "in the order in which they were made");
    assert!(all.iter().all(|one| one["redirectUris"] == json!([]) && one["requestLog"] == "on"));
    let of_acme = api.all(&format!("{LIST}?limit=1&organization_id={acme}")).await;
    assert_eq!(names(&of_acme), json!(["Office", "Shop"]));
    let page = api.get(format!("{LIST}?limit=1&organization_id={acme}")).send().await.expect(200);
    let cursor = page["next_cursor"].as_str().expect("there is more");
    let elsewhere = format!("{LIST}?limit=1&organization_id={beta}&cursor={cursor}");
    api.get(elsewhere).send().await.refused(400, "invalid_cursor");
    api.get(format!("{LIST}?organization_id=org_none")).send().await.refused(404, "not_found");
}

/// A fault names its field, and nothing of the change is done.
#[tokio::test]
async fn faults_of_applications_change_nothing() {
    let server = TestServer::start().await;
    let api = admin(&server, &["admin.write"]).await;
    let (acme, beta) = (organization(&api, "Acme").await, organization(&api, "Beta").await);
    application(&api, &acme, "Office").await;
    let taken = json!({ "organizationId": beta, "name": "Crm", "handle": "taken" });
    api.post(LIST, taken).send().await.expect(201);
    let shop = format!("{LIST}/{}", application(&api, &acme, "Shop").await);
    let before = api.get(&shop).send().await.expect(200);
    let good = "https://app.example.test/cb";
    for (field, value, status, code, param) in [
        ("name", json!("Office"), 409, "already_exists", "name"),
        ("name", json!(""), 400, "invalid_parameter", "name"),
        ("name", json!("a\nb"), 400, "invalid_parameter", "name"),
        ("handle", json!("taken"), 409, "already_exists", "handle"),
        ("handle", json!("No"), 400, "invalid_parameter", "handle"),
        ("redirectUris", json!([good, "javascript:alert(1)"]), 400, "invalid_url", "redirectUris[1]"),
        ("redirectUris", json!(vec![good; 101]), 400, "invalid_parameter", "redirectUris"),
        ("requestLog", json!("loud"), 400, "invalid_parameter", "requestLog"),
    ] {
        // Something that would be done by itself comes with it.
        let mut change = json!({ "redirectUris": ["https://other.example.test/cb"] });
        change[field] = value.clone();
        let error = api.patch(&shop, change).send().await.refused(status, code);
        assert_eq!(error["param"], param, "{field} {value}");
        let mut new = json!({ "organizationId": acme, "name": "New" });
        new[field] = value.clone();
        let error = api.post(LIST, new).send().await.refused(status, code);
        assert_eq!(error["param"], param, "{field} {value}");
    }
    assert_eq!(api.get(&shop).send().await.expect(200), before);
    assert_eq!(api.all(LIST).await.len(), 3);
    api.post(LIST, json!({ "name": "New" })).send().await.refused(400, "missing_field");
    api.post(LIST, json!({ "name": "New", "organizationId": "org_none" }))
        .send()
        .await
        .refused(404, "not_found");
    for nothing in ["app_00000000000000000000000000", "x"] {
        api.get(format!("{LIST}/{nothing}")).send().await.refused(404, "not_found");
        api.patch(format!("{LIST}/{nothing}"), json!({})).send().await.refused(404, "not_found");
    }
    assert_eq!(acts(&server).await.len(), 5, "two organizations and three applications");
}
