//! Whether the way to a browser is safe enough for a password.

use std::net::IpAddr;

use http::{HeaderMap, HeaderName, header};
use service::app::config::Config;
use url::{Host, Url};

const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// The way to a browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BrowserScheme {
    /// TLS, here or at a proxy.
    Https,
    /// No TLS on this machine itself, or where the settings allow it.
    LocalHttp,
    /// No TLS on a network: a password could be read on the way.
    OpenHttp,
}

impl BrowserScheme {
    /// The scheme of a request that came from `peer`. The settings say where the panel is, and a trusted proxy says how a browser reached it.
    pub fn of(config: &Config, headers: &HeaderMap, peer: IpAddr) -> BrowserScheme {
        if is_https(&config.admin_address()) || is_forwarded_https(config, headers, peer) {
            return BrowserScheme::Https;
        }
        let host = headers.get(header::HOST).and_then(|value| value.to_str().ok()).unwrap_or_default();
        match config.admin_allow_http || is_loopback(host) {
            true => BrowserScheme::LocalHttp,
            false => BrowserScheme::OpenHttp,
        }
    }
}

fn is_https(address: &str) -> bool {
    address.starts_with("https://")
}

fn is_forwarded_https(config: &Config, headers: &HeaderMap, peer: IpAddr) -> bool {
    let is_trusted = config.trusted_proxies.iter().any(|range| range.contains(&peer.to_canonical()));
    let scheme = headers.get(X_FORWARDED_PROTO).and_then(|value| value.to_str().ok()).unwrap_or_default();
    is_trusted && scheme.split(',').next_back().is_some_and(|last| last.trim() == "https")
}

/// Whether the authority of a request names this machine itself.
fn is_loopback(authority: &str) -> bool {
    let url = Url::parse(&format!("http://{authority}/")).ok();
    match url.as_ref().and_then(Url::host) {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scheme(public_url: &str, host: &str, proto: Option<&str>, peer: &str) -> BrowserScheme {
        let config = Config {
            public_url: Some(public_url.to_owned()),
            trusted_proxies: vec!["10.0.0.0/8".parse().unwrap()],
            ..Config::default()
        };
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        if let Some(proto) = proto {
            headers.insert(X_FORWARDED_PROTO, proto.parse().unwrap());
        }
        BrowserScheme::of(&config, &headers, peer.parse().unwrap())
    }

    #[test]
    fn a_password_travels_by_tls_or_not_at_all() {
        let http = "http://127.0.0.1:8080";
        let local = "127.0.0.1";
        assert_eq!(scheme("https://api.example.com", "anything", None, local), BrowserScheme::Https);
        for host in ["127.0.0.1:8080", "localhost:8080", "panel.localhost", "[::1]:8080"] {
            assert_eq!(scheme(http, host, None, local), BrowserScheme::LocalHttp, "{host}");
        }
        for host in ["switchboard.lan:8080", "192.168.1.5", "", "127.0.0.1.evil.test"] {
            assert_eq!(scheme(http, host, None, local), BrowserScheme::OpenHttp, "{host}");
        }
        let forwarded = |peer| scheme(http, "panel.example.com", Some("https"), peer);
        assert_eq!(forwarded("10.0.0.1"), BrowserScheme::Https);
        assert_eq!(forwarded("192.0.2.1"), BrowserScheme::OpenHttp, "no trusted proxy says so");
    }
}
