//! API keys of applications by the API of the administration, and keys of the administration itself.

use harness::{Actor, TestServer};
use serde_json::{Value, json};
use storage::{Db, Options, audit_log, operator_organization};

use crate::admin_api::applications::{application, organization};
use crate::admin_api::{acts, admin, audit};
use crate::cli::{printed, refused, switchboard};

fn with_secret(server: &TestServer, answer: &Value) -> Actor {
    let mut client = server.anonymous();
    client.key = Some(answer["key"].as_str().expect("a secret").to_owned());
    client
}

/// The addresses of the keys of a new application of a new organization.
async fn keys_of(api: &Actor, name: &str) -> String {
    let organization = organization(api, name).await;
    format!("/v1/admin/applications/{}/api-keys", application(api, &organization, "Shop").await)
}

/// A key is made, works, gets another secret beside which the one before works for a time, and is revoked.
#[tokio::test]
async fn keys_of_applications_come_and_go() {
    let server = TestServer::start().await;
    let api = admin(&server, &["admin.write"]).await;
    let list = keys_of(&api, "Acme").await;
    let wish =
        json!({ "name": "till", "scopes": ["calendar.read", "webhooks.write"], "rateLimitPerMinute": 50 });
    let made = api.post(&list, wish.clone()).keyed("till").send().await.expect(201);
    assert_eq!(
        api.post(&list, wish).keyed("till").send().await.expect(201),
        made,
        "the secret is shown again"
    );
    let mut shown = made.clone();
    for field in ["key", "warnings"] {
        shown.as_object_mut().expect("an object").remove(field);
    }
    assert_eq!(api.all(&list).await, [shown.clone()], "without its secret");
    assert_eq!((&shown["rateLimitPerMinute"], &shown["kind"]), (&json!(50), &json!("key")));
    with_secret(&server, &made).get("/v1/calendars").send().await.expect(200);

    server.clock.advance_ms(1);
    let path = format!("{list}/{}", made["id"].as_str().expect("an id"));
    let rotated =
        api.post(format!("{path}/rotate"), json!({ "overlapSeconds": 60 })).send().await.expect(200);
    assert_eq!(
        (&rotated["id"], &rotated["previousExpiresAt"]),
        (&made["id"], &json!("2026-03-01T08:01:00.001Z"))
    );
    for answer in [&made, &rotated] {
        with_secret(&server, answer).get("/v1/calendars").send().await.expect(200);
    }
    api.post(format!("{path}/rotate"), json!({})).send().await.refused(409, "invalid_state");
    api.post(format!("{path}/rotate"), json!({ "overlapSeconds": -1 }))
        .send()
        .await
        .refused(400, "invalid_parameter");
    server.clock.advance_ms(60_000);
    with_secret(&server, &made).get("/v1/calendars").send().await.refused(401, "expired_api_key");

    api.delete(&path).send().await.expect(204);
    with_secret(&server, &rotated).get("/v1/calendars").send().await.refused(401, "revoked_api_key");
    api.post(format!("{path}/rotate"), json!({})).send().await.refused(409, "invalid_state");
    assert!(api.all(&list).await[0]["revokedAt"].is_string());

    let id = made["id"].as_str().expect("an id");
    let of_key: Vec<_> = acts(&server).await.into_iter().filter(|(_, target)| target == id).collect();
    let words: Vec<_> = of_key.iter().map(|(act, _)| act.as_str()).collect();
    assert_eq!(words, ["key_created", "key_rotated", "key_revoked"]);
    let secrets = [&made, &rotated].map(|answer| answer["key"].as_str().expect("a secret").to_owned());
    for entry in audit(&server).await {
        let text = format!("{entry:?}");
        assert!(secrets.iter().all(|secret| !text.contains(secret)), "{text}");
    }
}

/// Keys are those of the application in the path: another one's are not there.
#[tokio::test]
async fn keys_stay_in_their_application() {
    let server = TestServer::start().await;
    let api = admin(&server, &["admin.write"]).await;
    let (acme, beta) = (keys_of(&api, "Acme").await, keys_of(&api, "Beta").await);
    let wish = |name: &str| json!({ "name": name, "scopes": ["calendar.read"] });
    let key = api.post(&acme, wish("till")).send().await.expect(201);
    let id = key["id"].as_str().expect("an id");
    assert!(api.all(&beta).await.is_empty());
    api.post(format!("{beta}/{id}/rotate"), json!({})).send().await.refused(404, "not_found");
    api.delete(format!("{beta}/{id}")).send().await.refused(404, "not_found");
    let nothing = "/v1/admin/applications/app_none/api-keys";
    api.get(nothing).send().await.refused(404, "not_found");
    api.post(nothing, wish("till")).send().await.refused(404, "not_found");
    for (field, value, param) in [
        ("name", json!(""), "name"),
        ("scopes", json!(["calendar.red"]), "scopes[0]"),
        ("allowedIps", json!(["x"]), "allowedIps[0]"),
        ("expiresAt", json!("2026-03-01T07:00:00Z"), "expiresAt"),
    ] {
        let mut body = wish("till");
        body[field] = value;
        let error = api.post(&acme, body).send().await.refused(400, "invalid_parameter");
        assert_eq!(error["param"], param);
    }
    server.clock.advance_ms(1);
    api.post(&acme, wish("second")).send().await.expect(201);
    let names: Vec<_> =
        api.all(&format!("{acme}?limit=1")).await.iter().map(|key| key["name"].clone()).collect();
    assert_eq!(json!(names), json!(["till", "second"]));
    with_secret(&server, &key).get("/v1/calendars").send().await.expect(200);
}

/// Scopes of administration are on keys of the installation's own organization alone: no key gives them to another one, and no access token
/// has them.
#[tokio::test]
async fn admin_scopes_are_apart() {
    let server = TestServer::start().await;
    let api = admin(&server, &base::scopes::ADMIN).await;
    let list = keys_of(&api, "Acme").await;
    let everything = server.client().await;
    let both = server.client_with(&["api_keys.write", "admin.write"]).await;
    for scope in base::scopes::ADMIN {
        let wish = json!({ "name": "x", "scopes": ["calendar.read", scope] });
        for (key, path) in [(&api, list.as_str()), (&everything, "/v1/api-keys"), (&both, "/v1/api-keys")] {
            let error = key.post(path, wish.clone()).send().await;
            let wanted = if std::ptr::eq(key, &both) { (403, "scopes[0]") } else { (400, "scopes[1]") };
            assert_eq!(
                (error.status, error.answer["error"]["param"].as_str()),
                (wanted.0, Some(wanted.1)),
                "{error}"
            );
        }
        let alone = json!({ "name": "x", "scopes": [scope] });
        both.post("/v1/api-keys", alone).send().await.refused(400, "invalid_parameter");
    }
    let body = json!({ "grant_type": "client_credentials" });
    let token = api.post("/v1/oauth/token", body).send().await;
    if token.status == 200 {
        let mut client = server.anonymous();
        client.key = token.answer["access_token"].as_str().map(str::to_owned);
        client.get("/v1/admin/organizations").send().await.refused(403, "forbidden");
    }
    let own =
        operator_organization::tenant(server.app.db.reader()).await.expect("a query").expect("it is there");
    let keys = server.app.db.reader();
    let listed = storage::api_keys::list_all(keys).await.expect("the keys");
    let administer =
        listed.iter().filter(|key| key.scopes.iter().any(|scope| base::scopes::is_admin_scope(scope)));
    assert_eq!(administer.filter(|key| key.tenant == own).count(), 1, "the test's own");
}

/// `keys create` with these arguments.
fn create<'a>(place: &[&'a str], arguments: &[&'a str]) -> Vec<&'a str> {
    [&["keys", "create"][..], arguments, place].concat()
}

/// `keys create --operator` makes a key of the administration; this, its rotation and its end are in the audit log. `all` does not include its
/// scopes.
#[tokio::test]
async fn the_command_makes_keys_of_the_administration() {
    let data = tempfile::tempdir().expect("a data directory");
    let place = ["--data-dir", data.path().to_str().expect("a plain path")];
    let first = ["--operator", "--scopes", "admin.read,admin.write", "--init", "--json"];
    let key = printed(&create(&place, &first));
    assert_eq!((&key["scopes"], &key["name"]), (&json!(["admin.read", "admin.write"]), &json!("operators")));
    let second =
        printed(&create(&place, &["--operator", "--scopes", "admin.operators", "--name", "ci", "--json"]));
    assert_eq!((&second["name"], &second["applicationId"]), (&json!("ci"), &key["applicationId"]));
    let all = printed(&create(
        &place,
        &["--scopes", "all", "--organization", "operators", "--application", "operators", "--json"],
    ));
    assert_ne!(all["organizationId"], key["organizationId"], "a tenant may have that name");
    assert!(
        all["scopes"]
            .as_array()
            .expect("a list")
            .iter()
            .all(|scope| !scope.as_str().expect("a text").starts_with("admin."))
    );
    let listed = printed(&[&["keys", "list", "--operator", "--json"][..], &place].concat());
    let ids: Vec<_> = listed.as_array().expect("a list").iter().map(|key| key["id"].clone()).collect();
    assert_eq!(ids.len(), 2);
    assert!(ids.contains(&key["id"]) && ids.contains(&second["id"]));
    let id = second["id"].as_str().expect("an id");
    let rotated = printed(&[&["keys", "rotate", id, "--json"][..], &place].concat());
    assert_ne!(rotated["key"], second["key"]);
    for _ in 0..2 {
        printed(&[&["keys", "revoke", id, "--json"][..], &place].concat());
    }
    let file = format!("sqlite://{}", data.path().join("switchboard.db").display());
    let db = Db::connect(&Options::for_url(file)).await.expect("the database");
    let entries = audit_log::list_all(db.reader(), i64::MAX, audit_log::NEWEST, 10).await.expect("the log");
    db.close().await;
    let made = entries.iter().filter(|entry| entry.act == "key_created" && entry.actor.kind == "command");
    let mut targets: Vec<_> = made.map(|entry| json!(entry.target)).collect();
    targets.sort_unstable_by_key(Value::to_string);
    assert_eq!(targets, [key["id"].clone(), second["id"].clone()]);
    for act in ["key_rotated", "key_revoked"] {
        let of_second = entries.iter().filter(|entry| entry.act == act && entry.target == id);
        assert_eq!(of_second.count(), 1, "{act}: {entries:?}");
    }
    for wrong in [
        &["--operator", "--scopes", "all"][..],
        &["--operator", "--scopes", "admin.read,calendar.read"],
        &["--scopes", "admin.read"],
        &["--scopes", "all,admin.read"],
        &["--operator", "--scopes", "admin.read", "--application", "Shop"],
    ] {
        let (status, words) = refused(&mut switchboard(&create(&place, wrong)));
        assert!(status != Some(0) && !words.is_empty(), "{wrong:?}");
    }
}
