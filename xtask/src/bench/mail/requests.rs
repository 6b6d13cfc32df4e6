//! Requests that go to the provider: the time that we add to the provider's own.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::bench::load::{LoadMeasurement, measure};
use crate::bench::mail::messages;
use crate::bench::mail::native::Native;
use crate::bench::mail::provider::{Account, MailSubject};
use crate::bench::mail::tap::Tap;
use crate::bench::table::{FigureTarget, Row};

const PAGE: usize = 50;
/// Time limit until a search finds a new message: some servers index asynchronously.
const INDEXED: Duration = Duration::from_secs(300);

/// The delay of a provider in the same country: half of a packet's round trip.
const AWAY: Duration = Duration::from_millis(5);

/// Three rows: a list, a search and one message with its text; and the same for a provider on another machine.
pub fn run(subject: &MailSubject, account: &Account, tap: &Tap, seconds: u64) -> Result<Vec<Row>> {
    let list = format!("/v1/email/messages?connection_id={}&limit={PAGE}", subject.connection);
    let page = subject.ask(&list)?;
    ensure!(page["data"].as_array().is_some_and(|found| found.len() == PAGE), "not a page of {PAGE}");
    let id = page["data"][0]["id"].as_str().context("a message has no id")?;
    let search = format!("{list}&q={}", messages::RARE);
    until_found(subject, &search)?;
    let cases = [
        (format!("list of {PAGE} messages, read from {}", account.shown), list),
        (format!("search of {}, {PAGE} of 20000 messages found", account.shown), search),
        (format!("one message with its text from {}", account.shown), format!("/v1/email/messages/{id}")),
    ];
    let mut rows = Vec::new();
    for (what, path) in &cases {
        rows.push(compare(subject, account, tap, (what.clone(), path), seconds)?);
    }
    tap.move_away(AWAY);
    for (what, path) in &cases {
        let what = format!("{what}, {} ms away", 2 * AWAY.as_millis());
        rows.push(compare(subject, account, tap, (what, path), seconds)?);
    }
    Ok(rows)
}

fn until_found(subject: &MailSubject, search: &str) -> Result<()> {
    let start = Instant::now();
    loop {
        let found = subject.ask(search)?["data"].as_array().map_or(0, Vec::len);
        if found == PAGE {
            return Ok(());
        }
        ensure!(start.elapsed() < INDEXED, "the search finds {found} messages and not {PAGE}");
        std::thread::sleep(Duration::from_secs(2));
    }
}

fn compare(
    subject: &MailSubject,
    account: &Account,
    tap: &Tap,
    (what, path): (String, &str),
    seconds: u64,
) -> Result<Row> {
    // By now the connection is kept and the mailbox selected, as for every request but the first.
    for _ in 0..3 {
        subject.ask(path)?;
    }
    let (before, asked) = tap.during(|| subject.ask(path).map(|_| ()))?;
    let load = subject.load(path);
    let mut native = Native::open(account, tap.port, &before, &asked)?;
    let (mut ours, mut theirs) = (LoadMeasurement::default(), LoadMeasurement::default());
    for is_ours in [true, false, false, true] {
        match is_ours {
            true => ours.add(measure(&load, seconds)?),
            false => theirs.add(repeat(&mut native, Duration::from_secs(seconds))?),
        }
    }
    let p50 = |measured: &LoadMeasurement| f64::from(measured.quantile(0.5));
    Ok(Row {
        what,
        ours: ours.render(),
        baseline: format!("a native client that asks the provider the same: {}", theirs.render()),
        figure: p50(&ours) / p50(&theirs),
        unit: "×".to_owned(),
        target: FigureTarget::AtMost(1.5),
    })
}

fn repeat(native: &mut Native, length: Duration) -> Result<LoadMeasurement> {
    let mut measured = LoadMeasurement::default();
    native.run()?;
    let start = Instant::now();
    while start.elapsed() < length {
        let took = native.run()?;
        measured.micros.push(u32::try_from(took.as_micros()).unwrap_or(u32::MAX));
        measured.requests += 1;
    }
    measured.seconds = start.elapsed().as_secs_f64();
    measured.micros.sort_unstable();
    Ok(measured)
}
