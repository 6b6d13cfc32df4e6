//! `switchboard keys`: makes, lists, rotates and revokes API keys in the store, beside a running server or without one.

use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail, ensure};
use base::clock::{Clock, Entropy};
use base::error::Error;
use base::ids::{self, Kind};
use base::input::errors;
use base::scopes;
use clap::{Args, Subcommand};
use jiff::{Span, SpanRelativeTo};
use model::Instant;
use serde_json::{Value, json};
use service::app;
use service::app::config::Config;
use service::app::database_clock;
use service::manage::keys::restrictions::network;
use service::manage::keys::{self, DEFAULT_OVERLAP_S, MAX_OVERLAP_S, RATE_LIMIT, RotatedKey, state, unsaved};
use storage::Db;
use storage::api_keys::{self, ApiKey};
use storage::key_revocations::{self, KeyWebhooks};

use crate::cli::output::{answer, table};
use crate::cli::refusal::command_error;
use crate::cli::settings::StoreOptions;
use crate::cli::store;

/// A server that runs meanwhile remembers keys for a moment.
const SEEN_AFTER: &str = "a running server refuses it within a second";

/// Make, list, rotate and revoke API keys
///
/// Works on the store itself, so no server has to run, and one that runs needs no restart.
#[derive(Subcommand)]
pub enum Keys {
    Create(Box<Create>),
    List(List),
    Rotate(Rotate),
    Revoke(Revoke),
}

/// Make an API key and print it: this once, for it is not stored
#[derive(Args)]
#[command(after_help = "\
Examples:
  switchboard keys create --scopes all
  switchboard keys create --scopes calendar.read,calendar.freebusy --application \"Room display\" --expires-in 90d
  KEY=$(switchboard keys create --scopes all --json | jq -r .key)")]
pub struct Create {
    /// What the key may do: a list such as calendar.read,calendar.write, or `all`
    #[arg(long, required = true, value_delimiter = ',', value_name = "SCOPES")]
    scopes: Vec<String>,
    /// Application that the key belongs to; made if it is new. Applications see nothing of each other
    #[arg(long, value_name = "NAME", default_value = "default")]
    application: String,
    /// Organization that the application belongs to; made if it is new
    #[arg(long, value_name = "NAME", default_value = "default")]
    organization: String,
    /// What the key is for, shown in lists [default: the application's name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Host that browsers' requests must come from, exactly, for example app.example.com (repeatable) [default: any]
    #[arg(long = "allowed-domain", value_name = "HOST", value_delimiter = ',')]
    allowed_domains: Vec<String>,
    /// Address or network that requests must come from, for example 203.0.113.0/24 (repeatable) [default: any]
    #[arg(long = "allowed-ip", value_name = "CIDR", value_delimiter = ',')]
    allowed_ips: Vec<String>,
    /// Requests per minute
    #[arg(long, alias = "rate-limit-per-minute", value_name = "N", default_value_t = RATE_LIMIT, value_parser = clap::value_parser!(i64).range(1..))]
    rate_limit: i64,
    /// How long the key works, for example 12h, 30d or 1y [default: until it is revoked]
    #[arg(long, value_name = "TIME")]
    expires_in: Option<Span>,
    /// Print JSON: id, key, scopes, applicationId, organizationId, …
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: StoreOptions,
}

/// List the API keys of all applications; what is shown of a key is its beginning
#[derive(Args)]
pub struct List {
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: StoreOptions,
}

/// Give an API key a new secret and print it: this once, for it is not stored
///
/// The key keeps its id, scopes, webhooks and usage. The old secret works beside the new one for a time.
#[derive(Args)]
#[command(after_help = "\
Examples:
  switchboard keys rotate key_01JQ8Z6V9C4T7R2M5N8P3K1W0X
  switchboard keys rotate key_01JQ8Z6V9C4T7R2M5N8P3K1W0X --overlap 0s")]
pub struct Rotate {
    /// The key's id, as `keys list` shows it
    #[arg(value_name = "ID")]
    id: String,
    /// How long the old secret keeps working, at most 7d; 0s ends it at once, with one left by an earlier rotation [default: 24h]
    #[arg(long, value_name = "TIME")]
    overlap: Option<Span>,
    /// Print JSON: key, previousExpiresAt, id, scopes, …
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: StoreOptions,
}

/// Revoke an API key for good
#[derive(Args)]
#[command(after_help = "Example:\n  switchboard keys revoke key_01JQ8Z6V9C4T7R2M5N8P3K1W0X")]
pub struct Revoke {
    /// The key's id, as `keys list` shows it
    #[arg(value_name = "ID")]
    id: String,
    /// Disable the key's webhooks; use this for a stolen key [default: they pass to a newer key with the same scopes and connections]
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

fn check_networks(allowed: &[String]) -> Result<()> {
    for ip in allowed {
        ensure!(
            network(ip).is_some(),
            "--allowed-ip \"{ip}\" is neither an address nor a network such as 203.0.113.0/24"
        );
    }
    Ok(())
}

impl Create {
    async fn run(self) -> Result<()> {
        let (clock, entropy) = (Clock::system(), Entropy::system());
        let now = clock.now_ms();
        let scopes = scopes_of(&self.scopes)?;
        let allowed_domains = self.allowed_domains.iter().map(|d| domain(d)).collect::<Result<Vec<_>>>()?;
        check_networks(&self.allowed_ips)?;
        let expires_at = self.expires_in.map(|span| expiry(&span, now)).transpose()?;
        let name = self.name.unwrap_or_else(|| self.application.clone());
        for (flag, text) in
            [("name", &name), ("application", &self.application), ("organization", &self.organization)]
        {
            ensure!((1..=100).contains(&text.chars().count()), "--{flag} must have 1 to 100 characters");
        }

        let config = self.place.resolve()?;
        store::make_data_dir(&config)?;
        let keyring = app::open_keyring(&config.data_dir, &entropy)?;
        let db = store::open_or_make(&config).await?;
        app::same_keyring(&db, &keyring).await?;
        let new = keyring.new_api_key();
        let (organization, application) = (self.organization, self.application);
        let ids =
            (ids::new(Kind::Organization, &clock, &entropy), ids::new(Kind::Application, &clock, &entropy));
        let mut key = ApiKey {
            scopes,
            allowed_domains,
            allowed_ips: self.allowed_ips,
            rate_limit_per_minute: self.rate_limit,
            expires_at,
            ..unsaved(&clock, &entropy, &new, name)
        };
        let hash = new.hash;
        let write = db.write(move |tx| {
            Box::pin(async move {
                let names = (organization.as_str(), application.as_str());
                key.tenant = api_keys::ensure_application(tx, names, (&ids.0, &ids.1), now).await?;
                api_keys::insert(tx, &key, &hash).await?;
                Ok::<_, anyhow::Error>(key)
            })
        });
        let written = write.await;
        db.close().await;
        let key = written?;
        if self.json {
            let mut shown = key.json();
            shown["key"] = Value::from(new.key);
            return answer(&serde_json::to_string_pretty(&shown)?);
        }
        let (id, scopes) = (&key.id, scopes_shown(&key));
        answer(&format!(
            "{}\n\nid      {id}\nscopes  {scopes}\n\nKeep the key: it is not stored and cannot be shown again.",
            new.key
        ))
    }
}

impl List {
    async fn run(self) -> Result<()> {
        let db = store::open(&self.place.resolve()?).await?;
        let keys = match db.check().await {
            Ok(()) => api_keys::list_all(db.reader()).await,
            Err(e) => Err(e),
        };
        db.close().await;
        let keys = keys?;
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
        db.check().await?;
        let keyring = app::open_keyring(&config.data_dir, &Entropy::system())?;
        app::same_keyring(db, &keyring).await?;
        let new = keyring.new_api_key();
        let secret = new.key.clone();
        let (id, now) = (self.id.clone(), database_clock::present_ms(db).await?);
        let rotated = db.write(move |tx| {
            Box::pin(async move {
                let Some(key) = api_keys::find_any(&mut *tx, &id).await? else { return Ok(None) };
                keys::replace_secret(tx, &key, &new, overlap_s, now).await.map(Some)
            })
        });
        let rotated: Option<RotatedKey> = rotated.await.map_err(rotation_error)?;
        let rotated = rotated.with_context(|| {
            format!("there is no API key {}; `switchboard keys list` shows them", self.id)
        })?;
        Ok((rotated, secret))
    }
}

impl Revoke {
    async fn run(self) -> Result<()> {
        let db = store::open(&self.place.clone().resolve()?).await?;
        let revoked = self.revoke_in(&db).await;
        db.close().await;
        ensure!(revoked?, "there is no API key {}; `switchboard keys list` shows them", self.id);
        match self.json {
            true => answer(&serde_json::to_string_pretty(&json!({ "id": self.id, "revoked": true }))?),
            false => answer(&format!("revoked {}; {SEEN_AFTER}", self.id)),
        }
    }

    async fn revoke_in(&self, db: &Db) -> Result<bool> {
        db.check().await?;
        let (id, now) = (self.id.clone(), database_clock::present_ms(db).await?);
        let webhooks = if self.disable_webhooks { KeyWebhooks::End } else { KeyWebhooks::PassOn };
        db.write(move |tx| Box::pin(async move { key_revocations::revoke_any(tx, &id, webhooks, now).await }))
            .await
    }
}

/// The scopes for people: a key that may do everything says so.
fn scopes_shown(key: &ApiKey) -> String {
    match scopes::ALL.iter().all(|s| key.scopes.iter().any(|held| held == s)) {
        true => "all".to_owned(),
        false => key.scopes.join(","),
    }
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
    ensure!((0..=MAX_OVERLAP_S).contains(&seconds), "--overlap must be from 0s to 7d");
    Ok(seconds)
}

fn scopes_of(given: &[String]) -> Result<Vec<String>> {
    let mut scopes: Vec<String> = Vec::new();
    for scope in given.iter().map(|s| s.trim()).filter(|s| !s.is_empty()) {
        match scope {
            "all" => scopes = scopes::ALL.map(str::to_owned).to_vec(),
            _ if !scopes::is_scope(scope) => {
                bail!(
                    "--scopes: there is no scope \"{scope}\"; there are {}, and all",
                    scopes::ALL.join(", ")
                )
            }
            _ if !scopes.iter().any(|s| s == scope) => scopes.push(scope.to_owned()),
            _ => {}
        }
    }
    ensure!(!scopes.is_empty(), "--scopes: name at least one scope, or all");
    Ok(scopes)
}

/// An exact host name in lower case; what a browser cannot send as the host of an origin is refused.
fn domain(text: &str) -> Result<String> {
    errors::host_name(text).with_context(|| {
        format!(
            "--allowed-domain \"{text}\" must be a host name such as app.example.com, without scheme, port or *"
        )
    })
}

fn expiry(span: &Span, now: i64) -> Result<i64> {
    let years_as_days = SpanRelativeTo::days_are_24_hours();
    let duration = match span.get_years() == 0 && span.get_months() == 0 {
        true => span.to_duration(years_as_days),
        false => {
            let start = Instant::from_millis(now).timestamp().to_zoned(jiff::tz::TimeZone::UTC);
            span.to_duration(&start)
        }
    };
    let ms = duration.context("--expires-in is too long")?.as_millis();
    ensure!(ms > 0, "--expires-in must be in the future");
    i64::try_from(ms).ok().and_then(|ms| now.checked_add(ms)).context("--expires-in is too long")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(text: &str) -> i64 {
        expiry(&text.parse().unwrap(), 0).unwrap()
    }

    #[test]
    fn times_are_read_as_people_write_them() {
        assert_eq!(
            [after("90s"), after("12h"), after("30d"), after("2w")],
            [90_000, 43_200_000, 2_592_000_000, 1_209_600_000]
        );
        assert_eq!(after("1y"), 365 * 86_400_000);
        assert!(expiry(&"-1d".parse().unwrap(), 0).is_err());
    }

    #[test]
    fn an_overlap_has_at_most_seven_days() {
        let seconds = |text: &str| overlap_seconds(&text.parse().unwrap());
        assert_eq!(
            [seconds("0s").unwrap(), seconds("24h").unwrap(), seconds("7d").unwrap()],
            [0, 86_400, 604_800]
        );
        assert!(seconds("8d").is_err() && seconds("-1s").is_err());
    }

    #[test]
    fn scopes_are_checked_and_told_once() {
        let scopes = |s: &[&str]| scopes_of(&s.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>());
        assert_eq!(scopes(&["calendar.read", " calendar.read", ""]).unwrap(), ["calendar.read"]);
        assert_eq!(scopes(&["tasks.read", "all"]).unwrap().len(), scopes::ALL.len());
        assert!(scopes(&["calendar.red"]).unwrap_err().to_string().contains("calendar.read"));
        assert!(scopes(&[""]).is_err());
    }

    #[test]
    fn a_domain_is_a_bare_host_name() {
        assert_eq!(domain("App.Example.com").unwrap(), "app.example.com");
        for wrong in [
            "https://app.example.com",
            "app.example.com:8443",
            "*.example.com",
            "a b",
            "",
            "app.example.com/x",
        ] {
            assert!(domain(wrong).is_err(), "{wrong}");
        }
    }
}
