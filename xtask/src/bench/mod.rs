//! `cargo xtask bench`: the release build against named baselines. Both sides run in one session, in the order A B B A, so that a slow
//! minute of the machine hits both; the result is their ratio. A case is a file here with a `run`, or a function of a provider. The case
//! `mail` needs mbsync, which is not installed by itself: `apt-get install isync` (isync 1.4 or later).

pub mod bare;
mod edit_loop;
mod first_sync;
mod get_by_id;
mod google;
mod idle_connectors;
mod import;
mod in_process;
mod keyed_create;
mod languages;
mod list;
mod load;
mod local_reads;
mod mail;
pub mod memory;
mod merging;
mod microsoft;
mod node;
mod providers;
mod request_log;
mod rig;
mod scheduling;
mod sign_ins;
mod start;
mod table;
mod templates;
pub mod webhooks;

use std::fs;
use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::bench::rig::Rig;
use crate::bench::table::{Row, table};
use crate::connectors;
use crate::project;
use crate::server::{self, Build};

type Case = fn(&Rig) -> Result<Vec<Row>>;

/// Every case, in the order of the table.
const CASES: [(&str, Case); 34] = [
    ("connector-call", in_process::run),
    ("languages", languages::run),
    ("get-by-id", get_by_id::run),
    ("request-log", request_log::run),
    ("sign-ins", sign_ins::run),
    ("list", list::run),
    ("list-local", local_reads::run),
    ("keyed-create", keyed_create::run),
    ("import", import::run),
    ("mail", mail::run),
    ("mail-parsing", mail::parsing::run),
    ("first-sync", first_sync::run),
    ("merging", merging::run),
    ("start", start::run),
    ("idle-connectors", idle_connectors::run),
    ("fan-out", webhooks::fan_out::run),
    ("webhooks", webhooks::run),
    ("scheduling", scheduling::run),
    ("google-calls", google::calls::run),
    ("google-event-sync", google::event_sync::run),
    ("google-mail-sync", google::mail_sync),
    ("google-mail-quota", google::mail_quota::run),
    ("google-nothing-new", google::nothing_new),
    ("google-throttled", google::throttled::run),
    ("google-at-once", google::at_once),
    ("google-size", google::size),
    ("microsoft-calls", microsoft::calls::run),
    ("microsoft-event-sync", microsoft::event_sync::run),
    ("microsoft-mail-sync", microsoft::mail_sync),
    ("microsoft-nothing-new", microsoft::nothing_new),
    ("microsoft-throttled", microsoft::throttled::run),
    ("microsoft-at-once", microsoft::at_once),
    ("microsoft-send", microsoft::send::run),
    ("microsoft-size", microsoft::size),
];

#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct BenchArguments {
    #[command(subcommand)]
    other: Option<Other>,
    /// Run these cases alone; the results file stays as it is.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Seconds of load for each of the four turns of a comparison.
    #[arg(long, default_value_t = 3)]
    seconds: u64,
    /// Measure this optimised server with the connectors that were built last, and build nothing: to look for what takes the time.
    #[arg(long)]
    server: Option<PathBuf>,
}

/// Measurements without a baseline.
#[derive(clap::Subcommand)]
enum Other {
    /// How long a developer waits after one edited line: for `cargo check`, a test and a dev server; writes `xtask/LOOP.md`.
    Loop(edit_loop::EditLoopArguments),
}

/// Builds the measured programs, runs the cases, prints the table and writes it to `xtask/BENCH.md`.
pub fn run(arguments: &BenchArguments) -> Result<()> {
    if let Some(Other::Loop(arguments)) = &arguments.other {
        return edit_loop::run(arguments);
    }
    let names: Vec<&str> = CASES.iter().map(|(name, _)| *name).collect();
    if let Some(unknown) = arguments.only.iter().find(|name| !names.contains(&name.as_str())) {
        bail!("there is no case {unknown:?}; there are: {}", names.join(", "));
    }
    let is_wanted = |name: &str| arguments.only.is_empty() || arguments.only.iter().any(|only| only == name);
    if is_wanted("mail") {
        // Before the builds and the other cases, because an error in a case loses the rows of all of them.
        mail::ensure_installed()?;
    }
    if cfg!(debug_assertions) {
        return in_release(arguments);
    }
    let binary = match &arguments.server {
        Some(built) => built.clone(),
        None => {
            connectors::run(&connectors::ConnectorsArguments::all(false))?;
            server::build(Build::Dist, project::step)?
        }
    };
    let rig = Rig { binary, seconds: arguments.seconds };
    let mut rows = Vec::new();
    for (name, case) in CASES {
        if is_wanted(name) {
            project::step(&format!("measuring {name}"));
            let measured = case(&rig)?;
            // A later failure would lose the table.
            println!("\n{}", table(&measured));
            rows.extend(measured);
        }
    }
    let text = table(&rows);
    println!("\n{text}");
    if arguments.only.is_empty() && arguments.server.is_none() {
        fs::write(project::root().join("xtask/BENCH.md"), &text)?;
    }
    match rows.iter().filter(|row| row.missed()).count() {
        0 => Ok(()),
        missed => bail!("{missed} of {} figures miss their target", rows.len()),
    }
}

/// The load generator and the bare handler must be optimised as the server is.
fn in_release(arguments: &BenchArguments) -> Result<()> {
    let (seconds, only) = (arguments.seconds.to_string(), arguments.only.join(","));
    let mut given = vec!["bench", "--seconds", &seconds];
    if !only.is_empty() {
        given.extend(["--only", &only]);
    }
    let server = arguments.server.as_ref().map(|path| path.to_string_lossy());
    if let Some(server) = &server {
        given.extend(["--server", server]);
    }
    project::run_optimised(&given)
}
