//! Guests of `wasi:http`: they use the same outbound path as `http`, so they get the same answers to the same attempts (`hostile.rs`).

use std::sync::Arc;
use std::time::{Duration, Instant};

use runtime::{Answer, Credentials, CredentialsError, Error, Limits, NoCredentials, PoolStatus};

use crate::world::{Fixed, SELF_HOSTED, World, encode, guest_text, manifest, probe, provider, tight};

const NAME: &str = "wasi-http";
const TOKEN: &str = "Bearer ya29.token-0123456789/abc";

fn compat(name: &str) -> String {
    manifest(name, "1.0.0", SELF_HOSTED).replace("strict", "compat")
}

/// A runtime with the guest, and a provider on loopback.
async fn world(egress_allow: &[&str]) -> (World, String) {
    // Enough processor time for the request bodies' own limit to be reached first, even on a slow and busy machine.
    let world = World::start(Limits { cpu_ms: 3_000, ..tight() }, egress_allow).await;
    let wasm = encode(&guest_text("wasi_http"), "wasi-http");
    let dir = world.write(NAME, &compat(NAME), NAME, &wasm);
    world.runtime.install(&dir).await.expect("it is fit to be installed");
    (world, provider().await)
}

async fn send(
    world: &World,
    method: &str,
    url: &str,
    header: Option<(&str, &str)>,
    origin: &str,
    credentials: Arc<dyn Credentials>,
) -> Result<Answer, Error> {
    let mut call = probe(method, url, header, origin, credentials);
    call.connector = NAME.to_owned();
    world.runtime.call(call).await
}

fn token() -> Arc<Fixed> {
    Arc::new(Fixed(TOKEN, None))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_is_fetched_with_the_connections_credentials_and_without_showing_them() {
    let (world, origin) = world(&["127.0.0.0/8"]).await;
    let url = format!("{origin}/echo?a=b");
    let answer = send(&world, "GET", &url, Some(("Depth", "1")), &origin, token()).await.unwrap();
    println!("{}", answer.body);
    let body: serde_json::Value = answer.parse().unwrap();
    assert_eq!(body["length"], TOKEN.len(), "the provider got it");
    assert_eq!(body["headers"]["depth"], "1");
    assert_eq!(body["headers"]["host"], origin.trim_start_matches("http://"));
    for field in ["raw", "base64", "base64Shifted", "base64url"] {
        let text = body[field].as_str().unwrap();
        assert!(text.contains("********") && !answer.body.contains("0123456789"), "{field}: {text}");
    }
    assert_eq!(answer.stats.http_requests, 1);

    let length = format!("{origin}/length");
    let answer = send(&world, "POST", &length, None, &origin, token()).await.unwrap();
    assert_eq!(answer.parse::<serde_json::Value>().unwrap()["length"], length.len());
    let long = length.len().to_string();
    let answer = send(&world, "POST", &length, Some(("content-length", &long)), &origin, token()).await;
    assert_eq!(answer.unwrap().parse::<serde_json::Value>().unwrap()["length"], length.len());

    let fresh = Arc::new(Fixed("Bearer stale-token-0123456789", Some("Bearer fresh-token-0123456789")));
    let answer = send(&world, "GET", &format!("{origin}/only-fresh"), None, &origin, fresh).await.unwrap();
    assert_eq!((&*answer.body, answer.stats.http_requests), ("{\"fresh\":true}", 2));
    assert_eq!(world.settled().await, PoolStatus::default());
}

/// Method, URL, one header, and the result that the guest sees.
type Attempt<'a> = (&'a str, &'a str, Option<(&'a str, &'a str)>, &'a str);

// Cases of `error-code` and of `header-error`, by their index.
const LIMIT_REACHED: &str = "error-code: 11";
const DENIED: &str = "error-code: 15";
const BODY_SIZE: &str = "error-code: 17";
const METHOD_INVALID: &str = "error-code: 18";
const URI_INVALID: &str = "error-code: 19";
const RESPONSE_SIZE: &str = "error-code: 28";
const TIMEOUT: &str = "error-code: 33";
const PROTOCOL: &str = "error-code: 35";
const INTERNAL: &str = "error-code: 38";
const SYNTAX: &str = "header-error: 00";
const FORBIDDEN: &str = "header-error: 01";
const REQUEST: &str = "request-error: 00";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_leaves_the_policy() {
    let (world, origin) = world(&["127.0.0.0/8"]).await;
    let here = format!("{origin}/echo");
    let metadata = "http://169.254.169.254/latest/meta-data/";
    let to_metadata = format!("{origin}/redirect?{metadata}");
    let not_followed = format!("redirect: {metadata}");
    let other_port = here.replace(origin.rsplit(':').next().unwrap(), "1");
    let (climbing, other_host) = (format!("{here}/..%2fx"), format!("{origin}@example.com/"));
    let cases: [Attempt; 29] = [
        ("GET", "https://example.com/", None, DENIED),
        ("GET", "http://127.0.0.1/", None, DENIED),
        ("GET", &other_port, None, DENIED),
        ("GET", metadata, None, DENIED),
        ("GET", "http://[::ffff:10.0.0.1]/", None, DENIED),
        ("GET", "http://[::ffff:a9fe:a9fe]/", None, DENIED),
        ("GET", "http://2852039166/", None, DENIED),
        ("GET", &to_metadata, None, &not_followed),
        ("CONNECT", &here, None, DENIED),
        ("TRACE", &here, None, DENIED),
        ("get", &here, None, METHOD_INVALID),
        ("GET", "http://alice@127.0.0.1/", None, URI_INVALID),
        ("GET", &other_host, None, URI_INVALID),
        ("GET", &climbing, None, URI_INVALID),
        ("GET", "http://127.0.0.1/ HTTP/1.1", None, REQUEST),
        ("GET /x HTTP/1.1\r\nX: y", &here, None, REQUEST),
        ("GET", &here, Some(("Authorization", "Bearer mine")), FORBIDDEN),
        ("GET", &here, Some(("Host", "evil.example")), FORBIDDEN),
        ("GET", &here, Some(("Transfer-Encoding", "chunked")), FORBIDDEN),
        ("GET", &here, Some(("Cookie", "a=b")), FORBIDDEN),
        ("GET", &here, Some(("X-Forwarded-For", "1.2.3.4")), FORBIDDEN),
        ("GET", &here, Some(("depth", "1\r\nAuthorization: Bearer mine")), SYNTAX),
        ("GET", &here, Some(("depth\r\nx", "1")), SYNTAX),
        // A length that the body does not have.
        ("GET", &here, Some(("Content-Length", "5")), BODY_SIZE),
        ("POST", &here, Some(("Content-Length", "5")), PROTOCOL),
        ("POST", &here, Some(("Content-Length", "500")), PROTOCOL),
        // 12 MiB of body; 20 MiB of answer; 40 requests where 16 are allowed.
        ("PUT", &here, None, BODY_SIZE),
        ("GET", &format!("{origin}/big"), None, RESPONSE_SIZE),
        ("FLOOD", &here, None, LIMIT_REACHED),
    ];
    for (method, url, header, expected) in cases {
        let error = send(&world, method, url, header, &origin, token()).await.unwrap_err();
        let detail = error.author.detail;
        println!("{expected:<16} {detail:<60} {method:?} {url} {header:?} {} µs CPU", error.stats.cpu_us);
        assert!(detail.starts_with(expected), "{method} {url} {header:?}: {detail}");
        assert!(error.stats.http_requests <= 16, "{}", error.stats.http_requests);
    }
    assert_eq!(world.settled().await, PoolStatus::default());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_settings_cannot_open_private_networks() {
    let (world, origin) = world(&[]).await;
    let by_name = origin.replace("127.0.0.1", "localhost");
    for server in [&*origin, &by_name, "http://169.254.169.254", "http://[::1]:1", "http://10.0.0.1"] {
        let error = send(&world, "GET", &format!("{server}/"), None, server, token()).await.unwrap_err();
        assert!(error.author.detail.starts_with(DENIED), "{server}: {}", error.author.detail);
    }
}

/// Credentials that are not available.
struct Revoked;

#[async_trait::async_trait]
impl Credentials for Revoked {
    async fn authorization(&self, _: &str) -> Result<Option<runtime::Secret>, CredentialsError> {
        Err(CredentialsError::Refused("revoked".to_owned()))
    }

    async fn refreshed(&self, _: &str) -> Result<Option<runtime::Secret>, CredentialsError> {
        Ok(None)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_costs_no_processor_time_and_ends() {
    let (world, origin) = world(&["127.0.0.0/8"]).await;
    let mut call = probe("GET", &format!("{origin}/slow"), None, &origin, Arc::new(NoCredentials));
    call.connector = NAME.to_owned();
    call.context.timeout_ms = Some(500);
    let started = Instant::now();
    let error = world.runtime.call(call).await.unwrap_err();
    println!("slow provider: {:?} {} µs CPU", error.author.detail, error.stats.cpu_us);
    assert!(error.author.detail.starts_with(TIMEOUT), "{error:?}");
    assert!(started.elapsed() < Duration::from_secs(2));
    assert!(error.stats.cpu_us < 100_000, "{} µs", error.stats.cpu_us);

    let url = format!("{origin}/echo");
    let error = send(&world, "GET", &url, None, &origin, Arc::new(Revoked)).await.unwrap_err();
    assert!(error.author.detail.starts_with(INTERNAL), "{}", error.author.detail);
    assert_eq!(world.settled().await, PoolStatus::default());
}

#[tokio::test]
async fn only_the_way_out_is_offered() {
    let world = World::start(tight(), &[]).await;
    let install = async |manifest: &str, wasm: &[u8]| {
        let dir = world.write("refused", manifest, "refused", wasm);
        format!("{:#}", world.runtime.install(&dir).await.unwrap_err())
    };
    let strict = compat("refused").replace("compat", "strict");
    let error = install(&strict, &encode(&guest_text("wasi_http"), "wasi-http")).await;
    assert!(error.contains("wasi:http/types@0.2.0") && error.contains("compat"), "{error}");
    for import in ["wasi:http/incoming-handler@0.2.0", "wasi:http/types@0.3.0", "wasi:http/handler@0.3.0"] {
        let text = format!(r#"(component (import "{import}" (instance (export "f" (func)))))"#);
        let error = install(&compat("refused"), &wat::parse_str(text).unwrap()).await;
        assert!(error.contains("does not offer") && error.contains(import), "{error}");
    }
}
