//! Requests of attackers and broken clients to authorize and callback, as tables: each row has the response, and no row makes a
//! connection. The numbers are those of RFCs and of RFC 9700 (BCP 240), the security best practice for OAuth 2.0.

use harness::browser::{Consent, Page, changed, parameter};
use reqwest::{Method, Url};
use serde_json::{Value, json};

use crate::oauth::{AUTHORIZE, Flow, REDIRECT, assert_error, assert_page, request, tenant};

/// A request to authorize that is refused: its differences from a valid one, the error's code, and the field in the error.
struct Refused {
    change: Value,
    code: &'static str,
    param: &'static str,
}

fn refused(change: Value, code: &'static str, param: &'static str) -> Refused {
    Refused { change, code, param }
}

/// Addresses that are not registered byte for byte (RFC 9700 §4.1, RFC 6749 §3.1.2), however similar.
const OTHER_REDIRECTS: [&str; 17] = [
    "https://evil.test/cb",
    "https://app.example.test/cb/x",
    "https://app.example.test/CB",
    "HTTPS://APP.example.test/cb",
    "https://app.example.test:443/cb",
    "https://app.example.test/cb/",
    "https://app.example.test./cb",
    "https://app.example.test@evil.test/cb",
    "https://app.example.test/x/../cb",
    "https://app.example.test/cb#x",
    "https://app.example.test/cb?next=//evil.test",
    "https://app.example.test/%63b",
    "https://app.example.test/cb\r\nX: y",
    "https://app.example.test\\cb",
    "http://app.example.test/cb",
    "https://x.app.example.test/cb",
    "http://127.0.0.1:4001/cb",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn authorize_refuses_other_redirects() {
    let flow = Flow::start().await;
    for uri in OTHER_REDIRECTS {
        let asked = flow.authorize(json!({ "redirectUri": uri })).await;
        let shown = format!("{asked}");
        let error = asked.refused(400, "invalid_parameter");
        assert_eq!(error["param"], "redirectUri", "{shown}");
        let message = error["message"].as_str().expect("a message");
        assert!(message.contains(REDIRECT), "it does not list the registered one: {shown}");
    }
    assert_eq!(flow.count_connections().await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn authorize_refuses_wrong_input() {
    let flow = Flow::start().await;
    let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
    let short = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-c";
    let padded = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-c=";
    for Refused { change, code, param } in [
        // RFC 6749 §3.1: one field, two values.
        refused(json!({ "redirect_uri": "https://evil.test/cb" }), "conflicting_fields", ""),
        refused(json!({ "redirectUri": null }), "missing_field", "redirectUri"),
        // RFC 7636 §4.3, RFC 9700 §2.1.1: plain protects from nothing, and is what an absent method means.
        refused(
            json!({ "codeChallenge": challenge, "codeChallengeMethod": "plain" }),
            "invalid_parameter",
            "codeChallengeMethod",
        ),
        refused(json!({ "codeChallenge": challenge }), "", "codeChallengeMethod"),
        refused(
            json!({ "codeChallenge": short, "codeChallengeMethod": "S256" }),
            "invalid_parameter",
            "codeChallenge",
        ),
        refused(
            json!({ "codeChallenge": padded, "codeChallengeMethod": "S256" }),
            "invalid_parameter",
            "codeChallenge",
        ),
        // RFC 6749 §3.3: a scope that no account can have.
        refused(json!({ "scopes": ["api_keys.write"] }), "invalid_parameter", "scopes[0]"),
        refused(json!({ "scopes": [] }), "missing_field", "scopes"),
        // RFC 6819 §5.1: what would break out of a header.
        refused(json!({ "state": "a\r\nSet-Cookie: b=c" }), "invalid_parameter", "state"),
        refused(json!({ "state": "x".repeat(1025) }), "invalid_parameter", "state"),
    ] {
        let asked = flow.authorize(change).await;
        let found = &asked.answer["error"];
        assert_eq!(asked.status, 400, "{asked}");
        assert!(code.is_empty() || found["code"] == code, "{code}: {asked}");
        assert!(param.is_empty() || found["param"] == param, "{param}: {asked}");
    }
    assert_eq!(flow.count_connections().await, 0);
}

/// A hint for the provider stays one parameter, with any content (RFC 6819 §4.4.1).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hint_adds_no_parameter() {
    let flow = Flow::start().await;
    let hint = "a&redirect_uri=https://evil.test/cb";
    let answer = flow.authorize(json!({ "loginHint": hint })).await.expect(201);
    let url = answer["authorizationUrl"].as_str().expect("a URL");
    assert_eq!(parameter(url, "login_hint").as_deref(), Some(hint));
    let redirects = Url::parse(url).expect("a URL");
    assert_eq!(redirects.query_pairs().filter(|(name, _)| name == "redirect_uri").count(), 1, "{url}");
}

/// Connections and keys of others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn authorize_sees_only_what_the_key_may() {
    let flow = Flow::start().await;
    let own = flow.connect(json!({}), "alice").await;
    let stranger = flow.server.key("stranger", |_| {}).await;
    let theirs = stranger.connect_account("zoe").await;
    flow.authorize(json!({ "connectionId": theirs })).await.refused(404, "not_found");
    flow.authorize(json!({ "connectionId": "conn_00000000000000000000000000" }))
        .await
        .refused(404, "not_found");
    let other = of_another_provider(&flow, &own).await;
    let error = flow.authorize(json!({ "connectionId": other })).await.refused(400, "invalid_parameter");
    assert_eq!(error["param"], "connectionId", "{error:#}");
    let before = flow.connection(&own).await;

    let reader = flow.server.client_with(&["connections.read"]).await;
    flow.authorize_as(&reader, json!({})).await.refused(403, "insufficient_scope");
    let bound = flow.server.key("test", |key| key.connection_ids = vec![other.clone()]).await;
    flow.authorize_as(&bound, json!({ "connectionId": own })).await.refused(404, "not_found");
    flow.authorize_as(&bound, json!({})).await.refused(403, "forbidden");
    assert_eq!(flow.connection(&own).await, before);
}

/// A connection like that one, of a provider that it is not of.
async fn of_another_provider(flow: &Flow, id: &str) -> String {
    let (app, tenant) = (&flow.server.app, tenant(&flow.server, &flow.api).await);
    let found = storage::connections::find(app.db.reader(), &tenant, id).await.expect("the store answers");
    let mut connection = found.expect("it is there");
    connection.id = app.new_id(base::ids::Kind::Connection);
    connection.provider = "dav".to_owned();
    let id = connection.id.clone();
    let write =
        app.db.write(move |tx| Box::pin(async move { storage::connections::insert(tx, &connection).await }));
    write.await.expect("it is written");
    id
}

/// The response to a row of the callback's table.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Answer {
    /// The page of the service, status 400.
    Page,
    /// The redirect to the application with this error; the authorization is over.
    Error(&'static str),
}

/// A return from the provider that was modified: the requested URL, and the answer.
type Row = (&'static str, fn(&str, &str) -> String, Answer);

/// `iss` of the sandbox's authorization server, with something done to it.
fn with_iss(url: &str, issuer: &str) -> String {
    changed(url, "iss", Some(issuer))
}

/// The query without `code`, with `error` in its place.
fn with_error(url: &str, error: &str) -> String {
    changed(&changed(url, "code", None), "error", Some(error))
}

/// The first argument is the return as the provider made it, the second the provider's issuer.
const ROWS: &[Row] = &[
    ("no state", |url, _| changed(url, "state", None), Answer::Page),
    (
        "an invented state",
        |url, _| changed(url, "state", Some("st_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")),
        Answer::Page,
    ),
    (
        "a state that is no state",
        |url, _| changed(url, "state", Some("<img src=x onerror=alert(1)>")),
        Answer::Page,
    ),
    ("another provider's path", |url, _| url.replacen("/sandbox/callback", "/dav/callback", 1), Answer::Page),
    ("two codes", |url, _| format!("{url}&code=b"), Answer::Page),
    ("two states", |url, _| format!("{url}&state=b"), Answer::Page),
    ("two issuers", |url, _| format!("{url}&iss=https%3A%2F%2Fevil.test"), Answer::Page),
    ("a code that is too long", |url, _| changed(url, "code", Some(&"x".repeat(4_097))), Answer::Page),
    ("a state that is too long", |url, _| changed(url, "state", Some(&"x".repeat(129))), Answer::Page),
    ("an issuer that is too long", |url, _| changed(url, "iss", Some(&"x".repeat(513))), Answer::Page),
    // RFC 9207 §2.4, RFC 9700 §4.4.2: mix-up.
    ("no issuer", |url, _| changed(url, "iss", None), Answer::Error("invalid_request")),
    ("another issuer", |url, _| with_iss(url, "https://evil.test"), Answer::Error("invalid_request")),
    (
        "an issuer with a slash",
        |url, iss| with_iss(url, &format!("{iss}/")),
        Answer::Error("invalid_request"),
    ),
    (
        "an issuer in capitals",
        |url, iss| with_iss(url, &iss.to_uppercase()),
        Answer::Error("invalid_request"),
    ),
    (
        "an issuer at another port",
        |url, iss| with_iss(url, &iss.replacen("/sandbox", "0/sandbox", 1)),
        Answer::Error("invalid_request"),
    ),
    (
        "another server's refusal",
        |url, _| with_error(&with_iss(url, "https://evil.test"), "access_denied"),
        Answer::Error("invalid_request"),
    ),
    (
        "an unknown error with markup",
        |url, _| changed(&with_error(url, "x"), "error_description", Some("<script>alert(1)</script>")),
        Answer::Error("server_error"),
    ),
    // RFC 6749 §4.1.2: one or the other.
    ("a code and an error", |url, _| changed(url, "error", Some("y")), Answer::Error("invalid_request")),
    ("neither code nor error", |url, _| changed(url, "code", None), Answer::Error("invalid_request")),
    (
        "a code of the attacker's",
        |url, _| changed(url, "code", Some("stolen")),
        Answer::Error("access_denied"),
    ),
    ("a refusal", |url, _| with_error(url, "access_denied"), Answer::Error("access_denied")),
    (
        "an administrator's refusal",
        |url, _| with_error(url, "admin_policy_enforced"),
        Answer::Error("admin_blocked"),
    ),
    (
        "a provider that is busy",
        |url, _| with_error(url, "temporarily_unavailable"),
        Answer::Error("temporarily_unavailable"),
    ),
];

/// Each row has a separate authorization. After a page it is still valid, so that the correct return works afterwards; an error ends it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn attack_table() {
    let flow = Flow::start().await;
    let issuer = format!("http://{}/sandbox", flow.server.address);
    let mut connections = 0;
    for (name, attack, answer) in ROWS {
        let good = flow.returned(json!({}), "alice", Consent::Allow).await;
        assert_eq!(parameter(&good, "iss").as_deref(), Some(issuer.as_str()), "{good}");
        let page = flow.browser.open(&attack(&good, &issuer)).await;
        println!("{name}: {}", page.status);
        assert_safe(&page);
        assert_eq!(flow.count_connections().await, connections, "{name}: {page:#?}");
        let after = match answer {
            Answer::Page => {
                assert_page(&page, 400);
                // Each of them signs in to the same account.
                connections = 1;
                flow.browser.open(&good).await
            }
            Answer::Error(error) => {
                assert_error(&page, error);
                flow.browser.open(&good).await
            }
        };
        match answer {
            Answer::Page => {
                assert_eq!(after.status, 302, "{name}: {after:#?}");
                assert!(parameter(&after.location(), "connection_id").is_some(), "{name}: {after:#?}");
            }
            Answer::Error(_) => assert_page(&after, 400),
        }
        assert_eq!(flow.count_connections().await, connections, "{name}");
    }
}

/// Headers of everything that the callback answers (RFC 9700 §4.2.4, §4.16), and nothing of the request in its text.
#[track_caller]
fn assert_safe(page: &Page) {
    assert!(page.header("cache-control").contains("no-store"), "{page:#?}");
    assert_eq!(page.header("referrer-policy"), "no-referrer", "{page:#?}");
    assert_eq!(page.header("x-content-type-options"), "nosniff", "{page:#?}");
    if page.status == 302 {
        assert!(page.text.is_empty(), "{page:#?}");
        assert!(!page.location().contains("alert"), "{page:#?}");
        return;
    }
    let policy = page.header("content-security-policy");
    for rule in ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"] {
        assert!(policy.contains(rule), "{page:#?}");
    }
    for never in ["<img", "<script", "onerror", "evil.test"] {
        assert!(!page.text.contains(never), "{page:#?}");
    }
}

/// HEAD and other methods use nothing up, and neither does a browser that fetches ahead of a click.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn looking_uses_nothing_up() {
    let flow = Flow::start().await;
    let url = flow.returned(json!({}), "alice", Consent::Allow).await;
    for method in [Method::HEAD, Method::POST, Method::PUT, Method::DELETE] {
        let page = flow.browser.ask(method.clone(), &url).await;
        assert_eq!(page.status, 405, "{method}: {page:#?}");
    }
    for (name, value) in [
        ("sec-purpose", "prefetch"),
        ("sec-purpose", "prefetch;prerender"),
        ("purpose", "prefetch"),
        ("x-moz", "prefetch"),
    ] {
        let page = flow.browser.open_with(&url, name, value).await;
        assert_eq!((page.status, page.text.as_str()), (204, ""), "{name}: {page:#?}");
    }
    assert_eq!(flow.count_connections().await, 0);
    assert_eq!(flow.browser.open(&url).await.status, 302);
    assert_eq!(flow.count_connections().await, 1);
}

/// The ten minutes are over: the user is sent back with `expired_state`, as often as the browser asks.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_expired_state_says_so() {
    let flow = Flow::start().await;
    let url = flow.returned(json!({}), "alice", Consent::Allow).await;
    flow.server.clock.advance_ms(600_001);
    for _ in 0..2 {
        assert_error(&flow.browser.open(&url).await, "expired_state");
    }
    flow.api.get(flow.path(&url)).send().await.refused(400, "expired_state");
    assert_eq!(flow.count_connections().await, 0);
}

/// A return works once, for browsers and for backends (RFC 9700 §4.5).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_return_is_used_once() {
    let flow = Flow::start().await;
    let url = flow.returned(json!({}), "alice", Consent::Allow).await;
    let first = flow.browser.open(&url).await;
    assert_safe(&first);
    let id = parameter(&first.location(), "connection_id").expect("a connection");
    let page = flow.browser.open(&url).await;
    assert_page(&page, 400);
    assert!(page.text.contains("already used") && !page.text.contains(&id), "{page:#?}");
    flow.api.get(flow.path(&url)).send().await.refused(409, "invalid_state");
    assert_eq!(flow.count_connections().await, 1);
}

/// A backend of another application, or a key that may not connect, uses nothing up.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backend_needs_the_right_key() {
    let flow = Flow::start().await;
    let url = flow.returned(json!({}), "alice", Consent::Allow).await;
    let path = flow.path(&url);
    let stranger = flow.server.key("stranger", |_| {}).await;
    let error = stranger.get(path).send().await.refused(400, "invalid_parameter");
    assert_eq!(error["param"], "state", "{error:#}");
    let reader = flow.server.client_with(&["connections.read"]).await;
    reader.get(path).send().await.refused(403, "insufficient_scope");
    let wrong = flow.server.anonymous().get(path).header("x-api-key", "uc_live_nonsense").send().await;
    wrong.refused(401, "invalid_api_key");
    assert_eq!(flow.count_connections().await, 0);
    flow.api.get(path).send().await.expect(200);
    assert_eq!(flow.count_connections().await, 1);
}

/// The user says no, or only in part; an administrator has to be asked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_user_allows() {
    let flow = Flow::start().await;
    for (account, consent, error) in [
        ("alice", Consent::Deny, "access_denied"),
        ("denied", Consent::Allow, "access_denied"),
        ("admin", Consent::Allow, "admin_blocked"),
        ("alice", Consent::Only(&[]), "scope_missing"),
    ] {
        let url = flow.returned(json!({}), account, consent).await;
        assert_error(&flow.browser.open(&url).await, error);
    }
    assert_eq!(flow.count_connections().await, 0);
    let url = flow.returned(json!({}), "alice", Consent::Only(&["mail.read"])).await;
    let page = flow.browser.open(&url).await;
    assert_eq!(parameter(&page.location(), "status").as_deref(), Some("active"), "{page:#?}");
    let id = parameter(&page.location(), "connection_id").expect("a connection");
    let connection = flow.connection(&id).await;
    assert_eq!(connection["grantedScopes"], json!(["email.read"]), "{connection:#}");
    assert_eq!(connection["missingScopes"], json!(["calendar.read"]), "{connection:#}");
    let asked = flow.api.get(format!("/v1/calendars?connection_id={id}")).send().await;
    asked.refused(403, "scope_not_granted");
}

/// A request that repeats another one's Idempotency-Key with different content is refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_of_another_request_is_refused() {
    let flow = Flow::start().await;
    let send =
        |scope: &str| flow.api.post(AUTHORIZE, request(json!({ "scopes": [scope] }))).keyed("one").send();
    send("email.read").await.expect(201);
    send("calendar.read").await.refused(409, "idempotency_key_reused");
}
