//! The ground of the fake Graph: tokens, batches, the limit of requests at once, and the requests that it refuses.

use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use fakes::graph::{AccountKind, TokenError};
use fakes::{Fault, Graph, What};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, Url};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const ALICE: &str = "alice@example.com";
const BACK: &str = "https://app.example.test/back";
const VERIFIER: &str = "a-verifier-that-is-long-enough-for-any-server";

/// The fake with Alice's account, and a client with a token of hers.
struct Desk {
    graph: Graph,
    client: Client,
    token: String,
}

impl Desk {
    /// None where the extract of Graph is not installed.
    async fn start() -> Option<Desk> {
        let graph = Graph::start_or_skip().await?;
        let scopes = ["User.Read", "Mail.ReadWrite", "MailboxSettings.Read"];
        let token = graph.with(|state| {
            state.add_account(ALICE, "Alice Example", "UTC", AccountKind::Work);
            let now = state.clock.now_ms();
            state.authority.issue(ALICE, &scopes, now)
        });
        let client = Client::builder().no_proxy().tls_certs_only([]).redirect(Policy::none()).build();
        Some(Desk { graph, client: client.expect("a client"), token })
    }

    /// The status and the body of an answer.
    async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> (u16, Value) {
        let request = self.client.request(method, format!("{}{path}", self.graph.url()));
        let request = request.bearer_auth(&self.token);
        let request = match body {
            Some(body) => request.header("content-type", "application/json").body(body.to_string()),
            None => request,
        };
        let answer = request.send().await.expect("an answer");
        let status = answer.status().as_u16();
        let text = answer.text().await.expect("a body");
        (status, serde_json::from_str(&text).unwrap_or_default())
    }

    /// Sends these parts, and returns the answers by id.
    async fn batch(&self, parts: &[(&str, &str)]) -> Value {
        let part = |(id, url): &(&str, &str)| json!({ "id": id, "method": "GET", "url": url });
        let body = json!({ "requests": parts.iter().map(part).collect::<Vec<_>>() });
        let (status, answer) = self.call(Method::POST, "/v1.0/$batch", Some(&body)).await;
        assert_eq!(status, 200, "{answer}");
        let mut by_id = json!({});
        for response in answer["responses"].as_array().expect("responses") {
            by_id[response["id"].as_str().expect("an id")] = response.clone();
        }
        by_id
    }

    /// Sends the browser to the consent page; the parameters that it comes back with.
    async fn authorize(&self, scopes: &str) -> Vec<(String, String)> {
        let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER));
        let query = [
            ("client_id", "app"),
            ("response_type", "code"),
            ("redirect_uri", BACK),
            ("scope", scopes),
            ("state", "s"),
            ("code_challenge", challenge.as_str()),
            ("code_challenge_method", "S256"),
        ];
        self.visit("/common/oauth2/v2.0/authorize", &query).await
    }

    async fn visit(&self, path: &str, query: &[(&str, &str)]) -> Vec<(String, String)> {
        let url = Url::parse_with_params(&format!("{}{path}", self.graph.url()), query).expect("a URL");
        let answer = self.client.get(url).send().await.expect("an answer");
        assert_eq!(answer.status().as_u16(), 302);
        let location = answer.headers().get("location").and_then(|value| value.to_str().ok());
        let location = Url::parse(location.expect("a location")).expect("a URL");
        location.query_pairs().into_owned().collect()
    }

    async fn token(&self, form: &[(&str, &str)]) -> (u16, Value) {
        let base = [("client_id", "app"), ("client_secret", "x"), ("redirect_uri", BACK)];
        let mut url = Url::parse("http://form.test").expect("a URL");
        url.query_pairs_mut().extend_pairs(base.iter().chain(form));
        let form = url.query().unwrap_or_default().to_owned();
        let request = self.client.post(format!("{}/common/oauth2/v2.0/token", self.graph.url()));
        let request = request.header("content-type", "application/x-www-form-urlencoded").body(form);
        let answer = request.send().await.expect("an answer");
        let status = answer.status().as_u16();
        (status, serde_json::from_str(&answer.text().await.expect("a body")).expect("JSON"))
    }
}

fn value<'a>(pairs: &'a [(String, String)], name: &str) -> &'a str {
    let found = pairs.iter().find(|(key, _)| key == name);
    found.map(|(_, value)| value.as_str()).unwrap_or_default()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

#[tokio::test]
async fn a_refresh_gives_a_new_refresh_token_and_the_old_one_stays_good() {
    let Some(desk) = Desk::start().await else { return };
    let back = desk.authorize("offline_access User.Read https://graph.microsoft.com/Mail.Read").await;
    assert_eq!(value(&back, "state"), "s");
    let code = value(&back, "code");
    let form = [("grant_type", "authorization_code"), ("code", code), ("code_verifier", VERIFIER)];
    let (status, tokens) = desk.token(&form).await;
    assert_eq!(status, 200, "{tokens}");
    let scopes = text(&tokens["scope"]);
    assert_eq!(scopes, "https://graph.microsoft.com/Mail.Read https://graph.microsoft.com/User.Read");
    let (status, again) = desk.token(&form).await;
    assert_eq!((status, &again["error"]), (400, &json!("invalid_grant")), "a code serves once");

    let first = text(&tokens["refresh_token"]);
    for _ in 0..2 {
        let (status, refreshed) =
            desk.token(&[("grant_type", "refresh_token"), ("refresh_token", first)]).await;
        assert_eq!(status, 200, "{refreshed}");
        assert_ne!(refreshed["refresh_token"], tokens["refresh_token"]);
    }
    desk.graph.with(|state| state.authority.revoke_user(ALICE));
    let (status, refused) = desk.token(&[("grant_type", "refresh_token"), ("refresh_token", first)]).await;
    assert_eq!((status, &refused["error_codes"]), (400, &json!([50173])));
}

#[tokio::test]
async fn an_administrator_has_to_consent_where_users_may_not() {
    let Some(desk) = Desk::start().await else { return };
    desk.graph.with(|state| state.authority.admin_wall = true);
    assert_eq!(value(&desk.authorize("User.Read Mail.Read").await, "error"), "consent_required");
    assert_eq!(value(&desk.authorize("User.Read openid").await, "error"), "", "nobody has to ask for these");
    let query = [("client_id", "app"), ("redirect_uri", BACK), ("state", "s"), ("scope", "Mail.Read")];
    let back = desk.visit("/organizations/v2.0/adminconsent", &query).await;
    assert_eq!((value(&back, "admin_consent"), value(&back, "state")), ("True", "s"));
    assert_ne!(value(&desk.authorize("User.Read Mail.Read").await, "code"), "");

    let error = TokenError { error: "invalid_grant".to_owned(), code: 70000, status: 400 };
    desk.graph.with(|state| state.authority.token_errors.push_back(error));
    let (status, refused) = desk.token(&[("grant_type", "refresh_token"), ("refresh_token", "x")]).await;
    assert_eq!((status, &refused["error_codes"]), (400, &json!([70000])));
    assert!(text(&refused["error_description"]).starts_with("AADSTS70000: "), "{refused}");
}

#[tokio::test]
async fn more_than_four_requests_of_a_mailbox_at_once_are_refused() {
    let Some(desk) = Desk::start().await else { return };
    desk.graph.hold(true);
    let four = async {
        let get = || desk.call(Method::GET, "/v1.0/me", None);
        tokio::join!(get(), get(), get(), get())
    };
    let fifth = async {
        while desk.graph.with(|state| state.flights.open(ALICE)) < 4 {
            tokio::task::yield_now().await;
        }
        let refused = desk.call(Method::GET, "/v1.0/me", None).await;
        desk.graph.hold(false);
        refused
    };
    let (four, (status, refused)) = tokio::join!(four, fifth);
    assert_eq!((status, &refused["error"]["code"]), (429, &json!("ApplicationThrottled")));
    assert!(text(&refused["error"]["message"]).contains("MailboxConcurrency"), "{refused}");
    assert_eq!([four.0.0, four.1.0, four.2.0, four.3.0], [200; 4]);
    let counts = desk.graph.with(|state| (state.flights.most(ALICE), state.flights.refused));
    assert_eq!(counts, (5, 1));
}

#[tokio::test]
async fn parts_of_a_batch_answer_429_and_401_though_the_batch_is_200() {
    let Some(desk) = Desk::start().await else { return };
    let parts = [("a", "/me"), ("b", "/me/mailboxSettings"), ("c", "/me"), ("d", "/me/events")];
    let statuses = |answers: &Value| ["a", "b", "c", "d"].map(|id| answers[id]["status"].clone());
    let answers = desk.batch(&parts).await;
    assert_eq!(statuses(&answers), [200, 200, 200, 403].map(Value::from), "{answers:#}");
    assert_eq!(answers["a"]["body"]["mail"], ALICE);

    desk.graph.trap("batch_429", 1);
    let answers = desk.batch(&parts).await;
    assert_eq!(statuses(&answers), [200, 429, 200, 429].map(Value::from));
    assert_eq!(answers["b"]["headers"]["Retry-After"], "1");
    desk.graph.trap("batch_part_missing", 1);
    assert_eq!(desk.batch(&parts).await["d"], Value::Null);
    desk.graph.fault(Fault::status("/mailboxSettings", 503, json!({ "error": { "code": "UnknownError" } })));
    desk.graph.fault(Fault::new("/events", What::Kill));
    let answers = desk.batch(&parts).await;
    assert_eq!((&answers["b"]["status"], &answers["d"]), (&json!(503), &Value::Null), "faults reach parts");

    desk.graph.trap("batch_401", 1);
    assert_eq!(desk.batch(&parts).await["a"]["status"], 401);
    assert_eq!(desk.batch(&parts).await["a"]["status"], 401, "until the token is renewed");
    assert_eq!(desk.call(Method::GET, "/v1.0/me", None).await.0, 200, "alone it is good");
    let requests = desk.graph.requests();
    assert_eq!(requests.first().map(|request| request.parts.len()), Some(4), "parts are recorded");
    assert!(desk.graph.violations().is_empty());
}

#[tokio::test]
async fn a_request_that_graph_does_not_have_is_refused_and_kept() {
    let Some(desk) = Desk::start().await else { return };
    let (status, refused) = desk.call(Method::GET, "/v1.0/me?$select=id,nickname", None).await;
    assert_eq!((status, &refused["error"]["code"]), (400, &json!("BadRequest")));
    let zone = json!({ "timezone": "UTC" });
    assert_eq!(desk.call(Method::PATCH, "/v1.0/me/mailboxSettings", Some(&zone)).await.0, 400);
    assert_eq!(desk.call(Method::GET, "/v1.0/me/messages/delta", None).await.0, 400, "deltas are per folder");
    let many: Vec<Value> =
        (0..21).map(|id| json!({ "id": id.to_string(), "method": "GET", "url": "/me" })).collect();
    let batch = json!({ "requests": many });
    assert_eq!(desk.call(Method::POST, "/v1.0/$batch", Some(&batch)).await.0, 400);
    let violations: Vec<String> = desk.graph.violations().iter().map(ToString::to_string).collect();
    let expected =
        ["no member nickname", "unknown member", "Change tracking is not supported", "maximum value of 20"];
    assert_eq!(violations.len(), expected.len(), "{violations:#?}");
    for (violation, expected) in violations.iter().zip(expected) {
        assert!(violation.contains(expected), "{violation} instead of {expected}");
    }
}

#[tokio::test]
async fn the_host_of_uploads_takes_no_token_and_a_mailbox_may_be_absent() {
    let Some(desk) = Desk::start().await else { return };
    let url = format!("{}/api/v2.0/x?authtoken=y", desk.graph.upload_url());
    let refused = desk.client.put(url).bearer_auth(&desk.token).send().await.expect("an answer");
    assert_eq!(refused.status().as_u16(), 401);
    assert!(refused.text().await.expect("a body").contains("InvalidAudience"));

    desk.graph.with(|state| state.account_mut(ALICE).absent.insert("mail".to_owned()));
    let (status, absent) = desk.call(Method::GET, "/v1.0/me/mailFolders/inbox", None).await;
    assert_eq!((status, &absent["error"]["code"]), (404, &json!("MailboxNotEnabledForRESTAPI")));
    desk.graph.advance(Duration::from_secs(3600));
    let (status, expired) = desk.call(Method::GET, "/v1.0/me", None).await;
    assert_eq!((status, &expired["error"]["code"]), (401, &json!("InvalidAuthenticationToken")));
}
