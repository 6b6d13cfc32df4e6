//! `switchboard admin`: manages the operators of the administration panel, with or without a running server.

mod create;
mod link;
mod list;
mod open_store;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use serde_json::json;
use service::manage::actor::Actor;
use service::manage::operators::rights;

use crate::cli::admin::open_store::PanelOptions;
use crate::cli::output::answer;
use crate::cli::refusal::command_error;

/// Create, list and disable operators of the administration panel, and print sign-in links
///
/// Works on the database directly: no server has to run, and a running one needs no restart.
#[derive(Subcommand)]
pub enum Admin {
    Create(create::CreateOperator),
    List(list::ListOperators),
    Link(link::LinkOperator),
    Disable(DisableOperator),
}

/// Disable an operator: sessions end within a second, and signing in is refused
#[derive(Args)]
#[command(after_help = "Example:\n  switchboard admin disable ada@example.com")]
pub struct DisableOperator {
    /// Email address of the operator, as `admin list` shows it
    #[arg(value_name = "EMAIL")]
    email: String,
    /// Print JSON: id, email, disabled
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    panel: PanelOptions,
}

impl Admin {
    pub async fn run(self) -> Result<ExitCode> {
        match self {
            Admin::Create(create) => create.run().await?,
            Admin::List(list) => list.run().await?,
            Admin::Link(link) => link.run().await?,
            Admin::Disable(disable) => disable.run().await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl DisableOperator {
    async fn run(self) -> Result<()> {
        let open = self.panel.open().await?;
        let disabled = async {
            let operator = open.load_operator(&self.email).await?;
            let actor = Actor::command("switchboard admin disable");
            rights::disable(open.operators(), &actor, &operator.id).await.map_err(command_error)?;
            Ok::<_, anyhow::Error>(operator)
        };
        let disabled = disabled.await;
        let database = open.close().await;
        let operator = disabled?;
        if self.json {
            let shown = json!({ "id": operator.id, "email": operator.email, "disabled": true });
            return answer(&serde_json::to_string_pretty(&shown)?);
        }
        answer(&format!("disabled  {}\ndatabase  {database}", operator.email))
    }
}
