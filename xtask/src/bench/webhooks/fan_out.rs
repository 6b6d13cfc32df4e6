//! The cost of subscriptions for writes: an event is created with 10,000 of them as quickly as with none, because its transaction writes
//! no rows for them.

use std::time::Duration;

use anyhow::Result;
use serde_json::json;

use crate::bench::rig::Rig;
use crate::bench::table::{FigureTarget, Row};
use crate::bench::webhooks::receiver::{Receiver, RecordedPart};
use crate::bench::webhooks::switchboard::Host;

/// The maximum subscriptions of an application.
const SUBSCRIPTIONS: usize = 10_000;
/// Events that are created at each side: while no subscription wants them, and while all do.
const UNWANTED: usize = 300;
const WANTED: usize = 9;
/// The time between two events that no subscription wants.
const PAUSE: Duration = Duration::from_millis(50);
/// The time limit for the delivery of an event to all subscriptions.
const LIMIT: Duration = Duration::from_secs(300);
/// The maximum time after that until the server is idle again.
const SETTLES: Duration = Duration::from_secs(2);
const EVENT_TYPE: &str = "calendar.event.created";

/// Two rows, the time of a create with the subscriptions to that with none: of events that no subscription wants, and of events that each
/// of them wants, while no other delivery is running.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    let receiver = Receiver::start()?;
    let alone = Host::start(rig, "fan-out-none")?;
    let mut watched = Host::start(rig, "fan-out")?;
    let urls: Vec<String> = (0..SUBSCRIPTIONS).map(|number| receiver.url(number)).collect();
    watched.subscribe(&urls, "contact.created")?;
    let unwanted = run_pairs(
        (&alone, &watched),
        UNWANTED,
        || Ok(()),
        || {
            std::thread::sleep(PAUSE);
            Ok(())
        },
    )?;
    watched.set(&json!({ "eventTypes": [EVENT_TYPE] }))?;
    let begin = || {
        receiver.begin(SUBSCRIPTIONS, RecordedPart::Nothing);
        Ok(())
    };
    let wanted = run_pairs((&alone, &watched), WANTED, begin, || {
        receiver.wait(LIMIT)?;
        std::thread::sleep(SETTLES);
        Ok(())
    })?;
    watched.server.stop()?;
    alone.server.stop()?;
    let row = |which: &str, (without, with): (f64, f64)| Row {
        what: format!("creating an event that {which} of {SUBSCRIPTIONS} subscriptions want"),
        ours: format!("p50 {with:.2} ms"),
        baseline: format!("without subscriptions: p50 {without:.2} ms"),
        figure: with / without,
        unit: "×".to_owned(),
        target: FigureTarget::AtMost(1.1),
    };
    Ok(vec![row("none", unwanted), row("all", wanted)])
}

/// Returns the medians, in milliseconds, of creates at both servers, one after the other in alternating order. `before` and `after` are
/// called around each pair.
fn run_pairs(
    (alone, watched): (&Host, &Host),
    pairs: usize,
    before: impl Fn() -> Result<()>,
    after: impl Fn() -> Result<()>,
) -> Result<(f64, f64)> {
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for pair in 0..pairs {
        before()?;
        let of = |host: &Host| Ok::<_, anyhow::Error>(host.create_event(pair)?.as_secs_f64() * 1_000.0);
        if pair % 2 == 0 {
            without.push(of(alone)?);
            with.push(of(watched)?);
        } else {
            with.push(of(watched)?);
            without.push(of(alone)?);
        }
        after()?;
    }
    Ok((median(&mut without), median(&mut with)))
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_median_is_in_the_middle() {
        assert_eq!(super::median(&mut [3.0, 1.0, 2.0]), 2.0);
        assert!(super::median(&mut []).is_nan());
    }
}
