//! The first sync of a mailbox: its speed and its memory.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::json;

use crate::bench::mail::mbsync::{Flush, Mbsync};
use crate::bench::mail::provider::{Account, MailSubject};
use crate::bench::memory;
use crate::bench::rig::Rig;
use crate::bench::table::{FigureTarget, Row};
use crate::project;

/// A sync that takes longer has failed.
const PATIENCE: Duration = Duration::from_secs(900);

/// The cost of one sync.
pub struct SyncCost {
    seconds: f64,
    /// The highest growth of resident memory, in MiB.
    growth: f64,
}

/// The sums of one side's runs.
#[derive(Default)]
struct SyncTurns {
    messages: f64,
    seconds: f64,
}

impl SyncTurns {
    fn add(&mut self, messages: usize, seconds: f64) {
        self.messages += messages as f64;
        self.seconds += seconds;
    }

    fn rate(&self) -> f64 {
        self.messages / self.seconds
    }

    fn render(&self) -> String {
        format!("{:.0} messages/s", self.rate())
    }
}

/// Two rows, messages per second and memory. Both sides connect to the provider directly: a client's use of its socket is part of its
/// speed.
pub fn run(rig: &Rig, account: &Account, count: usize) -> Result<Vec<Row>> {
    let (program, arguments) = account.native_client()?;
    let SyncComparison { ours, theirs: native, growth } =
        compare(rig, account, count, || natively(&program, &arguments, count))?;
    let what = format!("first sync of {count} messages from {}", account.shown);
    let rate = Row {
        what: what.clone(),
        ours: ours.render(),
        baseline: format!(
            "a native client that fetches and parses the same, and keeps nothing: {}",
            native.render()
        ),
        figure: ours.rate() / native.rate(),
        unit: "×".to_owned(),
        target: FigureTarget::AtLeast(0.7),
    };
    let memory = Row {
        what: format!("{what}: growth of resident memory"),
        ours: format!("{growth:.1} MiB at most, over the idle server with the account connected"),
        baseline: "–".to_owned(),
        figure: growth,
        unit: " MiB".to_owned(),
        target: FigureTarget::None,
    };
    Ok(vec![rate, memory])
}

/// Rows beside mbsync: the mailbox of `run` with mbsync in its default configuration, the same without flushes, and a mailbox of half the
/// size.
pub fn beside_mbsync(rig: &Rig, account: &Account, mbsync: &Mbsync, count: usize) -> Result<Vec<Row>> {
    let (half, smaller) = (count / 2, account.second());
    smaller.fill(half)?;
    Ok(vec![
        mbsync_row(rig, account, (mbsync, Flush::EachMessage), count, FigureTarget::AtLeast(3.0))?,
        mbsync_row(rig, account, (mbsync, Flush::Never), count, FigureTarget::None)?,
        mbsync_row(rig, &smaller, (mbsync, Flush::EachMessage), half, FigureTarget::None)?,
    ])
}

fn mbsync_row(
    rig: &Rig,
    account: &Account,
    (mbsync, flush): (&Mbsync, Flush),
    count: usize,
    target: FigureTarget,
) -> Result<Row> {
    let SyncComparison { ours, theirs, .. } =
        compare(rig, account, count, || mbsync.copy(rig, account, count, flush))?;
    let (beside, flushes) = match flush {
        Flush::EachMessage => ("mbsync", "flushes each to the disk, as is its default"),
        Flush::Never => ("mbsync that never flushes", "flushes nothing to the disk (`FSync no`)"),
    };
    Ok(Row {
        what: format!("first sync of {count} messages from {}, beside {beside}", account.shown),
        ours: format!(
            "{}; the header fields, the structure and the beginning of the text of each, each commit flushed to the disk",
            ours.render()
        ),
        baseline: format!(
            "mbsync ({}), which writes whole messages into an empty Maildir and {flushes}: {}",
            mbsync.version,
            theirs.render()
        ),
        figure: ours.rate() / theirs.rate(),
        unit: "×".to_owned(),
        target,
    })
}

/// The result of four runs.
struct SyncComparison {
    ours: SyncTurns,
    theirs: SyncTurns,
    /// The highest growth of our resident memory, MiB.
    growth: f64,
}

/// Reads the mailbox in the order ours, theirs, theirs, ours; `their_turn` returns its seconds.
fn compare(
    rig: &Rig,
    account: &Account,
    count: usize,
    mut their_turn: impl FnMut() -> Result<f64>,
) -> Result<SyncComparison> {
    let mut compared =
        SyncComparison { ours: SyncTurns::default(), theirs: SyncTurns::default(), growth: f64::MIN };
    for is_ours in [true, false, false, true] {
        // A side's first flush must not include pages of the other side in the page cache.
        rustix::fs::sync();
        if is_ours {
            let (subject, took) = through_the_api(rig, account, account.port, count)?;
            subject.server.stop()?;
            compared.growth = compared.growth.max(took.growth);
            compared.ours.add(count, took.seconds);
        } else {
            compared.theirs.add(count, their_turn()?);
        }
    }
    Ok(compared)
}

/// Starts a new server that reaches the mailbox by this port, and waits for its first sync.
pub fn through_the_api(
    rig: &Rig,
    account: &Account,
    port: u16,
    count: usize,
) -> Result<(MailSubject, SyncCost)> {
    let subject = MailSubject::start(rig, account, port)?;
    let before = memory::resident_mib(subject.server.pid())?;
    memory::forget_peak(subject.server.pid())?;
    let seconds = caught_up(&subject, count)?;
    let growth = memory::peak_mib(subject.server.pid())? - before;
    Ok((subject, SyncCost { seconds, growth }))
}

/// Returns the seconds from the start of the sync to its end.
fn caught_up(subject: &MailSubject, count: usize) -> Result<f64> {
    let body = json!({ "connectionId": subject.connection });
    let start = Instant::now();
    subject.client.send("POST", "/v1/email/sync/start", &[], Some(&body))?.expect(&[200, 202])?;
    let path = format!("/v1/email/sync/status/{}", subject.connection);
    loop {
        let state = subject.client.get(&path)?;
        if state["status"] == "caught_up" {
            let took = start.elapsed().as_secs_f64();
            let items = state["itemCount"].as_u64();
            ensure!(items.is_none_or(|items| items >= count as u64), "{items:?} items of {count} were read");
            return Ok(took);
        }
        if start.elapsed() > PATIENCE {
            bail!("the mailbox was not read in {} s: {state}", PATIENCE.as_secs());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns the seconds of the same sync by a client that stores nothing.
fn natively(program: &Path, arguments: &[String], count: usize) -> Result<f64> {
    let mut command = project::command(&program.to_string_lossy());
    let printed = project::output(command.args(arguments), "reading the mailbox natively")?;
    let (read, seconds) = printed.trim().split_once(' ').context("two figures are printed")?;
    ensure!(read.parse::<usize>()? == count, "the native client read {read} messages of {count}");
    Ok(seconds.parse()?)
}
