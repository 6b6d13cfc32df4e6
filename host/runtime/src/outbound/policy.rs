//! Policy of requests: their permitted URLs and credentials, by the manifest's rules, and for self-hosted providers by the
//! origins of the connection's settings and those that belong to them (`origins`). One parser reads a URL, once.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};
use url::{Host, Url};

use crate::http_url;
use crate::log::harmless;
use crate::manifest::{HostRule, Manifest};
use crate::outbound::origin_overrides::OriginOverrides;
use crate::outbound::origins::{accepted, settings_origins};
use crate::outbound::redirect::{ProviderRedirect, RedirectTarget};
use crate::outbound::tcp::{BadServer, Server};

/// The rules of one call.
pub(crate) struct Policy {
    manifest: Arc<Manifest>,
    origins: Vec<Url>,
    /// The servers that `servers_from_settings` names, or their errors.
    servers: HashMap<String, Result<Server, BadServer>>,
    overrides: Arc<OriginOverrides>,
}

/// A request that may be sent.
#[derive(Debug)]
pub(crate) struct Permit {
    pub(crate) url: Url,
    /// The credential slot to add.
    pub(crate) slot: Option<String>,
    /// The host is an address that the settings name: connecting needs the operator's permission for exactly this one.
    pub(crate) literal: Option<std::net::IpAddr>,
    /// Whether the manifest names the host, whatever the settings name.
    pub(crate) is_manifest_host: bool,
}

/// Why it may not.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The URL or the method itself.
    Invalid(&'static str),
    /// The rules.
    Denied(String),
}

use Refusal::{Denied, Invalid};

impl Policy {
    /// The rules of `manifest` for a connection with `settings`. `approved` are the operator's further origins, which only
    /// connectors for self-hosted providers may use.
    pub(crate) fn new(manifest: Arc<Manifest>, settings: &Map<String, Value>, approved: &[Url]) -> Self {
        let mut origins = settings_origins(&manifest, settings);
        if !origins.is_empty() {
            origins.extend_from_slice(approved);
        }
        origins.extend(accepted(&manifest, settings));
        let servers = manifest
            .servers_from_settings
            .iter()
            .map(|name| (name.clone(), Server::from_settings(settings, name)))
            .collect();
        Policy { manifest, origins, servers, overrides: Arc::default() }
    }

    /// The same rules; requests that they permit to hosts of the manifest are sent to the servers that the operator put in their
    /// place.
    pub(crate) fn with_overrides(self, overrides: Arc<OriginOverrides>) -> Self {
        Policy { overrides, ..self }
    }

    /// The server that replaces the host of a permitted request. None: the request is sent to its own host.
    pub(super) fn replacement(&self, permit: &Permit) -> Option<&Url> {
        self.overrides.replacement(&permit.url).filter(|_| permit.is_manifest_host)
    }

    /// The server that has this name in the settings.
    pub(crate) fn server(&self, name: &str) -> Result<Server, String> {
        match self.servers.get(name) {
            Some(Ok(server)) => Ok(server.clone()),
            Some(Err(bad)) if bad.field.is_empty() => Err(format!("the setting {name} {}", bad.why)),
            Some(Err(bad)) => Err(format!("the setting {name}.{} {}", bad.field, bad.why)),
            None => Err(format!("the connector's manifest names no server {name:?}")),
        }
    }

    /// Whether `method` may be sent to `url` with the credentials of slot `auth` (the WIT's `auth` field).
    pub(crate) fn permit(&self, method: &str, url: &str, auth: Option<&str>) -> Result<Permit, Refusal> {
        if matches!(method, "CONNECT" | "TRACE") {
            return Err(Denied("the method is never allowed".to_owned()));
        }
        let url = parse(url)?;
        let literal = match url.host() {
            Some(Host::Ipv4(v4)) => Some(v4.into()),
            Some(Host::Ipv6(v6)) => Some(v6.into()),
            _ => None,
        };
        let by_rule =
            self.manifest.hosts.iter().filter(|rule| literal.is_none() && matches(rule, method, &url));
        let mut slots: Vec<Option<&str>> = by_rule.map(|r| r.inject.as_deref()).collect();
        let is_manifest_host = !slots.is_empty();
        slots.extend(self.origins.iter().any(|o| o.origin() == url.origin()).then_some(Some("default")));
        if slots.is_empty() {
            return Err(Denied(self.denial(method, &url)));
        }
        let wanted = auth.unwrap_or("default");
        let slot = slots.into_iter().flatten().find(|slot| *slot == wanted && wanted != "none");
        if slot.is_none() && auth.is_some_and(|a| a != "none") {
            let origin = shown_origin(&url);
            let message = format!("the connector's manifest does not allow these credentials at {origin}");
            return Err(Denied(message));
        }
        Ok(Permit { slot: slot.map(str::to_owned), url, literal, is_manifest_host })
    }

    /// Whether `[[hosts]]` of the manifest names the host, the scheme and the port of this URL, for whichever path and method.
    pub(crate) fn has_manifest_host(&self, url: &Url) -> bool {
        self.manifest.names_host(url)
    }

    /// The server that a permitted request is redirected to. None: it is sent to its own host, because it is another connector's,
    /// the connection's settings name its host, or the redirect itself leads to a host of the manifest, which is the provider
    /// then.
    pub(crate) fn redirected(
        &self,
        redirect: &ProviderRedirect,
        connector: &str,
        permit: &Permit,
    ) -> Result<Option<RedirectTarget>, Refusal> {
        if !redirect.concerns(connector) || !permit.is_manifest_host || self.has_manifest_host(redirect.url())
        {
            return Ok(None);
        }
        let target = redirect.target(&permit.url);
        Ok(Some(target.ok_or(Invalid("url: it has characters that are not for URLs"))?))
    }

    /// The message of a request that no rule allows. Paths may be private, and are left out.
    fn denial(&self, method: &str, url: &Url) -> String {
        let origin = shown_origin(url);
        if self.has_manifest_host(url) {
            let method = harmless(method, 32);
            return format!("the connector's manifest does not allow {method} at this path of {origin}");
        }
        format!("the connector's manifest does not allow requests to {origin}")
    }
}

impl Manifest {
    /// Whether `[[hosts]]` names the host, the scheme and the port of this URL, for whichever path and method.
    pub(super) fn names_host(&self, url: &Url) -> bool {
        self.hosts.iter().any(|rule| is_host_of(rule, url))
    }
}

/// An absolute http or https URL that no two parsers read differently.
pub(crate) fn parse(text: &str) -> Result<Url, Refusal> {
    http_url::parse(text).map_err(Invalid)
}

/// Scheme, host and port, for a message.
fn shown_origin(url: &Url) -> String {
    harmless(&url.origin().ascii_serialization(), 120)
}

/// Whether the rule names the host, the scheme and the port.
fn is_host_of(rule: &HostRule, url: &Url) -> bool {
    let host = url.host_str().unwrap_or("");
    let same_host = match rule.host.strip_prefix("*.") {
        // One label only: `a.b.example.com` may belong to another owner.
        Some(parent) => host.split_once('.').is_some_and(|(label, rest)| !label.is_empty() && rest == parent),
        None => host == rule.host,
    };
    let default_port = if rule.scheme == "https" { 443 } else { 80 };
    same_host
        && url.scheme() == rule.scheme
        && url.port_or_known_default() == Some(rule.port.unwrap_or(default_port))
}

fn matches(rule: &HostRule, method: &str, url: &Url) -> bool {
    let prefix = rule.path_prefix.trim_end_matches('/');
    let below = url.path().strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    is_host_of(rule, url) && below && (rule.methods.is_empty() || rule.methods.iter().any(|m| m == method))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy() -> Policy {
        let manifest = Manifest::parse(
            r#"
            name = "x"
            version = "1.0.0"
            title = "X"
            surfaces = ["calendar"]
            hosts_from_settings = ["serverUrl"]
            [[settings]]
            name = "serverUrl"
            description = "."
            [[hosts]]
            host = "api.example.com"
            path_prefix = "/v1/me"
            methods = ["GET"]
            inject = "default"
            [[hosts]]
            host = "*.upload.example.com"
            "#,
        )
        .unwrap();
        let settings = serde_json::json!({"serverUrl": "http://dav.example.org:8080/dav/"});
        Policy::new(Arc::new(manifest), settings.as_object().unwrap(), &[])
    }

    #[test]
    fn what_the_rules_name_is_permitted() {
        let p = policy();
        let slot = |method, url, auth| p.permit(method, url, auth).map(|permit| permit.slot);
        assert_eq!(slot("GET", "https://api.example.com/v1/me/x?y=1", None), Ok(Some("default".into())));
        assert_eq!(slot("GET", "https://API.example.com:443/v1/me", None), Ok(Some("default".into())));
        assert_eq!(slot("GET", "https://api.example.com/v1/me", Some("none")), Ok(None));
        assert_eq!(slot("PUT", "https://a.upload.example.com/", None), Ok(None));
        assert_eq!(slot("PROPFIND", "http://dav.example.org:8080/other", None), Ok(Some("default".into())));
    }

    #[test]
    fn everything_else_is_refused() {
        let p = policy();
        for (method, url, auth) in [
            ("GET", "https://example.com/", None),
            ("GET", "http://api.example.com/v1/me", None),
            ("GET", "https://api.example.com:444/v1/me", None),
            ("GET", "https://api.example.com/v1/messages", None),
            ("GET", "https://api.example.com/v1/me/../../v2", None),
            ("GET", "https://api.example.com/v1/me/%2e%2e/x", None),
            ("PUT", "https://api.example.com/v1/me", None),
            ("PUT", "https://upload.example.com/", None),
            ("PUT", "https://a.b.upload.example.com/", None),
            ("PUT", "https://a.upload.example.com/", Some("default")),
            ("PUT", "https://a.upload.example.com.evil.org/", None),
            ("GET", "https://dav.example.org:8080/dav/", None),
            ("GET", "http://dav.example.org/dav/", None),
            ("GET", "http://169.254.169.254/latest", None),
            ("GET", "http://[::ffff:10.0.0.1]/", None),
            ("GET", "http://2130706433/", None),
            ("CONNECT", "https://api.example.com/v1/me", None),
            ("TRACE", "http://dav.example.org:8080/", None),
        ] {
            let refusal = p.permit(method, url, auth).map(|_| ()).unwrap_err();
            assert!(matches!(refusal, Denied(_)), "{method} {url}: {refusal:?}");
        }
    }

    #[test]
    fn a_refusal_names_the_place() {
        let p = policy();
        let denied = |method, url, auth| match p.permit(method, url, auth) {
            Err(Denied(message)) => message,
            other => panic!("{method} {url}: {other:?}"),
        };
        for (method, url, auth, place) in [
            (
                "GET",
                "https://api.example.org:444/v1/me?key=k",
                None,
                "requests to https://api.example.org:444",
            ),
            ("PUT", "https://api.example.com/v1/me/x", None, "PUT at this path of https://api.example.com"),
            ("GET", "https://api.example.com/v2/ann", None, "GET at this path of https://api.example.com"),
            (
                "PUT",
                "https://a.upload.example.com/",
                Some("other"),
                "credentials at https://a.upload.example.com",
            ),
        ] {
            let message = denied(method, url, auth);
            assert!(message.ends_with(place), "{url}: {message}");
        }
    }

    #[test]
    fn urls_that_parsers_read_differently_are_invalid() {
        for url in [
            "https://user@api.example.com/v1/me",
            "https://@api.example.com/v1/me",
            "https://api.example.com./v1/me",
            "https://api.example.com\\@evil.org/",
            "https://api.example.com/v1/me#x",
            "https://api.example.com/v1/me/..%2f..%2fv2",
            "https://api.example.com/v1/ me",
            "https://äpi.example.com/",
            "ftp://api.example.com/",
            "//api.example.com/",
            "https:///",
            "file:///etc/passwd",
        ] {
            let refusal = policy().permit("GET", url, None).map(|_| ()).unwrap_err();
            assert!(matches!(refusal, Invalid(_)), "{url}: {refusal:?}");
        }
    }
}
