//! The well-behaved: ten tenants that each send a usual application's requests at a fixed rate, whether the last answer came or not. A
//! request's latency counts from the moment at which it should have been sent.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::http::Client;
use crate::server::Server;
use crate::storm::wire;

/// The number of tenants.
pub const TENANTS: usize = 10;
/// Time between two requests of one tenant.
const PERIOD: Duration = Duration::from_millis(50);
/// Connections of each: requests that wait for an answer do not delay the next.
const CONNECTIONS: usize = 4;
/// Events of each.
const EVENTS: usize = 40;
/// Bytes of the body of every other of their writes: an upload, without its weight at the provider.
const UPLOAD: usize = 100 << 10;
const SCOPES: &str = "connections.read,connections.write,calendar.read,calendar.write,usage.read";

/// A tenant with a calendar.
#[derive(Clone)]
pub struct Tenant {
    key: String,
    calendar: String,
    events: Arc<[String]>,
    from: IpAddr,
}

/// The measurements of the well-behaved tenants.
#[derive(Default)]
pub struct TenantMeasurement {
    /// Microseconds of each request.
    pub micros: Vec<u64>,
    pub failed: u64,
    /// The first failure.
    pub failure: Option<String>,
    /// Microseconds of each `/healthz`.
    pub health_micros: Vec<u64>,
}

/// Returns the value below which this share of them stays, in milliseconds.
pub fn quantile_ms(micros: &mut [u64], share: f64) -> f64 {
    micros.sort_unstable();
    let last = micros.len().saturating_sub(1);
    micros.get((last as f64 * share) as usize).map_or(f64::NAN, |micros| *micros as f64 / 1000.0)
}

/// Creates the tenants, each a separate application.
pub fn make(server: &Server) -> Result<Vec<Tenant>> {
    (0..TENANTS).map(|number| one(server, number)).collect()
}

fn one(server: &Server, number: usize) -> Result<Tenant> {
    let name = format!("tenant-{number}");
    let (_, key) =
        server.create_key(SCOPES, &["--application", &name, "--rate-limit-per-minute", "1000000"])?;
    let key = key["key"].as_str().context("no key was printed")?.to_owned();
    let client = Client::new(&server.url, &key);
    let body = json!({
        "provider": "sandbox",
        "credentials": { "username": format!("{name}@sandbox.test"), "password": "sandbox" },
        "scopes": ["calendar.read", "calendar.write"],
    });
    let connection = client.send("POST", "/v1/connections", &[], Some(&body))?.expect(&[201])?;
    let body = json!({ "connectionId": connection["id"], "name": "Storm" });
    let calendar = client.send("POST", "/v1/calendars", &[], Some(&body))?.expect(&[201])?;
    let calendar = calendar["id"].as_str().context("no id")?.to_owned();
    let path = format!("/v1/calendars/{calendar}/events");
    let events = (0..EVENTS).map(|n| {
        let made = client.send("POST", &path, &[], Some(&event(n)))?.expect(&[201])?;
        Ok(made["id"].as_str().context("no id")?.to_owned())
    });
    let events = events.collect::<Result<Vec<_>>>()?.into();
    Ok(Tenant { key, calendar, events, from: address(number) })
}

/// Returns the source address of the tenant with this number.
pub fn address(number: usize) -> IpAddr {
    IpAddr::from([127, 0, 1, u8::try_from(number + 1).unwrap_or(u8::MAX)])
}

fn event(number: usize) -> Value {
    let (day, hour) = (1 + number % 28, number / 28 % 20);
    json!({ "title": format!("Event {number}"), "start": format!("2030-01-{day:02}T{hour:02}:00:00Z"),
        "end": format!("2030-01-{day:02}T{hour:02}:30:00Z") })
}

impl Tenant {
    /// Returns the request with this number, and its expected status.
    fn request(&self, number: u64) -> (Vec<u8>, u16) {
        let events = format!("/v1/calendars/{}/events", self.calendar);
        let ask = |path: &str| (wire::request("GET", path, &self.key, &[], ""), 200);
        match number % 10 {
            0 => {
                let keyed = [format!("idempotency-key: storm-{number}")];
                let mut body = event(usize::try_from(number).unwrap_or(0)).to_string();
                if number.is_multiple_of(20) {
                    body += &" ".repeat(UPLOAD);
                }
                (wire::request("POST", &events, &self.key, &keyed, &body), 201)
            }
            1 | 2 => ask(&format!("{events}?limit=50")),
            3 => ask("/v1/connections"),
            4 => ask("/v1/usage"),
            n => ask(&format!(
                "{events}/{}",
                self.events[usize::try_from(number * 7 + n).unwrap_or(0) % EVENTS]
            )),
        }
    }
}

/// Lets all tenants work for this long.
pub async fn work(server: SocketAddr, tenants: &[Tenant], length: Duration) -> Result<TenantMeasurement> {
    let (tell, mut told) = mpsc::unbounded_channel();
    let stop = Arc::new(AtomicBool::new(false));
    let mut callers = JoinSet::new();
    for tenant in tenants {
        // One clock for all connections of a tenant: the first free one takes the next request.
        let next = Arc::new(AtomicU64::new(0));
        let start = Instant::now();
        for _ in 0..CONNECTIONS {
            let (tenant, next, tell, stop) = (tenant.clone(), next.clone(), tell.clone(), stop.clone());
            callers.spawn(async move { caller(server, &tenant, (&next, start), &tell, &stop).await });
        }
    }
    let (tell_health, mut health) = mpsc::unbounded_channel();
    callers.spawn({
        let stop = stop.clone();
        async move { prober(server, &tell_health, &stop).await }
    });
    drop(tell);
    tokio::time::sleep(length).await;
    stop.store(true, Ordering::Relaxed);
    while callers.join_next().await.is_some() {}
    let mut seen = TenantMeasurement::default();
    while let Some(outcome) = told.recv().await {
        match outcome {
            Ok(micros) => seen.micros.push(micros),
            Err(failure) => {
                seen.failed += 1;
                seen.failure.get_or_insert(failure);
            }
        }
    }
    while let Some(micros) = health.recv().await {
        seen.health_micros.push(micros);
    }
    Ok(seen)
}

static NUMBER: AtomicU64 = AtomicU64::new(0);

async fn caller(
    server: SocketAddr,
    tenant: &Tenant,
    (next, start): (&AtomicU64, Instant),
    tell: &mpsc::UnboundedSender<Result<u64, String>>,
    stop: &AtomicBool,
) {
    let mut stream = None;
    while !stop.load(Ordering::Relaxed) {
        let due = start + PERIOD * u32::try_from(next.fetch_add(1, Ordering::Relaxed)).unwrap_or(u32::MAX);
        tokio::time::sleep_until(due.into()).await;
        let (request, wanted) = tenant.request(NUMBER.fetch_add(1, Ordering::Relaxed));
        let outcome = async {
            if stream.is_none() {
                stream = Some(wire::connect(server, tenant.from).await?);
            }
            let open = stream.as_mut().context("it was just opened")?;
            wire::exchange(open, &request).await
        };
        let outcome = match outcome.await {
            Ok(status) if status == wanted => {
                Ok(u64::try_from(due.elapsed().as_micros()).unwrap_or(u64::MAX))
            }
            Ok(status) => Err(format!("{status} instead of {wanted}: {}", first_line(&request))),
            Err(e) => {
                stream = None;
                Err(format!("{e:#}: {}", first_line(&request)))
            }
        };
        // The receiver lives as long as this run.
        let _ = tell.send(outcome);
    }
}

fn first_line(request: &[u8]) -> String {
    String::from_utf8_lossy(request).lines().next().unwrap_or_default().to_owned()
}

/// Asks `/healthz` twenty times a second.
async fn prober(server: SocketAddr, tell: &mpsc::UnboundedSender<u64>, stop: &AtomicBool) {
    let Ok(mut stream) = wire::connect(server, IpAddr::from([127, 0, 2, 1])).await else { return };
    let request = wire::request("GET", "/healthz", "", &[], "");
    while !stop.load(Ordering::Relaxed) {
        let start = Instant::now();
        if wire::exchange(&mut stream, &request).await.is_err() {
            return;
        }
        let _ = tell.send(u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX));
        tokio::time::sleep(PERIOD).await;
    }
}
