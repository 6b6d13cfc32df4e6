//! Hostile webhook endpoints: how much they delay notifications of the healthy ones, and how much memory the server needs. The healthy ones
//! belong to one application; most hostile ones to another.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::bench::memory::{forget_peak, peak_mib, resident_mib};
use crate::bench::webhooks::receiver::{Receipts, Receiver, RecordedPart};
use crate::http::Client;
use crate::project;
use crate::server::{Options, Server};
use crate::storm::attackers;

/// Maximum ratio of the p99 delay to that without hostile endpoints.
const MOST_LATER: f64 = 1.5;
/// Delays that may be noise of the machine, ms: no limit is below this, times `MOST_LATER`.
const NOISE_MS: f64 = 20.0;
/// Maximum resident memory of the server, MiB.
const MEMORY_MIB: f64 = 512.0;
/// Maximum growth of the server's memory caused by hostile endpoints, MiB.
const GROWTH_MIB: f64 = 64.0;
/// Number of healthy endpoints, each of which gets every event of their application.
const HEALTHY: usize = 99;
/// Events of each application per second, and the number of seconds: an attempt at a hanging endpoint takes 15 s.
const PER_SECOND: usize = 3;
const SECONDS: usize = 40;
/// Time after the last event from which a notification counts as late.
const LATE: Duration = Duration::from_secs(20);
/// Open files of this process besides connections of hostile endpoints, and the limit of connections for each of those.
const OTHER_FILES: u64 = 1_024;
const CONNECTIONS: u64 = 8;
/// The name of the row with all of them active at the same time.
const TOGETHER: &str = "all of these at once";
/// Time after which no attempt runs at endpoints whose subscriptions were deleted.
const ENDED: Duration = Duration::from_secs(17);
const SCOPES: &str = "connections.write,calendar.read,calendar.write,webhooks.read,webhooks.write";

/// The behavior of a hostile endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// Answers one byte per second, without an end.
    Drips,
    /// Reads everything and sends nothing, not even in the TLS handshake.
    IsSilent,
    /// Redirects to the metadata service of clouds, which exposes secrets.
    Redirects,
    /// Answers 10 GB.
    IsEndless,
}

/// Endpoints that are active at the same time.
struct Hostile {
    name: &'static str,
    manner: Manner,
    scheme: &'static str,
    count: usize,
    /// Whether they belong to the application of the healthy ones.
    is_neighbour: bool,
}

static ALL: [Hostile; 5] = [
    Hostile {
        name: "1,000 endpoints that answer a byte a second",
        manner: Manner::Drips,
        scheme: "http",
        count: 1_000,
        is_neighbour: false,
    },
    Hostile {
        name: "one endpoint of 100 that never answers",
        manner: Manner::IsSilent,
        scheme: "http",
        count: 1,
        is_neighbour: true,
    },
    Hostile {
        name: "100 endpoints that redirect to the metadata address",
        manner: Manner::Redirects,
        scheme: "http",
        count: 100,
        is_neighbour: false,
    },
    Hostile {
        name: "100 endpoints that answer 10 GB",
        manner: Manner::IsEndless,
        scheme: "http",
        count: 100,
        is_neighbour: false,
    },
    Hostile {
        name: "100 endpoints that stall in the TLS handshake",
        manner: Manner::IsSilent,
        scheme: "https",
        count: 100,
        is_neighbour: false,
    },
];

/// The text of the report, and the number of exceeded limits.
#[derive(Default)]
pub struct Report {
    pub text: String,
    pub missed: usize,
}

/// Starts a server and runs the hostile endpoints whose names contain `only`.
pub fn run(mut options: Options, only: Option<&str>) -> Result<Report> {
    let is_chosen = |name: &str| only.is_none_or(|only| name.contains(only));
    let one_by_one = ALL.iter().filter(|hostile| is_chosen(hostile.name));
    let mut chosen: Vec<(&str, Vec<&Hostile>)> =
        one_by_one.map(|hostile| (hostile.name, vec![hostile])).collect();
    if is_chosen(TOGETHER) {
        chosen.push((TOGETHER, ALL.iter().collect()));
    }
    if chosen.is_empty() {
        return Ok(Report::default());
    }
    allow_connections()?;
    options.environment.push(("SWITCHBOARD_WEBHOOK_ALLOW".to_owned(), "127.0.0.0/8".to_owned()));
    let scene = Scene::make(options)?;
    project::step("webhooks without hostile endpoints");
    let calm = scene.line("all endpoints are healthy", None)?;
    let limit_ms = calm.p99_ms.max(NOISE_MS) * MOST_LATER;
    let mut lines = vec![calm];
    for (name, hostile) in chosen {
        project::step(name);
        lines.push(scene.beside((name, &hostile), limit_ms)?);
        thread::sleep(ENDED);
    }
    scene.server.stop()?;
    Ok(Report {
        text: table(&lines, limit_ms),
        missed: lines.iter().filter(|line| !line.missed.is_empty()).count(),
    })
}

/// Raises this process' limit of open files: an endpoint that cannot accept connections would be harmless.
fn allow_connections() -> Result<()> {
    let count: usize = ALL.iter().map(|hostile| hostile.count).sum();
    let wanted = OTHER_FILES + CONNECTIONS * u64::try_from(count)?;
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= wanted) {
        return Ok(());
    }
    let raised =
        Rlimit { current: limit.maximum.map_or(Some(wanted), |most| Some(most.min(wanted))), ..limit };
    setrlimit(Resource::Nofile, raised).context("cannot raise the limit of open files")
}

/// An application with a calendar.
struct AppClient {
    client: Client,
    events: String,
}

impl AppClient {
    fn make(server: &Server, name: &str) -> Result<AppClient> {
        let (_, key) =
            server.create_key(SCOPES, &["--application", name, "--rate-limit-per-minute", "1000000"])?;
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
        let events = format!("/v1/calendars/{}/events", text(&calendar["id"])?);
        Ok(AppClient { client, events })
    }

    /// The path of a new subscription.
    fn subscribe(&self, url: &str) -> Result<String> {
        let body = json!({ "url": url, "eventTypes": ["calendar.event.created"] });
        let made = self.client.send("POST", "/v1/webhooks", &[], Some(&body))?.expect(&[201])?;
        Ok(format!("/v1/webhooks/{}", text(&made["id"])?))
    }

    /// Creates its events at the fixed rate.
    fn create_events(&self) -> Result<()> {
        let start = Instant::now();
        for number in 0..PER_SECOND * SECONDS {
            let due = start + Duration::from_secs(1) / u32::try_from(PER_SECOND)? * u32::try_from(number)?;
            thread::sleep(due.saturating_duration_since(Instant::now()));
            let body = json!({ "title": format!("Event {number}"), "start": "2030-01-01T09:00:00Z",
                "end": "2030-01-01T10:00:00Z" });
            self.client.send("POST", &self.events, &[], Some(&body))?.expect(&[201])?;
        }
        Ok(())
    }
}

/// A server with an application whose endpoints are healthy, and one with hostile ones.
struct Scene {
    server: Server,
    healthy: AppClient,
    attacker: AppClient,
    receiver: Receiver,
}

impl Scene {
    fn make(options: Options) -> Result<Scene> {
        let server = Server::start(options)?;
        let (healthy, attacker) =
            (AppClient::make(&server, "healthy-endpoints")?, AppClient::make(&server, "hostile-endpoints")?);
        let receiver = Receiver::start()?;
        for number in 0..HEALTHY {
            healthy.subscribe(&receiver.url(number))?;
        }
        Ok(Scene { server, healthy, attacker, receiver })
    }

    /// Measures the healthy endpoints while these hostile ones are active.
    fn beside(&self, (name, hostile): (&str, &[&Hostile]), limit_ms: f64) -> Result<HealthRow> {
        let before_mib = resident_mib(self.server.pid())?;
        let runtime = attackers::runtime()?;
        let (mut there, mut asked) = (Vec::new(), Vec::new());
        for one in hostile {
            // Listens on all addresses of the loopback interface, so that the measured server sees each endpoint as a separate server.
            let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)))?;
            let port = listener.local_addr()?.port();
            let reached = Arc::<AtomicUsize>::default();
            runtime.spawn(accept(listener, one.manner, reached.clone()));
            asked.push((reached, one.count));
            let owner = if one.is_neighbour { &self.healthy } else { &self.attacker };
            for number in 0..one.count {
                let url = format!("{}://{}:{port}/{number}", one.scheme, address(number)?);
                there.push((owner, owner.subscribe(&url)?));
            }
        }
        let mut line = self.line(name, Some(limit_ms))?;
        line.note_growth(before_mib);
        for (reached, count) in asked {
            let reached = reached.load(Ordering::Relaxed);
            line.reached += reached;
            if reached < count {
                // Without requests to them the measurement is void.
                line.missed.push("too few requests to hostile endpoints");
            }
        }
        for (owner, path) in there {
            owner.client.send("DELETE", &path, &[], None)?.expect(&[204])?;
        }
        Ok(line)
    }

    /// Creates the events of both applications, and waits for the notifications of the healthy endpoints.
    fn line(&self, name: &str, limit_ms: Option<f64>) -> Result<HealthRow> {
        forget_peak(self.server.pid())?;
        let wanted = PER_SECOND * SECONDS * HEALTHY;
        self.receiver.begin(wanted, RecordedPart::Delay);
        let mut seen = thread::scope(|scope| -> Result<Receipts> {
            let theirs = scope.spawn(|| self.attacker.create_events());
            self.healthy.create_events()?;
            let seen = self.receiver.wait(LATE).unwrap_or_else(|_| self.receiver.end());
            theirs.join().map_err(|_| anyhow!("the attacker's client panicked"))??;
            Ok(seen)
        })?;
        let mib = peak_mib(self.server.pid())?;
        Ok(HealthRow::new(name, wanted, &mut seen, (mib, limit_ms)))
    }
}

/// Returns the address of the endpoint with this number; all addresses differ.
fn address(number: usize) -> Result<Ipv4Addr> {
    Ok(Ipv4Addr::new(127, 1, u8::try_from(number / 250)?, u8::try_from(number % 250 + 1)?))
}

fn text(value: &Value) -> Result<&str> {
    value.as_str().context("a text is missing in the answer")
}

/// Accepts connections until the runtime ends. `reached` counts those that received data.
async fn accept(listener: TcpListener, manner: Manner, reached: Arc<AtomicUsize>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Too many files are open now; the connection waits.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        let reached = reached.clone();
        // The task ends as soon as the server closes the connection.
        tokio::spawn(async move { serve(stream, manner, &reached).await });
    }
}

async fn serve(mut stream: TcpStream, manner: Manner, reached: &AtomicUsize) -> std::io::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    // Reads most of the request, or of the TLS handshake, and ignores the rest.
    let mut is_open = stream.read(&mut buffer).await? > 0;
    if is_open {
        reached.fetch_add(1, Ordering::Relaxed);
    }
    match manner {
        Manner::IsSilent => {}
        Manner::Drips => {
            stream.write_all(b"HTTP/1.1 200 OK\r\nx-drip: ").await?;
            loop {
                stream.write_all(b"x").await?;
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
        Manner::Redirects => {
            let answer = "HTTP/1.1 302 Found\r\nlocation: http://169.254.169.254/latest/meta-data/\r\n\
                          content-length: 0\r\nconnection: close\r\n\r\n";
            stream.write_all(answer.as_bytes()).await?;
            stream.shutdown().await?;
        }
        Manner::IsEndless => {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 10737418240\r\n\r\n").await?;
            loop {
                stream.write_all(&buffer).await?;
            }
        }
    }
    while is_open {
        is_open = stream.read(&mut buffer).await? > 0;
    }
    Ok(())
}

/// The figures of the healthy endpoints.
struct HealthRow {
    name: String,
    count: usize,
    late: usize,
    /// Requests to hostile endpoints.
    reached: usize,
    p50_ms: f64,
    p99_ms: f64,
    mib: f64,
    /// Growth of the resident memory; none without hostile endpoints.
    growth_mib: Option<f64>,
    missed: Vec<&'static str>,
}

impl HealthRow {
    fn new(name: &str, wanted: usize, seen: &mut Receipts, (mib, limit_ms): (f64, Option<f64>)) -> HealthRow {
        let (p50_ms, p99_ms) = (seen.quantile_ms(0.5), seen.quantile_ms(0.99));
        let late = wanted.saturating_sub(seen.count());
        let mut missed = Vec::new();
        // NaN exceeds every limit.
        if limit_ms.is_some_and(|limit| p99_ms.is_nan() || p99_ms > limit) {
            missed.push("p99");
        }
        if late > 0 {
            missed.push("arrivals");
        }
        if mib > MEMORY_MIB {
            missed.push("memory");
        }
        let (name, count) = (name.to_owned(), seen.count());
        HealthRow { name, count, late, reached: 0, p50_ms, p99_ms, mib, growth_mib: None, missed }
    }

    /// Records the growth. `before_mib`: the server's resident memory before hostile endpoints were added.
    fn note_growth(&mut self, before_mib: f64) {
        let growth_mib = self.mib - before_mib;
        if growth_mib > GROWTH_MIB {
            self.missed.push("growth");
        }
        self.growth_mib = Some(growth_mib);
    }
}

fn table(lines: &[HealthRow], limit_ms: f64) -> String {
    let mut text = format!(
        "\n## Endpoints of webhooks\n\n{HEALTHY} healthy endpoints get {PER_SECOND} events a second, and so do hostile ones. The latest of a hundred \
         notifications may take {limit_ms:.1} ms from the event to its receipt ({MOST_LATER} times what it takes when all are healthy, or {MOST_LATER} times {NOISE_MS} ms); \
         none may be missing {} s after the last event; the server may have {MEMORY_MIB} MiB, and {GROWTH_MIB} MiB more than before the hostile endpoints were there; of each kind of hostile endpoints there have to be as many requests as endpoints.\n\n\
         | Hostile | Requests to them | Notifications | Missing | p50 | p99 | Memory | Growth | |\n|---|---|---|---|---|---|---|---|---|\n",
        LATE.as_secs()
    );
    for line in lines {
        let verdict = match line.missed.is_empty() {
            true => "met".to_owned(),
            false => format!("missed: {}", line.missed.join(", ")),
        };
        let growth = line.growth_mib.map_or_else(String::new, |mib| format!("{mib:.0} MiB"));
        text += &format!(
            "| {} | {} | {} | {} | {:.1} ms | {:.1} ms | {:.0} MiB | {growth} | {verdict} |\n",
            line.name, line.reached, line.count, line.late, line.p50_ms, line.p99_ms, line.mib
        );
    }
    text
}
