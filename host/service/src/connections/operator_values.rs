//! Values that an operator gave for an application when registering a provider (`switchboard apps provider set`): the manifest's settings
//! with `operator = true`, and servers to replace the provider's hosts. They apply to all of the application's connections, on every host
//! at most a second after the command.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Context;
use base::error::{Code, Result, invalid};
use base::tenant::Tenant;
use model::wire::Connection as WireConnection;
use runtime::{AccountLimits, LIMITS_SETTING, LoadedConnector, Manifest, OriginOverrides};
use serde_json::{Map, Value};
use storage::oauth_clients::{self, OAuthClient};

use crate::app::App;

/// The operator's values for one provider and application.
#[derive(Default)]
pub struct OperatorValues {
    /// Each of the manifest's settings with `operator = true`; none if it has no value.
    settings: BTreeMap<String, Option<Value>>,
    pub origins: Arc<OriginOverrides>,
    /// Limits of an account that replace the manifest's, if the operator gave figures.
    pub limits: Option<Arc<AccountLimits>>,
}

impl OperatorValues {
    /// Loads the values, from memory if they were read within the last second. A connector that is not installed has none.
    pub async fn load(app: &App, tenant: &Tenant, provider: &str) -> anyhow::Result<Self> {
        match app.runtime.find(provider) {
            Some(loaded) if can_have(&loaded.manifest) => {
                let client = registration(app, tenant, provider).await?;
                OperatorValues::new(&loaded.manifest, (*client).as_ref())
            }
            _ => Ok(OperatorValues::default()),
        }
    }

    fn new(manifest: &Manifest, client: Option<&OAuthClient>) -> anyhow::Result<Self> {
        let given = |name: &str| client.and_then(|client| client.settings.get(name)).cloned();
        let settings = manifest.settings.iter().filter(|setting| setting.operator);
        let settings = settings.map(|s| (s.name.clone(), given(&s.name).or_else(|| s.default.clone())));
        let origins = match client.and_then(|client| client.endpoints.get("origins")) {
            Some(stored) => {
                let origins: BTreeMap<String, String> =
                    serde_json::from_value(stored.clone()).context("the origins of a registration")?;
                OriginOverrides::parse(&origins).context("the origins of a registration")?
            }
            None => OriginOverrides::default(),
        };
        let limits = client.and_then(|client| limits(manifest, client)).map(Arc::new);
        Ok(OperatorValues { settings: settings.collect(), origins: Arc::new(origins), limits })
    }

    /// Returns the connection as its connector sees it now: with the operator's present values, whatever they were when it was connected.
    pub fn apply<'w>(&self, wire: &'w WireConnection) -> Cow<'w, WireConnection> {
        if self.settings.iter().all(|(name, value)| wire.settings.get(name) == value.as_ref()) {
            return Cow::Borrowed(wire);
        }
        let mut wire = wire.clone();
        self.put_into(&mut wire.settings);
        Cow::Owned(wire)
    }

    /// Sets the settings to the present values, and removes those that the operator removed.
    pub fn put_into(&self, settings: &mut Map<String, Value>) {
        for (name, value) in &self.settings {
            match value {
                Some(value) => settings.insert(name.clone(), value.clone()),
                None => settings.remove(name),
            };
        }
    }
}

/// Returns the manifest's limits with the figures of a registration. None if it has no figures, or if a newer connector has other buckets:
/// then the manifest's limits apply, so that the connector keeps working.
fn limits(manifest: &Manifest, client: &OAuthClient) -> Option<AccountLimits> {
    let figures = client.settings.get(LIMITS_SETTING).filter(|_| !manifest.limits.is_empty())?;
    let figures = figures.as_object().cloned().unwrap_or_default();
    let limits = manifest.limits.with_figures(&figures);
    limits
        .inspect_err(|e| {
            tracing::debug!(connector = &*manifest.name, error = %format!("{e:#}"),
                "the operator's figures of the limits do not fit the connector");
        })
        .ok()
}

/// Fails with `invalid_parameter` and the field's name if a request gives a setting that only the operator may give.
pub fn refuse_given(connector: &LoadedConnector, settings: &Map<String, Value>) -> Result<()> {
    let manifest = &connector.manifest;
    let is_given = |name: &str| settings.get(name).is_some_and(|value| !value.is_null());
    match manifest.settings.iter().find(|setting| setting.operator && is_given(&setting.name)) {
        None => Ok(()),
        Some(setting) => {
            let is_server = manifest.servers_from_settings.contains(&setting.name);
            let field = format!("{}.{}", if is_server { "credentials" } else { "settings" }, setting.name);
            let message = format!("{field} is set by the operator for the whole application; leave it out");
            Err(invalid(Code::InvalidParameter, field, message))
        }
    }
}

/// Whether an operator can give values for this connector: for others no registration is read.
fn can_have(manifest: &Manifest) -> bool {
    !manifest.hosts.is_empty()
        || !manifest.limits.is_empty()
        || manifest.settings.iter().any(|setting| setting.operator)
}

/// Returns the application's registration of a provider, disabled or not: existing connections remain when new ones are disabled.
async fn registration(
    app: &App,
    tenant: &Tenant,
    provider: &str,
) -> anyhow::Result<Arc<Option<OAuthClient>>> {
    let (name, now) = (format!("{} {provider}", tenant.application_id), app.now());
    if let Some(known) = app.registrations.get(&name, now) {
        return Ok(known);
    }
    let found = Arc::new(oauth_clients::find(app.db.reader(), tenant, provider).await?);
    app.registrations.put(name, found.clone(), now);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn manifest() -> Manifest {
        Manifest::parse(
            r#"
            name = "x"
            version = "1.0.0"
            title = "X"
            surfaces = ["email"]
            [[settings]]
            name = "topic"
            operator = true
            description = "."
            [[settings]]
            name = "region"
            operator = true
            default = "eu"
            description = "."
            [[settings]]
            name = "folder"
            description = "."
            "#,
        )
        .unwrap()
    }

    fn client(settings: Value) -> OAuthClient {
        OAuthClient {
            id: "oac_1".to_owned(),
            tenant: Tenant { organization_id: "org_1".to_owned(), application_id: "app_1".to_owned() },
            provider: "x".to_owned(),
            client_id: "c".to_owned(),
            client_secret: None,
            client_auth: None,
            settings: settings.as_object().unwrap().clone(),
            endpoints: Map::new(),
            scopes: Map::new(),
            version: 1,
            disabled_at: None,
            created_at: 0,
            updated_at: 0,
        }
    }

    #[test]
    fn present_values_hold_and_values_that_were_taken_away_are_gone() {
        let wire = |settings: Value| WireConnection {
            settings: settings.as_object().unwrap().clone(),
            ..WireConnection::default()
        };
        let connected = wire(json!({ "topic": "old", "region": "us", "folder": "mine" }));
        let given = client(json!({ "topic": "new", "folder": "the operator's" }));
        let values = OperatorValues::new(&manifest(), Some(&given)).unwrap();
        let expected = wire(json!({ "topic": "new", "region": "eu", "folder": "mine" }));
        assert_eq!(*values.apply(&connected), expected);
        assert!(matches!(values.apply(&expected), Cow::Borrowed(_)), "nothing is copied");
        let values = OperatorValues::new(&manifest(), None).unwrap();
        assert_eq!(*values.apply(&connected), wire(json!({ "region": "eu", "folder": "mine" })));
        let mut settings = Map::new();
        values.put_into(&mut settings);
        assert_eq!(Value::Object(settings), json!({ "region": "eu" }));
    }

    #[test]
    fn origins_move_whatever_opens_the_account() {
        let hosts = "hosts = [{ host = \"api.example.com\" }]\nauth = { kinds = [\"bearer\"] }";
        let start = "name = \"x\"\nversion = \"1.0.0\"\ntitle = \"X\"\nsurfaces = [\"email\"]\n";
        let with_hosts = Manifest::parse(&format!("{start}{hosts}")).unwrap();
        assert!(can_have(&with_hosts) && can_have(&manifest()));
        assert!(!can_have(&Manifest::parse(start).unwrap()), "of this one no registration is read");
        let mut given = client(json!({}));
        given.endpoints.insert("origins".to_owned(), json!({ "https://api.example.com": "https://b.test" }));
        let values = OperatorValues::new(&with_hosts, Some(&given)).unwrap();
        assert_ne!(*values.origins, OriginOverrides::default());
        // No call is better than one to the host that was to be replaced.
        given.endpoints.insert("origins".to_owned(), json!({ "https://api.example.com": "b.test" }));
        assert!(OperatorValues::new(&with_hosts, Some(&given)).is_err());
    }

    #[test]
    fn limits_have_the_operators_figures() {
        let limits =
            "[limits]\nrates = [{ name = \"mail\", surfaces = [\"email\"], units = 6000, per_s = 60 }]";
        let start = "name = \"x\"\nversion = \"1.0.0\"\ntitle = \"X\"\nsurfaces = [\"email\"]\n";
        let manifest = Manifest::parse(&format!("{start}{limits}")).unwrap();
        assert!(can_have(&manifest));
        let units = |settings: Value| {
            let values = OperatorValues::new(&manifest, Some(&client(settings))).unwrap();
            values.limits.map(|limits| limits.rates[0].units)
        };
        assert_eq!(units(json!({ "limits": { "mail": { "units": 15000 } } })), Some(15_000));
        assert_eq!(units(json!({})), None);
        // Limits of another version of the connector: calls continue.
        assert_eq!(units(json!({ "limits": { "drive": { "units": 1 } } })), None);
    }
}
