//! The URLs of a provider's authorization server: those of the manifest and of the registration, and for omitted ones the server's own
//! metadata (RFC 8414; OpenID Connect Discovery).

use std::sync::Arc;
use std::time::Duration;

use base::error::{Code, Error, Refusal, Result, refuse};
use base::tenant::Tenant;
use http::header::{ACCEPT, HeaderMap, HeaderValue};
use http::{Method, StatusCode};
use runtime::{DirectError, DirectRequest, Endpoints, IssParameter, LoadedConnector, parse_discovered};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use url::Url;

use crate::app::App;
use crate::connections::oauth::answer_body;
use crate::connections::oauth::registration::Registration;

/// Timeout of a request for metadata.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Most bytes of metadata.
const MAX_BYTES: usize = 64 << 10;

/// Time for which a failure to read metadata is cached, in milliseconds. Metadata itself is kept as long as `App::metadata` allows.
const FAILURE_MS: i64 = 30_000;

/// The URLs that an authorization uses from start to end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderEndpoints {
    /// Compared byte for byte with `iss` of the user's return (RFC 9207).
    pub issuer: Option<String>,
    /// A user's return without `iss` is refused.
    pub requires_iss: bool,
    pub authorize_url: Url,
    pub token_url: Url,
    /// The revocation endpoint (RFC 7009); none if the provider has none.
    pub revoke_url: Option<Url>,
    pub userinfo_url: Option<Url>,
    /// The page where an administrator grants consent to the client.
    pub admin_consent_url: Option<Url>,
}

impl ProviderEndpoints {
    /// Returns the URLs in the form in which they are stored with an authorization.
    pub fn stored(&self) -> Result<Map<String, Value>> {
        match serde_json::to_value(self)? {
            Value::Object(map) => Ok(map),
            _ => Err(Error::Internal(anyhow::anyhow!("URLs that are no JSON object"))),
        }
    }

    /// Reads what `stored` returned.
    pub fn from_stored(map: &Map<String, Value>) -> Result<Self> {
        Ok(serde_json::from_value(Value::Object(map.clone()))?)
    }
}

/// The fields that are read from metadata (RFC 8414, section 2). Values of a wrong type count as absent.
#[derive(Debug, Default, PartialEq, Eq)]
struct ServerMetadata {
    authorize_url: Option<String>,
    token_url: Option<String>,
    revoke_url: Option<String>,
    userinfo_url: Option<String>,
    answers_iss: bool,
}

impl ServerMetadata {
    fn from_document(document: &Map<String, Value>) -> ServerMetadata {
        let text = |name: &str| document.get(name).and_then(Value::as_str).map(str::to_owned);
        let supported = document.get("authorization_response_iss_parameter_supported");
        ServerMetadata {
            authorize_url: text("authorization_endpoint"),
            token_url: text("token_endpoint"),
            revoke_url: text("revocation_endpoint"),
            userinfo_url: text("userinfo_endpoint"),
            answers_iss: supported.and_then(Value::as_bool).unwrap_or_default(),
        }
    }
}

/// Returns the provider's URLs, with discovered ones. Fails with `provider_not_registered` if the registration does not fit the manifest,
/// with `provider_error` if the metadata is wrong, and with `provider_unavailable` if it cannot be read now.
pub async fn resolve(
    app: &App,
    tenant: &Tenant,
    connector: &LoadedConnector,
    registration: &Registration,
) -> Result<ProviderEndpoints> {
    let manifest = &*connector.manifest;
    let known = manifest.auth.endpoints(&registration.settings, &registration.endpoints);
    let known = known.map_err(|e| {
        let message = format!(
            "the registration of {} does not fit its connector ({e:#}); the operator corrects it with `switchboard apps provider set`",
            manifest.name
        );
        refuse(Code::ProviderNotRegistered, message)
    })?;
    let metadata = match (&known.metadata_url, &known.issuer) {
        (Some(url), Some(issuer)) => {
            let document = document(app, tenant, &manifest.name, issuer, url).await?;
            ServerMetadata::from_document(&document)
        }
        _ => ServerMetadata::default(),
    };
    let requires_iss = manifest.auth.iss == IssParameter::Required || metadata.answers_iss;
    merge_metadata(known, metadata, requires_iss).map_err(|what| {
        let message = format!("the metadata of {} cannot be used: {what}", manifest.name);
        refuse(Code::ProviderError, message)
    })
}

/// Returns the configured URLs, completed from the metadata. The error says what is wrong with the metadata.
fn merge_metadata(
    known: Endpoints,
    metadata: ServerMetadata,
    requires_iss: bool,
) -> Result<ProviderEndpoints, String> {
    let issuer = known.issuer.as_deref().and_then(|issuer| Url::parse(issuer).ok());
    let chosen = |name: &str, known: Option<Url>, found: Option<String>| match (known, found) {
        (Some(url), _) => Ok(Some(url)),
        (None, Some(text)) => parse_discovered(&text, issuer.as_ref())
            .map(Some)
            .ok_or_else(|| format!("its {name} is no https URL of a public server")),
        (None, None) => Ok(None),
    };
    let needed = |name: &str, url: Option<Url>| url.ok_or_else(|| format!("it has no {name}"));
    let authorize_url = chosen("authorization_endpoint", known.authorize_url, metadata.authorize_url)?;
    let token_url = chosen("token_endpoint", known.token_url, metadata.token_url)?;
    let revoke_url = match known.is_revocation_off {
        true => None,
        false => chosen("revocation_endpoint", known.revoke_url, metadata.revoke_url)?,
    };
    Ok(ProviderEndpoints {
        authorize_url: needed("authorization_endpoint", authorize_url)?,
        token_url: needed("token_endpoint", token_url)?,
        revoke_url,
        userinfo_url: chosen("userinfo_endpoint", known.userinfo_url, metadata.userinfo_url)?,
        admin_consent_url: known.admin_consent_url,
        issuer: known.issuer,
        requires_iss,
    })
}

/// Returns an issuer's metadata, from the cache or from the issuer.
async fn document(
    app: &App,
    tenant: &Tenant,
    provider: &str,
    issuer: &str,
    url: &Url,
) -> Result<Map<String, Value>> {
    // The addresses that a connector may reach differ between connectors.
    let (name, now) = (format!("{provider} {issuer} {url}"), app.now());
    match app.metadata.get(&name, now).as_deref() {
        Some(Ok(document)) => return Ok(document.clone()),
        Some(Err((at, refusal))) if (0..FAILURE_MS).contains(&(now - at)) => {
            return Err(Error::Refused(refusal.clone()));
        }
        _ => {}
    }
    let read = read(app, tenant, provider, issuer, url).await;
    app.metadata.put(name, Arc::new(read.clone().map_err(|refusal| (now, refusal))), now);
    read.map_err(Error::Refused)
}

async fn read(
    app: &App,
    tenant: &Tenant,
    provider: &str,
    issuer: &str,
    url: &Url,
) -> Result<Map<String, Value>, Box<Refusal>> {
    let wrong = |what: &str| {
        let message = format!("the metadata of {provider} cannot be used: {what}");
        Box::new(Refusal::new(Code::ProviderError, message))
    };
    let silent = || {
        let message = format!("the authorization server of {provider} does not answer; try again later");
        Box::new(Refusal::new(Code::ProviderUnavailable, message))
    };
    let request = DirectRequest {
        tenant: tenant.application_id.clone(),
        connector: provider.to_owned(),
        method: Method::GET,
        url: url.to_string(),
        headers: HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))]),
        body: Vec::new(),
        timeout: TIMEOUT,
        max_bytes: MAX_BYTES,
    };
    let answer = app.runtime.send_direct(request).await.map_err(|e| match e {
        DirectError::Denied => wrong("the operator does not allow requests to where it is"),
        DirectError::TooLarge => wrong("it has more than 64 KiB"),
        DirectError::Connect | DirectError::Timeout { .. } | DirectError::Unavailable { .. } => silent(),
    })?;
    let passes = answer.status.is_server_error() || answer.status == StatusCode::TOO_MANY_REQUESTS;
    if passes {
        return Err(silent());
    }
    if !answer.status.is_success() {
        return Err(wrong(&format!("the server answers {} for it", answer.status.as_u16())));
    }
    let document: Map<String, Value> = serde_json::from_str(&answer_body::decoded(&answer.body))
        .map_err(|_| wrong("it is no JSON object"))?;
    // RFC 8414, section 3.3: otherwise one server could impersonate another.
    if document.get("issuer").and_then(Value::as_str) != Some(issuer) {
        return Err(wrong(&format!("its issuer is not {issuer}")));
    }
    Ok(document)
}

#[cfg(test)]
mod tests {
    use runtime::{Auth, EndpointOverrides};
    use serde_json::json;

    use super::*;

    fn known(toml: &str) -> Endpoints {
        let auth: Auth = toml::from_str(toml).unwrap();
        auth.endpoints(&Map::new(), &EndpointOverrides::default()).unwrap()
    }

    fn metadata(document: Value) -> ServerMetadata {
        ServerMetadata::from_document(document.as_object().unwrap())
    }

    const DISCOVERED: &str = r#"
        issuer = "https://id.example.com"
        discovery = "openid"
    "#;

    #[test]
    fn metadata_fills_what_is_open() {
        let found = metadata(json!({
            "issuer": "https://id.example.com",
            "authorization_endpoint": "https://login.example.com/authorize",
            "token_endpoint": "https://id.example.com/token",
            "userinfo_endpoint": 7,
            "authorization_response_iss_parameter_supported": true,
        }));
        assert!(found.answers_iss);
        let endpoints = merge_metadata(known(DISCOVERED), found, true).unwrap();
        assert_eq!(endpoints.authorize_url.as_str(), "https://login.example.com/authorize");
        assert_eq!((&endpoints.userinfo_url, &endpoints.revoke_url), (&None, &None));
        assert_eq!(ProviderEndpoints::from_stored(&endpoints.stored().unwrap()).unwrap(), endpoints);
        let fixed = format!("{DISCOVERED}\ntoken_url = \"https://id.example.com/mine\"");
        let found = metadata(json!({
            "authorization_endpoint": "https://id.example.com/authorize",
            "token_endpoint": "http://evil.test/token",
        }));
        let endpoints = merge_metadata(known(&fixed), found, false).unwrap();
        assert_eq!(endpoints.token_url.as_str(), "https://id.example.com/mine");
    }

    #[test]
    fn metadata_leads_to_no_other_network() {
        for bad in [
            "http://id.example.com/token",
            "http://evil.test/token",
            "https://127.0.0.1/token",
            "https://[::1]/token",
            "https://localhost/token",
            "https://localhost./token",
            "https://a.localhost/token",
            "https://2130706433/token",
            "https://10.0.0.1/token",
            "https://user@id.example.com/token",
            "https://id.example.com/token#x",
            "javascript:alert(1)",
            "/token",
        ] {
            let found = metadata(json!({
                "authorization_endpoint": "https://id.example.com/authorize",
                "token_endpoint": bad,
            }));
            let why = merge_metadata(known(DISCOVERED), found, false).unwrap_err();
            assert!(why.contains("token_endpoint"), "{bad}: {why}");
        }
        let why = merge_metadata(known(DISCOVERED), ServerMetadata::default(), false).unwrap_err();
        assert!(why.contains("authorization_endpoint"), "{why}");
        // A registered address may be on this machine, and then so may its endpoints.
        let local = known("issuer = \"http://127.0.0.1:9999\"\ndiscovery = \"oauth\"");
        let found = metadata(json!({
            "authorization_endpoint": "http://127.0.0.1:9999/authorize",
            "token_endpoint": "http://127.0.0.1:9999/token",
        }));
        assert!(merge_metadata(local, found, false).is_ok());
    }
}
