//! Calendars, contacts and tasks of an account whose mailbox the provider throttles: their reads take as long as before.

use anyhow::{Result, ensure};

use crate::bench::load::{Load, LoadMeasurement, measure};
use crate::bench::providers::AWAY;
use crate::bench::providers::fake::ProviderFake;
use crate::bench::providers::host::ProviderHost;
use crate::bench::providers::pressure::{AnswerCount, under_pressure};
use crate::bench::table::{FigureTarget, Row};

/// Clients of the mailbox, and of the other data.
const MAIL_CLIENTS: usize = 2;
const CLIENTS: usize = 2;
/// The factor by which runs of load are longer than those of other cases: a p99 needs enough requests.
const TURN_FACTOR: u64 = 3;
const MAX_RATIO: f64 = 1.1;

/// An account whose mailbox the provider can throttle.
pub struct ThrottledCase<'a> {
    pub fake: &'a ProviderFake,
    pub host: &'a ProviderHost,
    /// The name of the calendar that is read.
    pub calendar: &'static str,
    /// Searches for messages in the provider's language, percent-encoded.
    pub queries: &'a [&'static str],
    /// Throttles the mailbox, so that the provider refuses searches.
    pub throttle: fn(&ProviderFake) -> Result<()>,
}

/// One row: the p99 of reads, beside that with a mailbox without readers, in the order A B B A.
pub fn run(case: &ThrottledCase<'_>, seconds: u64) -> Result<Row> {
    let host = case.host;
    let events = format!("/v1/calendars/{}/events?limit=50", host.calendar(case.calendar)?);
    let tasks = format!("{}/tasks?limit=50", host.task_list()?);
    let contacts = format!("/v1/contacts?connection_id={}&limit=50", host.connection);
    let paths = [events, tasks, contacts];
    for path in paths.iter().cycle().take(2 * paths.len()) {
        host.fresh(path)?;
    }
    case.fake.move_away(AWAY)?;
    (case.throttle)(case.fake)?;
    let search = |query: &&str| {
        format!("/v1/email/messages?connection_id={}&limit=50&native_query={query}", host.connection)
    };
    let mail: Vec<String> = case.queries.iter().map(search).collect();
    let load = Load { choices: paths.into(), ..host.load("GET", "{one}", CLIENTS) };
    let seconds = seconds * TURN_FACTOR;
    let (mut throttled, mut quiet) = (LoadMeasurement::default(), LoadMeasurement::default());
    let mut answers = AnswerCount::default();
    for is_throttled in [true, false, false, true] {
        if is_throttled {
            let (measured, count) = under_pressure(host, &mail, MAIL_CLIENTS, || measure(&load, seconds))?;
            throttled.add(measured);
            answers.refused += count.refused;
            answers.accepted += count.accepted;
        } else {
            quiet.add(measure(&load, seconds)?);
        }
    }
    ensure!(answers.refused > 0, "no search was refused: the mailbox was not throttled");
    let p99 = |measured: &LoadMeasurement| f64::from(measured.quantile(0.99));
    Ok(Row {
        what: format!(
            "events, contacts and tasks, as fresh as {}, {} ms away, while it throttles the mailbox: 99 of 100",
            case.fake.profile.title,
            AWAY.as_millis()
        ),
        ours: format!(
            "{}; searches at the same time: {} refused, {} answered",
            throttled.render(),
            answers.refused,
            answers.accepted
        ),
        baseline: format!("without reads of the mailbox: {}", quiet.render()),
        figure: p99(&throttled) / p99(&quiet),
        unit: "×".to_owned(),
        target: FigureTarget::AtMost(MAX_RATIO),
    })
}
