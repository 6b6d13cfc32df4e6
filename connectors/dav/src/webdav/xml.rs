//! XML as WebDAV uses it: a small tree with resolved namespaces, and escaping for request bodies. No DTD is ever read, so there
//! are no entities but the five of XML itself.

use std::borrow::Cow;

use quick_xml::NsReader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::{Namespace, ResolveResult};

/// Deepest nesting that is read; WebDAV needs about eight.
const MAX_DEPTH: usize = 64;

/// `DAV:`.
pub const DAV: &str = "DAV:";
/// CalDAV (RFC 4791).
pub const CALDAV: &str = "urn:ietf:params:xml:ns:caldav";
/// CardDAV (RFC 6352).
pub const CARDDAV: &str = "urn:ietf:params:xml:ns:carddav";
/// The extensions that calendar servers took over from Apple's.
pub const CALENDARSERVER: &str = "http://calendarserver.org/ns/";
/// Apple's own: the calendar's colour.
pub const APPLE: &str = "http://apple.com/ns/ical/";

/// Names of elements that come by the thousand: not copied for each.
const KNOWN: [&str; 14] = [
    DAV,
    CALDAV,
    "response",
    "href",
    "propstat",
    "prop",
    "status",
    "getetag",
    "calendar-data",
    CARDDAV,
    "address-data",
    CALENDARSERVER,
    APPLE,
    "",
];

fn word(text: &str) -> Cow<'static, str> {
    let known = KNOWN.iter().find(|known| **known == text);
    known.map_or_else(|| Cow::Owned(text.to_owned()), |known| Cow::Borrowed(*known))
}

/// One element.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Element {
    /// The namespace's URI; empty for none.
    pub namespace: Cow<'static, str>,
    /// The local name.
    pub name: Cow<'static, str>,
    /// Local name and value.
    pub attributes: Vec<(String, String)>,
    pub children: Vec<Element>,
    /// The text directly inside, CDATA included, of all pieces joined.
    pub text: String,
}

impl Element {
    /// Reads a document. The error names the fault, never the content.
    pub fn parse(bytes: &[u8]) -> Result<Element, String> {
        // One broken byte in one resource must not hide the others.
        // Checked as a whole first: that goes by words, the lossy way by bytes.
        let document = str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed);
        let mut reader = NsReader::from_str(document.strip_prefix('\u{FEFF}').unwrap_or(&document));
        let mut open: Vec<Element> = Vec::new();
        loop {
            let (namespace, event) = reader.read_resolved_event().map_err(|error| error.to_string())?;
            match event {
                Event::Start(start) => {
                    if open.len() >= MAX_DEPTH {
                        return Err("elements are nested too deep".into());
                    }
                    open.push(element(&namespace, &start)?);
                }
                Event::Empty(start) => {
                    let element = element(&namespace, &start)?;
                    match open.last_mut() {
                        Some(parent) => parent.children.push(element),
                        None => return Ok(element),
                    }
                }
                Event::End(_) => {
                    let closed = open.pop().ok_or("an element ends that never began")?;
                    match open.last_mut() {
                        Some(parent) => parent.children.push(closed),
                        None => return Ok(closed),
                    }
                }
                // Line ends stay as they came: inside calendar data they are the data's own.
                Event::Text(text) => {
                    if let Some(parent) = open.last_mut() {
                        parent.text.push_str(&text);
                    }
                }
                Event::CData(text) => {
                    if let Some(parent) = open.last_mut() {
                        parent.text.push_str(&text);
                    }
                }
                Event::GeneralRef(reference) => {
                    let Some(parent) = open.last_mut() else { continue };
                    match reference.resolve_char_ref().map_err(|error| error.to_string())? {
                        Some(character) => parent.text.push(character),
                        None => parent
                            .text
                            .push_str(resolve_predefined_entity(&reference).ok_or("an unknown entity")?),
                    }
                }
                Event::DocType(_) => return Err("a document type is not accepted".into()),
                Event::Eof => return Err("the document ends early".into()),
                _ => {}
            }
        }
    }

    /// Whether this is that element.
    pub fn is(&self, namespace: &str, name: &str) -> bool {
        self.name == name && self.namespace == namespace
    }

    /// The first child of this name.
    pub fn child(&self, namespace: &str, name: &str) -> Option<&Element> {
        self.children.iter().find(|child| child.is(namespace, name))
    }

    /// All children of this name.
    pub fn all<'a>(&'a self, namespace: &'a str, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.children.iter().filter(move |child| child.is(namespace, name))
    }

    /// Whether it, or anything below, is that element.
    pub fn contains(&self, namespace: &str, name: &str) -> bool {
        self.is(namespace, name) || self.children.iter().any(|child| child.contains(namespace, name))
    }

    /// The text without the space around it; empty counts as missing.
    pub fn trimmed(&self) -> Option<&str> {
        Some(self.text.trim()).filter(|text| !text.is_empty())
    }

    /// The texts of the `DAV:href` children.
    pub fn hrefs(&self) -> impl Iterator<Item = &str> {
        self.all(DAV, "href").filter_map(Element::trimmed)
    }

    /// An attribute by its local name.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }
}

fn element(namespace: &ResolveResult<'_>, start: &BytesStart<'_>) -> Result<Element, String> {
    let namespace = match namespace {
        ResolveResult::Bound(Namespace(uri)) => word(uri),
        ResolveResult::Unbound => Cow::Borrowed(""),
        ResolveResult::Unknown(_) => return Err("an undeclared namespace prefix".into()),
    };
    let mut attributes = Vec::new();
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|error| error.to_string())?;
        let name = attribute.key.local_name().as_ref().to_owned();
        let value =
            quick_xml::escape::unescape(&attribute.value).map_err(|error| error.to_string())?.into_owned();
        attributes.push((name, value));
    }
    let name = word(start.local_name().as_ref());
    Ok(Element { namespace, name, attributes, ..Element::default() })
}

/// Text for an element's content or an attribute in double quotes. Characters that XML 1.0 has no way to write are left out.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\r' => out.push_str("&#13;"),
            '\t' | '\n' => out.push(character),
            c if c < ' ' || matches!(c, '\u{FFFE}' | '\u{FFFF}') => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{CALDAV, DAV, Element, escape};

    #[test]
    fn namespaces_text_cdata_and_references_are_resolved() {
        let xml = br#"<?xml version="1.0"?><multistatus xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">
            <response><href> /a%20b/ </href><C:calendar-data>X&amp;<![CDATA[<Y>]]>&#90;</C:calendar-data>
            <C:comp name="A&quot;B"/></response></multistatus>"#;
        let root = Element::parse(xml).unwrap();
        assert!(root.is(DAV, "multistatus"));
        let response = root.child(DAV, "response").unwrap();
        assert_eq!(response.hrefs().collect::<Vec<_>>(), ["/a%20b/"]);
        assert_eq!(response.child(CALDAV, "calendar-data").unwrap().text, "X&<Y>Z");
        assert_eq!(response.child(CALDAV, "comp").unwrap().attribute("name"), Some("A\"B"));
    }

    #[test]
    fn hostile_documents_are_refused() {
        let bomb = b"<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>";
        assert!(Element::parse(bomb).is_err());
        assert!(Element::parse(b"<a>&b;</a>").is_err());
        assert!(Element::parse(b"<a><b></a>").is_err());
        assert!(Element::parse(b"").is_err());
        assert!(Element::parse("<a>".repeat(100_000).as_bytes()).is_err());
    }

    #[test]
    fn what_is_escaped_reads_back() {
        let text = "a < b & \"c\" > d\r\ne";
        let root = Element::parse(format!("<a>{}</a>", escape(text)).as_bytes()).unwrap();
        assert_eq!(root.text, text);
        assert_eq!(escape("a\u{0}b"), "ab");
    }
}
