//! Addresses for the notifications of providers, and which providers can notify this service of which surfaces.

use std::sync::Arc;

use base::error::Result;
use runtime::{LoadedConnector, Push};
use serde_json::Value;
use storage::connections::Connection;
use storage::oauth_clients;

use crate::app::App;
use crate::connections::watch_calls;

/// Returns the connector of a provider, if it can start watches.
fn connector(app: &App, provider: &str) -> Option<Arc<LoadedConnector>> {
    app.runtime.find(provider).filter(|connector| watch_calls::has_watch(connector))
}

/// Returns the format of notifications of a surface's watches. None: the provider posts none.
pub fn push_of(app: &App, provider: &str, surface: &str) -> Option<Push> {
    connector(app, provider)?.manifest.push_of(surface).cloned()
}

/// Returns the format of notifications to the address with this name at its end; none: to the one without a name.
pub fn push_named(app: &App, provider: &str, name: Option<&str>) -> Option<Push> {
    connector(app, provider)?.manifest.push_named(name).cloned()
}

/// Returns the address that the provider is given for watches of a surface. None: it posts no notifications of them, or this service has no
/// public https address, which every provider requires.
pub fn address(app: &App, provider: &str, surface: &str) -> Option<String> {
    address_of(app, provider, connector(app, provider)?.manifest.push_of(surface)?)
}

/// Returns the address of one kind of notifications; none as for `address`.
pub fn address_of(app: &App, provider: &str, push: &Push) -> Option<String> {
    let url = app.config.public_address();
    let is_https = url.get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://"));
    let is_public = app.config.public_url.is_some() && is_https;
    let name = push.name.as_ref().map_or_else(String::new, |name| format!("/{name}"));
    (is_public || app.config.push_over_http)
        .then(|| format!("{url}/v1/providers/{provider}/notifications{name}"))
}

/// Whether this service can ask a provider to notify it of changes of a surface.
pub fn can_watch(app: &App, provider: &str, surface: &str) -> bool {
    address(app, provider, surface).is_some()
}

/// Returns the operator's setting that the application's registration lacks and that is required to authenticate notifications of a
/// surface: the account that posts them. None: it exists, or the provider's notifications need none.
pub async fn missing_setting(app: &App, connection: &Connection, surface: &str) -> Result<Option<String>> {
    let provider = &connection.provider;
    let jwt = push_of(app, provider, surface).and_then(|push| push.jwt);
    let Some(setting) = jwt.and_then(|jwt| jwt.email_setting) else { return Ok(None) };
    let client = oauth_clients::find(app.db.reader(), &connection.tenant, provider).await?;
    let poster = client.as_ref().and_then(|client| client.settings.get(&setting)).and_then(Value::as_str);
    Ok(poster.is_none_or(str::is_empty).then_some(setting))
}
