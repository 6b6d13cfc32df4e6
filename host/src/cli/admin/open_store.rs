//! The store of an installation, opened for a command about its operators.

use anyhow::Result;
use base::clock::{Clock, Entropy};
use base::keyring::Keyring;
use clap::Args;
use model::Instant;
use service::app::config::Config;
use service::manage::operators::directory::{self, OperatorView};
use service::manage::operators::links::{FIRST_OPERATOR, Link};
use service::manage::operators::store::OperatorStore;
use storage::dialect::Dialect;
use storage::{Db, installation};

use crate::cli::refusal::{command_error, failure};
use crate::cli::store_options::StoreOptions;
use crate::cli::{master_key, store, urls};

/// The place of the store, and the address at which browsers reach the panel.
#[derive(Args, Clone, Debug)]
pub struct PanelOptions {
    /// URL at which browsers reach the panel, without /admin; for the printed link [default: that of `serve` in --config]
    #[arg(long, env = "SWITCHBOARD_ADMIN_URL", value_name = "URL")]
    admin_url: Option<String>,
    /// URL at which browsers reach the service, for a panel without its own URL
    #[arg(long, env = "SWITCHBOARD_PUBLIC_URL", value_name = "URL")]
    public_url: Option<String>,
    #[command(flatten)]
    place: StoreOptions,
}

/// The handles of an installation that a command needs.
pub struct OpenStore {
    pub config: Config,
    pub db: Db,
    keyring: Keyring,
    clock: Clock,
    entropy: Entropy,
}

impl PanelOptions {
    /// Opens the store that is there.
    pub async fn open(&self) -> Result<OpenStore> {
        let config = self.config()?;
        let db = store::open(&config).await?;
        OpenStore::checked(config, db).await
    }

    /// The same; with `init` a store that does not exist is created.
    pub async fn open_current(&self, init: bool) -> Result<OpenStore> {
        let config = self.config()?;
        let db = store::open_current(&config, init).await?;
        OpenStore::checked(config, db).await
    }

    fn config(&self) -> Result<Config> {
        let mut config = self.place.clone().resolve()?;
        config.admin_url = urls::admin(self.admin_url.clone())?.or(config.admin_url);
        config.public_url = self.public_url.clone().filter(|url| !url.is_empty()).or(config.public_url);
        Ok(config)
    }
}

impl OpenStore {
    /// Fails where the database has another schema, or belongs to another master key.
    async fn checked(config: Config, db: Db) -> Result<OpenStore> {
        let entropy = Entropy::system();
        let opening = async {
            store::ensure_schema(&db).await?;
            master_key::open(&db, &config.data_dir).await
        };
        let opened = opening.await;
        match opened {
            Ok(keyring) => Ok(OpenStore { config, db, keyring, clock: Clock::system(), entropy }),
            Err(e) => {
                db.close().await;
                Err(e)
            }
        }
    }

    /// The handles that changes of operators need.
    pub fn operators(&self) -> OperatorStore<'_> {
        OperatorStore::new(&self.db, &self.keyring, &self.clock, &self.entropy)
    }

    /// Whether there is an operator already.
    pub async fn has_operators(&self) -> Result<bool> {
        Ok(installation::find(self.db.reader(), FIRST_OPERATOR).await?.is_some())
    }

    /// The operator with this address. The error says where addresses are shown.
    pub async fn load_operator(&self, email: &str) -> Result<OperatorView> {
        let found = directory::find_by_email(self.operators(), email).await.map_err(command_error)?;
        found.ok_or_else(|| {
            failure(format!("there is no operator {email}"), "`switchboard admin list` shows all operators")
        })
    }

    /// The lines of an answer that shows a link, each with what it does.
    pub fn link_lines(&self, link: &Link) -> String {
        format!(
            "link      {}\n\nThe link works once, until {}. Keep it secret: the person who opens it sets the password.",
            self.url(link),
            Instant::from_millis(link.expires_at)
        )
    }

    /// The address of a link.
    pub fn url(&self, link: &Link) -> String {
        format!("{}{}", self.config.admin_address(), link.path())
    }

    /// The database, without its password.
    pub fn database(&self) -> String {
        let url = self.config.database();
        // A URL that names no engine was refused when the database was opened.
        Dialect::from_url(&url).map_or_else(|_| String::new(), |dialect| dialect.redact_url(&url))
    }

    /// Closes the database, and returns which one it was.
    pub async fn close(self) -> String {
        let database = self.database();
        self.db.close().await;
        database
    }
}
