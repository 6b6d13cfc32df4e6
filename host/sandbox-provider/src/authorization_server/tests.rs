//! The authorization server over its own paths: requests of a client, a browser and an attacker, and the responses.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::header::LOCATION;
use axum::http::{HeaderMap, Request};
use serde_json::{Value, json};
use tower::ServiceExt;
use url::Url;
use url::form_urlencoded::Serializer;

use crate::authorization_server::clients::HOST_CLIENT_ID;
use crate::routes::router;
use crate::sandbox::{Config, Sandbox};

/// RFC 7636, appendix B.
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

const CALLBACK: &str = "http://127.0.0.1:8080/v1/auth/connectors/sandbox/callback";
const AUTHORIZE: &str = "/sandbox/oauth/authorize";
const TOKEN: &str = "/sandbox/oauth/token";
const REVOKE: &str = "/sandbox/oauth/revoke";

struct Provider {
    router: Router,
    now_ms: Arc<AtomicI64>,
}

#[derive(Debug)]
struct Answer {
    status: u16,
    headers: HeaderMap,
    /// None: the connection was dropped.
    text: Option<String>,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(self.text.as_deref().unwrap_or_default()).unwrap_or_default()
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    #[track_caller]
    fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{self:?}");
        self.json()
    }

    #[track_caller]
    fn refused(&self, status: u16, error: &str) {
        assert_eq!((self.status, self.json()["error"].as_str()), (status, Some(error)), "{self:?}");
        assert_eq!(self.header("cache-control"), "no-store");
    }

    /// The value of a parameter of the redirect.
    #[track_caller]
    fn back(&self, name: &str) -> Option<String> {
        assert_eq!(self.status, 303, "{self:?}");
        let url = Url::parse(self.headers.get(LOCATION).unwrap().to_str().unwrap()).unwrap();
        url.query_pairs().find(|(found, _)| found == name).map(|(_, value)| value.into_owned())
    }
}

fn encoded(fields: &[(&str, &str)]) -> String {
    Serializer::new(String::new()).extend_pairs(fields).finish()
}

/// A valid authorization request with the parameters of `change`; an empty value removes a parameter.
fn request(change: &[(&str, &str)]) -> String {
    let mut fields = vec![
        ("response_type", "code"),
        ("client_id", HOST_CLIENT_ID),
        ("redirect_uri", CALLBACK),
        ("scope", "mail.read calendar.write"),
        ("state", "st&1"),
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "S256"),
    ];
    fields.retain(|(name, _)| change.iter().all(|(changed, _)| changed != name));
    fields.extend(change.iter().filter(|(_, value)| !value.is_empty()));
    format!("{AUTHORIZE}?{}", encoded(&fields))
}

impl Provider {
    fn start() -> Provider {
        Provider::open(None)
    }

    fn open(data_dir: Option<&Path>) -> Provider {
        let now_ms = Arc::new(AtomicI64::new(1_773_126_000_000));
        let clock = now_ms.clone();
        let config = Config {
            data_dir: data_dir.map(Path::to_owned),
            ..Config::new(Arc::new(move || clock.load(Ordering::Relaxed)))
        };
        Provider { router: router(Sandbox::new(config).unwrap()), now_ms }
    }

    fn advance(&self, ms: i64) {
        self.now_ms.fetch_add(ms, Ordering::Relaxed);
    }

    async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: String) -> Answer {
        let mut request = Request::builder().method(method).uri(path).header("host", "127.0.0.1:8080");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = self.router.clone().oneshot(request.body(Body::from(body)).unwrap()).await.unwrap();
        let (parts, body) = answer.into_parts();
        let bytes = to_bytes(body, usize::MAX).await.ok();
        let text = bytes.map(|bytes| String::from_utf8(bytes.to_vec()).unwrap());
        Answer { status: parts.status.as_u16(), headers: parts.headers, text }
    }

    async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], String::new()).await
    }

    async fn form(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let kind = [("content-type", "application/x-www-form-urlencoded")];
        self.send("POST", path, &kind, encoded(fields)).await
    }

    /// A request to the provider's API.
    async fn api(&self, method: &str, path: &str, token: &str, body: Value) -> Answer {
        let login = format!("Bearer {token}");
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.send(method, path, &[("authorization", login.as_str())], body).await
    }

    async fn fault(&self, account: &str, fault: Value) {
        let answer = self.api("POST", "/sandbox/faults", &format!("sandbox-{account}"), fault).await;
        assert_eq!(answer.status, 201, "{answer:?}");
    }

    /// The token of a new consent page's form.
    async fn form_token(&self, url: &str) -> String {
        let page = self.get(url).await;
        assert_eq!(page.status, 200, "{page:?}");
        let text = page.text.unwrap();
        let (_, rest) = text.split_once("name=\"token\" value=\"").unwrap();
        rest.split_once('"').unwrap().0.to_owned()
    }

    /// Submits the consent form of a valid request.
    async fn decide(&self, account: &str, action: &str) -> Answer {
        let token = self.form_token(&request(&[])).await;
        let fields = [
            ("token", token.as_str()),
            ("account", account),
            ("scope", "mail.read"),
            ("scope", "calendar.write"),
            ("scope", "people.write"),
            ("action", action),
        ];
        self.form(AUTHORIZE, &fields).await
    }

    async fn code(&self, account: &str) -> String {
        self.decide(account, "allow").await.back("code").unwrap()
    }

    async fn exchange(&self, code: &str, change: &[(&str, &str)]) -> Answer {
        let mut fields = vec![
            ("grant_type", "authorization_code"),
            ("client_id", HOST_CLIENT_ID),
            ("redirect_uri", CALLBACK),
            ("code", code),
            ("code_verifier", VERIFIER),
        ];
        fields.retain(|(name, _)| change.iter().all(|(changed, _)| changed != name));
        fields.extend(change);
        self.form(TOKEN, &fields).await
    }

    async fn refresh(&self, token: &str) -> Answer {
        let fields =
            [("grant_type", "refresh_token"), ("client_id", HOST_CLIENT_ID), ("refresh_token", token)];
        self.form(TOKEN, &fields).await
    }

    /// Access and refresh token of a new grant.
    async fn tokens(&self, account: &str) -> (String, String) {
        let code = self.code(account).await;
        tokens(&self.exchange(&code, &[]).await.ok())
    }

    async fn me(&self, token: &str) -> Answer {
        self.api("GET", "/sandbox/v1/me", token, Value::Null).await
    }

    /// The clients that alice has granted scopes to.
    async fn clients(&self) -> Value {
        self.me("sandbox-alice").await.ok()["clients"].clone()
    }
}

fn tokens(answer: &Value) -> (String, String) {
    let text = |name: &str| answer[name].as_str().unwrap().to_owned();
    (text("access_token"), text("refresh_token"))
}

#[tokio::test]
async fn sandbox_metadata() {
    let provider = Provider::start();
    let path = "/.well-known/oauth-authorization-server/sandbox";
    let metadata = provider.get(path).await.ok();
    let issuer = "http://127.0.0.1:8080/sandbox";
    assert_eq!(metadata["issuer"], issuer);
    for (name, path) in
        [("authorization_endpoint", AUTHORIZE), ("token_endpoint", TOKEN), ("revocation_endpoint", REVOKE)]
    {
        assert_eq!(metadata[name], format!("http://127.0.0.1:8080{path}"));
    }
    assert_eq!(metadata["code_challenge_methods_supported"], json!(["S256"]));
    assert_eq!(metadata["authorization_response_iss_parameter_supported"], true);
    assert_eq!(provider.decide("alice", "deny").await.back("iss").as_deref(), Some(issuer));

    let config = Config { address: Some("http://[::1]:9".to_owned()), ..Config::new(Arc::new(|| 0_i64)) };
    let configured = Provider { router: router(Sandbox::new(config).unwrap()), now_ms: Arc::default() };
    assert_eq!(configured.get(path).await.ok()["issuer"], "http://[::1]:9/sandbox");
}

#[tokio::test]
async fn sandbox_code_works_once() {
    let provider = Provider::start();
    let answer = provider.decide("Alice", "allow").await;
    assert_eq!(answer.back("state").as_deref(), Some("st&1"));
    let code = answer.back("code").unwrap();
    let given = provider.exchange(&code, &[]).await;
    assert_eq!((given.header("cache-control"), given.header("pragma")), ("no-store", "no-cache"));
    let given = given.ok();
    assert_eq!((&given["token_type"], &given["expires_in"]), (&json!("Bearer"), &json!(3_600)));
    assert_eq!(given["scope"], "mail.read calendar.write", "not what was ticked beside the request");
    let (access, refresh) = tokens(&given);
    let me = provider.me(&access).await.ok();
    assert_eq!(
        (&me["mail"], &me["grants"]),
        (&json!("alice@sandbox.test"), &json!(["mail.read", "calendar.write"]))
    );
    let clients = json!([{ "clientId": HOST_CLIENT_ID, "scopes": ["calendar.write", "mail.read"] }]);
    assert_eq!(me["clients"], clients);

    provider.exchange(&code, &[]).await.refused(400, "invalid_grant");
    assert_eq!(provider.me(&access).await.status, 401, "the second use revokes what the first gave");
    provider.refresh(&refresh).await.refused(400, "invalid_grant");
    assert_eq!(provider.clients().await, json!([]));

    let late = provider.code("alice").await;
    provider.advance(60_000);
    provider.exchange(&late, &[]).await.refused(400, "invalid_grant");
}

#[tokio::test]
async fn codes_are_bound() {
    let provider = Provider::start();
    let other =
        json!({ "clientId": "other", "secret": "s3cret", "redirectUris": ["https://app.test/cb?a=b"] });
    let registered = provider.send("POST", "/sandbox/oauth/clients", &[], other.to_string()).await;
    assert_eq!(registered.status, 201, "{registered:?}");
    let again = provider.send("POST", "/sandbox/oauth/clients", &[], other.to_string()).await;
    assert_eq!(again.status, 409, "{again:?}");
    for (change, status, error, is_burnt) in [
        (("code_verifier", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXX"), 400, "invalid_grant", true),
        (
            ("redirect_uri", "http://127.0.0.1:8081/v1/auth/connectors/sandbox/callback"),
            400,
            "invalid_grant",
            true,
        ),
        (("code_verifier", ""), 400, "invalid_request", false),
        (("code_verifier", "short"), 400, "invalid_request", false),
        (("client_id", "nobody"), 401, "invalid_client", false),
        (("client_id", "other"), 401, "invalid_client", false),
        (("client_secret", "x"), 401, "invalid_client", false),
        (("grant_type", "password"), 400, "unsupported_grant_type", false),
    ] {
        let code = provider.code("alice").await;
        provider.exchange(&code, &[change]).await.refused(status, error);
        let after = provider.exchange(&code, &[]).await;
        assert_eq!(after.status, if is_burnt { 400 } else { 200 }, "{change:?}: {after:?}");
    }
    let code = provider.code("alice").await;
    let stolen = [("client_id", "other"), ("client_secret", "s3cret")];
    provider.exchange(&code, &stolen).await.refused(400, "invalid_grant");
    let twice = [("code", code.as_str()), ("code", code.as_str())];
    provider.exchange(&code, &twice).await.refused(400, "invalid_request");
    let json = json!({ "grant_type": "authorization_code" }).to_string();
    let kind = [("content-type", "application/json")];
    provider.send("POST", TOKEN, &kind, json).await.refused(400, "invalid_request");
    assert_eq!(provider.get(TOKEN).await.status, 405);
    assert_eq!(provider.exchange(&code, &[]).await.status, 200);
}

#[tokio::test]
async fn sandbox_refresh_reuse_ends_the_family() {
    let provider = Provider::start();
    let (first_access, first) = provider.tokens("alice").await;
    let (other_access, other) = provider.tokens("alice").await;
    let (access, second) = tokens(&provider.refresh(&first).await.ok());
    assert_ne!(first, second);
    for token in [&first_access, &access] {
        assert_eq!(provider.me(token).await.status, 200, "an access token lives out its time");
    }
    let wider = [
        ("grant_type", "refresh_token"),
        ("client_id", HOST_CLIENT_ID),
        ("refresh_token", second.as_str()),
        ("scope", "mail.read people.read"),
    ];
    provider.form(TOKEN, &wider).await.refused(400, "invalid_scope");

    provider.refresh(&first).await.refused(400, "invalid_grant");
    provider.refresh(&second).await.refused(400, "invalid_grant");
    for token in [&first_access, &access] {
        assert_eq!(provider.me(token).await.status, 401);
    }
    assert_eq!(provider.me(&other_access).await.status, 200, "another family lives");
    provider.refresh(&other).await.ok();
    provider.advance(3_600_000);
    assert_eq!(provider.me(&other_access).await.status, 401, "it has expired");
}

#[tokio::test]
async fn each_fault_of_the_token_endpoint() {
    let provider = Provider::start();
    let fault = |more: Value| {
        let mut fault = json!({ "pathPrefix": TOKEN });
        fault.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        fault
    };
    let code = provider.code("alice").await;
    provider.fault("alice", json!({ "status": 503 })).await;
    provider.fault("alice", fault(json!({ "status": 503, "retryAfterS": 7 }))).await;
    let down = provider.exchange(&code, &[]).await;
    assert_eq!((down.status, down.header("retry-after")), (503, "7"), "{down:?}");
    let (_, refresh) = tokens(&provider.exchange(&code, &[]).await.ok());
    assert_eq!(provider.me("sandbox-alice").await.status, 503, "the fault without a path is of the API");

    provider.fault("alice", fault(json!({ "oauthError": "invalid_grant" }))).await;
    provider.refresh(&refresh).await.refused(400, "invalid_grant");
    provider.fault("alice", fault(json!({ "omit": ["refresh_token", "expires_in", "scope"] }))).await;
    let bare = provider.refresh(&refresh).await.ok();
    let mut names: Vec<&String> = bare.as_object().unwrap().keys().collect();
    names.sort_unstable();
    assert_eq!(names, ["access_token", "token_type"]);
    provider.fault("alice", fault(json!({ "scopes": ["mail.read", "people.read"] }))).await;
    let fewer = provider.refresh(&refresh).await.ok();
    assert_eq!(fewer["scope"], "mail.read");
    let (access, refresh) = tokens(&fewer);
    assert_eq!(provider.me(&access).await.ok()["grants"], json!(["mail.read"]));

    provider.fault("alice", fault(json!({ "delayMs": 20, "after": 1 }))).await;
    let (_, refresh) = tokens(&provider.refresh(&refresh).await.ok());
    let begin = std::time::Instant::now();
    let (_, refresh) = tokens(&provider.refresh(&refresh).await.ok());
    assert!(begin.elapsed().as_millis() >= 20);
    provider.fault("alice", fault(json!({ "lostAnswer": true }))).await;
    assert!(provider.refresh(&refresh).await.text.is_none());
    provider.refresh(&refresh).await.refused(400, "invalid_grant");
    assert_eq!(provider.me(&access).await.status, 401, "it was done, so that this was reuse");

    for wrong in [
        json!({ "oauthError": "invalid_grant" }),
        json!({ "pathPrefix": TOKEN, "oauthError": "no words" }),
        json!({ "pathPrefix": TOKEN, "omit": ["other"] }),
        json!({ "pathPrefix": TOKEN, "oauthError": "x", "status": 500 }),
    ] {
        let answer = provider.api("POST", "/sandbox/faults", "sandbox-alice", wrong).await;
        assert!(matches!(answer.status, 400 | 422), "{answer:?}");
    }
}

#[tokio::test]
async fn special_accounts() {
    let provider = Provider::start();
    for (account, action, error) in [
        ("alice", "deny", "access_denied"),
        ("denied", "allow", "access_denied"),
        ("admin@sandbox.test", "allow", "admin_policy_enforced"),
    ] {
        let answer = provider.decide(account, action).await;
        assert_eq!((answer.back("error").as_deref(), answer.back("code")), (Some(error), None));
        assert_eq!(answer.back("state").as_deref(), Some("st&1"));
    }
    let code = provider.code("fewer").await;
    assert_eq!(provider.exchange(&code, &[]).await.ok()["scope"], "mail.read");
    let code = provider.code("short").await;
    let short = provider.exchange(&code, &[]).await.ok();
    assert_eq!(short["expires_in"], 5);
    provider.advance(5_000);
    let (access, refresh) = tokens(&short);
    assert_eq!(provider.me(&access).await.status, 401);
    assert_eq!(provider.refresh(&refresh).await.ok()["expires_in"], 5);
}

#[tokio::test]
async fn forms_that_are_forged_or_replayed() {
    let provider = Provider::start();
    let good = provider.form_token(&request(&[])).await;
    let (text, mac) = good.split_once('.').unwrap();
    let other = provider.form_token(&request(&[("state", "x")])).await;
    let (other_text, other_mac) = other.split_once('.').unwrap();
    let send = |token: String| {
        let provider = &provider;
        async move {
            let fields = [("token", token.as_str()), ("account", "alice"), ("action", "allow")];
            provider.form(AUTHORIZE, &fields).await
        }
    };
    for forged in [
        String::new(),
        "x".to_owned(),
        text.to_owned(),
        format!("{text}.{other_mac}"),
        format!("{other_text}.{mac}"),
        format!("{text}."),
        format!("{good}A"),
    ] {
        let answer = send(forged).await;
        assert_eq!(answer.status, 400, "{answer:?}");
        assert!(answer.header("content-type").starts_with("text/html"), "{answer:?}");
    }
    let incomplete =
        provider.form(AUTHORIZE, &[("token", good.as_str()), ("account", "?"), ("action", "allow")]).await;
    assert_eq!(incomplete.status, 400, "an account that cannot be uses nothing up");
    assert!(send(good.clone()).await.back("code").is_some());
    assert_eq!(send(good).await.status, 400, "a form is sent once");
    provider.advance(600_000);
    assert_eq!(send(other).await.status, 400, "a form is good for ten minutes");
}

#[tokio::test]
async fn requests_that_cannot_be_answered() {
    let provider = Provider::start();
    let evil = "https://evil.test/v1/auth/connectors/sandbox/callback";
    for change in [
        ("client_id", ""),
        ("client_id", "<script>"),
        ("redirect_uri", ""),
        ("redirect_uri", evil),
        ("redirect_uri", "http://127.0.0.1:8080/v1/auth/connectors/sandbox/callback/x"),
        ("redirect_uri", "http://127.0.0.1:8080@evil.test/v1/auth/connectors/sandbox/callback"),
        ("redirect_uri", "http://127.0.0.1:8080/x/../v1/auth/connectors/sandbox/callback"),
    ] {
        let page = provider.get(&request(&[change])).await;
        assert_eq!(page.status, 400, "{change:?}");
        assert!(!page.text.unwrap().contains("<script"));
    }
    let twice = format!("{}&client_id=switchboard", request(&[]));
    assert_eq!(provider.get(&twice).await.status, 400);
    for (change, error) in [
        (("response_type", "token"), "unsupported_response_type"),
        (("response_type", ""), "invalid_request"),
        (("code_challenge", ""), "invalid_request"),
        (("code_challenge", "short"), "invalid_request"),
        (("code_challenge_method", "plain"), "invalid_request"),
        (("code_challenge_method", ""), "invalid_request"),
        (("scope", ""), "invalid_scope"),
        (("scope", "mail.read everything"), "invalid_scope"),
    ] {
        let answer = provider.get(&request(&[change])).await;
        assert_eq!(answer.back("error").as_deref(), Some(error), "{change:?}");
        assert_eq!(answer.back("state").as_deref(), Some("st&1"));
        assert_eq!(answer.back("iss").as_deref(), Some("http://127.0.0.1:8080/sandbox"));
    }
    for uri in [
        "http://127.0.0.1:9/v1/auth/connectors/sandbox/callback",
        "http://localhost/v1/auth/connectors/sandbox/callback",
    ] {
        assert_eq!(provider.get(&request(&[("redirect_uri", uri)])).await.status, 200, "{uri}");
    }
    let page = provider.get(&request(&[("login_hint", "\"><script>alert(1)</script>")])).await;
    let policy = page.header("content-security-policy");
    assert!(policy.contains("default-src 'none'") && !policy.contains("form-action"), "{policy}");
    assert!(!page.text.unwrap().contains("<script"));
}

/// A token reaches as far as its scopes, and never to data of the account's owner alone.
#[tokio::test]
async fn a_missing_scope_is_403() {
    let provider = Provider::start();
    let (access, _) = provider.tokens("alice").await;
    for (method, path, status) in [
        ("GET", "/sandbox/v1/mail/messages", 200),
        ("POST", "/sandbox/v1/mail/folders", 403),
        ("GET", "/sandbox/v1/calendars", 200),
        ("GET", "/sandbox/v1/books", 403),
        ("GET", "/sandbox/v1/lists", 403),
        ("POST", "/sandbox/v1/mail/send", 403),
        ("POST", "/sandbox/reset", 403),
        ("GET", "/sandbox/faults", 403),
        ("DELETE", "/sandbox/oauth/grants", 403),
    ] {
        let answer = provider.api(method, path, &access, Value::Null).await;
        assert_eq!(answer.status, status, "{method} {path}: {answer:?}");
        if status == 403 {
            assert_eq!(answer.json()["error"]["code"], "insufficientScope");
        }
    }
    let refused = provider.api("GET", "/sandbox/v1/books", &access, Value::Null).await;
    assert!(refused.header("www-authenticate").contains("scope=\"people.read\""), "{refused:?}");
    assert_eq!(provider.api("GET", "/sandbox/v1/books", "sandbox-alice", Value::Null).await.status, 200);
    assert_eq!(provider.me("sbx_at_unknown").await.status, 401);
}

#[tokio::test]
async fn tokens_are_revoked() {
    let provider = Provider::start();
    let revoke = |token: String| {
        let provider = &provider;
        async move {
            provider.form(REVOKE, &[("client_id", HOST_CLIENT_ID), ("token", token.as_str())]).await.status
        }
    };
    let (access, refresh) = provider.tokens("alice").await;
    let (other_access, other_refresh) = provider.tokens("alice").await;
    assert_eq!(revoke(access.clone()).await, 200);
    assert_eq!(provider.me(&access).await.status, 401);
    let (access, _) = tokens(&provider.refresh(&refresh).await.ok());
    assert_eq!(revoke(refresh).await, 200, "also one that was used: it names the grant");
    for token in [access, other_access] {
        assert_eq!(provider.me(&token).await.status, 401, "the whole grant has ended");
    }
    provider.refresh(&other_refresh).await.refused(400, "invalid_grant");
    assert_eq!(revoke("unknown".to_owned()).await, 200);
    assert_eq!(provider.clients().await, json!([]));

    let (access, _) = provider.tokens("alice").await;
    let (bobs, _) = provider.tokens("bob").await;
    let withdrawn = provider.api("DELETE", "/sandbox/oauth/grants", "sandbox-alice", Value::Null).await;
    assert_eq!(withdrawn.status, 204);
    assert_eq!((provider.me(&access).await.status, provider.me(&bobs).await.status), (401, 200));
}

/// Grants survive a restart, and the file contains no secret.
#[tokio::test]
async fn grants_are_in_the_journal() {
    let dir = tempfile::tempdir().unwrap();
    let provider = Provider::open(Some(dir.path()));
    let code = provider.code("alice").await;
    let (access, first) = tokens(&provider.exchange(&code, &[]).await.ok());
    let (_, second) = tokens(&provider.refresh(&first).await.ok());
    drop(provider);
    let journal = std::fs::read_to_string(dir.path().join("sandbox/journal.jsonl")).unwrap();
    for secret in [&code, &access, &first, &second] {
        assert!(!journal.contains(secret.as_str()));
    }
    let provider = Provider::open(Some(dir.path()));
    assert_eq!(provider.me(&access).await.status, 200);
    provider.refresh(&second).await.ok();
    provider.refresh(&first).await.refused(400, "invalid_grant");
    assert_eq!(provider.me(&access).await.status, 401);
}
