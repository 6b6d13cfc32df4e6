//! An HTTP server that webhooks are delivered to: it keeps what it received, and answers as a test says.

use std::collections::VecDeque;
use std::net::SocketAddr;
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
use tokio::net::TcpListener;
use tokio::sync::{OwnedRwLockWriteGuard, RwLock, mpsc};

/// How long a test waits for a delivery: far longer than one takes.
const LIMIT: Duration = Duration::from_secs(60);

/// A request that was received.
#[derive(Clone, Debug)]
pub struct Received {
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Received {
    /// A header, empty where there is none.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("a JSON body")
    }

    /// Whether its first signature is by this secret, as the Standard Webhooks specification has it.
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

/// An answer: the status, and headers.
pub type Answer = (u16, Vec<(&'static str, String)>);

/// The server, on the loopback interface.
pub struct Receiver {
    address: SocketAddr,
    script: Arc<Mutex<VecDeque<Answer>>>,
    /// Held for writing, it holds answers back.
    gate: Arc<RwLock<()>>,
    received: mpsc::UnboundedReceiver<Received>,
}

impl Receiver {
    /// Starts a server that answers 204.
    pub async fn start() -> Receiver {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let script: Arc<Mutex<VecDeque<Answer>>> = Arc::default();
        let (sender, received) = mpsc::unbounded_channel();
        let gate: Arc<RwLock<()>> = Arc::default();
        let (answers, open) = (script.clone(), gate.clone());
        let receive = async move |request: Request| {
            let (head, body) = request.into_parts();
            // Whoever sends it may be killed in the middle.
            let Ok(body) = axum::body::to_bytes(body, usize::MAX).await else {
                return Response::new(Body::empty());
            };
            // A test that has ended listens no more.
            let _ = sender.send(Received { headers: head.headers, body });
            let _open = open.read().await;
            let next = answers.lock().expect("no test panics with it").pop_front();
            let (status, headers) = next.unwrap_or((204, Vec::new()));
            let named = headers
                .into_iter()
                .fold(Response::builder().status(status), |response, (n, v)| response.header(n, v));
            named.body(Body::empty()).expect("an answer")
        };
        let app = axum::Router::new().fallback(receive);
        tokio::spawn(async move { axum::serve(listener, app).await.expect("the receiver stays") });
        Receiver { address, script, gate, received }
    }

    /// Where it receives.
    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// The answer to a request that comes; more of them are given one after the other, and then 204.
    pub fn answer(&self, status: u16, headers: &[(&'static str, &str)]) {
        let headers = headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        self.script.lock().expect("no test panics with it").push_back((status, headers));
    }

    /// Holds answers back until what this returns is dropped. Requests are received meanwhile.
    pub async fn hold(&self) -> OwnedRwLockWriteGuard<()> {
        self.gate.clone().write_owned().await
    }

    /// The next request that was received and not taken yet; it is waited for.
    pub async fn next(&mut self) -> Received {
        let next = tokio::time::timeout(LIMIT, self.received.recv()).await;
        next.expect("a delivery arrives").expect("the receiver runs")
    }

    /// Everything that was received and not taken yet.
    pub fn taken(&mut self) -> Vec<Received> {
        std::iter::from_fn(|| self.received.try_recv().ok()).collect()
    }
}
