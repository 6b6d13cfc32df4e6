//! EMAIL, TEL, URL and IMPP: one value each, and its use.

use model::contacts::{ContactEmail, ContactPhone, ContactUrl, ImAddress};
use vcard::tree::cst::VcardCst;
use vcard::tree::line::VcardLine;

use crate::text::{one_line, without_prefix};
use crate::vcard::lines::{
    Version, View, escape, escape_uri, is, line, param, params, renamed, value, with_param, with_raw,
};
use crate::vcard::lists::{Entry, GroupedLine, MAX_ENTRIES, set_list};
use crate::vcard::tag::{LABEL, Tag, for_kind, for_phone, preferred, tag, typed};

/// Instant messaging before RFC 4770, and the protocol that each property stands for.
const OLD_IM: [(&str, &str); 13] = [
    ("X-JABBER", "xmpp"),
    ("X-GOOGLE-TALK", "gtalk"),
    ("X-AIM", "aim"),
    ("X-ICQ", "icq"),
    ("X-MSN", "msn"),
    ("X-YAHOO", "yahoo"),
    ("X-SKYPE", "skype"),
    ("X-SKYPE-USERNAME", "skype"),
    ("X-QQ", "qq"),
    ("X-GADUGADU", "gadugadu"),
    ("X-GROUPWISE", "groupwise"),
    ("X-MATRIX", "matrix"),
    ("X-TELEGRAM", "telegram"),
];

/// Whether a property is one of those.
pub fn is_old_im(name: &str) -> bool {
    OLD_IM.iter().any(|(old, _)| old.eq_ignore_ascii_case(name))
}

impl Entry for ContactEmail {
    fn all(view: &View) -> Vec<(usize, Self)> {
        let mut tags = Vec::new();
        let mut found = Vec::new();
        for (at, line) in lines_named(view, "EMAIL") {
            let tag = tag(view, line);
            let (kind, label) = tag.kind();
            found.push((
                at,
                ContactEmail { value: value(line).trim().to_owned(), kind, label, primary: false },
            ));
            tags.push(tag);
        }
        if let Some(first) = most_preferred(&tags) {
            found[first].1.primary = true;
        }
        found
    }

    fn key(&self) -> String {
        self.value.to_lowercase()
    }

    fn rest(&self) -> String {
        format!("{:?}", (self.kind, &self.label, self.primary))
    }

    fn write(&self, _: Version, old: Option<(&VcardLine, &Self)>) -> GroupedLine {
        let (types, label) = for_kind(self.kind, self.label.as_deref());
        let same = old.is_some_and(|(_, was)| (was.kind, &was.label) == (self.kind, &self.label));
        let line = line_with_value(
            old.map(|(line, was)| (line, was.value == self.value)),
            "EMAIL",
            &escape(&self.value),
        );
        with_purpose(line, types, label, same)
    }
}

impl Entry for ContactPhone {
    fn all(view: &View) -> Vec<(usize, Self)> {
        let mut tags = Vec::new();
        let mut found = Vec::new();
        for (at, line) in lines_named(view, "TEL") {
            let tag = tag(view, line);
            let (kind, label) = tag.phone();
            found.push((at, ContactPhone { value: number(line), e164: None, kind, label, primary: false }));
            tags.push(tag);
        }
        if let Some(first) = most_preferred(&tags) {
            found[first].1.primary = true;
        }
        found
    }

    fn key(&self) -> String {
        self.value.chars().filter(|c| c.is_ascii_digit()).collect()
    }

    fn rest(&self) -> String {
        format!("{:?}", (self.kind, &self.label, self.primary))
    }

    fn write(&self, _: Version, old: Option<(&VcardLine, &Self)>) -> GroupedLine {
        let (types, label) = for_phone(self.kind, self.label.as_deref());
        let same = old.is_some_and(|(_, was)| (was.kind, &was.label) == (self.kind, &self.label));
        // As the person wrote it: text, not a tel: URI.
        let plain =
            old.filter(|(_, was)| was.value != self.value).map(|(line, _)| with_param(line, "VALUE", None));
        let old = old.map(|(line, was)| (plain.as_ref().unwrap_or(line), was.value == self.value));
        with_purpose(line_with_value(old, "TEL", &escape(&self.value)), types, label, same)
    }
}

/// A number as people write it: a `tel:` URI (RFC 3966) without its scheme.
fn number(line: &VcardLine) -> String {
    let number = value(line);
    without_prefix(number.trim(), "tel:").unwrap_or(number.trim()).to_owned()
}

impl Entry for ContactUrl {
    fn all(view: &View) -> Vec<(usize, Self)> {
        let read = |(at, line)| {
            (at, ContactUrl { value: value(line).trim().to_owned(), kind: tag(view, line).kind().0 })
        };
        lines_named(view, "URL").map(read).collect()
    }

    fn key(&self) -> String {
        self.value.clone()
    }

    fn rest(&self) -> String {
        format!("{:?}", self.kind)
    }

    fn write(&self, version: Version, old: Option<(&VcardLine, &Self)>) -> GroupedLine {
        let (types, label) = for_kind(self.kind, None);
        let same = old.is_some_and(|(_, was)| was.kind == self.kind);
        let line = line_with_value(
            old.map(|(line, was)| (line, was.value == self.value)),
            "URL",
            &escape_uri(&self.value, version),
        );
        with_purpose(line, types, label, same)
    }
}

impl Entry for ImAddress {
    fn all(view: &View) -> Vec<(usize, Self)> {
        let read = |(at, line): &(usize, &VcardLine)| {
            let text = value(line).trim().to_owned();
            if text.is_empty() {
                return None;
            }
            if is(line, "IMPP") {
                return Some((*at, im_address(line, &text)));
            }
            let (_, protocol) = OLD_IM.iter().find(|(name, _)| is(line, name))?;
            Some((*at, ImAddress { protocol: Some((*protocol).to_owned()), handle: text }))
        };
        view.lines.iter().filter_map(read).take(MAX_ENTRIES).collect()
    }

    fn key(&self) -> String {
        self.handle.clone()
    }

    fn rest(&self) -> String {
        format!("{:?}", self.protocol)
    }

    fn write(&self, version: Version, old: Option<(&VcardLine, &Self)>) -> GroupedLine {
        let handle = escape_uri(&self.handle, version);
        if let Some((old, was)) = old.filter(|(_, was)| was.protocol == self.protocol) {
            let raw = match value(old).trim().strip_suffix(was.handle.as_str()) {
                Some(start) if is(old, "IMPP") => format!("{}{handle}", escape_uri(start, version)),
                _ => handle,
            };
            return GroupedLine { line: with_raw(old, &raw), beside: Vec::new() };
        }
        let line = match self.protocol.as_deref().map(one_line) {
            None => line("IMPP", &[], &handle),
            Some(protocol) if is_scheme(&protocol) => line("IMPP", &[], &format!("{protocol}:{handle}")),
            Some(protocol) => line("IMPP", &[("X-SERVICE-TYPE", &protocol)], &format!("x-im:{handle}")),
        };
        GroupedLine { line, beside: Vec::new() }
    }
}

/// The protocol is the URI's scheme, unless Apple names the service: its URIs are often only the nearest scheme.
fn im_address(line: &VcardLine, uri: &str) -> ImAddress {
    let service = param(line, "X-SERVICE-TYPE").map(|service| match service.to_lowercase().as_str() {
        "jabber" => "xmpp".to_owned(),
        _ => service,
    });
    let parts =
        uri.split_once(':').filter(|(scheme, rest)| is_scheme(&scheme.to_lowercase()) && !rest.is_empty());
    match parts {
        Some((scheme, handle)) => {
            let protocol =
                service.map_or(scheme.to_lowercase(), |service| match is_scheme(&service.to_lowercase()) {
                    true => service.to_lowercase(),
                    false => service,
                });
            ImAddress { protocol: Some(protocol), handle: handle.to_owned() }
        }
        None => ImAddress { protocol: service, handle: uri.to_owned() },
    }
}

/// RFC 3986 section 3.1, in lower case.
fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '+' | '-' | '.'))
}

/// The lines of this name that have a value.
fn lines_named<'v, 'c, 'a>(
    view: &'v View<'c, 'a>,
    name: &'v str,
) -> impl Iterator<Item = (usize, &'c VcardLine<'a>)> + 'v {
    let lines =
        view.lines.iter().copied().filter(move |(_, line)| is(line, name) && !value(line).trim().is_empty());
    lines.take(MAX_ENTRIES)
}

fn most_preferred(tags: &[Tag]) -> Option<usize> {
    let preferred = tags.iter().enumerate().filter_map(|(at, tag)| Some((tag.pref?, at)));
    preferred.min().map(|(_, at)| at)
}

/// A line with this value: the old one where there is one, untouched where the value is the same.
fn line_with_value(old: Option<(&VcardLine, bool)>, name: &str, raw: &str) -> VcardLine<'static> {
    match old {
        Some((old, true)) => renamed(old, old.name.get()),
        Some((old, false)) => with_raw(old, raw),
        None => line(name, &[], raw),
    }
}

/// The line with the types and the label of its use; `same`: it has them already.
pub fn with_purpose(
    line: VcardLine<'static>,
    types: &[&str],
    label: Option<String>,
    same: bool,
) -> GroupedLine {
    if same {
        return GroupedLine { line, beside: Vec::new() };
    }
    let types = typed(&line, types);
    let line = with_param(
        &without_bare_types(&line),
        "TYPE",
        Some(&types).filter(|types| !types.is_empty()).map(String::as_str),
    );
    GroupedLine { line, beside: vec![(LABEL, label.map(|label| escape(&label)))] }
}

/// The line without vCard 2.1's way to write types.
fn without_bare_types(line: &VcardLine<'static>) -> VcardLine<'static> {
    let mut bare = line.clone();
    bare.params.retain(|node| !node.values.is_empty());
    bare
}

/// Sets the list, and makes exactly the wanted one the preferred one.
pub fn set_preferring<T: Entry>(
    card: &mut VcardCst,
    version: Version,
    wanted: &[T],
    is_primary: impl Fn(&T) -> bool,
) {
    set_list(card, wanted);
    let now = T::all(&View::from_card(card));
    // Of several only the first can be it.
    let first = wanted.iter().position(&is_primary);
    if now.iter().position(|(_, entry)| is_primary(entry)) == first {
        return;
    }
    let preferred_before: Vec<bool> = {
        let view = View::from_card(card);
        now.iter().map(|(at, _)| tag(&view, &card.props[*at]).pref.is_some()).collect()
    };
    for (index, (at, _)) in now.iter().enumerate() {
        let is_first = first == Some(index);
        if !is_first && !preferred_before[index] {
            continue;
        }
        let old = &card.props[*at];
        let types: Vec<String> = params(old, "TYPE").collect();
        let types = preferred(&types.join(","), version, is_first);
        let line = with_param(old, "TYPE", Some(types.as_str()).filter(|types| !types.is_empty()));
        let pref = (is_first && version == Version::V4).then_some("1");
        card.props[*at] = with_param(&line, "PREF", pref);
    }
}
