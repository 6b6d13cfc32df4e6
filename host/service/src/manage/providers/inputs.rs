//! Values of a registration at a provider, as they are entered. A value that cannot be is refused before anything is opened.

use runtime::{LIMITS_SETTING, parse_origin};
use serde_json::{Map, Value};
use url::Url;

/// Longest value in bytes.
const MAX_BYTES: usize = 2048;
/// Longest word in bytes: a host name has at most 253.
const MAX_WORD_BYTES: usize = 253;
/// Longest name in bytes that is several words.
const MAX_WORDS_BYTES: usize = 512;

/// `NAME=VALUE`; without a value the name is to be removed.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    pub name: String,
    pub value: Option<Value>,
    /// Only a setting with `operator = true` takes the value: elsewhere it could lead out of its place in a URL.
    pub is_operators: bool,
}

impl Setting {
    /// The operator's figures of the limits of an account, where that is what it gives.
    pub fn figures(&self) -> Option<&Map<String, Value>> {
        self.value.as_ref().filter(|_| self.name == LIMITS_SETTING)?.as_object()
    }
}

/// `ORIGIN=SERVER`; without a server the origin is no longer replaced.
#[derive(Clone, Debug, PartialEq)]
pub struct OriginReplacement {
    pub replaced: String,
    pub server: Option<String>,
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

/// An origin of the provider's API with the server that takes its place, both `https://host[:port]` or `http://host[:port]`.
pub fn origin(text: &str) -> Result<OriginReplacement, String> {
    let write = "write ORIGIN=SERVER, for example https://graph.microsoft.com=https://graph.microsoft.us";
    let (replaced, server) = text.split_once('=').ok_or(write)?;
    let read = |text: &str| parse_origin(text).map_err(|why| format!("{text}: {why}"));
    let server = if server.is_empty() { None } else { Some(read(server)?) };
    Ok(OriginReplacement { replaced: read(replaced)?, server })
}

/// A setting: a JSON object, an address, or what may stand as one segment of a path or as a host, so that it leads to no other place
/// of the URL that it is put into. Several such words with `/` between them, and words with `@`, are for settings of the operator.
pub fn setting(text: &str) -> Result<Setting, String> {
    let (name, value) = split(text)?;
    if name.is_empty() || name.len() > 40 || !name.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err("the name of a setting has letters and digits only".into());
    }
    if value.is_empty() {
        return Ok(Setting { name, value: None, is_operators: false });
    }
    let mut is_operators = false;
    let value = match value {
        json if json.starts_with('{') => {
            serde_json::from_str(json).map_err(|e| format!("the value of {name} is no JSON object: {e}"))?
        }
        address if address.starts_with("https://") || address.starts_with("http://") => {
            Value::String(url(address)?)
        }
        words => {
            is_operators = words.contains(['/', '@']);
            let max = if is_operators { MAX_WORDS_BYTES } else { MAX_WORD_BYTES };
            let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._~-:@".contains(&byte);
            let is_word = |word: &str| !matches!(word, "" | "." | "..") && word.bytes().all(fits);
            if words.len() > max || !words.split('/').all(is_word) {
                return Err(format!(
                    "the value of {name} must be an https:// address, a JSON object, or a word of letters, digits and . _ ~ -"
                ));
            }
            Value::String(words.to_owned())
        }
    };
    Ok(Setting { name, value: Some(value), is_operators })
}

/// One of our scopes with the provider's scopes for it, separated by commas.
pub fn scope(text: &str) -> Result<Setting, String> {
    let (name, value) = split(text)?;
    if !base::scopes::is_scope(&name) {
        return Err(format!("there is no scope \"{name}\"; write for example email.read=mail"));
    }
    if value.is_empty() {
        return Ok(Setting { name, value: None, is_operators: false });
    }
    let scopes: Vec<&str> = value.split(',').map(str::trim).collect();
    // RFC 6749 §3.3: any printable ASCII character but the space, the quotation mark and the backslash.
    let fits = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
    match scopes.iter().all(|scope| !scope.is_empty() && scope.bytes().all(fits)) {
        true => Ok(Setting { name, value: Some(scopes.into()), is_operators: false }),
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
            "tenant=..",
            "tenant=/x",
            "tenant=x/",
            "tenant=x//y",
            "tenant=x\ny",
            "tenant",
        ] {
            assert!(setting(bad).is_err(), "{bad}");
        }
        for (text, is_operators) in [
            ("tenant=contoso.onmicrosoft.com", false),
            ("tenant=x@evil.test", true),
            ("topic=projects/example.com:mine/topics/mail", true),
        ] {
            assert_eq!(setting(text).map(|s| s.is_operators), Ok(is_operators), "{text}");
        }
        for (length, fits) in [(253, true), (254, false)] {
            assert_eq!(setting(&format!("tenant={}", "x".repeat(length))).is_ok(), fits, "{length}");
            let long = format!("topic={}/{}", "x".repeat(length), "y".repeat(258));
            assert_eq!(setting(&long).is_ok(), fits, "{length}");
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
    fn an_origin_is_replaced_by_a_server() {
        let read = |text: &str| origin(text).map(|o| (o.replaced, o.server));
        let api = "https://api.example.test".to_owned();
        let local = Some("http://127.0.0.1:7100".to_owned());
        assert_eq!(read("https://API.example.test:443/=http://127.0.0.1:7100"), Ok((api.clone(), local)));
        assert_eq!(read("https://api.example.test="), Ok((api, None)));
        for bad in [
            "https://api.example.test",
            "=https://a.test",
            "https://a.test=https://b.test/v1",
            "a.test=b.test",
        ] {
            assert!(origin(bad).is_err(), "{bad}");
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
