//! The HTTP client of the program's commands: a person at a terminal says where it goes, so that addresses are not checked. Everything else
//! is as for webhooks: HTTP/1.1, no redirects, cookies and proxies, and a limit for everything that comes back.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::HeaderMap;
use http::{Method, Request, Uri};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use url::Url;

use crate::limits::Limits;
use crate::outbound::address::Resolver;
use crate::outbound::client;
use crate::outbound::connect::{Connector, Versions};
use crate::outbound::names::{Names, SystemLookup};
use crate::outbound::post::{self, PostError};

/// For a connection to be made, TLS included.
const CONNECT_TIME: Duration = Duration::from_secs(10);
/// How long an idle connection is kept.
const IDLE_TIME: Duration = Duration::from_secs(30);
/// Most header lines of an answer.
const MAX_HEADERS: usize = 64;
/// Most bytes of an answer's head, and of a piece of its body.
const MAX_PIECE_BYTES: usize = 64 << 10;

/// An HTTP client for a command. Clones share their connections.
#[derive(Clone)]
pub struct OperatorClient {
    http: legacy::Client<Connector, Full<Bytes>>,
}

impl OperatorClient {
    /// Returns a client that trusts the system's certificates and those in `extra_roots_pem`, each a PEM text with one or several. Fails
    /// when one of these is not readable.
    pub fn new(extra_roots_pem: &[String]) -> anyhow::Result<OperatorClient> {
        let every: [IpNet; 2] = [Ipv4Net::default().into(), Ipv6Net::default().into()];
        let resolver = Resolver {
            names: Arc::new(Names::new(Arc::new(SystemLookup), &Limits::default())),
            tenant: "operator".into(),
            allowed: Arc::from(every),
            is_plain: false,
        };
        let tls = client::tls(extra_roots_pem)?;
        let http = legacy::Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_TIME)
            .timer(TokioTimer::new())
            .http1_max_headers(MAX_HEADERS)
            .http1_max_buf_size(MAX_PIECE_BYTES)
            .build(Connector::new(tls, resolver, CONNECT_TIME, Versions::Http1));
        Ok(OperatorClient { http })
    }

    /// Sends a GET request, and returns the answer, whatever its status. `deadline` is for everything up to the head of the answer.
    pub async fn get(
        &self,
        url: &Url,
        headers: HeaderMap,
        deadline: Duration,
    ) -> Result<OperatorAnswer, PostError> {
        self.send(Method::GET, url, headers, Bytes::new(), deadline).await
    }

    /// Sends a POST request, and returns the status of the answer. `deadline` is for everything up to the head of the answer; of its body
    /// at most 16 KiB are read, for at most a second.
    pub async fn post(
        &self,
        url: &Url,
        headers: HeaderMap,
        body: Bytes,
        deadline: Duration,
    ) -> Result<u16, PostError> {
        let answer = self.send(Method::POST, url, headers, body, deadline).await?;
        let status = answer.status;
        answer.beginning().await;
        Ok(status)
    }

    /// Sends a POST request, and returns the answer, whatever its status. `deadline` is for everything up to the head of the answer.
    pub async fn post_form(
        &self,
        url: &Url,
        headers: HeaderMap,
        form: Bytes,
        deadline: Duration,
    ) -> Result<OperatorAnswer, PostError> {
        self.send(Method::POST, url, headers, form, deadline).await
    }

    /// Sends a request, and returns the answer, whatever its status. `deadline` is for everything up to the head of the answer.
    pub async fn send(
        &self,
        method: Method,
        url: &Url,
        headers: HeaderMap,
        body: Bytes,
        deadline: Duration,
    ) -> Result<OperatorAnswer, PostError> {
        let wrong = |_| PostError::Http("the URL has characters that are not for URLs".to_owned());
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = Uri::try_from(url.as_str()).map_err(wrong)?;
        *request.headers_mut() = headers;
        let answered = tokio::time::timeout(deadline, self.http.request(request)).await;
        let response = answered.map_err(|_| PostError::Timeout)?.map_err(|error| post::explain(&error))?;
        let (head, body) = response.into_parts();
        Ok(OperatorAnswer {
            status: head.status.as_u16(),
            headers: head.headers,
            body,
            arrived: Bytes::new(),
        })
    }
}

/// An answer whose body is still to be read. Dropping it closes the connection unless the body was read to its end.
pub struct OperatorAnswer {
    pub status: u16,
    pub headers: HeaderMap,
    body: Incoming,
    /// Bytes of the body that arrived and were not returned yet.
    arrived: Bytes,
}

impl OperatorAnswer {
    /// Returns the next piece of the body, at most 64 KiB and never empty; none at the end. Fails with `PostError::Timeout` when nothing
    /// arrives for as long as `within`.
    pub async fn piece(&mut self, within: Duration) -> Result<Option<Bytes>, PostError> {
        while self.arrived.is_empty() {
            let frame = tokio::time::timeout(within, self.body.frame()).await;
            let Some(frame) = frame.map_err(|_| PostError::Timeout)? else { return Ok(None) };
            let frame = frame.map_err(|_| PostError::Http("the answer broke off".to_owned()))?;
            // Trailers are left out.
            self.arrived = frame.into_data().unwrap_or_default();
        }
        Ok(Some(self.arrived.split_to(self.arrived.len().min(MAX_PIECE_BYTES))))
    }

    /// Returns the whole body, of at most `most` bytes. Fails with `PostError::Timeout` when it has not arrived after `deadline`, and closes
    /// the connection when it is longer.
    pub async fn whole(mut self, most: usize, deadline: Duration) -> Result<Vec<u8>, PostError> {
        let reading = async {
            let mut body = Vec::new();
            while let Some(piece) = self.piece(deadline).await? {
                if body.len() + piece.len() > most {
                    return Err(PostError::Http(format!("the answer has more than {most} bytes")));
                }
                body.extend_from_slice(&piece);
            }
            Ok(body)
        };
        tokio::time::timeout(deadline, reading).await.map_err(|_| PostError::Timeout)?
    }

    /// Returns the first bytes of the body, at most 1 KiB: what an error says. A body that is late or breaks off ends there.
    pub async fn beginning(mut self) -> Vec<u8> {
        let mut first = Vec::new();
        // What arrived until then is returned.
        let reading = post::read(&mut self.body, &mut first, post::SNIPPET_BYTES);
        let _ = tokio::time::timeout(post::READ_TIME, reading).await;
        first
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use axum::Router;
    use axum::body::Body;
    use axum::http::{StatusCode, header};
    use axum::routing::{get, post};
    use futures::stream;
    use tokio::net::TcpListener;

    use super::*;

    const DEADLINE: Duration = Duration::from_secs(10);

    async fn serve(routes: Router) -> Url {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        // By its name, so that it is looked up.
        Url::parse(&format!("http://localhost:{port}/")).unwrap()
    }

    #[tokio::test]
    async fn a_body_comes_piece_by_piece() {
        let answer = async || {
            let pieces = ["first", "second"].map(|piece| Ok::<_, io::Error>(Bytes::from(piece)));
            let long = Ok(Bytes::from(vec![b'x'; 1 << 20]));
            Body::from_stream(stream::iter(pieces.into_iter().chain([long])))
        };
        let url = serve(Router::new().route("/", get(answer))).await;
        let client = OperatorClient::new(&[]).unwrap();
        let mut answer = client.get(&url, HeaderMap::new(), DEADLINE).await.unwrap();
        assert_eq!(answer.status, 200);
        let mut body = Vec::new();
        while let Some(piece) = answer.piece(DEADLINE).await.unwrap() {
            assert!(piece.len() <= MAX_PIECE_BYTES, "{}", piece.len());
            body.extend_from_slice(&piece);
        }
        assert!(body.starts_with(b"firstsecondxx"));
        assert_eq!(body.len(), "firstsecond".len() + (1 << 20));
    }

    #[tokio::test]
    async fn a_silent_body_ends_in_time() {
        let silent = async || Body::from_stream(stream::pending::<io::Result<Bytes>>());
        let url = serve(Router::new().route("/", get(silent))).await;
        let client = OperatorClient::new(&[]).unwrap();
        let mut answer = client.get(&url, HeaderMap::new(), DEADLINE).await.unwrap();
        assert_eq!(answer.piece(Duration::from_millis(50)).await, Err(PostError::Timeout));
    }

    #[tokio::test]
    async fn a_whole_body_has_a_bound_and_a_deadline() {
        let echo = async |form: Bytes| form;
        let silent = async || Body::from_stream(stream::pending::<io::Result<Bytes>>());
        let url = serve(Router::new().route("/", post(echo)).route("/silent", get(silent))).await;
        let client = OperatorClient::new(&[]).unwrap();
        let whole = async |most| {
            let form = Bytes::from_static(b"code=1");
            let answer = client.post_form(&url, HeaderMap::new(), form, DEADLINE).await.unwrap();
            answer.whole(most, DEADLINE).await
        };
        assert_eq!(whole(6).await, Ok(b"code=1".to_vec()));
        assert!(matches!(whole(5).await, Err(PostError::Http(_))));
        let silent = url.join("silent").unwrap();
        let answer = client.get(&silent, HeaderMap::new(), DEADLINE).await.unwrap();
        assert_eq!(answer.whole(6, Duration::from_millis(50)).await, Err(PostError::Timeout));
    }

    #[tokio::test]
    async fn a_redirect_is_not_followed() {
        let redirect = async || (StatusCode::FOUND, [(header::LOCATION, "/elsewhere")]);
        let url = serve(Router::new().route("/", post(redirect))).await;
        let client = OperatorClient::new(&[]).unwrap();
        let status = client.post(&url, HeaderMap::new(), Bytes::from_static(b"{}"), DEADLINE).await;
        assert_eq!(status, Ok(302));
    }

    #[tokio::test]
    async fn nobody_there_is_no_connection() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = Url::parse(&format!("http://{}/", listener.local_addr().unwrap())).unwrap();
        drop(listener);
        let client = OperatorClient::new(&[]).unwrap();
        let answer = client.get(&url, HeaderMap::new(), DEADLINE).await.map(|answer| answer.status);
        assert_eq!(answer, Err(PostError::Connect));
    }
}
