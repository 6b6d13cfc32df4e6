//! Pages of lists and deltas. A link comes back in another spelling than was asked, and with a host that a national cloud has under another
//! name: only the token behind it counts, and goes on to the address that the connector asks.

use connector_sdk::{Failure, Outcome};
use serde::Deserialize;

/// Longest token that is kept, bytes.
const MAX_TOKEN_BYTES: usize = 16_384;

/// A page of a list or of a delta.
#[derive(Debug, Deserialize)]
pub struct Page<T> {
    #[serde(default = "Vec::new")]
    pub value: Vec<T>,
    /// There are more pages.
    #[serde(rename = "@odata.nextLink")]
    pub next_link: Option<String>,
    /// The last page of a delta; what changes later is behind it.
    #[serde(rename = "@odata.deltaLink")]
    pub delta_link: Option<String>,
}

impl<T> Page<T> {
    /// The token of the next page; none after the last one.
    pub fn next(&self) -> Outcome<Option<Token>> {
        self.next_link.as_deref().map(token).transpose()
    }

    /// The token of a delta's next page, or of what changes later. Fails with `unavailable` for a page without a link.
    pub fn position(&self) -> Outcome<Token> {
        let link = self.next_link.as_deref().or(self.delta_link.as_deref());
        link.map_or_else(|| Err(Failure::unavailable("the provider's page has no link to go on")), token)
    }
}

/// The position that a link names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// `$skiptoken`: the next page.
    Skip(String),
    /// `$deltatoken`: what changes after this page.
    Delta(String),
    /// `$skip`: the next page of a list, as the number of items before it.
    Offset(String),
}

impl Token {
    /// The parameter by which a request goes on from here.
    pub fn parameter(&self) -> (&'static str, &str) {
        match self {
            Token::Skip(value) => ("$skiptoken", value),
            Token::Delta(value) => ("$deltatoken", value),
            Token::Offset(value) => ("$skip", value),
        }
    }
}

/// Returns what is behind `$deltatoken=`, `$skiptoken=` or `$skip=` of a link, in this order. Fails with `unavailable` for a link without
/// one.
pub fn token(link: &str) -> Outcome<Token> {
    let query = link.split_once('?').map_or("", |(_, query)| query);
    let query = query.split('#').next().unwrap_or_default();
    let value = |name: &str| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let (_, value) = pairs.find(|(key, _)| unescaped(key).eq_ignore_ascii_case(name))?;
        Some(unescaped(value)).filter(|value| !value.is_empty() && value.len() <= MAX_TOKEN_BYTES)
    };
    let found = value("$deltatoken")
        .map(Token::Delta)
        .or_else(|| value("$skiptoken").map(Token::Skip))
        .or_else(|| value("$skip").map(Token::Offset));
    found.ok_or_else(|| Failure::unavailable("the provider's link to the next page has no token"))
}

/// The text without percent escapes (RFC 3986, section 2.1).
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = after.get(..2).filter(|_| *first == b'%').and_then(|hex| str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{Page, Token, token};

    const ROOT: &str = "https://graph.microsoft.com/v1.0";

    #[test]
    fn links_come_in_many_spellings() {
        let rows = [
            ("/me/mailFolders('inbox')/messages/delta?$deltatoken=a_b-c", Token::Delta("a_b-c".into())),
            ("/me/messages/delta()?%24skiptoken=a%2Bb%3D", Token::Skip("a+b=".into())),
            ("/me/events?%24top=2&%24skip=2", Token::Offset("2".into())),
            ("/me/events?$skip=2&$SkipToken=x%zz", Token::Skip("x%zz".into())),
        ];
        for (link, expected) in rows {
            assert_eq!(token(&format!("{ROOT}{link}")).unwrap(), expected, "{link}");
        }
        assert_eq!(Token::Skip("x".into()).parameter(), ("$skiptoken", "x"));
    }

    /// A link is not followed, wherever it leads to: the token goes to the connector's own address.
    #[test]
    fn a_link_is_no_address() {
        assert_eq!(token("https://evil.example/?$skiptoken=x").unwrap(), Token::Skip("x".into()));
        for link in ["", "https://x.test", "https://x.test?$top=2", "https://x.test?$skiptoken="] {
            assert!(token(link).is_err(), "{link}");
        }
    }

    #[test]
    fn a_page_says_how_to_go_on() {
        let page = |text: &str| serde_json::from_str::<Page<u8>>(text).unwrap();
        let next = page(r#"{"value":[1],"@odata.nextLink":"https://x.test?$skiptoken=n","more":1}"#);
        assert_eq!(next.next().unwrap(), Some(Token::Skip("n".into())));
        assert_eq!(next.position().unwrap(), Token::Skip("n".into()));
        let last = page(r#"{"value":[],"@odata.deltaLink":"https://x.test?$deltatoken=d"}"#);
        assert_eq!((last.next().unwrap(), last.position().unwrap()), (None, Token::Delta("d".into())));
        assert!(page(r#"{"value":[]}"#).position().is_err());
    }
}
