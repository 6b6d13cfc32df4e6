//! CORS: the sites whose pages may call the API, and the parts of a response that they may read.

use harness::browser::encoded;
use harness::{Actor, Exchange, TestServer};
use reqwest::Method;
use reqwest::header::HeaderName;
use serde_json::json;
use storage::api_keys::ApiKey;

use crate::email::mailbox::{Mailbox, Provider};

const SITE: &str = "https://app.example.com";
const PATH: &str = "/v1/connections";
const ALLOW_ORIGIN: &str = "access-control-allow-origin";
const EXPOSE: &str = "access-control-expose-headers";

/// A key that pages of `SITE` may use.
async fn of_site(server: &TestServer) -> Actor {
    server.key("test", |key| key.allowed_domains = vec!["app.example.com".into()]).await
}

/// Sends the preflight request of a page of `origin`.
async fn preflight(server: &TestServer, origin: &str, path: &str) -> Exchange {
    let ask = server.anonymous().ask(Method::OPTIONS, path.to_owned(), None).header("origin", origin);
    ask.header("access-control-request-method", "PATCH").send().await
}

/// The names of the CORS headers of an answer.
fn cors(answer: &Exchange) -> Vec<&str> {
    let names = answer.headers.keys().map(HeaderName::as_str);
    names.filter(|name| name.starts_with("access-control-")).collect()
}

/// All that an answer depends on.
fn varies(answer: &Exchange) -> String {
    let values = answer.headers.get_all("vary").iter();
    values.map(|value| value.to_str().expect("a text")).collect::<Vec<_>>().join(", ")
}

/// Asserts that the site may read the response and its headers.
#[track_caller]
fn is_readable(answer: &Exchange) {
    assert_eq!(answer.header(ALLOW_ORIGIN), Some(SITE), "{answer}");
    let exposed = answer.header(EXPOSE).unwrap_or_default();
    for name in ["x-request-id", "x-ratelimit-remaining", "retry-after", "etag", "idempotent-replayed"] {
        assert!(exposed.split(", ").any(|exposed| exposed == name), "{name}: {exposed}");
    }
    assert_eq!(answer.header("access-control-allow-credentials"), None);
}

/// A page of a site that a key names asks and calls; a page of any other site does neither.
#[tokio::test]
async fn each_row_of_the_table() {
    let server = TestServer::start().await;
    let (page, backend) = (of_site(&server).await, server.client().await);

    let known = preflight(&server, SITE, PATH).await;
    assert_eq!((known.status, known.text.as_str()), (204, ""), "{known}");
    let expected = [
        (ALLOW_ORIGIN, SITE),
        ("access-control-allow-methods", "POST, GET, HEAD"),
        (
            "access-control-allow-headers",
            "authorization, x-api-key, content-type, idempotency-key, if-match, if-none-match, prefer, cache-control, \
             range, last-event-id",
        ),
        ("access-control-max-age", "600"),
        ("vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"),
    ];
    for (name, value) in expected {
        assert_eq!(known.header(name), Some(value), "{name}");
    }
    let with_port = preflight(&server, "http://app.example.com:3000", PATH).await;
    assert_eq!(with_port.header(ALLOW_ORIGIN), Some("http://app.example.com:3000"));
    let one = preflight(&server, SITE, "/v1/connections/conn_none").await;
    assert_eq!(one.header("access-control-allow-methods"), Some("GET, HEAD, DELETE"));

    for origin in ["https://evil.example", "https://example.com", "null", "file:///x"] {
        let unknown = preflight(&server, origin, PATH).await;
        assert_eq!((unknown.status, cors(&unknown)), (204, Vec::new()), "{origin}: {unknown}");
        assert_eq!(varies(&unknown), "Origin, Access-Control-Request-Method, Access-Control-Request-Headers");
    }
    let with_user = preflight(&server, "https://user@app.example.com", PATH).await;
    assert_eq!((with_user.status, cors(&with_user)), (204, Vec::new()));

    let plain = server.anonymous().ask(Method::OPTIONS, PATH.to_owned(), None).send().await;
    assert_eq!((plain.status, plain.header("allow")), (204, Some("POST, GET, HEAD, OPTIONS")));
    assert_eq!((cors(&plain), varies(&plain).as_str()), (Vec::new(), "Origin"));
    let nowhere = preflight(&server, SITE, "/v1/nonsense").await;
    assert!(cors(&nowhere).is_empty());
    nowhere.refused(404, "not_found");

    let call = |key: &Actor, path: &str| key.get(path).header("origin", SITE).send();
    let read = call(&page, PATH).await;
    is_readable(&read);
    read.expect(200);
    let missing = call(&page, "/v1/connections/conn_none").await;
    is_readable(&missing);
    missing.refused(404, "not_found");
    let foreign = page.get(PATH).header("origin", "https://evil.example").send().await;
    assert!(cors(&foreign).is_empty(), "{foreign}");
    foreign.refused(403, "forbidden");
    let of_server = call(&backend, PATH).await;
    assert!(cors(&of_server).is_empty(), "a script reads nothing by a server's key: {of_server}");
    of_server.expect(200);

    let keyless = call(&server.anonymous(), PATH).await;
    is_readable(&keyless);
    keyless.refused(401, "missing_api_key");
    let mut invented = server.anonymous();
    invented.key = Some(server.app.keyring.new_api_key().key);
    let unknown = call(&invented, PATH).await;
    is_readable(&unknown);
    unknown.refused(401, "invalid_api_key");
    let elsewhere = server.anonymous().get(PATH).header("origin", "https://evil.example").send().await;
    assert!(cors(&elsewhere).is_empty());
    elsewhere.refused(401, "missing_api_key");
    let same_site = page.get(PATH).header("referer", "https://app.example.com/page").send().await;
    assert_eq!((cors(&same_site), varies(&same_site).as_str()), (Vec::new(), "Origin"));
    same_site.expect(200);
}

/// Paths that need no key have no CORS headers, but for the description of the API, which every page may read.
#[tokio::test]
async fn what_needs_no_key_is_not_for_pages() {
    let server = TestServer::start().await;
    of_site(&server).await;
    let anybody = server.anonymous();
    let described = anybody.get("/openapi.json").header("origin", "https://evil.example").send().await;
    assert_eq!((described.status, described.header(ALLOW_ORIGIN)), (200, Some("*")));
    let callback = "/v1/auth/connectors/sandbox/callback";
    for path in ["/docs", "/healthz", "/readyz", "/book/nobody", "/t/x", callback] {
        let answer = anybody.get(path).header("origin", SITE).send().await;
        assert!(cors(&answer).is_empty(), "{path}: {answer}");
    }
    assert!(cors(&preflight(&server, SITE, callback).await).is_empty());
}

/// A page reads why it is refused: its address has asked too often without a key, its key lacks a scope, or is over its budget.
#[tokio::test]
async fn a_refused_page_reads_why() {
    let server = TestServer::builder().config(|c| c.anonymous_per_minute = 3).start().await;
    let change = |key: &mut ApiKey| {
        key.allowed_domains = vec!["app.example.com".into()];
        key.scopes = vec!["calendar.read".into()];
        key.rate_limit_per_minute = 1;
    };
    let page = server.key("test", change).await;
    let call = |actor: &Actor| actor.get(PATH).header("origin", SITE).send();
    for (status, code) in [(403, "insufficient_scope"), (429, "rate_limited")] {
        let refused = call(&page).await;
        is_readable(&refused);
        refused.refused(status, code);
    }
    for (status, code) in [(401, "missing_api_key"); 3].into_iter().chain([(429, "rate_limited")]) {
        let refused = call(&server.anonymous()).await;
        is_readable(&refused);
        refused.refused(status, code);
    }
    // A preflight is counted in the budget of its address; over it the page gets no details.
    let over = preflight(&server, SITE, PATH).await;
    assert!(cors(&over).is_empty() && varies(&over) == "Origin", "{over}");
    over.refused(429, "rate_limited");
}

/// An origin is open for as long as a key that names it works, and a second more at most.
#[tokio::test]
async fn a_revoked_key_closes_its_origin() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let is_open = async || preflight(&server, SITE, PATH).await.header(ALLOW_ORIGIN).is_some();
    assert!(!is_open().await);
    let new = json!({ "name": "page", "scopes": ["calendar.read"], "allowedDomains": ["app.example.com"] });
    let made = api.post("/v1/api-keys", new).send().await.expect(201);
    server.clock.advance_ms(1_000);
    assert!(is_open().await);
    let id = made["id"].as_str().expect("an id");
    api.delete(format!("/v1/api-keys/{id}")).send().await.expect(204);
    server.clock.advance_ms(1_000);
    assert!(!is_open().await);
    // The revoked key's own page is a stranger now.
    let mut page = server.anonymous();
    page.key = made["key"].as_str().map(str::to_owned);
    let refused = page.get(PATH).header("origin", SITE).send().await;
    assert!(cors(&refused).is_empty(), "{refused}");
    refused.refused(401, "revoked_api_key");

    let until = server.app.now() + 60_000;
    let ends = |key: &mut ApiKey| {
        key.allowed_domains = vec!["app.example.com".into()];
        key.expires_at = Some(until);
    };
    server.key("test", ends).await;
    server.clock.advance_ms(1_000);
    assert!(is_open().await);
    server.clock.advance_ms(60_000);
    assert!(!is_open().await, "the key has expired");
}

/// A server gives its pages access tokens for an hour at most: each opens the site that it is for, and closes it when it ends.
#[tokio::test]
async fn an_access_token_opens_its_site() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let ask = [
        ("grant_type", "client_credentials"),
        ("scope", "connections.read"),
        ("allowed_domains", "app.example.com"),
    ];
    let form = api.ask(Method::POST, "/v1/oauth/token".to_owned(), None);
    let made = form.raw("application/x-www-form-urlencoded", encoded(&ask)).send().await.expect(200);
    let mut page = server.anonymous();
    page.key = made["access_token"].as_str().map(str::to_owned);
    server.clock.advance_ms(1_000);
    assert_eq!(preflight(&server, SITE, PATH).await.header(ALLOW_ORIGIN), Some(SITE));
    let read = page.get(PATH).header("origin", SITE).send().await;
    is_readable(&read);
    read.expect(200);
    server.clock.advance_ms(3_600_000);
    assert!(cors(&preflight(&server, SITE, PATH).await).is_empty());
    let over = page.get(PATH).header("origin", SITE).send().await;
    assert!(cors(&over).is_empty());
    over.refused(401, "expired_api_key");
}

/// Preflights are of the address that sends them. They cost no key anything, and no key is asked for.
#[tokio::test]
async fn a_preflight_costs_no_key_anything() {
    let server = TestServer::start().await;
    let change = |key: &mut ApiKey| {
        key.allowed_domains = vec!["app.example.com".into()];
        key.rate_limit_per_minute = 2;
    };
    let page = server.key("test", change).await;
    for _ in 0..5 {
        let ask = page.ask(Method::OPTIONS, PATH.to_owned(), None).header("origin", SITE);
        let answer = ask.header("access-control-request-method", "GET").send().await;
        assert_eq!((answer.status, answer.header("x-ratelimit-limit")), (204, Some("300")), "{answer}");
    }
    let first = page.get(PATH).header("origin", SITE).send().await;
    assert_eq!(first.header("x-ratelimit-remaining"), Some("1"));
    first.expect(200);
}

/// Every response has `Vary: Origin`: without an origin, with an error, and when it is a replay.
#[tokio::test]
async fn vary_is_on_every_answer() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let key = json!({ "name": "x", "scopes": ["calendar.read"] });
    let make = || api.post("/v1/api-keys", key.clone()).keyed("once").send();
    let answers = [
        make().await,
        make().await,
        api.get(PATH).send().await,
        api.get("/v1/connections/conn_none").send().await,
        api.get("/v1/nonsense").send().await,
        api.ask(Method::PUT, PATH.to_owned(), None).send().await,
        api.post("/v1/calendars", json!([])).send().await,
        server.anonymous().get(PATH).send().await,
        server.anonymous().get("/v1/auth/connectors/sandbox/callback").send().await,
        server.anonymous().ask(Method::OPTIONS, "/v1/nonsense".to_owned(), None).send().await,
    ];
    for answer in answers {
        assert!(varies(&answer).split(", ").any(|name| name == "Origin"), "{}: {answer}", varies(&answer));
    }
}

/// Streamed responses are readable for pages too, also in parts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_and_a_download_have_it_too() {
    let mailbox = Mailbox::open(Provider::Sandbox).await.expect("the sandbox is there");
    let file = json!({ "filename": "a.txt", "contentType": "text/plain", "contentBase64": "aGVsbG8=" });
    let draft = json!({
        "connectionId": mailbox.connection, "to": [{ "email": mailbox.other.address }], "subject": "Hello",
        "body": { "text": "one" }, "attachments": [file],
    });
    let draft = mailbox.api.post("/v1/email/drafts", draft).send().await.expect(201);
    let way = draft["attachments"][0]["downloadUrl"].as_str().expect("a way");
    let (page, path) = (of_site(&mailbox.server).await, format!("{way}?format=raw"));
    let whole = page.get(&path).header("origin", SITE).send().await;
    is_readable(&whole);
    assert_eq!((whole.status, whole.text.as_str()), (200, "hello"), "{whole}");
    let part = page.get(&path).header("origin", SITE).header("range", "bytes=1-3").send().await;
    is_readable(&part);
    assert_eq!((part.status, part.text.as_str()), (206, "ell"), "{part}");
    assert!(part.header(EXPOSE).unwrap_or_default().contains("content-range"));
    assert_eq!(part.header("content-range"), Some("bytes 1-3/5"));
}
