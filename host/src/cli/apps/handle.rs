//! `switchboard apps handle`: the name of an application in the addresses of its booking pages.

use anyhow::Result;
use clap::Args;
use serde_json::json;
use service::bookings::handle::{from_id, parse};
use storage::Db;
use storage::scheduling::applications;

use crate::cli::apps::stored::application;
use crate::cli::output::answer;
use crate::cli::refusal::ensure_or_help;
use crate::cli::store;
use crate::cli::store_options::StoreOptions;

/// Show or change the name that an application has in the addresses of its booking pages
///
/// Booking pages are at /book/{handle}/{slug}. New links in answers of the API and in mail use the new handle. Addresses with the
/// application's id keep working; addresses with an earlier handle do not.
#[derive(Args)]
#[command(after_help = "\
Example:
  switchboard apps handle app_01JQ8Z6V9C4T7R2M5N8P3K1W0X acme")]
pub struct Handle {
    /// The application's id, as `apps list` shows it
    #[arg(value_name = "APP")]
    application: String,
    /// The handle: 3 to 40 lower-case letters, digits and -, unique among applications. Without it the current one is shown
    #[arg(value_name = "HANDLE", value_parser = parse, conflicts_with = "clear")]
    handle: Option<String>,
    /// Remove the handle: new addresses have the application's id again
    #[arg(long)]
    clear: bool,
    /// Print JSON: id, handle
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: StoreOptions,
}

impl Handle {
    pub async fn run(self) -> Result<()> {
        let db = store::open(&self.place.clone().resolve()?).await?;
        let changed = self.change(&db).await;
        db.close().await;
        let handle = changed?;
        if self.json {
            let shown = json!({ "id": self.application, "handle": handle });
            return answer(&serde_json::to_string_pretty(&shown)?);
        }
        match handle {
            Some(handle) => answer(&format!("booking pages are at /book/{handle}/…")),
            None => answer(&format!(
                "the application has no handle: booking pages are at /book/{}/…",
                from_id(&self.application)
            )),
        }
    }

    /// Changes what the command line says, and returns the handle that the application has then.
    async fn change(&self, db: &Db) -> Result<Option<String>> {
        let found = application(db, &self.application).await?;
        if self.handle.is_none() && !self.clear {
            return Ok(found.handle);
        }
        let (id, handle) = (found.tenant.application_id, self.handle.clone());
        let written: Result<bool> = db
            .write(move |tx| {
                Box::pin(async move { applications::set_handle(tx, &id, handle.as_deref()).await })
            })
            .await;
        let handle = self.handle.as_deref().unwrap_or_default();
        ensure_or_help(
            written?,
            || format!("another application has the handle \"{handle}\""),
            || "choose another one".to_owned(),
        )?;
        Ok(self.handle.clone())
    }
}
