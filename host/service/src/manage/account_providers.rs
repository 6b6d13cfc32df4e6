//! Providers whose accounts an application can connect: how each of them opens an account, and the beginning of a connection.

use std::sync::Arc;

use base::error::{Code, Result, not_found, refuse};
use base::tenant::Tenant;
use model::connection::NewAuthorization;
use runtime::{AuthKind, LoadedConnector, Setting, Surface};
use storage::connections::Connection;
use storage::oauth_clients::{self, OAuthClient};

use crate::app::App;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::connections::authorization::{self, ReturnTo, StartOptions};
use crate::connections::oauth;
use crate::connections::settings::sandbox_url;
use crate::connections::write_context::WriteContext;
use crate::connections::{self, ConnectOptions, GRANTABLE};
use crate::manage::acting;
use crate::manage::actor::Actor;

/// Whether accounts of a provider can be connected by OAuth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OAuthStanding {
    /// The connector has no OAuth.
    NotOffered,
    /// The application has no registration at the provider.
    NotRegistered,
    /// The registration is disabled.
    Disabled,
    Ready,
}

/// A provider, and how its accounts are connected.
pub struct AccountProvider {
    pub connector: Arc<LoadedConnector>,
    pub oauth: OAuthStanding,
    /// By a user name and a password.
    pub takes_password: bool,
    /// By an access token that the user pastes.
    pub takes_token: bool,
    /// It is the provider of this very process, with test accounts.
    pub is_sandbox: bool,
}

impl AccountProvider {
    /// The connector's name.
    pub fn name(&self) -> &str {
        &self.connector.manifest.name
    }

    /// The name that people know.
    pub fn title(&self) -> &str {
        &self.connector.manifest.title
    }

    /// Whether an account can be connected now.
    pub fn is_ready(&self) -> bool {
        self.oauth == OAuthStanding::Ready || self.takes_password || self.takes_token
    }

    /// The settings that are given with an account. Those of the sandbox are known.
    pub fn settings(&self) -> impl Iterator<Item = &Setting> {
        let is_given = |setting: &&Setting| !setting.operator && setting.fixed.is_none();
        self.connector.manifest.settings.iter().filter(is_given).filter(move |_| !self.is_sandbox)
    }

    /// Whether a setting is a server with host, port and encryption.
    pub fn is_server(&self, setting: &Setting) -> bool {
        self.connector.manifest.servers_from_settings.contains(&setting.name)
    }

    /// The scopes that an account connected by credentials can be given: those of the connector's surfaces.
    pub fn scopes(&self) -> Vec<&'static str> {
        let has = |scope: &&str| {
            let surface = scope.split('.').next().and_then(Surface::parse);
            surface.is_some_and(|surface| self.connector.surfaces.contains(&surface))
        };
        GRANTABLE.into_iter().filter(has).collect()
    }
}

/// All providers, by their titles.
///
/// # Errors
/// Those of the database.
pub async fn list(app: &App, tenant: &Tenant) -> Result<Vec<AccountProvider>> {
    let clients = oauth_clients::list(app.db.reader(), &tenant.application_id).await?;
    let mut providers: Vec<AccountProvider> =
        app.runtime.list().into_iter().map(|connector| provider(app, connector, &clients)).collect();
    providers.sort_by(|a, b| a.title().cmp(b.title()));
    Ok(providers)
}

/// A provider by its connector's name.
///
/// # Errors
/// `not_found`, and those of the database.
pub async fn find(app: &App, tenant: &Tenant, name: &str) -> Result<AccountProvider> {
    let connector = app.runtime.find(name).ok_or_else(|| not_found("provider"))?;
    let client = oauth_clients::find(app.db.reader(), tenant, name).await?;
    Ok(provider(app, connector, client.as_slice()))
}

fn provider(app: &App, connector: Arc<LoadedConnector>, clients: &[OAuthClient]) -> AccountProvider {
    let manifest = &connector.manifest;
    let kinds = &manifest.auth.kinds;
    let is_sandbox = sandbox_url(app, &manifest.name).is_some();
    let client = clients.iter().find(|client| client.provider == manifest.name);
    let oauth = match client {
        _ if !kinds.contains(&AuthKind::Oauth) => OAuthStanding::NotOffered,
        Some(client) if client.disabled_at.is_some() => OAuthStanding::Disabled,
        Some(_) => OAuthStanding::Ready,
        None if is_sandbox => OAuthStanding::Ready,
        None => OAuthStanding::NotRegistered,
    };
    let takes = |kind: AuthKind| kinds.is_empty() || kinds.contains(&kind);
    AccountProvider {
        oauth,
        takes_password: takes(AuthKind::Basic),
        takes_token: takes(AuthKind::Bearer),
        is_sandbox,
        connector,
    }
}

/// The scopes that users can be asked for at a provider.
///
/// # Errors
/// As `oauth::registered`.
pub async fn oauth_scopes(app: &App, tenant: &Tenant, provider: &str) -> Result<Vec<String>> {
    let registered = oauth::registered(app, tenant, provider).await?;
    let has = |scope: &&str| registered.registration.scopes.contains_key(*scope);
    Ok(GRANTABLE.into_iter().filter(has).map(str::to_owned).collect())
}

/// An authorization that begins in the panel.
#[derive(Clone, Debug)]
pub struct PanelAuthorization {
    pub provider: String,
    pub scopes: Vec<String>,
    /// The account to authorize again; none: a new one.
    pub connection_id: Option<String>,
    /// The panel's page to which the user returns, and what it gets back.
    pub return_url: String,
    pub state: String,
    pub request_id: String,
}

/// Begins an authorization. The answer's JSON has `authorizationUrl`.
///
/// # Errors
/// As `authorization::start`.
pub async fn authorize(
    app: &App,
    actor: &Actor,
    tenant: &Tenant,
    wanted: PanelAuthorization,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let cx = WriteContext {
        app: app.clone(),
        request: acting::context(actor, tenant, wanted.request_id),
        attempt: attempt.clone(),
    };
    let new = NewAuthorization {
        scopes: wanted.scopes,
        state: Some(wanted.state),
        connection_id: wanted.connection_id,
        ..NewAuthorization::default()
    };
    let options = StartOptions { return_to: ReturnTo::Panel(wanted.return_url), allow_duplicate: false };
    authorization::start(&cx, &actor.id, &wanted.provider, new, options, &[]).await
}

/// The scopes to authorize an account again with: those that it was asked for and that its provider still has.
///
/// # Errors
/// As `oauth_scopes`; `invalid_state` where none of them is left.
pub async fn scopes_again(app: &App, connection: &Connection) -> Result<Vec<String>> {
    let known = oauth_scopes(app, &connection.tenant, &connection.provider).await?;
    let left: Vec<String> =
        connection.requested_scopes.iter().filter(|scope| known.contains(scope)).cloned().collect();
    match left.is_empty() {
        true => Err(refuse(Code::InvalidState, "the provider has none of the account's scopes any more")),
        false => Ok(left),
    }
}

/// Connects an account by credentials; the answer's JSON is the connection.
///
/// # Errors
/// As `connections::create`.
pub async fn connect(
    app: &App,
    tenant: &Tenant,
    new: connections::NewConnection,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    connections::create(app, tenant, new, ConnectOptions::default(), attempt).await
}
