//! `switchboard admin create`: creates an operator, and a link to set their password.

use std::collections::BTreeMap;

use anyhow::Result;
use clap::{ArgGroup, Args};
use model::Instant;
use serde_json::json;
use service::manage::actor::{Actor, Role};
use service::manage::operators::directory::{self, NewAccount};
use service::manage::operators::links::{self, Link};
use storage::organizations;

use crate::cli::admin::open_store::{OpenStore, PanelOptions};
use crate::cli::output::answer;
use crate::cli::refusal::{command_error, ensure_or_help, failure};

/// Create an operator, and print the link to set their password
#[derive(Args)]
#[command(
    group(ArgGroup::new("rights").required(true).args(["admin", "role"])),
    after_help = "\
Examples:
  switchboard admin create ada@example.com --admin
  switchboard admin create bo@example.com --role developer --org Acme"
)]
pub struct CreateOperator {
    /// Email address that the operator signs in with
    #[arg(value_name = "EMAIL")]
    email: String,
    /// Name that others see [default: the part of the address before the @]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Administrator: may do everything, in every organization
    #[arg(long, conflicts_with = "role")]
    admin: bool,
    /// Role in one organization: owner, developer or viewer
    #[arg(long, value_name = "ROLE", value_parser = parse_role, requires = "organization")]
    role: Option<Role>,
    /// The organization, by its name
    #[arg(long = "org", value_name = "NAME", requires = "role")]
    organization: Option<String>,
    /// Create the data directory, the database and the master key if there are none yet
    #[arg(long)]
    init: bool,
    /// Print JSON: id, email, url, expiresAt
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    panel: PanelOptions,
}

/// An operator who was just made.
struct NewOperatorLink {
    id: String,
    link: Link,
}

impl CreateOperator {
    pub async fn run(self) -> Result<()> {
        let open = self.panel.open_current(self.init).await?;
        let made = self.create(&open).await;
        let text = made.and_then(|made| self.text(&open, &made));
        open.close().await;
        answer(&text?)
    }

    async fn create(&self, open: &OpenStore) -> Result<NewOperatorLink> {
        ensure_or_help(
            self.admin || open.has_operators().await?,
            || "the first operator has to be an administrator: nobody can sign in yet".to_owned(),
            || "add --admin".to_owned(),
        )?;
        let mut roles = BTreeMap::new();
        if let (Some(name), Some(role)) = (&self.organization, self.role) {
            let found = organizations::find_by_name(open.db.reader(), name).await?;
            let found = found.ok_or_else(|| {
                failure(
                    format!("--org: there is no organization \"{name}\""),
                    "`switchboard apps list` shows the organizations that have applications",
                )
            })?;
            roles.insert(found.id, role);
        }
        let local_part = self.email.split('@').next().unwrap_or_default();
        let new = NewAccount {
            email: self.email.clone(),
            name: self.name.clone().unwrap_or_else(|| local_part.to_owned()),
            is_admin: self.admin,
            roles,
        };
        let actor = Actor::command("switchboard admin create");
        let id = directory::create(open.operators(), &actor, &new).await.map_err(command_error)?;
        let link = links::reset(open.operators(), &actor, &id, false).await.map_err(command_error)?;
        Ok(NewOperatorLink { id, link })
    }

    fn text(&self, open: &OpenStore, made: &NewOperatorLink) -> Result<String> {
        let NewOperatorLink { id, link } = made;
        if self.json {
            return Ok(serde_json::to_string_pretty(&json!({
                "id": id,
                "email": self.email,
                "url": open.url(link),
                "expiresAt": Instant::from_millis(link.expires_at),
            }))?);
        }
        Ok(format!("operator  {}\ndatabase  {}\n{}", self.email, open.database(), open.link_lines(link)))
    }
}

fn parse_role(text: &str) -> std::result::Result<Role, String> {
    Role::parse(text).ok_or_else(|| "a role is owner, developer or viewer".to_owned())
}
