//! The API key: where it stands in the request, whether it is valid, and what it may do.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request};
use base::error::{Code, Result, refuse};
use base::keyring::Keyring;
use base::tenant::Tenant;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use ipnet::IpNet;
use storage::api_keys::ApiKey;

use crate::api::access::key_lookups::KeyLookups;
use crate::app::App;

/// The other form of carrying the key.
pub const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");
const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Who calls: extractable by handlers through the request's extensions.
#[derive(Clone, Debug)]
pub struct Caller {
    pub key: Arc<ApiKey>,
    pub ip: IpAddr,
}

impl Caller {
    pub fn tenant(&self) -> &Tenant {
        &self.key.tenant
    }

    /// Whether the key may do what needs this scope. Writing includes reading, and reading a calendar includes its busy times.
    pub fn has_scope(&self, scope: &str) -> bool {
        base::scopes::holds(&self.key.scopes, scope)
    }

    /// Whether the key stands in pages, where everybody can read it: visitors of these send with it. Such a key can do nothing but book, or names
    /// the sites that it stands in and reads no bookings.
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

/// The caller behind a key. What is no key by its form is refused without a look at the store.
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
    if !Keyring::is_well_formed(text) {
        return Err(refuse(Code::InvalidApiKey, "this is not an API key of this service"));
    }
    let hash = app.keyring.api_key_hash(text);
    let key = match app.keys.get(&hash, now) {
        Some(key) => key,
        None => {
            let found = lookups.find(app, &hash, ip).await?;
            let key =
                Arc::new(found.ok_or_else(|| refuse(Code::InvalidApiKey, "this API key does not exist"))?);
            app.keys.put(hash, key.clone(), now);
            key
        }
    };
    if key.revoked_at.is_some() {
        return Err(refuse(Code::RevokedApiKey, "this API key was revoked"));
    }
    if key.expires_at.is_some_and(|at| at <= now) {
        return Err(refuse(Code::ExpiredApiKey, "this API key has expired"));
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

/// An allowlist entry: an address or a CIDR range.
pub fn network(text: &str) -> Option<IpNet> {
    text.parse::<IpNet>().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from))
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

/// Who holds the other end of the connection. The loopback address where there is none, as in a call within the process.
pub fn peer(request: &Request) -> IpAddr {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    peer.map_or(IpAddr::from([127, 0, 0, 1]), |info| info.0.ip())
}

/// The client's address: the peer, or, behind configured proxies, the rightmost forwarded address that is not one of them.
/// An entry that is no address stops the walk there: what stands left of it is not to be believed.
pub fn client_ip(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let is_trusted = |ip: &IpAddr| trusted.iter().any(|n| n.contains(ip));
    let mut ip = peer.to_canonical();
    if trusted.is_empty() || !is_trusted(&ip) {
        return ip;
    }
    let lines: Vec<&str> =
        headers.get_all(X_FORWARDED_FOR).iter().map(|v| v.to_str().unwrap_or_default()).collect();
    for hop in lines.iter().flat_map(|l| l.split(',')).rev() {
        let Some(address) = hop_address(hop.trim()) else { return ip };
        ip = address;
        if !is_trusted(&ip) {
            break;
        }
    }
    ip
}

fn hop_address(hop: &str) -> Option<IpAddr> {
    let bare = hop.trim_start_matches('[').trim_end_matches(']');
    bare.parse::<IpAddr>()
        .ok()
        .or_else(|| hop.parse::<std::net::SocketAddr>().ok().map(|a| a.ip()))
        .map(|ip| ip.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forwarded(lines: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(X_FORWARDED_FOR, line.parse().unwrap());
        }
        headers
    }

    #[test]
    fn forwarded_headers_count_only_behind_a_listed_proxy() {
        let peer: IpAddr = "203.0.113.9".parse().unwrap();
        let proxy = ["10.0.0.0/8".parse().unwrap()];
        assert_eq!(client_ip(peer, &forwarded(&["1.1.1.1"]), &proxy), peer);
        let peer: IpAddr = "10.0.0.1".parse().unwrap();
        let client = |lines: &[&str]| client_ip(peer, &forwarded(lines), &proxy).to_string();
        assert_eq!(client(&["1.1.1.1, 2.2.2.2"]), "2.2.2.2");
        assert_eq!(client(&["1.1.1.1", "2.2.2.2, 10.0.0.7"]), "2.2.2.2");
        assert_eq!(client(&["1.1.1.1, nonsense, 10.0.0.7"]), "10.0.0.7");
        assert_eq!(client(&["::ffff:9.9.9.9"]), "9.9.9.9");
        assert_eq!(client(&["[2001:db8::1]:443"]), "2001:db8::1");
    }

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
