//! URLs of a manifest with the operator's settings in them: `https://login.example.com/{tenant}/authorize`. A value fills one
//! path segment or the host, and cannot change any other part of the URL.

use std::collections::BTreeMap;

use anyhow::{Context, anyhow, bail, ensure};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::http_url;
use crate::manifest::hosts::check_host;

/// Longest value of a setting that is a path segment.
const MAX_SEGMENT: usize = 128;

/// A value of the operator's in URLs of `[auth]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UrlSetting {
    /// The text between the braces: letters, digits and `_`.
    pub name: String,
    pub kind: UrlSettingKind,
    /// The value if the operator sets none.
    #[serde(default)]
    pub default: Option<String>,
    /// Values in `admin_consent_url` in place of others: a provider's page for administrators may not take a value that its page for
    /// users takes.
    #[serde(default)]
    pub admin_consent_values: BTreeMap<String, String>,
}

/// The part of a URL that a setting fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UrlSettingKind {
    /// One whole path segment: 1 to 128 of `A-Za-z0-9._~-`, not `.` or `..`.
    Segment,
    /// The whole host: a full name in lower case, not an address.
    Host,
}

impl UrlSetting {
    pub(super) fn check(&self) -> anyhow::Result<()> {
        let is_name =
            !self.name.is_empty() && self.name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        ensure!(is_name, "settings: the name \"{}\" must be of letters, digits and _", self.name);
        let replacements = self.admin_consent_values.iter().flat_map(|(value, other)| [value, other]);
        self.default.iter().chain(replacements).try_for_each(|value| self.kind.check(&self.name, value))
    }
}

impl UrlSettingKind {
    /// Whether `value` is valid for this kind of setting. The error names the setting and says what the value must be.
    pub fn check(self, name: &str, value: &str) -> anyhow::Result<()> {
        match self {
            UrlSettingKind::Segment => {
                let is_unreserved = |b: u8| b.is_ascii_alphanumeric() || b"._~-".contains(&b);
                let is_segment = (1..=MAX_SEGMENT).contains(&value.len())
                    && value.bytes().all(is_unreserved)
                    && !matches!(value, "." | "..");
                let what =
                    format!("must be 1 to {MAX_SEGMENT} of A-Z, a-z, 0-9, \".\", \"_\", \"~\" and \"-\"");
                ensure!(is_segment, "settings: {name} {what}, and neither \".\" nor \"..\"");
                Ok(())
            }
            UrlSettingKind::Host => check_host(value).with_context(|| format!("settings: {name}")),
        }
    }

    /// A valid value of this kind, to test a template with.
    fn sample(self) -> &'static str {
        match self {
            UrlSettingKind::Segment => "segment",
            UrlSettingKind::Host => "host.example",
        }
    }
}

/// A part of a template.
#[derive(Clone, Debug, PartialEq)]
enum TemplatePart {
    Text(String),
    Setting(String, UrlSettingKind),
}

/// A URL with settings in it.
#[derive(Clone, Debug, PartialEq)]
pub struct UrlTemplate {
    parts: Vec<TemplatePart>,
    /// The URL with a sample in the place of each setting, with which a filled URL is compared.
    shape: Url,
}

impl UrlTemplate {
    /// Parses a template. `{name}` may be one of `settings`: as a whole path segment or as the whole host, by its kind.
    pub fn parse(text: &str, settings: &[UrlSetting]) -> anyhow::Result<Self> {
        let (scheme, rest) = text.split_once("://").context("not an absolute URL")?;
        let (before_query, query) = match rest.split_once('?') {
            Some((before, query)) => (before, Some(query)),
            None => (rest, None),
        };
        let (authority, path) = match before_query.split_once('/') {
            Some((authority, path)) => (authority, Some(path)),
            None => (before_query, None),
        };
        let (host, port) = match authority.split_once(':') {
            Some((host, port)) if host.starts_with('{') => (host, Some(port)),
            _ => (authority, None),
        };
        let mut parts = vec![TemplatePart::Text(format!("{scheme}://"))];
        parts.push(part(host, UrlSettingKind::Host, settings)?);
        if let Some(port) = port {
            parts.push(TemplatePart::Text(format!(":{port}")));
        }
        for segment in path.into_iter().flat_map(|path| path.split('/')) {
            parts.push(TemplatePart::Text("/".to_owned()));
            parts.push(part(segment, UrlSettingKind::Segment, settings)?);
        }
        if let Some(query) = query {
            parts.push(TemplatePart::Text(format!("?{query}")));
        }
        for text in parts
            .iter()
            .filter_map(|part| if let TemplatePart::Text(text) = part { Some(text) } else { None })
        {
            let message = "a setting may be a whole path segment or the whole host, nothing else";
            ensure!(!text.contains(['{', '}']), "{text}: {message}");
        }
        let sample: String = parts.iter().map(TemplatePart::sample).collect();
        let shape = http_url::parse(&sample).map_err(|why| anyhow!(why))?;
        Ok(UrlTemplate { parts, shape })
    }

    /// The scheme, which settings cannot change.
    pub fn scheme(&self) -> &str {
        self.shape.scheme()
    }

    /// The host; none where it is a setting.
    pub(super) fn host(&self) -> Option<&str> {
        if self.host_setting().is_some() { None } else { self.shape.host_str() }
    }

    /// The names of the settings in it.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            TemplatePart::Text(_) => None,
            TemplatePart::Setting(name, _) => Some(name.as_str()),
        })
    }

    /// The URL with these values of its settings, by name. Fails where one is missing or invalid; the error names it.
    pub fn fill(&self, values: &BTreeMap<String, String>) -> anyhow::Result<Url> {
        self.checked(&self.fill_text(values)?, values)
    }

    /// The same as text, exactly as written: an issuer is compared byte for byte (RFC 8414, section 3.3).
    pub(super) fn fill_text(&self, values: &BTreeMap<String, String>) -> anyhow::Result<String> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                TemplatePart::Text(fixed) => text.push_str(fixed),
                TemplatePart::Setting(name, kind) => {
                    let value = values.get(name);
                    let value = value.with_context(|| format!("settings: {name} has no value: give one"))?;
                    kind.check(name, value)?;
                    text.push_str(value);
                }
            }
        }
        self.checked(&text, values)?;
        Ok(text)
    }

    /// The filled URL, parsed again: its values have changed nothing but their own places.
    fn checked(&self, text: &str, values: &BTreeMap<String, String>) -> anyhow::Result<Url> {
        let url = http_url::parse(text).map_err(|why| anyhow!(why))?;
        let host = match self.host_setting() {
            Some(name) => values.get(name).map(String::as_str),
            None => self.shape.host_str(),
        };
        let segments = |url: &Url| url.path().split('/').count();
        let is_same = url.scheme() == self.shape.scheme()
            && url.host_str() == host
            && url.port_or_known_default() == self.shape.port_or_known_default()
            && segments(&url) == segments(&self.shape)
            && url.query() == self.shape.query();
        if !is_same {
            bail!("settings: a value changes the URL beyond its own place");
        }
        Ok(url)
    }

    fn host_setting(&self) -> Option<&str> {
        self.parts.iter().find_map(|part| match part {
            TemplatePart::Setting(name, UrlSettingKind::Host) => Some(name.as_str()),
            _ => None,
        })
    }
}

impl TemplatePart {
    fn sample(&self) -> &str {
        match self {
            TemplatePart::Text(text) => text,
            TemplatePart::Setting(_, kind) => kind.sample(),
        }
    }
}

/// A host or a path segment of a template.
fn part(text: &str, kind: UrlSettingKind, settings: &[UrlSetting]) -> anyhow::Result<TemplatePart> {
    let Some(name) = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) else {
        return Ok(TemplatePart::Text(text.to_owned()));
    };
    let setting = settings.iter().find(|setting| setting.name == name);
    let setting = setting.with_context(|| format!("{text} is not one of auth.settings: add it there"))?;
    let (is, wants) = match kind {
        UrlSettingKind::Host => ("the host", "host"),
        UrlSettingKind::Segment => ("a path segment", "segment"),
    };
    ensure!(setting.kind == kind, "{text} stands for {is}: its kind must be \"{wants}\"");
    Ok(TemplatePart::Setting(name.to_owned(), kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Vec<UrlSetting> {
        let setting = |name: &str, kind| UrlSetting {
            name: name.to_owned(),
            kind,
            default: None,
            admin_consent_values: BTreeMap::new(),
        };
        vec![setting("tenant", UrlSettingKind::Segment), setting("server", UrlSettingKind::Host)]
    }

    fn filled(template: &str, name: &str, value: &str) -> anyhow::Result<String> {
        let values = BTreeMap::from([(name.to_owned(), value.to_owned())]);
        Ok(UrlTemplate::parse(template, &settings())?.fill(&values)?.to_string())
    }

    #[test]
    fn url_setting_cannot_leave_its_segment() {
        let segment = "https://login.example.com/{tenant}/oauth2/token?a=b";
        let good = ["common", "contoso.example.com", "8eaef023-2b34-4da1-9baa-8bc8c9d6a490", "a_b~c", "..."];
        for value in good {
            let url = filled(segment, "tenant", value).unwrap();
            assert_eq!(url, format!("https://login.example.com/{value}/oauth2/token?a=b"));
        }
        let long = "x".repeat(129);
        let bad = [
            "",
            ".",
            "..",
            "x/../../evil",
            "a/b",
            "a?b",
            "a#b",
            "%2e%2e",
            "%2f",
            "x@evil.test",
            "a:b",
            "a\\b",
            "a b",
            "a\r\nb",
            "a\0b",
            "{tenant}",
            "ä",
            &long,
        ];
        for value in bad {
            let error = filled(segment, "tenant", value).unwrap_err().to_string();
            assert!(error.contains("tenant"), "{value:?}: {error}");
        }
        let host = "https://{server}:8443/token";
        let url = filled(host, "server", "id.example.com").unwrap();
        assert_eq!(url, "https://id.example.com:8443/token");
        let bad =
            ["", "Evil.test", "evil.test/x", "evil.test:1", "a@evil.test", "10.0.0.1", "[::1]", "evil.test."];
        for value in bad {
            let error = format!("{:#}", filled(host, "server", value).unwrap_err());
            assert!(error.contains("server"), "{value:?}: {error}");
        }
        assert!(filled(segment, "other", "x").unwrap_err().to_string().contains("tenant has no value"));
    }

    #[test]
    fn a_setting_stands_in_two_places_alone() {
        for template in [
            "https://login.example.com/x{tenant}/token",
            "https://login.example.com/{tenant}x",
            "https://login.example.com/{tenant}{tenant}",
            "https://login.example.com/?tenant={tenant}",
            "https://{server}.example.com/",
            "https://x@{server}/",
            "https://example.com:{tenant}/",
            "{tenant}://example.com/",
            "https://{tenant}/",
            "https://example.com/{server}/",
            "https://example.com/{other}/",
            "https://example.com/{/",
            "https://example.com/#{tenant}",
            "/{tenant}/",
            "ftp://{server}/",
        ] {
            assert!(UrlTemplate::parse(template, &settings()).is_err(), "{template}");
        }
        let template = UrlTemplate::parse("https://{server}/a/{tenant}/b", &settings()).unwrap();
        assert_eq!((template.scheme(), template.host()), ("https", None));
        assert_eq!(template.names().collect::<Vec<_>>(), ["server", "tenant"]);
    }
}
