//! Organizations by the API of the administration, and what holds for all of its operations.

use harness::TestServer;
use http::Method;
use serde_json::json;
use storage::operator_organization;
use switchboard::api;

use crate::admin_api::{acts, admin, audit};

const LIST: &str = "/v1/admin/organizations";

/// Made, read, renamed under its version, and listed by name in pages.
#[tokio::test]
async fn organizations_are_made_and_renamed() {
    let server = TestServer::start().await;
    let api = admin(&server, &["admin.write"]).await;
    let made = api.post(LIST, json!({ "name": " Acme " })).keyed("acme").send().await.expect(201);
    assert_eq!((made["name"].as_str(), made["warnings"].clone()), (Some("Acme"), json!([])));
    let again = api.post(LIST, json!({ "name": " Acme " })).keyed("acme").send().await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.expect(201), made, "one organization is made");
    let id = made["id"].as_str().expect("an id");
    let path = format!("{LIST}/{id}");
    let read = api.get(&path).send().await;
    assert_eq!(read.header("etag"), made["etag"].as_str());
    assert_eq!(read.expect(200)["createdAt"], "2026-03-01T08:00:00.000Z");

    // Entries of the audit log are in the order of their time.
    server.clock.advance_ms(1);
    let change = json!({ "name": "Acme Ltd" });
    let renamed = api.patch(&path, change).if_match(made["etag"].as_str().expect("an etag"));
    let renamed = renamed.send().await.expect(200);
    server.clock.advance_ms(1);
    assert_ne!(renamed["etag"], made["etag"]);
    let stale = json!({ "name": "Acme Inc", "etag": made["etag"] });
    let stale = api.patch(&path, stale).send().await.refused(409, "stale_etag");
    assert_eq!(stale["current_etag"], renamed["etag"]);
    // What changes nothing is not in the audit log.
    for change in [json!({}), json!({ "name": " Acme Ltd " })] {
        let same = api.patch(&path, change).send().await.expect(200);
        assert_eq!((&same["name"], &same["etag"]), (&renamed["name"], &renamed["etag"]));
    }

    for name in ["Zebra", "Beta"] {
        server.clock.advance_ms(1);
        api.post(LIST, json!({ "name": name })).send().await.expect(201);
    }
    let names: Vec<_> =
        api.all(&format!("{LIST}?limit=1")).await.into_iter().map(|o| o["name"].clone()).collect();
    assert_eq!(
        json!(names),
        json!(["Acme Ltd", "Beta", "Zebra"]),
        "the keys' own organization is in no list"
    );
    let words: Vec<_> = acts(&server).await.into_iter().map(|(act, _)| act).collect();
    assert_eq!(
        words,
        ["organization_created", "organization_renamed", "organization_created", "organization_created"]
    );
    let renaming = audit(&server).await.into_iter().rev().nth(1).expect("the second act");
    assert_eq!((renaming.target.as_str(), renaming.organization_id.as_str()), (id, id));
    assert_eq!(renaming.details, json!({ "fields": ["name"] }));
}

/// Each fault names its field, and leaves nothing behind: neither an organization nor an entry of the audit log.
#[tokio::test]
async fn faults_of_organizations_change_nothing() {
    let server = TestServer::start().await;
    let api = admin(&server, &["admin.write"]).await;
    let acme = api.post(LIST, json!({ "name": "Acme" })).send().await.expect(201);
    let other = api.post(LIST, json!({ "name": "Other" })).send().await.expect(201);
    let path = format!("{LIST}/{}", other["id"].as_str().expect("an id"));
    for (name, status, code) in [
        (json!("Acme"), 409, "already_exists"),
        (json!(""), 400, "invalid_parameter"),
        (json!("x".repeat(101)), 400, "invalid_parameter"),
        (json!("a\r\nb"), 400, "invalid_parameter"),
        (json!(7), 400, "invalid_parameter"),
    ] {
        let made = api.post(LIST, json!({ "name": name })).send().await.refused(status, code);
        assert_eq!(made["param"], "name");
        let renamed = api.patch(&path, json!({ "name": name })).send().await.refused(status, code);
        assert_eq!(renamed["param"], "name");
    }
    let strict = api.post(LIST, json!({ "name": "New", "nam": 1 })).header("prefer", "handling=strict");
    strict.send().await.refused(400, "unknown_field");
    api.get(format!("{LIST}?limit=0")).send().await.refused(400, "invalid_parameter");
    api.get(format!("{LIST}?cursor=x")).send().await.refused(400, "invalid_cursor");
    for nothing in ["org_00000000000000000000000000", "x"] {
        api.get(format!("{LIST}/{nothing}")).send().await.refused(404, "not_found");
        api.patch(format!("{LIST}/{nothing}"), json!({ "name": "New" }))
            .send()
            .await
            .refused(404, "not_found");
    }
    let left = api.all(LIST).await;
    assert_eq!(left.iter().map(|o| &o["id"]).collect::<Vec<_>>(), [&acme["id"], &other["id"]]);
    assert_eq!(acts(&server).await.len(), 2);
}

/// Every operation below `/v1/admin` is refused to keys of applications, whatever their scopes, and to keys of the administration without its
/// scope; and the organization of these keys cannot be reached through any of them.
#[tokio::test]
async fn the_administration_is_its_keys_alone() {
    let server = TestServer::start().await;
    let tenants = server.client_with(&base::scopes::ADMIN).await;
    let everything = server.client().await;
    let reader = admin(&server, &["admin.read"]).await;
    let others = admin(&server, &["admin.operators", "admin.connectors"]).await;
    let writer = admin(&server, &base::scopes::ADMIN).await;
    let own = operator_organization::tenant(server.app.db.reader()).await.expect("a query");
    let own = own.expect("it is there");
    let nothing = "x_00000000000000000000000000";
    let operations: Vec<_> =
        api::operations().into_iter().filter(|o| o.path.starts_with("/v1/admin/")).collect();
    assert!(operations.len() >= 15, "{}", operations.len());
    for o in operations {
        let path = o.path.replace("{organizationId}", &own.organization_id);
        let path = path.replace("{applicationId}", &own.application_id);
        let segments = path.split('/').map(|part| if part.starts_with('{') { nothing } else { part });
        let path = segments.collect::<Vec<_>>().join("/");
        let body = (o.method != Method::GET).then(|| json!({ "name": "x", "clientId": "x" }));
        let ask = |key: &harness::Actor| key.ask(o.method.clone(), path.clone(), body.clone()).send();
        ask(&everything).await.refused(403, "insufficient_scope");
        ask(&tenants).await.refused(403, "forbidden");
        if o.scope != "admin.read" {
            assert_ne!(o.method, Method::GET, "{}", o.path);
            ask(&reader).await.refused(403, "insufficient_scope");
        }
        if matches!(o.scope, "admin.read" | "admin.write") {
            ask(&others).await.refused(403, "insufficient_scope");
        }
        if path.contains(&own.organization_id) || path.contains(&own.application_id) {
            ask(&writer).await.refused(404, "not_found");
        }
    }
    let new = json!({ "organizationId": own.organization_id, "name": "Mine" });
    writer.post("/v1/admin/applications", new).send().await.refused(404, "not_found");
    for path in ["/v1/connections", "/v1/api-keys", "/v1/usage", "/v1/webhooks"] {
        writer.get(path).send().await.refused(403, "insufficient_scope");
    }
    assert!(acts(&server).await.is_empty());
}

/// Another client's cursor is worth nothing in another list.
#[tokio::test]
async fn cursors_of_the_administration_do_not_travel() {
    let server = TestServer::start().await;
    let api = admin(&server, &["admin.write"]).await;
    for name in ["Acme", "Beta"] {
        api.post(LIST, json!({ "name": name })).send().await.expect(201);
    }
    let page = api.get(format!("{LIST}?limit=1")).send().await.expect(200);
    let cursor = page["next_cursor"].as_str().expect("there is more");
    api.get(format!("/v1/admin/applications?cursor={cursor}")).send().await.refused(400, "invalid_cursor");
}
