//! Origins that a connector found beside the servers that the user named (`discoveredOrigins` of `wire::Account`), to which the
//! connection's credentials may also go. A connector reads them in a provider's answers, which anyone may have written, so each
//! has to belong to a server that the user named.

use serde_json::{Map, Value};
use url::{Host, Url};

use crate::http_url;
use crate::log::harmless;
use crate::manifest::{DISCOVERED, Manifest};
use crate::outbound::tcp::Server;

/// Origins that a connection may have beside its servers.
const MAX_ORIGINS: usize = 16;
/// Longest origin, bytes: a host name has at most 253.
const LONGEST: usize = 300;

/// An origin to which no credentials may be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadOrigin {
    /// The origin as the connector named it, sanitized and cut.
    pub origin: String,
    /// Completes "{origin} ...".
    pub why: &'static str,
}

/// The origins among `found` that credentials may go to beside the servers that `settings` name, as `https://host[:port]`, each
/// once. Origins that are allowed anyway are left out. Fails with the first origin that is not allowed, or is one too many.
pub fn check_origins(
    manifest: &Manifest,
    settings: &Map<String, Value>,
    found: &[String],
) -> Result<Vec<String>, BadOrigin> {
    let named = SettingOrigins::from_settings(manifest, settings);
    let mut accepted: Vec<String> = Vec::new();
    for text in found {
        let bad = |why| BadOrigin { origin: harmless(text, 120), why };
        let Some(url) = named.check(text).map_err(bad)? else { continue };
        let origin = url.origin().ascii_serialization();
        if accepted.contains(&origin) {
            continue;
        }
        if accepted.len() == MAX_ORIGINS {
            return Err(bad("is one origin more than the 16 that a connection may have"));
        }
        accepted.push(origin);
    }
    Ok(accepted)
}

/// The stored origins that are still accepted: settings are checked again with every call, because the rules may be stricter than
/// those under which they were stored.
pub(super) fn accepted(manifest: &Manifest, settings: &Map<String, Value>) -> Vec<Url> {
    let stored = settings.get(DISCOVERED).and_then(Value::as_array);
    let named = SettingOrigins::from_settings(manifest, settings);
    let texts = stored.into_iter().flatten().filter_map(Value::as_str);
    texts.take(MAX_ORIGINS).filter_map(|text| named.check(text).ok().flatten()).collect()
}

/// The URLs that the user named under `hosts_from_settings`.
pub(super) fn settings_origins(manifest: &Manifest, settings: &Map<String, Value>) -> Vec<Url> {
    let values = manifest.hosts_from_settings.iter().filter_map(|name| settings.get(name));
    let texts = values.flat_map(|value| match value {
        Value::Array(many) => many.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect::<Vec<_>>(),
    });
    texts.filter_map(|text| http_url::parse(text).ok()).collect()
}

/// The origins and hosts that the user named in the connection's settings.
struct SettingOrigins<'a> {
    manifest: &'a Manifest,
    origins: Vec<Url>,
    hosts: Vec<Host<String>>,
}

impl<'a> SettingOrigins<'a> {
    fn from_settings(manifest: &'a Manifest, settings: &Map<String, Value>) -> Self {
        let origins = settings_origins(manifest, settings);
        let servers = manifest.servers_from_settings.iter();
        let lines =
            servers.filter_map(|name| Host::parse(&Server::from_settings(settings, name).ok()?.host).ok());
        let hosts = origins.iter().filter_map(|url| Some(url.host()?.to_owned())).chain(lines).collect();
        SettingOrigins { manifest, origins, hosts }
    }

    /// The origin's URL; none where it is allowed anyway.
    fn check(&self, text: &str) -> Result<Option<Url>, &'static str> {
        if text.len() > LONGEST {
            return Err("is longer than an origin can be");
        }
        let url = http_url::parse(text)
            .map_err(|_| "is no origin: it must be https://host or https://host:port")?;
        if url.path() != "/" || url.query().is_some() {
            return Err("is more than an origin: it must be https://host or https://host:port");
        }
        if self.origins.iter().any(|named| named.origin() == url.origin()) {
            return Ok(None);
        }
        if url.scheme() != "https" {
            return Err("is not https");
        }
        let host = url.host().ok_or("names no host")?.to_owned();
        if self.hosts.contains(&host) {
            return Ok(Some(url));
        }
        let Host::Domain(name) = host else {
            return Err("is an address, and not the one that the user gave");
        };
        if self.manifest.hosts.iter().any(|rule| rule.inject.is_some() && rule.host == name) {
            // The rule says which requests may go there.
            return Ok(None);
        }
        let is_near = self.hosts.iter().any(|host| match host {
            Host::Domain(given) => self.belongs(given, &name),
            Host::Ipv4(_) | Host::Ipv6(_) => false,
        });
        if is_near { Ok(Some(url)) } else { Err("is not in the domain of a server that the user gave") }
    }

    /// Whether `name` belongs to the owner of `given`.
    fn belongs(&self, given: &str, name: &str) -> bool {
        let Some(domain) = registrable(given) else { return false };
        let is_related = |hosts: &[String]| hosts.iter().any(|host| host == name);
        registrable(name) == Some(domain)
            || self.manifest.related_hosts.iter().any(|r| r.domain == domain && is_related(&r.hosts))
    }
}

/// The registrable domain of a name by the public suffix list: `example.co.uk` of `dav.example.co.uk`. None for names under
/// suffixes that are not on the list: it is unknown who shares `home.arpa` or a company's own `.lan`.
fn registrable(name: &str) -> Option<&str> {
    let domain = psl::domain_str(name)?;
    psl::suffix(name.as_bytes()).filter(|suffix| suffix.is_known()).map(|_| domain)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn manifest() -> Manifest {
        Manifest::parse(
            r#"
            name = "x"
            version = "1.0.0"
            title = "X"
            surfaces = ["email"]
            hosts_from_settings = ["serverUrl"]
            servers_from_settings = ["imap"]
            settings = [{ name = "serverUrl", description = "." }, { name = "imap", description = "." }]
            related_hosts = [{ domain = "fastmail.com", hosts = ["www.fastmailusercontent.com"] }]
            [[hosts]]
            host = "api.provider.com"
            path_prefix = "/v1"
            inject = "default"
            [[hosts]]
            host = "files.provider.com"
            "#,
        )
        .unwrap()
    }

    /// Checks one origin beside this server.
    fn check(server: &str, origin: &str) -> Result<Vec<String>, &'static str> {
        let settings = json!({ "serverUrl": server });
        let found = [origin.to_owned()];
        check_origins(&manifest(), settings.as_object().unwrap(), &found).map_err(|bad| bad.why)
    }

    #[test]
    fn what_belongs_to_the_users_server_is_accepted() {
        for (server, origin, accepted) in [
            ("https://fastmail.com", "https://api.fastmail.com", "https://api.fastmail.com"),
            (
                "https://api.fastmail.com/jmap/",
                "https://www.fastmailusercontent.com",
                "https://www.fastmailusercontent.com",
            ),
            (
                "https://caldav.icloud.com",
                "https://p12-caldav.icloud.com:443",
                "https://p12-caldav.icloud.com",
            ),
            ("https://example.co.uk", "https://DAV.example.co.uk:8443/", "https://dav.example.co.uk:8443"),
            ("https://me.github.io", "https://api.me.github.io", "https://api.me.github.io"),
            ("https://mail.example.com:8443", "https://mail.example.com", "https://mail.example.com"),
            ("https://xn--bcher-kva.example.com", "https://api.example.com", "https://api.example.com"),
            // On the operator's own network: only the host that the user named.
            ("http://10.0.0.7:8080", "https://10.0.0.7:8443", "https://10.0.0.7:8443"),
            ("http://mail.corp.internal", "https://mail.corp.internal", "https://mail.corp.internal"),
            ("https://[2001:db8::7]", "https://[2001:db8::7]:8443", "https://[2001:db8::7]:8443"),
        ] {
            assert_eq!(check(server, origin), Ok(vec![accepted.to_owned()]), "{server} {origin}");
        }
        // For a mailbox with mail servers: its servers' domain.
        let settings = json!({ "imap": { "host": "imap.example.org", "port": 993 } });
        let found = ["https://api.example.org".to_owned(), "https://api.example.org".to_owned()];
        assert_eq!(check_origins(&manifest(), settings.as_object().unwrap(), &found).unwrap(), found[..1]);
    }

    #[test]
    fn what_is_allowed_anyway_needs_no_place() {
        for origin in
            ["https://mail.example.com", "https://mail.example.com:443/", "https://api.provider.com"]
        {
            assert_eq!(check("https://mail.example.com/jmap", origin), Ok(Vec::new()), "{origin}");
        }
        assert_eq!(check("http://10.0.0.7:8080", "http://10.0.0.7:8080"), Ok(Vec::new()));
    }

    #[test]
    fn nothing_else_gets_the_credentials() {
        let long = format!("https://{}.example.com", "a".repeat(400));
        for (server, origin, why) in [
            ("https://mail.example.com", "http://api.example.com", "https"),
            ("https://mail.example.com", "http://mail.example.com", "https"),
            ("https://mail.example.com", "https://evil.net", "domain"),
            ("https://mail.example.com", "https://evil-example.com", "domain"),
            ("https://mail.example.com", "https://mail.example.com.evil.net", "domain"),
            ("https://mail.example.com", "https://example.com.", "no origin"),
            ("https://mail.example.com", "https://com", "domain"),
            ("https://example.co.uk", "https://co.uk", "domain"),
            ("https://example.co.uk", "https://other.co.uk", "domain"),
            ("https://me.github.io", "https://github.io", "domain"),
            ("https://me.github.io", "https://evil.github.io", "domain"),
            ("https://github.io", "https://evil.github.io", "domain"),
            ("https://co.uk", "https://evil.co.uk", "domain"),
            ("https://mail.example.com", "https://1.2.3.4", "address"),
            ("https://mail.example.com", "https://16909060", "address"),
            ("https://mail.example.com", "https://[::ffff:1.2.3.4]", "address"),
            ("http://10.0.0.7", "https://10.0.0.8", "address"),
            ("http://10.0.0.7", "https://evil.net", "domain"),
            ("http://mail.corp.internal", "https://other.corp.internal", "domain"),
            ("http://localhost:1", "https://evil.localhost", "domain"),
            ("https://mail.example.com", "https://user@api.example.com", "no origin"),
            ("https://mail.example.com", "https://example.com@evil.net", "no origin"),
            ("https://mail.example.com", "https://evil.net#.example.com", "no origin"),
            ("https://mail.example.com", "https://evil.net\\@api.example.com", "no origin"),
            ("https://mail.example.com", "https://api.example.com/path", "more than"),
            ("https://mail.example.com", "https://api.example.com/?x", "more than"),
            ("https://mail.example.com", "//api.example.com", "no origin"),
            ("https://mail.example.com", "wss://api.example.com", "no origin"),
            ("https://mail.example.com", "https://аpi.example.com", "no origin"),
            ("https://mail.example.com", "", "no origin"),
            ("https://mail.example.com", &long, "longer"),
            // Related to another domain, and a host of the manifest to which no credentials go.
            ("https://mail.example.com", "https://www.fastmailusercontent.com", "domain"),
            ("https://mail.example.com", "https://files.provider.com", "domain"),
        ] {
            let refused = check(server, origin).unwrap_err();
            assert!(refused.contains(why), "{server} {origin}: {refused}");
            // Nor indirectly: origins that an earlier version stored are checked with the same rules.
            let stored = json!({ "serverUrl": server, DISCOVERED: [origin] });
            assert_eq!(accepted(&manifest(), stored.as_object().unwrap()), [], "{server} {origin}");
        }
    }

    #[test]
    fn their_number_is_bounded() {
        let settings = json!({ "serverUrl": "https://example.com" });
        let many: Vec<String> = (0..10_000).map(|n| format!("https://a{n}.example.com")).collect();
        let refused = check_origins(&manifest(), settings.as_object().unwrap(), &many).unwrap_err();
        assert_eq!(refused.origin, "https://a16.example.com");
        assert_eq!(check_origins(&manifest(), settings.as_object().unwrap(), &many[..16]).unwrap().len(), 16);
        let same = vec![many[0].clone(); 10_000];
        assert_eq!(check_origins(&manifest(), settings.as_object().unwrap(), &same).unwrap(), same[..1]);
        let mut stored = settings.as_object().unwrap().clone();
        stored.insert(DISCOVERED.to_owned(), json!(many));
        assert_eq!(accepted(&manifest(), &stored).len(), 16);
    }
}
