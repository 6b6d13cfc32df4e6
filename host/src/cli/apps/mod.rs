//! `switchboard apps`: applications, the addresses that their users may return to, their names in the addresses of booking pages, and their
//! registrations at providers, beside a running server or without one.

mod handle;
pub(super) mod manifests;
mod provider;
mod provider_set;
mod stored;

use std::process::ExitCode;

use anyhow::{Result, anyhow, ensure};
use base::clock::{Clock, Entropy};
use base::error::Error;
use base::ids::{self, Kind};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use service::manage::redirect_uri;
use service::manage::redirects::{self, RedirectChange};
use storage::{Db, api_keys, oauth_clients, organizations};

use crate::cli::apps::stored::application;
use crate::cli::output::{answer, table};
use crate::cli::refusal::ensure_or_help;
use crate::cli::store;
use crate::cli::store_options::StoreOptions;

/// Create and list applications, and register what they need to connect accounts by OAuth
///
/// Works on the database directly: no server has to run, and a running one needs no restart.
#[derive(Subcommand)]
pub enum Apps {
    Create(CreateApp),
    List(ListApps),
    Redirects(Redirects),
    Handle(handle::Handle),
    #[command(subcommand)]
    Provider(provider::Provider),
}

/// Create an application. If the organization has one of this name, that one is shown
#[derive(Args)]
pub struct CreateApp {
    /// The application's name, 1 to 100 characters
    #[arg(value_name = "NAME")]
    name: String,
    /// Organization that the application belongs to, created if it is new
    #[arg(long = "org", alias = "organization", value_name = "NAME", default_value = "default")]
    organization: String,
    /// For tests: its keys begin with uc_test_ and reach the sandbox alone. Cannot be changed later
    #[arg(long)]
    test: bool,
    /// Create the data directory and the database if there are none yet
    #[arg(long)]
    init: bool,
    /// Print JSON: id, name, organization, organizationId, test
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: StoreOptions,
}

/// List all applications with their handles, redirect URIs and providers
#[derive(Args)]
pub struct ListApps {
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: StoreOptions,
}

/// Show or change the URLs that users may return to after they have connected an account
///
/// An authorization has to name one of them exactly. A URL is https, or http on localhost, 127.0.0.1 or [::1], or has a scheme of the
/// application's own with a dot in it, such as com.example.app:/connected.
#[derive(Args)]
#[command(after_help = "\
Example:
  switchboard apps redirects app_01JQ8Z6V9C4T7R2M5N8P3K1W0X --add https://app.example.com/connected")]
pub struct Redirects {
    /// The application's id, as `apps list` shows it
    #[arg(value_name = "APP")]
    application: String,
    /// URL to register (repeatable)
    #[arg(long, value_name = "URI", value_parser = redirect_uri::parse)]
    add: Vec<String>,
    /// URL to remove (repeatable)
    #[arg(long, value_name = "URI")]
    remove: Vec<String>,
    /// Print JSON: id, redirects
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: StoreOptions,
}

impl Apps {
    pub async fn run(self) -> Result<ExitCode> {
        match self {
            Apps::Create(create) => create.run().await?,
            Apps::List(list) => list.run().await?,
            Apps::Redirects(redirects) => redirects.run().await?,
            Apps::Handle(handle) => handle.run().await?,
            Apps::Provider(provider) => provider.run().await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl CreateApp {
    async fn run(self) -> Result<()> {
        for (what, text) in [("NAME", &self.name), ("--org", &self.organization)] {
            ensure!((1..=100).contains(&text.chars().count()), "{what} must have 1 to 100 characters");
        }
        let (clock, entropy) = (Clock::system(), Entropy::system());
        let db = store::open_current(&self.place.resolve()?, self.init).await?;
        let (organization, name, now) = (self.organization.clone(), self.name.clone(), clock.now_ms());
        let new =
            (ids::new(Kind::Organization, &clock, &entropy), ids::new(Kind::Application, &clock, &entropy));
        let wants_test = self.test;
        let write = db.write(move |tx| {
            Box::pin(async move {
                let names = (organization.as_str(), name.as_str());
                let tenant = api_keys::ensure_application(tx, names, (&new.0, &new.1), now).await?;
                if wants_test && tenant.application_id == new.1 {
                    organizations::mark_test_application(tx, &tenant).await?;
                }
                let is_test = organizations::is_test_application(&mut *tx, &tenant.application_id).await?;
                Ok::<_, anyhow::Error>((tenant, is_test))
            })
        });
        let written = write.await;
        db.close().await;
        let (tenant, is_test) = written?;
        ensure_or_help(
            is_test || !self.test,
            || format!("the application \"{}\" already exists and is not for tests", self.name),
            || "choose another name for the test application".to_owned(),
        )?;
        if !self.json {
            return answer(&tenant.application_id);
        }
        answer(&serde_json::to_string_pretty(&json!({
            "id": tenant.application_id,
            "name": self.name,
            "organization": self.organization,
            "organizationId": tenant.organization_id,
            "test": is_test,
        }))?)
    }
}

impl ListApps {
    async fn run(self) -> Result<()> {
        let db = store::open(&self.place.resolve()?).await?;
        let found = applications(&db).await;
        db.close().await;
        let found = found?;
        if self.json {
            return answer(&serde_json::to_string_pretty(&found)?);
        }
        let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
        let joined = |v: &Value| {
            let all: Vec<&str> = v.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            if all.is_empty() { "-".to_owned() } else { all.join(",") }
        };
        let head = ["ID", "NAME", "ORGANIZATION", "KIND", "HANDLE", "PROVIDERS", "REDIRECTS"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        rows.extend(found.iter().map(|a| {
            let (providers, redirects) = (joined(&a["providers"]), joined(&a["redirects"]));
            let handle = a["handle"].as_str().unwrap_or("-").to_owned();
            let kind = if a["test"] == true { "test" } else { "live" }.to_owned();
            let (id, name, organization) = (text(&a["id"]), text(&a["name"]), text(&a["organization"]));
            vec![id, name, organization, kind, handle, providers, redirects]
        }));
        answer(&table(&rows))
    }
}

/// All applications as `apps list --json` prints them.
async fn applications(db: &Db) -> Result<Vec<Value>> {
    store::ensure_schema(db).await?;
    let mut shown = Vec::new();
    for application in api_keys::applications(db.reader()).await? {
        let tenant = &application.tenant;
        let redirects = oauth_clients::redirects(db.reader(), tenant).await?;
        let clients = oauth_clients::list(db.reader(), &tenant.application_id).await?;
        shown.push(json!({
            "id": tenant.application_id,
            "name": application.name,
            "organization": application.organization,
            "organizationId": tenant.organization_id,
            "handle": application.handle,
            "test": application.is_test,
            "redirects": redirects,
            "providers": clients.into_iter().map(|client| client.provider).collect::<Vec<_>>(),
        }));
    }
    Ok(shown)
}

impl Redirects {
    async fn run(self) -> Result<()> {
        let db = store::open(&self.place.clone().resolve()?).await?;
        let changed = self.change(&db).await;
        db.close().await;
        let redirects = changed?;
        if self.json {
            let shown = json!({ "id": self.application, "redirects": redirects });
            return answer(&serde_json::to_string_pretty(&shown)?);
        }
        match redirects.is_empty() {
            true => answer("no redirect URI is registered: add one with --add"),
            false => answer(&redirects.join("\n")),
        }
    }

    /// Removes, adds, and returns what is registered then; all of it or nothing.
    async fn change(&self, db: &Db) -> Result<Vec<String>> {
        let tenant = application(db, &self.application).await?.tenant;
        let (add, remove, now) = (self.add.clone(), self.remove.clone(), Clock::system().now_ms());
        let change = RedirectChange { add, remove };
        let changed = db
            .write(move |tx| Box::pin(async move { redirects::change_in(tx, &tenant, &change, now).await }));
        changed.await.map_err(|e| match e {
            Error::Refused(refusal) if refusal.param.as_deref() == Some("redirectUris") => {
                anyhow!("{}", refusal.message)
            }
            Error::Refused(refusal) => anyhow!("--remove {}", refusal.message),
            Error::Internal(cause) => cause,
        })
    }
}
