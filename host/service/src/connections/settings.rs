//! The settings of a connection: those that its connector asks for, its servers, and the other origins to which its credentials may go.

use std::sync::Arc;

use base::error::{Code, Result, invalid, refuse};
use base::tenant::Tenant;
use runtime::{DISCOVERED, LoadedConnector, Manifest, Setting, check_origins};
use serde_json::{Map, Value, json};
use storage::connections::Connection;

use crate::app::{App, SANDBOX};

/// Returns the connector with this name; fails with `invalid_parameter` if none is installed.
pub fn connector(app: &App, provider: &str) -> Result<Arc<LoadedConnector>> {
    if provider.is_empty() {
        return Err(invalid(Code::MissingField, "provider", "provider is required, for example \"dav\""));
    }
    app.runtime.find(provider).ok_or_else(|| {
        let known: Vec<String> = app.runtime.list().iter().map(|c| c.manifest.name.clone()).collect();
        let message = format!("there is no connector named {provider:?}; installed: {}", known.join(", "));
        invalid(Code::InvalidParameter, "provider", message)
    })
}

/// Returns the settings that the manifest asks for, and refuses others.
pub fn checked(
    app: &App,
    connector: &LoadedConnector,
    mut given: Map<String, Value>,
) -> Result<Map<String, Value>> {
    if let Some(url) = sandbox_url(app, &connector.manifest.name) {
        given.insert("serverUrl".into(), Value::String(url));
    }
    let mut kept = Map::new();
    for setting in &connector.manifest.settings {
        let value = given.remove(&setting.name).filter(|value| !value.is_null());
        match fixed_or_given(setting, value)? {
            Some(Value::String(text)) if text.len() > 2048 => {
                let field = format!("settings.{}", setting.name);
                return Err(invalid(
                    Code::InvalidParameter,
                    field,
                    "a setting may have at most 2048 characters",
                ));
            }
            None if setting.required && setting.operator => {
                let message = format!(
                    "{} cannot be used until the operator gives the setting {}: {}",
                    connector.manifest.title, setting.name, setting.description
                );
                return Err(refuse(Code::ProviderNotRegistered, message));
            }
            None if setting.required => {
                let is_server = connector.manifest.servers_from_settings.contains(&setting.name);
                let field =
                    format!("{}.{}", if is_server { "credentials" } else { "settings" }, setting.name);
                let message = format!("{field} is required: {}", setting.description);
                return Err(invalid(Code::MissingField, field, message));
            }
            None => {}
            Some(value) => {
                kept.insert(setting.name.clone(), value);
            }
        }
    }
    if let Some(unknown) = given.keys().next() {
        let field = format!("settings.{unknown}");
        let message = format!("{field} is not a setting of this connector");
        return Err(invalid(Code::UnknownField, field, message));
    }
    for name in &connector.manifest.hosts_from_settings {
        if let Some(Value::String(text)) = kept.get(name) {
            let fits = url::Url::parse(text).is_ok_and(|u| {
                matches!(u.scheme(), "http" | "https")
                    && u.has_host()
                    && u.username().is_empty()
                    && u.password().is_none()
            });
            if !fits {
                let field = format!("settings.{name}");
                let message = format!("{field} must be an http or https URL without user name and password");
                return Err(invalid(Code::InvalidUrl, field, message));
            }
        }
    }
    Ok(kept)
}

/// Returns a setting's value: the manifest's fixed value, else the given one, else the manifest's default.
fn fixed_or_given(setting: &Setting, given: Option<Value>) -> Result<Option<Value>> {
    match (&setting.fixed, given) {
        (Some(fixed), Some(given)) if given != *fixed => {
            let field = format!("settings.{}", setting.name);
            let message = format!("{field} is always {fixed} with this connector; leave it out");
            Err(invalid(Code::InvalidParameter, field, message))
        }
        (Some(fixed), _) => Ok(Some(fixed.clone())),
        (None, Some(given)) => Ok(Some(given)),
        (None, None) => Ok(setting.default.clone()),
    }
}

/// Refuses http servers at public addresses, where the credentials could be read in transit. The egress refuses them as well; this error
/// names the field.
pub async fn refuse_exposed(
    app: &App,
    tenant: &Tenant,
    connector: &LoadedConnector,
    settings: &Map<String, Value>,
) -> Result<()> {
    for name in &connector.manifest.hosts_from_settings {
        let Some(Ok(url)) = settings.get(name).and_then(Value::as_str).map(url::Url::parse) else { continue };
        if app.runtime.is_exposed(&tenant.application_id, &url).await {
            let field = format!("settings.{name}");
            let message = format!(
                "{field} is http and leads to a public address, where the credentials could be read on their way: use https"
            );
            return Err(invalid(Code::InvalidUrl, field, message));
        }
    }
    Ok(())
}

/// Returns the URL of the sandbox provider, which is this process at its present address. None for every other provider.
pub fn sandbox_url(app: &App, provider: &str) -> Option<String> {
    let is_ours = provider == SANDBOX && app.config.sandbox;
    is_ours.then(|| format!("http://{}/sandbox", app.config.own_address()))
}

/// Stores the origins beside the connection's servers among its settings, as a call needs them.
pub fn remember(settings: &mut Map<String, Value>, origins: &[String]) {
    match origins {
        [] => settings.remove(DISCOVERED),
        some => settings.insert(DISCOVERED.to_owned(), json!(some)),
    };
}

/// The setting in which connectors stored such origins while `check` could still name servers: they are used if today's rules allow them.
pub const FORMERLY: &str = "apiOrigins";

/// Returns the origins among stored settings that credentials may go to.
pub fn discovered(manifest: &Manifest, settings: &Map<String, Value>) -> Vec<String> {
    let stored = settings.get(DISCOVERED).or_else(|| settings.get(FORMERLY)).and_then(Value::as_array);
    let texts = stored.into_iter().flatten().filter_map(|text| Some(vec![text.as_str()?.to_owned()]));
    let mut good: Vec<String> = Vec::new();
    for text in texts.take(64) {
        let accepted = check_origins(manifest, settings, &text).unwrap_or_default();
        good.extend(accepted.into_iter().filter(|origin| !good.contains(origin)).collect::<Vec<_>>());
    }
    good
}

/// Returns the origins beside its servers to which a connection's credentials may go. None while its connector is not installed.
pub fn discovered_of(app: &App, connection: &Connection) -> Vec<String> {
    let connector = app.runtime.find(&connection.provider);
    connector.map(|connector| discovered(&connector.manifest, &connection.settings)).unwrap_or_default()
}

/// Returns a connection's settings as a call needs them.
pub fn settings_of(app: &App, connection: &Connection) -> Map<String, Value> {
    let mut settings = connection.settings.clone();
    remember(&mut settings, &discovered_of(app, connection));
    if let Some(url) = sandbox_url(app, &connection.provider) {
        settings.insert("serverUrl".into(), url.into());
    }
    settings
}

/// Returns a connection's settings as a call about its data needs them. The sandbox gets the application, so that faults that an application
/// plans hit its own calls alone.
pub fn settings_of_call(app: &App, connection: &Connection) -> Map<String, Value> {
    let mut settings = settings_of(app, connection);
    if let Some(url) = sandbox_url_of(app, &connection.tenant, &connection.provider) {
        settings.insert("serverUrl".into(), url.into());
    }
    settings
}

/// Returns the URL of the sandbox provider of this process for one application. None for every other provider. The URL names the application
/// by a secret: the accounts' password is public, and faults that are planned below the URL hit the application's calls.
pub fn sandbox_url_of(app: &App, tenant: &Tenant, provider: &str) -> Option<String> {
    let url = sandbox_url(app, provider)?;
    let name = app.keyring.purpose("sandbox-application").tag(tenant.application_id.as_bytes());
    Some(format!("{url}/apps/{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_of_earlier_versions_count_as_far_as_they_are_safe() {
        let manifest = Manifest::parse(
            r#"
            name = "x"
            version = "1.0.0"
            title = "X"
            surfaces = ["email"]
            hosts_from_settings = ["serverUrl"]
            settings = [{ name = "serverUrl", description = "." }]
            "#,
        )
        .unwrap();
        let stored = [
            "https://evil.net",
            "https://api.example.com",
            "http://www.example.com",
            "https://api.example.com",
        ];
        let former = json!({ "serverUrl": "https://example.com", FORMERLY: stored });
        assert_eq!(discovered(&manifest, former.as_object().unwrap()), ["https://api.example.com"]);
        // The host's own list takes precedence.
        let both = json!({ "serverUrl": "https://example.com", FORMERLY: stored, DISCOVERED: ["https://b.example.com"] });
        assert_eq!(discovered(&manifest, both.as_object().unwrap()), ["https://b.example.com"]);
    }
}
