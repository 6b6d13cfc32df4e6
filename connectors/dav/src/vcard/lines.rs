//! Reads and edits content lines of a card by name, leaving all other bytes unchanged. vcard-rs keeps the bytes; this module adds access by
//! name, whether or not the library has a type for the property. Every written line is folded.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use vcard::tree::cst::VcardCst;
use vcard::tree::error::VcardParseError;
use vcard::tree::line::VcardLine;
use vcard::tree::value::node::VcardValueNode;
use vcard::version::VcardVersion;

use crate::text;

/// The maximum number of components of a structured value, because the library searches each from the beginning. Addresses of RFC 9554 have
/// 18.
const MAX_COMPONENTS: usize = 50;

/// The vCard version of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    V3,
    V4,
}

/// Parses the first card of a text. The error names the fault, never the content.
pub fn parse(data: &str) -> Result<VcardCst<'_>, String> {
    let data = data.strip_prefix('\u{FEFF}').unwrap_or(data);
    let card = VcardCst::parse(data).map_err(|error| match error {
        VcardParseError::MissingEnd(_) => "the card has no end",
        _ => "the card has a malformed line",
    })?;
    let is_card =
        card.begin.as_ref().is_some_and(|begin| begin.raw_value_str().trim().eq_ignore_ascii_case("VCARD"));
    if is_card { Ok(card) } else { Err("it is not a vCard".into()) }
}

/// Renders the text to store on the server.
pub fn print(card: &VcardCst) -> String {
    text::crlf(String::from_utf8_lossy(&card.to_bytes()).into_owned())
}

/// The version in which a card is written; none for vCard 2.1, which CardDAV does not allow (RFC 6352 section 5.1).
pub fn version(card: &VcardCst) -> Option<Version> {
    match card.version() {
        VcardVersion::V2_1 => None,
        VcardVersion::V3_0 => Some(Version::V3),
        VcardVersion::V4_0 => Some(Version::V4),
    }
}

/// The lines of a card and their groups, without the lines of a nested card (AGENT of vCard 2.1).
pub struct View<'c, 'a> {
    /// The lines, each with its index among the card's properties.
    pub lines: Vec<(usize, &'c VcardLine<'a>)>,
    /// The indices in `lines`, by group in lower case.
    groups: HashMap<String, Vec<usize>>,
    /// The version in which new lines are written.
    pub version: Version,
}

impl<'c, 'a> View<'c, 'a> {
    pub fn from_card(card: &'c VcardCst<'a>) -> Self {
        let mut depth = 0usize;
        let version = version(card).unwrap_or(Version::V3);
        let mut view = View { lines: Vec::with_capacity(card.props.len()), groups: HashMap::new(), version };
        for (at, line) in card.props.iter().enumerate() {
            if is(line, "BEGIN") {
                depth += 1;
            } else if is(line, "END") {
                depth = depth.saturating_sub(1);
            } else if depth == 0 {
                if let Some(group) = line.group() {
                    view.groups.entry(group.to_ascii_lowercase()).or_default().push(view.lines.len());
                }
                view.lines.push((at, line));
            }
        }
        view
    }

    /// The lines of this name.
    pub fn all<'v>(&'v self, name: &'v str) -> impl Iterator<Item = &'c VcardLine<'a>> + 'v {
        self.lines.iter().map(|(_, line)| *line).filter(move |line| is(line, name))
    }

    /// The first line of this name that has a value.
    pub fn first(&self, name: &str) -> Option<&'c VcardLine<'a>> {
        self.all(name).find(|line| !value(line).trim().is_empty())
    }

    /// The text of the first property of this name; none if it is missing or empty.
    pub fn text(&self, name: &str) -> Option<String> {
        self.first(name).map(|line| value(line).trim().to_owned())
    }

    /// The line of this name in the same group as another line, such as the `X-ABLabel` that Apple adds to a property.
    pub fn beside(&self, line: &VcardLine, name: &str) -> Option<&'c VcardLine<'a>> {
        let group = self.groups.get(&line.group()?.to_ascii_lowercase())?;
        group.iter().map(|at| self.lines[*at].1).find(|line| is(line, name))
    }
}

/// Whether a line has this name, in any group.
pub fn is(line: &VcardLine, name: &str) -> bool {
    line.bare_name().eq_ignore_ascii_case(name)
}

/// The whole value, unescaped.
pub fn value(line: &VcardLine) -> String {
    with_value(line, |value| value.decode().into_owned())
}

/// The components of a structured value, unescaped. Lists in a component are joined with `between`.
pub fn components(line: &VcardLine, between: &str) -> Vec<String> {
    with_value(line, |value| {
        let component = |at| {
            let all = value.decode_component_list(at);
            match &all[..] {
                [one] => one.trim().to_owned(),
                all => all.join(between).trim().to_owned(),
            }
        };
        (0..value.component_count().min(MAX_COMPONENTS)).map(component).collect()
    })
}

/// The values of a list, unescaped, without empty ones.
pub fn list(line: &VcardLine) -> Vec<String> {
    let all =
        with_value(line, |value| value.decode_list().into_iter().map(Cow::into_owned).collect::<Vec<_>>());
    all.into_iter().map(|one| one.trim().to_owned()).filter(|one| !one.is_empty()).collect()
}

/// Reads a value, which may be quoted-printable (vCard 2.1, and exports that claim to be 3.0).
fn with_value<T>(line: &VcardLine, read: impl FnOnce(&VcardValueNode) -> T) -> T {
    if line.params.is_empty() || !is_quoted_printable(line) {
        return read(&line.value);
    }
    let bytes = quoted_printable(&line.value.to_string());
    // Exports get the charset parameter wrong: text that is not UTF-8 is decoded as a Western code page.
    let text = String::from_utf8(bytes)
        .unwrap_or_else(|error| error.into_bytes().into_iter().map(char::from).collect());
    let mut node = VcardValueNode::parse(text.as_bytes());
    node.escaper = line.value.escaper;
    read(&node)
}

fn is_quoted_printable(line: &VcardLine) -> bool {
    let names = |text: &str| text.eq_ignore_ascii_case("QUOTED-PRINTABLE");
    line.params
        .iter()
        .any(|node| names(node.name.get()) || node.values.iter().any(|value| names(value.get())))
}

fn quoted_printable(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('=') {
        bytes.extend_from_slice(before.as_bytes());
        let escaped = after.split_at_checked(2);
        match escaped.and_then(|(hex, after)| Some((u8::from_str_radix(hex, 16).ok()?, after))) {
            Some((byte, after)) => {
                bytes.push(byte);
                rest = after;
            }
            None => {
                bytes.push(b'=');
                rest = after;
            }
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

/// A parameter's values, without quotes.
pub fn params<'l>(line: &'l VcardLine, name: &'l str) -> impl Iterator<Item = String> + 'l {
    let nodes = line.params.iter().filter(move |node| node.name.get().eq_ignore_ascii_case(name));
    nodes
        .flat_map(|node| node.values.iter().map(|value| text::param(value.get())))
        .filter(|text| !text.is_empty())
}

/// A parameter's first value.
pub fn param(line: &VcardLine, name: &str) -> Option<String> {
    params(line, name).next()
}

/// Whether a parameter has this value.
pub fn has_param(line: &VcardLine, name: &str, value: &str) -> bool {
    params(line, name).any(|text| text.eq_ignore_ascii_case(value))
}

/// Escapes a TEXT value (RFC 6350 section 3.4, and in the same way RFC 2426 section 4).
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text::plain(text).chars() {
        match character {
            '\\' | ',' | ';' => out.extend(['\\', character]),
            '\n' => out.push_str("\\n"),
            c => out.push(c),
        }
    }
    out
}

/// Escapes a URI value. In 3.0 its commas are escaped, because readers would take them for list separators.
pub fn escape_uri(uri: &str, version: Version) -> String {
    let escaped = text::one_line(uri).replace('\\', "\\\\");
    match version {
        Version::V3 => escaped.replace(',', "\\,"),
        Version::V4 => escaped,
    }
}

/// Creates a line. `value` is written as it is, without control characters.
pub fn line(name: &str, params: &[(&str, &str)], value: &str) -> VcardLine<'static> {
    let mut head = name.to_owned();
    for (name, value) in params {
        // A list stays a list, because its items contain no commas.
        let items: Vec<String> = value.split(',').map(text::raw_param).collect();
        let value = if *name == "TYPE" { items.join(",") } else { text::raw_param(value) };
        head.push_str(&format!(";{name}={value}"));
    }
    tokenise(&head, value)
}

/// The line with another value; its name, group and parameters keep their bytes.
pub fn with_raw(old: &VcardLine, value: &str) -> VcardLine<'static> {
    let mut head = old.name.get().to_owned();
    for node in old.params.iter() {
        // The new value is plain UTF-8.
        let encodes = ["ENCODING", "CHARSET", "QUOTED-PRINTABLE", "BASE64"];
        if !encodes.iter().any(|name| node.name.get().eq_ignore_ascii_case(name)) {
            head.push_str(&format!(";{node}"));
        }
    }
    tokenise(&head, value)
}

/// The line with this value of a parameter, or without the parameter.
pub fn with_param(old: &VcardLine, name: &str, value: Option<&str>) -> VcardLine<'static> {
    let mut head = old.name.get().to_owned();
    let mut written = value.map(|value| format!(";{name}={}", text::raw_param(value)));
    for node in &old.params {
        match node.name.get().eq_ignore_ascii_case(name) {
            true => head.push_str(&written.take().unwrap_or_default()),
            false => head.push_str(&format!(";{node}")),
        }
    }
    head.push_str(&written.unwrap_or_default());
    tokenise(&head, &old.value.to_string())
}

/// The line with another name or group.
pub fn renamed(old: &VcardLine, name: &str) -> VcardLine<'static> {
    let params: String = old.params.iter().map(|node| format!(";{node}")).collect();
    tokenise(&format!("{name}{params}"), &old.value.to_string())
}

/// Creates a folded line from head and value. The library parses lines only inside a card.
fn tokenise(head: &str, value: &str) -> VcardLine<'static> {
    let logical = format!("{}:{}", text::one_line(head), text::one_line(value));
    let mut scratch: VcardCst<'static> = VcardCst::v4();
    let made = scratch.push_raw(&text::fold(&logical)).ok().and_then(|card| card.props.pop());
    made.unwrap_or_else(|| VcardLine::text("X-NOTHING", ""))
}

/// Replaces the first line of this name and removes the others; adds the line at the end if there is none.
pub fn set_line(card: &mut VcardCst, line: VcardLine<'static>) {
    let name = line.bare_name().to_owned();
    let places: Vec<usize> = places(card, &name);
    let Some((first, rest)) = places.split_first() else {
        card.props.push(line);
        return;
    };
    card.props[*first] = line;
    drop_lines(card, rest);
}

/// Sets a TEXT property and keeps its group and parameters. None removes it.
pub fn set_text(card: &mut VcardCst, name: &str, value: Option<&str>) {
    let Some(value) = value.map(str::trim).filter(|value| !value.is_empty()) else {
        let all = places(card, name);
        return drop_lines(card, &all);
    };
    let old = places(card, name).first().map(|at| with_raw(&card.props[*at], &escape(value)));
    set_line(card, old.unwrap_or_else(|| line(name, &[], &escape(value))));
}

/// Returns the indices of the lines of this name among the card's properties.
pub fn places(card: &VcardCst, name: &str) -> Vec<usize> {
    View::from_card(card).lines.into_iter().filter(|(_, line)| is(line, name)).map(|(at, _)| at).collect()
}

/// Removes lines by their indices.
pub fn drop_lines(card: &mut VcardCst, places: &[usize]) {
    let gone: HashSet<usize> = places.iter().copied().collect();
    let mut at = 0;
    card.props.retain(|_| {
        at += 1;
        !gone.contains(&(at - 1))
    });
}

/// An empty card. VERSION comes first, as both versions require.
pub fn empty(version: Version) -> VcardCst<'static> {
    let mut card = VcardCst::v4();
    if version == Version::V3 {
        card.props = vec![line("VERSION", &[], "3.0")];
    }
    card.props.push(line("PRODID", &[], "-//Switchboard//CardDAV//EN"));
    card
}

#[cfg(test)]
mod tests {
    use super::{
        View, components, drop_lines, empty, line, list, param, parse, print, set_text, value, with_param,
    };

    #[test]
    fn values_are_read_as_they_are_meant() {
        let text = "BEGIN:VCARD\r\nVERSION:3.0\r\nitem1.NOTE:one\\, two\\nthree\r\nN:A\\;B;C,D;;\r\nCATEGORIES:a\\,b,c\r\n\
            FN;ENCODING=QUOTED-PRINTABLE;CHARSET=utf-8:J=C3=BCrgen\r\nTITLE;QUOTED-PRINTABLE:caf=E9\r\nEND:VCARD\r\n";
        let card = parse(text).unwrap();
        let view = View::from_card(&card);
        assert_eq!(view.text("note").unwrap(), "one, two\nthree");
        assert_eq!(components(view.first("N").unwrap(), ","), ["A;B", "C,D", "", ""]);
        assert_eq!(list(view.first("CATEGORIES").unwrap()), ["a,b", "c"]);
        assert_eq!((view.text("FN").unwrap(), view.text("TITLE").unwrap()), ("Jürgen".into(), "café".into()));
        assert_eq!(print(&card), text);
    }

    #[test]
    fn a_value_cannot_begin_another_property() {
        let mut card = empty(super::Version::V3);
        let before = card.props.len();
        set_text(&mut card, "NOTE", Some("a\r\nX-EVIL:b\u{0}\rc\u{2028}d"));
        card.props.push(line("X-A", &[("X-P", "a\r\nX-EVIL:b\";c")], "d\nX-EVIL:e"));
        let text = print(&card);
        let read = parse(&text).unwrap();
        assert_eq!(read.props.len(), before + 2, "{text}");
        assert_eq!(View::from_card(&read).text("NOTE").unwrap(), "a\nX-EVIL:bc\u{2028}d");
        assert_eq!(param(View::from_card(&read).first("X-A").unwrap(), "X-P").unwrap(), "a\nX-EVIL:b\";c");
    }

    #[test]
    fn long_lines_are_folded_and_read_back() {
        let mut card = empty(super::Version::V4);
        let note = "äöü, ".repeat(200);
        set_text(&mut card, "NOTE", Some(&note));
        let text = print(&card);
        assert!(text.lines().all(|line| line.len() <= 75), "{text}");
        assert_eq!(View::from_card(&parse(&text).unwrap()).text("NOTE").unwrap(), note.trim());
    }

    #[test]
    fn a_parameter_is_set_in_its_place() {
        let card = parse("BEGIN:VCARD\r\nVERSION:4.0\r\nTEL;PREF=2;TYPE=\"a,b\":1\r\nEND:VCARD\r\n").unwrap();
        let tel = View::from_card(&card).first("TEL").unwrap();
        assert_eq!(with_param(tel, "PREF", Some("1")).to_string(), "TEL;PREF=1;TYPE=\"a,b\":1\r\n");
        assert_eq!(with_param(tel, "pref", None).to_string(), "TEL;TYPE=\"a,b\":1\r\n");
        assert_eq!(value(&with_param(tel, "X", Some("y"))), "1");
    }

    #[test]
    fn an_inner_card_is_left_alone() {
        let text = "BEGIN:VCARD\r\nVERSION:2.1\r\nFN:A\r\nAGENT:\r\nBEGIN:VCARD\r\nVERSION:2.1\r\nFN:B\r\nEND:VCARD\r\nEND:VCARD\r\n";
        let mut card = parse(text).unwrap();
        set_text(&mut card, "FN", Some("C"));
        drop_lines(&mut card, &[]);
        assert_eq!(print(&card), text.replace("FN:A", "FN:C"));
    }
}
