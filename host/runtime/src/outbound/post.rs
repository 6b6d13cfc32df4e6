//! Notifications to webhooks: POST requests of the host itself, to URLs that the API's clients choose. They go to checked addresses, over
//! HTTP/1.1, without redirects, cookies and proxies, and only a little of the response is read. The operator's networks for webhooks are
//! separate from those for providers, which clients of the API must not reach.

use std::error::Error;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::header::{
    CONNECTION, CONTENT_LENGTH, EXPECT, HOST, HeaderMap, RETRY_AFTER, TE, TRANSFER_ENCODING, UPGRADE,
};
use http::{Method, Request, Uri};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use ipnet::IpNet;
use rustls::client::Resumption;
use tokio::time::{Instant, timeout_at};
use url::Url;

use crate::http_url::{self, literal};
use crate::outbound::address::{
    ProhibitedAddress, Resolver, UnencryptedCredentials, UnresolvedName, causes, is_allowed, permitted,
};
use crate::outbound::client_cache::ClientCache;
use crate::outbound::connect::Connector;
use crate::outbound::kept::KeptConnections;
use crate::outbound::names::Names;

/// Idle connections that a client keeps per host, and for how long.
const IDLE_CONNECTIONS: usize = 4;
/// Maximum idle connections of all clients, and of one tenant: beyond these, a connection is closed after its first request.
const MOST_IDLE: usize = 2_048;
const MOST_IDLE_OF_TENANT: usize = 1_024;
const IDLE_TIME: Duration = Duration::from_secs(30);
/// Maximum length of a URL, bytes.
const MAX_URL_BYTES: usize = 2_048;
/// Maximum header lines of a response, and bytes of its head.
const MAX_HEADERS: usize = 64;
const MAX_HEAD_BYTES: usize = 32 << 10;
/// Bytes of a response body that are read so that its connection can be reused; a longer body closes the connection.
const MAX_READ_BYTES: usize = 16 << 10;
/// Time limit of reading a response body.
pub(super) const READ_TIME: Duration = Duration::from_secs(1);
/// Bytes of a response body that are kept for display.
pub(super) const SNIPPET_BYTES: usize = 1_024;

const HTTPS_ONLY: &str = "the URL must be https: http is for networks alone that the operator allows";
const NOT_PUBLIC: &str =
    "the URL's host must have a public address, or one in a network that the operator allows";

/// One notification to a webhook.
pub struct Post<'a> {
    /// The application's id. HTTP connections and TLS sessions are separate for each.
    pub tenant: &'a str,
    pub url: &'a Url,
    /// `Host` and `Content-Length` are set by the HTTP client; headers about the connection are left out.
    pub headers: HeaderMap,
    /// Stays in memory until the server has answered: the caller bounds the bytes in flight.
    pub body: Bytes,
}

/// The response of the webhook's server, whatever the status. A redirect is a response like any other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostResponse {
    pub status: u16,
    /// The header `Retry-After`, unparsed.
    pub retry_after: Option<String>,
    /// The first bytes of the body: at most 1 KiB of a webhook's answer, and 16 KiB of an answer from a URL that the operator has set.
    pub snippet: Vec<u8>,
    /// Whether `snippet` is the whole body: not longer, not cut off, and in time.
    pub is_whole: bool,
}

/// The purpose of a response body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyUse {
    /// Only its beginning is shown; the response is valid without it.
    Shown,
    /// The body is the result, and has the same deadline as the head.
    Answer,
}

/// The reason why there is no response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PostError {
    /// The host name could not be resolved.
    Dns,
    /// No TCP connection could be made.
    Connect,
    /// The TLS handshake failed, or the certificate is not trusted.
    Tls,
    /// The head of the response did not arrive before the deadline.
    Timeout,
    /// The address is not public and the operator does not allow it, or the URL is http and the operator does not allow its address.
    BlockedAddress,
    /// Requests cannot be sent to the URL, or the response is not HTTP. The text says which.
    Http(String),
}

/// Whether notifications may be sent to a URL, as far as is known before the first attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UrlCheck {
    Ok,
    /// The host name cannot be resolved now.
    Unresolved,
    /// Notifications are refused; the sentence says what the URL must be.
    Refused(String),
}

/// Parses the URL of a webhook, as far as possible without a DNS lookup: absolute, http or https, at most 2,048 bytes, without credentials
/// and fragment. The error says what the URL must be.
pub fn parse_webhook_url(text: &str) -> Result<Url, &'static str> {
    if text.len() > MAX_URL_BYTES {
        return Err("the URL is longer than 2,048 characters");
    }
    http_url::parse(text)
}

type HttpClient = legacy::Client<Connector, Full<Bytes>>;

/// One tenant's clients for its webhooks.
#[derive(Clone)]
struct WebhookClient {
    https: HttpClient,
    /// For http URLs, with separate connections, which go only to addresses that the operator allows.
    plain: HttpClient,
    kept: KeptConnections,
}

/// The HTTP clients for webhooks, one for each tenant.
pub(crate) struct PostClients {
    tls: rustls::ClientConfig,
    allowed: Arc<[IpNet]>,
    names: Arc<Names>,
    connect_timeout: Duration,
    body_use: BodyUse,
    kept: KeptConnections,
    pool: Mutex<ClientCache<String, WebhookClient>>,
}

impl PostClients {
    /// `allowed` are the operator's networks for webhooks beside public addresses.
    pub(crate) fn new(
        tls: rustls::ClientConfig,
        allowed: Arc<[IpNet]>,
        names: Arc<Names>,
        connect_timeout: Duration,
        body_use: BodyUse,
    ) -> Self {
        let kept = KeptConnections::new(MOST_IDLE, MOST_IDLE_OF_TENANT);
        PostClients { tls, allowed, names, connect_timeout, body_use, kept, pool: Mutex::default() }
    }

    /// Sends a notification. `deadline` covers DNS, the connection, TLS, the request and the response head, and also the body if that is
    /// the result.
    pub(crate) async fn post(&self, post: Post<'_>, deadline: Duration) -> Result<PostResponse, PostError> {
        let until = Instant::now() + deadline;
        let uri = self.target(post.url)?;
        let client = self.client(post.tenant);
        let _under_way = client.kept.request();
        let http = if is_plain(post.url) { client.plain } else { client.https };
        let mut request = Request::new(Full::new(post.body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = uri;
        *request.headers_mut() = post.headers;
        // The HTTP client sets these itself, or they would change how the connection is used.
        for name in [HOST, CONTENT_LENGTH, TRANSFER_ENCODING, CONNECTION, TE, UPGRADE, EXPECT] {
            request.headers_mut().remove(name);
        }
        let answered = timeout_at(until, http.request(request)).await;
        let mut response = answered.map_err(|_| PostError::Timeout)?.map_err(|error| explain(&error))?;
        let retry_after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let (status, retry_after) = (response.status().as_u16(), retry_after.map(str::to_owned));
        let mut snippet = Vec::new();
        let (kept_bytes, until) = match self.body_use {
            BodyUse::Shown => (SNIPPET_BYTES, Instant::now() + READ_TIME),
            BodyUse::Answer => (MAX_READ_BYTES, until),
        };
        // A body that is late or cut off costs only the connection, which is then closed.
        let reading = read(response.body_mut(), &mut snippet, kept_bytes);
        let is_whole = timeout_at(until, reading).await.unwrap_or(false);
        Ok(PostResponse { status, retry_after, snippet, is_whole })
    }

    /// Whether notifications may be sent to this URL. Every attempt checks again when it connects.
    pub(crate) async fn check_url(&self, tenant: &str, url: &Url) -> UrlCheck {
        let refused = |why: &str| UrlCheck::Refused(why.to_owned());
        if let Err(why) = parse_webhook_url(url.as_str()) {
            return refused(why);
        }
        // No lookup if no address would be allowed.
        if is_plain(url) && self.allowed.is_empty() {
            return refused(HTTPS_ONLY);
        }
        let addresses = match (literal(url), url.host_str()) {
            (Some(address), _) => vec![address],
            (None, Some(name)) => match self.names.resolve(&lookups_of(tenant), name).await {
                Ok(found) => found,
                Err(_) => return UrlCheck::Unresolved,
            },
            (None, None) => return refused("the URL must name a host"),
        };
        if !addresses.iter().any(|address| permitted(*address, &self.allowed)) {
            return refused(NOT_PUBLIC);
        }
        if is_plain(url) && !addresses.iter().all(|address| is_allowed(*address, &self.allowed)) {
            return refused(HTTPS_ONLY);
        }
        UrlCheck::Ok
    }

    /// Returns the URI of a request to this URL, if it is allowed. The resolver checks names only, so a host that is an IP address is
    /// checked here, each time.
    fn target(&self, url: &Url) -> Result<Uri, PostError> {
        parse_webhook_url(url.as_str()).map_err(|why| PostError::Http(why.to_owned()))?;
        if let Some(address) = literal(url) {
            let is_good = match is_plain(url) {
                true => is_allowed(address, &self.allowed),
                false => permitted(address, &self.allowed),
            };
            if !is_good {
                return Err(PostError::BlockedAddress);
            }
        }
        let wrong = |_| PostError::Http("the URL has characters that are not for URLs".to_owned());
        Uri::try_from(url.as_str()).map_err(wrong)
    }

    /// The client of this tenant.
    fn client(&self, tenant: &str) -> WebhookClient {
        let mut pool = self.pool.lock().expect("no panic while choosing a client");
        pool.get_or_build(tenant.to_owned(), || self.build(tenant))
    }

    fn build(&self, tenant: &str) -> WebhookClient {
        let mut tls = self.tls.clone();
        // The roots are shared, the TLS sessions are not.
        tls.resumption = Resumption::in_memory_sessions(32);
        let resolver = Resolver {
            names: self.names.clone(),
            tenant: lookups_of(tenant).into(),
            allowed: self.allowed.clone(),
            is_plain: false,
        };
        let plain = Resolver { is_plain: true, ..resolver.clone() };
        let kept = self.kept.of_another();
        let http = |resolver| {
            legacy::Client::builder(TokioExecutor::new())
                .pool_timer(TokioTimer::new())
                .pool_idle_timeout(IDLE_TIME)
                .pool_max_idle_per_host(IDLE_CONNECTIONS)
                .timer(TokioTimer::new())
                .http1_max_headers(MAX_HEADERS)
                .http1_max_buf_size(MAX_HEAD_BYTES)
                .build(Connector::bounded(tls.clone(), resolver, self.connect_timeout, kept.clone()))
        };
        WebhookClient { https: http(resolver), plain: http(plain), kept }
    }
}

/// Returns the tenant name for lookups of a tenant's webhook hosts: slow ones must not use up the lookups of the tenant's connections.
fn lookups_of(tenant: &str) -> String {
    format!("webhooks {tenant}")
}

/// Whether requests to this URL use no TLS.
fn is_plain(url: &Url) -> bool {
    url.scheme() == "http"
}

/// Reads the body to its end or to the limit, and keeps its first `most` bytes. Returns whether these are the whole body.
pub(super) async fn read(body: &mut Incoming, snippet: &mut Vec<u8>, most: usize) -> bool {
    let mut count = 0;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return false };
        // Trailers are ignored.
        let Some(piece) = frame.data_ref() else { continue };
        count += piece.len();
        let room = most.saturating_sub(snippet.len());
        snippet.extend(piece.iter().take(room));
        if count > MAX_READ_BYTES {
            return false;
        }
    }
    count <= most
}

/// Returns the reason why a request had no response.
pub(super) fn explain(error: &legacy::Error) -> PostError {
    let is_late = |cause: &io::Error| cause.kind() == io::ErrorKind::TimedOut;
    if causes(error).any(|cause| cause.is::<ProhibitedAddress>() || cause.is::<UnencryptedCredentials>()) {
        PostError::BlockedAddress
    } else if causes(error).any(|cause| cause.is::<UnresolvedName>()) {
        PostError::Dns
    } else if causes(error).any(|cause| cause.downcast_ref().is_some_and(is_late)) {
        PostError::Timeout
    } else if !error.is_connect() {
        PostError::Http("the server's answer could not be read".to_owned())
    } else if causes(error).any(is_tls) {
        PostError::Tls
    } else {
        PostError::Connect
    }
}

/// Whether this is an error of the TLS handshake: an I/O error that wraps another one, which no failed TCP connection has. `source` skips
/// the inner one.
fn is_tls(cause: &(dyn Error + 'static)) -> bool {
    let inner = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    inner.is_some_and(|inner| inner.is::<io::Error>() || inner.is::<rustls::Error>())
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use axum::http::{StatusCode, header};
    use axum::response::IntoResponse;
    use axum::routing::any;
    use futures::StreamExt;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;
    use crate::limits::Limits;
    use crate::outbound::client_cache::MAX_CLIENTS;
    use crate::outbound::{Egress, HttpSettings, Lookup, Rules};

    const DEADLINE: Duration = Duration::from_secs(10);

    /// Names of these tests, and none else.
    struct TestNames;

    impl Lookup for TestNames {
        fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>> {
            match host {
                "localhost" | "rebound.test" => Ok(vec![[127, 0, 0, 1].into()]),
                "metadata.test" => Ok(vec![[169, 254, 169, 254].into()]),
                "mixed.test" => Ok(vec![[10, 0, 0, 1].into(), [127, 0, 0, 1].into()]),
                // No server has this address: a request that goes out ends in a timeout.
                "public.test" => Ok(vec![[192, 88, 98, 1].into()]),
                _ => Err(io::Error::from(io::ErrorKind::NotFound)),
            }
        }
    }

    /// The clients of a host whose operator allows these networks to webhooks, and everything to providers.
    fn clients(webhook_allowed: &[&str]) -> PostClients {
        let networks = |of: &[&str]| -> Vec<IpNet> { of.iter().map(|net| net.parse().unwrap()).collect() };
        let rules = Rules {
            allowed: networks(&["0.0.0.0/0", "::/0"]),
            webhook_allowed: networks(webhook_allowed),
            approved: Vec::new(),
            own: None,
            lookup: Arc::new(TestNames),
            transport: None,
        };
        let settings = HttpSettings { connect_timeout_ms: 2_000, ..HttpSettings::default() };
        Egress::new(settings, rules, &Limits::default()).unwrap().webhooks
    }

    async fn post(clients: &PostClients, url: &str, deadline: Duration) -> Result<PostResponse, PostError> {
        let url = Url::parse(url).unwrap();
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, "application/json".parse().unwrap());
        headers.insert(header::HOST, "another.example".parse().unwrap());
        headers.insert(header::TRANSFER_ENCODING, "chunked".parse().unwrap());
        let body = Bytes::from_static(b"{\"id\":\"ev_1\"}");
        clients.post(Post { tenant: "app_1", url: &url, headers, body }, deadline).await
    }

    async fn check(clients: &PostClients, url: &str) -> UrlCheck {
        clients.check_url("app_1", &Url::parse(url).unwrap()).await
    }

    /// A server on loopback. Returns its port, and how many requests it got.
    async fn server(redirect_to: String) -> (u16, Arc<AtomicUsize>) {
        let seen = Arc::new(AtomicUsize::new(0));
        let counted = seen.clone();
        let echo = async |headers: HeaderMap, body: Bytes| {
            let header = |name: header::HeaderName| headers[name].to_str().unwrap().to_owned();
            let (host, length) = (header(header::HOST), header(header::CONTENT_LENGTH));
            let is_chunked = headers.contains_key(header::TRANSFER_ENCODING);
            format!("{host} {length} {is_chunked} {}", String::from_utf8_lossy(&body))
        };
        let drip = async || {
            let first = futures::stream::once(async { Ok::<_, io::Error>(Bytes::from_static(b"drip")) });
            axum::body::Body::from_stream(first.chain(futures::stream::pending()))
        };
        let redirect = move || async move { (StatusCode::FOUND, [(header::LOCATION, redirect_to)]) };
        let busy = async || (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, "120")]).into_response();
        let count = move |request: axum::extract::Request, next: axum::middleware::Next| {
            counted.fetch_add(1, Ordering::Relaxed);
            next.run(request)
        };
        let app = axum::Router::new()
            .route("/echo", any(echo))
            .route("/drip", any(drip))
            .route("/redirect", any(redirect))
            .route("/busy", any(busy))
            .route("/slow", any(async || tokio::time::sleep(Duration::from_secs(60)).await))
            .layer(axum::middleware::from_fn(count));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        (port, seen)
    }

    #[tokio::test]
    async fn each_spelling_of_a_private_address_is_refused() {
        let (port, seen) = server(String::new()).await;
        let closed = clients(&[]);
        let hosts = [
            "127.0.0.1",
            "127.1",
            "2130706433",
            "0x7f000001",
            "0x7f.1",
            "017700000001",
            "127.000.000.001",
            "0.0.0.0",
            "[::1]",
            "[::]",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "[64:ff9b::7f00:1]",
            "[2002:7f00:1::]",
            "[fd00:ec2::254]",
            "localhost",
            "LOCALHOST",
            "rebound.test",
            "metadata.test",
            "mixed.test",
            "169.254.169.254",
            "10.0.0.1",
        ];
        for host in hosts {
            for scheme in ["http", "https"] {
                let url = format!("{scheme}://{host}:{port}/echo");
                assert!(matches!(check(&closed, &url).await, UrlCheck::Refused(_)), "{url}");
                let refused = post(&closed, &url, DEADLINE).await.unwrap_err();
                assert_eq!(refused, PostError::BlockedAddress, "{url}");
            }
        }
        assert_eq!(seen.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn http_goes_to_networks_alone_that_the_operator_allows() {
        let (port, seen) = server(String::new()).await;
        let open = clients(&["127.0.0.0/8"]);
        for host in ["127.0.0.1", "localhost"] {
            let url = format!("http://{host}:{port}/echo");
            assert_eq!(check(&open, &url).await, UrlCheck::Ok);
            let posted = post(&open, &url, DEADLINE).await.unwrap();
            let echoed = format!("{host}:{port} 13 false {{\"id\":\"ev_1\"}}");
            assert_eq!((posted.status, posted.snippet, posted.is_whole), (200, echoed.into_bytes(), true));
        }
        // Of several addresses, only allowed ones get requests.
        assert_eq!(
            post(&open, &format!("http://mixed.test:{port}/echo"), DEADLINE).await.unwrap().status,
            200
        );
        assert_eq!(seen.load(Ordering::Relaxed), 3);
        for url in ["http://public.test/", "http://1.1.1.1/", "http://10.0.0.1/"] {
            assert!(matches!(check(&open, url).await, UrlCheck::Refused(_)), "{url}");
            assert_eq!(post(&open, url, DEADLINE).await.unwrap_err(), PostError::BlockedAddress, "{url}");
        }
        for url in ["https://public.test/hook?a=b", "https://1.1.1.1/"] {
            assert_eq!(check(&open, url).await, UrlCheck::Ok, "{url}");
        }
        assert_eq!(check(&open, "https://unknown.test/").await, UrlCheck::Unresolved);
        assert!(matches!(check(&clients(&[]), "http://unknown.test/").await, UrlCheck::Refused(_)));
    }

    #[tokio::test]
    async fn urls_that_parsers_read_differently_are_refused() {
        let open = clients(&["127.0.0.0/8"]);
        let long = format!("https://example.com/{}", "x".repeat(2_048));
        for text in [
            "https://user@example.com/",
            "https://user:secret@example.com/",
            "https://@example.com/",
            "https://example.com/#x",
            "https://example.com./",
            "https://example.com\\@localhost/",
            "ftp://example.com/",
            "//example.com/",
            "file:///etc/passwd",
            "",
            &long,
        ] {
            assert!(parse_webhook_url(text).is_err(), "{text}");
        }
        for url in ["https://user@localhost/", "http://localhost/#x", "ftp://localhost/"] {
            assert!(matches!(check(&open, url).await, UrlCheck::Refused(_)), "{url}");
            assert!(matches!(post(&open, url, DEADLINE).await, Err(PostError::Http(_))), "{url}");
        }
    }

    #[tokio::test]
    async fn a_redirect_is_an_answer_and_is_not_followed() {
        let (evil, asked) = server(String::new()).await;
        let (port, seen) = server(format!("http://127.0.0.1:{evil}/echo")).await;
        let open = clients(&["127.0.0.0/8"]);
        let posted = post(&open, &format!("http://127.0.0.1:{port}/redirect"), DEADLINE).await.unwrap();
        assert_eq!(posted.status, 302);
        let posted = post(&open, &format!("http://127.0.0.1:{port}/busy"), DEADLINE).await.unwrap();
        assert_eq!((posted.status, posted.retry_after.as_deref()), (503, Some("120")));
        assert_eq!((seen.load(Ordering::Relaxed), asked.load(Ordering::Relaxed)), (2, 0));
    }

    /// Answers one request with a body that does not end. Returns its port, and how many bytes were taken until the connection
    /// was closed.
    async fn endless() -> (u16, tokio::task::JoinHandle<usize>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let sending = tokio::spawn(async move {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut request = [0; 4_096];
            assert!(socket.read(&mut request).await.unwrap() > 0);
            socket.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
            let mut sent = 0;
            while let Ok(count) = socket.write(&[b'x'; 65_536]).await {
                sent += count;
            }
            sent
        });
        (port, sending)
    }

    #[tokio::test]
    async fn little_is_read_of_an_answer() {
        let open = clients(&["127.0.0.0/8"]);
        let (port, sending) = endless().await;
        let posted = post(&open, &format!("http://127.0.0.1:{port}/"), DEADLINE).await.unwrap();
        assert_eq!((posted.status, posted.is_whole), (200, false));
        assert_eq!(posted.snippet, vec![b'x'; SNIPPET_BYTES]);
        // No more than the system buffers for a socket.
        let sent = tokio::time::timeout(DEADLINE, sending).await.expect("the connection is closed").unwrap();
        assert!(sent < 64 << 20, "{sent}");
        // A body that never ends costs a second, and the answer is valid.
        let (port, _) = server(String::new()).await;
        let posted = post(&open, &format!("http://127.0.0.1:{port}/drip"), DEADLINE).await.unwrap();
        assert_eq!((posted.status, &*posted.snippet), (200, &b"drip"[..]));
        // Where the body is the answer, it has the deadline of its head.
        let mut read = clients(&["127.0.0.0/8"]);
        read.body_use = BodyUse::Answer;
        let url = format!("http://127.0.0.1:{port}/drip");
        let late = post(&read, &url, Duration::from_millis(1_500)).await.unwrap();
        assert_eq!((late.status, &*late.snippet, late.is_whole), (200, &b"drip"[..], false));
    }

    #[tokio::test]
    async fn an_error_says_where_the_attempt_ended() {
        let open = clients(&["127.0.0.0/8"]);
        let (port, _) = server(String::new()).await;
        let hurried = Duration::from_millis(300);
        let slow = post(&open, &format!("http://127.0.0.1:{port}/slow"), hurried).await;
        assert_eq!(slow.unwrap_err(), PostError::Timeout);
        // It speaks no TLS.
        let plain = post(&open, &format!("https://127.0.0.1:{port}/echo"), DEADLINE).await;
        assert_eq!(plain.unwrap_err(), PostError::Tls);
        assert_eq!(post(&open, "https://unknown.test/", DEADLINE).await.unwrap_err(), PostError::Dns);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        // It accepts, and sends nothing.
        let silent = post(&open, &format!("https://127.0.0.1:{port}/"), hurried).await;
        assert_eq!(silent.unwrap_err(), PostError::Timeout);
        drop(listener);
        let gone = post(&open, &format!("http://127.0.0.1:{port}/"), DEADLINE).await;
        assert_eq!(gone.unwrap_err(), PostError::Connect);
    }

    /// A server that answers 204 and keeps its connections. Returns its URL, and the count of its connections.
    async fn keeping() -> (String, Arc<AtomicUsize>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://127.0.0.1:{}/", listener.local_addr().unwrap().port());
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(async move {
                    let mut request = [0; 4_096];
                    while socket.read(&mut request).await.is_ok_and(|count| count > 0) {
                        if request.starts_with(b"POST") {
                            socket.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
                        }
                    }
                });
            }
        });
        (url, count)
    }

    #[tokio::test]
    async fn idle_connections_are_bounded_in_all() {
        let mut open = clients(&["127.0.0.0/8"]);
        open.kept = KeptConnections::new(1, 1);
        let ((first, of_first), (second, of_second)) = (keeping().await, keeping().await);
        for _ in 0..3 {
            for url in [&first, &second] {
                assert_eq!(post(&open, url, DEADLINE).await.unwrap().status, 204);
            }
        }
        let connections = [&of_first, &of_second].map(|count| count.load(Ordering::Relaxed));
        assert_eq!(connections, [1, 3], "the first one's is kept, and the second one has another each time");
    }

    #[tokio::test]
    async fn the_number_of_clients_is_bounded() {
        let closed = clients(&[]);
        for n in 0..MAX_CLIENTS + 10 {
            closed.client(&format!("app_{n}"));
        }
        let pool = closed.pool.lock().unwrap();
        assert_eq!(pool.clients.len(), MAX_CLIENTS);
        assert!(!pool.clients.contains_key("app_0") && pool.clients.contains_key("app_521"));
    }
}
