//! The cost of the sandbox. Figures, not promises: `cargo xtask bench` checks the promises, in a release build.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::routing::any;
use connector_dav::Dav;
use connector_sdk::http::{Request, Response};
use connector_sdk::surface;
use connector_sdk::testing::{Recorded, body, response};
use runtime::{Answer, Call, CallStats, Limits, Runtime, Verb};
use serde_json::json;

use crate::world::{World, call};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_does_nothing_is_cheap() {
    let world = World::start(Limits::default(), &[]).await;
    world.install("noop", "").await;
    let calls = if cfg!(debug_assertions) { 1_000 } else { 20_000 };
    let bench = world.runtime.bench_noop(|| call("noop"), calls).await.unwrap();
    println!("ratio {:.1}, {bench:?}", bench.ratio());
    let bench_line = json!({
        "what": "no-op connector call",
        "ours": format!("p50 {:.1} µs, p99 {:.1} µs", bench.full.p50_us, bench.full.p99_us),
        "baseline": format!("bare wasmtime, same pool: p50 {:.1} µs, p99 {:.1} µs", bench.bare.p50_us, bench.bare.p99_us),
        "figure": bench.ratio(),
        "unit": "×",
        "atMost": 3.0,
    });
    println!("BENCH {bench_line}");
    world.settled().await;
}

/// Records of the mapped page, and the number that the connector requests at a time.
const RECORDS: usize = 1_000;
const BATCH: usize = 50;

/// A CalDAV server's answers, prepared in advance: their cost is not part of the comparison.
#[derive(Clone)]
struct Dataset {
    listing: Arc<str>,
    /// By the first href that is asked for.
    batches: Arc<HashMap<String, String>>,
}

impl Dataset {
    /// Objects of real exporters, repeated: series with exceptions and zones of their own, invitations, plain events.
    fn new() -> Self {
        const TEXTS: [&str; 7] = [
            include_str!("../../connectors/dav/fixtures/apple.ics"),
            include_str!("../../connectors/dav/fixtures/faithful.ics"),
            include_str!("../../connectors/dav/fixtures/floating.ics"),
            include_str!("../../connectors/dav/fixtures/invited.ics"),
            include_str!("../../connectors/dav/fixtures/moment.ics"),
            include_str!("../../connectors/dav/fixtures/outlook.ics"),
            include_str!("../../connectors/dav/fixtures/series.ics"),
        ];
        let href = |n: usize| format!("/cal/work/{n:04}.ics");
        let member = |n: usize, data: &str| {
            format!(
                "<d:response><d:href>{}</d:href><d:propstat><d:prop><d:getetag>\"{n}\"</d:getetag>{data}</d:prop>\
                 <d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>",
                href(n)
            )
        };
        let record = |n: usize| {
            let text = TEXTS[n % TEXTS.len()].replace('&', "&amp;").replace('<', "&lt;");
            member(n, &format!("<c:calendar-data>{text}</c:calendar-data>"))
        };
        let whole = |inside: String| {
            format!(
                "<?xml version=\"1.0\"?><d:multistatus xmlns:d=\"DAV:\" xmlns:c=\"urn:ietf:params:xml:ns:caldav\">{inside}</d:multistatus>"
            )
        };
        let listed: String = (0..RECORDS).map(|n| member(n, "")).collect();
        let listing = whole(listed + "<d:sync-token>t1</d:sync-token>").into();
        let batch = |first: usize| (href(first), whole((first..first + BATCH).map(record).collect()));
        Dataset { listing, batches: Arc::new((0..RECORDS).step_by(BATCH).map(batch).collect()) }
    }

    fn answer(&self, asked: &str) -> &str {
        let first = asked.split_once("<D:href>").and_then(|(_, rest)| rest.split_once("</D:href>"));
        first.map_or(&self.listing, |(href, _)| &self.batches[href])
    }

    /// The server; its origin.
    async fn serve(&self) -> String {
        let data = self.clone();
        let app = axum::Router::new().fallback(any(async move |asked: String| {
            let status = axum::http::StatusCode::MULTI_STATUS;
            (status, [("content-type", "application/xml")], data.answer(&asked).to_owned())
        }));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let origin = format!("http://{}", listener.local_addr().expect("an address"));
        tokio::spawn(async move { axum::serve(listener, app).await.expect("the fake runs") });
        origin
    }
}

/// Maps one page of all records natively: from the call's JSON to the answer's JSON, through the component's own entry point.
fn native(data: &Dataset, body_json: &str) -> (Duration, String) {
    let data = data.clone();
    let answer = move |asked: &Request| -> Result<Response, _> {
        let asked = body(asked);
        let text = data.answer(std::str::from_utf8(&asked).expect("UTF-8"));
        Ok(response(207, &[("content-type", "application/xml")], text))
    };
    let host = Recorded::answering(answer);
    let request =
        connector_sdk::CallRequest { op: "events".into(), body: body_json.to_owned(), ..Default::default() };
    let started = Instant::now();
    let answer = surface::calendar::changes::<Dav>(&host, request).expect("a page");
    (started.elapsed(), answer.body)
}

/// The native mapping in a separate process, `connectors/dav/examples/mapping.rs`, which is compiled like components. `cargo xtask bench`
/// names it.
struct NativeProcess {
    child: Child,
    /// Closed before the child is waited for.
    asks: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl NativeProcess {
    fn start(program: &OsStr, data: &Path) -> Self {
        let mut command = Command::new(program);
        let command = command.arg(data).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the native side starts");
        let answers = BufReader::new(child.stdout.take().expect("its output"));
        NativeProcess { asks: child.stdin.take(), answers, child }
    }

    fn run(&mut self) -> Duration {
        writeln!(self.asks.as_mut().expect("its input"), "once more").expect("it listens");
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("it answers");
        Duration::from_nanos(line.trim().parse().expect("nanoseconds"))
    }
}

impl Drop for NativeProcess {
    fn drop(&mut self) {
        self.asks = None;
        self.child.wait().expect("it ends with its input");
    }
}

fn page(origin: &str, body_json: &str) -> Call {
    let mut call = call("dav");
    (call.verb, call.op, call.body) = (Verb::Changes, "events".to_owned(), body_json.to_owned());
    call.context.settings = json!({ "serverUrl": origin }).as_object().expect("an object").clone();
    call
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// The mapping of a provider's records costs little more in the component than natively. Both sides parse the server's XML and iCalendar,
/// map it to events and print them as JSON, from the same answers. The wait for HTTP counts on neither side: natively the answers are in
/// memory, and the component's time is that of its meter, which stops while the host sends. It includes making the instance and copying
/// every answer into its memory.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mapping_records_in_the_component_is_near_native() {
    let world = World::start(Limits { cpu_ms: 20_000, ..Limits::default() }, &["127.0.0.0/8"]).await;
    let mut config = world.config.clone();
    config.bundle_dir = Some(harness::bundle());
    let runtime = Runtime::start(config).await.unwrap();
    let data = Dataset::new();
    let origin = data.serve().await;
    let body_json = json!({
        "connection": { "settings": { "serverUrl": origin, "calendarHomeUrl": format!("{origin}/cal/") } },
        "args": { "collection": "/cal/work/", "timeZone": "Europe/Berlin", "limit": RECORDS },
    });
    let body_json = body_json.to_string();
    let component = async || -> Answer { runtime.call(page(&origin, &body_json)).await.unwrap() };

    let (_, expected) = native(&data, &body_json);
    assert_eq!(component().await.body, expected, "the same code does the same work");
    let sources = serde_json::from_str::<serde_json::Value>(&expected).unwrap();
    assert_eq!(sources["sources"].as_array().unwrap().len(), RECORDS);

    let mut process = std::env::var_os("SWITCHBOARD_NATIVE_MAPPING").map(|program| {
        let file = world.path("mapping.json");
        let whole =
            json!({ "listing": &*data.listing, "batches": &*data.batches, "body": body_json }).to_string();
        std::fs::write(&file, whole).unwrap();
        NativeProcess::start(&program, &file)
    });
    let mut figures = Figures::default();
    for round in 0..if cfg!(debug_assertions) { 3 } else { 25 } {
        // A B C C B A, so that no side always has the warmer machine.
        for side in if round % 2 == 0 { [0, 1, 2] } else { [2, 1, 0] } {
            match (side, &mut process) {
                (0, _) => figures.native.push(native(&data, &body_json).0),
                (1, Some(process)) => figures.alike.push(process.run()),
                (1, None) => {}
                _ => figures.took(&component().await.stats),
            }
        }
    }
    figures.print(expected.len());
}

/// The durations of each side.
#[derive(Default)]
struct Figures {
    native: Vec<Duration>,
    /// Also native, compiled with the profile of components.
    alike: Vec<Duration>,
    inside: Vec<Duration>,
    whole: Vec<Duration>,
    peak_mib: u64,
}

impl Figures {
    fn took(&mut self, stats: &CallStats) {
        self.inside.push(Duration::from_micros(stats.cpu_us));
        self.whole.push(Duration::from_micros(stats.wall_us));
        self.peak_mib = stats.peak_memory >> 20;
    }

    fn print(self, bytes: usize) {
        let Figures { native, alike, inside, whole, peak_mib } = self;
        let (inside, whole) = (median(inside), median(whole));
        let ms = |time: Duration| time.as_secs_f64() * 1_000.0;
        let baselines = [
            ("the same code in a native release build", native, Some(1.8)),
            ("the same code native, with the profile that components have (LTO)", alike, Some(1.8)),
        ];
        for (baseline, times, at_most) in baselines.into_iter().filter(|(_, times, _)| !times.is_empty()) {
            let native = median(times);
            let bench_line = json!({
                "what": format!("mapping {RECORDS} CalDAV records to events ({} KiB of JSON)", bytes >> 10),
                "ours": format!(
                    "in the component: p50 {:.1} ms of processor time ({:.1} ms with HTTP on loopback), {peak_mib} MiB of memory",
                    ms(inside), ms(whole)
                ),
                "baseline": format!("{baseline}: p50 {:.1} ms", ms(native)),
                "figure": inside.as_secs_f64() / native.as_secs_f64(),
                "unit": "×",
                "atMost": at_most,
            });
            println!("BENCH {bench_line}");
        }
    }
}
