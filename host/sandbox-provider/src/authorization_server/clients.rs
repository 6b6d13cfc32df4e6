//! Clients (RFC 6749, section 2): the host itself, and registered ones of tests.

use axum::Json;
use axum::body::Bytes;
use axum::extract::State as AxumState;
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::json;
use url::{Host, Url, form_urlencoded};

use crate::authorization_server::grants::{Client, GrantChange, Grants, MAX_CLIENTS, hashed};
use crate::authorization_server::oauth_error::OAuthError;
use crate::authorization_server::origin::Origin;
use crate::authorization_server::params::Params;
use crate::ops::Op;
use crate::problem::Problem;
use crate::sandbox::Sandbox;

/// The host's own client id at the sandbox provider: a public client.
pub const HOST_CLIENT_ID: &str = "switchboard";

/// The path of the host's own callback URL.
const HOST_CALLBACK: &str = "/v1/auth/connectors/sandbox/callback";

/// The longest redirect URI, and the longest client id and secret, in bytes.
const MAX_URI: usize = 2_048;
const MAX_NAME: usize = 200;
/// Redirect URIs of one client.
const MAX_URIS: usize = 20;

/// The client of this id.
pub fn find(grants: &Grants, id: &str) -> Option<Client> {
    let host = || Client { id: HOST_CLIENT_ID.to_owned(), secret_hash: None, redirect_uris: Vec::new() };
    if id == HOST_CLIENT_ID { Some(host()) } else { grants.client(id).cloned() }
}

/// Whether users of a client may be redirected to `uri`, which is compared byte for byte with the registered ones (RFC 9700,
/// section 2.1). The host's is its callback at the address of this request, at its public address, or at any port of the same
/// machine.
pub fn may_return_to(sandbox: &Sandbox, origin: &Origin, client: &Client, uri: &str) -> bool {
    if client.id != HOST_CLIENT_ID {
        return client.redirect_uris.iter().any(|registered| registered == uri);
    }
    let Some(address) = uri.strip_suffix(HOST_CALLBACK) else { return false };
    let is_public = sandbox.0.public_address.as_deref() == Some(address);
    address == origin.0 || is_public || is_loopback(address)
}

/// Whether the text is exactly an http origin on this machine.
fn is_loopback(origin: &str) -> bool {
    let Ok(url) = Url::parse(origin) else { return false };
    let is_local = match url.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    };
    url.scheme() == "http" && is_local && url.origin().ascii_serialization() == origin
}

/// The client of a token or revocation request: by its id alone, or with its secret in the form or by HTTP Basic, and not in both ways
/// (RFC 6749, section 2.3).
pub fn authenticate(grants: &Grants, headers: &HeaderMap, params: &Params) -> Result<Client, OAuthError> {
    let basic = headers.get(AUTHORIZATION).map(|value| value.to_str().unwrap_or_default());
    let basic = match basic {
        Some(value) => Some(
            read_basic(value)
                .ok_or_else(|| OAuthError::invalid_client("the Basic credentials cannot be read"))?,
        ),
        None => None,
    };
    let (id, secret) = match (&basic, params.get("client_id"), params.get("client_secret")) {
        (Some(_), _, Some(_)) => {
            return Err(OAuthError::invalid_request("send the client's secret in one way"));
        }
        (Some((id, _)), Some(other), None) if id != other => {
            return Err(OAuthError::invalid_request("client_id is not the client of the Basic credentials"));
        }
        (Some((id, secret)), _, None) => (id.as_str(), Some(secret.as_str())),
        (None, Some(id), secret) => (id, secret),
        (None, None, _) => return Err(OAuthError::invalid_client("client_id is required")),
    };
    let client = find(grants, id).ok_or_else(|| OAuthError::invalid_client("the client is not known"))?;
    let secret = secret.filter(|secret| !secret.is_empty()).map(hashed);
    let wrong = match (&client.secret_hash, &secret) {
        (None, Some(_)) => Some("the client has no secret"),
        (expected, given) if expected != given => Some("the client's secret is missing or wrong"),
        _ => None,
    };
    match wrong {
        None => Ok(client),
        Some(message) => Err(OAuthError::invalid_client(message)),
    }
}

/// Id and secret, each encoded as in a form (RFC 6749, section 2.3.1).
fn read_basic(value: &str) -> Option<(String, String)> {
    let (scheme, encoded) = value.split_once(' ')?;
    let text = String::from_utf8(STANDARD.decode(encoded.trim()).ok()?).ok()?;
    let (id, secret) = text.split_once(':').filter(|_| scheme.eq_ignore_ascii_case("basic"))?;
    Some((decode_form(id), decode_form(secret)))
}

fn decode_form(text: &str) -> String {
    let pair = format!("v={text}");
    form_urlencoded::parse(pair.as_bytes()).next().map(|(_, value)| value.into_owned()).unwrap_or_default()
}

/// The body of `POST /sandbox/oauth/clients`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewClient {
    client_id: String,
    /// None: a public client.
    #[serde(default)]
    secret: Option<String>,
    redirect_uris: Vec<String>,
}

impl NewClient {
    fn check(&self) -> Result<(), Problem> {
        let is_name = |text: &str| {
            (1..=MAX_NAME).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
        };
        let rule = format!("must be 1 to {MAX_NAME} visible ASCII characters");
        if !is_name(&self.client_id) {
            return Err(Problem::field("clientId", format!("clientId {rule}")));
        }
        if self.secret.as_deref().is_some_and(|secret| !is_name(secret)) {
            return Err(Problem::field("secret", format!("secret {rule}")));
        }
        if !(1..=MAX_URIS).contains(&self.redirect_uris.len()) {
            return Err(Problem::field("redirectUris", format!("redirectUris must be 1 to {MAX_URIS} URIs")));
        }
        match self.redirect_uris.iter().position(|uri| !is_redirect(uri)) {
            None => Ok(()),
            Some(at) => {
                let message = format!(
                    "it must be https, or http on localhost, 127.0.0.1 or [::1], or a scheme with a dot in it; without a fragment, at most {MAX_URI} characters"
                );
                Err(Problem::field(&format!("redirectUris[{at}]"), message))
            }
        }
    }
}

/// RFC 6749, section 3.1.2; RFC 8252, section 7.
fn is_redirect(uri: &str) -> bool {
    let is_text = uri.len() <= MAX_URI && uri.bytes().all(|byte| byte.is_ascii_graphic());
    let Some(url) = Url::parse(uri).ok().filter(|_| is_text) else { return false };
    let is_plain = url.fragment().is_none() && url.username().is_empty() && url.password().is_none();
    is_plain
        && match url.scheme() {
            "https" => true,
            "http" => is_loopback(&url.origin().ascii_serialization()),
            scheme => scheme.contains('.'),
        }
}

/// `POST /sandbox/oauth/clients`: registers a client for a test, `{clientId, secret, redirectUris}`. An id that exists: 409.
pub async fn register(AxumState(sandbox): AxumState<Sandbox>, body: Bytes) -> Result<Response, Problem> {
    let new: NewClient = serde_json::from_slice(&body).map_err(|e| Problem::bad_request(e.to_string()))?;
    new.check()?;
    let answer = json!({ "clientId": new.client_id, "redirectUris": new.redirect_uris });
    sandbox
        .write(|state| {
            if find(&state.grants, &new.client_id).is_some() {
                let message = format!("there is a client {:?} already", new.client_id);
                return Err(Problem::conflict("exists", message));
            }
            if state.grants.clients() >= MAX_CLIENTS {
                return Err(Problem::full(format!("the sandbox has at most {MAX_CLIENTS} clients")));
            }
            let NewClient { client_id: id, secret, redirect_uris } = new;
            let secret_hash = secret.as_deref().map(hashed);
            state.commit(Op::Grant(GrantChange::Client(Client { id, secret_hash, redirect_uris })));
            Ok(())
        })
        .await?;
    Ok((StatusCode::CREATED, Json(answer)).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_that_can_be_registered() {
        for uri in
            ["https://app.test/cb?a=b", "http://127.0.0.1:4000/cb", "http://[::1]/", "com.example.app:/cb"]
        {
            assert!(is_redirect(uri), "{uri}");
        }
        for uri in [
            "http://app.test/cb",
            "javascript:alert(1)",
            "https://a@app.test/",
            "https://app.test/#x",
            "/cb",
            "https://app.test/\n",
        ] {
            assert!(!is_redirect(uri), "{uri}");
        }
    }

    #[test]
    fn this_machine() {
        for origin in ["http://127.0.0.1:1", "http://localhost:8080", "http://[::1]:9"] {
            assert!(is_loopback(origin), "{origin}");
        }
        for origin in [
            "http://127.0.0.1:1/",
            "http://a@127.0.0.1:1",
            "https://127.0.0.1:1",
            "http://127.0.0.1.evil.test",
            "",
        ] {
            assert!(!is_loopback(origin), "{origin}");
        }
    }
}
