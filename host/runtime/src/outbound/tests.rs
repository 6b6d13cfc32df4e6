//! The exchange with a real server on loopback: caps, compression, blobs, concurrency, and streams that are refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, header};
use axum::response::IntoResponse;
use axum::routing::any;

use crate::bindings::http::{Req, Segment};
use crate::blobs::Blobs;
use crate::limits::Limits;
use crate::manifest::{AccountLimits, Manifest, RateLimit, WaitScope};
use crate::outbound::pace::PaceClock;
use crate::outbound::{
    CallEgress, Credentials, CredentialsError, Egress, HttpSettings, Login, Meter, PaceRules, Policy, Rules,
    Secret,
};

struct Token;

#[async_trait::async_trait]
impl Credentials for Token {
    async fn authorization(&self, _: &str) -> Result<Option<Secret>, CredentialsError> {
        Ok(Some(Secret::new("Bearer token-0123456789")))
    }

    async fn refreshed(&self, _: &str) -> Result<Option<Secret>, CredentialsError> {
        Ok(None)
    }
}

/// Credentials that are not available.
struct Failing(CredentialsError);

#[async_trait::async_trait]
impl Credentials for Failing {
    async fn authorization(&self, _: &str) -> Result<Option<Secret>, CredentialsError> {
        Err(self.0.clone())
    }

    async fn refreshed(&self, _: &str) -> Result<Option<Secret>, CredentialsError> {
        Err(self.0.clone())
    }

    async fn login(&self) -> Result<Option<Login>, CredentialsError> {
        Err(self.0.clone())
    }
}

/// Other credentials each time.
#[derive(Default)]
struct Changing(AtomicUsize);

#[async_trait::async_trait]
impl Credentials for Changing {
    async fn authorization(&self, _: &str) -> Result<Option<Secret>, CredentialsError> {
        let number = self.0.fetch_add(1, Ordering::Relaxed);
        Ok(Some(Secret::new(format!("Bearer token-{number}-0123456789"))))
    }

    async fn refreshed(&self, _: &str) -> Result<Option<Secret>, CredentialsError> {
        Ok(None)
    }
}

/// 10 MiB of zeros in some 66 KiB of gzip.
fn gzip_bomb() -> Vec<u8> {
    // RFC 1951 written bit by bit, fixed codes: the literal 0, then references to it of 258 bytes each.
    let mut bits: Vec<bool> = Vec::new();
    let mut push = |value: u32, count: u32, high_first: bool| {
        for n in 0..count {
            let bit = if high_first { count - 1 - n } else { n };
            bits.push(value >> bit & 1 == 1);
        }
    };
    push(1, 1, false);
    push(1, 2, false);
    push(0x30, 8, true);
    for _ in 0..(10 << 20) / 258 {
        push(0xc5, 8, true);
        push(0, 5, true);
    }
    push(0, 7, true);
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    out.extend(
        bits.chunks(8).map(|byte| byte.iter().enumerate().fold(0, |b, (n, bit)| b | u8::from(*bit) << n)),
    );
    // Checksum and length: wrong, but no reader gets that far.
    out.extend([0; 8]);
    out
}

pub(super) async fn server() -> String {
    let app = axum::Router::new()
        .route("/bomb", any(async || ([(header::CONTENT_ENCODING, "gzip")], gzip_bomb())))
        .route("/wait", any(async || tokio::time::sleep(Duration::from_millis(200)).await))
        .route("/json", any(async || r#"{"data":"aGVsbG8gd29ybGQ"}"#))
        .route("/echo", any(async |body: axum::body::Bytes| body))
        .route("/host", any(async |headers: HeaderMap| headers[header::HOST].to_str().unwrap().to_owned()))
        .route(
            "/token",
            any(async |headers: HeaderMap| {
                let token = headers[header::AUTHORIZATION].to_str().unwrap().to_owned();
                // In many small pieces, so that the token is cut.
                let pieces = format!("{}{token} end", "x".repeat(100_000)).into_bytes();
                let pieces: Vec<_> = pieces.chunks(7).map(|p| Ok::<_, std::io::Error>(p.to_vec())).collect();
                axum::body::Body::from_stream(futures::stream::iter(pieces)).into_response()
            }),
        );
    let app = app.layer(axum::extract::DefaultBodyLimit::disable());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    origin
}

async fn egress(limits: Limits) -> (Arc<CallEgress>, String) {
    let origin = server().await;
    (egress_to(&origin, limits, HttpSettings::default()), origin)
}

pub(super) fn egress_to(origin: &str, limits: Limits, settings_of_http: HttpSettings) -> Arc<CallEgress> {
    let manifest = Manifest::parse(
        r#"
        name = "x"
        version = "1.0.0"
        title = "X"
        surfaces = ["calendar"]
        hosts_from_settings = ["serverUrl"]
        settings = [{ name = "serverUrl", description = "." }]
        "#,
    );
    let settings = serde_json::json!({ "serverUrl": origin });
    let policy = Policy::new(Arc::new(manifest.unwrap()), settings.as_object().unwrap(), &[]);
    let allow = vec!["127.0.0.0/8".parse().unwrap()];
    let egress = CallEgress {
        shared: Arc::new(Egress::new(settings_of_http, Rules::of_tests(allow), &limits).unwrap()),
        policy,
        pacing: PaceRules::unlimited(Arc::new(|| 0)),
        credentials: Arc::new(Token),
        tenant: "t".to_owned(),
        connection: "c".to_owned(),
        connector: "x".into(),
        blobs: Blobs::new(limits.blob_bytes),
        deadline: Instant::now() + Duration::from_secs(20),
        meter: Meter::default(),
        redactor: Default::default(),
        turns: tokio::sync::Semaphore::new(limits.http_concurrent),
    };
    Arc::new(egress)
}

pub(super) fn request(url: String, body: Vec<Segment>) -> Req {
    Req {
        method: "POST".into(),
        url,
        headers: vec![],
        body,
        auth: None,
        timeout_ms: None,
        max_bytes: None,
        extra: vec![],
    }
}

#[tokio::test]
async fn decompressed_bytes_are_what_counts() {
    let (egress, origin) = egress(Limits { http_response_bytes: 1 << 20, ..Limits::default() }).await;
    let answer = egress.clone().send(request(format!("{origin}/bomb"), vec![])).await.unwrap();
    assert_eq!((answer.body.len(), answer.truncated), (1 << 20, true));
    let error =
        egress.send_to_blob(request(format!("{origin}/bomb"), vec![]), "raw", 1 << 20).await.unwrap_err();
    assert_eq!(error.code, "too-large");
}

#[tokio::test]
async fn many_requests_go_at_once_and_one_failure_is_one() {
    let (egress, origin) = egress(Limits { http_requests: 12, ..Limits::default() }).await;
    let mut requests: Vec<_> = (0..8).map(|_| request(format!("{origin}/wait"), vec![])).collect();
    requests.insert(3, request("https://example.com/".to_owned(), vec![]));
    let started = Instant::now();
    let answers = egress.clone().send_many(requests, 8).await;
    assert!(started.elapsed() < Duration::from_millis(1_000), "{:?}", started.elapsed());
    let failed: Vec<_> = answers.iter().map(|a| a.as_ref().err().map(|e| &*e.code)).collect();
    assert_eq!(failed, [None, None, None, Some("denied"), None, None, None, None, None]);
    let answers = egress
        .clone()
        .send_many((0..4).map(|_| request(format!("{origin}/json"), vec![])).collect(), 1)
        .await;
    assert_eq!(answers[3].as_ref().unwrap_err().code, "too-many-requests");
    assert_eq!(egress.meter.requests(), 11);
}

#[tokio::test]
async fn blobs_go_out_and_come_in() {
    let (egress, origin) = egress(Limits::default()).await;
    let content: Vec<u8> = (0..3_000_000_u32).map(|n| (n % 253) as u8).collect();
    let id = egress.blobs.create(&content, None).unwrap();
    let body = vec![Segment::Bytes(b"<".into()), Segment::Blob(id), Segment::Bytes(b">".into())];
    let info = egress
        .clone()
        .send_to_blob(request(format!("{origin}/echo"), body), "raw", 4 << 20)
        .await
        .unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!((info.status, info.size), (200, Some(3_000_002)));
    let back = egress.blobs.get(&info.id).unwrap();
    assert_eq!(back.read(1, 3_000_000).unwrap(), content);

    let info = egress
        .clone()
        .send_to_blob(request(format!("{origin}/json"), vec![]), "json-base64:/data", 100)
        .await
        .unwrap();
    assert_eq!(egress.blobs.get(&info.id).unwrap().read(0, 100).unwrap(), "hello world");
}

#[tokio::test]
async fn a_token_in_pieces_is_found() {
    let (egress, origin) = egress(Limits::default()).await;
    let info = egress
        .clone()
        .send_to_blob(request(format!("{origin}/token"), vec![]), "raw", 1 << 20)
        .await
        .unwrap();
    let seen = egress.blobs.get(&info.id).unwrap().read(100_000, 100).unwrap();
    assert_eq!(seen, "Bearer **************** end");
    // Cut in the middle of the token.
    let cut = Req { max_bytes: Some(100_012), ..request(format!("{origin}/token"), vec![]) };
    let answer = egress.send(cut).await.unwrap();
    assert_eq!(answer.body[100_000..], *b"Bearer *****");
}

#[tokio::test]
async fn unavailable_credentials_are_not_auth_expired() {
    let origin = server().await;
    let with = |credentials: Arc<dyn Credentials>| {
        let mut egress = egress_to(&origin, Limits::default(), HttpSettings::default());
        Arc::get_mut(&mut egress).unwrap().credentials = credentials;
        egress
    };
    let json = || request(format!("{origin}/json"), vec![]);
    let message = "the provider's token endpoint does not answer";
    let later = CredentialsError::Unavailable { message: message.to_owned(), retry_after_ms: Some(7_000) };
    let gone = CredentialsError::Refused("invalid_grant".to_owned());
    for (error, code, wait) in [(gone, "auth-expired", None), (later, "unavailable", Some(7_000))] {
        let egress = with(Arc::new(Failing(error)));
        let failed = egress.clone().send(json()).await.unwrap_err();
        assert_eq!((&*failed.code, failed.retry_after_ms), (code, wait));
        assert_eq!(failed.message == message, wait.is_some());
        assert_eq!(egress.login().await.err().unwrap().code, code);
        assert_eq!(egress.meter.requests(), 0);
    }
    let egress = with(Arc::new(Changing::default()));
    for _ in 0..16 {
        egress.clone().send(json()).await.unwrap();
    }
    assert_eq!(egress.clone().send(json()).await.unwrap_err().code, "unavailable");
}

/// A server that speaks HTTP/2 over TLS, refuses the first streams unread (RFC 9113 section 8.7) and echoes the bodies of all
/// others. Returns its origin, its certificate (PEM), and how many streams it saw.
async fn refusing(first: usize) -> (String, String, Arc<AtomicUsize>) {
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = certificate.self_signed(&key).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut tls = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key.serialize_der().try_into().unwrap())
        .unwrap();
    tls.alpn_protocols = vec![b"h2".to_vec()];
    let tls = tokio_rustls::TlsAcceptor::from(Arc::new(tls));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    let streams = Arc::new(AtomicUsize::new(0));
    let seen = streams.clone();
    tokio::spawn(async move {
        let socket = tls.accept(listener.accept().await.unwrap().0).await.unwrap();
        let mut connection = h2::server::handshake(socket).await.unwrap();
        while let Some(Ok((mut request, mut respond))) = connection.accept().await {
            if seen.fetch_add(1, Ordering::Relaxed) < first {
                respond.send_reset(h2::Reason::REFUSED_STREAM);
                continue;
            }
            tokio::spawn(async move {
                let body = request.body_mut().data().await.unwrap().unwrap();
                let mut answer = respond.send_response(http::Response::new(()), false).unwrap();
                answer.send_data(body, true).unwrap();
            });
        }
    });
    (origin, certificate.pem(), streams)
}

#[tokio::test]
async fn what_a_provider_has_not_begun_is_sent_again() {
    for (refused, is_answered, sent) in [(0, true, 1), (2, true, 3), (9, false, 3)] {
        let (origin, authority, streams) = refusing(refused).await;
        let trusting = HttpSettings { extra_roots_pem: vec![authority], ..HttpSettings::default() };
        let egress = egress_to(&origin, Limits::default(), trusting);
        let body = vec![Segment::Bytes(b"once".into())];
        match egress.send(request(format!("{origin}/"), body)).await {
            Ok(answer) => assert_eq!((is_answered, &*answer.body), (true, &b"once"[..])),
            Err(error) => assert_eq!((is_answered, &*error.code), (false, "unavailable")),
        }
        assert_eq!(streams.load(Ordering::Relaxed), sent, "{refused} refused");
    }
}

#[tokio::test]
async fn too_much_extra_is_an_invalid_request() {
    let (egress, origin) = egress(Limits::default()).await;
    let with_extra = |count: usize| {
        let extra = vec![("name".to_owned(), "value".to_owned()); count];
        egress.clone().send(Req { extra, ..request(format!("{origin}/json"), vec![]) })
    };
    assert_eq!(with_extra(32).await.unwrap().status, 200, "names that the host does not know are ignored");
    assert_eq!(with_extra(33).await.unwrap_err().code, "invalid");
}

/// Tokens that are renewed on request, each counted.
#[derive(Default)]
struct Renewable {
    renewals: AtomicUsize,
    cannot_renew: bool,
}

#[async_trait::async_trait]
impl Credentials for Arc<Renewable> {
    async fn authorization(&self, _: &str) -> Result<Option<Secret>, CredentialsError> {
        let number = self.renewals.load(Ordering::Relaxed);
        Ok(Some(Secret::new(format!("Bearer token-{number}-0123456789"))))
    }

    async fn refreshed(&self, slot: &str) -> Result<Option<Secret>, CredentialsError> {
        if self.cannot_renew {
            return Ok(None);
        }
        self.renewals.fetch_add(1, Ordering::Relaxed);
        self.authorization(slot).await
    }
}

/// Answers 401 to all tokens but the one with this number.
async fn server_of_token(number: usize) -> String {
    let good = format!("Bearer token-{number}-0123456789");
    let answer = move |headers: HeaderMap| {
        let is_good =
            headers.get(header::AUTHORIZATION).is_some_and(|token| token.as_bytes() == good.as_bytes());
        let status = if is_good { axum::http::StatusCode::OK } else { axum::http::StatusCode::UNAUTHORIZED };
        std::future::ready(status)
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let app = axum::Router::new().fallback(answer);
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    origin
}

#[tokio::test]
async fn a_token_is_renewed_on_request_once_a_call() {
    for (good, cannot_renew, statuses, renewals) in [
        // Renewed before the request, so only one is sent; a second renewal request has no effect, and its 401 is handled like
        // any other.
        (1, false, [200, 200], 1),
        // The 401 of a renewed token is the connector's; without a second renewal on request.
        (2, false, [401, 200], 2),
        // Nothing can be renewed: the request is sent as it is.
        (0, true, [200, 200], 0),
        (1, true, [401, 401], 0),
    ] {
        let origin = server_of_token(good).await;
        let tokens = Arc::new(Renewable { cannot_renew, ..Renewable::default() });
        let mut egress = egress_to(&origin, Limits::default(), HttpSettings::default());
        Arc::get_mut(&mut egress).unwrap().credentials = Arc::new(tokens.clone());
        let renewed = || {
            let extra = vec![("credentials".to_owned(), "renewed".to_owned())];
            Req { extra, ..request(format!("{origin}/"), vec![]) }
        };
        let first = egress.clone().send(renewed()).await.unwrap().status;
        assert_eq!(tokens.renewals.load(Ordering::Relaxed), usize::from(!cannot_renew), "before it was sent");
        assert_eq!(egress.meter.requests(), 1);
        let second = egress.clone().send(renewed()).await.unwrap().status;
        assert_eq!([first, second], statuses, "{good}");
        assert_eq!(tokens.renewals.load(Ordering::Relaxed), renewals, "{good}");
    }
}

#[tokio::test]
async fn a_request_beyond_the_limits_is_not_sent() {
    let (mut egress, origin) = egress(Limits::default()).await;
    let rate = RateLimit {
        name: "mail".to_owned(),
        hosts: vec![],
        surfaces: vec![],
        wait_scope: WaitScope::Bucket,
        units: 10,
        per_s: 60,
        reserve: 0,
    };
    let limits = AccountLimits { concurrent: None, rates: vec![rate] };
    let now: PaceClock = Arc::new(|| 1_700_000_000_000);
    Arc::get_mut(&mut egress).unwrap().pacing =
        PaceRules { limits: Arc::new(limits), is_background: false, now };
    let of = |units: &str| {
        let extra = vec![("units".to_owned(), units.to_owned())];
        let url = format!("{origin}/json");
        egress.clone().send(Req { extra, timeout_ms: Some(5_000), ..request(url, vec![]) })
    };
    assert_eq!(of("9").await.unwrap().status, 200);
    let held = of("2").await.unwrap_err();
    assert_eq!((&*held.code, held.retry_after_ms), ("unavailable", Some(61_000)));
    assert_eq!(egress.meter.requests(), 1, "nothing was sent");
    let buckets = egress.meter.buckets(0).unwrap();
    assert_eq!((buckets.only.as_str(), buckets.held_ms), ("mail", Some(61_000)));
    assert_eq!(of("1").await.unwrap().status, 200);
    assert_eq!(of("none").await.unwrap_err().code, "invalid");
}

#[tokio::test]
async fn requests_of_an_account_are_under_way_until_their_answers_are_read() {
    let (mut egress, origin) = egress(Limits::default()).await;
    let limits = AccountLimits { concurrent: Some(1), rates: vec![] };
    let now: PaceClock = Arc::new(|| 1_700_000_000_000);
    Arc::get_mut(&mut egress).unwrap().pacing =
        PaceRules { limits: Arc::new(limits), is_background: true, now };
    let requests = (0..5).map(|_| request(format!("{origin}/wait"), vec![])).collect();
    let started = Instant::now();
    let answers = egress.clone().send_many(requests, 5).await;
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    assert!(
        started.elapsed() >= Duration::from_millis(1_000),
        "one after the other: {:?}",
        started.elapsed()
    );
}
