//! OAuth clients of an application, as its owners register them: client id, secret and the operator's settings. URLs and origins that
//! replace the connector's own can only be set on the command line: users of the panel must not choose servers that this host calls.

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

/// Maximum accounts of a provider that are counted.
pub const MAX_COUNTED_ACCOUNTS: usize = 100;

/// A client as entered in a form.
pub struct ClientChange {
    pub client_id: String,
    /// The new secret; none: the stored one stays.
    pub secret: Option<Zeroizing<String>>,
    /// Whether the provider issued no secret; a stored one is then removed.
    pub is_public: bool,
    /// Values of the operator's settings by name; an empty one removes the setting.
    pub settings: Vec<(String, String)>,
}

/// A provider with OAuth, and the application's client for it.
pub struct RegisteredClient {
    pub manifest: Arc<Manifest>,
    pub client: Option<OAuthClient>,
    /// The callback URL to enter at the provider, to which users return.
    pub callback_url: String,
}

impl RegisteredClient {
    /// The settings that an operator enters as text.
    pub fn settings(&self) -> impl Iterator<Item = &Setting> {
        self.manifest.settings.iter().filter(move |setting| takes_text(&self.manifest, setting))
    }

    /// Returns the stored value of a setting, as text.
    pub fn value(&self, name: &str) -> String {
        match self.client.as_ref().and_then(|client| client.settings.get(name)) {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => String::new(),
        }
    }
}

/// Whether an operator enters a setting as text: it names no server.
fn takes_text(manifest: &Manifest, setting: &Setting) -> bool {
    let mut of_servers = manifest.hosts_from_settings.iter().chain(&manifest.servers_from_settings);
    setting.operator && setting.fixed.is_none() && !of_servers.any(|name| *name == setting.name)
}

/// Lists the providers with OAuth, by title.
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

/// Finds a provider with OAuth by its connector's name.
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

/// Returns the manifest of a provider with OAuth.
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

/// Registers a client, or changes the registered one.
///
/// # Errors
/// `invalid_parameter` for `clientId`, `clientSecret` or `settings.<name>`; `missing_field` for `clientSecret` of a new client if the
/// provider issues secrets; `invalid_state` if it was changed concurrently.
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

/// Whether two clients are equal except for the time of the last change.
pub fn is_same(found: &OAuthClient, client: &OAuthClient) -> bool {
    *client == OAuthClient { updated_at: client.updated_at, ..found.clone() }
}

/// Writes a client in place of the one that was found. Returns the attempt to store: without its entry of the audit log where they are the same,
/// and nothing is written.
///
/// # Errors
/// `invalid_state` if it was changed concurrently.
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

/// Writes a new or changed client.
///
/// # Errors
/// `invalid_state` if it was changed concurrently.
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

/// Returns an empty client of the application for a provider.
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
/// `invalid_parameter` for `clientSecret`.
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

/// Checks the values of the operator's settings; none for a value to be removed.
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

/// Disables or enables a client. Connections stay.
///
/// # Errors
/// `invalid_state` if there is none.
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

/// Checks the requirements for connecting an account: the client is registered and enabled, the operator's settings are complete, and the
/// provider's URLs are known or found in its metadata. Returns the URL to which users are redirected, without its query. No user and no
/// secret is sent anywhere.
///
/// # Errors
/// `provider_not_registered` with the cause; `provider_error` and `provider_unavailable` if the provider's metadata cannot be read or used;
/// `not_found` for a provider without OAuth.
pub async fn check(app: &App, tenant: &Tenant, provider: &str) -> Result<String> {
    manifest(app, provider)?;
    let registered = oauth::registered(app, tenant, provider).await?;
    registered.settings(app).await?;
    let mut address = registered.resolve(app).await?.endpoints.authorize_url;
    address.set_query(None);
    Ok(address.into())
}

/// Counts the live accounts of the application at a provider, up to `MAX_COUNTED_ACCOUNTS`.
///
/// # Errors
/// Those of the database.
pub async fn count_accounts(app: &App, tenant: &Tenant, provider: &str) -> Result<usize> {
    let most = i64::try_from(MAX_COUNTED_ACCOUNTS).unwrap_or(i64::MAX);
    Ok(connections::list(app.db.reader(), tenant, (provider, ""), "", most).await?.len())
}

/// Removes a client with its secret. `is_forced`: even if accounts of the provider are connected, whose tokens can then no longer be
/// renewed. An account that is connected concurrently stays. `expected` is the version that the removal is based on.
///
/// # Errors
/// `not_empty` if accounts are connected and it is not forced; `invalid_state` if there is no client, or if it was changed concurrently;
/// `stale_etag`.
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
            // It locks the row, so that only the checked version is removed.
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

/// Returns the version of a registration. A client that is registered again has a new id, so its versions differ from all earlier ones.
pub(crate) fn etag(client: &OAuthClient) -> String {
    format!("\"{}_{}\"", client.id, client.version)
}
