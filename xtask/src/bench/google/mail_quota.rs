//! The first sync of a mailbox within Gmail's quota: two minutes of it are measured, and the rest is computed from the units that it
//! spends.

use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::bench::google::GOOGLE;
use crate::bench::google::content::put_messages;
use crate::bench::providers::AWAY;
use crate::bench::providers::fake::{ProviderFake, USER};
use crate::bench::providers::host::{ProviderHost, Quota, records_read};
use crate::bench::rig::Rig;
use crate::bench::table::{FigureTarget, Row};

/// Messages of the mailbox: more than the units of two minutes suffice for.
const MESSAGES: usize = 1_500;
/// The number of messages for which the time is computed.
const SCALED: u64 = 10_000;
/// The messages that are synced first.
const FIRST: u64 = 500;
/// The units of a message, and of the list, the history and the labels that are read with a page of them.
const MESSAGE_UNITS: u64 = 20;
const PAGE_UNITS: u64 = 8;
const PAGE: u64 = 50;
/// The units of a minute, and the part of them that the connector's manifest leaves to the background.
const MINUTE_UNITS: f64 = 6_000.0;
const BACKGROUND_UNITS: f64 = 4_800.0;
/// The measured time: it ends before the units of the third minute.
const MEASURED: Duration = Duration::from_secs(119);
const MINUTES: f64 = 2.0;
/// The time limit for the first messages.
const FIRST_LIMIT: Duration = Duration::from_secs(150);
/// The maximum seconds until the first messages are synced.
const MAX_FIRST_S: f64 = 120.0;
/// The maximum ratio to the time that the units allow.
const MAX_RATIO: f64 = 1.05;

/// The units of the user's mailbox.
#[derive(Clone, Copy)]
struct MailUnits {
    spent: u64,
    /// Calls that were refused because the units were used up.
    refused: u64,
}

/// Three rows: the computed time of a whole sync, the time until the newest messages are synced, and the calls that Gmail refused.
pub fn run(rig: &Rig) -> Result<Vec<Row>> {
    let google = ProviderFake::start(&GOOGLE)?;
    put_messages(&google, MESSAGES)?;
    let host = ProviderHost::start(rig, &google, "google-mail-quota", Quota::Manifest)?;
    google.move_away(AWAY)?;
    let before = units(&google)?;
    let start = Instant::now();
    host.start_sync("email")?;
    let (mut measured, mut first_after) = (None, None);
    while measured.is_none() || (first_after.is_none() && start.elapsed() < FIRST_LIMIT) {
        sleep(Duration::from_millis(100));
        let spent = units(&google)?.spent - before.spent;
        if first_after.is_none() && spent >= units_of(FIRST) && records_read(&host.state("email")?) >= FIRST {
            first_after = Some(start.elapsed().as_secs_f64());
        }
        if measured.is_none() && start.elapsed() >= MEASURED {
            measured = Some(spent);
        }
    }
    let spent = measured.context("nothing was measured")?;
    let refused = units(&google)?.refused - before.refused;
    ensure!(spent > 0, "no message was read");
    ensure!(
        spent < units_of(MESSAGES as u64),
        "the mailbox was read before the time was over: it is too small"
    );
    google.ensure_allowed()?;
    host.server.stop()?;
    Ok(rows(spent, refused, first_after.unwrap_or(f64::NAN)))
}

/// Returns the units that a sync of this many messages spends.
fn units_of(messages: u64) -> u64 {
    messages * MESSAGE_UNITS + messages.div_ceil(PAGE) * PAGE_UNITS
}

fn units(google: &ProviderFake) -> Result<MailUnits> {
    let answer = google.get(&format!("mail/{USER}/units"))?;
    let number = |name: &str| answer[name].as_u64().with_context(|| format!("the fake has no units {name}"));
    Ok(MailUnits { spent: number("spent")?, refused: number("refused")? })
}

fn rows(spent: u64, refused: u64, first_after: f64) -> Vec<Row> {
    let what =
        format!("first sync of {SCALED} messages from Gmail with its quota, {} ms away", AWAY.as_millis());
    let minutes = units_of(SCALED) as f64 / (spent as f64 / MINUTES);
    let needed = (SCALED * MESSAGE_UNITS) as f64;
    let (allowed, all) = (needed / BACKGROUND_UNITS, needed / MINUTE_UNITS);
    let whole = Row {
        what: format!("{what}: computed from the units of {MINUTES} minutes"),
        ours: format!("{minutes:.1} min; {spent} units in {MINUTES} minutes"),
        baseline: format!(
            "{allowed:.1} min by the {BACKGROUND_UNITS} units a minute that the manifest leaves to the background; {all:.1} min by all {MINUTE_UNITS}"
        ),
        figure: minutes / allowed,
        unit: "×".to_owned(),
        target: FigureTarget::AtMost(MAX_RATIO),
    };
    let first = Row {
        what: format!("{what}: until the newest {FIRST} are there"),
        ours: format!("{first_after:.1} s"),
        baseline: "–".to_owned(),
        figure: first_after,
        unit: " s".to_owned(),
        target: FigureTarget::AtMost(MAX_FIRST_S),
    };
    let refusals = Row {
        what: format!("{what}: calls that Gmail refused for lack of units"),
        ours: refused.to_string(),
        baseline: "–".to_owned(),
        figure: refused as f64,
        unit: String::new(),
        target: FigureTarget::AtMost(0.0),
    };
    vec![whole, first, refusals]
}
