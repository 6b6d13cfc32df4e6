//! `switchboard keys`: makes, lists, rotates and revokes API keys in the store, beside a running server or without one.

mod agent;
mod create;
mod scopes;

use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};
use base::clock::{Clock, Entropy};
use base::error::Error;
use base::ids::{self, Kind};
use base::scopes::is_admin_scope;
use clap::{Args, Subcommand};
use jiff::{Span, SpanRelativeTo};
use model::Instant;
use model::bounds::access::MAX_OVERLAP_S;
use serde_json::{Value, json};
use service::app::config::Config;
use service::app::database_clock;
use service::manage::acting::Target;
use service::manage::actor::Actor;
use service::manage::keys::{self, DEFAULT_OVERLAP_S, RotatedKey, state};
use storage::Db;
use storage::api_keys::{self, ApiKey};
use storage::audit_log::{self, AuditEntry};
use storage::key_revocations::{self, KeyWebhooks};

use crate::cli::keys::create::CreateKey;
use crate::cli::keys::scopes::scopes_shown;
use crate::cli::master_key;
use crate::cli::output::{answer, table};
use crate::cli::refusal::{command_error, ensure_or_help, failure};
use crate::cli::store;
use crate::cli::store_options::StoreOptions;

/// A server that runs meanwhile remembers keys for a moment.
const SEEN_AFTER: &str = "a running server refuses it within a second";

/// Create, list, rotate and revoke API keys
///
/// Works on the database directly: no server has to run, and a running one needs no restart.
#[derive(Subcommand)]
pub enum Keys {
    Create(Box<CreateKey>),
    List(ListKeys),
    Rotate(Rotate),
    Revoke(Revoke),
}

/// List the API keys of all applications, each by its first and last characters
#[derive(Args)]
pub struct ListKeys {
    /// Only keys for the administration API
    #[arg(long)]
    operator: bool,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: StoreOptions,
}

/// Replace the secret of an API key. The new one is shown only once
///
/// The key keeps its id, scopes, webhooks and usage. The old secret keeps working until --overlap is over.
#[derive(Args)]
#[command(after_help = "\
Examples:
  switchboard keys rotate key_01JQ8Z6V9C4T7R2M5N8P3K1W0X
  switchboard keys rotate key_01JQ8Z6V9C4T7R2M5N8P3K1W0X --overlap 0s")]
pub struct Rotate {
    /// The key's id, as `keys list` shows it
    #[arg(value_name = "ID")]
    id: String,
    /// How long the old secret keeps working, at most 7d; 0s ends it at once, also one of an earlier rotation [default: 24h]
    #[arg(long, value_name = "TIME")]
    overlap: Option<Span>,
    /// Print JSON: key, previousExpiresAt, id, scopes, …
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: StoreOptions,
}

/// Revoke an API key permanently
#[derive(Args)]
#[command(after_help = "Example:\n  switchboard keys revoke key_01JQ8Z6V9C4T7R2M5N8P3K1W0X")]
pub struct Revoke {
    /// The key's id, as `keys list` shows it
    #[arg(value_name = "ID")]
    id: String,
    /// Disable the key's webhooks, for a stolen key [default: a newer key with the same scopes and connections takes them over]
    #[arg(long)]
    disable_webhooks: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: StoreOptions,
}

impl Keys {
    pub async fn run(self) -> Result<ExitCode> {
        match self {
            Keys::Create(create) => create.run().await?,
            Keys::List(list) => list.run().await?,
            Keys::Rotate(rotate) => rotate.run().await?,
            Keys::Revoke(revoke) => revoke.run().await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl ListKeys {
    async fn run(self) -> Result<()> {
        let db = store::open(&self.place.resolve()?).await?;
        let keys = match store::ensure_schema(&db).await {
            Ok(()) => api_keys::list_all(db.reader()).await,
            Err(e) => Err(e),
        };
        db.close().await;
        let mut keys = keys?;
        keys.retain(|key| !self.operator || key.scopes.iter().any(|scope| is_admin_scope(scope)));
        if self.json {
            return answer(&serde_json::to_string_pretty(
                &keys.iter().map(ApiKey::json).collect::<Vec<_>>(),
            )?);
        }
        let now = Clock::system().now_ms();
        let head = ["ID", "NAME", "KEY", "STATE", "CREATED", "LAST USED", "SCOPES"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        rows.extend(keys.iter().map(|key| {
            let moment = |at: Option<i64>| {
                at.map_or_else(|| "never".to_owned(), |at| Instant::from_millis(at).to_string())
            };
            vec![
                key.id.clone(),
                key.name.clone(),
                format!("{}…{}", key.prefix, key.last4),
                state(key, now).to_owned(),
                moment(Some(key.created_at)),
                moment(key.last_used_at),
                scopes_shown(key),
            ]
        }));
        answer(&table(&rows))
    }
}

impl Rotate {
    async fn run(self) -> Result<()> {
        let overlap_s = self.overlap.as_ref().map_or(Ok(DEFAULT_OVERLAP_S), overlap_seconds)?;
        let config = self.place.clone().resolve()?;
        let db = store::open(&config).await?;
        let rotated = self.rotate_in(&db, &config, overlap_s).await;
        db.close().await;
        let (rotated, secret) = rotated?;
        if self.json {
            return answer(&serde_json::to_string_pretty(&rotated.json(&secret))?);
        }
        let before = match overlap_s {
            0 => format!("The old secret has stopped working; {SEEN_AFTER}."),
            _ => format!("The old secret works until {}.", Instant::from_millis(rotated.previous_expires_at)),
        };
        answer(&format!(
            "{secret}\n\nid      {}\nscopes  {}\n\n{before}\nKeep the new one: it is not stored and cannot be shown again.",
            self.id,
            scopes_shown(&rotated.key)
        ))
    }

    /// The key after its rotation, and its secret.
    async fn rotate_in(&self, db: &Db, config: &Config, overlap_s: i64) -> Result<(RotatedKey, String)> {
        store::ensure_schema(db).await?;
        let keyring = master_key::open(db, &config.data_dir).await?;
        let present = api_keys::find_any(db.reader(), &self.id).await?;
        let new = keyring.new_key_of_application(present.is_some_and(|key| key.is_test()));
        let secret = new.key.clone();
        let (id, now) = (self.id.clone(), database_clock::present_ms(db).await?);
        let rotated = db.write(move |tx| {
            Box::pin(async move {
                let Some(key) = api_keys::find_any(&mut *tx, &id).await? else { return Ok(None) };
                let rotated = keys::replace_secret(tx, &key, &new, overlap_s, now).await?;
                let details = json!({ "overlapSeconds": overlap_s });
                if let Some(entry) = change_entry(&key, "key_rotated", details, now) {
                    audit_log::insert(tx, &entry).await?;
                }
                Ok::<_, Error>(Some(rotated))
            })
        });
        let rotated: Option<RotatedKey> = rotated.await.map_err(rotation_error)?;
        let rotated = rotated.ok_or_else(|| unknown_key(&self.id))?;
        Ok((rotated, secret))
    }
}

impl Revoke {
    async fn run(self) -> Result<()> {
        let db = store::open(&self.place.clone().resolve()?).await?;
        let revoked = self.revoke_in(&db).await;
        db.close().await;
        if !revoked? {
            return Err(unknown_key(&self.id));
        }
        match self.json {
            true => answer(&serde_json::to_string_pretty(&json!({ "id": self.id, "revoked": true }))?),
            false => answer(&format!("revoked {}; {SEEN_AFTER}", self.id)),
        }
    }

    async fn revoke_in(&self, db: &Db) -> Result<bool> {
        store::ensure_schema(db).await?;
        let (id, now) = (self.id.clone(), database_clock::present_ms(db).await?);
        let ends_webhooks = self.disable_webhooks;
        let webhooks = if ends_webhooks { KeyWebhooks::End } else { KeyWebhooks::PassOn };
        db.write(move |tx| {
            Box::pin(async move {
                let Some(key) = api_keys::find_any(&mut *tx, &id).await? else { return Ok(false) };
                key_revocations::revoke_any(tx, &id, webhooks, now).await?;
                let details = json!({ "disablesWebhooks": ends_webhooks });
                if let Some(entry) = change_entry(&key, "key_revoked", details, now) {
                    audit_log::insert(tx, &entry).await?;
                }
                Ok::<_, anyhow::Error>(true)
            })
        })
        .await
    }
}

fn unknown_key(id: &str) -> anyhow::Error {
    failure(format!("there is no API key {id}"), "`switchboard keys list` shows the ids of all keys")
}

/// The entry of the audit log about a change of a key. None: it is no key of the administration, or was revoked before.
fn change_entry(key: &ApiKey, act: &str, details: Value, now: i64) -> Option<AuditEntry> {
    let is_of_admin = key.scopes.iter().any(|scope| is_admin_scope(scope));
    if !is_of_admin || key.revoked_at.is_some() {
        return None;
    }
    let id = ids::new(Kind::AuditEntry, &Clock::system(), &Entropy::system());
    let target = Target::installation(key.id.as_str()).details(details);
    Some(target.entry(&Actor::command("switchboard keys"), act, id, now))
}

/// Why a rotation was refused, in the words of the command line.
fn rotation_error(error: Error) -> anyhow::Error {
    match error {
        Error::Refused(refusal) => anyhow!(refusal.message.replace("overlapSeconds 0", "--overlap 0s")),
        internal => command_error(internal),
    }
}

/// Seconds of an overlap.
fn overlap_seconds(span: &Span) -> Result<i64> {
    let duration = span.to_duration(SpanRelativeTo::days_are_24_hours()).context("--overlap is too long")?;
    let seconds = i64::try_from(duration.as_millis().div_euclid(1_000)).context("--overlap is too long")?;
    ensure_or_help(
        (0..=MAX_OVERLAP_S).contains(&seconds),
        || "--overlap must be from 0s to 7d".to_owned(),
        || "leave it out for 24h, or use for example --overlap 1h".to_owned(),
    )?;
    Ok(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overlap_has_at_most_seven_days() {
        let seconds = |text: &str| overlap_seconds(&text.parse().unwrap());
        assert_eq!(
            [seconds("0s").unwrap(), seconds("24h").unwrap(), seconds("7d").unwrap()],
            [0, 86_400, 604_800]
        );
        assert!(seconds("8d").is_err() && seconds("-1s").is_err());
    }
}
