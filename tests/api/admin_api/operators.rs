//! `/v1/admin/operators` and `/v1/admin/invitations`: people, their rights, and the links that let them in.

use base::error::Result;
use harness::{Actor, TestServer};
use serde_json::{Value, json};
use service::manage::actor::Role;
use storage::api_keys;
use storage::key_revocations::{self, KeyWebhooks};
use storage::operator_organization;

use crate::admin::PASSWORD;
use crate::admin_api::admin;

const OPERATORS: &str = "/v1/admin/operators";
const INVITATIONS: &str = "/v1/admin/invitations";

/// The path of the page behind a link.
#[track_caller]
fn page_of(answer: &Value) -> String {
    let url = answer["url"].as_str().expect("a link");
    let (_, token) = url.split_once("/admin/join/").expect("an address of the panel");
    format!("/admin/join/{token}")
}

/// The acts of API keys in the audit log, the newest first, each with its target.
async fn acts(api: &Actor) -> Vec<(String, String)> {
    let log = api.get("/v1/admin/audit-log?limit=200").send().await.expect(200);
    let entries = log["data"].as_array().cloned().unwrap_or_default();
    let of_keys = entries.iter().filter(|entry| entry["actor"]["kind"] == "key");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    of_keys.map(|entry| (text(&entry["act"]), text(&entry["target"]))).collect()
}

/// An operator is created without a password, sets one by the link, is changed, disabled and enabled again.
#[tokio::test]
async fn an_operator_is_created_changed_and_disabled() {
    let server = TestServer::start().await;
    let api = admin(&server, &["admin.read", "admin.operators"]).await;
    let tenant = server.test_application().await;
    server.operator(None).await;
    let body = json!({
        "email": "bo@example.com",
        "name": "Bo",
        "roles": [{ "organizationId": tenant.organization_id, "role": "developer" }],
    });
    let made = api.post(OPERATORS, body.clone()).keyed("create-bo").send().await;
    let location = made.header("location").expect("a location").to_owned();
    let created = made.expect(201);
    assert_eq!((&created["hasPassword"], &created["isAdmin"]), (&json!(false), &json!(false)), "{created:#}");
    assert_eq!(created["roles"], body["roles"], "{created:#}");
    let again = api.post(OPERATORS, body.clone()).keyed("create-bo").send().await.expect(201);
    assert_eq!(again["url"], created["url"], "a replay shows the link again");
    api.post(OPERATORS, body).send().await.refused(409, "already_exists");

    let link = page_of(&created);
    let mut bo = server.visitor();
    let joined = bo.submit(&link, &link, &[("password", PASSWORD)]).await;
    assert_eq!(joined.status, 303, "{joined}");
    let new_key = format!("/admin/apps/{}/keys/new", tenant.application_id);
    assert_eq!(bo.get(&new_key).send().await.status, 200);

    let shown = api.get(&location).send().await;
    let etag = shown.header("etag").expect("an etag").to_owned();
    let shown = shown.expect(200);
    assert_eq!((&shown["hasPassword"], &shown["etag"]), (&json!(true), &json!(etag)), "{shown:#}");
    assert!(shown.get("url").is_none(), "the link is shown once: {shown:#}");
    let old = created["etag"].as_str().expect("an etag");
    let change = json!({
        "name": "Bo B.",
        "roles": [{ "organizationId": tenant.organization_id, "role": "viewer" }],
    });
    api.patch(&location, change.clone()).if_match(old).send().await.refused(409, "stale_etag");
    let changed = api.patch(&location, change.clone()).if_match(&etag).send().await.expect(200);
    assert_eq!((&changed["name"], &changed["roles"]), (&change["name"], &change["roles"]), "{changed:#}");
    assert_eq!(bo.get(&new_key).send().await.status, 404, "the next request has the new role");

    api.delete(&location).send().await.expect(204);
    assert_eq!(bo.get("/admin/").send().await.status, 303, "the session is over");
    let disabled = api.get(&location).send().await.expect(200);
    assert!(disabled["disabledAt"].is_string(), "{disabled:#}");
    let enabled = api.patch(&location, json!({ "disabled": false })).send().await.expect(200);
    assert_eq!(enabled["disabledAt"], Value::Null, "{enabled:#}");

    let id = created["id"].as_str().expect("an id");
    let acts: Vec<String> = acts(&api).await.into_iter().filter(|act| act.1 == id).map(|act| act.0).collect();
    let mut sorted = acts.clone();
    sorted.sort_unstable();
    let expected = [
        "operator_created",
        "operator_disabled",
        "operator_enabled",
        "operator_renamed",
        "password_link_made",
        "role_set",
    ];
    assert_eq!(sorted, expected, "each act once: {acts:?}");
    let log = api.get("/v1/admin/audit-log?limit=200").send().await;
    assert!(!log.text.contains(link.trim_start_matches("/admin/join/")), "no link is in the log");
}

/// The last administrator and the last owner of an organization are kept, and what else a refused change asks for does not happen.
#[tokio::test]
async fn the_last_administrator_and_the_last_owner_stay() {
    let server = TestServer::start().await;
    let api = admin(&server, &["admin.read", "admin.operators"]).await;
    let organization_id = server.test_application().await.organization_id;
    let ada = server.operator(None).await;
    let ada = format!("{OPERATORS}/{}", ada.id);
    for change in [json!({ "isAdmin": false }), json!({ "disabled": true })] {
        let refused = api.patch(&ada, change).send().await.refused(409, "invalid_state");
        assert_eq!(refused["param"], "last_admin");
    }
    api.delete(&ada).send().await.refused(409, "invalid_state");

    let owner = server.operator(Some(Role::Owner)).await;
    let owner = format!("{OPERATORS}/{}", owner.id);
    let viewer = json!([{ "organizationId": organization_id, "role": "viewer" }]);
    for roles in [json!([]), viewer] {
        let change = json!({ "name": "Somebody", "roles": roles });
        let refused = api.patch(&owner, change).send().await.refused(409, "invalid_state");
        assert_eq!(refused["param"], "last_owner");
    }
    api.delete(&owner).send().await.refused(409, "invalid_state");
    let kept = api.get(&owner).send().await.expect(200);
    assert_eq!((&kept["name"], &kept["roles"][0]["role"]), (&json!("Grace Member"), &json!("owner")));
    assert!(acts(&api).await.is_empty(), "nothing was done");

    // Those who have never signed in could let nobody in.
    let new = |name: &str, is_admin: bool| {
        let roles = json!([{ "organizationId": organization_id, "role": "owner" }]);
        json!({ "email": format!("{name}@example.com"), "name": name, "isAdmin": is_admin, "roles": roles })
    };
    let (bo, eve) = (new("bo", true), new("eve", false));
    let bo = api.post(OPERATORS, bo).send().await.expect(201);
    let eve = api.post(OPERATORS, eve).send().await.expect(201);
    assert_eq!((&bo["hasPassword"], &eve["hasPassword"]), (&json!(false), &json!(false)));
    let refused = api.delete(&ada).send().await.refused(409, "invalid_state");
    assert_eq!(refused["param"], "last_admin");
    let refused = api.patch(&owner, json!({ "roles": [] })).send().await.refused(409, "invalid_state");
    assert_eq!(refused["param"], "last_owner");

    // With another one of each they may go.
    server.operator(None).await;
    server.operator(Some(Role::Owner)).await;
    api.delete(&ada).send().await.expect(204);
    api.patch(&owner, json!({ "roles": [] })).send().await.expect(200);
}

/// A body that is wrong is refused with its field, and makes nobody.
#[tokio::test]
async fn an_operator_has_an_address_a_name_and_a_right() {
    let server = TestServer::start().await;
    let api = admin(&server, &["admin.read", "admin.operators"]).await;
    let organization_id = server.test_application().await.organization_id;
    let with = |field: &str, value: Value| {
        let mut body = json!({ "email": "bo@example.com", "name": "Bo", "isAdmin": true });
        body[field] = value;
        body
    };
    let role = |id: &str, role: &str| json!({ "organizationId": id, "role": role });
    for (body, code, param) in [
        (json!({}), "missing_field", "email"),
        (with("email", json!("nobody")), "invalid_parameter", "email"),
        (with("name", json!(" ")), "missing_field", "name"),
        (with("name", json!("a\nb")), "invalid_parameter", "name"),
        (with("isAdmin", json!(false)), "missing_field", "roles"),
        (with("isAdmin", json!("yes")), "invalid_parameter", "isAdmin"),
        (with("roles", json!([role(&organization_id, "admin")])), "invalid_parameter", "roles[0].role"),
        (with("roles", json!([role("", "viewer")])), "missing_field", "roles[0].organizationId"),
    ] {
        let refused = api.post(OPERATORS, body).send().await.refused(400, code);
        assert_eq!(refused["param"], param);
    }
    let elsewhere = with("roles", json!([role("org_none", "viewer")]));
    api.post(OPERATORS, elsewhere.clone()).send().await.refused(404, "not_found");
    api.post(INVITATIONS, elsewhere).send().await.refused(404, "not_found");
    // The organization of the administration's own keys is nobody's.
    let own = operator_organization::id(server.app.db.reader()).await.expect("a query").expect("it is there");
    let inside = with("roles", json!([role(&own, "owner")]));
    api.post(OPERATORS, inside.clone()).send().await.refused(404, "not_found");
    api.post(INVITATIONS, inside).send().await.refused(404, "not_found");
    let refused =
        api.post(INVITATIONS, json!({ "isAdmin": true })).send().await.refused(400, "missing_field");
    assert_eq!(refused["param"], "email");
    let none = json!({ "email": "bo@example.com" });
    let refused = api.post(INVITATIONS, none).send().await.refused(400, "missing_field");
    assert_eq!(refused["param"], "roles");
    api.get(format!("{OPERATORS}/opr_none")).send().await.refused(404, "not_found");
    api.patch(format!("{OPERATORS}/opr_none"), json!({})).send().await.refused(404, "not_found");
    let all = api.get(OPERATORS).send().await.expect(200);
    assert_eq!(all["data"], json!([]), "nobody was made");
}

/// Operators are changed with their own scope, and listed with that for reading, page by page.
#[tokio::test]
async fn operators_need_their_own_scope() {
    let server = TestServer::start().await;
    let ada = server.operator(None).await;
    server.clock.advance_ms(1);
    let bo = server.operator(Some(Role::Viewer)).await;
    let one = format!("{OPERATORS}/{}", ada.id);
    let new = json!({ "email": "eve@example.com", "name": "Eve", "isAdmin": true });
    let writer = admin(&server, &["admin.write", "admin.connectors"]).await;
    for refused in [
        writer.post(OPERATORS, new.clone()).send().await,
        writer.post(INVITATIONS, new.clone()).send().await,
        writer.patch(&one, json!({ "isAdmin": false })).send().await,
        writer.delete(&one).send().await,
    ] {
        refused.refused(403, "insufficient_scope");
    }
    let operators = admin(&server, &["admin.operators"]).await;
    operators.get(OPERATORS).send().await.refused(403, "insufficient_scope");
    let client = server.client().await;
    client.get(OPERATORS).send().await.refused(403, "insufficient_scope");
    client.post(INVITATIONS, new).send().await.refused(403, "insufficient_scope");

    let reader = admin(&server, &["admin.read"]).await;
    let first = reader.get(format!("{OPERATORS}?limit=1")).send().await.expect(200);
    assert_eq!(first["data"][0]["id"], json!(ada.id), "{first:#}");
    let cursor = first["next_cursor"].as_str().expect("a cursor");
    let second = reader.get(format!("{OPERATORS}?limit=1&cursor={cursor}")).send().await.expect(200);
    assert_eq!((&second["data"][0]["id"], &second["next_cursor"]), (&json!(bo.id), &Value::Null));
    let other = format!("/v1/admin/audit-log?cursor={cursor}");
    reader.get(other).send().await.refused(400, "invalid_cursor");
}

/// The link of an invitation works once, and no more when the key that made it is revoked.
#[tokio::test]
async fn invitations_end_with_their_key() {
    let server = TestServer::start().await;
    server.operator(None).await;
    let api = admin(&server, &["admin.operators"]).await;
    let organization_id = server.test_application().await.organization_id;
    let roles = json!([{ "organizationId": organization_id, "role": "owner" }]);
    let invited = api.post(INVITATIONS, json!({ "email": "bo@example.com", "roles": roles })).send().await;
    let link = page_of(&invited.expect(201));
    let mut bo = server.visitor();
    let joined = bo.submit(&link, &link, &[("name", "Bo"), ("password", PASSWORD)]).await;
    assert_eq!(joined.status, 303, "{joined}");
    let members = format!("/admin/orgs/{organization_id}/members");
    assert_eq!(bo.get(members).send().await.status, 200, "an owner may see it");
    assert_eq!(server.visitor().get(&link).send().await.status, 404, "it worked once");

    let invited = api.post(INVITATIONS, json!({ "email": "eve@example.com", "isAdmin": true })).send().await;
    let link = page_of(&invited.expect(201));
    let mut eve = server.visitor();
    let page = eve.get(&link).send().await;
    assert_eq!(page.status, 200, "{page}");
    eve.take_cookies(&page);
    let keys = api_keys::list_all(server.app.db.reader()).await.expect("the keys");
    let key = keys.iter().find(|key| key.scopes == ["admin.operators"]).expect("the key that invited");
    let (id, now) = (key.id.clone(), server.app.now());
    let revoked: Result<bool> = server
        .app
        .db
        .write(move |tx| {
            Box::pin(async move { Ok(key_revocations::revoke_any(tx, &id, KeyWebhooks::End, now).await?) })
        })
        .await;
    assert!(revoked.expect("the key is stored"));
    let token = harness::panel_user::form_token(&page.text).to_owned();
    let late = eve.post(&link, &token, &[("name", "Eve"), ("password", PASSWORD)]).send().await;
    assert_eq!(late.status, 404, "{late}");
    assert_eq!(server.visitor().get(&link).send().await.status, 404);
}
