//! `switchboard migrate`: the database's schema, checked or brought up to date.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use storage::migrations;

use crate::cli::output::answer;
use crate::cli::store;
use crate::cli::store_options::StoreOptions;

/// Update the database schema, or check it
///
/// `serve` does this too when it starts. Exit code 1 with --check: migrations are missing.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  switchboard migrate --check\n  switchboard migrate --database-url-file /run/secrets/database-url"
)]
pub struct Migrate {
    /// Change nothing; list the missing migrations
    #[arg(long)]
    check: bool,
    /// Create the data directory and the database's tables if there are none yet
    #[arg(long, conflicts_with = "check")]
    init: bool,
    #[command(flatten)]
    place: StoreOptions,
}

impl Migrate {
    pub async fn run(self) -> Result<ExitCode> {
        let config = self.place.resolve()?;
        if !self.check {
            store::open_current(&config, self.init).await?.close().await;
            answer("the database schema is up to date")?;
            return Ok(ExitCode::SUCCESS);
        }
        let db = store::open(&config).await?;
        let pending = migrations::pending(&db).await;
        db.close().await;
        match pending?.as_slice() {
            [] => {
                answer("the database schema is up to date")?;
                Ok(ExitCode::SUCCESS)
            }
            pending => {
                let versions: Vec<String> = pending.iter().map(ToString::to_string).collect();
                answer(&format!(
                    "the database lacks migrations {}; run `switchboard migrate`",
                    versions.join(", ")
                ))?;
                Ok(ExitCode::FAILURE)
            }
        }
    }
}
