//! Forms: only the panel's own page, in the same session, sends one; and only a form changes anything.

use harness::TestServer;
use harness::panel_user::{PanelUser, form_token};
use reqwest::{Method, Url};
use service::manage::actor::Actor;
use service::manage::organizations;
use storage::organizations::OrganizationPosition;
use storage::{api_keys, audit_log};
use switchboard::admin::routes::TABLE;

use crate::admin::PASSWORD;
use crate::admin::client::{first_operator, led_to, path_of, token};

const NEW: &str = "/admin/orgs/new";

/// Whether there is an organization with this name.
async fn exists(server: &TestServer, name: &str) -> bool {
    let found = storage::organizations::find_by_name(server.app.db.reader(), name).await;
    found.expect("the store answers").is_some()
}

/// A POST without a token, with another session's, and with a changed one.
#[tokio::test]
async fn token_is_required() {
    let server = TestServer::start().await;
    let (ada, bo) = (server.operator(None).await, server.operator(None).await);
    let (own, other) = (token(&ada).await, token(&bo).await);
    let changed = format!("x{own}");
    for wrong in ["", &other, &changed, "nonsense"] {
        let sent = ada.post(NEW, wrong, &[("name", "Acme")]).send().await;
        assert_eq!(sent.status, 403, "{wrong}: {sent}");
    }
    assert!(!exists(&server, "Acme").await);
    assert_eq!(ada.post(NEW, &own, &[("name", "Acme")]).send().await.status, 303);
    assert!(exists(&server, "Acme").await);
}

/// A form of the session before: what was typed is kept, and can be sent again from the panel's own page.
#[tokio::test]
async fn token_is_of_this_session() {
    let server = TestServer::start().await;
    let mut ada = first_operator(&server).await;
    let old = token(&ada).await;
    ada.submit("/admin/confirm", "/admin/confirm", &[("proof", PASSWORD)]).await;
    let own = ada.post(NEW, &old, &[("name", "Acme & Söhne")]).header("sec-fetch-site", "same-origin");
    let kept = own.send().await;
    assert_eq!(kept.status, 403, "{kept}");
    assert!(kept.text.contains("value=\"Acme &amp; Söhne\""), "{kept}");
    let again = ada.post(NEW, form_token(&kept.text), &[("name", "Acme & Söhne")]).send().await;
    assert_eq!(again.status, 303, "{again}");
    // A browser that does not say where a form comes from is offered nothing.
    let silent = ada.post(NEW, &old, &[("name", "Acme & Söhne")]).send().await;
    assert!(!silent.text.contains("Acme"), "{silent}");
}

#[tokio::test]
async fn other_sites_write_nothing() {
    let server = TestServer::start().await;
    let ada = server.operator(None).await;
    for site in ["cross-site", "same-site"] {
        let sent = ada.post(NEW, &token(&ada).await, &[("name", "Acme")]).header("sec-fetch-site", site);
        let sent = sent.send().await;
        assert_eq!(sent.status, 403, "{site}: {sent}");
        assert!(!sent.text.contains("Acme"), "nothing is offered to be sent again: {sent}");
    }
    assert!(!exists(&server, "Acme").await);
}

#[tokio::test]
async fn old_browsers_may() {
    let server = TestServer::start().await;
    let ada = server.operator(None).await;
    let sent = ada.post(NEW, &token(&ada).await, &[("name", "Acme")]).header("origin", "null");
    assert_eq!(sent.send().await.status, 303);
}

/// Proxies write other hosts.
#[tokio::test]
async fn host_is_not_compared() {
    let server = TestServer::start().await;
    let ada = server.operator(None).await;
    let sent = ada.post(NEW, &token(&ada).await, &[("name", "Acme")]).header("host", "inner.example:8080");
    let sent = sent.header("origin", "https://panel.example").send().await;
    assert_eq!(sent.status, 303, "{sent}");
}

/// Everything that could change by opening addresses, as a text.
async fn state(server: &TestServer) -> String {
    let reader = server.app.db.reader();
    let keys = api_keys::list_all(reader).await.expect("the keys");
    let keys: Vec<String> = keys.iter().map(|key| key.json().to_string()).collect();
    let audit = audit_log::list_all(reader, i64::MAX, "", 1_000).await.expect("the log");
    let applications = api_keys::applications(reader).await.expect("the applications");
    format!("{keys:?} {} {applications:?}", audit.len())
}

/// Opening and prefetching the address of each page and form.
#[tokio::test]
async fn gets_change_nothing() {
    let server = TestServer::start().await;
    let (admin, tenant) = (server.operator(None).await, server.test_application().await);
    let mut paths = Vec::new();
    for route in TABLE {
        paths.push((route, path_of(&server, route.path, &tenant).await.replace(['{', '}'], "")));
    }
    let before = state(&server).await;
    for (route, path) in &paths {
        for purpose in ["", "prefetch"] {
            let page = admin.get(path).header("sec-purpose", purpose).send().await;
            let has_page = TABLE.iter().any(|other| other.path == route.path && !other.is_form());
            assert_eq!(page.status == 405, !has_page, "{path}: {page}");
        }
    }
    assert_eq!(state(&server).await, before);
}

#[tokio::test]
async fn forms_are_forms() {
    let server = TestServer::start().await;
    let ada = server.operator(None).await;
    let token = token(&ada).await;
    let body = format!("token={token}&name=Acme");
    for media_type in ["application/json", "text/plain", "multipart/form-data; boundary=x", ""] {
        let ask = server.anonymous().ask(Method::POST, NEW.to_owned(), None).header("cookie", &ada.cookies);
        let sent = ask.raw(media_type, body.clone()).send().await;
        assert_eq!(sent.status, 415, "{media_type}: {sent}");
    }
    assert!(!exists(&server, "Acme").await);
}

/// An attacker makes another browser sign in to the attacker's account: the form's token is that of the attacker's browser.
#[tokio::test]
async fn sign_in_needs_its_own_form() {
    let server = TestServer::start().await;
    first_operator(&server).await;
    let mut attacker = server.visitor();
    let page = attacker.get("/admin/sign-in").send().await;
    attacker.take_cookies(&page);
    let fields = [("email", "ada@example.com"), ("password", PASSWORD)];
    let form = form_token(&page.text);
    let victim = server.visitor().post("/admin/sign-in", form, &fields).send().await;
    assert_eq!(victim.status, 403, "{victim}");
    assert!(
        victim.headers.get_all("set-cookie").iter().all(|set| !set.as_bytes().starts_with(b"sb_session="))
    );
    assert_eq!(attacker.post("/admin/sign-in", form, &fields).send().await.status, 303);
}

/// The way on after signing in leads to a page of the panel.
#[tokio::test]
async fn next_is_a_route_of_ours() {
    let server = TestServer::start().await;
    first_operator(&server).await;
    for (next, page) in [
        ("account", "/admin/account"),
        ("", "/admin/"),
        ("//evil.test", "/admin/"),
        ("/\\evil.test", "/admin/"),
        ("https://evil.test/", "/admin/"),
        ("%2f%2fevil.test", "/admin/"),
        ("../v1/connections", "/admin/"),
        ("account\r\nset-cookie: a=b", "/admin/"),
    ] {
        let encoded = Url::parse_with_params("http://x.test", [("next", next)]).expect("a query");
        let asked = format!("/admin/sign-in?{}", encoded.query().unwrap_or_default());
        let mut browser = server.visitor();
        let shown = browser.get(&asked).send().await;
        browser.take_cookies(&shown);
        let kept = page.strip_prefix("/admin/").expect("a page of the panel");
        assert!(shown.text.contains(&format!("name=\"next\" value=\"{kept}\"")), "{next}: {shown}");
        let fields = [("email", "ada@example.com"), ("password", PASSWORD), ("next", next)];
        let sent = browser.post("/admin/sign-in", form_token(&shown.text), &fields).send().await;
        assert_eq!(led_to("/admin/sign-in", &sent), page, "{next}");
    }
}

/// An address has ten forms a minute for signing in at each host, whether or not its browser is signed in.
#[tokio::test]
async fn addresses_have_a_budget() {
    let server = TestServer::start().await;
    let (ada, mut visitor) = (server.operator(None).await, server.visitor());
    let page = visitor.get("/admin/sign-in").send().await;
    visitor.take_cookies(&page);
    for (browser, form) in [(&visitor, form_token(&page.text).to_owned()), (&ada, token(&ada).await)] {
        let mut refused = None;
        for number in 0..21 {
            let email = format!("nobody{number}@example.com");
            let fields = [("email", email.as_str()), ("password", "wrong")];
            let sent = browser.post("/admin/sign-in", &form, &fields).send().await;
            match sent.status {
                429 => refused = Some(sent),
                status => assert_eq!(status, 403, "{sent}"),
            }
        }
        let refused = refused.expect("the budget ends");
        assert_eq!(refused.header("retry-after"), Some("60"), "{refused}");
        server.clock.advance_ms(60_000);
    }
}

/// An id with a NUL, which PostgreSQL takes in no text, is of nothing.
#[tokio::test]
async fn an_id_with_a_nul_is_of_nothing() {
    let server = TestServer::start().await;
    let admin = server.operator(None).await;
    for path in ["orgs/%00", "apps/app%00", "system/operators/%00", "join/%00", "apps/%ff"] {
        let asked = admin.get(format!("/admin/{path}")).send().await;
        assert_eq!(asked.status, 404, "{path}: {asked}");
    }
}

/// A form has 256 KiB and 200 fields.
#[tokio::test]
async fn forms_are_small() {
    let server = TestServer::start().await;
    let ada = server.operator(None).await;
    let token = token(&ada).await;
    let large = "x".repeat(300 << 10);
    let sent = ada.post(NEW, &token, &[("name", &large)]).send().await;
    assert_eq!(sent.status, 413, "{}", sent.status);
    let many = vec![("name", "x"); 1_000];
    let sent = ada.post(NEW, &token, &many).send().await;
    assert_eq!(sent.status, 413, "{}", sent.status);
    assert_eq!(ada.post(NEW, &token, &[("name", "Acme")]).send().await.status, 303);
}

/// A form that is sent twice, by a double click or by a reload, acts once.
#[tokio::test]
async fn a_form_acts_once() {
    let server = TestServer::start().await;
    let ada = server.operator(None).await;
    let token = token(&ada).await;
    let send = || ada.post(NEW, &token, &[("name", "Acme")]).send();
    let (first, second) = tokio::join!(send(), send());
    assert_eq!(led_to(NEW, &first), led_to(NEW, &second));
    let (everybody, start) = (Actor::command("test"), OrganizationPosition::default());
    let all = organizations::list(&server.app, &everybody, &start, 10).await.expect("the organizations");
    let named = all.into_iter().filter(|found| found.name == "Acme");
    assert_eq!(named.count(), 1);
    let other = ada.post(NEW, &token, &[("name", "Another")]).send().await;
    assert_eq!(other.status, 409, "{other}");
}

/// A browser without a session is asked to sign in, whatever it sends.
#[tokio::test]
async fn forms_without_a_session_do_nothing() {
    let server = TestServer::start().await;
    server.operator(None).await;
    let tenant = server.test_application().await;
    let visitor: PanelUser = server.visitor();
    for route in TABLE.iter().filter(|route| route.is_form() && route.act().is_some()).take(8) {
        let path = path_of(&server, route.path, &tenant).await;
        let sent = visitor.post(&path, "nonsense", &[]).send().await;
        assert!(led_to(&path, &sent).starts_with("/admin/sign-in?next="), "{path}: {sent}");
    }
}
