//! Scans XML and HTML for secrets (elements and attributes with the name of a secret) and for escaped text.

use std::ops::Range;

use crate::recording::names::{is_naming, is_value_name};
use crate::recording::scan::is_random;

const CDATA: &str = "<![CDATA[";
const COMMENT: &str = "<!--";
/// The longest text that counts as a name, in bytes.
const MAX_NAME: usize = 64;
/// HTML elements that have no content, or whose content is not the value of their name.
const WITHOUT_VALUE: [&str; 17] = [
    "a", "base", "br", "button", "col", "embed", "fieldset", "form", "hr", "iframe", "img", "input", "label",
    "link", "map", "meta", "select",
];

/// A range of a text that is treated separately, with its unescaped content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkupPlace<'t> {
    pub range: Range<usize>,
    pub value: String,
    pub kind: PlaceKind<'t>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceKind<'t> {
    /// A secret under this name.
    Secret { name: &'t str },
    /// Escaped text with any content.
    Escaped,
}

/// Returns the places of a text from left to right. If the markup is damaged, only those of the intact part.
pub fn markup_places<'t>(text: &'t str, is_secret: &dyn Fn(&str) -> bool) -> Vec<MarkupPlace<'t>> {
    let mut scanner = Scanner { is_secret, found: Vec::new() };
    scanner.scan(text, 0, false);
    scanner.found
}

/// Escapes a text for XML. Carriage returns are escaped if `raw` has numeric character references, as they may have been then.
pub fn with_entities(text: &str, raw: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let text = text.replace('"', "&quot;").replace('\'', "&#39;");
    if raw.contains("&#") { text.replace('\r', "&#13;") } else { text }
}

/// Whether a text begins with a tag, and not with a URL or an address in `<>`.
pub fn is_markup(text: &str) -> bool {
    let Some(rest) = text.trim_start().strip_prefix('<') else { return false };
    let is_part = |c: char| c.is_ascii_alphanumeric() || ":-_!?".contains(c);
    let tail = rest.trim_start_matches(is_part);
    let name = rest.strip_suffix(tail).unwrap_or(rest);
    !name.is_empty()
        && !name.ends_with(':')
        && tail.starts_with(|c: char| c.is_whitespace() || ">/[".contains(c))
}

struct Scanner<'t, 'f> {
    is_secret: &'f dyn Fn(&str) -> bool,
    found: Vec<MarkupPlace<'t>>,
}

impl<'t> Scanner<'t, '_> {
    /// Finds the places of a text at or after a position.
    fn scan(&mut self, text: &'t str, from: usize, is_comment: bool) {
        // The element whose content is secret, and the nesting depth of elements with the same name.
        let mut inside: Option<(&'t str, usize)> = None;
        // <key>password</key><string>…: an element names the next one.
        let mut naming: Option<&'t str> = None;
        let mut at = from;
        while let Some(open) = find(text, at, "<") {
            self.content(text, at..open, inside.map(|(name, _)| name));
            let rest = text.get(open..).unwrap_or_default();
            if rest.starts_with(CDATA) {
                let start = open + CDATA.len();
                let end = find(text, start, "]]>").unwrap_or(text.len());
                if let Some((name, _)) = inside {
                    self.secret(text, start..end, name, true);
                }
                at = end + "]]>".len();
                continue;
            }
            if rest.starts_with(COMMENT) {
                at = self.comment(text, open, is_comment);
                continue;
            }
            let is_tag = |c: char| c.is_alphabetic() || "/_!?".contains(c);
            if !rest.get(1..).unwrap_or_default().starts_with(is_tag) {
                at = open + 1;
                continue;
            }
            at = open;
            let Some(tag) = Tag::parse(text, open) else { break };
            at = tag.end;
            if tag.is_end {
                inside = match inside {
                    Some((name, depth)) if name == tag.name => {
                        depth.checked_sub(1).map(|depth| (name, depth))
                    }
                    other => other,
                };
                naming = naming.filter(|name| *name == tag.name);
                continue;
            }
            let is_field = self.attributes(text, &tag);
            let is_named = naming.take().is_some() && is_value_name(tag.name);
            let has_content = !tag.is_empty && !WITHOUT_VALUE.contains(&tag.name);
            if has_content && self.names_sibling(text, &tag) {
                naming = Some(tag.name);
            } else if has_content && inside.is_none() {
                let is_secret = is_named || is_field || (self.is_secret)(tag.name);
                inside = is_secret.then_some((tag.name, 0));
            } else if has_content {
                inside = inside.map(|(name, depth)| (name, depth + usize::from(name == tag.name)));
            }
        }
        self.content(text, at..text.len(), inside.map(|(name, _)| name));
    }

    /// Finds the places of a comment, and returns the position after it.
    fn comment(&mut self, text: &'t str, open: usize, is_comment: bool) -> usize {
        let start = open + COMMENT.len();
        if is_comment {
            return start;
        }
        let end = find(text, start, "-->").unwrap_or(text.len());
        self.scan(text.get(..end).unwrap_or_default(), start, true);
        end + "-->".len()
    }

    /// Returns whether an element's only content is the name of a secret.
    fn names_sibling(&self, text: &str, tag: &Tag<'_>) -> bool {
        let rest = text.get(tag.end..).unwrap_or_default();
        let content = rest.split('<').next().unwrap_or_default().trim();
        let is_name =
            content.len() <= MAX_NAME && !content.contains(char::is_whitespace) && !is_random(content);
        is_naming(tag.name) && is_name && (self.is_secret)(content)
    }

    /// Finds secrets and escaped texts in the attributes of a tag. Returns whether one of them marks the content as a secret.
    fn attributes(&mut self, text: &'t str, tag: &Tag<'t>) -> bool {
        // <input name="csrf" value="…">: the value of one attribute names the other.
        let names_secret = |names: &[&str]| {
            tag.attributes.iter().any(|(name, range)| {
                names.contains(name) && (self.is_secret)(text.get(range.clone()).unwrap_or_default())
            })
        };
        let has_secret_field = names_secret(&["name", "id", "property", "key"]);
        let is_field = names_secret(&["name", "property", "key"]);
        for (name, range) in &tag.attributes {
            // The name of another member is not a secret.
            let is_name = has_secret_field && *name == "key";
            let is_value = has_secret_field && ["value", "content"].contains(name);
            let secret = is_value || (!is_name && (self.is_secret)(name));
            self.content(text, range.clone(), secret.then_some(*name));
        }
        is_field
    }

    /// Adds the text between tags or quotes.
    fn content(&mut self, text: &'t str, range: Range<usize>, secret: Option<&'t str>) {
        if let Some(name) = secret {
            self.secret(text, range, name, false);
            return;
        }
        let raw = text.get(range.clone()).unwrap_or_default();
        let value = unescape(raw);
        if value != raw {
            self.found.push(MarkupPlace { range, value, kind: PlaceKind::Escaped });
        }
    }

    fn secret(&mut self, text: &'t str, range: Range<usize>, name: &'t str, is_raw: bool) {
        let value = text.get(range.clone()).unwrap_or_default();
        let trimmed = value.trim();
        let start = range.start + value.len() - value.trim_start().len();
        if !trimmed.is_empty() {
            let value = if is_raw { trimmed.to_owned() } else { unescape(trimmed) };
            let range = start..start + trimmed.len();
            self.found.push(MarkupPlace { range, value, kind: PlaceKind::Secret { name } });
        }
    }
}

/// A tag of a text.
struct Tag<'t> {
    /// The name without its namespace prefix.
    name: &'t str,
    is_end: bool,
    is_empty: bool,
    /// The names without namespace prefixes, and the ranges of the values.
    attributes: Vec<(&'t str, Range<usize>)>,
    /// The position after the tag.
    end: usize,
}

impl<'t> Tag<'t> {
    /// Parses the tag that begins at `open`; none if it has no end.
    fn parse(text: &'t str, open: usize) -> Option<Tag<'t>> {
        let rest = text.get(open + 1..)?;
        let is_end = rest.starts_with('/');
        let body = rest.strip_prefix('/').unwrap_or(rest);
        let name = body.split(|c: char| c.is_whitespace() || "/><".contains(c)).next()?;
        let mut at = open + 1 + usize::from(is_end) + name.len();
        let mut attributes = Vec::new();
        loop {
            let rest = text.get(at..)?;
            let end = rest.find(['>', '='])?;
            if rest.get(end..)?.starts_with('>') {
                let is_empty = rest.get(..end)?.ends_with('/');
                return Some(Tag { name: local(name), is_end, is_empty, attributes, end: at + end + 1 });
            }
            let attribute = rest.get(..end)?.trim().rsplit(char::is_whitespace).next()?;
            let value = rest.get(end + 1..)?.trim_start();
            let start = text.len() - value.len();
            let (start, length) = match value.chars().next().filter(|c| matches!(c, '"' | '\'')) {
                Some(quote) => (start + 1, value.get(1..)?.find(quote)?),
                None => (start, value.find(|c: char| c.is_whitespace() || c == '>')?),
            };
            attributes.push((local(attribute), start..start + length));
            at = start + length + usize::from(value.starts_with(['"', '\'']));
        }
    }
}

/// The name without its namespace prefix.
fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

fn find(text: &str, from: usize, what: &str) -> Option<usize> {
    Some(from + text.get(from..)?.find(what)?)
}

/// Resolves the entities of XML and numeric character references in a text.
fn unescape(text: &str) -> String {
    let mut parts = text.split('&');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let known = part.split_once(';').and_then(|(name, rest)| Some((entity(name)?, rest)));
        match known {
            Some((c, rest)) => {
                plain.push(c);
                plain.push_str(rest);
            }
            None => {
                plain.push('&');
                plain.push_str(part);
            }
        }
    }
    plain
}

/// The character of an entity: `amp`, `#38`, `#x26`.
fn entity(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::names::{NamePlace, is_secret_name};

    fn places(text: &str) -> Vec<MarkupPlace<'_>> {
        markup_places(text, &|name| is_secret_name(name, NamePlace::Member))
    }

    #[test]
    fn elements_and_attributes_of_private_names_hold_secrets() {
        for (text, secrets) in [
            ("<a><w:Password Type=\"x\"> p&amp;w </w:Password><b>c</b></a>", &["p&w"][..]),
            ("<token><![CDATA[a<b]]></token>", &["a<b"]),
            ("<credentials><x>one</x><x>two</x></credentials><x>three</x>", &["one", "two"]),
            ("<token><token>one</token>two</token>three", &["one", "two"]),
            ("<u api-key='k1' title=\"a>b\"/><u token=t2>", &["k1", "t2"]),
            (
                "<input type=\"hidden\" name=\"csrf_token\" value=\"v1\"><input name=\"q\" value=\"v2\">",
                &["v1"],
            ),
            ("<param name=\"password\">p1</param><param name=\"q\">p2</param>", &["p1"]),
            ("<form name=\"password\">Log in</form>", &[]),
            (
                "<dict><key>password</key><string>s1</string><key>q</key><string>s2</string></dict>",
                &["s1", "q"],
            ),
            ("<x><name>Api-Key</name> <value>s1</value><value>s2</value></x>", &["s1"]),
            ("<x><name>Renew the API key</name><content>today</content></x>", &[]),
            ("<d:sync-token>s1</d:sync-token><!-- a < b <token>x</token> --><token/>y", &["x"]),
            ("<!-- <token>x --><b>y</b>", &["x"]),
            ("<token>cut", &["cut"]),
            ("a < b = \"c", &[]),
        ] {
            let found = places(text);
            let secret = |place: &&MarkupPlace<'_>| matches!(place.kind, PlaceKind::Secret { .. });
            let values: Vec<&str> = found.iter().filter(secret).map(|place| place.value.as_str()).collect();
            assert_eq!(values, secrets, "{text}");
            for place in &found {
                assert_eq!(unescape(text.get(place.range.clone()).unwrap()), place.value);
            }
        }
    }

    #[test]
    fn texts_with_escapes_are_found_without_them() {
        let text = "<a b=\"x&#38;y\">{&quot;c&quot;}</a>d &unknown; &#x26;";
        let values: Vec<String> = places(text).into_iter().map(|place| place.value).collect();
        assert_eq!(values, ["x&y", "{\"c\"}", "d &unknown; &"]);
        for text in ["a&b<c>\"d'\r", ""] {
            assert_eq!(unescape(&with_entities(text, "&#13;")), text);
        }
    }

    #[test]
    fn a_url_in_angle_brackets_is_no_markup() {
        for text in
            ["<a>", " <d:multistatus xmlns:d=\"DAV:\">", "<!-- a -->", "<?xml version=\"1.0\"?>", "<br/>"]
        {
            assert!(is_markup(text), "{text}");
        }
        for text in ["<https://a.test/?token=a>; rel=\"next\"", "<ann@home.org>", "a <b>", "< b", "<"] {
            assert!(!is_markup(text), "{text}");
        }
    }
}
