//! Calendars, contacts and tasks of an account whose mailbox Gmail throttles: their reads take as long as before.

use anyhow::{Result, ensure};

use crate::bench::google::content::{add_calendar, limit_mail, put_contacts_and_tasks, put_messages};
use crate::bench::google::{GOOGLE, NO_LIMIT};
use crate::bench::load::{Load, LoadMeasurement, measure};
use crate::bench::providers::AWAY;
use crate::bench::providers::fake::ProviderFake;
use crate::bench::providers::host::{ProviderHost, Quota};
use crate::bench::providers::pressure::{AnswerCount, under_pressure};
use crate::bench::rig::Rig;
use crate::bench::table::{FigureTarget, Row};

/// Messages, events of each calendar, contacts and tasks of the account.
const RECORDS: usize = 100;
/// Clients of the mailbox, and of the other data.
const MAIL_CLIENTS: usize = 2;
const CLIENTS: usize = 2;
/// Units a minute of a throttled mailbox: enough for a list, but not for a page of messages.
const FEW_UNITS: u32 = 100;
/// The factor by which runs of load are longer than those of other cases: a p99 needs enough requests.
const TURN_FACTOR: u64 = 3;
const MAX_RATIO: f64 = 1.1;

/// One row: the p99 of reads, beside that with a mailbox without readers, in the order A B B A.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    let google = ProviderFake::start(&GOOGLE)?;
    put_messages(&google, RECORDS)?;
    put_contacts_and_tasks(&google, RECORDS)?;
    add_calendar(&google, 1, RECORDS)?;
    limit_mail(&google, NO_LIMIT)?;
    let host = ProviderHost::start(rig, &google, "google-throttled", Quota::Off)?;
    let events = format!("/v1/calendars/{}/events?limit=50", host.calendar("Calendar 1")?);
    let tasks = format!("{}/tasks?limit=50", host.task_list()?);
    let contacts = format!("/v1/contacts?connection_id={}&limit=50", host.connection);
    let paths = [events, tasks, contacts];
    for path in paths.iter().cycle().take(2 * paths.len()) {
        host.fresh(path)?;
    }
    google.move_away(AWAY)?;
    limit_mail(&google, FEW_UNITS)?;
    let mail = ["inbox", "anywhere"].map(|place| {
        let search = format!("limit=50&native_query=in%3A{place}");
        format!("/v1/email/messages?connection_id={}&{search}", host.connection)
    });
    let load = Load { choices: paths.into(), ..host.load("GET", "{one}", CLIENTS) };
    let seconds = rig.seconds * TURN_FACTOR;
    let (mut throttled, mut quiet) = (LoadMeasurement::default(), LoadMeasurement::default());
    let mut answers = AnswerCount::default();
    for is_throttled in [true, false, false, true] {
        if is_throttled {
            let (measured, count) = under_pressure(&host, &mail, MAIL_CLIENTS, || measure(&load, seconds))?;
            throttled.add(measured);
            answers.refused += count.refused;
            answers.accepted += count.accepted;
        } else {
            quiet.add(measure(&load, seconds)?);
        }
    }
    ensure!(answers.refused > 0, "no search was refused: the mailbox was not throttled");
    google.ensure_allowed()?;
    host.server.stop()?;
    let p99 = |measured: &LoadMeasurement| f64::from(measured.quantile(0.99));
    Ok(vec![Row {
        what: format!(
            "events, contacts and tasks, as fresh as Google, {} ms away, while Gmail throttles the mailbox: 99 of 100",
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
    }])
}
