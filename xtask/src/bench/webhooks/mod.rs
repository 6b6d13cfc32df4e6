//! Webhooks beside BullMQ on Redis: how many notifications a second each delivers to the same endpoint on the same two cores, and how long
//! one takes. Both send the same bodies with the same signature; ours are events of a log that is on disk, theirs are jobs of queues.
//!
//! `WEBHOOK_BENCH_EVENTS=50000` measures a longer log than the usual one.

mod bullmq;
pub mod clock;
pub mod fan_out;
pub mod receiver;
mod switchboard;

use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::json;

use crate::bench::keyed_create::flush_us;
use crate::bench::rig::Rig;
use crate::bench::table::{FigureTarget, Row};
use crate::bench::webhooks::bullmq::{Bullmq, Persistence, Task, write_bodies};
use crate::bench::webhooks::receiver::{Receiver, RecordedPart};
use crate::bench::webhooks::switchboard::Host;
use crate::project;

/// Events of the log, each of which goes to every subscription, unless `WEBHOOK_BENCH_EVENTS` sets another number.
const EVENTS: usize = 5_000;
const SUBSCRIPTIONS: usize = 10;
/// Simultaneous attempts: of a subscription, and of a worker.
const CONCURRENCY: [usize; 2] = [8, 16];
/// Numbers of Node processes that are tried; the better one counts.
const PROCESSES: [usize; 2] = [1, 2];
/// Events that are created in a second, and the seconds of each run, when the delay is measured.
const RATE: usize = 200;
const SECONDS: u64 = 30;
/// The time limit for all notifications.
const LIMIT: Duration = Duration::from_secs(900);
const EVENT_TYPE: &str = "calendar.event.created";
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
/// The cores that all sides share, if there are more.
const CORES: &str = "0,1";

/// Rows for each concurrency: the rate beside each persistence of Redis, and the processor time; then two rows of the delay.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    let _pinned = CorePin::new()?;
    let bench = Bench::new(rig)?;
    let mut rows = Vec::new();
    for concurrency in CONCURRENCY {
        rows.extend(bench.backlog(rig, concurrency)?);
    }
    rows.extend(bench.delays(rig)?);
    Ok(rows)
}

struct Bench {
    bullmq: Bullmq,
    receiver: Receiver,
    events: usize,
    bodies: PathBuf,
}

/// The sums of one side's runs.
#[derive(Clone, Copy, Default)]
struct DeliveryTurns {
    notifications: usize,
    seconds: f64,
    processor_seconds: f64,
    repeats: usize,
    processes: usize,
}

impl DeliveryTurns {
    fn rate(&self) -> f64 {
        self.notifications as f64 / self.seconds
    }

    /// Seconds of processor time for 1,000 notifications.
    fn cost(&self) -> f64 {
        self.processor_seconds * 1_000.0 / self.notifications as f64
    }

    fn add(&mut self, other: DeliveryTurns) {
        self.notifications += other.notifications;
        self.seconds += other.seconds;
        self.processor_seconds += other.processor_seconds;
        self.repeats += other.repeats;
        self.processes = other.processes;
    }

    fn render(&self) -> String {
        format!("{:.0}/s, {:.2} s of processor time for 1,000", self.rate(), self.cost())
    }
}

impl Bench {
    fn new(rig: &Rig) -> Result<Bench> {
        let events = match std::env::var("WEBHOOK_BENCH_EVENTS") {
            Ok(number) => number.parse().context("WEBHOOK_BENCH_EVENTS is no number")?,
            Err(_) => EVENTS,
        };
        let bodies = rig.folder("webhook-bodies")?.join("bodies.jsonl");
        Ok(Bench { bullmq: Bullmq::install(rig)?, receiver: Receiver::start()?, events, bodies })
    }

    fn notifications(&self) -> usize {
        self.events * SUBSCRIPTIONS
    }

    /// Measures the delivery of a backlog, from the moment at which it may start to the last receipt.
    fn backlog(&self, rig: &Rig, concurrency: usize) -> Result<Vec<Row>> {
        let mut host = Host::start(rig, &format!("webhooks-{concurrency}"))?;
        let urls: Vec<String> = (0..SUBSCRIPTIONS).map(|number| self.receiver.url(number)).collect();
        host.subscribe(&urls, EVENT_TYPE)?;
        self.note_bodies(&host)?;
        let mut ours = self.measure_ours(&host, concurrency)?;
        let mut theirs = self.best_of_theirs(concurrency)?;
        theirs.add(self.measure_theirs(Persistence::Never, (theirs.processes, concurrency))?);
        ours.add(self.measure_ours(&host, concurrency)?);
        host.server.stop()?;
        let mut rows = vec![self.row(concurrency, Persistence::Never, (&ours, &theirs))];
        rows.push(Row {
            what: format!("the same ({concurrency} at a time): processor time, of all but the endpoint"),
            ours: ours.render(),
            baseline: format!("BullMQ {}: {}", Persistence::Never, theirs.render()),
            figure: ours.cost() / theirs.cost(),
            unit: "×".to_owned(),
            target: FigureTarget::None,
        });
        for persistence in [Persistence::EverySecond, Persistence::Always] {
            let theirs = self.measure_theirs(persistence, (theirs.processes, concurrency))?;
            rows.push(self.row(concurrency, persistence, (&ours, &theirs)));
        }
        Ok(rows)
    }

    fn row(
        &self,
        concurrency: usize,
        persistence: Persistence,
        (ours, theirs): (&DeliveryTurns, &DeliveryTurns),
    ) -> Row {
        let target =
            if persistence == Persistence::Never { FigureTarget::AtLeast(1.0) } else { FigureTarget::None };
        Row {
            what: format!(
                "{} notifications that wait, {SUBSCRIPTIONS} endpoints, {concurrency} at a time at each",
                self.notifications()
            ),
            ours: format!("{}, {} sent twice", ours.render(), ours.repeats),
            baseline: format!(
                "BullMQ on Redis {persistence}, Node processes: {}: {}",
                theirs.processes,
                theirs.render()
            ),
            figure: ours.rate() / theirs.rate(),
            unit: "×".to_owned(),
            target,
        }
    }

    /// Has events delivered once, to keep their bodies for the other side.
    fn note_bodies(&self, host: &Host) -> Result<()> {
        self.receiver.begin(self.notifications(), RecordedPart::Body);
        host.create_events(self.events)?;
        let seen = self.receiver.wait(LIMIT)?;
        ensure!(seen.bodies.len() == self.events, "the first endpoint has {} bodies", seen.bodies.len());
        write_bodies(&self.bodies, &seen.bodies)
    }

    fn measure_ours(&self, host: &Host, concurrency: usize) -> Result<DeliveryTurns> {
        host.set(&json!({ "status": "paused", "maxConcurrent": concurrency }))?;
        host.create_events(self.events)?;
        self.turn(&[host.server.pid()], || host.set(&json!({ "status": "active" })))
    }

    /// Returns the figures of the better number of processes.
    fn best_of_theirs(&self, concurrency: usize) -> Result<DeliveryTurns> {
        let mut best = DeliveryTurns::default();
        for processes in PROCESSES {
            let turn = self.measure_theirs(Persistence::Never, (processes, concurrency))?;
            if best.notifications == 0 || turn.rate() > best.rate() {
                best = turn;
            }
        }
        Ok(best)
    }

    fn measure_theirs(
        &self,
        persistence: Persistence,
        (processes, concurrency): (usize, usize),
    ) -> Result<DeliveryTurns> {
        let task = Task {
            persistence,
            processes,
            queues: SUBSCRIPTIONS,
            concurrency,
            receiver: self.receiver.address,
            secret: SECRET.to_owned(),
            bodies: self.bodies.clone(),
            rate: 0,
            seconds: 0,
        };
        let mut running = self.bullmq.start(&task)?;
        let turn = self.turn(&running.pids(), || running.begin())?;
        Ok(DeliveryTurns { processes, ..turn })
    }

    /// Measures one run, from `begin` to the last receipt.
    fn turn(&self, pids: &[u32], begin: impl FnOnce() -> Result<()>) -> Result<DeliveryTurns> {
        let used = || pids.iter().map(|pid| clock::processor_seconds(*pid)).sum::<Result<f64>>();
        self.receiver.begin(self.notifications(), RecordedPart::Nothing);
        let (before, start) = (used()?, Instant::now());
        begin()?;
        let seen = self.receiver.wait(LIMIT)?;
        let last = seen.last.context("nothing arrived")?;
        Ok(DeliveryTurns {
            notifications: seen.count(),
            seconds: last.saturating_duration_since(start).as_secs_f64(),
            processor_seconds: used()? - before,
            repeats: seen.repeats,
            processes: 1,
        })
    }

    /// Measures the delay from the log entry, which is written before its commit, to the receipt; beside that of a job, from before it is
    /// added to the receipt.
    fn delays(&self, rig: &Rig) -> Result<Vec<Row>> {
        let mut host = Host::start(rig, "webhooks-delays")?;
        host.subscribe(&[self.receiver.url(0)], EVENT_TYPE)?;
        // The first use is slower.
        self.receiver.begin(RATE, RecordedPart::Nothing);
        host.create_events(RATE)?;
        self.receiver.wait(LIMIT)?;
        let mut ours = self.our_delays(&host)?;
        let mut never = self.their_delays(Persistence::Never)?;
        let mut always = self.their_delays(Persistence::Always)?;
        ours.extend(self.our_delays(&host)?);
        host.server.stop()?;
        let flush = flush_us(&rig.folder("flush")?)?;
        let row = |what: &str, share: f64, most: f64, delays: [&mut Vec<f64>; 3]| {
            let [ours, never, always] = delays.map(|delays| quantile(delays, share));
            Row {
                what: format!("{what} of an event's notification, {RATE} events a second through the API"),
                ours: format!(
                    "{ours:.1} ms from the line of the log to the receipt; a flush of this disk takes {flush:.0} µs"
                ),
                baseline: format!(
                    "BullMQ, from `queue.add` to the receipt: {} {never:.1} ms, {} {always:.1} ms",
                    Persistence::Never,
                    Persistence::Always
                ),
                figure: ours,
                unit: " ms".to_owned(),
                target: FigureTarget::AtMost(most),
            }
        };
        let median = row("half", 0.5, 15.0, [&mut ours, &mut never, &mut always]);
        Ok(vec![median, row("99 of 100", 0.99, 100.0, [&mut ours, &mut never, &mut always])])
    }

    fn our_delays(&self, host: &Host) -> Result<Vec<f64>> {
        let length = Duration::from_secs(SECONDS);
        self.receiver.begin(RATE * usize::try_from(SECONDS)?, RecordedPart::Delay);
        host.create_at_rate(RATE, length)?;
        Ok(self.receiver.wait(LIMIT)?.delays_ms)
    }

    fn their_delays(&self, persistence: Persistence) -> Result<Vec<f64>> {
        let task = Task {
            persistence,
            processes: 1,
            queues: 1,
            concurrency: CONCURRENCY[0],
            receiver: self.receiver.address,
            secret: SECRET.to_owned(),
            bodies: self.bodies.clone(),
            rate: RATE,
            seconds: SECONDS,
        };
        let mut running = self.bullmq.start(&task)?;
        self.receiver.begin(RATE * usize::try_from(SECONDS)?, RecordedPart::Delay);
        running.begin()?;
        running.added()?;
        Ok(self.receiver.wait(LIMIT)?.delays_ms)
    }
}

/// Returns the delay below which this share (0 to 1) stays.
fn quantile(delays_ms: &mut [f64], share: f64) -> f64 {
    delays_ms.sort_unstable_by(f64::total_cmp);
    let last = delays_ms.len().saturating_sub(1);
    delays_ms.get((last as f64 * share) as usize).copied().unwrap_or(f64::NAN)
}

/// Keeps this process and its children on two cores until it is dropped.
struct CorePin {
    cores: usize,
}

impl CorePin {
    fn new() -> Result<CorePin> {
        let cores = std::thread::available_parallelism()?.get();
        if cores > 2 {
            pin(CORES)?;
        }
        Ok(CorePin { cores })
    }
}

impl Drop for CorePin {
    fn drop(&mut self) {
        if self.cores > 2
            && let Err(error) = pin(&format!("0-{}", self.cores - 1))
        {
            eprintln!("    this process stays on two cores: {error:#}");
        }
    }
}

fn pin(cores: &str) -> Result<()> {
    let mut command = project::command("taskset");
    command.args(["--all-tasks", "--cpu-list", "--pid", cores, &std::process::id().to_string()]);
    project::run(command.stdout(Stdio::null()), "taskset")
}
