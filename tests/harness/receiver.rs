//! HTTP servers that webhooks are delivered to: one that records its requests and answers as the test scripted, and a hostile one.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::response::Response;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedRwLockWriteGuard, RwLock, mpsc, watch};

/// Time limit of a delivery, which is far longer than one takes.
const LIMIT: Duration = Duration::from_secs(60);

/// A request that was received.
#[derive(Clone, Debug)]
pub struct Received {
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Received {
    /// Returns a header, empty if it is absent.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("a JSON body")
    }

    /// Whether its first signature was made with this secret, as the Standard Webhooks specification defines it.
    pub fn is_signed(&self, secret: &str) -> bool {
        let key = BASE64_STANDARD.decode(secret.strip_prefix("whsec_").expect("a secret")).expect("base64");
        let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(&key).expect("a key");
        let (id, at) = (self.header("webhook-id"), self.header("webhook-timestamp"));
        mac.update(format!("{id}.{at}.").as_bytes());
        mac.update(&self.body);
        let wanted = format!("v1,{}", BASE64_STANDARD.encode(mac.finalize().into_bytes()));
        self.header("webhook-signature").split(' ').next() == Some(wanted.as_str())
    }
}

/// A scripted response: status and headers.
pub type Answer = (u16, Vec<(&'static str, String)>);

/// The scripted responses of a server.
struct Script {
    /// Responses to the next requests, one each.
    next: VecDeque<Answer>,
    /// The response to all later requests.
    usual: Answer,
}

/// A recording server on the loopback interface.
pub struct Receiver {
    address: SocketAddr,
    script: Arc<Mutex<Script>>,
    /// Holds responses back while it is locked for writing.
    gate: Arc<RwLock<()>>,
    received: mpsc::UnboundedReceiver<Received>,
}

impl Receiver {
    /// Starts a server that answers 204.
    pub async fn start() -> Receiver {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let script = Arc::new(Mutex::new(Script { next: VecDeque::new(), usual: (204, Vec::new()) }));
        let (sender, received) = mpsc::unbounded_channel();
        let gate: Arc<RwLock<()>> = Arc::default();
        let (answers, open) = (script.clone(), gate.clone());
        let receive = async move |request: Request| {
            let (head, body) = request.into_parts();
            // The sender may be killed while it sends the body.
            let Ok(body) = axum::body::to_bytes(body, usize::MAX).await else {
                return Response::new(Body::empty());
            };
            // The receiver is gone when the test has ended.
            let _ = sender.send(Received { headers: head.headers, body });
            let _open = open.read().await;
            let (status, headers) = {
                let mut script = answers.lock().expect("no test panics with it");
                script.next.pop_front().unwrap_or_else(|| script.usual.clone())
            };
            let named = headers
                .into_iter()
                .fold(Response::builder().status(status), |response, (n, v)| response.header(n, v));
            named.body(Body::empty()).expect("an answer")
        };
        let app = axum::Router::new().fallback(receive);
        tokio::spawn(async move { axum::serve(listener, app).await.expect("the receiver stays") });
        Receiver { address, script, gate, received }
    }

    /// Returns the URL of the receiver.
    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// Adds a response for one of the next requests, in order; the usual response follows them.
    pub fn answer(&self, status: u16, headers: &[(&'static str, &str)]) {
        let headers = headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        self.script.lock().expect("no test panics with it").next.push_back((status, headers));
    }

    /// Sets the response to all other requests from now on; the default is 204.
    pub fn answer_always(&self, status: u16) {
        self.script.lock().expect("no test panics with it").usual = (status, Vec::new());
    }

    /// Holds responses back until the guard is dropped. Requests are still recorded.
    pub async fn hold(&self) -> OwnedRwLockWriteGuard<()> {
        self.gate.clone().write_owned().await
    }

    /// Waits for the next recorded request and returns it.
    pub async fn next(&mut self) -> Received {
        let next = tokio::time::timeout(LIMIT, self.received.recv()).await;
        next.expect("a delivery arrives").expect("the receiver runs")
    }

    /// Returns all recorded requests that were not returned yet.
    pub fn taken(&mut self) -> Vec<Received> {
        std::iter::from_fn(|| self.received.try_recv().ok()).collect()
    }
}

/// The behavior of a hostile server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Conduct {
    /// Reads and sends nothing: neither a TLS handshake nor a response.
    Silent,
    /// Answers with this status and an endless body.
    EndlessBody(u16),
    /// Answers with an endless head.
    EndlessHead,
    /// Sends an endless head byte by byte, each before the client would time out.
    DrippingHead,
}

/// The time between two bytes of a dripping head.
const DRIP: Duration = Duration::from_millis(20);

impl Conduct {
    /// Serves a connection until the client closes it, which is an error here.
    async fn serve(self, mut socket: TcpStream, sent: &AtomicU64) -> io::Result<()> {
        let mut request = vec![0; 65_536];
        let mut count = socket.read(&mut request).await?;
        match self {
            Conduct::Silent => {
                while count > 0 {
                    count = socket.read(&mut request).await?;
                }
                return Ok(());
            }
            Conduct::EndlessBody(status) => {
                socket.write_all(format!("HTTP/1.1 {status} Endless\r\n\r\n").as_bytes()).await?;
            }
            Conduct::EndlessHead | Conduct::DrippingHead => {
                socket.write_all(b"HTTP/1.1 200 OK\r\nx-more: ").await?;
            }
        }
        let piece = if self == Conduct::DrippingHead { "x".to_owned() } else { "x".repeat(65_536) };
        loop {
            let count = socket.write(piece.as_bytes()).await?;
            sent.fetch_add(u64::try_from(count).expect("it is less than that"), Ordering::Relaxed);
            if self == Conduct::DrippingHead {
                tokio::time::sleep(DRIP).await;
            }
        }
    }
}

/// A hostile server, on the loopback interface.
pub struct Hostile {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    sent: Arc<AtomicU64>,
    open: watch::Sender<usize>,
}

impl Hostile {
    pub async fn start(conduct: Conduct) -> Hostile {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (connections, sent): (Arc<AtomicUsize>, Arc<AtomicU64>) = Default::default();
        let open = watch::Sender::new(0_usize);
        let (counted, bytes, held) = (connections.clone(), sent.clone(), open.clone());
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::Relaxed);
                held.send_modify(|open| *open += 1);
                let (bytes, held) = (bytes.clone(), held.clone());
                tokio::spawn(async move {
                    let _ = conduct.serve(socket, &bytes).await;
                    held.send_modify(|open| *open -= 1);
                });
            }
        });
        Hostile { address, connections, sent, open }
    }

    /// Returns the server's URL for plain HTTP.
    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// Returns the URL for HTTPS, which the server does not support.
    pub fn https_url(&self) -> String {
        format!("https://{}/hook", self.address)
    }

    /// Returns the number of connections so far.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// Returns the number of bytes sent so far, not counting the beginning of a response.
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// Waits until its clients have closed all connections.
    pub async fn closed(&self) {
        let mut open = self.open.subscribe();
        let closed = tokio::time::timeout(LIMIT, open.wait_for(|open| *open == 0)).await;
        closed.expect("the connections are closed").expect("the server runs");
    }
}
