//! The way to the OpenID provider of the administration panel: an HTTP client, what the provider says of itself, and how many requests to it may
//! be under way. A slow provider delays sign-ins by it, and nothing else.

use anyhow::Result;
use runtime::OperatorClient;
use tokio::sync::Semaphore;
use url::{Host, Url};

use crate::app::recent_cache::RecentCache;

/// Time for which the provider's metadata is believed, ms.
const METADATA_MS: i64 = 3_600_000;
/// Sign-ins that ask the provider at one moment; more are refused.
const ROOM: usize = 16;

/// The endpoints of an OpenID provider (OpenID Connect Discovery 1.0, section 3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OidcMetadata {
    pub authorize_url: Url,
    pub token_url: Url,
    pub jwks_url: Url,
    /// None: all that the provider tells of a person stands in the ID token.
    pub userinfo_url: Option<Url>,
    /// The client's secret is sent in the body of a token request, because the provider takes no `Authorization` header.
    pub has_secret_in_body: bool,
}

/// The client for requests to the provider.
pub struct OidcClient {
    pub http: OperatorClient,
    pub metadata: RecentCache<OidcMetadata>,
    pub room: Semaphore,
}

impl OidcClient {
    /// A client that trusts the system's certificates and those in `extra_roots_pem`.
    ///
    /// # Errors
    /// One of them is not readable.
    pub fn new(extra_roots_pem: &[String]) -> Result<OidcClient> {
        Ok(OidcClient {
            http: OperatorClient::new(extra_roots_pem)?,
            metadata: RecentCache::lasting(METADATA_MS, 1),
            room: Semaphore::new(ROOM),
        })
    }
}

/// Whether tokens may travel to a URL: by TLS, or without it on this machine itself.
pub fn is_private(url: &Url) -> bool {
    match url.scheme() {
        "https" => url.host().is_some(),
        "http" => match url.host() {
            Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            Some(Host::Ipv4(ip)) => ip.is_loopback(),
            Some(Host::Ipv6(ip)) => ip.is_loopback(),
            None => false,
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_travel_by_tls_or_on_this_machine() {
        let is_private = |text: &str| is_private(&Url::parse(text).unwrap());
        for good in [
            "https://id.example.com/realms/a",
            "http://localhost:8080",
            "http://127.0.0.1/x",
            "http://[::1]:1",
        ] {
            assert!(is_private(good), "{good}");
        }
        for bad in [
            "http://id.example.com",
            "http://192.168.1.5",
            "ftp://localhost",
            "data:text/plain,x",
            "http://localhost.evil.test",
        ] {
            assert!(!is_private(bad), "{bad}");
        }
    }
}
