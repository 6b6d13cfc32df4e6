//! Sign-in by an OpenID provider, by the pages: a browser leaves the panel, and what it comes back with counts for what it left for.

use std::collections::BTreeMap;

use harness::panel_user::PanelUser;
use harness::{Exchange, TestServer};
use serde_json::{Value, json};
use service::manage::actor::{Actor, Role};
use service::manage::operators::links::{self, Invitation};
use service::manage::operators::sessions;
use storage::audit_log;

use crate::admin::PASSWORD;
use crate::admin::client::{self, assert_whole, first_operator, led_to};
use crate::operators::oidc_provider::OpenIdProvider;

const GRACE: &str = "grace@example.com";
const SUBJECT: &str = "grace";
const START: &str = "/admin/oidc/start";
const MINUTE_MS: i64 = 60_000;

/// Presses a button that leads to the provider; the address that the browser goes to.
async fn leave(browser: &mut PanelUser, page: &str, path: &str, fields: &[(&str, &str)]) -> String {
    let answer = browser.submit(page, path, fields).await;
    assert_eq!(answer.status, 200, "{answer}");
    assert_whole(&answer);
    let refresh = answer.header("refresh").unwrap_or_else(|| panic!("it leads nowhere: {answer}"));
    refresh.strip_prefix("0; url=").expect("an address").to_owned()
}

/// Opens the page to which the provider sends the browser back.
async fn come_back(browser: &mut PanelUser, path: &str) -> Exchange {
    let answer = browser.get(path).send().await;
    browser.take_cookies(&answer);
    answer
}

/// A new browser signs in as `SUBJECT` with the button of the sign-in page.
async fn sign_in(provider: &OpenIdProvider, server: &TestServer, next: &str) -> (PanelUser, Exchange) {
    let mut browser = server.visitor();
    let page = format!("/admin/sign-in?next={next}");
    let url = leave(&mut browser, &page, START, &[("next", next)]).await;
    let answer = come_back(&mut browser, &provider.vouch(&server.app, &url, SUBJECT)).await;
    (browser, answer)
}

/// The path of an invitation to the application "test".
async fn invite(server: &TestServer, email: &str) -> String {
    let organization_id = server.test_application().await.organization_id;
    let roles = BTreeMap::from([(organization_id, Role::Owner)]);
    let invitation = Invitation { email: email.to_owned(), is_admin: false, roles };
    let link = links::invite(&server.app, &Actor::command("test"), &invitation).await;
    link.expect("the invitation is stored").path()
}

/// A browser whose user has accepted an invitation with the provider.
async fn joined(provider: &OpenIdProvider, server: &TestServer) -> PanelUser {
    let path = invite(server, GRACE).await;
    let mut browser = server.visitor();
    let next = path.trim_start_matches("/admin/").to_owned();
    let url = leave(&mut browser, &path, START, &[("purpose", "join"), ("next", &next)]).await;
    let answer = come_back(&mut browser, &provider.vouch(&server.app, &url, SUBJECT)).await;
    assert_eq!(led_to("/admin/oidc/return", &answer), "/admin/", "{answer}");
    browser
}

async fn is_signed_in(browser: &PanelUser) -> bool {
    browser.get("/admin/account").send().await.status == 200
}

/// The details of an act in the audit log, if it is there.
async fn audited(server: &TestServer, act: &str) -> Option<Value> {
    let all = audit_log::list_all(server.app.db.reader(), i64::MAX, "", 50).await.expect("the log");
    all.into_iter().find(|entry| entry.act == act).map(|entry| entry.details)
}

/// An invited person has no password here: they join and sign in by the provider, and land where they wanted to go.
#[tokio::test]
async fn a_person_signs_in_by_the_provider() {
    let provider = OpenIdProvider::start().await;
    let server = provider.server().start().await;
    let nobody = server.visitor().get("/admin/sign-in").send().await;
    assert!(!nobody.text.contains("Example ID"), "nobody can sign in yet: {nobody}");
    server.operator(None).await;
    let shown = server.visitor().get("/admin/sign-in").send().await;
    assert_whole(&shown);
    let (button, form) = (shown.text.find("Sign in with Example ID"), shown.text.find("name=\"password\""));
    assert!(button.is_some() && button < form, "the button is above: {shown}");

    let (stranger, answer) = sign_in(&provider, &server, "").await;
    assert_eq!(answer.status, 403, "{answer}");
    assert_whole(&answer);
    assert!(answer.text.contains("Ask an owner for an invitation"), "{answer}");
    assert!(!is_signed_in(&stranger).await);

    let browser = joined(&provider, &server).await;
    assert!(is_signed_in(&browser).await);
    assert!(audited(&server, "operator_joined").await.is_some());
    assert_eq!(audited(&server, "signed_in").await, None);
    let (browser, answer) = sign_in(&provider, &server, "search").await;
    assert_eq!(led_to("/admin/oidc/return", &answer), "/admin/search");
    assert!(!browser.cookies.contains("sb_provider="), "it had its use: {}", browser.cookies);
    let cookie = browser.cookies.split("; ").find_map(|cookie| cookie.strip_prefix("sb_session="));
    let found = sessions::session(&server.app, cookie.expect("a session")).await.expect("the store answers");
    let (_, session) = found.expect("it is one");
    assert_eq!((session.method.as_str(), session.email.as_str()), ("oidc", GRACE));
    assert_eq!(audited(&server, "signed_in").await, Some(json!({ "method": "oidc" })));
    for next in ["https://evil.test", "//evil.test", "v1/connections"] {
        let mut browser = server.visitor();
        let url = leave(&mut browser, "/admin/sign-in", START, &[("next", next)]).await;
        let answer = come_back(&mut browser, &provider.vouch(&server.app, &url, SUBJECT)).await;
        assert_eq!(led_to("/admin/oidc/return", &answer), "/admin/", "{next}");
    }
}

/// A link to the return is worth nothing in another browser, and no answer of the provider gets into a page.
#[tokio::test]
async fn a_return_is_of_the_browser_that_left() {
    let provider = OpenIdProvider::start().await;
    let server = provider.server().start().await;
    server.operator(None).await;
    joined(&provider, &server).await;
    let mut browser = server.visitor();
    let url = leave(&mut browser, "/admin/sign-in", START, &[]).await;
    let cookie = browser.cookies.split("; ").find(|cookie| cookie.starts_with("sb_provider="));
    assert!(cookie.is_some(), "{}", browser.cookies);
    let back = provider.vouch(&server.app, &url, SUBJECT);

    let mut victim = server.visitor();
    let answer = come_back(&mut victim, &back).await;
    assert_eq!(answer.status, 403, "{answer}");
    assert!(!is_signed_in(&victim).await);
    leave(&mut victim, "/admin/sign-in", START, &[]).await;
    assert_eq!(come_back(&mut victim, &back).await.status, 403, "it left with another state");
    assert!(victim.cookies.contains("sb_provider="), "its own way is still open: {}", victim.cookies);

    let copy = browser.clone();
    assert_eq!(come_back(&mut browser, &back).await.status, 303);
    assert_eq!(come_back(&mut copy.clone(), &back).await.status, 403, "it was used");

    server.clock.advance_ms(MINUTE_MS);
    let mut browser = server.visitor();
    let url = leave(&mut browser, "/admin/sign-in", START, &[]).await;
    let state = harness::browser::parameter(&url, "state").expect("a state");
    let path = format!("/admin/oidc/return?error=%3Cscript%3E&error_description=%3Cscript%3E&state={state}");
    let answer = come_back(&mut browser, &path).await;
    assert_eq!(answer.status, 403, "{answer}");
    assert!(answer.text.contains("Example ID refused the request"), "{answer}");
    assert!(!answer.text.contains("&lt;script"), "{answer}");
}

/// Before dangerous acts the provider is asked again, and has to say that the person proved just now who they are.
#[tokio::test]
async fn danger_asks_the_provider_again() {
    let provider = OpenIdProvider::start().await;
    let server = provider.server().start().await;
    server.operator(None).await;
    let mut grace = joined(&provider, &server).await;
    let dangerous = "/admin/account/password";
    assert_eq!(grace.get(dangerous).send().await.status, 200, "she proved it a moment ago");
    server.clock.advance_ms(16 * MINUTE_MS);
    let page = led_to(dangerous, &grace.get(dangerous).send().await);
    assert_eq!(page, "/admin/confirm?next=account/password");
    let shown = grace.get(&page).send().await;
    assert_whole(&shown);
    assert!(
        shown.text.contains("Confirm with Example ID") && !shown.text.contains("name=\"proof\""),
        "{shown}"
    );

    let now_s = server.app.now() / 1_000;
    let old = json!(now_s - 61);
    for (subject, name, value, expected) in [
        (SUBJECT, "auth_time", old, "did not confirm"),
        (SUBJECT, "acr", json!("0"), ""),
        ("eve", "acr", json!("0"), "another account"),
    ] {
        let mut browser = grace.clone();
        let fields = [("next", "account/password")];
        let url = leave(&mut browser, &page, "/admin/confirm/provider", &fields).await;
        assert!(url.contains("max_age=0"), "{url}");
        let mut claims = provider.claims(&server.app, &url, subject);
        claims[name] = value;
        let answer = come_back(&mut browser, &provider.grant(&url, provider.signer.token(&claims))).await;
        if expected.is_empty() {
            assert_eq!(led_to("/admin/oidc/return", &answer), dangerous);
            assert_eq!(browser.get(dangerous).send().await.status, 200);
            assert!(server.app.db.is_shared() || !is_signed_in(&grace).await, "it has another cookie");
            grace = browser;
            server.clock.advance_ms(16 * MINUTE_MS);
        } else {
            assert_eq!(answer.status, 403, "{answer}");
            assert!(answer.text.contains(expected), "{answer}");
            assert_eq!(grace.get(dangerous).send().await.status, 303);
        }
    }
}

/// An operator connects an identity while they are signed in and fresh, and gives it up while they have a password.
#[tokio::test]
async fn an_identity_is_connected_and_given_up() {
    let provider = OpenIdProvider::start().await;
    let server = provider.server().start().await;
    let mut ada = first_operator(&server).await;
    let (account, connect) = ("/admin/account", "/admin/account/identity/connect");
    let other = client::sign_in(&server, "ada@example.com", PASSWORD).await;
    let shown = ada.get(account).send().await;
    assert_whole(&shown);
    assert!(shown.text.contains("Not connected"), "{shown}");
    server.clock.advance_ms(16 * MINUTE_MS);
    let asked = ada.submit(account, connect, &[]).await;
    assert_eq!(led_to(connect, &asked), "/admin/confirm?next=account", "it is not fresh");
    let confirm = "/admin/confirm?next=account";
    ada.submit(confirm, "/admin/confirm", &[("proof", PASSWORD)]).await;

    let url = leave(&mut ada, account, connect, &[]).await;
    let back = provider.vouch(&server.app, &url, SUBJECT);
    // Another session does not get it.
    let mut bo = server.operator(None).await;
    let cookie = ada.cookies.split("; ").find(|cookie| cookie.starts_with("sb_provider=")).expect("a cookie");
    bo.cookies = format!("{}; {cookie}", bo.cookies);
    assert_eq!(come_back(&mut bo, &back).await.status, 403);
    assert_eq!(led_to("/admin/oidc/return", &come_back(&mut ada, &back).await), account);
    assert_eq!(audited(&server, "identity_connected").await, Some(json!({ "issuer": provider.issuer })));
    let shown = ada.get(account).send().await;
    assert_whole(&shown);
    assert!(shown.text.contains("You can sign in with Example ID."), "{shown}");
    let (by_provider, answer) = sign_in(&provider, &server, "").await;
    assert_eq!(answer.status, 303, "{answer}");

    // Another operator cannot have it, too.
    let mut bo = server.operator(None).await;
    let url = leave(&mut bo, account, connect, &[]).await;
    let answer = come_back(&mut bo, &provider.vouch(&server.app, &url, SUBJECT)).await;
    assert_eq!(answer.status, 409, "{answer}");

    let answer = ada.submit(account, "/admin/account/identity/disconnect", &[]).await;
    assert_eq!(led_to("/admin/account/identity/disconnect", &answer), account);
    assert!(audited(&server, "identity_disconnected").await.is_some());
    assert!(is_signed_in(&ada).await);
    for elsewhere in [&other, &by_provider] {
        // Another host may remember it for a second.
        assert!(server.app.db.is_shared() || !is_signed_in(elsewhere).await);
    }
    let (_, answer) = sign_in(&provider, &server, "").await;
    assert_eq!(answer.status, 403, "{answer}");

    // Who has no password keeps the only way in.
    let mut grace = joined(&provider, &server).await;
    let shown = grace.get(account).send().await;
    assert!(shown.text.contains("your only way to sign in"), "{shown}");
    let answer = grace.submit(account, "/admin/account/identity/disconnect", &[]).await;
    assert_eq!(answer.status, 409, "{answer}");
    assert_eq!(sign_in(&provider, &server, "").await.1.status, 303);
}

/// Without the settings there is no trace of it.
#[tokio::test]
async fn without_a_provider_there_is_none() {
    let server = TestServer::start().await;
    let mut ada = first_operator(&server).await;
    assert_eq!(ada.get("/admin/oidc/return?state=x&code=y").send().await.status, 404);
    assert_eq!(ada.submit("/admin/account", START, &[]).await.status, 404);
    let shown = server.visitor().get("/admin/sign-in").send().await;
    assert!(!shown.text.contains("oidc"), "{shown}");
}
