//! OAuth clients of an application, as its owners register them: client id, secret and the operator's settings. Addresses and origins in
//! place of the connector's own are left to the command line: nobody who signs in to the panel names a server that this host calls.

use std::sync::Arc;

use base::error::{Code, Error, Result, invalid, not_found, refuse};
use base::ids::Kind;
use base::tenant::Tenant;
use model::bounds::access::MAX_CLIENT_SECRET;
use runtime::{AuthKind, ClientAuth, Manifest, Setting};
use serde_json::{Map, Value};
use storage::connections;
use storage::oauth_clients::{self, OAuthClient};
use zeroize::Zeroizing;

use crate::app::App;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::connections::{ensure_provider_allowed, oauth};
use crate::manage::providers::{callback_url, default_callback_url, inputs, secret_place};
use crate::writes::etag::ExpectedEtag;

/// Accounts of a provider that are counted at most.
pub const MAX_COUNTED_ACCOUNTS: usize = 100;

/// A client as a form has it.
pub struct ClientChange {
    pub client_id: String,
    /// None: the stored one stays.
    pub secret: Option<Zeroizing<String>>,
    /// The provider gave no secret; a stored one is removed.
    pub is_public: bool,
    /// Values of the operator's settings by their names; an empty one is removed.
    pub settings: Vec<(String, String)>,
}

/// A provider with OAuth, and the application's client there.
pub struct RegisteredClient {
    pub manifest: Arc<Manifest>,
    pub client: Option<OAuthClient>,
    /// The address to enter at the provider, to which users return.
    pub callback_url: String,
}

impl RegisteredClient {
    /// The settings that an operator gives as text.
    pub fn settings(&self) -> impl Iterator<Item = &Setting> {
        self.manifest.settings.iter().filter(move |setting| takes_text(&self.manifest, setting))
    }

    /// The stored value of a setting, as text.
    pub fn value(&self, name: &str) -> String {
        match self.client.as_ref().and_then(|client| client.settings.get(name)) {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => String::new(),
        }
    }
}

/// Whether an operator gives a setting as text: it names no server.
fn takes_text(manifest: &Manifest, setting: &Setting) -> bool {
    let mut of_servers = manifest.hosts_from_settings.iter().chain(&manifest.servers_from_settings);
    setting.operator && setting.fixed.is_none() && !of_servers.any(|name| *name == setting.name)
}

/// The providers with OAuth, by their titles.
///
/// # Errors
/// Those of the database.
pub async fn list(app: &App, tenant: &Tenant) -> Result<Vec<RegisteredClient>> {
    let mut clients = oauth_clients::list(app.db.reader(), &tenant.application_id).await?;
    let mut found = Vec::new();
    for connector in app.runtime.list() {
        if connector.manifest.auth.kinds.contains(&AuthKind::Oauth) {
            let at = clients.iter().position(|client| client.provider == connector.manifest.name);
            let client = at.map(|at| clients.swap_remove(at));
            found.push(registered_client(app, connector.manifest.clone(), client));
        }
    }
    found.sort_by(|a, b| a.manifest.title.cmp(&b.manifest.title));
    Ok(found)
}

/// A provider with OAuth by its connector's name.
///
/// # Errors
/// `not_found`, and those of the database.
pub async fn find(app: &App, tenant: &Tenant, provider: &str) -> Result<RegisteredClient> {
    let manifest = manifest(app, provider)?;
    let client = oauth_clients::find(app.db.reader(), tenant, provider).await?;
    Ok(registered_client(app, manifest, client))
}

fn registered_client(app: &App, manifest: Arc<Manifest>, client: Option<OAuthClient>) -> RegisteredClient {
    let address = app.config.public_address();
    let callback_url = match &client {
        Some(client) => callback_url(&address, client),
        None => default_callback_url(&address, &manifest.name),
    };
    RegisteredClient { manifest, client, callback_url }
}

/// The manifest of a provider with OAuth.
///
/// # Errors
/// `not_found`.
pub fn manifest(app: &App, provider: &str) -> Result<Arc<Manifest>> {
    let connector = app.runtime.find(provider).ok_or_else(|| not_found("provider"))?;
    match connector.manifest.auth.kinds.contains(&AuthKind::Oauth) {
        true => Ok(connector.manifest.clone()),
        false => Err(not_found("provider")),
    }
}

/// Registers a client, or changes the one that is registered.
///
/// # Errors
/// `invalid_parameter` of `clientId`, `clientSecret` or `settings.<name>`; `missing_field` of `clientSecret` for a new client of a provider that
/// gives secrets; `invalid_state` where somebody else changed it at the same moment.
pub async fn save(
    app: &App,
    tenant: &Tenant,
    provider: &str,
    change: ClientChange,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let manifest = manifest(app, provider)?;
    ensure_provider_allowed(app, tenant, provider).await?;
    let client_id = inputs::client_id(&change.client_id);
    let client_id = client_id.map_err(|why| invalid(Code::InvalidParameter, "clientId", why))?;
    check_secret(change.secret.as_ref())?;
    let settings = checked_settings(&manifest, &change.settings)?;
    let (secret, is_public) = (change.secret, change.is_public);
    let new = new_client(app, tenant, provider);
    let (keyed, tenant, provider, attempt) =
        (app.clone(), tenant.clone(), provider.to_owned(), attempt.clone());
    let needs_secret = manifest.auth.client_auth != ClientAuth::None && !is_public;
    let answer = app.db.write(move |tx| {
        Box::pin(async move {
            let now = keyed.now();
            let found = oauth_clients::find(&mut *tx, &tenant, &provider).await?;
            let mut client = found.clone().unwrap_or(new);
            client.client_id = client_id;
            client.updated_at = now;
            if is_public {
                client.client_secret = None;
                client.client_auth = Some("none".to_owned());
            } else if let Some(secret) = &secret {
                let place = secret_place(&client);
                client.client_secret = Some(keyed.keyring.seal(&place, secret.as_bytes())?);
                client.client_auth = client.client_auth.filter(|auth| auth != "none");
            } else if needs_secret && client.client_secret.is_none() {
                return Err(invalid(Code::MissingField, "clientSecret", "clientSecret is required"));
            }
            for (name, value) in settings {
                match value {
                    Some(value) => client.settings.insert(name, value),
                    None => client.settings.remove(&name),
                };
            }
            let attempt = write_change(tx, found.as_ref(), &client, &attempt).await?;
            let answer = StoredResponse::no_content();
            attempt.store(tx, &keyed.keyring, &answer, now).await?;
            Ok::<_, Error>(answer)
        })
    });
    let answer = answer.await?;
    app.registrations.clear();
    Ok(answer)
}

/// Whether a client has everything of another one but the time of its last change.
pub fn is_same(found: &OAuthClient, client: &OAuthClient) -> bool {
    *client == OAuthClient { updated_at: client.updated_at, ..found.clone() }
}

/// Writes a client in place of the one that was found. Returns the attempt to store: without its entry of the audit log where they are the same,
/// and nothing is written.
///
/// # Errors
/// `invalid_state` where somebody else changed it at the same moment.
pub async fn write_change(
    tx: &mut storage::Tx,
    found: Option<&OAuthClient>,
    client: &OAuthClient,
    attempt: &IdempotentAttempt,
) -> Result<IdempotentAttempt> {
    if found.is_some_and(|found| is_same(found, client)) {
        return Ok(attempt.without_entry());
    }
    write(tx, client, found.is_none()).await?;
    Ok(attempt.clone())
}

/// Writes a client, new or changed.
///
/// # Errors
/// `invalid_state` where somebody else changed it at the same moment.
pub async fn write(tx: &mut storage::Tx, client: &OAuthClient, is_new: bool) -> Result<()> {
    let is_written = match is_new {
        true => oauth_clients::insert(tx, client).await?,
        false => oauth_clients::update(tx, client).await?,
    };
    match is_written {
        true => Ok(()),
        false => {
            Err(refuse(Code::InvalidState, "this registration was changed at the same moment; try again"))
        }
    }
}

/// A client of the application at a provider, with nothing in it yet.
pub fn new_client(app: &App, tenant: &Tenant, provider: &str) -> OAuthClient {
    let now = app.now();
    OAuthClient {
        id: app.new_id(Kind::OAuthClient),
        tenant: tenant.clone(),
        provider: provider.to_owned(),
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
    }
}

/// Checks a client's secret.
///
/// # Errors
/// `invalid_parameter` of `clientSecret`.
pub fn check_secret(secret: Option<&Zeroizing<String>>) -> Result<()> {
    let fits =
        |text: &str| (1..=MAX_CLIENT_SECRET).contains(&text.len()) && !text.chars().any(char::is_control);
    match secret.is_none_or(|secret| fits(secret.as_str())) {
        true => Ok(()),
        false => {
            let message =
                format!("clientSecret must have 1 to {MAX_CLIENT_SECRET} bytes and no control characters");
            Err(invalid(Code::InvalidParameter, "clientSecret", message))
        }
    }
}

/// The values of the operator's settings; none where a value is to be removed.
fn checked_settings(manifest: &Manifest, given: &[(String, String)]) -> Result<Vec<(String, Option<Value>)>> {
    let mut checked = Vec::with_capacity(given.len());
    for (name, text) in given {
        let field = format!("settings.{name}");
        let is_known =
            manifest.settings.iter().any(|known| known.name == *name && takes_text(manifest, known));
        if !is_known {
            let message = format!("{field} is not a setting of the operator");
            return Err(invalid(Code::UnknownField, field, message));
        }
        let read = inputs::setting(&format!("{name}={text}"));
        let read = read.map_err(|why| invalid(Code::InvalidParameter, field, why))?;
        checked.push((read.name, read.value));
    }
    Ok(checked)
}

/// Takes a client out of use, or puts it into use again. Connections stay.
///
/// # Errors
/// `invalid_state` where there is none.
pub async fn set_disabled(
    app: &App,
    tenant: &Tenant,
    provider: &str,
    is_disabled: bool,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let (keyed, tenant, provider, attempt) =
        (app.clone(), tenant.clone(), provider.to_owned(), attempt.clone());
    let answer = app.db.write(move |tx| {
        Box::pin(async move {
            let now = keyed.now();
            let found = oauth_clients::find(&mut *tx, &tenant, &provider).await?;
            let found = found.ok_or_else(|| {
                refuse(Code::InvalidState, "the application has no client at this provider")
            })?;
            let mut client = found.clone();
            client.disabled_at = is_disabled.then(|| client.disabled_at.unwrap_or(now));
            client.updated_at = now;
            let attempt = write_change(tx, Some(&found), &client, &attempt).await?;
            let answer = StoredResponse::no_content();
            attempt.store(tx, &keyed.keyring, &answer, now).await?;
            Ok::<_, Error>(answer)
        })
    });
    let answer = answer.await?;
    app.registrations.clear();
    Ok(answer)
}

/// Checks what connecting an account needs: that the client is registered and in use, that the operator's settings are whole, and that the
/// addresses of the provider are known or are found in its metadata. Returns the address to which users are sent, without its query. No
/// user and no secret is sent anywhere.
///
/// # Errors
/// `provider_not_registered` with the cause; `provider_error` and `provider_unavailable` where the provider's metadata cannot be read or used;
/// `not_found` for a provider without OAuth.
pub async fn check(app: &App, tenant: &Tenant, provider: &str) -> Result<String> {
    manifest(app, provider)?;
    let registered = oauth::registered(app, tenant, provider).await?;
    registered.settings(app).await?;
    let mut address = registered.resolve(app).await?.endpoints.authorize_url;
    address.set_query(None);
    Ok(address.into())
}

/// The number of live accounts of the application at a provider, at most `MAX_COUNTED_ACCOUNTS`.
///
/// # Errors
/// Those of the database.
pub async fn count_accounts(app: &App, tenant: &Tenant, provider: &str) -> Result<usize> {
    let most = i64::try_from(MAX_COUNTED_ACCOUNTS).unwrap_or(i64::MAX);
    Ok(connections::list(app.db.reader(), tenant, (provider, ""), "", most).await?.len())
}

/// Removes a client with its secret. `is_forced`: also where accounts of the provider are connected, whose tokens can then not be renewed any
/// more. An account that is connected at the same moment stays. `expected` is the version that the removal is based on.
///
/// # Errors
/// `not_empty` where accounts are connected and it is not forced; `invalid_state` where there is no client, or where somebody else changed it
/// at the same moment; `stale_etag`.
pub async fn remove(
    app: &App,
    tenant: &Tenant,
    provider: &str,
    is_forced: bool,
    expected: &ExpectedEtag,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    if !is_forced && count_accounts(app, tenant, provider).await? > 0 {
        let message = format!("accounts of this application are connected with {provider}");
        return Err(refuse(Code::NotEmpty, message));
    }
    let (keyed, tenant, provider) = (app.clone(), tenant.clone(), provider.to_owned());
    let (expected, attempt) = (expected.clone(), attempt.clone());
    let answer = app.db.write(move |tx| {
        Box::pin(async move {
            let found = oauth_clients::find(&mut *tx, &tenant, &provider).await?;
            let client = found.ok_or_else(|| {
                refuse(Code::InvalidState, "the application has no client at this provider")
            })?;
            expected.check(&etag(&client))?;
            // It locks the row, so that no other version than the one that was checked is removed.
            write(tx, &client, false).await?;
            oauth_clients::remove(tx, &tenant, &provider).await?;
            let answer = StoredResponse::no_content();
            attempt.store(tx, &keyed.keyring, &answer, keyed.now()).await?;
            Ok::<_, Error>(answer)
        })
    });
    let answer = answer.await?;
    app.registrations.clear();
    Ok(answer)
}

/// The version of a registration. One that is made again has another id, so that no version of the one before it is its own.
pub(crate) fn etag(client: &OAuthClient) -> String {
    format!("\"{}_{}\"", client.id, client.version)
}
