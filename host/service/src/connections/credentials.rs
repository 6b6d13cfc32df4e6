//! Credentials of an account: given once, checked, sealed, and passed to the egress as a header value. Connectors never see them.

use anyhow::Context;
use async_trait::async_trait;
use base::error::{Code, Result, invalid};
use base::tenant::Tenant;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use model::Instant;
use model::bounds::connection::{MAX_SECRET, MAX_USERNAME};
use runtime::{
    AuthKind, Credentials, CredentialsError, LoadedConnector, Login, LoginSecret, Secret, check_server,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use storage::connections::Connection;
use zeroize::Zeroizing;

use crate::app::App;

/// Credentials as a client gives them, and as they are stored, sealed.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GivenCredentials {
    pub username: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access_token: Option<String>,
    /// The expiry of the access token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Instant>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refresh_token: Option<String>,
    /// Time at which the access token was issued; only for tokens issued to this host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issued_at: Option<Instant>,
    /// The token type (RFC 6749, section 7.1); only for tokens issued to this host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_type: Option<String>,
    /// The client id that the tokens were issued to; only for tokens issued to this host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oauth_client_id: Option<String>,
    /// Servers are not secret: they are stored among the settings (`servers`).
    #[serde(skip_serializing)]
    pub imap: Option<Value>,
    #[serde(skip_serializing)]
    pub smtp: Option<Value>,
}

impl std::fmt::Debug for GivenCredentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Given(..)")
    }
}

impl GivenCredentials {
    /// Validates a user name with a password, or an access token: without characters that would break out of a header.
    pub fn check(&self, connector: &LoadedConnector) -> Result<()> {
        self.refuse_issued()?;
        let kinds = &connector.manifest.auth.kinds;
        let basic = self.username.is_some() && self.password.is_some();
        if !basic && self.access_token.is_none() {
            let message = "credentials need username and password, or accessToken";
            return Err(invalid(Code::MissingField, "credentials", message));
        }
        if basic && self.access_token.is_some() {
            let message = "credentials need either a password or an accessToken, not both";
            return Err(invalid(Code::ConflictingFields, "credentials", message));
        }
        let fields = [
            ("credentials.username", &self.username, MAX_USERNAME),
            ("credentials.password", &self.password, MAX_SECRET),
            ("credentials.accessToken", &self.access_token, MAX_SECRET),
        ];
        for (field, value, limit) in fields {
            let Some(value) = value else { continue };
            if value.is_empty() || value.len() > limit || value.chars().any(char::is_control) {
                let message = format!("{field} must have 1 to {limit} characters and no control characters");
                return Err(invalid(Code::InvalidParameter, field, message));
            }
        }
        if self.username.as_deref().is_some_and(|u| basic && u.contains(':')) {
            // RFC 7617: the user name ends at the first colon.
            let message = "credentials.username must not contain a colon";
            return Err(invalid(Code::InvalidParameter, "credentials.username", message));
        }
        let wanted = if basic { AuthKind::Basic } else { AuthKind::Bearer };
        if kinds.is_empty() || kinds.contains(&wanted) {
            return Ok(());
        }
        let given = if basic { "a user name and password" } else { "an access token" };
        let message = format!("this connector does not take {given}");
        Err(invalid(Code::InvalidParameter, "credentials", message))
    }

    /// Refuses fields that only an authorization by OAuth sets.
    fn refuse_issued(&self) -> Result<()> {
        let fields = [
            ("credentials.refreshToken", self.refresh_token.is_some()),
            ("credentials.issuedAt", self.issued_at.is_some()),
            ("credentials.tokenType", self.token_type.is_some()),
            ("credentials.oauthClientId", self.oauth_client_id.is_some()),
        ];
        match fields.into_iter().find(|(_, is_there)| *is_there) {
            None => Ok(()),
            Some((field, _)) => {
                let message = format!(
                    "{field} is not taken here: connect the account with POST /v1/auth/connectors/{{provider}}/authorize"
                );
                Err(invalid(Code::CapabilityNotSupported, field, message))
            }
        }
    }

    /// Whether these are OAuth tokens issued to this host.
    pub fn is_oauth(&self) -> bool {
        self.oauth_client_id.is_some()
    }

    /// Moves the given servers into the settings that the connector's manifest names.
    // Contract: they stand beside the credentials. They are none: they are shown, and connectors see them.
    pub fn take_servers(
        &mut self,
        connector: &LoadedConnector,
        settings: &mut Map<String, Value>,
    ) -> Result<()> {
        let wanted = &connector.manifest.servers_from_settings;
        for (name, given) in [("imap", self.imap.take()), ("smtp", self.smtp.take())] {
            let Some(value) = given.filter(|v| !v.is_null()) else { continue };
            let field = format!("credentials.{name}");
            if !wanted.iter().any(|w| w == name) {
                let message = format!("this connector has no use for {field}");
                return Err(invalid(Code::InvalidParameter, field, message));
            }
            if settings.get(name).is_some_and(|other| *other != value) {
                let message = format!("{field} and settings.{name} differ: give one of them");
                return Err(invalid(Code::ConflictingFields, field, message));
            }
            settings.insert(name.to_owned(), value);
        }
        for name in wanted {
            let Some(Err(bad)) = settings.get(name).map(check_server) else { continue };
            let place = if matches!(name.as_str(), "imap" | "smtp") { "credentials" } else { "settings" };
            let dot = if bad.field.is_empty() { "" } else { "." };
            let field = format!("{place}.{name}{dot}{}", bad.field);
            let message = format!("{field} {}", bad.why);
            return Err(invalid(Code::InvalidParameter, field, message));
        }
        Ok(())
    }

    fn login(&self) -> Option<Login> {
        let secret = match (&self.access_token, &self.password) {
            (Some(token), _) => LoginSecret::Token(Zeroizing::new(token.clone())),
            (None, password) => LoginSecret::Password(Zeroizing::new(password.clone()?)),
        };
        Some(Login { username: self.username.clone()?, secret })
    }

    fn header(&self) -> anyhow::Result<String> {
        match (&self.access_token, &self.username, &self.password) {
            (Some(token), _, _) => Ok(format!("Bearer {token}")),
            (None, Some(user), Some(password)) => {
                Ok(format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}"))))
            }
            _ => anyhow::bail!("the stored credentials are incomplete"),
        }
    }
}

/// Returns the context that a connection's sealed credentials are bound to.
pub fn place(connection_id: &str, tenant: &Tenant) -> String {
    format!("connections.credentials:{connection_id}:{}", tenant.organization_id)
}

/// Opens a connection's stored credentials.
pub fn stored(app: &App, connection: &Connection) -> Result<GivenCredentials> {
    let place = place(&connection.id, &connection.tenant);
    let text = app.keyring.open(&place, &connection.credentials)?;
    Ok(serde_json::from_slice(&text).context("stored credentials")?)
}

/// Credentials that do not change and are never refreshed.
pub struct StaticCredentials {
    header: Secret,
    login: Option<Login>,
}

impl StaticCredentials {
    pub fn new(given: &GivenCredentials) -> Result<Self> {
        Ok(StaticCredentials { header: Secret::new(given.header()?), login: given.login() })
    }
}

#[async_trait]
impl Credentials for StaticCredentials {
    async fn authorization(&self, slot: &str) -> Result<Option<Secret>, CredentialsError> {
        Ok((slot == "default").then(|| self.header.clone()))
    }

    async fn login(&self) -> Result<Option<Login>, CredentialsError> {
        Ok(self.login.clone())
    }

    async fn refreshed(&self, _: &str) -> Result<Option<Secret>, CredentialsError> {
        Ok(None)
    }
}
