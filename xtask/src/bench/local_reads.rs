//! Reads from the copy: a list whose provider is 80 ms away, and a page of the feed of changes.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::bench::bare::Bare;
use crate::bench::get_by_id::against;
use crate::bench::load::{Load, LoadMeasurement, abba};
use crate::bench::rig::{Rig, Subject};
use crate::bench::table::{FigureTarget, Row};
use crate::http::Client;
use crate::project::{self, DIST_PROFILE};

/// The provider's token of the account that the rig connects.
const PROVIDER: &str = "sandbox-bench";
/// Delay of the provider's answers, ms, and the number of answers that one fault delays.
const DELAY_MS: u64 = 80;
const DELAYED: u64 = 1_000;
const FAULTS: usize = 4;
const LIST: usize = 50;
const CHANGES: usize = 200;
const CLIENTS: usize = 16;
/// Time limit of the first sync.
const CAUGHT_UP: Duration = Duration::from_secs(60);

/// Three rows: a list from the copy beside the provider's own list, the same list with a fresh read of the provider, and a page of
/// changes beside a handler that reads the same page from the same database.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    let program = built_feed_page()?;
    let subject = rig.subject("list-local", &[])?;
    let feed = format!("/v1/calendars/{}/sync/changes?limit={CHANGES}", subject.calendar);
    follow(&subject)?;
    let begin = subject.client.get(&feed)?;
    let cursor = begin["sync_cursor"].as_str().context("the feed has no cursor")?.to_owned();
    for number in 0..CHANGES {
        subject.create_event(number)?;
    }
    let mut rows = lists(rig, &subject)?;
    let page = format!("{feed}&cursor={cursor}");
    let changes = subject.client.get(&page)?;
    let count = changes["data"].as_array().map_or(0, Vec::len);
    ensure!(count == CHANGES, "a page has {count} changes and not {CHANGES}");
    let bare = feed_page(&program, &subject, &changes["data"])?;
    let load = subject.load("GET", page, 200, CLIENTS);
    let bytes = changes.to_string().len();
    let what = format!("page of {CHANGES} changes, by the cursor of a client ({bytes} B, {CLIENTS} clients)");
    let name = "bare axum handler that reads the same lines from the same file";
    rows.push(against(rig, (&bare, name), load, what, FigureTarget::AtLeast(0.7))?);
    drop(bare);
    subject.server.stop()?;
    Ok(rows)
}

/// Builds the handler that reads a page of changes, optimised as the server is: `host/storage/examples/feed_page.rs`.
fn built_feed_page() -> Result<PathBuf> {
    let mut cargo = project::cargo();
    cargo.args(["build", "--profile", DIST_PROFILE, "-p", "storage", "--example", "feed_page"]);
    project::run(&mut cargo, "building the handler that reads a page of changes")?;
    Ok(project::target().join(DIST_PROFILE).join("examples/feed_page"))
}

/// Starts the handler for these changes, which are in the subject's database. Fails unless its answer is equal.
fn feed_page(program: &Path, subject: &Subject, changes: &Value) -> Result<Bare> {
    let first = changes[0]["sequence"].as_i64().context("a change has no sequence")?;
    let mut command = project::command(&program.to_string_lossy());
    command.arg(subject.server.options.data_dir.join("switchboard.db"));
    command.arg(&subject.calendar).arg((first - 1).to_string()).arg(CHANGES.to_string());
    let bare = Bare::spawn(command)?;
    let answer = Client::new(&format!("http://{}", bare.address), "").get("/")?;
    ensure!(answer["data"] == *changes, "the baseline answers other changes");
    Ok(bare)
}

/// Starts the service's own sync of the calendar, and waits until it has been read.
fn follow(subject: &Subject) -> Result<()> {
    let sync = format!("/v1/calendars/{}/sync", subject.calendar);
    subject.client.send("POST", &format!("{sync}/start"), &[], Some(&json!({})))?.expect(&[200, 202])?;
    let start = Instant::now();
    loop {
        let status = subject.client.get(&format!("{sync}/status"))?;
        if status["status"] == "caught_up" {
            return Ok(());
        }
        ensure!(start.elapsed() < CAUGHT_UP, "the calendar is not synced: {status}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn lists(rig: &Rig, subject: &Subject) -> Result<Vec<Row>> {
    let path = format!("/v1/calendars/{}/events?limit={LIST}", subject.calendar);
    let calendar = subject.client.get(&format!("/v1/calendars/{}", subject.calendar))?;
    let external = calendar["externalId"].as_str().context("the calendar has no external id")?;
    let theirs = format!("/sandbox/v1/calendars/{external}/events?limit={LIST}");
    let copy = subject.load("GET", path, 200, 1);
    let anew = Load {
        headers: [&copy.headers[..], &["cache-control: no-cache".to_owned()]].concat(),
        ..copy.clone()
    };
    let provider =
        Load { path: theirs, headers: vec![format!("authorization: Bearer {PROVIDER}")], ..copy.clone() };
    let sandbox = Client::new(&subject.server.url, PROVIDER);
    let mut rows = Vec::new();
    for (what, ours, target) in [
        (format!("list of {LIST} from the copy"), copy, FigureTarget::AtLeast(20.0)),
        (format!("the same read from the provider (no-cache), {DELAY_MS} ms away"), anew, FigureTarget::None),
    ] {
        for _ in 0..FAULTS {
            let fault = json!({ "delayMs": DELAY_MS, "times": DELAYED });
            sandbox.send("POST", "/sandbox/faults", &[], Some(&fault))?.expect(&[201])?;
        }
        let (a, b) = abba(&ours, &provider, rig.seconds)?;
        sandbox.send("DELETE", "/sandbox/faults", &[], None)?.expect(&[204])?;
        let p50 = |measured: &LoadMeasurement| f64::from(measured.quantile(0.5));
        rows.push(Row {
            what,
            ours: a.render(),
            baseline: format!("the provider's own list, {DELAY_MS} ms away: {}", b.render()),
            figure: p50(&b) / p50(&a),
            unit: "× as quick".to_owned(),
            target,
        });
    }
    Ok(rows)
}
