//! Creates with an Idempotency-Key on SQLite at 64 clients, against the same server with one commit per request.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use serde_json::json;

use crate::bench::load::{Load, abba};
use crate::bench::rig::{Rig, Subject};
use crate::bench::table::{FigureTarget, Row};
use crate::project;

const CLIENTS: usize = 64;

/// Four rows: creates that need the store alone, and creates that go through connector and provider; each on a disk whose flush takes 2
/// ms and on this machine's own. If a flush takes little time, a create through a connector is bound by the processors with and without
/// group commit, and the row on this disk shows the processor cost of group commit; its benefit shows on the slow disk.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    let slow = slow_flush(rig)?;
    let on_slow_disk = pair(rig, "keyed-create-slow", &[("LD_PRELOAD", &slow)])?;
    let what = "keyed create in the store (API key), a flush of the disk takes 2 ms";
    let mut rows = vec![compare(rig, what, &on_slow_disk, key, FigureTarget::AtLeast(5.0))?];
    let what = "keyed create through the connector (event), a flush of the disk takes 2 ms";
    rows.push(compare(rig, what, &on_slow_disk, event, FigureTarget::AtLeast(3.0))?);
    stop(on_slow_disk)?;
    let on_this_disk = pair(rig, "keyed-create", &[])?;
    let flush = flush_us(&rig.folder("flush")?)?;
    let what = format!("the same on this disk, a flush takes {flush:.0} µs");
    rows.push(compare(rig, &what, &on_this_disk, key, FigureTarget::None)?);
    let what = "keyed create through the connector (event), on this disk";
    rows.push(compare(rig, what, &on_this_disk, event, FigureTarget::None)?);
    stop(on_this_disk)?;
    Ok(rows)
}

/// Starts the server twice: as it is, and with one commit per request.
fn pair(rig: &Rig, name: &str, environment: &[(&str, &str)]) -> Result<(Subject, Subject)> {
    let mut single = environment.to_vec();
    single.push(("SWITCHBOARD_GROUP_COMMIT", "off"));
    Ok((rig.subject(name, environment)?, rig.subject(&format!("{name}-single"), &single)?))
}

fn stop((grouped, single): (Subject, Subject)) -> Result<()> {
    grouped.server.stop()?;
    single.server.stop()
}

fn compare(
    rig: &Rig,
    what: &str,
    (grouped, single): &(Subject, Subject),
    load: fn(&Subject) -> Load,
    target: FigureTarget,
) -> Result<Row> {
    let (a, b) = abba(&load(grouped), &load(single), rig.seconds)?;
    Ok(Row {
        what: format!("{what} ({CLIENTS} clients, SQLite)"),
        ours: a.render(),
        baseline: format!("one commit per request: {}", b.render()),
        figure: a.rate() / b.rate(),
        unit: "×".to_owned(),
        target,
    })
}

fn key(subject: &Subject) -> Load {
    let body = json!({ "name": "bench {n}", "scopes": ["calendar.read"] }).to_string();
    keyed_load(subject, "/v1/api-keys".to_owned(), body)
}

fn event(subject: &Subject) -> Load {
    let (start, end) = ("2030-02-01T09:00:00Z", "2030-02-01T10:00:00Z");
    let body =
        json!({ "connection_id": subject.connection, "title": "Event {n}", "start": start, "end": end });
    keyed_load(subject, format!("/v1/calendars/{}/events", subject.calendar), body.to_string())
}

/// Builds `slow_flush.c`, to be loaded by `LD_PRELOAD`: group commit saves flushes, and those of this machine may cost next to nothing.
pub fn slow_flush(rig: &Rig) -> Result<String> {
    let library = rig.folder("slow-flush")?.join("slow_flush.so");
    let source = project::root().join("xtask/src/bench/slow_flush.c");
    let mut cc = project::command("cc");
    cc.args(["-O2", "-shared", "-fPIC", "-o"]).arg(&library).arg(source);
    project::run(&mut cc, "cc slow_flush.c")?;
    Ok(library.to_string_lossy().into_owned())
}

/// Measures the microseconds of a flush on this disk: the median of 200.
pub fn flush_us(folder: &Path) -> Result<f64> {
    let mut file = File::create(folder.join("flush"))?;
    let mut times = Vec::new();
    for _ in 0..200 {
        file.write_all(&[0; 4096])?;
        let start = Instant::now();
        file.sync_data()?;
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

fn keyed_load(subject: &Subject, path: String, body: String) -> Load {
    let mut load = subject.load("POST", path, 201, CLIENTS);
    load.headers.push("idempotency-key: bench-{n}".to_owned());
    Load { body, ..load }
}
