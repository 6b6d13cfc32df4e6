//! The hosts of a manifest: those that a connector may send requests to, and those that belong together.

use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};

/// A host or URL prefix that the connector may send requests to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostRule {
    /// A host name, or `*.example.com` for the names one label below (only without `inject`). No addresses.
    pub host: String,
    /// "https" (default) or "http".
    #[serde(default = "https")]
    pub scheme: String,
    /// Default: the scheme's own.
    #[serde(default)]
    pub port: Option<u16>,
    /// The path must be this or below it. Default "/".
    #[serde(default = "root")]
    pub path_prefix: String,
    /// Allowed methods, upper case. Default: all but CONNECT and TRACE.
    #[serde(default)]
    pub methods: Vec<String>,
    /// The credential slot of requests to this place; without it they are sent without credentials, as pre-signed upload URLs
    /// need.
    #[serde(default)]
    pub inject: Option<String>,
}

/// Hosts that belong to a domain without being below it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RelatedHosts {
    /// The registrable domain of the server that the user named: `fastmail.com`.
    pub domain: String,
    /// Exact host names, to which credentials may be sent if the user named a server of that domain.
    pub hosts: Vec<String>,
}

fn https() -> String {
    "https".to_owned()
}

fn root() -> String {
    "/".to_owned()
}

impl HostRule {
    /// The origin for display; for a wildcard with `*.` before the host.
    pub fn origin(&self) -> String {
        let port = self.port.map_or_else(String::new, |port| format!(":{port}"));
        format!("{}://{}{port}", self.scheme, self.host)
    }

    /// Whether this rule allows every request that `other` allows, with the same credentials or more.
    pub fn covers(&self, other: &HostRule) -> bool {
        let port = |rule: &HostRule| rule.port.unwrap_or(if rule.scheme == "https" { 443 } else { 80 });
        let is_below = |parent: &str| {
            other.host.split_once('.').is_some_and(|(label, rest)| label != "*" && rest == parent)
        };
        let has_host = self.host == other.host || self.host.strip_prefix("*.").is_some_and(is_below);
        let prefix = self.path_prefix.trim_end_matches('/');
        let rest = other.path_prefix.trim_end_matches('/').strip_prefix(prefix);
        let has_path = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let has_methods = self.methods.is_empty()
            || (!other.methods.is_empty()
                && other.methods.iter().all(|method| self.methods.contains(method)));
        has_host
            && has_path
            && has_methods
            && self.scheme == other.scheme
            && port(self) == port(other)
            && (other.inject.is_none() || self.inject == other.inject)
    }

    pub(super) fn check(&self) -> anyhow::Result<()> {
        ensure!(matches!(&*self.scheme, "https" | "http"), "scheme: must be \"https\" or \"http\"");
        let name = self.host.strip_prefix("*.").unwrap_or(&self.host);
        check_host(name)?;
        if self.host.starts_with("*.") {
            ensure!(name.contains('.'), "host: a wildcard needs at least two labels after it");
            // Anyone can rent a host below many wildcards: a credential sent there would be disclosed.
            ensure!(self.inject.is_none(), "inject: credentials go to exact hosts only, not to a wildcard");
        }
        ensure!(self.path_prefix.starts_with('/'), "path_prefix: must start with /");
        ensure!(!self.path_prefix.contains(['?', '#', '\\', '%']), "path_prefix: must be a plain path");
        for method in &self.methods {
            let ok = !method.is_empty() && method.bytes().all(|b| b.is_ascii_uppercase() || b == b'-');
            ensure!(ok, "methods: \"{method}\" must be upper case");
            ensure!(!matches!(&**method, "CONNECT" | "TRACE"), "methods: {method} is never allowed");
        }
        if let Some(slot) = &self.inject {
            ensure!(
                !slot.is_empty() && slot != "none",
                "inject: leave it out where no credentials are wanted"
            );
        }
        Ok(())
    }
}

/// A full host name in lower case.
pub(super) fn check_host(name: &str) -> anyhow::Result<()> {
    ensure!(name.len() <= 253 && name.contains('.') || name == "localhost", "host: must be a full host name");
    let label = |l: &str| {
        (1..=63).contains(&l.len())
            && l.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_')
    };
    ensure!(name.split('.').all(label), "host: write it in lower case, without scheme, port or path");
    let numeric = name.rsplit('.').next().is_some_and(|l| l.bytes().all(|b| b.is_ascii_digit()));
    ensure!(!numeric, "host: must be a name, not an address");
    Ok(())
}

impl RelatedHosts {
    pub(super) fn check(&self) -> anyhow::Result<()> {
        check_host(&self.domain).context("domain")?;
        self.hosts.iter().try_for_each(|host| check_host(host).context("hosts"))
    }
}

#[cfg(test)]
mod tests {
    use super::HostRule;

    fn rule(text: &str) -> HostRule {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn a_rule_covers_what_is_narrower() {
        let api = rule(
            "host = \"api.example.com\"\npath_prefix = \"/v1\"\nmethods = [\"GET\", \"PUT\"]\ninject = \"default\"",
        );
        for narrower in [
            "path_prefix = \"/v1\"\nmethods = [\"GET\"]\ninject = \"default\"",
            "path_prefix = \"/v1/me/\"\nmethods = [\"PUT\"]",
            "path_prefix = \"/v1\"\nmethods = [\"GET\"]\nport = 443",
        ] {
            assert!(api.covers(&rule(&format!("host = \"api.example.com\"\n{narrower}"))), "{narrower}");
        }
        for wider in [
            "host = \"api.example.com\"\npath_prefix = \"/v1\"",
            "host = \"api.example.com\"\nmethods = [\"GET\"]",
            "host = \"api.example.com\"\npath_prefix = \"/v11\"\nmethods = [\"GET\"]",
            "host = \"api.example.com\"\npath_prefix = \"/v1\"\nmethods = [\"DELETE\"]",
            "host = \"api.example.com\"\npath_prefix = \"/v1\"\nmethods = [\"GET\"]\ninject = \"other\"",
            "host = \"api.example.com\"\npath_prefix = \"/v1\"\nmethods = [\"GET\"]\nport = 8443",
            "host = \"api.example.com\"\npath_prefix = \"/v1\"\nmethods = [\"GET\"]\nscheme = \"http\"",
            "host = \"evil.example.com\"\npath_prefix = \"/v1\"\nmethods = [\"GET\"]",
        ] {
            assert!(!api.covers(&rule(wider)), "{wider}");
        }
        let any = rule("host = \"*.example.com\"");
        assert!(any.covers(&rule("host = \"a.example.com\"")) && any.covers(&any));
        for other in ["a.b.example.com", "*.a.example.com", "example.com"] {
            assert!(!any.covers(&rule(&format!("host = \"{other}\""))), "{other}");
        }
        assert!(!rule("host = \"a.example.com\"").covers(&any));
    }
}
