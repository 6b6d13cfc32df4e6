//! Sessions: a cookie that begins at the sign-in, ends with the sign-out, and counts nowhere else.

use harness::panel_user::{PanelUser, form_token};
use harness::{Exchange, TestServer};
use service::manage::actor::Role;
use service::manage::operators::sessions::hash_of;
use service::manage::operators::{directory, totp};

use crate::admin::PASSWORD;
use crate::admin::client::{first_operator, led_to, sign_in, token};

const HOUR_MS: i64 = 3_600_000;

/// The value of the session's cookie.
fn cookie(user: &PanelUser) -> String {
    let found = user.cookies.split("; ").find_map(|cookie| cookie.strip_prefix("sb_session="));
    found.expect("a session").to_owned()
}

/// Whether the browser is signed in.
async fn is_signed_in(user: &PanelUser) -> bool {
    let page = user.get("/admin/account").send().await;
    assert!([200, 303].contains(&page.status), "{page}");
    page.status == 200
}

fn with_cookies(server: &TestServer, cookies: &str) -> PanelUser {
    let mut browser = server.visitor();
    browser.cookies = cookies.to_owned();
    browser
}

/// A cookie that was planted before is worth nothing after; a proof of who they are gives another one, and ends the one before.
#[tokio::test]
async fn session_is_new_at_sign_in() {
    let server = TestServer::start().await;
    first_operator(&server).await;
    let mut browser = with_cookies(&server, "sb_session=planted");
    let fields = [("email", "ada@example.com"), ("password", PASSWORD)];
    let answer = browser.submit("/admin/sign-in", "/admin/sign-in", &fields).await;
    assert_eq!(led_to("/admin/sign-in", &answer), "/admin/");
    assert_ne!(cookie(&browser), "planted");
    assert!(!is_signed_in(&with_cookies(&server, "sb_session=planted")).await);

    let before = browser.clone();
    let answer =
        browser.submit("/admin/confirm?next=account", "/admin/confirm", &[("proof", PASSWORD)]).await;
    assert_eq!(led_to("/admin/confirm", &answer), "/admin/");
    assert_ne!(cookie(&browser), cookie(&before));
    assert!(is_signed_in(&browser).await);
    // Another host may remember it for a second.
    assert!(server.app.db.is_shared() || !is_signed_in(&before).await);
}

#[tokio::test]
async fn sign_out_ends_it_everywhere() {
    let server = TestServer::start().await;
    let mut ada = server.operator(None).await;
    let before = ada.clone();
    let token = token(&ada).await;
    let answer = ada.post("/admin/sign-out", &token, &[]).send().await;
    assert_eq!(led_to("/admin/sign-out", &answer), "/admin/sign-in");
    ada.take_cookies(&answer);
    assert!(!ada.cookies.contains("sb_session="), "{}", ada.cookies);
    assert!(server.app.db.is_shared() || !is_signed_in(&before).await);
}

#[tokio::test]
async fn password_ends_sessions() {
    let server = TestServer::start().await;
    let mut ada = first_operator(&server).await;
    let elsewhere = sign_in(&server, "ada@example.com", PASSWORD).await;
    let another = "nine apples and a pear";
    let path = "/admin/account/password";
    let copied = ada.clone();
    let answer = ada.submit(path, path, &[("new_password", another)]).await;
    assert_eq!(led_to(path, &answer), "/admin/account");
    assert!(is_signed_in(&ada).await);
    assert!(!is_signed_in(&elsewhere).await);
    assert_ne!(cookie(&ada), cookie(&copied));
    // Another host may remember it for a second.
    assert!(
        server.app.db.is_shared() || !is_signed_in(&copied).await,
        "a copy of the cookie is worth nothing"
    );
    sign_in(&server, "ada@example.com", another).await;
    let mut late = server.visitor();
    let old = [("email", "ada@example.com"), ("password", PASSWORD)];
    let refused = late.submit("/admin/sign-in", "/admin/sign-in", &old).await;
    assert_eq!(refused.status, 403, "{refused}");
    assert!(refused.text.contains("Wrong email or password."), "{refused}");
}

/// The recovery codes that a page shows.
#[track_caller]
fn recovery_codes(page: &Exchange) -> Vec<String> {
    assert_eq!(page.status, 200, "{page}");
    let shown = page.text.split("<li class=\"id\" dir=\"ltr\">").skip(1);
    shown.map(|rest| rest.split('<').next().unwrap_or_default().to_owned()).collect()
}

/// A second factor is set up once, however often its form is sent. After that a password opens no page; a code does.
#[tokio::test]
async fn a_password_is_not_enough() {
    let server = TestServer::start().await;
    let ada = first_operator(&server).await;
    let found = directory::find_by_email(&server.app, "ada@example.com").await.expect("the store answers");
    let id = found.expect("she is there").id;
    let path = "/admin/account/second-factor";
    let page = ada.get(path).send().await;
    let (_, rest) = page.text.split_once("name=\"setup\" value=\"").expect("the setup");
    let setup = rest.split('"').next().unwrap_or_default();
    let secret = totp::secret_of(&server.app.keyring, &id, setup).expect("it is Ada's");
    let code = totp::code_at(&secret, server.app.now()).expect("a code");
    let fields = [("setup", setup), ("code", code.as_str())];
    let send = || ada.post(path, form_token(&page.text), &fields).send();
    let (first, second) = tokio::join!(send(), send());
    assert_eq!(recovery_codes(&first).len(), 10);
    assert_eq!(recovery_codes(&first), recovery_codes(&second), "those that are shown are those that work");

    server.clock.advance_ms(30_000);
    let mut late = server.visitor();
    let signing_in = [("email", "ada@example.com"), ("password", PASSWORD)];
    let answer = late.submit("/admin/sign-in", "/admin/sign-in", &signing_in).await;
    assert_eq!(led_to("/admin/sign-in", &answer), "/admin/sign-in/code?next=");
    assert!(!is_signed_in(&late).await);
    let step = "/admin/sign-in/code";
    assert_eq!(late.submit(step, step, &[("code", "nonsense")]).await.status, 403);
    let recovery = recovery_codes(&first).remove(0);
    let answer = late.submit(step, step, &[("code", recovery.as_str())]).await;
    assert_eq!(led_to(step, &answer), "/admin/");
    assert!(is_signed_in(&late).await && !late.cookies.contains("sb_code="), "{}", late.cookies);
}

/// After 12 hours without a page, and after 7 days with many.
#[tokio::test]
async fn sessions_end() {
    let server = TestServer::start().await;
    let (idle, busy) = (server.operator(None).await, server.operator(None).await);
    server.clock.advance_ms(11 * HOUR_MS);
    assert!(is_signed_in(&busy).await);
    server.clock.advance_ms(HOUR_MS + 1);
    assert!(!is_signed_in(&idle).await);
    for _ in 0..14 {
        assert!(is_signed_in(&busy).await);
        server.clock.advance_ms(11 * HOUR_MS);
    }
    assert!(is_signed_in(&busy).await, "166 hours are less than 7 days");
    server.clock.advance_ms(2 * HOUR_MS + 1);
    assert!(!is_signed_in(&busy).await);
}

#[tokio::test]
async fn two_cookies_are_none() {
    let server = TestServer::start().await;
    let ada = server.operator(None).await;
    let twice = format!("{}; {}", ada.cookies, ada.cookies);
    assert!(!is_signed_in(&with_cookies(&server, &twice)).await);
    let beside = format!("sb_session=planted; {}", ada.cookies);
    assert!(!is_signed_in(&with_cookies(&server, &beside)).await);
    assert!(is_signed_in(&ada).await);
}

/// The database holds no cookie that a reader could use.
#[tokio::test]
async fn a_hash_is_no_cookie() {
    let server = TestServer::start().await;
    let ada = server.operator(None).await;
    let hash = hash_of(&server.app, &cookie(&ada));
    assert!(!is_signed_in(&with_cookies(&server, &format!("sb_session={hash}"))).await);
}

#[tokio::test]
async fn cookie_only_in_header() {
    let server = TestServer::start().await;
    let ada = server.operator(None).await;
    let value = cookie(&ada);
    let asked = server.visitor().get(format!("/admin/account?sb_session={value}")).send().await;
    assert_eq!(asked.status, 303, "{asked}");
    let sent =
        server.visitor().post("/admin/account", &token(&ada).await, &[("sb_session", &value)]).send().await;
    assert_eq!(led_to("/admin/account", &sent), "/admin/sign-in?next=account");
}

#[tokio::test]
async fn the_api_knows_no_cookie() {
    let server = TestServer::start().await;
    let ada = server.operator(None).await;
    let asked = server.anonymous().get("/v1/connections").header("cookie", &ada.cookies).send().await;
    asked.refused(401, "missing_api_key");
}

#[tokio::test]
async fn the_panel_knows_no_key() {
    let server = TestServer::start().await;
    server.operator(Some(Role::Viewer)).await;
    let key = server.client().await.key.expect("a key");
    for header in ["authorization", "x-api-key"] {
        let value = if header == "authorization" { format!("Bearer {key}") } else { key.clone() };
        let asked = server.visitor().get("/admin/account").header(header, &value).send().await;
        assert_eq!(led_to("/admin/account", &asked), "/admin/sign-in?next=account");
    }
}

/// Dangerous things ask for the password again after 15 minutes, and then are done.
#[tokio::test]
async fn danger_asks_again() {
    let server = TestServer::start().await;
    let mut ada = first_operator(&server).await;
    let form = token(&ada).await;
    server.clock.advance_ms(16 * 60_000);
    let page = "/admin/orgs/new";
    assert_eq!(led_to(page, &ada.get(page).send().await), "/admin/confirm?next=orgs/new");
    let sent = ada.post(page, &form, &[("name", "Acme")]).send().await;
    assert_eq!(led_to(page, &sent), "/admin/confirm?next=orgs/new");
    let wrong = ada.submit("/admin/confirm?next=orgs/new", "/admin/confirm", &[("proof", "wrong")]).await;
    assert_eq!(wrong.status, 403, "{wrong}");
    let fields = [("proof", PASSWORD), ("next", "orgs/new")];
    let proved = ada.submit("/admin/confirm?next=orgs/new", "/admin/confirm", &fields).await;
    assert_eq!(led_to("/admin/confirm", &proved), page);
    let made = ada.submit(page, page, &[("name", "Acme")]).await;
    assert!(led_to(page, &made).starts_with("/admin/orgs/org_"), "{made}");
}
