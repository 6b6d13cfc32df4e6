//! A hundred clients want the same slot at the same time, repeatedly: the time until the losers have their answer.

use std::time::Instant;

use anyhow::{Result, ensure};
use serde_json::Value;

use crate::bench::load::{LoadMeasurement, Race};
use crate::bench::rig::Rig;
use crate::bench::scheduling::booking;
use crate::bench::scheduling::service::{EventType, Service};
use crate::bench::table::{FigureTarget, Row};

const CLIENTS: usize = 100;
/// Contested slots of each row: 9,900 losers, of whom the slowest hundredth are 99.
const ROUNDS: usize = 100;
/// Contested slots of the warm-up, which do not count.
const WARM_UP: usize = 3;
/// The maximum p99 of losers, in milliseconds.
const AT_MOST: f64 = 50.0;

/// Two rows: without an Idempotency-Key, and with one, which costs each loser two commits more (the claim and the stored answer).
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    let service = Service::start(rig, "scheduling-losers", &[])?;
    let of = booking::event_type(&service)?;
    let starts = booking::starts(&service, &of, 2 * (WARM_UP + ROUNDS))?;
    let (plain, keyed) = starts.split_at(WARM_UP + ROUNDS);
    let plain = race(&service, &of, (plain, false))?;
    let keyed = race(&service, &of, (keyed, true))?;
    service.server.stop()?;
    let row = |with: &str, losers: &LoadMeasurement, target: FigureTarget| Row {
        what: format!("{CLIENTS} clients want one slot, {with}: 99 of 100 losers know (SQLite)"),
        ours: losers.render(),
        baseline: format!("{ROUNDS} slots, one winner each"),
        figure: f64::from(losers.quantile(0.99)) / 1_000.0,
        unit: " ms".to_owned(),
        target,
    };
    Ok(vec![
        row("no Idempotency-Key", &plain, FigureTarget::AtMost(AT_MOST)),
        row("each with an Idempotency-Key", &keyed, FigureTarget::None),
    ])
}

/// Returns the waiting times of the losers of all races. Fails unless each slot goes to exactly one client.
fn race(service: &Service, of: &EventType, (starts, is_keyed): (&[Value], bool)) -> Result<LoadMeasurement> {
    let mut race = Race::connect(service.server.options.listen, CLIENTS)?;
    let mut measured = LoadMeasurement::default();
    for (round, start) in starts.iter().enumerate() {
        let load = service.booking(of, start, is_keyed);
        let began = Instant::now();
        let answers = race.run(&load)?;
        let seconds = began.elapsed().as_secs_f64();
        let with = |status: u16| answers.iter().filter(move |answer| answer.0 == status);
        let (won, lost) = (with(201).count(), with(409).count());
        ensure!((won, lost) == (1, CLIENTS - 1), "{won} won and {lost} lost of {CLIENTS}: {answers:?}");
        if round >= WARM_UP {
            measured.micros.extend(with(409).map(|answer| answer.1));
            measured.seconds += seconds;
        }
    }
    measured.requests = measured.micros.len() as u64;
    measured.micros.sort_unstable();
    Ok(measured)
}
