//! Requests of the host itself, to a provider's authorization server: under the same rules as those of connectors (checked
//! addresses, TLS, no redirect, no cookie, no proxy), but for no call and with the host's own secrets in them.

use std::error::Error;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_LENGTH, HeaderMap, HeaderValue};
use http::{Method, Request, StatusCode, Uri};
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper_util::client::legacy;
use url::Url;

use crate::http_url;
use crate::outbound::Egress;
use crate::outbound::address::{ProhibitedAddress, UnencryptedCredentials, causes};
use crate::outbound::attempt::REPEATS;
use crate::outbound::body::ClientBody;
use crate::outbound::client::DecompressedResponse;
use crate::outbound::failures::is_unprocessed;
use crate::outbound::policy;

/// A request of the host itself. It is treated as secret as a whole: over plain http it goes to networks alone that the operator
/// allows, and to the provider that this process serves.
pub struct DirectRequest {
    /// HTTP connections and TLS sessions are separate for each tenant.
    pub tenant: String,
    /// The connector's name: it shares HTTP connections with the connector's own requests, and may reach its own provider.
    pub connector: String,
    pub method: Method,
    /// An absolute http or https URL.
    pub url: String,
    /// `Content-Length` is set by the host.
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    /// Deadline for everything, from the wait for a permit to the last byte of the answer.
    pub timeout: Duration,
    /// Most bytes of the answer's body, decompressed.
    pub max_bytes: usize,
}

impl fmt::Debug for DirectRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DirectRequest(..)")
    }
}

/// The response to a direct request; redirects are returned like any other.
pub struct DirectResponse {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl fmt::Debug for DirectResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DirectResponse({})", self.status)
    }
}

/// The error of a direct request. `sent`: the server may have received the request and acted on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectError {
    /// Requests to the URL are not allowed, or the operator does not allow its address. Nothing was sent.
    Denied,
    /// The server could not be reached. Nothing was sent.
    Connect,
    Timeout {
        sent: bool,
    },
    /// The exchange broke off.
    Unavailable {
        sent: bool,
    },
    /// The answer is larger than it may be.
    TooLarge,
}

impl fmt::Display for DirectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DirectError::Denied => "the operator does not allow requests to this address",
            DirectError::Connect => "the server could not be reached",
            DirectError::Timeout { .. } => "the server did not answer in time",
            DirectError::Unavailable { .. } => "the server's answer could not be read",
            DirectError::TooLarge => "the server's answer is too large",
        })
    }
}

impl Error for DirectError {}

impl Egress {
    /// Sends a request of the host itself and reads the answer, whatever its status. No redirect is followed.
    pub(crate) async fn send_direct(&self, r: DirectRequest) -> Result<DirectResponse, DirectError> {
        let url = self.check_direct(&r)?;
        let uri = Uri::try_from(url.as_str()).map_err(|_| DirectError::Denied)?;
        let sent = Arc::new(AtomicBool::new(false));
        let done = tokio::time::timeout(r.timeout, self.exchange_direct(&r, uri, &sent)).await;
        done.unwrap_or_else(|_| Err(DirectError::Timeout { sent: sent.load(Ordering::Relaxed) }))
    }

    /// The URL, if a request to it is allowed. The address of a name is checked when it is connected to.
    fn check_direct(&self, r: &DirectRequest) -> Result<Url, DirectError> {
        let url = policy::parse(&r.url).map_err(|_| DirectError::Denied)?;
        if let Some(address) = http_url::literal(&url) {
            let port = url.port_or_known_default().unwrap_or_default();
            if !self.permits_literal(&r.connector, SocketAddr::new(address, port)) {
                return Err(DirectError::Denied);
            }
        }
        Ok(url)
    }

    async fn exchange_direct(
        &self,
        r: &DirectRequest,
        uri: Uri,
        sent: &Arc<AtomicBool>,
    ) -> Result<DirectResponse, DirectError> {
        let client = self.clients.get(&r.tenant, &r.connector);
        let _turn = self.total.acquire().await;
        let mut repeats = 0..REPEATS;
        let response = loop {
            // All of it is secret: the body of a token request contains what the header of another does.
            match client.send_secret(request(r, &uri, sent)).await {
                Ok(response) => break response,
                Err(error) if is_unprocessed(&error) && repeats.next().is_some() => {
                    sent.store(false, Ordering::Relaxed);
                }
                Err(error) => return Err(explain(&error, sent.load(Ordering::Relaxed))),
            }
        };
        tracing::debug!(
            connector = &*r.connector,
            method = %r.method,
            host = uri.host().unwrap_or(""),
            status = response.status().as_u16(),
            "the provider answered the host"
        );
        read(response, r.max_bytes).await
    }
}

/// The request as the client sends it; `sent` becomes true when its body is polled, which is after its head was sent.
fn request(r: &DirectRequest, uri: &Uri, sent: &Arc<AtomicBool>) -> Request<ClientBody> {
    let length = r.body.len();
    let body: ClientBody = if length == 0 {
        // An empty body is not polled.
        sent.store(true, Ordering::Relaxed);
        Full::new(Bytes::new()).map_err(|never| match never {}).boxed_unsync()
    } else {
        let (bytes, sent) = (Bytes::copy_from_slice(&r.body), sent.clone());
        let frame = async move {
            sent.store(true, Ordering::Relaxed);
            Ok::<_, io::Error>(Frame::data(bytes))
        };
        StreamBody::new(futures::stream::once(frame)).boxed_unsync()
    };
    let mut request = Request::new(body);
    *request.method_mut() = r.method.clone();
    *request.uri_mut() = uri.clone();
    *request.headers_mut() = r.headers.clone();
    if length > 0 || r.method == Method::POST {
        request.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    if let Some(value) = request.headers_mut().get_mut(AUTHORIZATION) {
        value.set_sensitive(true);
    }
    request
}

async fn read(mut response: DecompressedResponse, max: usize) -> Result<DirectResponse, DirectError> {
    let mut body = Vec::new();
    while let Some(frame) = response.body_mut().frame().await {
        let frame = frame.map_err(|error| explain(&*error, true))?;
        // Trailers are of no use here.
        let Ok(piece) = frame.into_data() else { continue };
        if body.len() + piece.len() > max {
            return Err(DirectError::TooLarge);
        }
        body.extend_from_slice(&piece);
    }
    let headers = std::mem::take(response.headers_mut());
    Ok(DirectResponse { status: response.status(), headers, body })
}

fn explain(error: &(dyn Error + 'static), sent: bool) -> DirectError {
    if causes(error).any(|cause| cause.is::<ProhibitedAddress>() || cause.is::<UnencryptedCredentials>()) {
        return DirectError::Denied;
    }
    let is_connect = error.downcast_ref().is_some_and(legacy::Error::is_connect);
    let is_late = |cause: &io::Error| cause.kind() == io::ErrorKind::TimedOut;
    match causes(error).any(|cause| cause.downcast_ref().is_some_and(is_late)) {
        true => DirectError::Timeout { sent: sent && !is_connect },
        false if is_connect => DirectError::Connect,
        false => DirectError::Unavailable { sent },
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;
    use std::sync::atomic::AtomicUsize;

    use axum::extract::Request;
    use axum::http::header;
    use axum::middleware::Next;
    use axum::response::IntoResponse;
    use axum::routing::any;

    use super::*;
    use crate::limits::Limits;
    use crate::outbound::{HttpSettings, Lookup, OwnProvider, Rules};

    /// Names of this test, and none else.
    struct Names;

    impl Lookup for Names {
        fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>> {
            match host {
                "localhost" | "rebound.test" => Ok(vec![[127, 0, 0, 1].into()]),
                "metadata.test" => Ok(vec![[169, 254, 169, 254].into()]),
                // No server has this address: a request that goes out ends in a timeout.
                "public.test" => Ok(vec![[192, 88, 98, 1].into()]),
                _ => Err(io::Error::from(io::ErrorKind::NotFound)),
            }
        }
    }

    fn egress(allowed: &[&str], own: Option<OwnProvider>) -> Egress {
        let allowed = allowed.iter().map(|net| net.parse().unwrap()).collect();
        let lookup = Arc::new(Names);
        let rules = Rules {
            allowed,
            webhook_allowed: Vec::new(),
            approved: Vec::new(),
            own,
            lookup,
            transport: None,
        };
        let settings = HttpSettings { connect_timeout_ms: 2_000, ..HttpSettings::default() };
        Egress::new(settings, rules, &Limits::default()).unwrap()
    }

    fn post(url: &str) -> DirectRequest {
        DirectRequest {
            tenant: "t".to_owned(),
            connector: "sandbox".to_owned(),
            method: Method::POST,
            url: url.to_owned(),
            headers: HeaderMap::new(),
            body: b"grant_type=authorization_code".to_vec(),
            timeout: Duration::from_secs(10),
            max_bytes: 65_536,
        }
    }

    /// A server on loopback. Returns its port, and how many requests it got.
    async fn server(redirect_to: String) -> (u16, Arc<AtomicUsize>) {
        let seen = Arc::new(AtomicUsize::new(0));
        let counted = seen.clone();
        let app =
            axum::Router::new()
                .route(
                    "/redirect",
                    any(move || async move {
                        (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, redirect_to)])
                    }),
                )
                .route(
                    "/echo",
                    any(async |headers: HeaderMap, body: Bytes| {
                        let cookie = headers.contains_key(header::COOKIE);
                        let length = headers[header::CONTENT_LENGTH].to_str().unwrap().to_owned();
                        let body = format!("{cookie} {length} {}", String::from_utf8_lossy(&body));
                        ([(header::SET_COOKIE, "session=1")], body).into_response()
                    }),
                )
                .route("/full", any(async || vec![b'x'; 65_536]))
                .route("/large", any(async || vec![b'x'; 65_537]))
                .route("/slow", any(async || tokio::time::sleep(Duration::from_secs(60)).await))
                .layer(axum::middleware::from_fn(move |request: Request, next: Next| {
                    let counted = counted.clone();
                    async move {
                        counted.fetch_add(1, Ordering::Relaxed);
                        next.run(request).await
                    }
                }));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        (port, seen)
    }

    #[tokio::test]
    async fn send_direct_refuses_each_spelling() {
        let (port, seen) = server(String::new()).await;
        let closed = egress(&[], None);
        let hosts = [
            "127.0.0.1",
            "127.1",
            "2130706433",
            "0x7f000001",
            "017700000001",
            "127.000.000.001",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "[64:ff9b::7f00:1]",
            "localhost",
            "LOCALHOST",
            "rebound.test",
            "metadata.test",
            "169.254.169.254",
            "10.0.0.1",
            // An address needs the operator's permission, public or not.
            "1.1.1.1",
        ];
        for host in hosts {
            for scheme in ["http", "https"] {
                let url = format!("{scheme}://{host}:{port}/echo");
                assert_eq!(closed.send_direct(post(&url)).await.unwrap_err(), DirectError::Denied, "{url}");
            }
        }
        // The host allows every address in question, and still refuses URLs that other parsers read differently.
        let open = egress(&["127.0.0.0/8", "::1/128"], None);
        let urls = [
            format!("http://user@127.0.0.1:{port}/echo"),
            format!("http://@127.0.0.1:{port}/echo"),
            format!("http://127.0.0.1:{port}/echo#x"),
            format!("http://127.0.0.1:{port}\\echo"),
            format!("http://localhost.:{port}/echo"),
            format!("http://127.0.0.1:{port}/a/..%2fecho"),
            format!("http://127.0.0.1:{port}/ec ho"),
            format!("ftp://127.0.0.1:{port}/echo"),
            format!("//127.0.0.1:{port}/echo"),
            "file:///etc/passwd".to_owned(),
            String::new(),
            // Over plain http to a public address.
            "http://public.test/echo".to_owned(),
        ];
        for url in urls {
            assert_eq!(open.send_direct(post(&url)).await.unwrap_err(), DirectError::Denied, "{url}");
        }
        assert_eq!(seen.load(Ordering::Relaxed), 0);
        for host in ["127.0.0.1", "localhost"] {
            let answer = open.send_direct(post(&format!("http://{host}:{port}/echo"))).await.unwrap();
            assert_eq!(
                (answer.status, &*answer.body),
                (StatusCode::OK, &b"false 29 grant_type=authorization_code"[..])
            );
        }
        // The provider of this process, for its own connector.
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let own = egress(&[], Some(OwnProvider { connector: "sandbox".to_owned(), address }));
        let url = format!("http://127.0.0.1:{port}/echo");
        assert_eq!(own.send_direct(post(&url)).await.unwrap().status, StatusCode::OK);
        let other = DirectRequest { connector: "other".to_owned(), ..post(&url) };
        assert_eq!(own.send_direct(other).await.unwrap_err(), DirectError::Denied);
        let other_port = post(&format!("http://127.0.0.1:{}/echo", port ^ 1));
        assert_eq!(own.send_direct(other_port).await.unwrap_err(), DirectError::Denied);
    }

    #[tokio::test]
    async fn send_direct_follows_no_redirect() {
        let (evil, asked) = server(String::new()).await;
        let (port, seen) = server(format!("http://127.0.0.1:{evil}/echo")).await;
        let egress = egress(&["127.0.0.0/8"], None);
        let answer = egress.send_direct(post(&format!("http://127.0.0.1:{port}/redirect"))).await.unwrap();
        assert_eq!(answer.status, StatusCode::TEMPORARY_REDIRECT);
        assert!(answer.headers.contains_key(header::LOCATION));
        // Nor is a cookie stored.
        for _ in 0..2 {
            let answer = egress.send_direct(post(&format!("http://127.0.0.1:{port}/echo"))).await.unwrap();
            assert!(answer.body.starts_with(b"false "));
        }
        assert_eq!((seen.load(Ordering::Relaxed), asked.load(Ordering::Relaxed)), (3, 0));
    }

    #[tokio::test]
    async fn send_direct_tells_what_became_of_the_request() {
        let (port, _) = server(String::new()).await;
        let egress = egress(&["127.0.0.0/8"], None);
        let to = |path: &str| post(&format!("http://127.0.0.1:{port}{path}"));
        assert_eq!(egress.send_direct(to("/full")).await.unwrap().body.len(), 65_536);
        assert_eq!(egress.send_direct(to("/large")).await.unwrap_err(), DirectError::TooLarge);
        let hurried = DirectRequest { timeout: Duration::from_millis(300), ..to("/slow") };
        assert_eq!(egress.send_direct(hurried).await.unwrap_err(), DirectError::Timeout { sent: true });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let gone = listener.local_addr().unwrap().port();
        let silent = DirectRequest {
            timeout: Duration::from_millis(300),
            ..post(&format!("https://127.0.0.1:{gone}/token"))
        };
        // It accepts, and sends nothing of TLS: no byte of the request was sent.
        assert_eq!(egress.send_direct(silent).await.unwrap_err(), DirectError::Timeout { sent: false });
        drop(listener);
        let gone = post(&format!("http://127.0.0.1:{gone}/token"));
        assert_eq!(egress.send_direct(gone).await.unwrap_err(), DirectError::Connect);
        let unknown = post("https://unknown.test/token");
        assert_eq!(egress.send_direct(unknown).await.unwrap_err(), DirectError::Connect);
    }
}
