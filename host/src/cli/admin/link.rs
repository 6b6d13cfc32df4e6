//! `switchboard admin link`: prints a link to set a new password, or to create the first operator.

use anyhow::Result;
use clap::Args;
use model::Instant;
use serde_json::json;
use service::manage::actor::Actor;
use service::manage::operators::links::{self, Link};

use crate::cli::admin::open_store::{OpenStore, PanelOptions};
use crate::cli::output::answer;
use crate::cli::refusal::{command_error, ensure_or_help, failure};

/// Print a link with which an operator sets a new password, and end their sessions
///
/// Without EMAIL, and while there is no operator, the link creates the first one, like the link that `serve` logs.
#[derive(Args)]
#[command(after_help = "\
Examples:
  switchboard admin link
  switchboard admin link ada@example.com --without-second-factor")]
pub struct LinkOperator {
    /// Email address of the operator, as `admin list` shows it
    #[arg(value_name = "EMAIL")]
    email: Option<String>,
    /// Also remove the second factor, for an operator who has lost it
    #[arg(long, requires = "email")]
    without_second_factor: bool,
    /// Create the data directory, the database and the master key if there are none yet
    #[arg(long)]
    init: bool,
    /// Print JSON: email, url, expiresAt
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    panel: PanelOptions,
}

impl LinkOperator {
    pub async fn run(self) -> Result<()> {
        let open = self.panel.open_current(self.init).await?;
        let made = self.link(&open).await;
        let text = made.and_then(|link| self.text(&open, &link));
        open.close().await;
        answer(&text?)
    }

    async fn link(&self, open: &OpenStore) -> Result<Link> {
        let Some(email) = &self.email else {
            let is_empty = !open.has_operators().await?;
            ensure_or_help(
                is_empty,
                || "EMAIL is missing: there are operators already".to_owned(),
                || "name the operator who needs a link; `switchboard admin list` shows them".to_owned(),
            )?;
            let first = links::first(open.operators()).await.map_err(command_error)?;
            return first.ok_or_else(|| {
                failure("the first operator was just created", "run `switchboard admin list`")
            });
        };
        let operator = open.load_operator(email).await?;
        let actor = Actor::command("switchboard admin link");
        let link = links::reset(open.operators(), &actor, &operator.id, self.without_second_factor);
        link.await.map_err(command_error)
    }

    fn text(&self, open: &OpenStore, link: &Link) -> Result<String> {
        if self.json {
            return Ok(serde_json::to_string_pretty(&json!({
                "email": self.email,
                "url": open.url(link),
                "expiresAt": Instant::from_millis(link.expires_at),
            }))?);
        }
        let operator = self.email.as_deref().unwrap_or("the first one, an administrator");
        Ok(format!("operator  {operator}\ndatabase  {}\n{}", open.database(), open.link_lines(link)))
    }
}
