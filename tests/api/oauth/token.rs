//! The token endpoint of this service (RFC 6749): for a code, for a refresh token, and for an API key.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use harness::browser::{Consent, encoded, parameter};
use harness::{Actor, Exchange};
use serde_json::{Value, json};

use crate::oauth::{Flow, REDIRECT};

const TOKEN: &str = "/v1/oauth/token";
const FORM: &str = "application/x-www-form-urlencoded";

/// The example of RFC 7636, appendix B.
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

impl Flow {
    /// A code of an authorization of `alice`, and her connection.
    async fn code(&self) -> (String, String) {
        let change = json!({ "codeChallenge": CHALLENGE, "codeChallengeMethod": "S256" });
        let page = self.browser.open(&self.returned(change, "alice", Consent::Allow).await).await;
        let location = page.location();
        let found = |name: &str| parameter(&location, name).unwrap_or_else(|| panic!("no {name}: {page:#?}"));
        (found("code"), found("connection_id"))
    }

    async fn token(&self, fields: &[(&str, &str)]) -> Exchange {
        asked(&self.api, fields).await
    }

    async fn exchange(&self, code: &str) -> Exchange {
        self.token(&of_code(code)).await
    }

    async fn refresh(&self, token: &str) -> Exchange {
        self.token(&[("grant_type", "refresh_token"), ("refresh_token", token)]).await
    }

    /// A client that has this access token for its key.
    async fn with(&self, token: &Value) -> Actor {
        let mut actor = self.server.anonymous();
        actor.key = Some(text(token, "access_token"));
        actor
    }
}

async fn asked(actor: &Actor, fields: &[(&str, &str)]) -> Exchange {
    actor.ask(reqwest::Method::POST, TOKEN.into(), None).raw(FORM, encoded(fields)).send().await
}

fn of_code(code: &str) -> [(&str, &str); 4] {
    [
        ("grant_type", "authorization_code"),
        ("code", code),
        ("redirect_uri", REDIRECT),
        ("code_verifier", VERIFIER),
    ]
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_else(|| panic!("no {name} in {value:#}")).to_owned()
}

/// The error of RFC 6749, section 5.2, and nothing of the envelope.
#[track_caller]
fn refused(answer: &Exchange, status: u16, error: &str) {
    assert_eq!((answer.status, &answer.answer["error"]), (status, &json!(error)), "{answer}");
    assert!(answer.answer["error_description"].is_string(), "{answer}");
    assert_eq!(answer.header("cache-control"), Some("no-store"), "{answer}");
}

/// A code is exchanged once for tokens that reach its connection and no other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn code_yields_a_token_of_one_connection() {
    let flow = Flow::start().await;
    let other = flow.connect(json!({}), "bob").await;
    let (code, connection) = flow.code().await;
    let answer = flow.exchange(&code).await;
    assert_eq!(answer.header("cache-control"), Some("no-store"), "{answer}");
    assert_eq!(answer.header("pragma"), Some("no-cache"), "{answer}");
    let token = answer.expect(200);
    assert!(
        text(&token, "access_token").starts_with("uc_tok_")
            && text(&token, "refresh_token").starts_with("uc_rt_")
    );
    assert_eq!((&token["token_type"], &token["expires_in"]), (&json!("Bearer"), &json!(900)));
    assert_eq!(token["scope"], "email.read calendar.read");

    let holder = flow.with(&token).await;
    holder.get(format!("/v1/email/messages?connection_id={connection}")).send().await.expect(200);
    holder.get(format!("/v1/email/messages?connection_id={other}")).send().await.refused(404, "not_found");
    holder.get("/v1/connections").send().await.refused(403, "insufficient_scope");
    flow.server.clock.advance_ms(900_001);
    let late = holder.get(format!("/v1/email/messages?connection_id={connection}")).send().await;
    late.refused(401, "expired_api_key");
}

/// Used again, a code is refused, and its tokens end (RFC 6749, section 4.1.2).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_code_that_is_replayed_revokes_its_tokens() {
    let flow = Flow::start().await;
    let (code, connection) = flow.code().await;
    let token = flow.exchange(&code).await.expect(200);
    refused(&flow.exchange(&code).await, 400, "invalid_grant");
    let holder = flow.with(&token).await;
    let answer = holder.get(format!("/v1/email/messages?connection_id={connection}")).send().await;
    answer.refused(401, "revoked_api_key");
    refused(&flow.refresh(&text(&token, "refresh_token")).await, 400, "invalid_grant");
}

/// A code is bound to its application, key, redirect and verifier, and works for a minute. A malformed request, or one of another
/// application, leaves it usable; everything else uses it up.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_code_is_bound_to_its_client() {
    let flow = Flow::start().await;
    let other_key = flow.server.client().await;
    let other_application = flow.server.key("another", |_| {}).await;
    for burns in ["verifier", "redirect", "key", "time"] {
        let (code, _) = flow.code().await;
        let mut fields = of_code(&code);
        let answer = match burns {
            "verifier" => {
                fields[3].1 = CHALLENGE;
                flow.token(&fields).await
            }
            "redirect" => {
                fields[2].1 = "https://app.example.test/cb/";
                flow.token(&fields).await
            }
            "key" => asked(&other_key, &fields).await,
            _ => {
                flow.server.clock.advance_ms(60_001);
                flow.token(&fields).await
            }
        };
        refused(&answer, 400, "invalid_grant");
        refused(&flow.exchange(&code).await, 400, "invalid_grant");
    }
    let (code, _) = flow.code().await;
    refused(&asked(&other_application, &of_code(&code)).await, 400, "invalid_grant");
    let mut fields = of_code(&code);
    fields[3].1 = "short";
    refused(&flow.token(&fields).await, 400, "invalid_request");
    refused(&flow.token(&of_code(&code)[..3]).await, 400, "invalid_request");
    flow.exchange(&code).await.expect(200);
}

/// Each refresh gives another refresh token, and an access token with the same scopes or fewer; the earlier access token stays valid
/// until its expiry.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refresh_rotates() {
    let flow = Flow::start().await;
    let (code, connection) = flow.code().await;
    let first = flow.exchange(&code).await.expect(200);
    let token = text(&first, "refresh_token");
    let wider =
        [("grant_type", "refresh_token"), ("refresh_token", &*token), ("scope", "email.read tasks.read")];
    refused(&flow.token(&wider).await, 400, "invalid_scope");
    let fewer = [("grant_type", "refresh_token"), ("refresh_token", &*token), ("scope", "email.read")];
    let second = flow.token(&fewer).await.expect(200);
    assert_eq!(second["scope"], "email.read");
    assert_ne!(second["refresh_token"], first["refresh_token"]);
    let third = flow.refresh(&text(&second, "refresh_token")).await.expect(200);
    assert_eq!(third["scope"], "email.read calendar.read", "a refresh narrows its own access token only");
    for token in [&first, &second, &third] {
        let holder = flow.with(token).await;
        holder.get(format!("/v1/email/messages?connection_id={connection}")).send().await.expect(200);
    }
}

/// A refresh token that is used twice may be stolen: all tokens of its grant end. A client that lost a response repeats its request with
/// the same Idempotency-Key.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn family_dies_on_reuse() {
    let flow = Flow::start().await;
    let (code, connection) = flow.code().await;
    let first = flow.exchange(&code).await.expect(200);
    let token = text(&first, "refresh_token");
    let body = encoded(&[("grant_type", "refresh_token"), ("refresh_token", &token)]);
    let keyed =
        || flow.api.ask(reqwest::Method::POST, TOKEN.into(), None).raw(FORM, body.clone()).keyed("once");
    let second = keyed().send().await.expect(200);
    assert_eq!(keyed().send().await.expect(200), second, "the lost answer comes again");

    refused(&flow.refresh(&token).await, 400, "invalid_grant");
    for token in [&first, &second] {
        let holder = flow.with(token).await;
        let answer = holder.get(format!("/v1/email/messages?connection_id={connection}")).send().await;
        answer.refused(401, "revoked_api_key");
    }
    refused(&flow.refresh(&text(&second, "refresh_token")).await, 400, "invalid_grant");
    refused(&flow.refresh(&format!("{token}x")).await, 400, "invalid_grant");
}

/// An API key gets a token with at most its own scopes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn client_credentials_narrow() {
    let flow = Flow::start().await;
    let connection = flow.connect(json!({}), "alice").await;
    let credentials = ("grant_type", "client_credentials");
    let fields = [
        credentials,
        ("scope", "connections.read email.read"),
        ("connection_ids", &*connection),
        ("allowed_domains", "app.example.test"),
        ("expires_in", "300"),
    ];
    let token = flow.token(&fields).await.expect(200);
    assert_eq!((&token["expires_in"], &token["scope"]), (&json!(300), &json!("connections.read email.read")));
    assert!(token.get("refresh_token").is_none(), "{token:#}");
    let holder = flow.with(&token).await;
    holder.get("/v1/connections").send().await.refused(403, "forbidden");
    let browser = || holder.get("/v1/connections").header("origin", "https://app.example.test");
    assert_eq!(browser().send().await.expect(200)["data"].as_array().map(Vec::len), Some(1));
    refused(&asked(&holder, &[credentials]).await, 403, "forbidden");

    let plain = flow.token(&[credentials]).await.expect(200);
    assert!(!text(&plain, "scope").contains("api_keys.write"), "{plain:#}");
    refused(&asked(&flow.with(&plain).await, &[credentials]).await, 400, "unauthorized_client");
    for (field, value, error) in [
        ("scope", "api_keys.write", "invalid_scope"),
        ("scope", "everything", "invalid_scope"),
        ("connection_ids", "conn_none", "invalid_request"),
        ("allowed_domains", "*.example.test", "invalid_request"),
        ("expires_in", "3601", "invalid_request"),
        ("expires_in", "59", "invalid_request"),
        ("expires_in", "soon", "invalid_request"),
    ] {
        let answer = flow.token(&[credentials, (field, value)]).await;
        refused(&answer, 400, error);
    }
    let reader = flow.server.client_with(&["email.read"]).await;
    refused(&asked(&reader, &[credentials, ("scope", "email.write")]).await, 400, "invalid_scope");
}

/// A form and JSON are equivalent.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn form_and_json_agree() {
    let flow = Flow::start().await;
    let form = flow.token(&[("grant_type", "client_credentials"), ("scope", "email.read")]).await.expect(200);
    let body = json!({ "grant_type": "client_credentials", "scope": "email.read" });
    let json = flow.api.post(TOKEN, body).send().await.expect(200);
    for name in ["token_type", "expires_in", "scope"] {
        assert_eq!(form[name], json[name]);
    }
}

/// Bad requests have the errors of RFC 6749, section 5.2.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rfc_6749_errors() {
    let flow = Flow::start().await;
    for (body, error) in [
        ("", "invalid_request"),
        ("grant_type=", "invalid_request"),
        ("grant_type=password&username=a&password=b", "unsupported_grant_type"),
        ("grant_type=refresh_token", "invalid_request"),
        ("grant_type=refresh_token&refresh_token=uc_rt_x", "invalid_grant"),
        ("grant_type=authorization_code&code=a&code=b", "invalid_request"),
        ("grant_type=authorization_code&code=a", "invalid_request"),
        ("grant_type=client_credentials&client_secret=a", "invalid_request"),
    ] {
        let ask = flow.api.ask(reqwest::Method::POST, TOKEN.into(), None).raw(FORM, body);
        refused(&ask.send().await, 400, error);
    }
    let ask = |path: &str| flow.api.ask(reqwest::Method::POST, path.to_owned(), None);
    refused(
        &ask(TOKEN).raw("text/plain", "grant_type=client_credentials").send().await,
        400,
        "invalid_request",
    );
    refused(&ask(TOKEN).raw("application/json", "{").send().await, 400, "invalid_request");
    let query = format!("{TOKEN}?grant_type=client_credentials");
    refused(&ask(&query).raw(FORM, "grant_type=client_credentials").send().await, 400, "invalid_request");
    flow.api.get(TOKEN).send().await.refused(405, "method_not_allowed");

    let nobody = asked(&flow.server.anonymous(), &[("grant_type", "client_credentials")]).await;
    refused(&nobody, 401, "invalid_client");
    assert_eq!(nobody.header("www-authenticate"), Some("Bearer"), "{nobody}");
}

/// The key is the password of Basic; a client authenticates in one way.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn basic_authentication() {
    let flow = Flow::start().await;
    let key = flow.api.key.clone().expect("a key");
    let basic = |user: &str, password: &str| {
        format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")))
    };
    let ask = |authorization: String| {
        let ask = flow.server.anonymous().ask(reqwest::Method::POST, TOKEN.into(), None);
        ask.raw(FORM, "grant_type=client_credentials").header("authorization", &authorization)
    };
    ask(basic("", &key)).send().await.expect(200);
    refused(&ask(basic("somebody", &key)).send().await, 401, "invalid_client");
    let wrong = ask(basic("", "wrong")).send().await;
    refused(&wrong, 401, "invalid_client");
    assert!(wrong.header("www-authenticate").is_some_and(|value| value.starts_with("Basic")), "{wrong}");
    refused(&ask(basic("", &key)).header("x-api-key", &key).send().await, 400, "invalid_request");
}

/// Tokens do not multiply the budget of their key.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_share_the_budget() {
    let flow = Flow::start().await;
    let api = flow.server.key("of little", |key| key.rate_limit_per_minute = 5).await;
    let credentials = [("grant_type", "client_credentials")];
    let first = flow.with(&asked(&api, &credentials).await.expect(200)).await;
    let second = flow.with(&asked(&api, &credentials).await.expect(200)).await;
    for actor in [&first, &second, &api] {
        actor.get("/v1/connections").send().await.expect(200);
    }
    first.get("/v1/connections").send().await.refused(429, "rate_limited");
    refused(&asked(&api, &credentials).await, 429, "rate_limited");
}

/// Tokens are listed by themselves; each can be revoked, and all of them end with their key.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn token_is_listed_and_revoked() {
    let flow = Flow::start().await;
    let credentials = [("grant_type", "client_credentials")];
    let token = flow.with(&flow.token(&credentials).await.expect(200)).await;
    let listed = flow.api.all("/v1/api-keys?kind=access_token").await;
    assert_eq!((listed.len(), &listed[0]["kind"]), (1, &json!("access_token")), "{listed:#?}");
    assert!(flow.api.all("/v1/api-keys").await.iter().all(|key| key["kind"] == "key"));
    flow.api.delete(format!("/v1/api-keys/{}", text(&listed[0], "id"))).send().await.expect(204);
    token.get("/v1/connections").send().await.refused(401, "revoked_api_key");

    let body = json!({ "name": "worker", "scopes": ["connections.read"] });
    let worker = flow.api.post("/v1/api-keys", body).send().await.expect(201);
    let mut api = flow.server.anonymous();
    api.key = Some(text(&worker, "key"));
    let token = flow.with(&asked(&api, &credentials).await.expect(200)).await;
    token.get("/v1/connections").send().await.expect(200);
    flow.api.delete(format!("/v1/api-keys/{}", text(&worker, "id"))).send().await.expect(204);
    token.get("/v1/connections").send().await.refused(401, "revoked_api_key");
}

/// A connection that is deleted takes its tokens with it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_end_with_their_connection() {
    let flow = Flow::start().await;
    let (code, connection) = flow.code().await;
    let token = flow.exchange(&code).await.expect(200);
    let holder = flow.with(&token).await;
    flow.api.delete(format!("/v1/connections/{connection}")).send().await.expect(204);
    holder.get("/v1/calendars").send().await.refused(401, "revoked_api_key");
    refused(&flow.refresh(&text(&token, "refresh_token")).await, 400, "invalid_grant");
}
