//! How values on the command line of `switchboard apps provider` are read. A value that cannot be is refused before anything is opened.

use serde_json::Value;
use url::Url;

/// Longest value in bytes.
const MAX_BYTES: usize = 2048;

/// `NAME=VALUE`; without a value the name is to be removed.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    pub name: String,
    pub value: Option<Value>,
}

/// The name of a connector.
pub fn provider(text: &str) -> Result<String, String> {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    match (1..=40).contains(&text.len()) && text.bytes().all(fits) {
        true => Ok(text.to_owned()),
        false => Err("a provider is the name of its connector: lower-case letters, digits and -".into()),
    }
}

/// A client id (RFC 6749 appendix A.1).
pub fn client_id(text: &str) -> Result<String, String> {
    let fits = (1..=MAX_BYTES).contains(&text.len()) && text.bytes().all(|b| (0x20..=0x7e).contains(&b));
    match fits {
        true => Ok(text.to_owned()),
        false => Err(format!("a client id has 1 to {MAX_BYTES} printable ASCII characters")),
    }
}

/// An address of a provider's; empty to remove it.
pub fn url(text: &str) -> Result<String, String> {
    if text.is_empty() {
        return Ok(String::new());
    }
    if text.len() > MAX_BYTES {
        return Err(format!("an address has at most {MAX_BYTES} bytes"));
    }
    let url = Url::parse(text).map_err(|e| format!("this is no URL: {e}"))?;
    if !matches!(url.scheme(), "https" | "http") || !url.has_host() {
        return Err(
            "an address begins with https:// (or http:// in a network that --egress-allow names)".into()
        );
    }
    let is_plain = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
    match is_plain && text.bytes().all(|byte| byte.is_ascii_graphic()) {
        true => Ok(text.to_owned()),
        false => Err("an address has no user name, no fragment and no spaces".into()),
    }
}

/// The same, or `none`.
pub fn url_or_none(text: &str) -> Result<String, String> {
    if text == "none" { Ok(text.to_owned()) } else { url(text) }
}

/// A setting: a JSON object, an address, or what may stand as one segment of a path or as a host, so that it leads to no other place
/// of the URL that it is put into.
pub fn setting(text: &str) -> Result<Setting, String> {
    let (name, value) = split(text)?;
    if name.is_empty() || name.len() > 40 || !name.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err("the name of a setting has letters and digits only".into());
    }
    if value.is_empty() {
        return Ok(Setting { name, value: None });
    }
    let value = match value {
        json if json.starts_with('{') => {
            serde_json::from_str(json).map_err(|e| format!("the value of {name} is no JSON object: {e}"))?
        }
        address if address.starts_with("https://") || address.starts_with("http://") => {
            Value::String(url(address)?)
        }
        word => {
            let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._~-:".contains(&byte);
            if word.len() > 253 || !word.bytes().all(fits) || word == "." || word == ".." {
                return Err(format!(
                    "the value of {name} must be an https:// address, a JSON object, or a word of letters, digits and . _ ~ -"
                ));
            }
            Value::String(word.to_owned())
        }
    };
    Ok(Setting { name, value: Some(value) })
}

/// One of our scopes with the provider's scopes for it, separated by commas.
pub fn scope(text: &str) -> Result<Setting, String> {
    let (name, value) = split(text)?;
    if !base::scopes::is_scope(&name) {
        return Err(format!("there is no scope \"{name}\"; write for example email.read=mail"));
    }
    if value.is_empty() {
        return Ok(Setting { name, value: None });
    }
    let scopes: Vec<&str> = value.split(',').map(str::trim).collect();
    // RFC 6749 §3.3: any printable ASCII character but the space, the quotation mark and the backslash.
    let fits = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
    match scopes.iter().all(|scope| !scope.is_empty() && scope.bytes().all(fits)) {
        true => Ok(Setting { name, value: Some(scopes.into()) }),
        false => Err(format!("the scopes for {name} must be words separated by commas")),
    }
}

fn split(text: &str) -> Result<(String, &str), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE")?;
    Ok((name.to_owned(), value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_setting_cannot_leave_its_place_in_a_url() {
        for bad in [
            "tenant=x/../../evil",
            "tenant=a?b",
            "tenant=%2e%2e",
            "tenant=x@evil.test",
            "tenant=..",
            "tenant",
        ] {
            assert!(setting(bad).is_err(), "{bad}");
        }
        for (good, value) in [
            ("tenant=contoso.onmicrosoft.com", Some(json!("contoso.onmicrosoft.com"))),
            ("tenant=", None),
            ("serverUrl=https://jmap.example.org/x?y=1", Some(json!("https://jmap.example.org/x?y=1"))),
            ("imap={\"host\":\"x\"}", Some(json!({ "host": "x" }))),
        ] {
            assert_eq!(setting(good).map(|s| s.value), Ok(value), "{good}");
        }
    }

    #[test]
    fn a_scope_is_replaced_by_words() {
        assert_eq!(scope("email.read=a, b").map(|s| s.value), Ok(Some(json!(["a", "b"]))));
        assert!(scope("email.red=a").is_err() && scope("email.read=a,,b").is_err());
    }

    #[test]
    fn an_address_is_plain() {
        assert!(url("https://id.example.org/token?x=1").is_ok() && url("").is_ok());
        for bad in ["id.example.org", "ftp://x", "https://u@x", "https://x/#y", "https://x/ y"] {
            assert!(url(bad).is_err(), "{bad}");
        }
    }
}
