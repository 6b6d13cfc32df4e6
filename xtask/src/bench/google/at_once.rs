//! Simultaneous requests of one account, as Google sees them.

use std::thread::sleep;
use std::time::Duration;

use anyhow::{Result, ensure};

use crate::bench::google::content::{add_calendar, put_contacts_and_tasks, put_messages};
use crate::bench::google::fake::FakeGoogle;
use crate::bench::google::host::{GoogleHost, Quota};
use crate::bench::google::pressure::under_pressure;
use crate::bench::google::{AWAY, NO_LIMIT};
use crate::bench::rig::Rig;
use crate::bench::table::{FigureTarget, Row};

/// Messages of the mailbox, whose first sync runs at the same time.
const MESSAGES: usize = 2_000;
const CALENDARS: usize = 8;
/// Events of each calendar, contacts and tasks.
const RECORDS: usize = 50;
const CLIENTS: usize = 16;
/// The `concurrent` of the connector's manifest.
const MAX_CONCURRENT_REQUESTS: f64 = 4.0;

/// One row: the maximum of simultaneous requests, with a first sync and many clients of all kinds of data.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    let google = FakeGoogle::start()?;
    put_messages(&google, MESSAGES)?;
    put_contacts_and_tasks(&google, RECORDS)?;
    for number in 0..CALENDARS {
        add_calendar(&google, number, RECORDS)?;
    }
    google.limit_mail(NO_LIMIT)?;
    let host = GoogleHost::start(rig, &google, "google-at-once", Quota::Off)?;
    let mut paths = vec![
        format!("{}/tasks?limit=50", host.task_list()?),
        format!("/v1/contacts?connection_id={}&limit=50", host.connection),
        format!("/v1/email/messages?connection_id={}&limit=50&native_query=in%3Ainbox", host.connection),
    ];
    for number in 0..CALENDARS {
        let calendar = host.calendar(&format!("Calendar {number}"))?;
        paths.push(format!("/v1/calendars/{calendar}/events?limit=50"));
    }
    google.move_away(AWAY)?;
    host.start_sync("email")?;
    let wait = || {
        sleep(Duration::from_secs(2 * rig.seconds));
        Ok(())
    };
    let ((), answers) = under_pressure(&host, &paths, CLIENTS, wait)?;
    let most = google.most_at_once()?;
    ensure!(answers.accepted > 0, "no request was answered");
    ensure!(most > 1, "one request at a time says nothing of a limit");
    google.ensure_allowed()?;
    host.server.stop()?;
    Ok(vec![Row {
        what: format!(
            "requests of one account to Google under way at once, with a first sync and {CLIENTS} clients"
        ),
        ours: format!(
            "{most} at most; {} requests of the clients answered, {} refused",
            answers.accepted, answers.refused
        ),
        baseline: "–".to_owned(),
        figure: most as f64,
        unit: String::new(),
        target: FigureTarget::AtMost(MAX_CONCURRENT_REQUESTS),
    }])
}
