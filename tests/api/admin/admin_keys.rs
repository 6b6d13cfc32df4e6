//! Keys of the administration: made, rotated and revoked by administrators in the panel, shown once, and never by anything else.

use harness::panel_user::PanelUser;
use harness::{Exchange, TestServer};
use http::Method;
use service::manage::actor::{FRESH_MS, Role};
use storage::audit_log;

use crate::admin::client::{assert_whole, key_of, led_to, token};

const KEYS: &str = "/admin/system/keys";
const NEW: &str = "/admin/system/keys/new";

/// The secret that a page shows.
#[track_caller]
fn secret_of(page: &Exchange) -> String {
    let (_, rest) = page.text.split_once("uc_live_").unwrap_or_else(|| panic!("no secret in {page}"));
    format!("uc_live_{}", rest.chars().take_while(char::is_ascii_alphanumeric).collect::<String>())
}

/// The status of a request of the administration with this key.
async fn asked(server: &TestServer, method: Method, path: &str, key: &str) -> u16 {
    let ask = server.anonymous().ask(method, path.to_owned(), None);
    ask.header("authorization", &format!("Bearer {key}")).send().await.status
}

async fn new_key(admin: &PanelUser, scopes: &[&str]) -> Exchange {
    let mut fields = vec![("name", "Provisioning")];
    fields.extend(scopes.iter().map(|scope| ("scope", *scope)));
    admin.post(NEW, &token(admin).await, &fields).send().await
}

/// The path of the page of the one key in the list.
async fn page_of(admin: &PanelUser) -> String {
    let list = admin.get(KEYS).send().await;
    assert_whole(&list);
    let (_, rest) = list.text.split_once("/keys/key_").unwrap_or_else(|| panic!("no key in {list}"));
    format!("{KEYS}/key_{}", rest.split('"').next().unwrap_or_default())
}

/// A key is made with scopes of the administration, works for these alone, is rotated and revoked; the log of the installation has each act.
#[tokio::test]
async fn an_admin_key_is_made_rotated_and_revoked() {
    let server = TestServer::start().await;
    let mut admin = server.operator(None).await;
    let empty = admin.get(KEYS).send().await;
    assert!(empty.text.contains("No API keys yet"), "{empty}");
    let form = admin.get(NEW).send().await;
    assert_whole(&form);
    assert!(form.text.contains("admin.operators") && !form.text.contains("email.read"), "{form}");

    let made = new_key(&admin, &["admin.read"]).await;
    assert_eq!(made.status, 200, "{made}");
    assert_whole(&made);
    let first = secret_of(&made);
    assert!(made.text.contains("/v1/admin/organizations"), "a first request that works: {made}");
    assert_eq!(asked(&server, Method::GET, "/v1/admin/organizations", &first).await, 200);
    assert_eq!(asked(&server, Method::GET, "/v1/connections", &first).await, 403);
    assert_eq!(asked(&server, Method::POST, "/v1/admin/organizations", &first).await, 403);

    let page = page_of(&admin).await;
    let shown = admin.get(&page).send().await;
    assert_whole(&shown);
    assert!(shown.text.contains("Reads the installation") && !shown.text.contains(&first), "{shown}");
    let rotate = format!("{page}/rotate");
    let rotated = admin.submit(&page, &rotate, &[("overlap", "3600")]).await;
    assert_eq!(rotated.status, 200, "{rotated}");
    assert_whole(&rotated);
    let second = secret_of(&rotated);
    for key in [&first, &second] {
        assert_eq!(asked(&server, Method::GET, "/v1/admin/organizations", key).await, 200);
    }
    let end = format!("{page}/end-old");
    let ended = admin.submit(&end, &end, &[]).await;
    assert_eq!(led_to(&end, &ended), page);
    let revoke = format!("{page}/revoke");
    let question = admin.get(&revoke).send().await;
    assert!(
        question.text.contains("Revoke Provisioning?") && !question.text.contains("webhooks"),
        "{question}"
    );
    let revoked = admin.submit(&revoke, &revoke, &[]).await;
    assert_eq!(led_to(&revoke, &revoked), KEYS);
    // Another host may remember them for a second.
    if !server.app.db.is_shared() {
        for key in [&first, &second] {
            assert_eq!(asked(&server, Method::GET, "/v1/admin/organizations", key).await, 401);
        }
    }
    assert!(admin.get(KEYS).send().await.text.contains("Revoked"));

    let log = audit_log::list(server.app.db.reader(), audit_log::INSTALLATION, audit_log::NEWEST, 50).await;
    let log = log.expect("the log");
    let mut acts: Vec<&str> = log.iter().map(|entry| entry.act.as_str()).collect();
    acts.sort_unstable();
    assert_eq!(acts, ["key_created", "key_old_secret_ended", "key_revoked", "key_rotated"]);
    let id = page.rsplit('/').next().unwrap_or_default();
    assert!(log.iter().all(|entry| entry.target == id && entry.actor.id == admin.id), "{log:?}");
    assert!(![&first, &second].iter().any(|secret| format!("{log:?}").contains(secret.as_str())));
}

/// Scopes of applications are no scopes of an administration's key, nor are the others of a key of an application; a form that is wrong keeps
/// what was entered.
#[tokio::test]
async fn admin_scopes_are_apart() {
    let server = TestServer::start().await;
    let admin = server.operator(None).await;
    for scopes in [vec![], vec!["email.read"], vec!["admin.read", "all"], vec!["admin.*"]] {
        let refused = new_key(&admin, &scopes).await;
        assert_eq!(refused.status, 400, "{scopes:?}: {refused}");
        assert!(refused.text.contains("value=\"Provisioning\""), "{refused}");
        assert_whole(&refused);
    }
    assert!(admin.get(KEYS).send().await.text.contains("No API keys yet"));
    let tenant = server.test_application().await;
    let of_application = format!("/admin/apps/{}/keys/new", tenant.application_id);
    let fields = [("name", "Robot"), ("preset", "own"), ("scope", "admin.read")];
    let sent = admin.post(&of_application, &token(&admin).await, &fields).send().await;
    assert_eq!(sent.status, 400, "{sent}");
    // A key of an application is not among these, nor the other way round.
    let key = key_of(&server, &tenant).await;
    assert_eq!(admin.get(format!("{KEYS}/{key}")).send().await.status, 404);
    new_key(&admin, &["admin.read"]).await;
    let own = page_of(&admin).await.replace(KEYS, &format!("/admin/apps/{}/keys", tenant.application_id));
    assert_eq!(admin.get(&own).send().await.status, 404);
}

/// Each change of an administration's key asks for the password again after 15 minutes, and owners do not see that there are any.
#[tokio::test]
async fn admin_keys_need_a_fresh_session() {
    let server = TestServer::start().await;
    let admin = server.operator(None).await;
    assert_eq!(new_key(&admin, &["admin.read"]).await.status, 200);
    let page = page_of(&admin).await;
    let form = token(&admin).await;
    server.clock.advance_ms(FRESH_MS);
    assert_eq!(admin.get(KEYS).send().await.status, 200, "looking needs no proof");
    for path in
        [NEW.to_owned(), format!("{page}/rotate"), format!("{page}/end-old"), format!("{page}/revoke")]
    {
        let fields = [("name", "Late"), ("scope", "admin.read")];
        let sent = admin.post(&path, &form, &fields).send().await;
        assert!(led_to(&path, &sent).starts_with("/admin/confirm"), "{path}: {sent}");
    }
    let list = admin.get(KEYS).send().await;
    assert!(!list.text.contains("Late") && !list.text.contains("Revoked"), "{list}");
    let owner = server.operator(Some(Role::Owner)).await;
    for path in [KEYS, NEW, &page] {
        assert_eq!(owner.get(path).send().await.status, 404, "{path}");
    }
}
