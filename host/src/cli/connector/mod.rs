//! `switchboard connector`: commands for connectors, from an empty folder to an installed connector. Progress goes to stderr, results to
//! stdout.

mod build;
mod check;
mod dev;
mod installed;
mod new;
mod permissions;
mod project;
mod provider;
mod record;
mod test;
mod try_account;
mod wit;

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

/// Write, test and install connectors
///
/// A connector is a folder with `connector.toml` and the component `<name>.wasm`. An installed one takes precedence over a bundled one
/// (--connectors of `serve`) of the same name. A running server picks up changes within a second.
#[derive(Subcommand)]
#[command(after_help = "\
Write one:
  switchboard connector new notes --lang rust
  cd notes
  switchboard connector test
  switchboard connector dev
  switchboard connector install build/notes")]
pub enum Connector {
    New(new::New),
    Build(build::Build),
    Test(test::Test),
    Check(check::Check),
    Record(record::Record),
    Dev(Box<dev::Dev>),
    Provider(provider::ProviderCommand),
    Wit(wit::Wit),
    Try(Box<try_account::Trial>),
    List(installed::ListConnectors),
    Install(installed::Install),
    Remove(installed::Change),
    Rollback(installed::Rollback),
}

impl Connector {
    /// The log level of the command.
    pub fn log_level(&self) -> String {
        match self {
            Connector::Dev(dev) => dev.log_level.clone(),
            Connector::Check(_) => check::LOG.to_owned(),
            Connector::Try(_) => try_account::LOG.to_owned(),
            _ => "warn".to_owned(),
        }
    }

    pub async fn run(self) -> Result<ExitCode> {
        match self {
            Connector::New(new) => new.run()?,
            Connector::Build(build) => build.run()?,
            Connector::Test(test) => return test.run().await,
            Connector::Check(check) => return check.run().await,
            Connector::Record(record) => return record.run().await,
            Connector::Dev(dev) => dev.run().await?,
            Connector::Provider(provider) => provider.run().await?,
            Connector::Wit(wit) => wit.run()?,
            Connector::Try(trial) => return trial.run().await,
            Connector::List(list) => list.run()?,
            Connector::Install(install) => return install.run().await,
            Connector::Remove(change) => change.remove()?,
            Connector::Rollback(rollback) => rollback.run()?,
        }
        Ok(ExitCode::SUCCESS)
    }
}
