//! URLs as settings, checked. The error names the setting.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use url::Url;

use crate::cli::settings_file::read_secret;

/// The database's URL, or the one in the file; an empty text means that there is none.
pub fn database(text: Option<String>, file: Option<&Path>) -> Result<Option<String>> {
    match (text.filter(|text| !text.is_empty()), file) {
        (Some(url), _) => Ok(Some(url)),
        (None, Some(file)) => read_secret(file).map(Some),
        (None, None) => Ok(None),
    }
}

/// The base URL at which clients and providers reach this service; an empty text means that there is none.
pub fn public(text: Option<String>) -> Result<Option<String>> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
    let url = Url::parse(&text).context("public_url is not a URL")?;
    ensure!(
        matches!(url.scheme(), "http" | "https") && url.host().is_some() && url.query().is_none(),
        "public_url must begin with http:// or https:// and name a host, without a query"
    );
    Ok(Some(text))
}

/// The base of the panel's URL, without a trailing slash; an empty text means that there is none.
pub fn admin(text: Option<String>) -> Result<Option<String>> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
    let url = Url::parse(&text).ok();
    let is_base = url.is_some_and(|url| {
        let is_web = matches!(url.scheme(), "http" | "https") && url.host().is_some();
        is_web && url.query().is_none() && url.fragment().is_none()
    });
    ensure!(is_base, "admin_url must begin with http:// or https:// and name a host, without a query");
    Ok(Some(text.trim_end_matches('/').to_owned()))
}

/// Parses the URL that booking pages ask for a verdict on each form; an empty text means that there is none.
pub fn verdict(text: Option<&str>) -> Result<Option<Url>> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
    let url =
        runtime::parse_webhook_url(text).map_err(|why| anyhow::anyhow!("booking_verdict_url: {why}"))?;
    Ok(Some(url))
}
