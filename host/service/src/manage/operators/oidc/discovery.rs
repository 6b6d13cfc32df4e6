//! The metadata of the OpenID provider (OpenID Connect Discovery 1.0). They are believed for an hour, and have to name the issuer exactly as the
//! settings do.

use std::sync::Arc;

use base::error::Result;
use http::header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderValue};
use runtime::PostError;
use serde::Deserialize;
use url::Url;

use crate::app::App;
use crate::app::oidc_client::{OidcMetadata, is_private};
use crate::manage::operators::oidc::{OidcFault, OidcProvider};

/// Most bytes of an answer of the provider.
pub const MAX_BYTES: usize = 64 << 10;

/// The fields of a provider's document that are read.
#[derive(Deserialize)]
struct DiscoveryDocument {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
    userinfo_endpoint: Option<String>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
}

/// The provider's metadata.
///
/// # Errors
/// `Unavailable`; the log says why.
pub async fn metadata(app: &App, provider: OidcProvider<'_>) -> Result<Arc<OidcMetadata>, OidcFault> {
    let (issuer, now) = (provider.settings.issuer.as_str(), app.now());
    if let Some(metadata) = provider.client.metadata.get(issuer, now) {
        return Ok(metadata);
    }
    match fetch(provider).await {
        Ok(metadata) => {
            let metadata = Arc::new(metadata);
            provider.client.metadata.put(issuer.to_owned(), metadata.clone(), now);
            Ok(metadata)
        }
        Err(why) => {
            tracing::warn!(issuer, why, "the metadata of the panel's OpenID provider cannot be used");
            Err(OidcFault::Unavailable)
        }
    }
}

async fn fetch(provider: OidcProvider<'_>) -> Result<OidcMetadata, String> {
    let issuer = provider.settings.issuer.as_str();
    let address = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
    let url = Url::parse(&address).map_err(|e| e.to_string())?;
    let (_, body) = get(provider, &url, None).await?;
    parse(issuer, &body)
}

fn parse(issuer: &str, body: &[u8]) -> Result<OidcMetadata, String> {
    let document: DiscoveryDocument =
        serde_json::from_slice(body).map_err(|_| "it is no discovery document".to_owned())?;
    if document.issuer != issuer {
        return Err(format!("it names the issuer {:?}", document.issuer));
    }
    let methods = document.token_endpoint_auth_methods_supported;
    let takes = |method: &str| methods.as_ref().is_some_and(|all| all.iter().any(|one| one == method));
    Ok(OidcMetadata {
        authorize_url: endpoint("authorization_endpoint", &document.authorization_endpoint)?,
        token_url: endpoint("token_endpoint", &document.token_endpoint)?,
        jwks_url: endpoint("jwks_uri", &document.jwks_uri)?,
        userinfo_url: document
            .userinfo_endpoint
            .map(|text| endpoint("userinfo_endpoint", &text))
            .transpose()?,
        has_secret_in_body: takes("client_secret_post") && !takes("client_secret_basic"),
    })
}

fn endpoint(name: &str, text: &str) -> Result<Url, String> {
    let url = Url::parse(text).ok().filter(is_private);
    url.ok_or_else(|| format!("{name} is no https URL"))
}

/// Asks the provider for a document, with an access token where it wants one. Returns the headers and the body of an answer with status 200; no
/// redirect is followed.
///
/// # Errors
/// Why there is none, for the log.
pub async fn get(
    provider: OidcProvider<'_>,
    url: &Url,
    access_token: Option<&str>,
) -> Result<(HeaderMap, Vec<u8>), String> {
    let deadline = provider.settings.deadline;
    let mut headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))]);
    if let Some(token) = access_token {
        let value = HeaderValue::try_from(format!("Bearer {token}"));
        headers.insert(
            AUTHORIZATION,
            value.map_err(|_| "its access token does not fit into a header".to_owned())?,
        );
    }
    let asking = async {
        let answer = provider.client.http.get(url, headers, deadline).await.map_err(post_error_text)?;
        if answer.status != 200 {
            return Err(format!("it answered with status {}", answer.status));
        }
        let headers = answer.headers.clone();
        Ok((headers, answer.whole(MAX_BYTES, deadline).await.map_err(post_error_text)?))
    };
    match tokio::time::timeout(deadline, asking).await {
        Ok(answered) => answered,
        Err(_) => Err(post_error_text(PostError::Timeout)),
    }
}

/// An error of a request, for the log.
pub fn post_error_text(error: PostError) -> String {
    match error {
        PostError::Http(text) => text,
        other => format!("{other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const ISSUER: &str = "https://id.example.com/realms/main";

    fn parsed(changes: &Value) -> Result<OidcMetadata, String> {
        let mut document = json!({ "issuer": ISSUER, "authorization_endpoint": "https://id.example.com/auth",
            "token_endpoint": "https://id.example.com/token", "jwks_uri": "https://id.example.com/keys" });
        for (name, value) in changes.as_object().unwrap() {
            document[name] = value.clone();
        }
        parse(ISSUER, document.to_string().as_bytes())
    }

    #[test]
    fn the_issuer_is_the_one_of_the_settings_and_endpoints_have_tls() {
        let metadata = parsed(&json!({})).unwrap();
        assert_eq!(metadata.token_url.as_str(), "https://id.example.com/token");
        for wrong in [
            json!({ "issuer": "https://id.example.com/realms/main/" }),
            json!({ "issuer": "https://ID.example.com/realms/main" }),
            json!({ "issuer": null }),
            json!({ "token_endpoint": "http://id.example.com/token" }),
            json!({ "authorization_endpoint": "javascript:alert(1)" }),
            json!({ "jwks_uri": "/keys" }),
            json!({ "jwks_uri": null }),
            json!({ "userinfo_endpoint": "http://id.example.com/me" }),
        ] {
            assert!(parsed(&wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_secret_is_sent_as_the_provider_takes_it() {
        let in_body = |methods: Value| {
            parsed(&json!({ "token_endpoint_auth_methods_supported": methods })).unwrap().has_secret_in_body
        };
        assert!(in_body(json!(["client_secret_post", "private_key_jwt"])));
        assert!(!in_body(json!(["client_secret_post", "client_secret_basic"])));
        assert!(!in_body(Value::Null), "Basic is the default of the specification");
    }
}
