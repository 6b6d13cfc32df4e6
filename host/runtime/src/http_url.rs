//! Parsing of URLs: once, by one parser, and only if no other parser would read them differently. `outbound::address` checks with
//! every request to which addresses a name may resolve.

use std::net::IpAddr;

use url::{Host, Url};

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

/// Returns the URL of an endpoint that a provider's metadata names, if requests may be sent there: over https at a host with a
/// name that is not this machine's, or at the origin of `known`, which the operator or a manifest set.
pub fn parse_discovered(text: &str, known: Option<&Url>) -> Option<Url> {
    let url = parse(text).ok()?;
    let is_named = matches!(url.host(), Some(Host::Domain(name)) if !is_own_name(name));
    let is_known = known.is_some_and(|known| known.origin() == url.origin());
    (is_known || is_named && url.scheme() == "https").then_some(url)
}

/// Names that resolve to the machine itself: `localhost` and all below it (RFC 6761, section 6.3), and those that systems put
/// into /etc/hosts.
fn is_own_name(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    let last = name.rsplit('.').next().unwrap_or_default();
    ["localhost", "localdomain", "localhost4", "localhost6", "localdomain4", "localdomain6"].contains(&last)
        || ["ip6-localhost", "ip6-loopback", "ip6-localnet"].contains(&last)
}

/// Whether the URL is of this machine, so that plain http reaches no other: `localhost` exactly, because other names may resolve
/// elsewhere.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match (url.host(), literal(url)) {
        (Some(Host::Domain(name)), _) => name == "localhost",
        (_, address) => address.is_some_and(|address| address.is_loopback()),
    }
}

/// The address that the host of the URL is, however it is written there (`127.1`, `0x7f000001`).
pub(crate) fn literal(url: &Url) -> Option<IpAddr> {
    match url.host()? {
        Host::Domain(_) => None,
        Host::Ipv4(address) => Some(address.into()),
        Host::Ipv6(address) => Some(address.into()),
    }
}

fn authority(text: &str) -> &str {
    let rest = text.split_once("//").map_or("", |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or("")
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::parse_discovered;

    #[test]
    fn a_discovered_endpoint_is_no_address_and_not_this_machine() {
        for url in [
            "https://localhost/token",
            "https://localhost./token",
            "https://LOCALHOST/token",
            "https://%6cocalhost/token",
            "https://localhost%2e/token",
            "https://a.localhost/token",
            "https://a.localhost./token",
            "https://localhost.localdomain/token",
            "https://localhost6.localdomain6/token",
            "https://ip6-localhost/token",
            "https://127.0.0.1/token",
            "https://127.0.0.1./token",
            "https://127.1/token",
            "https://0x7f.1/token",
            "https://0177.0.0.1/token",
            "https://2130706433/token",
            "https://10.0.0.1/token",
            "https://8.8.8.8/token",
            "https://[::1]/token",
            "https://[::]/token",
            "https://[::ffff:127.0.0.1]/token",
            "https://[64:ff9b::7f00:1]/token",
            "https://[fe80::1%25eth0]/token",
            "https://id.example.com./token",
            "https://\u{ff4c}ocalhost/token",
            "http://id.example.com/token",
            "https://user@id.example.com/token",
            "https://id.example.com/token#x",
            "javascript:alert(1)",
            "//id.example.com/token",
            "",
        ] {
            assert_eq!(parse_discovered(url, None), None, "{url}");
        }
        for url in [
            "https://id.example.com/token",
            "https://localhost.example.com/token",
            "https://mylocalhost/token",
        ] {
            assert!(parse_discovered(url, None).is_some(), "{url}");
        }
    }

    #[test]
    fn the_origin_that_was_given_may_be_this_machine() {
        let known = Url::parse("http://127.0.0.1:9999").unwrap();
        assert!(parse_discovered("http://127.0.0.1:9999/token", Some(&known)).is_some());
        for url in [
            "http://127.0.0.1:9998/token",
            "http://user@127.0.0.1:9999/token",
            "https://127.0.0.1:9999/token",
        ] {
            assert_eq!(parse_discovered(url, Some(&known)), None, "{url}");
        }
    }
}
