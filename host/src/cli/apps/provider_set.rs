//! `switchboard apps provider set`: registers an OAuth client, or changes one.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Result, anyhow, ensure};
use base::clock::{Clock, Entropy};
use base::ids::{self, Kind};
use base::tenant::Tenant;
use clap::{Args, ValueEnum};
use runtime::{LIMITS_SETTING, OriginOverrides};
use serde_json::{Map, Value, json};
use service::app::SANDBOX;
use service::app::config::Config;
use service::manage::providers;
use service::manage::providers::inputs::{self, OriginReplacement, Setting};
use storage::Db;
use storage::oauth_clients::{self, OAuthClient};
use zeroize::Zeroizing;

use crate::cli::apps::manifests;
use crate::cli::apps::stored::{application, render_client};
use crate::cli::master_key;
use crate::cli::output::answer;
use crate::cli::refusal::{ensure_or_help, failure};
use crate::cli::store;
use crate::cli::store_options::StoreOptions;

/// How the client authenticates at the provider's token endpoint (RFC 6749 §2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "lowercase")]
enum ClientAuth {
    /// Id and secret in the form
    Post,
    /// Id and secret in the Authorization header
    Basic,
    /// No secret: a public client
    None,
}

/// Register the OAuth client that the provider gave you, or change it, and print the callback URL to enter at the provider
///
/// The secret is read from a file or a variable, never from an argument, and is stored encrypted.
#[derive(Args)]
#[command(after_help = "\
Examples:
  switchboard apps provider set app_01JQ8Z6V9C4T7R2M5N8P3K1W0X google --client-id 1234.apps.example --secret-file secret.txt
  switchboard apps provider set app_01JQ8Z6V9C4T7R2M5N8P3K1W0X jmap --client-id mine --public \\
    --issuer https://id.example.org --setting serverUrl=https://jmap.example.org/
  switchboard apps provider set app_01JQ8Z6V9C4T7R2M5N8P3K1W0X microsoft \\
    --origin https://graph.microsoft.com=https://graph.microsoft.us")]
pub struct Set {
    /// The application's id, as `apps list` shows it
    #[arg(value_name = "APP")]
    application: String,
    /// The provider, by the name of its connector
    #[arg(value_name = "PROVIDER", value_parser = inputs::provider)]
    provider: String,
    /// The client's id at the provider
    #[arg(long, value_name = "ID", value_parser = inputs::client_id)]
    client_id: Option<String>,
    /// File that holds the client's secret
    #[arg(long, value_name = "FILE", conflicts_with_all = ["secret_env", "public"])]
    secret_file: Option<PathBuf>,
    /// Environment variable that holds the client's secret
    #[arg(long, value_name = "VAR", conflicts_with = "public")]
    secret_env: Option<String>,
    /// The client has no secret; a stored one is removed
    #[arg(long)]
    public: bool,
    /// How the client authenticates [default: as the connector says; none for --public]
    #[arg(long, value_name = "HOW")]
    client_auth: Option<ClientAuth>,
    /// Value of a setting that the connector leaves to the operator (repeatable); NAME= removes it
    #[arg(long = "setting", value_name = "NAME=VALUE", value_parser = inputs::setting)]
    settings: Vec<Setting>,
    /// The provider's issuer, in place of the connector's (RFC 8414). An empty value removes it, as for all URLs here
    #[arg(long, value_name = "URL", value_parser = inputs::url)]
    issuer: Option<String>,
    /// The authorization endpoint, in place of the connector's
    #[arg(long, value_name = "URL", value_parser = inputs::url)]
    authorize_url: Option<String>,
    /// The token endpoint, in place of the connector's
    #[arg(long, value_name = "URL", value_parser = inputs::url)]
    token_url: Option<String>,
    /// URL to revoke tokens, in place of the connector's; `none`: no revocation
    #[arg(long, value_name = "URL", value_parser = inputs::url_or_none)]
    revoke_url: Option<String>,
    /// URL to read the user's identity, in place of the connector's
    #[arg(long, value_name = "URL", value_parser = inputs::url)]
    userinfo_url: Option<String>,
    /// Server to call in place of one of the provider's hosts, both https://host[:port] (repeatable); ORIGIN= removes it
    #[arg(long = "origin", value_name = "ORIGIN=SERVER", value_parser = inputs::origin)]
    origins: Vec<OriginReplacement>,
    /// URL to which the provider sends users back [default: the public URL and /v1/auth/connectors/PROVIDER/callback]
    #[arg(long, value_name = "URL", value_parser = inputs::url)]
    callback_url: Option<String>,
    /// Provider's scopes for one of ours, in place of the connector's, for example email.read=mail,offline (repeatable); OURS= removes it
    #[arg(long = "scope", value_name = "OURS=A,B", value_parser = inputs::scope)]
    scopes: Vec<Setting>,
    /// Disable the registration; connections stay
    #[arg(long, conflicts_with = "enable")]
    disable: bool,
    /// Enable the registration again
    #[arg(long)]
    enable: bool,
    /// URL under which browsers reach the service, for the printed callback URL [default: that of `serve` in --config]
    #[arg(long, env = "SWITCHBOARD_PUBLIC_URL", value_name = "URL")]
    public_url: Option<String>,
    /// Directory of bundled connectors, whose manifests --origin and some settings need [default: target/connectors/bundle]
    #[arg(long, env = "SWITCHBOARD_CONNECTORS", value_name = "DIR")]
    connectors: Option<PathBuf>,
    /// Print JSON: id, version, callbackUrl, …
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    place: StoreOptions,
}

impl Set {
    pub(crate) async fn run(self) -> Result<()> {
        let secret = self.secret()?;
        let mut config = self.place.clone().resolve()?;
        config.connectors_dir = self.connectors.clone().or(config.connectors_dir);
        self.check(&config)?;
        let db = store::open(&config).await?;
        let stored = self.store(&db, &config, secret).await;
        db.close().await;
        let client = stored?;
        let own = self.public_url.as_deref().filter(|url| !url.is_empty());
        let callback = providers::callback_url(own.unwrap_or(&config.public_address()), &client);
        if self.json {
            let mut shown = render_client(&client);
            shown["callbackUrl"] = json!(callback);
            return answer(&serde_json::to_string_pretty(&shown)?);
        }
        answer(&format!(
            "id            {}\nversion       {}\ncallback URL  {callback}\n\n\
             Enter the callback URL at the provider as the address that users return to, for a client of the type web.",
            client.id, client.version
        ))
    }

    /// Compares origins, and values of operator settings, with the connector's manifest.
    fn check(&self, config: &Config) -> Result<()> {
        let needs_manifest = self.origins.iter().any(|origin| origin.server.is_some())
            || self.settings.iter().any(|setting| setting.is_operators || setting.figures().is_some());
        if !needs_manifest {
            return Ok(());
        }
        let manifest = manifests::find(config, &self.provider)?;
        for given in self.settings.iter().filter(|setting| setting.is_operators) {
            let is_known = manifest.settings.iter().any(|s| s.operator && s.name == given.name);
            ensure!(
                is_known,
                "--setting: the value of {} must be an https:// address, a JSON object, or a word of letters, digits and . _ ~ -",
                given.name
            );
        }
        if let Some(figures) = self.settings.iter().find_map(Setting::figures)
            && !manifest.limits.is_empty()
        {
            let fit = manifest.limits.with_figures(figures);
            fit.map_err(|e| anyhow!("--setting: {LIMITS_SETTING}: {e:#}"))?;
        }
        let origins = self.origins.iter();
        let origins = origins.filter_map(|origin| Some((origin.replaced.clone(), origin.server.clone()?)));
        let origins = OriginOverrides::parse(&origins.collect());
        origins.and_then(|origins| origins.ensure_named_by(&manifest)).map_err(|e| anyhow!("--origin: {e}"))
    }

    /// Reads the client secret, if a file or variable is named.
    fn secret(&self) -> Result<Option<Zeroizing<String>>> {
        let secret = match (&self.secret_file, &self.secret_env) {
            (Some(file), _) => {
                let text = std::fs::read_to_string(file).map(Zeroizing::new);
                let text = text.map_err(|e| {
                    failure(
                        format!("--secret-file: cannot read {}: {e}", file.display()),
                        "name a file that holds the client's secret alone",
                    )
                })?;
                // Editors end a file with a line break, which is not part of the secret.
                Zeroizing::new(text.trim().to_owned())
            }
            (None, Some(name)) => {
                // The standard library's error would print a value that is not UTF-8.
                let value = std::env::var(name).ok().map(Zeroizing::new);
                value.ok_or_else(|| {
                    failure(
                        format!("--secret-env: the variable {name} is not set, or is not UTF-8 text"),
                        "set it to the client's secret, or name a file with --secret-file",
                    )
                })?
            }
            (None, None) => return Ok(None),
        };
        let fits = (1..=4096).contains(&secret.len()) && !secret.chars().any(char::is_control);
        ensure!(fits, "the client's secret must have 1 to 4096 bytes and no control characters");
        Ok(Some(secret))
    }

    /// Stores the registration with the changes of this command.
    async fn store(
        &self,
        db: &Db,
        config: &Config,
        secret: Option<Zeroizing<String>>,
    ) -> Result<OAuthClient> {
        let application = application(db, &self.application).await?;
        ensure_or_help(
            !application.is_test || self.provider == SANDBOX,
            || format!("{} is a test application, which reaches the sandbox alone", self.application),
            || "register the provider for an application that is not for tests".to_owned(),
        )?;
        let tenant = application.tenant;
        let keyring = master_key::open(db, &config.data_dir).await?;
        let found = oauth_clients::find(db.reader(), &tenant, &self.provider).await?;
        let is_new = found.is_none();
        let mut client = match found {
            Some(client) => client,
            None => self.new_client(tenant, secret.is_some())?,
        };
        self.change(&mut client);
        self.change_origins(&mut client)?;
        if let Some(secret) = &secret {
            let place = providers::secret_place(&client);
            client.client_secret = Some(keyring.seal(&place, secret.as_bytes())?);
        }
        let written = client.clone();
        let is_written = db.write(move |tx| {
            Box::pin(async move {
                match is_new {
                    true => oauth_clients::insert(tx, &written).await,
                    false => oauth_clients::update(tx, &written).await,
                }
            })
        });
        if !is_written.await? {
            return Err(failure(
                "another command has changed this registration in the meantime",
                "run this command again",
            ));
        }
        client.version += i64::from(!is_new);
        Ok(client)
    }

    fn new_client(&self, tenant: Tenant, has_secret: bool) -> Result<OAuthClient> {
        ensure_or_help(
            self.client_id.is_some(),
            || {
                format!(
                    "--client-id is missing: {} is not registered for this application yet",
                    self.provider
                )
            },
            || "add --client-id with the id that the provider gave you".to_owned(),
        )?;
        ensure_or_help(
            has_secret || self.public || self.client_auth == Some(ClientAuth::None),
            || "the client's secret is missing".to_owned(),
            || "add --secret-file or --secret-env, or --public for a client without a secret".to_owned(),
        )?;
        let (clock, entropy) = (Clock::system(), Entropy::system());
        let now = clock.now_ms();
        Ok(OAuthClient {
            id: ids::new(Kind::OAuthClient, &clock, &entropy),
            tenant,
            provider: self.provider.clone(),
            client_id: String::new(),
            client_secret: None,
            client_auth: None,
            settings: Map::new(),
            endpoints: Map::new(),
            scopes: Map::new(),
            version: 1,
            disabled_at: None,
            created_at: now,
            updated_at: now,
        })
    }

    /// Applies the changes of the command line, except for the secret.
    fn change(&self, client: &mut OAuthClient) {
        let now = Clock::system().now_ms();
        client.updated_at = now;
        if let Some(id) = &self.client_id {
            client.client_id.clone_from(id);
        }
        let brings_secret = self.secret_file.is_some() || self.secret_env.is_some();
        if self.public {
            client.client_secret = None;
            client.client_auth = Some("none".to_owned());
        } else if brings_secret && client.client_auth.as_deref() == Some("none") {
            client.client_auth = None;
        }
        if let Some(auth) = self.client_auth {
            let name = match auth {
                ClientAuth::Post => "post",
                ClientAuth::Basic => "basic",
                ClientAuth::None => "none",
            };
            client.client_auth = Some(name.to_owned());
        }
        for Setting { name, value, .. } in &self.settings {
            set_or_remove(&mut client.settings, name, value.clone());
        }
        for Setting { name, value, .. } in &self.scopes {
            set_or_remove(&mut client.scopes, name, value.clone());
        }
        for (name, url) in [
            ("issuer", &self.issuer),
            ("authorizeUrl", &self.authorize_url),
            ("tokenUrl", &self.token_url),
            ("revokeUrl", &self.revoke_url),
            ("userinfoUrl", &self.userinfo_url),
            ("callbackUrl", &self.callback_url),
        ] {
            let Some(url) = url else { continue };
            set_or_remove(&mut client.endpoints, name, Some(json!(url)).filter(|_| !url.is_empty()));
        }
        if self.disable {
            client.disabled_at = client.disabled_at.or(Some(now));
        } else if self.enable {
            client.disabled_at = None;
        }
    }

    /// Changes the servers that replace the provider's hosts.
    fn change_origins(&self, client: &mut OAuthClient) -> Result<()> {
        let stored = client.endpoints.remove("origins").unwrap_or_default();
        let mut origins: BTreeMap<String, String> = match stored {
            Value::Null => BTreeMap::new(),
            stored => serde_json::from_value(stored)?,
        };
        for OriginReplacement { replaced, server } in &self.origins {
            match server {
                Some(server) => origins.insert(replaced.clone(), server.clone()),
                None => origins.remove(replaced),
            };
        }
        OriginOverrides::parse(&origins).map_err(|e| anyhow!("--origin: {e}"))?;
        set_or_remove(&mut client.endpoints, "origins", (!origins.is_empty()).then(|| json!(origins)));
        Ok(())
    }
}

/// Sets a value, or removes it if none is given.
fn set_or_remove(map: &mut Map<String, Value>, name: &str, value: Option<Value>) {
    match value {
        Some(value) => map.insert(name.to_owned(), value),
        None => map.remove(name),
    };
}
