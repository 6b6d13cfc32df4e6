//! RELATED and the properties that older cards have for related people.

use model::contacts::Relation;
use vcard::tree::line::VcardLine;

use crate::text;
use crate::vcard::lines::{Version, View, escape, has_param, is, line, params, value, with_param, with_raw};
use crate::vcard::lists::{Entry, GroupedLine, MAX_ENTRIES};
use crate::vcard::tag::{LABEL, Label, label};

/// Apple's relation with a label.
const APPLE: &str = "X-ABRELATEDNAMES";
/// Relations that Apple has its own labels for.
const APPLE_KINDS: [&str; 11] = [
    "mother",
    "father",
    "parent",
    "brother",
    "sister",
    "child",
    "friend",
    "spouse",
    "partner",
    "assistant",
    "manager",
];
/// Properties that mean one kind of relation.
const ONE_KIND: [(&str, &str); 9] = [
    ("X-SPOUSE", "spouse"),
    ("X-ASSISTANT", "assistant"),
    ("X-MANAGER", "manager"),
    ("X-EVOLUTION-SPOUSE", "spouse"),
    ("X-EVOLUTION-ASSISTANT", "assistant"),
    ("X-EVOLUTION-MANAGER", "manager"),
    ("X-KADDRESSBOOK-X-SPOUSESNAME", "spouse"),
    ("X-KADDRESSBOOK-X-ASSISTANTSNAME", "assistant"),
    ("X-KADDRESSBOOK-X-MANAGERSNAME", "manager"),
];

/// Whether a property names a person that the model has.
pub fn is_relation(line: &VcardLine) -> bool {
    is(line, APPLE)
        || ONE_KIND.iter().any(|(name, _)| is(line, name))
        || is(line, "RELATED") && !is_reference(line)
}

/// A RELATED that points to another card or page; the model has names only.
fn is_reference(line: &VcardLine) -> bool {
    if has_param(line, "VALUE", "text") {
        return false;
    }
    let value = value(line);
    let scheme = value.split_once(':').map(|(scheme, _)| scheme);
    has_param(line, "VALUE", "uri")
        || scheme.is_some_and(|scheme| {
            !scheme.is_empty() && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        })
}

/// The label that says this kind; `more` are well-known ones beside those of relations.
pub fn label_of(kind: &str, more: &[&str]) -> String {
    let kind = text::plain(kind).trim().to_owned();
    if !APPLE_KINDS.contains(&kind.as_str()) && !more.contains(&kind.as_str()) {
        return kind;
    }
    let mut letters = kind.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    format!("_$!<{}{}>!$_", first.into_iter().collect::<String>(), letters.as_str())
}

impl Entry for Relation {
    fn all(view: &View) -> Vec<(usize, Self)> {
        let read = |(at, line): &(usize, &VcardLine)| {
            if !is_relation(line) {
                return None;
            }
            let name = value(line).trim().to_owned();
            let known = ONE_KIND.iter().find(|(name, _)| is(line, name)).map(|(_, kind)| (*kind).to_owned());
            let typed = || {
                let mut types = params(line, "TYPE").filter(|kind| !kind.eq_ignore_ascii_case("pref"));
                types.next().map(|kind| kind.to_lowercase()).filter(|_| is(line, "RELATED"))
            };
            let kind = known.or_else(typed).or_else(|| label(view, line).map(Label::into_words));
            (!name.is_empty()).then_some((*at, Relation { name, kind }))
        };
        view.lines.iter().filter_map(read).take(MAX_ENTRIES).collect()
    }

    fn key(&self) -> String {
        self.name.clone()
    }

    fn rest(&self) -> String {
        format!("{:?}", self.kind)
    }

    fn write(&self, version: Version, old: Option<(&VcardLine, &Self)>) -> GroupedLine {
        let Relation { name, kind } = self;
        let name = escape(name);
        if let Some((old, _)) = old.filter(|(_, was)| was.kind == *kind) {
            return GroupedLine { line: with_raw(old, &name), beside: Vec::new() };
        }
        // RFC 6350 section 6.6.6 names its kinds; others are Apple's to say, in both versions.
        let standard = kind.as_deref().is_none_or(|kind| {
            let words = [
                "contact",
                "acquaintance",
                "friend",
                "met",
                "co-worker",
                "colleague",
                "co-resident",
                "neighbor",
            ];
            let more = [
                "child",
                "parent",
                "sibling",
                "spouse",
                "kin",
                "muse",
                "crush",
                "date",
                "sweetheart",
                "me",
                "agent",
                "emergency",
            ];
            words.contains(&kind) || more.contains(&kind)
        });
        if version == Version::V4 && standard {
            let made = line("RELATED", &[("VALUE", "text")], &name);
            return GroupedLine { line: with_param(&made, "TYPE", kind.as_deref()), beside: Vec::new() };
        }
        let label = kind.as_deref().map(|kind| escape(&label_of(kind, &[])));
        let line = match old {
            Some((old, _)) if is(old, APPLE) => with_raw(old, &name),
            _ => line(APPLE, &[], &name),
        };
        GroupedLine { line, beside: vec![(LABEL, label)] }
    }
}
