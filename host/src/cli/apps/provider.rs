//! `switchboard apps provider`: the OAuth clients that an operator registered at providers, one for each application and provider.

use anyhow::Result;
use base::tenant::Tenant;
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use storage::{Db, connections, oauth_clients};

use crate::cli::apps::provider_set::Set;
use crate::cli::apps::stored::{application, render_client};
use crate::cli::output::{answer, table};
use crate::cli::refusal::ensure_or_help;
use crate::cli::store;
use crate::cli::store_options::StoreOptions;

/// Connections that are counted at most for a message.
const MAX_COUNTED: i64 = 1_000;

/// Register, list and remove an application's OAuth clients at providers
#[derive(Subcommand)]
pub enum Provider {
    Set(Box<Set>),
    List(ListRegistrations),
    Remove(Remove),
}

/// List an application's registrations, without their secrets
#[derive(Args)]
pub struct ListRegistrations {
    /// The application's id, as `apps list` shows it
    #[arg(value_name = "APP")]
    application: String,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: StoreOptions,
}

/// Remove a registration
#[derive(Args)]
pub struct Remove {
    /// The application's id, as `apps list` shows it
    #[arg(value_name = "APP")]
    application: String,
    /// The provider, by the name of its connector
    #[arg(value_name = "PROVIDER")]
    provider: String,
    /// Remove it although connections use it; their tokens can then no longer be refreshed
    #[arg(long)]
    force: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: StoreOptions,
}

impl Provider {
    pub async fn run(self) -> Result<()> {
        match self {
            Provider::Set(set) => set.run().await,
            Provider::List(list) => list.run().await,
            Provider::Remove(remove) => remove.run().await,
        }
    }
}

/// Live connections of the application with this provider, at most `MAX_COUNTED`.
async fn count_connections(db: &Db, tenant: &Tenant, provider: &str) -> Result<usize> {
    Ok(connections::list(db.reader(), tenant, (provider, ""), "", MAX_COUNTED).await?.len())
}

impl ListRegistrations {
    async fn run(self) -> Result<()> {
        let db = store::open(&self.place.resolve()?).await?;
        let found = registrations(&db, &self.application).await;
        db.close().await;
        let found = found?;
        if self.json {
            return answer(&serde_json::to_string_pretty(&found)?);
        }
        let text = |v: &Value| v.as_str().unwrap_or("-").to_owned();
        let names = |v: &Value| {
            let all: Vec<&str> = v.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
            if all.is_empty() { "-".to_owned() } else { all.join(",") }
        };
        let head =
            ["PROVIDER", "CLIENT ID", "SECRET", "STATE", "SETTINGS", "OVERRIDES", "CONNECTIONS", "VERSION"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        rows.extend(found.iter().map(|c| {
            let secret = if c["hasSecret"] == true { "yes" } else { "no" };
            let state = if c["disabled"] == true { "disabled" } else { "enabled" };
            vec![
                text(&c["provider"]),
                text(&c["clientId"]),
                secret.to_owned(),
                state.to_owned(),
                names(&c["settings"]),
                names(&c["endpoints"]),
                c["connections"].to_string(),
                c["version"].to_string(),
            ]
        }));
        answer(&table(&rows))
    }
}

/// An application's registrations as `apps provider list --json` prints them.
async fn registrations(db: &Db, application_id: &str) -> Result<Vec<Value>> {
    let tenant = application(db, application_id).await?.tenant;
    let mut found = Vec::new();
    for client in oauth_clients::list(db.reader(), application_id).await? {
        let mut shown = render_client(&client);
        shown["connections"] = json!(count_connections(db, &tenant, &client.provider).await?);
        found.push(shown);
    }
    Ok(found)
}

impl Remove {
    async fn run(self) -> Result<()> {
        let db = store::open(&self.place.clone().resolve()?).await?;
        let removed = self.remove(&db).await;
        db.close().await;
        removed?;
        match self.json {
            true => {
                answer(&serde_json::to_string_pretty(&json!({ "provider": self.provider, "removed": true }))?)
            }
            false => answer(&format!("removed {}", self.provider)),
        }
    }

    async fn remove(&self, db: &Db) -> Result<()> {
        let tenant = application(db, &self.application).await?.tenant;
        let used = count_connections(db, &tenant, &self.provider).await?;
        ensure_or_help(
            used == 0 || self.force,
            || format!("{used} connections of this application are with {}", self.provider),
            || "delete them first, or add --force: their tokens can then no longer be refreshed".to_owned(),
        )?;
        let provider = self.provider.clone();
        let removed: Result<bool> = db
            .write(move |tx| Box::pin(async move { oauth_clients::remove(tx, &tenant, &provider).await }))
            .await;
        ensure_or_help(
            removed?,
            || format!("{} is not registered for this application", self.provider),
            || format!("`switchboard apps provider list {}` shows its providers", self.application),
        )
    }
}
