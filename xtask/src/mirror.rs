//! `cargo xtask mirror`: compares the API's view of a user's own calendars, cards and mail with that of other readers of the same files.

use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::check;
use crate::connectors;
use crate::peers::Peers;
use crate::project;

/// The peers that store the files, and the one without which a mailbox cannot be connected.
const NEEDED: [&str; 3] = ["radicale", "dovecot", "exim"];

#[derive(clap::Args)]
pub struct MirrorArguments {
    /// A folder with .ics, .vcf or .eml files, at any depth. It is read, not changed, and stays on this machine.
    folder: PathBuf,
}

/// Stores the folder's files on the test peers, reads them through the API, and prints classes of differences with counts and examples.
/// Differences are no failure.
pub fn run(arguments: &MirrorArguments) -> Result<()> {
    let folder = &arguments.folder;
    let folder = folder.canonicalize().with_context(|| format!("cannot read {}", folder.display()))?;
    connectors::run(&connectors::ConnectorsArguments::all(true))?;
    let python = check::oracle()?;
    let _lock = project::lock_tests()?;
    project::step("starting the test peers");
    let peers = Peers::start_only(&NEEDED, &[])?;
    project::step("comparing");
    let mut command = project::cargo();
    command.args(["test", "-q", "-p", "switchboard-tests", "--test", "mirror", "--", "--nocapture"]);
    command
        .envs(peers.environment.iter().map(|(name, value)| (name, value)))
        .env("SWITCHBOARD_REQUIRE_PEERS", "1")
        .env("SWITCHBOARD_TEST_BUNDLE", connectors::bundle())
        .env("ORACLE_PYTHON", python)
        .env("SWITCHBOARD_MIRROR_DIR", folder);
    project::run(&mut command, "the comparison")
}
