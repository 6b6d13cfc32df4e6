//! Servers in the place of hosts of a connector's manifest, as an operator registered them: a national cloud, or a fake in tests.
//! The URL that the connector requested decides whether a request may be sent, and with which credentials; the connector never
//! sees the other server.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use anyhow::{anyhow, bail, ensure};
use url::Url;

use crate::http_url;
use crate::log::harmless;
use crate::manifest::{HostRule, Manifest};

/// Most overrides of one registration.
const MAX_OVERRIDES: usize = 16;
/// Longest origin, bytes: a host name has at most 253.
const MAX_BYTES: usize = 300;

/// The servers by the origins that they replace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OriginOverrides(Vec<OriginOverride>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct OriginOverride {
    replaced: Url,
    server: Url,
}

/// Returns `text` as `https://host[:port]` or `http://host[:port]`, without a default port. The error says what an origin must be.
pub fn parse_origin(text: &str) -> Result<String, &'static str> {
    parse(text).map(|url| url.origin().ascii_serialization())
}

fn parse(text: &str) -> Result<Url, &'static str> {
    if text.len() > MAX_BYTES {
        return Err("an origin has at most 300 bytes");
    }
    let url = http_url::parse(text)?;
    // As a wildcard of `[[hosts]]` it would match no request.
    if url.host_str().is_some_and(|host| host.contains('*')) {
        return Err("an origin has one host: name each one in place of *");
    }
    match url.path() == "/" && url.query().is_none() {
        true => Ok(url),
        false => Err("an origin is https://host or https://host:port, without a path and a query"),
    }
}

impl OriginOverrides {
    /// Parses origins by the origin that each replaces, as a registration has them. Fails where one is invalid, a host occurs
    /// twice, or there are more than 16.
    pub fn parse(origins: &BTreeMap<String, String>) -> anyhow::Result<Self> {
        ensure!(
            origins.len() <= MAX_OVERRIDES,
            "{} origins are replaced, at most {MAX_OVERRIDES} are possible",
            origins.len()
        );
        let mut overrides: Vec<OriginOverride> = Vec::new();
        for (replaced, server) in origins {
            let read = |text: &str| parse(text).map_err(|why| anyhow!("{}: {why}", harmless(text, 120)));
            let (replaced, server) = (read(replaced)?, read(server)?);
            if overrides.iter().any(|other| other.replaced.origin() == replaced.origin()) {
                bail!("{}: is replaced twice", replaced.origin().ascii_serialization());
            }
            overrides.push(OriginOverride { replaced, server });
        }
        Ok(OriginOverrides(overrides))
    }

    /// Fails where a replaced origin is not among the manifest's `[[hosts]]`. The error names it and the possible ones.
    pub fn ensure_named_by(&self, manifest: &Manifest) -> anyhow::Result<()> {
        let Some(unnamed) = self.0.iter().find(|one| !manifest.names_host(&one.replaced)) else {
            return Ok(());
        };
        let mut named: Vec<String> = manifest.hosts.iter().map(HostRule::origin).collect();
        named.sort_unstable();
        named.dedup();
        let named = if named.is_empty() { "none".to_owned() } else { named.join(", ") };
        let origin = unnamed.replaced.origin().ascii_serialization();
        bail!("{origin} is not among the [[hosts]] of the connector {}: {named}", manifest.name)
    }

    /// The server that replaces this URL's origin.
    pub(super) fn replacement(&self, url: &Url) -> Option<&Url> {
        self.0.iter().find(|one| one.replaced.origin() == url.origin()).map(|one| &one.server)
    }
}
