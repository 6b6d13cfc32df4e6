//! Delivery of notifications: requests to this machine, a few concurrently, but one after the other for each watch.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use url::{Host, Url};

use crate::faults::Fault;
use crate::problem::Problem;
use crate::push::notices::Notice;

/// Maximum concurrent requests; further ones wait.
const MAX_REQUESTS: usize = 16;
/// Delay before each attempt, ms.
const TRIES_MS: [u64; 4] = [0, 1_000, 2_000, 4_000];
/// Time limit of a receiver's answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// Bytes of an answer that are read to find its status line.
const MAX_STATUS_LINE_BYTES: u64 = 1_024;
/// The longest address, in bytes.
const MAX_ADDRESS_BYTES: usize = 2_048;

/// An account, and the id of one of its watches.
type WatchKey = (String, String);

/// Sends notifications.
pub struct Deliveries {
    /// The service's own address (`http://ip:port`). If known, notifications are sent only there.
    own_address: Option<String>,
    /// The service's public origin: notifications to it are sent to `own_address`.
    public_address: Option<String>,
    /// The watches with a delivery in progress, each with the next message.
    sending: Mutex<HashMap<WatchKey, Option<NotificationRequest>>>,
    requests: Semaphore,
}

/// A notification as it is sent.
#[derive(Clone, Debug)]
struct NotificationRequest {
    to: SocketAddr,
    /// The whole request.
    text: String,
    /// Number of times that it is sent.
    times: u32,
}

/// The resolved target of an address.
struct DeliveryTarget {
    to: SocketAddr,
    /// The value of `Host`.
    host: String,
    /// Path and query.
    path: String,
}

impl Deliveries {
    /// Creates the queue, without deliveries.
    pub fn new(own_address: Option<String>, public_address: Option<String>) -> Arc<Self> {
        let (sending, requests) = (Mutex::default(), Semaphore::new(MAX_REQUESTS));
        Arc::new(Deliveries { own_address, public_address, sending, requests })
    }

    /// Refuses an address to which notifications are never sent.
    pub fn check(&self, address: &str) -> Result<(), Problem> {
        self.target(address).map(drop)
    }

    /// Sends a notification once `on_disk` reports that its changes are on disk; `fault` is the injected fault.
    pub fn send(
        self: &Arc<Self>,
        notice: &Notice,
        fault: Option<&Fault>,
        on_disk: impl Future<Output = Result<(), Problem>> + Send + 'static,
    ) {
        let (is_lost, is_twice, late_ms) =
            fault.map_or((false, false, 0), |fault| (fault.push_lost, fault.push_twice, fault.push_late_ms));
        if is_lost {
            return;
        }
        // The watch may date from a time when the service had another address.
        let Ok(target) = self.target(&notice.watch.address) else { return };
        let times = if is_twice { 2 } else { 1 };
        let message = NotificationRequest { to: target.to, text: request(&target, notice), times };
        let key = (notice.watch.mail.clone(), notice.watch.id.clone());
        let deliveries = Arc::clone(self);
        tokio::spawn(async move {
            if on_disk.await.is_ok() {
                if late_ms > 0 {
                    tokio::time::sleep(Duration::from_millis(late_ms)).await;
                }
                deliveries.deliver(&key, message).await;
            }
        });
    }

    /// Sends a message and the next ones, unless a task already sends messages of this watch: then leaves it to that task.
    async fn deliver(&self, key: &WatchKey, message: NotificationRequest) {
        let mut next = self.begin(key, message);
        while let Some(message) = next {
            for _ in 0..message.times {
                self.send_until_taken(&message).await;
            }
            next = self.next(key);
        }
    }

    fn sending(&self) -> MutexGuard<'_, HashMap<WatchKey, Option<NotificationRequest>>> {
        self.sending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, key: &WatchKey, message: NotificationRequest) -> Option<NotificationRequest> {
        let mut sending = self.sending();
        match sending.get_mut(key) {
            Some(next) => {
                // One notification replaces several waiting ones.
                let times = next.as_ref().map_or(0, |earlier| earlier.times).max(message.times);
                *next = Some(NotificationRequest { times, ..message });
                None
            }
            None => {
                sending.insert(key.clone(), None);
                Some(message)
            }
        }
    }

    fn next(&self, key: &WatchKey) -> Option<NotificationRequest> {
        let mut sending = self.sending();
        let next = sending.get_mut(key).and_then(Option::take);
        if next.is_none() {
            sending.remove(key);
        }
        next
    }

    async fn send_until_taken(&self, message: &NotificationRequest) {
        for wait_ms in TRIES_MS {
            tokio::time::sleep(Duration::from_millis(wait_ms)).await;
            let _permit = self.requests.acquire().await;
            match tokio::time::timeout(ANSWER_TIMEOUT, post(message)).await {
                Ok(Ok(429 | 500..)) => {}
                Ok(Ok(_)) => return,
                Ok(Err(error)) => tracing::debug!(to = %message.to, %error, "a notification was not taken"),
                Err(_) => tracing::debug!(to = %message.to, "a notification was not answered in time"),
            }
        }
    }

    fn target(&self, address: &str) -> Result<DeliveryTarget, Problem> {
        let refuse = |message: &str| Problem::field("address", message);
        let url = Url::parse(address).ok().filter(|_| address.len() <= MAX_ADDRESS_BYTES);
        let url = url.ok_or_else(|| refuse("address must be a URL of at most 2,048 bytes"))?;
        if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
            return Err(refuse("address must have no user, no password and no fragment"));
        }
        let (to, needed) = match &self.own_address {
            Some(own) => {
                let known = [Some(own), self.public_address.as_ref()];
                let is_own = known.into_iter().flatten().any(|known| has_origin(known, &url));
                let own = Url::parse(own).ok().filter(|_| is_own);
                (own.and_then(|own| socket(&own)), "address must be one of the service that has the sandbox")
            }
            None => {
                let is_here = |to: &SocketAddr| url.scheme() == "http" && to.ip().is_loopback();
                (
                    socket(&url).filter(is_here),
                    "address must begin with http:// and an address of this machine",
                )
            }
        };
        let to = to.ok_or_else(|| refuse(needed))?;
        let host = url.host_str().unwrap_or_default();
        let host = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        let mut path = url.path().to_owned();
        if let Some(query) = url.query() {
            path.push('?');
            path.push_str(query);
        }
        Ok(DeliveryTarget { to, host, path })
    }
}

fn has_origin(known: &str, url: &Url) -> bool {
    Url::parse(known).is_ok_and(|known| known.origin() == url.origin())
}

/// The socket address of a URL with an IP address or `localhost`.
fn socket(url: &Url) -> Option<SocketAddr> {
    let ip = match url.host()? {
        Host::Ipv4(ip) => IpAddr::V4(ip),
        Host::Ipv6(ip) => IpAddr::V6(ip),
        Host::Domain("localhost") => IpAddr::V4(Ipv4Addr::LOCALHOST),
        Host::Domain(_) => return None,
    };
    Some(SocketAddr::new(ip, url.port_or_known_default()?))
}

fn request(target: &DeliveryTarget, notice: &Notice) -> String {
    let DeliveryTarget { host, path, .. } = target;
    let (watch, state) = (&notice.watch, notice.state);
    let resource = watch.watched.path();
    format!(
        "POST {path} HTTP/1.1\r\nhost: {host}\r\nuser-agent: sandbox-provider\r\n\
         x-sandbox-channel: {}\r\nx-sandbox-token: {}\r\nx-sandbox-state: {state}\r\nx-sandbox-resource: {resource}\r\n\
         content-length: 0\r\nconnection: close\r\n\r\n",
        watch.id, watch.secret
    )
}

/// Sends a message. Returns the status of the answer.
async fn post(message: &NotificationRequest) -> std::io::Result<u16> {
    let mut stream = TcpStream::connect(message.to).await?;
    stream.write_all(message.text.as_bytes()).await?;
    let mut line = String::new();
    BufReader::new(stream.take(MAX_STATUS_LINE_BYTES)).read_line(&mut line).await?;
    status(&line).ok_or_else(|| std::io::Error::other("the answer has no status line"))
}

/// RFC 9112, section 4.
fn status(line: &str) -> Option<u16> {
    line.strip_prefix("HTTP/1.")?.split(' ').nth(1)?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;
    use crate::kind::Kind;
    use crate::push::watches::{Watch, WatchTarget};

    fn notice(address: &str, state: &'static str) -> Notice {
        let watched = WatchTarget { kind: Kind::Event, folder: Some("work".to_owned()) };
        let watch = Watch {
            id: "wat_1".to_owned(),
            mail: "a@sandbox.test".to_owned(),
            watched,
            address: address.to_owned(),
            secret: "s3".to_owned(),
            until_ms: 1,
        };
        Notice { watch, state }
    }

    /// Accepts one request and answers it with this status. Returns the request.
    async fn taken(listener: &TcpListener, status: u16) -> String {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut text = String::new();
        let mut bytes = vec![0; 4_096];
        while !text.ends_with("\r\n\r\n") {
            let read = stream.read(&mut bytes).await.unwrap();
            assert!(read > 0, "{text}");
            text.push_str(&String::from_utf8_lossy(&bytes[..read]));
        }
        stream.write_all(format!("HTTP/1.1 {status} Said\r\n\r\n").as_bytes()).await.unwrap();
        text
    }

    async fn durable() -> Result<(), Problem> {
        Ok(())
    }

    #[test]
    fn only_the_own_service_or_this_machine_is_called() {
        let anywhere = Deliveries::new(None, None);
        for good in ["http://127.0.0.1:80/x", "http://[::1]:8080/", "http://localhost/a?b=c"] {
            assert!(anywhere.check(good).is_ok(), "{good}");
        }
        let bad = [
            "",
            "/x",
            "https://127.0.0.1/x",
            "http://10.0.0.1/",
            "http://example.com/",
            "http://127.0.0.1.example.com/",
            "http://a:b@127.0.0.1/",
            "http://127.0.0.1/#x",
        ];
        for bad in bad {
            assert_eq!(anywhere.check(bad).unwrap_err().field.as_deref(), Some("address"), "{bad}");
        }
        let own = Some("http://127.0.0.1:8080".to_owned());
        let known = Deliveries::new(own, Some("https://mail.example.com/base".to_owned()));
        for (address, to) in [
            ("http://127.0.0.1:8080/x", Some("127.0.0.1:8080")),
            ("https://mail.example.com/x?y", Some("127.0.0.1:8080")),
            ("http://mail.example.com/x", None),
            ("http://127.0.0.1:8081/x", None),
            ("http://localhost:8080/x", None),
        ] {
            let found = known.target(address).ok().map(|target| target.to.to_string());
            assert_eq!(found.as_deref(), to, "{address}");
        }
        let target = known.target("https://mail.example.com/x?y").unwrap();
        assert_eq!((target.host.as_str(), target.path.as_str()), ("mail.example.com", "/x?y"));
    }

    #[tokio::test]
    async fn a_notification_has_no_body() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let deliveries = Deliveries::new(None, None);
        deliveries.send(&notice(&format!("http://{host}/hook?a=1"), "exists"), None, durable());
        assert_eq!(
            taken(&listener, 202).await,
            format!(
                "POST /hook?a=1 HTTP/1.1\r\nhost: {host}\r\nuser-agent: sandbox-provider\r\nx-sandbox-channel: wat_1\r\n\
                 x-sandbox-token: s3\r\nx-sandbox-state: exists\r\nx-sandbox-resource: calendars/work/events\r\n\
                 content-length: 0\r\nconnection: close\r\n\r\n"
            )
        );
    }

    /// A deferred notification is sent again, in the end with the state of later changes.
    #[tokio::test]
    async fn one_watch_is_told_one_thing_after_the_other() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/", listener.local_addr().unwrap());
        let deliveries = Deliveries::new(None, None);
        deliveries.send(&notice(&address, "sync"), None, durable());
        assert!(taken(&listener, 503).await.contains("x-sandbox-state: sync"));
        // The first attempt is over: later changes wait for the second.
        for state in ["exists", "exists", "not_exists"] {
            deliveries.send(&notice(&address, state), None, durable());
        }
        assert!(taken(&listener, 202).await.contains("x-sandbox-state: sync"));
        assert!(taken(&listener, 202).await.contains("x-sandbox-state: not_exists"));
        let more = tokio::time::timeout(Duration::from_millis(100), listener.accept()).await;
        assert!(more.is_err() && deliveries.sending().is_empty(), "three changes are one notification");
    }

    #[tokio::test]
    async fn what_goes_wrong_is_asked_for() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/", listener.local_addr().unwrap());
        let deliveries = Deliveries::new(None, None);
        let lost = Fault { push_lost: true, ..Fault::default() };
        deliveries.send(&notice(&address, "lost"), Some(&lost), durable());
        let twice = Fault { push_twice: true, push_late_ms: 20, ..Fault::default() };
        deliveries.send(&notice(&address, "twice"), Some(&twice), durable());
        for _ in 0..2 {
            assert!(taken(&listener, 202).await.contains("x-sandbox-state: twice"));
        }
    }
}
