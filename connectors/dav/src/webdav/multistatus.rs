//! `DAV:multistatus` (RFC 4918 section 13) with the members that sync-collection adds (RFC 6578).

use std::borrow::Cow;

use connector_sdk::{Failure, Outcome, http};

use crate::webdav::xml::{DAV, Element};

/// A whole answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Multistatus {
    pub responses: Vec<Member>,
    /// RFC 6578: the token of the state after these changes.
    pub sync_token: Option<String>,
}

/// The part of a multistatus about one resource.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Member {
    /// As the server wrote it.
    pub href: String,
    /// The resource's own status; none where only its properties have one.
    pub status: Option<u16>,
    /// Properties that the server returned with success.
    pub properties: Vec<Element>,
    /// Properties that it did not: namespace, name, status.
    pub refused: Vec<(Cow<'static, str>, Cow<'static, str>, u16)>,
    /// `DAV:error`: which condition failed.
    pub error: Option<Element>,
}

impl Member {
    /// A property that was returned.
    pub fn property(&self, namespace: &str, name: &str) -> Option<&Element> {
        self.properties.iter().find(|property| property.is(namespace, name))
    }

    /// A property's text without the space around it.
    pub fn text(&self, namespace: &str, name: &str) -> Option<&str> {
        self.property(namespace, name).and_then(Element::trimmed)
    }
}

impl Multistatus {
    /// Reads the body of a 207. `doing` completes "the provider's answer to ... cannot be read".
    pub fn read(response: &http::Response, doing: &str) -> Outcome<Self> {
        if response.truncated {
            return Err(Failure::unavailable(format!("the provider's answer to {doing} is too long")));
        }
        let root = Element::parse(&response.body).map_err(|error| {
            Failure::unavailable(format!("the provider's answer to {doing} cannot be read: {error}"))
        })?;
        if !root.is(DAV, "multistatus") {
            return Err(Failure::unavailable(format!(
                "the provider's answer to {doing} is not a multistatus"
            )));
        }
        Ok(Multistatus::from(root))
    }

    /// The one member that a request of depth 0 is about.
    pub fn single(self) -> Member {
        self.responses.into_iter().next().unwrap_or_default()
    }
}

impl From<Element> for Multistatus {
    fn from(root: Element) -> Self {
        let sync_token = root.child(DAV, "sync-token").and_then(Element::trimmed).map(str::to_owned);
        let responses =
            root.children.into_iter().filter(|child| child.is(DAV, "response")).flat_map(members).collect();
        Multistatus { responses, sync_token }
    }
}

/// One `DAV:response`; with its own status it may name several resources.
fn members(response: Element) -> Vec<Member> {
    let mut member = Member::default();
    let mut hrefs = Vec::new();
    for child in response.children {
        match child.name.as_ref() {
            _ if child.namespace != DAV => {}
            "href" => hrefs.extend(child.trimmed().map(str::to_owned)),
            "status" => member.status = status(&child),
            "error" => member.error = Some(child),
            "propstat" => {
                let code = child.child(DAV, "status").and_then(status).unwrap_or(200);
                let properties =
                    child.children.into_iter().filter(|c| c.is(DAV, "prop")).flat_map(|prop| prop.children);
                if (200..300).contains(&code) {
                    member.properties.extend(properties);
                } else {
                    member
                        .refused
                        .extend(properties.map(|property| (property.namespace, property.name, code)));
                }
            }
            _ => {}
        }
    }
    let mut hrefs = hrefs.into_iter();
    let Some(first) = hrefs.next() else { return Vec::new() };
    // Properties belong to one resource (RFC 4918 section 14.24): copies of them for each of many names would be many times the answer.
    let status = member.status;
    let others = hrefs.map(|href| Member { href, status, ..Member::default() });
    std::iter::once(Member { href: first, ..member }).chain(others).collect()
}

/// `HTTP/1.1 404 Not Found` → 404.
fn status(element: &Element) -> Option<u16> {
    element.text.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::Multistatus;
    use crate::webdav::xml::{DAV, Element};

    #[test]
    fn members_have_their_properties_status_and_error() {
        let xml = br#"<d:multistatus xmlns:d="DAV:">
          <d:response><d:href>/a</d:href>
            <d:propstat><d:prop><d:getetag>"1"</d:getetag></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat>
            <d:propstat><d:prop><d:displayname/></d:prop><d:status>HTTP/1.1 404 Not Found</d:status></d:propstat>
          </d:response>
          <d:response><d:href>/b</d:href><d:href>/c</d:href><d:status>HTTP/1.1 404 Not Found</d:status></d:response>
          <d:response><d:href>/</d:href><d:status>HTTP/1.1 507 Insufficient Storage</d:status>
            <d:error><d:number-of-matches-within-limits/></d:error></d:response>
          <d:sync-token>http://x/2</d:sync-token></d:multistatus>"#;
        let all = Multistatus::from(Element::parse(xml).unwrap());
        let seen: Vec<_> = all.responses.iter().map(|m| (m.href.as_str(), m.status)).collect();
        assert_eq!(seen, [("/a", None), ("/b", Some(404)), ("/c", Some(404)), ("/", Some(507))]);
        assert_eq!(all.responses[0].text(DAV, "getetag"), Some("\"1\""));
        assert_eq!(all.responses[0].refused, [(DAV.into(), "displayname".into(), 404)]);
        assert!(all.responses[3].error.as_ref().unwrap().contains(DAV, "number-of-matches-within-limits"));
        assert_eq!(all.sync_token.as_deref(), Some("http://x/2"));
    }
}
