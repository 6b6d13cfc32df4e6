//! Which providers can notify this service, and where.

use std::sync::Arc;

use runtime::Loaded;

use crate::app::App;
use crate::connections::watch_calls;

/// The connector of a provider whose notifications this service can read: it exports `watch`, and its manifest has `[push]`.
pub fn connector(app: &App, provider: &str) -> Option<Arc<Loaded>> {
    let connector = app.runtime.find(provider)?;
    (watch_calls::has_watch(&connector) && connector.manifest.push.is_some()).then_some(connector)
}

/// The address that the provider is given. None: without a public address that begins with https no provider posts anything.
pub fn address(app: &App, provider: &str) -> Option<String> {
    let url = app.config.public_address();
    let is_https = url.get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://"));
    let is_public = app.config.public_url.is_some() && is_https;
    (is_public || app.config.push_over_http).then(|| format!("{url}/v1/providers/{provider}/notifications"))
}

/// Whether this service can ask a provider to notify it.
pub fn can_watch(app: &App, provider: &str) -> bool {
    address(app, provider).is_some() && connector(app, provider).is_some()
}
