//! OAuth clients as administrators register them, as a whole: with addresses and origins in the place of the connector's own. Requests to these
//! follow the same egress rules as all others.

use std::collections::{BTreeMap, BTreeSet};

use base::error::{Code, Error, Result, invalid, not_found};
use base::tenant::Tenant;
use runtime::{AuthKind, ClientAuth, LIMITS_SETTING, Manifest, OriginOverrides, parse_origin};
use serde_json::{Map, Value, json};
use storage::oauth_clients::{self, OAuthClient};
use zeroize::Zeroizing;

use crate::app::App;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::connections;
use crate::manage::provider_clients;
use crate::manage::providers::{self, callback_url, default_callback_url, inputs, secret_place};
use crate::writes::etag::ExpectedEtag;

/// The word for a client that has no secret.
const PUBLIC: &str = "none";

/// A registration as it shall be.
#[derive(Clone)]
pub struct ClientRegistration {
    pub client_id: String,
    /// None: the stored one stays.
    pub secret: Option<Zeroizing<String>>,
    /// `post`, `basic` or `none`. None: as the connector says.
    pub client_auth: Option<String>,
    pub settings: Map<String, Value>,
    pub endpoints: Map<String, Value>,
    pub scopes: Map<String, Value>,
    pub is_disabled: bool,
    /// The version that the change is based on.
    pub expected: ExpectedEtag,
    /// Warnings about the request, which the answer repeats.
    pub warnings: Vec<Value>,
}

/// A provider with OAuth, and the application's registration there.
#[derive(Clone, Debug)]
pub struct RegistrationView {
    pub provider: String,
    pub client: Option<OAuthClient>,
    /// The address to enter at the provider, to which users return.
    pub callback_url: String,
}

impl RegistrationView {
    fn new(app: &App, provider: String, client: Option<OAuthClient>) -> RegistrationView {
        let address = app.config.public_address();
        let callback_url = match &client {
            Some(client) => callback_url(&address, client),
            None => default_callback_url(&address, &provider),
        };
        RegistrationView { provider, client, callback_url }
    }

    /// The version of the registration; none where there is no registration.
    pub fn etag(&self) -> Option<String> {
        self.client.as_ref().map(provider_clients::etag)
    }

    /// The provider as the API shows it.
    pub fn json(&self) -> Value {
        let mut shown = match &self.client {
            Some(client) => providers::json(client),
            None => json!({
                "id": null, "applicationId": null, "provider": self.provider, "clientId": null, "hasSecret": false,
                "clientAuth": null, "settings": {}, "endpoints": {}, "scopes": {}, "version": null, "disabled": false,
            }),
        };
        shown["callbackUrl"] = json!(self.callback_url);
        shown["etag"] = json!(self.etag());
        shown
    }
}

/// The providers with OAuth, and those at which the application has a registration, by their names.
///
/// # Errors
/// Errors of the database.
pub async fn list(app: &App, tenant: &Tenant) -> Result<Vec<RegistrationView>> {
    let clients = oauth_clients::list(app.db.reader(), &tenant.application_id).await?;
    let mut clients: BTreeMap<String, OAuthClient> =
        clients.into_iter().map(|client| (client.provider.clone(), client)).collect();
    let mut names: BTreeSet<String> = clients.keys().cloned().collect();
    for connector in app.runtime.list() {
        if connector.manifest.auth.kinds.contains(&AuthKind::Oauth) {
            names.insert(connector.manifest.name.clone());
        }
    }
    let view = |name: String| {
        let client = clients.remove(&name);
        RegistrationView::new(app, name, client)
    };
    Ok(names.into_iter().map(view).collect())
}

/// The application's registration at a provider.
///
/// # Errors
/// `not_found` where there is none, and errors of the database.
pub async fn find(app: &App, tenant: &Tenant, provider: &str) -> Result<RegistrationView> {
    let client = oauth_clients::find(app.db.reader(), tenant, provider).await?;
    let client = client.ok_or_else(|| not_found("provider"))?;
    Ok(RegistrationView::new(app, provider.to_owned(), Some(client)))
}

/// Registers a client, or replaces the registration that is there. The answer's JSON is that of `RegistrationView::json`.
///
/// # Errors
/// `not_found` for a provider without OAuth; `invalid_parameter` and `unknown_field` of a field; `conflicting_fields` and `missing_field` of
/// `clientSecret`; `stale_etag`; `invalid_state` where somebody else changed it at the same moment.
pub async fn save(
    app: &App,
    tenant: &Tenant,
    provider: &str,
    given: ClientRegistration,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let manifest = provider_clients::manifest(app, provider)?;
    connections::ensure_provider_allowed(app, tenant, provider).await?;
    let given = normalize_registration(&manifest, given)?;
    let is_public = given.client_auth.as_deref() == Some(PUBLIC);
    let needs_secret = manifest.auth.client_auth != ClientAuth::None && !is_public;
    let new = provider_clients::new_client(app, tenant, provider);
    let (keyed, tenant, attempt) = (app.clone(), tenant.clone(), attempt.clone());
    let answer = app.db.write(move |tx| {
        Box::pin(async move {
            let now = keyed.now();
            let found = oauth_clients::find(&mut *tx, &tenant, &new.provider).await?;
            given.expected.check(&found.as_ref().map(provider_clients::etag).unwrap_or_default())?;
            let is_new = found.is_none();
            let mut client = replace_registration(found.clone().unwrap_or(new), &given, now);
            if is_public {
                client.client_secret = None;
            } else if let Some(secret) = &given.secret {
                let place = secret_place(&client);
                client.client_secret = Some(keyed.keyring.seal(&place, secret.as_bytes())?);
            } else if needs_secret && client.client_secret.is_none() {
                return Err(invalid(Code::MissingField, "clientSecret", "clientSecret is required"));
            }
            let is_same = found.as_ref().is_some_and(|found| provider_clients::is_same(found, &client));
            let attempt = provider_clients::write_change(tx, found.as_ref(), &client, &attempt).await?;
            client.version += i64::from(!is_new && !is_same);
            let etag = provider_clients::etag(&client);
            let view = RegistrationView::new(&keyed, client.provider.clone(), Some(client));
            let answer = StoredResponse::ok(view.json().to_string()).warned(&given.warnings).etag(&etag);
            attempt.store(tx, &keyed.keyring, &answer, now).await?;
            Ok::<_, Error>(answer)
        })
    });
    let answer = answer.await?;
    app.registrations.clear();
    Ok(answer)
}

/// A client with everything of the registration but its secret.
fn replace_registration(client: OAuthClient, given: &ClientRegistration, now: i64) -> OAuthClient {
    OAuthClient {
        client_id: given.client_id.clone(),
        client_auth: given.client_auth.clone(),
        settings: given.settings.clone(),
        endpoints: given.endpoints.clone(),
        scopes: given.scopes.clone(),
        disabled_at: given.is_disabled.then(|| client.disabled_at.unwrap_or(now)),
        updated_at: now,
        ..client
    }
}

/// The registration with its values as they are stored.
fn normalize_registration(manifest: &Manifest, given: ClientRegistration) -> Result<ClientRegistration> {
    let client_id = inputs::client_id(&given.client_id);
    let client_id = client_id.map_err(|why| invalid(Code::InvalidParameter, "clientId", why))?;
    provider_clients::check_secret(given.secret.as_ref())?;
    if let Some(word) = &given.client_auth {
        if ClientAuth::parse(word).is_none() {
            let message = "clientAuth must be post, basic or none";
            return Err(invalid(Code::InvalidParameter, "clientAuth", message));
        }
        if word == PUBLIC && given.secret.is_some() {
            let message = "clientAuth none is for clients without a secret: leave clientSecret out";
            return Err(invalid(Code::ConflictingFields, "clientSecret", message));
        }
    }
    let settings = checked_settings(manifest, &given.settings)?;
    let endpoints = checked_endpoints(manifest, &given.endpoints)?;
    let scopes = checked_scopes(&given.scopes)?;
    Ok(ClientRegistration { client_id, settings, endpoints, scopes, ..given })
}

fn checked_settings(manifest: &Manifest, given: &Map<String, Value>) -> Result<Map<String, Value>> {
    let mut checked = Map::new();
    for (name, value) in given {
        let field = format!("settings.{name}");
        let wrong = |why: String| invalid(Code::InvalidParameter, field.clone(), why);
        let known = manifest.settings.iter().find(|setting| setting.name == *name);
        if known.is_none_or(|setting| setting.fixed.is_some()) && name != LIMITS_SETTING {
            let message = format!("{field} is not a setting of {}", manifest.name);
            return Err(invalid(Code::UnknownField, field, message));
        }
        let text = match value {
            Value::String(text) if !text.is_empty() => text.clone(),
            Value::Object(buckets) if name == LIMITS_SETTING => limits_text(buckets),
            Value::Object(_) => value.to_string(),
            _ => return Err(wrong(format!("{field} must be a text or an object"))),
        };
        let read = inputs::setting(&format!("{name}={text}")).map_err(wrong)?;
        if read.is_operators && !known.is_some_and(|setting| setting.operator) {
            let message = format!(
                "{field} must be an https:// address, an object, or a word of letters, digits and . _ ~ -"
            );
            return Err(invalid(Code::InvalidParameter, field, message));
        }
        if let Some(figures) = read.figures().filter(|_| !manifest.limits.is_empty()) {
            let limits = manifest.limits.with_figures(figures);
            limits.map_err(|e| invalid(Code::InvalidParameter, field, format!("{e:#}")))?;
        }
        checked.extend(read.value.map(|value| (read.name, value)));
    }
    Ok(checked)
}

/// The figures of limits as manifests write them. Names of a body's fields arrive in camel case, however they were sent.
fn limits_text(buckets: &Map<String, Value>) -> String {
    let named = |(name, figure): (&String, &Value)| {
        let name = if name == "perS" { "per_s" } else { name.as_str() };
        (name.to_owned(), figure.clone())
    };
    let figures = |value: &Value| match value {
        Value::Object(figures) => Value::Object(figures.iter().map(named).collect()),
        other => other.clone(),
    };
    let buckets: Map<String, Value> =
        buckets.iter().map(|(bucket, value)| (bucket.clone(), figures(value))).collect();
    Value::Object(buckets).to_string()
}

fn checked_endpoints(manifest: &Manifest, given: &Map<String, Value>) -> Result<Map<String, Value>> {
    let mut checked = Map::new();
    for (name, value) in given {
        let field = format!("endpoints.{name}");
        let value = match name.as_str() {
            "origins" => checked_origins(manifest, value)?,
            "issuer" | "authorizeUrl" | "tokenUrl" | "revokeUrl" | "userinfoUrl" | "callbackUrl" => {
                let text = value.as_str().filter(|text| !text.is_empty());
                let text = text.ok_or_else(|| {
                    invalid(Code::InvalidParameter, field.clone(), format!("{field} must be an address"))
                })?;
                let read = if name == "revokeUrl" { inputs::url_or_none(text) } else { inputs::url(text) };
                Value::String(read.map_err(|why| invalid(Code::InvalidUrl, field, why))?)
            }
            _ => {
                let message = format!("{field} is not an address of a provider");
                return Err(invalid(Code::UnknownField, field, message));
            }
        };
        checked.insert(name.clone(), value);
    }
    Ok(checked)
}

/// Servers by the origin of the provider that each of them replaces.
fn checked_origins(manifest: &Manifest, given: &Value) -> Result<Value> {
    const FIELD: &str = "endpoints.origins";
    let wrong = |why: String| invalid(Code::InvalidParameter, FIELD, why);
    let given = given.as_object().ok_or_else(|| wrong(format!("{FIELD} must be an object")))?;
    let mut origins: BTreeMap<String, String> = BTreeMap::new();
    for (replaced, server) in given {
        let read = |text: &str| parse_origin(text).map_err(|why| wrong(why.to_owned()));
        let server = server.as_str().ok_or_else(|| wrong(format!("{FIELD} must have texts as values")))?;
        origins.insert(read(replaced)?, read(server)?);
    }
    let overrides = OriginOverrides::parse(&origins);
    let named = overrides.and_then(|overrides| overrides.ensure_named_by(manifest));
    named.map_err(|e| wrong(format!("{e:#}")))?;
    Ok(json!(origins))
}

fn checked_scopes(given: &Map<String, Value>) -> Result<Map<String, Value>> {
    let mut checked = Map::new();
    for (name, value) in given {
        let field = format!("scopes.{name}");
        let words = value.as_array().into_iter().flatten().map(Value::as_str).collect::<Option<Vec<&str>>>();
        let words = words.filter(|words| !words.is_empty()).ok_or_else(|| {
            let message = format!("{field} must be a list of the provider's scopes");
            invalid(Code::InvalidParameter, field.clone(), message)
        })?;
        let read = inputs::scope(&format!("{name}={}", words.join(",")));
        let read = read.map_err(|why| invalid(Code::InvalidParameter, field, why))?;
        checked.extend(read.value.map(|value| (read.name, value)));
    }
    Ok(checked)
}
