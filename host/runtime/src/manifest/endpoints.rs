//! The URLs of a provider: the manifest's, with the operator's values in them, or those of the registration that replace them.

use std::collections::BTreeMap;

use anyhow::{Context, anyhow, bail, ensure};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use url::Url;

use crate::http_url;
use crate::manifest::auth::{Auth, Discovery, IdentitySource};
use crate::manifest::url_template::UrlTemplate;

/// URLs of a registration that replace the manifest's, as they are stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct EndpointOverrides {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authorize_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_url: Option<String>,
    /// A URL, or `none`: tokens are not revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revoke_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub userinfo_url: Option<String>,
    /// The URL to which the provider redirects the user, in place of this host's own address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub callback_url: Option<String>,
    /// Origins in place of those of the manifest's `[[hosts]]`, by the origin that each replaces, see `OriginOverrides`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub origins: BTreeMap<String, String>,
}

/// A provider's URLs from manifest and registration. Discovery fills in missing ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoints {
    /// The issuer exactly as written: it is compared byte for byte.
    pub issuer: Option<String>,
    /// The URL of the metadata; none: nothing is discovered.
    pub metadata_url: Option<Url>,
    pub authorize_url: Option<Url>,
    pub token_url: Option<Url>,
    pub revoke_url: Option<Url>,
    /// The registration says that nothing is revoked: also a URL that is discovered is not used.
    pub is_revocation_off: bool,
    pub userinfo_url: Option<Url>,
    pub admin_consent_url: Option<Url>,
}

impl Auth {
    /// The provider's URLs, with the operator's `values` in them. Names among `values` that are none of `settings` are not looked
    /// at. Fails where a value is missing or is not of its kind, where a URL of the registration is none, and where neither a URL
    /// nor an issuer says how to authorize; the error names the field.
    pub fn endpoints(
        &self,
        values: &Map<String, Value>,
        overrides: &EndpointOverrides,
    ) -> anyhow::Result<Endpoints> {
        let values = self.url_values(values)?;
        let filled = |field: &str, of_manifest: &Option<String>, of_registration: &Option<String>| match (
            of_registration,
            of_manifest,
        ) {
            (Some(text), _) => parse_url(field, text).map(Some),
            (None, Some(text)) => {
                let url =
                    UrlTemplate::parse(text, &self.settings).and_then(|template| template.fill(&values));
                url.map(Some).with_context(|| field.to_owned())
            }
            (None, None) => Ok(None),
        };
        let issuer = match (&overrides.issuer, &self.issuer) {
            (Some(text), _) => Some(text.clone()),
            (None, Some(text)) => {
                let template = UrlTemplate::parse(text, &self.settings);
                let text = template.and_then(|template| template.fill_text(&values));
                Some(text.context("issuer")?)
            }
            (None, None) => None,
        };
        let metadata_url = match &issuer {
            Some(issuer) => self.discovery.metadata_url(issuer)?,
            None => None,
        };
        let is_revocation_off = overrides.revoke_url.as_deref() == Some("none");
        let revoke_url = match is_revocation_off {
            true => None,
            false => filled("revoke_url", &self.revoke_url, &overrides.revoke_url)?,
        };
        let endpoints = Endpoints {
            issuer,
            metadata_url,
            authorize_url: filled("authorize_url", &self.authorize_url, &overrides.authorize_url)?,
            token_url: filled("token_url", &self.token_url, &overrides.token_url)?,
            revoke_url,
            is_revocation_off,
            userinfo_url: filled("userinfo_url", &self.userinfo_url, &overrides.userinfo_url)?,
            admin_consent_url: self.administrators_page(&values)?,
        };
        let needed = [("authorize_url", &endpoints.authorize_url), ("token_url", &endpoints.token_url)];
        for (field, url) in needed {
            if url.is_none() && endpoints.metadata_url.is_none() {
                bail!(
                    "{field}: neither the connector nor the registration has it: register the URL or an issuer"
                );
            }
        }
        Ok(endpoints)
    }

    /// The page on which an administrator approves the client, with the values that its settings have there.
    fn administrators_page(&self, values: &BTreeMap<String, String>) -> anyhow::Result<Option<Url>> {
        let Some(text) = &self.admin_consent_url else { return Ok(None) };
        let mut values = values.clone();
        for setting in &self.settings {
            let other = values.get(&setting.name).and_then(|value| setting.admin_consent_values.get(value));
            if let Some(other) = other {
                values.insert(setting.name.clone(), other.clone());
            }
        }
        let url = UrlTemplate::parse(text, &self.settings).and_then(|template| template.fill(&values));
        url.map(Some).context("admin_consent_url")
    }

    /// The source of an account's identity, with these URLs.
    pub fn identity_source(&self, userinfo_url: Option<&Url>) -> IdentitySource {
        let usual = if userinfo_url.is_some() { IdentitySource::Userinfo } else { IdentitySource::Check };
        self.identity.unwrap_or(usual)
    }

    /// The values of `settings`, checked, with the defaults of those that the operator has not given.
    fn url_values(&self, given: &Map<String, Value>) -> anyhow::Result<BTreeMap<String, String>> {
        let mut values = BTreeMap::new();
        for setting in &self.settings {
            let value = match given.get(&setting.name) {
                Some(Value::String(value)) => Some(value),
                Some(_) => bail!("settings: {} must be a text", setting.name),
                None => setting.default.as_ref(),
            };
            if let Some(value) = value {
                setting.kind.check(&setting.name, value)?;
                values.insert(setting.name.clone(), value.clone());
            }
        }
        Ok(values)
    }
}

impl Discovery {
    /// The URL of an issuer's metadata. Fails where the issuer is no URL, or has a query (RFC 8414, section 2).
    fn metadata_url(self, issuer: &str) -> anyhow::Result<Option<Url>> {
        let url = parse_url("issuer", issuer)?;
        ensure!(url.query().is_none(), "issuer: must not have a query");
        let mut found = url.clone();
        let path = url.path().trim_end_matches('/');
        match self {
            Discovery::None => return Ok(None),
            Discovery::Openid => found.set_path(&format!("{path}/.well-known/openid-configuration")),
            Discovery::Oauth => found.set_path(&format!("/.well-known/oauth-authorization-server{path}")),
        }
        Ok(Some(found))
    }
}

fn parse_url(field: &str, text: &str) -> anyhow::Result<Url> {
    http_url::parse(text).map_err(|why| anyhow!("{field}: {why}"))
}
