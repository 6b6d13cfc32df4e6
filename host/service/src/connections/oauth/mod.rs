//! The OAuth client (RFC 6749): a provider as the operator registered it for an application, the authorization URL, the exchange of codes,
//! and the account's identity. Provider-specific settings are in the connector's manifest; secrets and settings of this installation are in
//! the registration.

mod admin_consent;
mod answer_body;
pub mod classify;
pub mod endpoints;
pub mod grant;
mod http;
pub mod identity;
mod registration;
mod revoke;
pub mod scopes;
mod token;

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Context;
use base::error::{Code, Error, Refusal, Result, refuse};
use base::tenant::Tenant;
use oauth2::{CsrfToken, PkceCodeChallenge, PkceCodeVerifier, Scope};
use runtime::{Auth, AuthKind, IdentitySource, LoadedConnector, Pkce};
use serde_json::{Map, Value};
use storage::oauth_clients;
use url::Url;

use crate::app::{App, SANDBOX};
use crate::connections::credentials::GivenCredentials;
use crate::connections::oauth::endpoints::ProviderEndpoints;
use crate::connections::oauth::registration::{of_sandbox, opened};
use crate::connections::settings;

pub use classify::TokenFailure;
pub use registration::Registration;
pub use token::TokenAnswer;

/// A provider for one application.
pub struct OAuthProvider {
    pub tenant: Tenant,
    pub connector: Arc<LoadedConnector>,
    pub registration: Registration,
    pub endpoints: ProviderEndpoints,
}

/// The parameters of one authorization request (RFC 6749, section 4.1.1).
pub struct AuthorizationRequest<'a> {
    /// `redirect_uri`: the address to which the provider returns the user.
    pub callback_uri: &'a str,
    pub state: &'a str,
    /// RFC 7636, section 4.1: 43 to 128 characters.
    pub verifier: &'a str,
    pub nonce: Option<&'a str>,
    /// The provider's scopes.
    pub scopes: &'a [String],
    pub login_hint: Option<&'a str>,
    /// Added to the manifest's own.
    pub prompt: Option<&'a str>,
    /// An existing connection is authorized again.
    pub is_reauthorization: bool,
}

/// Returns a provider that the application can use, with its present URLs. Fails with `not_found` if no connector has this name, with
/// `capability_not_supported` if it has no OAuth, and with `provider_not_registered`; for errors about URLs see `endpoints::resolve`.
pub async fn provider(app: &App, tenant: &Tenant, name: &str) -> Result<OAuthProvider> {
    registered(app, tenant, name).await?.resolve(app).await
}

/// Same as `provider`, with the URLs that an authorization began with.
pub async fn pinned(
    app: &App,
    tenant: &Tenant,
    name: &str,
    endpoints: ProviderEndpoints,
) -> Result<OAuthProvider> {
    let RegisteredProvider { tenant, connector, registration } = registered(app, tenant, name).await?;
    Ok(OAuthProvider { tenant, connector, registration, endpoints })
}

/// A provider whose URLs are not resolved yet: no request was sent.
pub struct RegisteredProvider {
    pub tenant: Tenant,
    pub connector: Arc<LoadedConnector>,
    pub registration: Registration,
}

/// Returns the registration of a provider; fails as `provider` does.
pub async fn registered(app: &App, tenant: &Tenant, name: &str) -> Result<RegisteredProvider> {
    let connector = settings::connector(app, name).map_err(|e| match e {
        Error::Refused(r) => Refusal { code: Code::NotFound, param: None, ..*r }.into(),
        internal => internal,
    })?;
    let auth = &connector.manifest.auth;
    if !auth.kinds.contains(&AuthKind::Oauth) {
        let message = format!(
            "accounts of {name} are not connected by OAuth: POST /v1/connections takes their credentials"
        );
        return Err(refuse(Code::CapabilityNotSupported, message));
    }
    let built_in = settings::sandbox_url(app, name);
    let command = format!("switchboard apps provider set {} {name}", tenant.application_id);
    let registration = match oauth_clients::find(app.db.reader(), tenant, name).await? {
        Some(client) if client.disabled_at.is_some() => {
            let message = format!(
                "the registration of {name} is disabled; the operator enables it: `{command} --enable`"
            );
            return Err(refuse(Code::ProviderNotRegistered, message));
        }
        Some(client) => opened(app, auth, client, built_in)?,
        None if name == SANDBOX && built_in.is_some() => of_sandbox(auth, built_in),
        None => {
            let message = format!(
                "{name} is not registered for this application; the operator registers it: `{command} --client-id …`"
            );
            return Err(refuse(Code::ProviderNotRegistered, message));
        }
    };
    Ok(RegisteredProvider { tenant: tenant.clone(), connector, registration })
}

impl RegisteredProvider {
    /// Resolves the provider's URLs; reads its authorization server's metadata if they have to be discovered.
    pub async fn resolve(self, app: &App) -> Result<OAuthProvider> {
        let endpoints = endpoints::resolve(app, &self.tenant, &self.connector, &self.registration).await?;
        let RegisteredProvider { tenant, connector, registration } = self;
        Ok(OAuthProvider { tenant, connector, registration, endpoints })
    }

    /// Returns the address to which the provider returns users.
    pub fn callback_uri(&self, app: &App) -> String {
        self.registration.endpoints.callback_url.clone().unwrap_or_else(|| {
            let (address, name) = (app.config.public_address(), &self.connector.manifest.name);
            format!("{address}/v1/auth/connectors/{name}/callback")
        })
    }

    /// Returns the settings of a connection that is made by OAuth: the operator's and the manifest's, since tokens go to the servers among
    /// them. Fails with `provider_not_registered` if one is missing or has a wrong type.
    pub async fn settings(&self, app: &App) -> Result<Map<String, Value>> {
        settings(app, &self.tenant, &self.connector, &self.registration).await
    }
}

async fn settings(
    app: &App,
    tenant: &Tenant,
    connector: &LoadedConnector,
    registration: &Registration,
) -> Result<Map<String, Value>> {
    let manifest = &connector.manifest;
    let is_connectors = |name: &str| manifest.settings.iter().any(|setting| setting.name == name);
    let given = registration.settings.iter().filter(|(name, _)| is_connectors(name));
    let mut given: Map<String, Value> = given.map(|(name, value)| (name.clone(), value.clone())).collect();
    let misfit = |e: Error| match e {
        Error::Refused(r) => {
            let message = format!(
                "the registration of {name} lacks a value or has a wrong one: {}; the operator gives it: `switchboard apps provider set {} {name} --setting …`",
                r.message,
                tenant.application_id,
                name = manifest.name,
            );
            refuse(Code::ProviderNotRegistered, message)
        }
        internal => internal,
    };
    GivenCredentials::default().take_servers(connector, &mut given).map_err(misfit)?;
    let settings = settings::checked(app, connector, given).map_err(misfit)?;
    settings::refuse_exposed(app, tenant, connector, &settings).await.map_err(misfit)?;
    Ok(settings)
}

impl OAuthProvider {
    /// Same as `RegisteredProvider::settings`.
    pub async fn settings(&self, app: &App) -> Result<Map<String, Value>> {
        settings(app, &self.tenant, &self.connector, &self.registration).await
    }

    /// Returns the source of an account's identity.
    pub fn identity_source(&self) -> IdentitySource {
        self.connector.manifest.auth.identity_source(self.endpoints.userinfo_url.as_ref())
    }

    /// Returns the URL to send the user to, with the PKCE challenge (RFC 7636, section 4.3).
    pub fn authorization_url(&self, request: &AuthorizationRequest<'_>) -> Result<Url> {
        let client = self.client(request.callback_uri).context("the callback URL")?;
        let state = CsrfToken::new(request.state.to_owned());
        let scopes = request.scopes.iter().cloned().map(Scope::new);
        let mut url = client.authorize_url(|| state).add_scopes(scopes);
        if self.connector.manifest.auth.pkce == Pkce::S256 {
            let verifier = PkceCodeVerifier::new(request.verifier.to_owned());
            url = url.set_pkce_challenge(PkceCodeChallenge::from_code_verifier_sha256(&verifier));
        }
        for (name, value) in params(&self.connector.manifest.auth, request) {
            url = url.add_extra_param(name, value);
        }
        let (url, _) = url.url();
        Ok(url)
    }
}

/// Returns the parameters beyond RFC 6749 and RFC 7636, which the manifest cannot override (`Manifest::parse`).
fn params(auth: &Auth, request: &AuthorizationRequest<'_>) -> BTreeMap<String, String> {
    let more = match request.is_reauthorization {
        true => &auth.reauthorize_params,
        false => &auth.connect_params,
    };
    let mut params = auth.authorize_params.clone();
    params.extend(more.clone());
    let mut put = |name: &str, value: Option<&str>| {
        if let Some(value) = value {
            params.insert(name.to_owned(), value.to_owned());
        }
    };
    put("login_hint", request.login_hint);
    put("nonce", request.nonce);
    if let Some(prompt) = request.prompt {
        let own = params.remove("prompt").unwrap_or_default();
        let mut words: Vec<&str> = own.split_ascii_whitespace().collect();
        for word in prompt.split_ascii_whitespace() {
            if !words.contains(&word) {
                words.push(word);
            }
        }
        params.insert("prompt".to_owned(), words.join(" "));
    }
    params
}

/// Returns the values that a client's `prompt` may have: those that the manifest allows, and its own.
pub fn prompts(auth: &Auth) -> Vec<&str> {
    let own = [&auth.authorize_params, &auth.connect_params, &auth.reauthorize_params];
    let own = own.into_iter().filter_map(|params| params.get("prompt"));
    let mut words: Vec<&str> = auth.prompts.iter().map(String::as_str).collect();
    words.extend(own.flat_map(|text| text.split_ascii_whitespace()));
    words.sort_unstable();
    words.dedup();
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auth() -> Auth {
        toml::from_str(
            r#"
            authorize_params = { access_type = "offline", prompt = "consent" }
            connect_params = { hint = "new", prompt = "select_account consent" }
            reauthorize_params = { include_granted_scopes = "true" }
            prompts = ["login"]
            "#,
        )
        .unwrap()
    }

    fn request(prompt: Option<&str>, is_reauthorization: bool) -> AuthorizationRequest<'_> {
        AuthorizationRequest {
            callback_uri: "https://host.test/callback",
            state: "st_1",
            verifier: "v",
            nonce: None,
            scopes: &[],
            login_hint: Some("a&b"),
            prompt,
            is_reauthorization,
        }
    }

    fn shown(params: &BTreeMap<String, String>) -> String {
        let pairs: Vec<String> = params.iter().map(|(name, value)| format!("{name}={value}")).collect();
        pairs.join(";")
    }

    #[test]
    fn parameters_are_the_manifests_and_the_requests() {
        let auth = auth();
        for (prompt, is_again, wanted) in [
            (None, false, "access_type=offline;hint=new;login_hint=a&b;prompt=select_account consent"),
            (
                Some("login consent"),
                false,
                "access_type=offline;hint=new;login_hint=a&b;prompt=select_account consent login",
            ),
            (None, true, "access_type=offline;include_granted_scopes=true;login_hint=a&b;prompt=consent"),
            (
                Some("login"),
                true,
                "access_type=offline;include_granted_scopes=true;login_hint=a&b;prompt=consent login",
            ),
        ] {
            assert_eq!(shown(&params(&auth, &request(prompt, is_again))), wanted);
        }
        let with_nonce = AuthorizationRequest { nonce: Some("n"), ..request(None, true) };
        assert_eq!(params(&Auth::default(), &with_nonce).get("nonce").map(String::as_str), Some("n"));
        assert_eq!(prompts(&auth), ["consent", "login", "select_account"]);
    }
}
