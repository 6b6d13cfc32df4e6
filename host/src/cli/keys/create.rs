//! `switchboard keys create`: creates an API key of an application, or of the administration of the installation.

use anyhow::{Context, Result, ensure};
use base::clock::{Clock, Entropy};
use base::ids::{self, Kind};
use base::input::errors;
use base::keyring::NewApiKey;
use base::tenant::Tenant;
use clap::Args;
use jiff::{Span, SpanRelativeTo};
use model::Instant;
use serde_json::{Value, json};
use service::manage::acting::Target;
use service::manage::actor::Actor;
use service::manage::keys::restrictions::network;
use service::manage::keys::{RATE_LIMIT, unsaved};
use storage::api_keys::{self, ApiKey};
use storage::{Db, audit_log, operator_organization, organizations};

use crate::cli::keys::agent::AgentOptions;
use crate::cli::keys::scopes::{admin_scopes_of, scopes_of, scopes_shown};
use crate::cli::master_key;
use crate::cli::output::answer;
use crate::cli::refusal::ensure_or_help;
use crate::cli::store;
use crate::cli::store_options::StoreOptions;

/// The name of a key of the administration that is given none.
const OPERATOR_KEY: &str = "operators";

/// Create an API key. It is shown only once
#[derive(Args)]
#[command(after_help = "\
Examples:
  switchboard keys create --scopes all
  switchboard keys create --scopes calendar.read,calendar.freebusy --application \"Room display\" --expires-in 90d
  KEY=$(switchboard keys create --scopes all --json | jq -r .key)
  switchboard keys create --scopes email.read,email.write,email.send --agent-writes --agent-send ask --name assistant
  switchboard keys create --operator --scopes admin.read,admin.write --name deployment")]
pub struct CreateKey {
    /// Scopes of the key: a list such as calendar.read,calendar.write, or `all`
    #[arg(long, required = true, value_delimiter = ',', value_name = "SCOPES")]
    scopes: Vec<String>,
    /// Create a key for the administration API (/v1/admin). Its scopes are admin.read, admin.write, admin.operators and admin.connectors,
    /// which `all` does not include
    #[arg(long, conflicts_with_all = ["application", "organization", "allowed_domains"])]
    operator: bool,
    /// Application that the key belongs to, created if it is new. Applications cannot see each other's data
    #[arg(long, value_name = "NAME", default_value = "default")]
    application: String,
    /// Organization that the application belongs to, created if it is new
    #[arg(long, value_name = "NAME", default_value = "default")]
    organization: String,
    /// Purpose of the key, shown in lists [default: the application's name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Exact host name that requests of browsers must come from, for example app.example.com (repeatable) [default: any]
    #[arg(long = "allowed-domain", value_name = "HOST", value_delimiter = ',')]
    allowed_domains: Vec<String>,
    /// Address or network that requests must come from, for example 203.0.113.0/24 (repeatable) [default: any]
    #[arg(long = "allowed-ip", value_name = "CIDR", value_delimiter = ',')]
    allowed_ips: Vec<String>,
    /// Requests allowed per minute
    #[arg(long, alias = "rate-limit-per-minute", value_name = "N", default_value_t = RATE_LIMIT, value_parser = clap::value_parser!(i64).range(1..))]
    rate_limit: i64,
    /// How long the key works, for example 12h, 30d or 1y [default: until it is revoked]
    #[arg(long, value_name = "TIME")]
    expires_in: Option<Span>,
    /// Create the data directory, the database and the master key if there are none yet
    #[arg(long)]
    init: bool,
    /// Print JSON: id, key, scopes, applicationId, organizationId, …
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    agent: AgentOptions,
    #[command(flatten)]
    place: StoreOptions,
}

fn check_networks(allowed: &[String]) -> Result<()> {
    for ip in allowed {
        ensure_or_help(
            network(ip).is_some(),
            || format!("--allowed-ip \"{ip}\" is neither an address nor a network"),
            || "use for example 203.0.113.7 or 203.0.113.0/24".to_owned(),
        )?;
    }
    Ok(())
}

impl CreateKey {
    pub async fn run(self) -> Result<()> {
        let (clock, entropy) = (Clock::system(), Entropy::system());
        let now = clock.now_ms();
        let scopes = if self.operator { admin_scopes_of(&self.scopes) } else { scopes_of(&self.scopes) }?;
        let allowed_domains = self.allowed_domains.iter().map(|d| domain(d)).collect::<Result<Vec<_>>>()?;
        check_networks(&self.allowed_ips)?;
        let agent = self.agent.policy()?;
        ensure!(
            agent.is_none() || !self.operator,
            "--operator makes a key for the administration, which has no policy for assistants: leave out the --agent options"
        );
        let expires_at = self.expires_in.map(|span| expiry(&span, now)).transpose()?;
        let default_name = if self.operator { OPERATOR_KEY } else { &self.application };
        let name = self.name.clone().unwrap_or_else(|| default_name.to_owned());
        for (flag, text) in
            [("name", &name), ("application", &self.application), ("organization", &self.organization)]
        {
            ensure!((1..=100).contains(&text.chars().count()), "--{flag} must have 1 to 100 characters");
        }

        let config = self.place.resolve()?;
        let db = store::open_current(&config, self.init).await?;
        let secrets = match master_key::open(&db, &config.data_dir).await {
            Ok(keyring) => [false, true].map(|is_test| keyring.new_key_of_application(is_test)),
            Err(e) => {
                db.close().await;
                return Err(e);
            }
        };
        let tenant = Tenant {
            organization_id: ids::new(Kind::Organization, &clock, &entropy),
            application_id: ids::new(Kind::Application, &clock, &entropy),
        };
        let key = ApiKey {
            tenant,
            scopes,
            allowed_domains,
            allowed_ips: self.allowed_ips,
            rate_limit_per_minute: self.rate_limit,
            expires_at,
            agent,
            ..unsaved(&clock, &entropy, &secrets[0], name)
        };
        let entry = ids::new(Kind::AuditEntry, &clock, &entropy);
        let [secret, _] = &secrets;
        let written = match self.operator {
            true => {
                let made = insert_of_operators(&db, key, secret.hash.clone(), entry).await;
                made.map(|key| (key, secret.key.clone()))
            }
            false => insert(&db, key, secrets, self.organization, self.application).await,
        };
        db.close().await;
        let (key, secret) = written?;
        if self.json {
            let mut shown = key.json();
            shown["key"] = Value::from(secret);
            return answer(&serde_json::to_string_pretty(&shown)?);
        }
        let (id, scopes) = (&key.id, scopes_shown(&key));
        answer(&format!(
            "{secret}\n\nid      {id}\nscopes  {scopes}\n\nKeep the key: it is not stored and cannot be shown again."
        ))
    }
}

/// Stores a key of an application, which is made with the ids in the key where it is missing, and returns the key with its secret: the first
/// one, or the second one where it is a test application.
async fn insert(
    db: &Db,
    mut key: ApiKey,
    secrets: [NewApiKey; 2],
    organization: String,
    application: String,
) -> Result<(ApiKey, String)> {
    let write = db.write(move |tx| {
        Box::pin(async move {
            let (names, now) = ((organization.as_str(), application.as_str()), key.created_at);
            let ids = (key.tenant.organization_id.as_str(), key.tenant.application_id.as_str());
            key.tenant = api_keys::ensure_application(tx, names, ids, now).await?;
            let is_test = organizations::is_test_application(&mut *tx, &key.tenant.application_id).await?;
            let [live, test] = secrets;
            let secret = if is_test { test } else { live };
            (key.prefix, key.last4) = (secret.prefix, secret.last4);
            api_keys::insert(tx, &key, &secret.hash).await?;
            Ok::<_, anyhow::Error>((key, secret.key))
        })
    });
    write.await
}

/// Stores a key of the administration, and writes it into the audit log under this id. The organization of these keys is made with the ids in
/// the key where it is missing.
async fn insert_of_operators(db: &Db, mut key: ApiKey, hash: String, entry_id: String) -> Result<ApiKey> {
    let write = db.write(move |tx| {
        Box::pin(async move {
            let now = key.created_at;
            key.tenant = operator_organization::ensure(tx, &key.tenant, now).await?;
            api_keys::insert(tx, &key, &hash).await?;
            let details = json!({ "name": key.name, "scopes": key.scopes });
            let target = Target::installation(key.id.as_str()).details(details);
            let actor = Actor::command("switchboard keys create");
            audit_log::insert(tx, &target.entry(&actor, "key_created", entry_id, now)).await?;
            Ok::<_, anyhow::Error>(key)
        })
    });
    write.await
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
    ensure_or_help(
        ms > 0,
        || "--expires-in must be in the future".to_owned(),
        || "use for example 12h, 30d or 1y; without it the key works until it is revoked".to_owned(),
    )?;
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
