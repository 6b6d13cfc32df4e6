//! An OAuth client as the operator registered it for an application: its row with the secret opened.

use anyhow::Context;
use base::error::Result;
use runtime::{Auth, ClientAuth, EndpointOverrides};
use serde_json::{Map, Value};
use storage::oauth_clients::OAuthClient;
use zeroize::Zeroizing;

use crate::app::App;
use crate::connections::oauth::scopes::ScopeMap;

/// The id of the sandbox provider's built-in registration.
const BUILT_IN: &str = "oac_sandbox";

/// An OAuth client (RFC 6749, section 2) with its secret opened.
pub struct Registration {
    pub id: String,
    pub version: i64,
    pub client_id: String,
    pub(crate) client_secret: Option<Zeroizing<String>>,
    pub client_auth: ClientAuth,
    /// Values of the operator's settings, for URLs and for the connector.
    pub settings: Map<String, Value>,
    pub endpoints: EndpointOverrides,
    /// The manifest's scopes, overridden by the operator's.
    pub scopes: ScopeMap,
}

/// Opens a stored registration. `issuer`: that of the sandbox provider in this process, if no other is registered.
pub(crate) fn opened(
    app: &App,
    auth: &Auth,
    client: OAuthClient,
    issuer: Option<String>,
) -> Result<Registration> {
    let place = format!("oauth_clients.client_secret:{}:{}", client.id, client.tenant.organization_id);
    let secret = client.client_secret.as_deref().map(|sealed| app.keyring.open(&place, sealed));
    let client_secret = match secret.transpose()? {
        Some(bytes) => {
            let text = std::str::from_utf8(&bytes).context("a client's secret")?;
            Some(Zeroizing::new(text.to_owned()))
        }
        None => None,
    };
    let registered = client.client_auth.as_deref().and_then(ClientAuth::parse);
    let client_auth = match client_secret {
        Some(_) => registered.unwrap_or(auth.client_auth),
        None => ClientAuth::None,
    };
    let mut endpoints: EndpointOverrides = serde_json::from_value(Value::Object(client.endpoints))?;
    endpoints.issuer = endpoints.issuer.or(issuer);
    let mut scopes = auth.scopes.clone();
    for (ours, needed) in client.scopes {
        scopes.insert(ours, serde_json::from_value(needed)?);
    }
    Ok(Registration {
        id: client.id,
        version: client.version,
        client_id: client.client_id,
        client_secret,
        client_auth,
        settings: client.settings,
        endpoints,
        scopes,
    })
}

/// Returns this host as a public client of its own sandbox provider.
pub(crate) fn of_sandbox(auth: &Auth, issuer: Option<String>) -> Registration {
    Registration {
        id: BUILT_IN.to_owned(),
        version: 1,
        client_id: sandbox_provider::HOST_CLIENT_ID.to_owned(),
        client_secret: None,
        client_auth: ClientAuth::None,
        settings: Map::new(),
        endpoints: EndpointOverrides { issuer, ..EndpointOverrides::default() },
        scopes: auth.scopes.clone(),
    }
}
