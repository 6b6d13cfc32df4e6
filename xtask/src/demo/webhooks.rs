//! A webhook: the demo is the endpoint itself. It subscribes, creates an event, receives the notification, and verifies its signature.

use std::io;
use std::net::Ipv4Addr;
use std::sync::mpsc::{self, SyncSender};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use crate::demo::walk::{Walk, text};
use crate::http::render_body;

/// `--webhook-allow`: lets the server deliver to the demo, which has no public address.
pub const ENVIRONMENT: [(&str, &str); 1] = [("SWITCHBOARD_WEBHOOK_ALLOW", "127.0.0.0/8")];

/// The time limit of a delivery.
const LIMIT: Duration = Duration::from_secs(10);
/// Maximum received deliveries that wait for processing; one more is refused, and is retried later.
const WAITING: usize = 64;
/// Longest head and longest body that are read, bytes. A notification has at most 256 KiB.
const MAX_HEAD: u64 = 64 << 10;
const MAX_BODY: usize = 512 << 10;
const PATH: &str = "/hook";

impl Walk {
    /// Subscribes to the events of calendars, creates one, shows the notification, and deletes both again.
    pub fn hear_of_an_event(&mut self) -> Result<()> {
        let endpoint = Endpoint::start()?;
        let body = json!({ "url": endpoint.url, "eventTypes": ["calendar.event.*"] });
        let title = "Subscribe to calendar events: the secret is shown this once";
        let webhook = self.ask(title, "POST", "/v1/webhooks", &[], Some(&body))?.expect(&[201])?;
        let body = json!({
            "connection_id": self.connection(),
            "title": "Review",
            "start": "2030-01-16T09:00:00Z",
            "end": "2030-01-16T10:00:00Z",
        });
        let events = self.events();
        let began = Instant::now();
        let answer = self.ask("Create an event", "POST", &events, &[], Some(&body))?;
        let answered = began + answer.took;
        let event = answer.expect(&[201])?;
        let id = text(&event, "id")?;
        let (delivery, notification) = endpoint.about(&id)?;
        delivery.show(&notification, delivery.at.saturating_duration_since(answered));
        ensure!(notification["type"] == "calendar.event.created", "the notification is of another type");
        ensure!(
            notification["id"] == *delivery.header("webhook-id"),
            "header and body differ in the notification's id"
        );
        ensure!(
            delivery.is_signed(&text(&webhook, "secret")?)?,
            "the notification has no signature by the webhook's secret"
        );
        println!("\n204\nThe signature is by the webhook's secret.");
        let path = format!("/v1/webhooks/{}", text(&webhook, "id")?);
        self.ask("Delete the subscription", "DELETE", &path, &[], None)?.expect(&[204])?;
        let etag = text(&event, "etag")?;
        let path = format!("{events}/{id}");
        self.ask("Delete the event", "DELETE", &path, &[("if-match", &etag)], None)?.expect(&[204])?;
        Ok(())
    }
}

/// An HTTP server on the loopback interface that takes deliveries. It ends when it is dropped.
pub struct Endpoint {
    pub url: String,
    deliveries: mpsc::Receiver<Delivery>,
    _runtime: Runtime,
}

impl Endpoint {
    /// Starts it on a free port.
    pub fn start() -> Result<Endpoint> {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let bound = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)));
        let listener = bound.context("no free port on 127.0.0.1")?;
        let url = format!("http://{}{PATH}", listener.local_addr()?);
        let (sender, deliveries) = mpsc::sync_channel(WAITING);
        runtime.spawn(accept(listener, sender));
        Ok(Endpoint { url, deliveries, _runtime: runtime })
    }

    /// Waits for a delivery about this resource; returns it with its notification.
    pub fn about(&self, resource: &str) -> Result<(Delivery, Value)> {
        let deadline = Instant::now() + LIMIT;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let received = self.deliveries.recv_timeout(left);
            let delivery =
                received.with_context(|| format!("it was not delivered within {} s", LIMIT.as_secs()))?;
            let notification: Value =
                serde_json::from_slice(&delivery.body).context("a delivery is no JSON")?;
            // Others may come first: in an account outside the sandbox other clients may make changes.
            if notification["data"]["resourceId"] == *resource {
                return Ok((delivery, notification));
            }
        }
    }
}

async fn accept(listener: TcpListener, deliveries: SyncSender<Delivery>) {
    while let Ok((stream, _)) = listener.accept().await {
        // A failed request is one that does not arrive: the wait for it reports that.
        tokio::spawn(timeout(LIMIT, serve(stream, deliveries.clone())));
    }
}

/// Takes one request from a connection.
async fn serve(stream: TcpStream, deliveries: SyncSender<Delivery>) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let delivery = Delivery::read(&mut stream).await?;
    let status = match deliveries.try_send(delivery) {
        Ok(()) => "204 No Content",
        Err(_) => "503 Service Unavailable",
    };
    stream.write_all(format!("HTTP/1.1 {status}\r\nconnection: close\r\n\r\n").as_bytes()).await?;
    stream.shutdown().await
}

/// A request that was received.
pub struct Delivery {
    /// The names in lower case.
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    /// The time at which it was complete.
    pub at: Instant,
}

impl Delivery {
    async fn read(stream: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Delivery> {
        let mut head = (&mut *stream).take(MAX_HEAD);
        let mut line = String::new();
        // The first line has the method and the path, which are known.
        head.read_line(&mut line).await?;
        let mut delivery = Delivery { headers: Vec::new(), body: Vec::new(), at: Instant::now() };
        loop {
            line.clear();
            head.read_line(&mut line).await?;
            // The head ends with an empty line.
            let Some((name, value)) = line.split_once(':') else { break };
            delivery.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let length = delivery.header("content-length").parse::<usize>().map_err(io::Error::other)?;
        if length > MAX_BODY {
            return Err(io::Error::other("the body is too long"));
        }
        delivery.body.resize(length, 0);
        stream.read_exact(&mut delivery.body).await?;
        delivery.at = Instant::now();
        Ok(delivery)
    }

    /// The value of a header, empty when there is none.
    fn header(&self, name: &str) -> &str {
        self.headers
            .iter()
            .find(|(found, _)| found == name)
            .map(|(_, value)| value.as_str())
            .unwrap_or_default()
    }

    /// Returns whether it has a signature by this secret, as the Standard Webhooks specification defines it: an HMAC-SHA256 over
    /// `id.timestamp.body`.
    pub fn is_signed(&self, secret: &str) -> Result<bool> {
        let key = secret.strip_prefix("whsec_").context("the secret does not begin with whsec_")?;
        let key = BASE64_STANDARD.decode(key).context("the secret is not base64")?;
        let mac = <Hmac<Sha256> as KeyInit>::new_from_slice(&key).expect("HMAC takes a key of any length");
        let head = format!("{}.{}.", self.header("webhook-id"), self.header("webhook-timestamp"));
        let mac = mac.chain_update(head.as_bytes()).chain_update(&self.body);
        let all = self.header("webhook-signature").split(' ');
        let mut signatures = all.filter_map(|one| BASE64_STANDARD.decode(one.strip_prefix("v1,")?).ok());
        // It compares in constant time, as every endpoint should.
        Ok(signatures.any(|signature| mac.clone().verify_slice(&signature).is_ok()))
    }

    /// Shows the delivery as received, with its delay after the answer that caused it.
    pub fn show(&self, notification: &Value, after: Duration) {
        let kind = notification["type"].as_str().unwrap_or_default();
        println!("\n   Switchboard delivers {kind}, {} ms after the answer.\nPOST {PATH}", after.as_millis());
        for (name, value) in self.headers.iter().filter(|(name, _)| name.starts_with("webhook-")) {
            println!("{name}: {value}");
        }
        println!("{}", render_body(notification));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification's reference libraries.
    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const REQUEST: &str = "POST /hook HTTP/1.1\r\nWebhook-Id: msg_p5jXN8AQM9LWM0D4loKWxJek\r\nwebhook-timestamp: 1614265330\r\n\
        webhook-signature: v1,AAAA v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=\r\ncontent-length: 20\r\n\r\n{\"test\": 2432232314}";

    async fn read(request: &str) -> io::Result<Delivery> {
        Delivery::read(&mut request.as_bytes()).await
    }

    #[tokio::test]
    async fn a_delivery_is_read_and_its_signature_verified() {
        let mut delivery = read(REQUEST).await.unwrap();
        assert_eq!(delivery.body, b"{\"test\": 2432232314}");
        assert!(delivery.is_signed(SECRET).unwrap());
        assert!(!delivery.is_signed("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX").unwrap());
        delivery.body[2] = b'T';
        assert!(!delivery.is_signed(SECRET).unwrap());
        let cut = REQUEST.strip_suffix('}').unwrap();
        assert!(read(cut).await.is_err());
    }
}
