//! How a URL is read: once, by one parser, and only where no other parser would read it differently.

use url::Url;

/// Longest URL, bytes.
const MAX_BYTES: usize = 8 << 10;

/// Returns `text` as an absolute http or https URL. The error says what the URL must be.
pub(crate) fn parse(text: &str) -> Result<Url, &'static str> {
    if !text.bytes().all(|b| b.is_ascii_graphic()) {
        return Err("the URL must be ASCII without spaces: percent-encode it");
    }
    if text.contains('\\') {
        return Err("the URL must not contain a backslash");
    }
    if text.len() > MAX_BYTES {
        return Err("the URL is longer than 8 KiB");
    }
    let url = Url::parse(text).map_err(|_| "not an absolute URL")?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("the URL must be http or https");
    }
    if !url.username().is_empty() || url.password().is_some() || authority(text).contains('@') {
        return Err("the URL must not contain a user name or a password");
    }
    if url.fragment().is_some() {
        return Err("the URL must not contain a fragment");
    }
    match url.host_str() {
        Some(host) if !host.is_empty() && !host.ends_with('.') => {}
        _ => return Err("the URL must name a host, without a dot at the end"),
    }
    let path = url.path().to_ascii_lowercase();
    if ["..%2f", "%2f..", "..%5c", "%5c.."].iter().any(|dots| path.contains(dots)) {
        return Err("the URL's path must not climb");
    }
    Ok(url)
}

fn authority(text: &str) -> &str {
    let rest = text.split_once("//").map_or("", |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or("")
}
