//! The API key: its place in the request, its validity, and its rights.

use std::net::IpAddr;
use std::sync::Arc;

use base::error::{Code, Result, refuse};
use base::keyring::Keyring;
use base::tenant::Tenant;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use service::app::App;
use service::manage::keys::restrictions::network;
use storage::api_keys::ApiKey;

use crate::api::access::key_lookups::KeyLookups;

/// The alternative header for the key.
pub const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// The authenticated caller, which handlers extract from the request's extensions.
#[derive(Clone, Debug)]
pub struct Caller {
    pub key: Arc<ApiKey>,
    pub ip: IpAddr,
}

impl Caller {
    pub fn tenant(&self) -> &Tenant {
        &self.key.tenant
    }

    /// Whether the key grants this scope. Writing includes reading, and reading a calendar includes its busy times.
    pub fn has_scope(&self, scope: &str) -> bool {
        base::scopes::holds(&self.key.scopes, scope)
    }

    /// Whether the key is embedded in pages, where anybody can read it and visitors send requests with it. Such a key either can only book,
    /// or is limited to the sites that use it and reads no bookings.
    // Contract silent: which keys are those of browsers. What a visitor can do with one is bounded by the visitor's address as well.
    pub fn is_public(&self) -> bool {
        let can_book_alone = self.key.scopes.iter().all(|scope| scope == "scheduling.book");
        let is_of_pages = self.has_scope("scheduling.book") && !self.has_scope("scheduling.read");
        is_of_pages && (can_book_alone || !self.key.allowed_domains.is_empty())
    }

    /// Whether the key may use this connection: a key without a list may use all of its application.
    pub fn may_use(&self, connection_id: &str) -> bool {
        self.key.connection_ids.is_empty() || self.key.connection_ids.iter().any(|id| id == connection_id)
    }
}

/// The key text in the request: `Authorization: Bearer …` or `X-Api-Key: …`; both only if they agree.
pub fn presented(headers: &HeaderMap) -> Result<Option<&str>> {
    let bearer = headers.get(header::AUTHORIZATION).map(|v| {
        let text = v.to_str().unwrap_or_default();
        match text.split_once(' ') {
            Some((scheme, key)) if scheme.eq_ignore_ascii_case("bearer") => key.trim(),
            _ => "",
        }
    });
    let plain = headers.get(X_API_KEY).map(|v| v.to_str().unwrap_or_default().trim());
    match (bearer, plain) {
        (Some(a), Some(b)) if a != b => {
            Err(refuse(Code::InvalidApiKey, "authorization and x-api-key carry different keys; send one"))
        }
        (Some(key), _) | (None, Some(key)) => Ok(Some(key)),
        (None, None) => Ok(None),
    }
}

/// Authenticates a key. A malformed key is refused without a lookup in the database.
pub async fn authenticate(
    app: &App,
    lookups: &KeyLookups,
    headers: &HeaderMap,
    ip: IpAddr,
) -> Result<Caller> {
    let now = app.now();
    let Some(text) = presented(headers)? else {
        return Err(refuse(
            Code::MissingApiKey,
            "send an API key as `Authorization: Bearer <key>` or `X-Api-Key: <key>`",
        ));
    };
    if text.is_empty() && headers.contains_key(header::AUTHORIZATION) {
        let message = "the Authorization header needs the form `Bearer <key>`: the word Bearer, a space, and an API key";
        return Err(refuse(Code::InvalidApiKey, message));
    }
    if !Keyring::is_well_formed(text) {
        return Err(refuse(Code::InvalidApiKey, "this is not an API key of this service"));
    }
    let hash = app.keyring.api_key_hash(text);
    let presented = match app.keys.get(&hash, now) {
        Some(presented) => presented,
        None => {
            let found = lookups.find(app, &hash, ip).await?;
            let presented =
                Arc::new(found.ok_or_else(|| refuse(Code::InvalidApiKey, "this API key does not exist"))?);
            app.keys.put(hash, presented.clone(), now);
            presented
        }
    };
    let key = presented.key.clone();
    if key.revoked_at.is_some() {
        return Err(refuse(Code::RevokedApiKey, "this API key was revoked"));
    }
    if key.expires_at.is_some_and(|at| at <= now) {
        return Err(refuse(Code::ExpiredApiKey, "this API key has expired"));
    }
    if presented.secret_expires_at.is_some_and(|at| at <= now) {
        let message = "this API key was rotated, and its old secret has expired; use the new one";
        return Err(refuse(Code::ExpiredApiKey, message));
    }
    Ok(Caller { key, ip })
}

/// Contract, Authentication 5: outside an allowlist is `forbidden`, before any work.
pub fn check_allowlists(caller: &Caller, headers: &HeaderMap) -> Result<()> {
    let domains = &caller.key.allowed_domains;
    if !domains.is_empty() && !requesting_host(headers).is_some_and(|host| domains.contains(&host)) {
        return Err(refuse(Code::Forbidden, "this API key may not be used from this origin"));
    }
    let ips = &caller.key.allowed_ips;
    if !ips.is_empty() && !ips.iter().filter_map(|n| network(n)).any(|n| n.contains(&caller.ip)) {
        return Err(refuse(Code::Forbidden, "this API key may not be used from this address"));
    }
    Ok(())
}

/// The exact host of `Origin`, else of `Referer`. None: absent, or none of a site.
fn requesting_host(headers: &HeaderMap) -> Option<String> {
    host_of_site(headers.get(header::ORIGIN).or_else(|| headers.get(header::REFERER))?)
}

/// The exact host of the site in a header: lower case, without port. None: `null`, with credentials, or not a web origin.
pub fn host_of_site(value: &HeaderValue) -> Option<String> {
    let url = url::Url::parse(value.to_str().ok()?).ok()?;
    let web =
        matches!(url.scheme(), "http" | "https") && url.username().is_empty() && url.password().is_none();
    web.then(|| url.host_str().map(str::to_ascii_lowercase)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_exact_host_of_an_origin_counts() {
        let host = |origin: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ORIGIN, origin.parse().unwrap());
            requesting_host(&headers)
        };
        assert_eq!(host("https://App.Example.com:8443").as_deref(), Some("app.example.com"));
        assert_eq!(host("null"), None);
        assert_eq!(host("https://user@app.example.com"), None);
        assert_eq!(host("file:///app.example.com"), None);
    }
}
