//! Answers of a provider's token endpoint as they are in practice: which of them are tokens, which ask the user to authorize again, and
//! which pass.

use std::sync::{Arc, Mutex};

use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use harness::TestServer;
use harness::browser::encoded;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::oauth::{Flow, register_client};

const HOUR_MS: i64 = 3_600_000;
const FORM: &str = "application/x-www-form-urlencoded";

/// An answer with a content type, and with `Retry-After` where one is set.
#[derive(Clone, Debug)]
struct Answer {
    status: u16,
    content_type: &'static str,
    retry_after: Option<String>,
    body: Vec<u8>,
}

fn says(status: u16, content_type: &'static str, body: impl Into<Vec<u8>>) -> Answer {
    Answer { status, content_type, retry_after: None, body: body.into() }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).expect("a status");
        let mut response = (status, [(header::CONTENT_TYPE, self.content_type)], self.body).into_response();
        if let Some(value) = self.retry_after {
            let value = value.parse().expect("a value of a header");
            response.headers_mut().insert(header::RETRY_AFTER, value);
        }
        response
    }
}

/// The same tokens in another form of response.
type Rewriting = fn(Value) -> Answer;

/// How the endpoint answers from now on.
#[derive(Clone)]
enum Conduct {
    /// The provider answers, and the answer is changed on its way.
    Rewrites(Rewriting),
    /// It answers by itself: the provider hears of no request.
    Says(Answer),
}

/// A token endpoint before that of the sandbox provider.
struct Endpoint {
    url: String,
    conduct: Arc<Mutex<Conduct>>,
    asked: Arc<Mutex<usize>>,
}

fn unchanged(tokens: Value) -> Answer {
    says(200, "application/json", tokens.to_string())
}

fn as_form(tokens: &Value) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let fields: Vec<(&str, String)> = tokens
        .as_object()
        .expect("an object")
        .iter()
        .map(|(name, value)| (name.as_str(), text(value)))
        .collect();
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
    encoded(&fields)
}

impl Endpoint {
    async fn before(server: &TestServer) -> Endpoint {
        let behind = format!("http://{}/sandbox/oauth/token", server.address);
        let conduct = Arc::new(Mutex::new(Conduct::Rewrites(unchanged)));
        let asked: Arc<Mutex<usize>> = Arc::default();
        let (how, count) = (conduct.clone(), asked.clone());
        let client = harness::http_client().build().expect("an HTTP client");
        let answer = async move |headers: HeaderMap, body: Bytes| {
            *count.lock().expect("no test panics with it") += 1;
            let conduct = how.lock().expect("no test panics with it").clone();
            let rewrite = match conduct {
                Conduct::Says(answer) => return answer.into_response(),
                Conduct::Rewrites(rewrite) => rewrite,
            };
            let content_type = headers[header::CONTENT_TYPE].clone();
            let asked = client.post(&behind).header(header::CONTENT_TYPE, content_type).body(body);
            let answer = asked.send().await.expect("the provider answers");
            assert_eq!(answer.status().as_u16(), 200, "the provider refuses what it was sent");
            let tokens = answer.bytes().await.expect("a body");
            rewrite(serde_json::from_slice(&tokens).expect("JSON")).into_response()
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}/token", listener.local_addr().expect("an address"));
        let app = axum::Router::new().fallback(answer);
        tokio::spawn(async move { axum::serve(listener, app).await.expect("the endpoint stays") });
        Endpoint { url, conduct, asked }
    }

    fn rewrites(&self, rewrite: Rewriting) {
        *self.conduct.lock().expect("no test panics with it") = Conduct::Rewrites(rewrite);
    }

    fn says(&self, answer: &Answer) {
        *self.conduct.lock().expect("no test panics with it") = Conduct::Says(answer.clone());
    }

    /// How many requests there were since it was asked last.
    fn taken(&self) -> usize {
        std::mem::take(&mut *self.asked.lock().expect("no test panics with it"))
    }
}

/// A service whose sandbox provider issues its tokens at such an endpoint.
async fn flow() -> (Flow, Endpoint) {
    let loopback = vec!["127.0.0.0/8".parse().expect("a network")];
    let builder = TestServer::builder().config(|c| {
        c.egress_allow = loopback;
        c.anonymous_per_minute = 100_000;
    });
    let flow = Flow::on(builder.start().await).await;
    let endpoint = Endpoint::before(&flow.server).await;
    register_client(&flow.server, &flow.api, "sandbox", |client| {
        client.endpoints.insert("tokenUrl".to_owned(), json!(endpoint.url));
    })
    .await;
    (flow, endpoint)
}

/// Responses that differ from RFC 6749, section 5.1, and contain tokens nevertheless.
const ODD_TOKENS: [(&str, Rewriting); 9] = [
    ("201", |tokens| says(201, "application/json", tokens.to_string())),
    ("203 as HTML", |tokens| says(203, "text/html", format!("\n{tokens}\n"))),
    ("a byte order mark", |tokens| says(200, "application/json", format!("\u{feff}{tokens}"))),
    ("UTF-16", |tokens| {
        let text = format!("\u{feff}{tokens}").encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
        says(200, "application/json", text)
    }),
    ("a form", |tokens| says(200, FORM, as_form(&tokens))),
    ("a form without a type, with a mark", |tokens| {
        says(200, "", format!("\u{feff}{}\r\n", as_form(&tokens)))
    }),
    ("a form whose scope is empty", |mut tokens| {
        tokens["scope"] = json!("");
        tokens["expires_in"] = json!("3600");
        says(201, FORM, as_form(&tokens))
    }),
    ("an empty error", |mut tokens| {
        tokens["error"] = json!("");
        unchanged(tokens)
    }),
    ("an id_token that is none", |mut tokens| {
        tokens["id_token"] = json!({ "alg": "none" });
        unchanged(tokens)
    }),
];

/// The provider ends a grant when a refresh token is used twice, so one that was thrown away would show in the round after.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_2xx_with_tokens_renews_the_connection() {
    let (flow, endpoint) = flow().await;
    let id = flow.connect(json!({}), "alice").await;
    for (name, rewrite) in ODD_TOKENS {
        endpoint.rewrites(rewrite);
        flow.server.clock.advance_ms(HOUR_MS);
        let answer = flow.api.post(format!("/v1/connections/{id}/refresh"), json!({})).send().await;
        assert_eq!(answer.status, 200, "{name}: {answer}");
        let connection = flow.connection(&id).await;
        assert_eq!(
            (&connection["status"], &connection["lastRefreshError"], &connection["missingScopes"]),
            (&json!("active"), &Value::Null, &json!([])),
            "{name}"
        );
        flow.api.get(format!("/v1/email/messages?connection_id={id}")).send().await.expect(200);
    }
    endpoint.rewrites(unchanged);
    flow.server.clock.advance_ms(HOUR_MS);
    flow.api.post(format!("/v1/connections/{id}/refresh"), json!({})).send().await.expect(200);
}

/// Such responses are accepted for the code of an authorization too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_2xx_with_tokens_connects_an_account() {
    let (flow, endpoint) = flow().await;
    for (name, rewrite) in ODD_TOKENS {
        endpoint.rewrites(rewrite);
        let id = flow.connect(json!({}), "alice").await;
        assert_eq!(flow.connection(&id).await["status"], "active", "{name}");
    }
}

/// The access token cannot be used, and the refresh token beside it is the only one that is good from then on: it is stored.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refresh_token_beside_an_access_token_of_no_use_is_kept() {
    let (flow, endpoint) = flow().await;
    let id = flow.connect(json!({}), "alice").await;
    let refresh = || flow.api.post(format!("/v1/connections/{id}/refresh"), json!({})).send();
    let odd: [(Rewriting, &str); 5] = [
        (
            |mut tokens| {
                tokens["access_token"] = json!("two words");
                unchanged(tokens)
            },
            "provider_unavailable",
        ),
        (
            |mut tokens| {
                tokens["access_token"] = Value::Null;
                says(201, "application/json", tokens.to_string())
            },
            "provider_unavailable",
        ),
        (
            |tokens| {
                says(200, FORM, encoded(&[("refresh_token", tokens["refresh_token"].as_str().expect("one"))]))
            },
            "provider_unavailable",
        ),
        (
            |mut tokens| {
                tokens["token_type"] = json!("DPoP");
                unchanged(tokens)
            },
            "provider_error",
        ),
        (
            |mut tokens| {
                tokens["error"] = json!("temporarily_unavailable");
                unchanged(tokens)
            },
            "provider_unavailable",
        ),
    ];
    for (rewrite, code) in odd {
        endpoint.rewrites(rewrite);
        flow.server.clock.advance_ms(HOUR_MS);
        refresh().await.refused(503, "provider_unavailable");
        let connection = flow.connection(&id).await;
        assert_eq!(connection["status"], "active", "{connection:#}");
        assert_eq!(connection["lastRefreshError"]["code"], code, "{connection:#}");
        endpoint.rewrites(unchanged);
        flow.server.clock.advance_ms(HOUR_MS);
        let connection = refresh().await.expect(200);
        assert_eq!(
            (&connection["status"], &connection["lastRefreshError"]),
            (&json!("active"), &Value::Null)
        );
    }
}

/// A refusal which says that the grant has ended asks the user to authorize again, in any form.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refusals_in_odd_bodies_ask_to_authorize_again() {
    let (flow, endpoint) = flow().await;
    let id = flow.connect(json!({}), "alice").await;
    for answer in [
        says(400, "text/plain", "invalid_grant"),
        says(401, "text/plain; charset=utf-8", "Error: invalid_grant\n"),
        says(400, "text/html", "<h1>HTTP Status 400 - invalid_grant</h1>"),
        says(400, "application/json", r#"{"error":{"code":"invalid_grant","message":"revoked"}}"#),
        says(400, "application/json", "\u{feff}{\"error\":\"invalid_grant\"}"),
        says(200, FORM, "error=bad_refresh_token&error_description=It+has+expired."),
        says(400, "application/json", r#"{"error":"bad_refresh_token"}"#),
        says(401, "application/json", r#"{"error":"invalid_token"}"#),
        says(401, "text/plain", "invalid_token"),
    ] {
        flow.server.clock.advance_ms(HOUR_MS);
        endpoint.says(&answer);
        let refused = flow.api.post(format!("/v1/connections/{id}/refresh"), json!({})).send().await;
        assert_eq!(refused.status, 409, "{answer:?}: {refused}");
        refused.refused(409, "reauth_required");
        let connection = flow.connection(&id).await;
        let status = (&connection["status"], &connection["statusReason"]);
        assert_eq!(status, (&json!("reauth_required"), &json!("token_revoked")), "{answer:?}");
        endpoint.rewrites(unchanged);
        assert_eq!(flow.connect(json!({ "connectionId": id }), "alice").await, id);
        assert_eq!(flow.connection(&id).await["status"], "active");
    }
}

/// An unparseable response says nothing about the account.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_garbage_passes() {
    let (flow, endpoint) = flow().await;
    let id = flow.connect(json!({}), "alice").await;
    for answer in [
        says(200, "application/json", ""),
        says(204, "application/json", ""),
        says(200, "application/json", "null"),
        says(200, "application/json", r#"{"access_token":"#),
        says(200, "text/html", "<form action='?error=invalid_token'>Sign in to this network</form>"),
        says(400, "text/plain", "Bad Request"),
        says(403, "application/json", r#"{"message":"invalid_token in the path"}"#),
        says(302, "application/json", r#"{"access_token":"a","refresh_token":"b"}"#),
        says(502, "text/plain", "invalid_grant"),
        says(200, "application/octet-stream", vec![0xff; 300]),
    ] {
        flow.server.clock.advance_ms(HOUR_MS);
        endpoint.says(&answer);
        let refused = flow.api.post(format!("/v1/connections/{id}/refresh"), json!({})).send().await;
        assert_eq!(refused.status, 503, "{answer:?}: {refused}");
        refused.refused(503, "provider_unavailable");
        assert_eq!(flow.connection(&id).await["status"], "active", "{answer:?}");
        endpoint.rewrites(unchanged);
        flow.server.clock.advance_ms(HOUR_MS);
        flow.api.post(format!("/v1/connections/{id}/refresh"), json!({})).send().await.expect(200);
    }
}

/// A provider that names the time at which it wants to be asked again is not asked before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_date_in_retry_after_holds() {
    let (flow, endpoint) = flow().await;
    let id = flow.connect(json!({}), "alice").await;
    let refresh = || flow.api.post(format!("/v1/connections/{id}/refresh"), json!({})).send();
    for (format, status, wait_s) in [
        ("%a, %d %b %Y %H:%M:%S GMT", 429, 90),
        ("%A, %d-%b-%y %H:%M:%S GMT", 503, 600),
        // More than an hour is not believed.
        ("%a, %d %b %Y %H:%M:%S GMT", 503, 3_600),
    ] {
        flow.server.clock.advance_ms(HOUR_MS);
        let asked_s = if wait_s == 3_600 { 7_200 } else { wait_s };
        let until = flow.server.app.now() + asked_s * 1_000;
        let until = Timestamp::from_millisecond(until).expect("a time").strftime(format).to_string();
        let answer = Answer { retry_after: Some(until), ..says(status, "text/plain", "busy") };
        endpoint.says(&answer);
        endpoint.taken();
        let refused = refresh().await;
        assert_eq!(refused.header("retry-after"), Some(wait_s.to_string().as_str()), "{answer:?}: {refused}");
        refused.refused(503, "provider_unavailable");
        flow.server.clock.advance_ms(wait_s * 1_000 - 1_000);
        refresh().await.refused(503, "provider_unavailable");
        assert_eq!(endpoint.taken(), 1, "it is left alone: {answer:?}");
        endpoint.rewrites(unchanged);
        flow.server.clock.advance_ms(1_000);
        refresh().await.expect(200);
    }
}
