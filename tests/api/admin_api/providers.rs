//! OAuth clients of applications by the API of the administration.

use base::tenant::Tenant;
use harness::{Actor, TestServer};
use http::Method;
use serde_json::{Value, json};
use storage::oauth_clients;

use crate::admin_api::applications::{application, organization};
use crate::admin_api::{acts, admin, audit};

const GIVEN_SECRET: &str = "of-the-provider-7f3a";

/// A new application, and the address of its providers.
async fn shop(api: &Actor) -> (Tenant, String) {
    let organization_id = organization(api, "Acme").await;
    let application_id = application(api, &organization_id, "Shop").await;
    let list = format!("/v1/admin/applications/{application_id}/providers");
    (Tenant { organization_id, application_id }, list)
}

fn put(api: &Actor, path: &str, body: Value) -> harness::Ask {
    api.ask(Method::PUT, path.to_owned(), Some(body))
}

/// A registration is replaced as a whole, but for its secret, which no answer and no entry of the audit log has.
#[tokio::test]
async fn registrations_are_replaced_but_for_the_secret() {
    let server = TestServer::start().await;
    let api = admin(&server, &["admin.write"]).await;
    let (tenant, list) = shop(&api).await;
    let google = format!("{list}/google");
    let before = api.all(&list).await;
    let offered = before.iter().find(|one| one["provider"] == "google").expect("it is offered");
    assert_eq!((&offered["clientId"], &offered["etag"]), (&Value::Null, &Value::Null));
    let callback = offered["callbackUrl"].as_str().expect("an address");
    assert!(callback.ends_with("/v1/auth/connectors/google/callback"), "{callback}");

    let body = json!({
        "clientId": "1234.apps.example", "clientSecret": GIVEN_SECRET, "clientAuth": "basic",
        "scopes": { "email.read": ["mail"] },
        "settings": { "limits": { "gmail": { "units": 15_000, "per_s": 60 } } },
        "endpoints": { "tokenUrl": "https://id.example.test/token", "callbackUrl": "https://app.example.test/cb" },
    });
    let made = put(&api, &google, body.clone()).keyed("google").send().await.expect(200);
    assert_eq!(put(&api, &google, body.clone()).keyed("google").send().await.expect(200), made);
    for field in ["clientId", "clientAuth", "scopes", "settings", "endpoints"] {
        assert_eq!(made[field], body[field], "{field}");
    }
    assert_eq!((&made["hasSecret"], &made["disabled"]), (&json!(true), &json!(false)));
    assert_eq!(made["callbackUrl"], "https://app.example.test/cb");
    let reader = server.app.db.reader();
    let sealed = oauth_clients::find(reader, &tenant, "google").await.expect("a query").expect("a client");
    assert!(sealed.client_secret.as_ref().is_some_and(|sealed| !sealed.contains(GIVEN_SECRET)));

    let body = json!({ "clientId": "5678.apps.example", "disabled": true });
    let changed = put(&api, &google, body.clone()).if_match(made["etag"].as_str().expect("an etag"));
    let changed = changed.send().await.expect(200);
    assert_eq!(
        (&changed["clientAuth"], &changed["scopes"], &changed["endpoints"]),
        (&Value::Null, &json!({}), &json!({}))
    );
    assert_eq!((&changed["hasSecret"], &changed["disabled"]), (&json!(true), &json!(true)));
    assert_ne!(changed["etag"], made["etag"]);
    let kept = oauth_clients::find(reader, &tenant, "google").await.expect("a query").expect("a client");
    assert_eq!(kept.client_secret, sealed.client_secret);
    put(&api, &google, body)
        .if_match(made["etag"].as_str().expect("an etag"))
        .send()
        .await
        .refused(409, "stale_etag");

    let public = json!({ "clientId": "5678.apps.example", "clientAuth": "none" });
    assert_eq!(put(&api, &google, public).send().await.expect(200)["hasSecret"], false);
    let page = api.get(&list).send().await;
    assert!(page.status == 200 && !page.text.contains(GIVEN_SECRET), "{page}");
    let saved = acts(&server).await.into_iter().filter(|(act, _)| act == "oauth_client_saved");
    assert_eq!(saved.map(|(_, target)| target).collect::<Vec<_>>(), ["google"; 3]);
    for entry in audit(&server).await {
        let text = format!("{entry:?}");
        assert!(!text.contains(GIVEN_SECRET) && !text.contains(".apps.example"), "{text}");
    }
}

/// Two first registrations at once: both are made one after the other, or one is refused. A registration that is the same again is no new version,
/// and no entry of the audit log.
#[tokio::test]
async fn two_first_registrations_at_once_are_one() {
    let server = TestServer::start().await;
    let api = admin(&server, &["admin.write"]).await;
    let (tenant, list) = shop(&api).await;
    let google = format!("{list}/google");
    let body = |id: &str| json!({ "clientId": id, "clientAuth": "none" });
    let (one, two) =
        tokio::join!(put(&api, &google, body("one")).send(), put(&api, &google, body("two")).send());
    let made = [&one, &two].iter().filter(|answer| answer.status == 200).count();
    for answer in [one, two] {
        match answer.status {
            200 => assert!(["one", "two"].map(Value::from).contains(&answer.expect(200)["clientId"])),
            _ => drop(answer.refused(409, "invalid_state")),
        }
    }
    assert!(made > 0, "one of them is there");
    let reader = server.app.db.reader();
    let stored = oauth_clients::find(reader, &tenant, "google").await.expect("a query").expect("a client");
    let saved = async || acts(&server).await.iter().filter(|(act, _)| act == "oauth_client_saved").count();
    assert_eq!(saved().await, made);
    let again = put(&api, &google, body(&stored.client_id)).send().await;
    let etag = again.header("etag").map(str::to_owned);
    again.expect(200);
    let third = put(&api, &google, body(&stored.client_id)).send().await;
    assert_eq!(third.header("etag").map(str::to_owned), etag, "nothing has changed");
    assert_eq!(saved().await, made);
}

/// A fault names its field, and nothing is stored.
#[tokio::test]
async fn faults_of_registrations_store_nothing() {
    let server = TestServer::start().await;
    let api = admin(&server, &["admin.write"]).await;
    let (tenant, list) = shop(&api).await;
    let google = format!("{list}/google");
    for (field, value, code, param) in [
        ("clientId", json!(""), "invalid_parameter", "clientId"),
        ("clientId", json!("a\nb"), "invalid_parameter", "clientId"),
        ("clientSecret", json!("a\tb"), "invalid_parameter", "clientSecret"),
        ("clientSecret", json!(null), "missing_field", "clientSecret"),
        ("clientAuth", json!("digest"), "invalid_parameter", "clientAuth"),
        ("clientAuth", json!("none"), "conflicting_fields", "clientSecret"),
        ("settings", json!({ "nobody": "x" }), "unknown_field", "settings.nobody"),
        (
            "endpoints",
            json!({ "tokenUri": "https://id.example.test" }),
            "unknown_field",
            "endpoints.tokenUri",
        ),
        ("endpoints", json!({ "tokenUrl": "ftp://id.example.test" }), "invalid_url", "endpoints.tokenUrl"),
        (
            "endpoints",
            json!({ "tokenUrl": "https://u:p@id.example.test" }),
            "invalid_url",
            "endpoints.tokenUrl",
        ),
        ("endpoints", json!({ "tokenUrl": 7 }), "invalid_parameter", "endpoints.tokenUrl"),
        (
            "endpoints",
            json!({ "origins": { "https://evil.test": "https://b.test" } }),
            "invalid_parameter",
            "endpoints.origins",
        ),
        ("endpoints", json!({ "origins": ["https://evil.test"] }), "invalid_parameter", "endpoints.origins"),
        ("scopes", json!({ "email.red": ["mail"] }), "invalid_parameter", "scopes.email.red"),
        ("scopes", json!({ "email.read": [] }), "invalid_parameter", "scopes.email.read"),
        ("scopes", json!({ "admin.read": ["mail"] }), "invalid_parameter", "scopes.admin.read"),
    ] {
        let mut body = json!({ "clientId": "1234.apps.example", "clientSecret": GIVEN_SECRET });
        body[field] = value.clone();
        let error = put(&api, &google, body).send().await.refused(400, code);
        assert_eq!(error["param"], param, "{field} {value}");
        assert!(!error.to_string().contains(GIVEN_SECRET), "{error}");
    }
    let good = json!({ "clientId": "1234.apps.example", "clientSecret": GIVEN_SECRET });
    for unknown in ["nobody", "imap"] {
        put(&api, &format!("{list}/{unknown}"), good.clone()).send().await.refused(404, "not_found");
    }
    put(&api, "/v1/admin/applications/app_none/providers/google", good.clone())
        .send()
        .await
        .refused(404, "not_found");
    put(&api, &google, good).if_match("\"oac_1\"").send().await.refused(409, "stale_etag");
    api.delete(&google).send().await.refused(404, "not_found");
    let stored = oauth_clients::list(server.app.db.reader(), &tenant.application_id).await.expect("a query");
    assert!(stored.is_empty(), "{stored:?}");
    assert_eq!(acts(&server).await.len(), 2, "an organization and an application");
}

/// A registration that accounts use is removed by force alone, and under its version.
#[tokio::test]
async fn registrations_in_use_are_kept() {
    let server = TestServer::start().await;
    let api = admin(&server, &["admin.write"]).await;
    let (_, list) = shop(&api).await;
    let body = json!({ "clientId": "1234.apps.example", "clientSecret": GIVEN_SECRET });
    let keys = list.replace("/providers", "/api-keys");
    let wish = json!({ "name": "all", "scopes": base::scopes::ALL });
    let key = api.post(keys, wish).send().await.expect(201);
    let mut owner = server.anonymous();
    owner.key = key["key"].as_str().map(str::to_owned);
    owner.connect_sandbox().await;
    let sandbox = format!("{list}/sandbox");
    let made = put(&api, &sandbox, body.clone()).send().await.expect(200);
    api.delete(&sandbox).if_match("\"oac_1\"").send().await.refused(409, "stale_etag");
    api.delete(&sandbox).send().await.refused(409, "not_empty");
    api.delete(format!("{sandbox}?force=maybe")).send().await.refused(400, "invalid_parameter");
    let forced =
        api.delete(format!("{sandbox}?force=true")).if_match(made["etag"].as_str().expect("an etag"));
    forced.send().await.expect(204);
    api.delete(format!("{sandbox}?force=true")).send().await.refused(404, "not_found");
    // A registration that is made again is another one.
    let again = put(&api, &sandbox, body).send().await.expect(200);
    assert_eq!(again["version"], made["version"]);
    assert_ne!(again["etag"], made["etag"]);
    let removed = acts(&server).await.into_iter().filter(|(act, _)| act == "oauth_client_removed");
    assert_eq!(removed.map(|(_, target)| target).collect::<Vec<_>>(), ["sandbox"]);
}
