//! The hosts of a manifest: where a connector may send requests, and which hosts belong together.

use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};

/// A place that the connector may send requests to.
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
    /// The credential slot that goes with requests to this place; without it they go without credentials, as pre-signed
    /// upload URLs need.
    #[serde(default)]
    pub inject: Option<String>,
}

/// Hosts that belong to a domain though they are not in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RelatedHosts {
    /// The registrable domain of the server that the user named: `fastmail.com`.
    pub domain: String,
    /// Exact host names, which credentials may go to where the user named a server of that domain.
    pub hosts: Vec<String>,
}

fn https() -> String {
    "https".to_owned()
}

fn root() -> String {
    "/".to_owned()
}

impl HostRule {
    pub(super) fn check(&self) -> anyhow::Result<()> {
        ensure!(matches!(&*self.scheme, "https" | "http"), "scheme: must be \"https\" or \"http\"");
        let name = self.host.strip_prefix("*.").unwrap_or(&self.host);
        check_host(name)?;
        if self.host.starts_with("*.") {
            ensure!(name.contains('.'), "host: a wildcard needs at least two labels after it");
            // Below many wildcards anybody can rent a host: a credential sent there is a credential given away.
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
