//! Secrets of keys: shown once, to their makers, and nowhere else.

use harness::panel_user::{PanelUser, form_token};
use harness::{Exchange, TestServer};
use service::manage::actor::Role;
use storage::audit_log;

use crate::admin::client::{assert_whole, key_of, led_to, token};

/// The secret that a page shows.
#[track_caller]
fn secret_of(page: &Exchange) -> String {
    let (_, rest) = page.text.split_once("uc_live_").unwrap_or_else(|| panic!("no secret in {page}"));
    format!("uc_live_{}", rest.chars().take_while(char::is_ascii_alphanumeric).collect::<String>())
}

/// Whether the API takes a key: every key here may read the usage.
async fn works(server: &TestServer, key: &str) -> bool {
    let asked = server.anonymous().get("/v1/usage").header("authorization", &format!("Bearer {key}"));
    asked.send().await.status == 200
}

async fn new_key(server: &TestServer, user: &PanelUser) -> (String, String) {
    let application = server.test_application().await.application_id;
    let new = format!("/admin/apps/{application}/keys/new");
    let made = user.post(&new, &token(user).await, &[("name", "Robot"), ("preset", "read")]).send().await;
    assert_eq!(made.status, 200, "{made}");
    let keys = user.get(format!("/admin/apps/{application}/keys")).send().await;
    let (_, rest) = keys.text.split_once("/keys/key_").expect("the key is listed");
    let id = rest.split('"').next().unwrap_or_default();
    (secret_of(&made), format!("/admin/apps/{application}/keys/key_{id}"))
}

/// A key's secret stands in the one answer that made it: in no header, no other page, no log.
#[tokio::test]
async fn secrets_leave_no_trace() {
    let server = TestServer::start().await;
    let (user, bo) = (server.operator(Some(Role::Owner)).await, server.operator(Some(Role::Owner)).await);
    let tenant = server.test_application().await;
    let new = format!("/admin/apps/{}/keys/new", tenant.application_id);
    let (form, fields) = (token(&user).await, [("name", "Robot"), ("preset", "read")]);
    let made = user.post(&new, &form, &fields).header("accept-encoding", "gzip").send().await;
    let secret = secret_of(&made);
    assert!(works(&server, &secret).await);
    assert_eq!(made.header("content-encoding"), None, "a page with a secret is not compressed");
    assert_eq!(made.header("cache-control"), Some("private, no-store"));
    assert!(made.headers.values().all(|value| !String::from_utf8_lossy(value.as_bytes()).contains(&secret)));

    // A reload within ten minutes shows it again, to the same session alone.
    assert_eq!(secret_of(&user.post(&new, &form, &fields).send().await), secret);
    assert_eq!(bo.post(&new, &form, &fields).send().await.status, 403);
    server.clock.advance_ms(10 * 60_000);
    let late = user.post(&new, &form, &fields).send().await;
    assert_eq!(late.status, 409, "{late}");
    assert!(late.text.contains("This form was used") && !late.text.contains(&secret), "{late}");

    let key = new.replace("/new", "");
    let audit = format!("/admin/orgs/{}/audit", tenant.organization_id);
    for path in [&key, &audit, &"/admin/".to_owned()] {
        let page = user.get(path).send().await;
        assert!(!page.text.contains(&secret), "{path}");
    }
    let log = audit_log::list(server.app.db.reader(), &tenant.organization_id, audit_log::NEWEST, 10)
        .await
        .expect("the log");
    let made: Vec<_> = log.iter().filter(|entry| entry.act == "key_created").collect();
    assert_eq!(made.len(), 1, "{log:?}");
    assert!(made[0].target.starts_with("key_"), "the entry names the key: {log:?}");
    assert!(!format!("{log:?}").contains(&secret), "{log:?}");
}

/// Each page has tokens of its own, so that nothing of one can be guessed from the length of compressed pages.
#[tokio::test]
async fn tokens_are_masked() {
    let server = TestServer::start().await;
    let user = server.operator(None).await;
    let mut tokens = std::collections::BTreeSet::new();
    for _ in 0..200 {
        let page = user.get("/admin/orgs/new").send().await;
        tokens.insert(form_token(&page.text).to_owned());
    }
    assert_eq!(tokens.len(), 200);
}

/// A rotation keeps the key and shows another secret; the old one works as long as was chosen, or until it is ended.
#[tokio::test]
async fn a_key_is_rotated() {
    let server = TestServer::start().await;
    let mut user = server.operator(Some(Role::Developer)).await;
    let (old, key) = new_key(&server, &user).await;
    let rotate = format!("{key}/rotate");
    let rotated = user.submit(&key, &rotate, &[("overlap", "3600")]).await;
    assert_eq!(rotated.status, 200, "{rotated}");
    assert_whole(&rotated);
    let new = secret_of(&rotated);
    assert!(works(&server, &old).await && works(&server, &new).await);
    let page = user.get(&key).send().await;
    assert!(page.text.contains("End it now") && !page.text.contains(&new), "{page}");
    let again = user.post(&rotate, &token(&user).await, &[("overlap", "3600")]).send().await;
    assert_eq!(again.status, 409, "{again}");

    let end = format!("{key}/end-old");
    let ended = user.submit(&end, &end, &[]).await;
    assert_eq!(led_to(&end, &ended), key);
    assert!(works(&server, &new).await);
    // Another host may remember it for a second.
    assert!(server.app.db.is_shared() || !works(&server, &old).await);
}

/// A revoked key works no more, and stays in the list.
#[tokio::test]
async fn a_key_is_revoked() {
    let server = TestServer::start().await;
    let mut user = server.operator(Some(Role::Developer)).await;
    let (secret, key) = new_key(&server, &user).await;
    let revoke = format!("{key}/revoke");
    let asked = user.get(&revoke).send().await;
    assert!(asked.text.contains("Revoke Robot?"), "{asked}");
    assert!(works(&server, &secret).await, "asking revokes nothing");
    let revoked = user.submit(&revoke, &revoke, &[]).await;
    let list = key.rsplit_once('/').expect("a path").0.to_owned();
    assert_eq!(led_to(&revoke, &revoked), list);
    assert!(server.app.db.is_shared() || !works(&server, &secret).await);
    assert!(user.get(&list).send().await.text.contains("Revoked"));
    let page = user.get(&key).send().await;
    assert!(!page.text.contains("/rotate\"") && !page.text.contains("/revoke\""), "{page}");
}

/// Lists show the newest keys first, 50 of them, and lead to the others.
#[tokio::test]
async fn keys_are_listed_in_pages() {
    let server = TestServer::start().await;
    let (user, tenant) = (server.operator(Some(Role::Viewer)).await, server.test_application().await);
    let mut ids = Vec::new();
    for _ in 0..51 {
        server.clock.advance_ms(1);
        ids.push(key_of(&server, &tenant).await);
    }
    let list = format!("/admin/apps/{}/keys", tenant.application_id);
    let first = user.get(&list).send().await;
    assert!(!first.text.contains(&ids[0]) && first.text.contains(&ids[50]), "{first}");
    let (_, rest) = first.text.split_once("?cursor=").expect("a way to older keys");
    let cursor = rest.split('"').next().unwrap_or_default();
    let second = user.get(format!("{list}?cursor={cursor}")).send().await;
    assert!(second.text.contains(&ids[0]) && !second.text.contains(&ids[1]), "{second}");

    // A cursor is of one list and of one reader.
    let other = server.operator(Some(Role::Viewer)).await;
    for (reader, path) in [(&other, list.clone()), (&user, format!("/admin/orgs/{}", tenant.organization_id))]
    {
        let refused = reader.get(format!("{path}?cursor={cursor}")).send().await;
        assert_eq!(refused.status, 400, "{path}: {refused}");
    }
}
