//! The credentials of a stored connection, as its calls use them: OAuth tokens are renewed when they expire, or when the provider refuses
//! them.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use runtime::{Credentials, CredentialsError, Login, Secret};
use storage::connections as table;
use storage::connections::Connection;
use storage::lane::Lane;
use tokio::runtime::Handle;

use crate::app::App;
use crate::connections::credentials::{GivenCredentials, StaticCredentials};
use crate::connections::new_tokens::Tokens;
use crate::connections::token_life::TokenLife;
use crate::connections::token_refresh::{self, RequiredTokens};

/// The tokens of a connection, renewed as needed.
pub struct StoredCredentials {
    app: App,
    connection: Connection,
    /// The runtime for renewals: a call may run on threads that only execute connectors.
    handle: Handle,
    /// The lane of the call, which those threads do not have.
    lane: Lane,
    held: Mutex<CachedCredentials>,
}

/// The credentials that were handed out last.
struct CachedCredentials {
    fixed: Arc<StaticCredentials>,
    /// None: valid until they are refused.
    life: Option<TokenLife>,
    version: i64,
}

impl CachedCredentials {
    fn new(tokens: &Tokens) -> base::error::Result<CachedCredentials> {
        let fixed = Arc::new(StaticCredentials::new(&tokens.given)?);
        Ok(CachedCredentials {
            fixed,
            life: TokenLife::from_credentials(&tokens.given),
            version: tokens.version,
        })
    }
}

impl StoredCredentials {
    /// Creates the credentials of `connection`, which are `given`. Must be called on the threads that wait for the network.
    pub fn new(app: &App, connection: &Connection, given: &GivenCredentials) -> base::error::Result<Self> {
        let tokens = Tokens { given: given.clone(), version: connection.credentials_version };
        Ok(StoredCredentials {
            app: app.clone(),
            connection: connection.clone(),
            handle: Handle::current(),
            lane: Lane::current(),
            held: Mutex::new(CachedCredentials::new(&tokens)?),
        })
    }

    fn with_held<T>(&self, read: impl FnOnce(&mut CachedCredentials) -> T) -> T {
        read(&mut self.held.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn usable(&self) -> Result<Arc<StaticCredentials>, CredentialsError> {
        let now = self.app.now();
        let fresh = self.with_held(|held| {
            let is_fresh = held.life.is_none_or(|life| life.is_fresh(now));
            is_fresh.then(|| held.fixed.clone())
        });
        match fresh {
            Some(fixed) => Ok(fixed),
            None => self.renewed(RequiredTokens::default()).await,
        }
    }

    async fn renewed(&self, need: RequiredTokens) -> Result<Arc<StaticCredentials>, CredentialsError> {
        let (app, connection) = (self.app.clone(), self.connection.clone());
        let tokens = async move { token_refresh::tokens(&app, &connection, need).await };
        let work = self.handle.spawn(self.lane.clone().scope(tokens));
        let failed = |e: String| {
            tracing::error!(connection = %self.connection.id, error = e, "there are no credentials for a call");
            let message = "the credentials cannot be read now; try again".to_owned();
            CredentialsError::Unavailable { message, retry_after_ms: Some(1_000) }
        };
        let tokens = work.await.map_err(|e| failed(e.to_string()))??;
        let held = CachedCredentials::new(&tokens).map_err(|e| failed(e.to_string()))?;
        let fixed = held.fixed.clone();
        self.with_held(|last| *last = held);
        Ok(fixed)
    }

    /// Returns the error of a call whose credentials were refused. If the connection has other credentials by now than the call used, the
    /// refusal says nothing about the account: the request can be repeated.
    pub async fn refused(&self, e: runtime::Error) -> runtime::Error {
        let version = self.with_held(|held| held.version);
        let found = table::find(self.app.db.reader(), &self.connection.tenant, &self.connection.id).await;
        if !matches!(&found, Ok(Some(row)) if row.credentials_version > version) {
            return e;
        }
        let mut error = runtime::Error::new(runtime::Code::Unavailable, e.author.detail.clone());
        error.message = "the credentials were renewed meanwhile; try again".to_owned();
        error.retry_after_ms = Some(1_000);
        error.stats = e.stats;
        error
    }
}

#[async_trait]
impl Credentials for StoredCredentials {
    async fn authorization(&self, slot: &str) -> Result<Option<Secret>, CredentialsError> {
        match slot {
            "default" => self.usable().await?.authorization(slot).await,
            _ => Ok(None),
        }
    }

    async fn login(&self) -> Result<Option<Login>, CredentialsError> {
        self.usable().await?.login().await
    }

    async fn refreshed(&self, slot: &str) -> Result<Option<Secret>, CredentialsError> {
        if slot != "default" {
            return Ok(None);
        }
        let version = self.with_held(|held| held.version);
        let need = RequiredTokens { after: Some(version), is_asked_for: false };
        self.renewed(need).await?.authorization(slot).await
    }
}
