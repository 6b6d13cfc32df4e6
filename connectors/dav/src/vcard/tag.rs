//! The use of an address or number: TYPE parameters, Apple's labels beside the line, and which one is preferred.

use model::contacts::{ContactKind, PhoneKind};
use vcard::tree::line::VcardLine;

use crate::text;
use crate::vcard::lines::{Version, View, param, params, value};

/// Apple's property with a label for the line in the same group.
pub const LABEL: &str = "X-ABLabel";

/// Types that do not name a use; they stay when the use changes.
const OTHER: [&str; 15] = [
    "internet",
    "x400",
    "voice",
    "text",
    "msg",
    "video",
    "textphone",
    "dom",
    "intl",
    "postal",
    "parcel",
    "other",
    "iphone",
    "uri",
    "pref",
];

/// The parameters and the label of a value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tag {
    /// Lower case, without `pref`.
    pub types: Vec<String>,
    pub label: Option<Label>,
    /// 1 to 100, 1 is the most preferred (RFC 6350 section 5.3).
    pub pref: Option<u8>,
}

/// Apple's label: a well-known one (`_$!<Home>!$_`), lower case, or the user's own words.
#[derive(Clone, Debug, PartialEq)]
pub enum Label {
    Known(String),
    Own(String),
}

impl Label {
    pub fn read(text: &str) -> Option<Label> {
        let text = text.trim();
        let known = text.strip_prefix("_$!<").and_then(|rest| rest.strip_suffix(">!$_"));
        match known {
            Some(known) if !known.is_empty() => Some(Label::Known(known.to_lowercase())),
            _ if text.is_empty() => None,
            _ => Some(Label::Own(text.to_owned())),
        }
    }

    /// As the model says it: well-known ones in lower case, the user's own as they are.
    pub fn into_words(self) -> String {
        match self {
            Label::Known(words) | Label::Own(words) => words,
        }
    }
}

/// The label beside a line.
pub fn label(view: &View, line: &VcardLine) -> Option<Label> {
    Label::read(&value(view.beside(line, LABEL)?))
}

/// Everything that stands beside a line.
pub fn tag(view: &View, line: &VcardLine) -> Tag {
    // vCard 2.1 writes types as parameters of their own.
    let bare = line.params.iter().filter(|node| node.values.is_empty());
    let bare = bare.map(|node| node.name.get().to_lowercase());
    let named = params(line, "TYPE").flat_map(|types| {
        types
            .split(',')
            .map(|one| one.trim().to_lowercase())
            .filter(|one| !one.is_empty())
            .collect::<Vec<_>>()
    });
    let mut types: Vec<String> =
        named.chain(bare).filter(|one| one != "quoted-printable" && one != "base64").collect();
    let is_pref = types.iter().any(|one| one == "pref");
    types.retain(|one| one != "pref");
    let pref = param(line, "PREF").and_then(|pref| pref.trim().parse().ok());
    Tag { types, label: label(view, line), pref: pref.or(is_pref.then_some(1)) }
}

impl Tag {
    fn is(&self, name: &str) -> bool {
        self.types.iter().any(|one| one == name)
    }

    /// A type that is none of the usual ones, as a label.
    fn odd(&self) -> Option<String> {
        let usual = |one: &str| OTHER.contains(&one) || ["home", "work", "cell"].contains(&one);
        self.types.iter().find(|one| !usual(one)).cloned()
    }

    /// Returns the use of an address, and the user's own label.
    pub fn kind(&self) -> (ContactKind, Option<String>) {
        match &self.label {
            Some(Label::Known(known)) => match known.as_str() {
                "home" => (ContactKind::Home, None),
                "work" => (ContactKind::Work, None),
                "other" | "homepage" => (ContactKind::Other, None),
                known => (ContactKind::Custom, Some(known.to_owned())),
            },
            Some(Label::Own(own)) => (ContactKind::Custom, Some(own.clone())),
            None if self.is("home") => (ContactKind::Home, None),
            None if self.is("work") => (ContactKind::Work, None),
            None => match self.odd() {
                Some(odd) => (ContactKind::Custom, Some(odd)),
                None => (ContactKind::Other, None),
            },
        }
    }

    /// Returns the use of a number, and the user's own label.
    pub fn phone(&self) -> (PhoneKind, Option<String>) {
        match &self.label {
            Some(Label::Known(known)) => match known.as_str() {
                "mobile" | "iphone" => (PhoneKind::Mobile, None),
                "home" => (PhoneKind::Home, None),
                "work" => (PhoneKind::Work, None),
                "homefax" => (PhoneKind::HomeFax, None),
                "workfax" => (PhoneKind::WorkFax, None),
                "pager" => (PhoneKind::Pager, None),
                "other" => (PhoneKind::Other, None),
                known => (PhoneKind::Custom, Some(known.to_owned())),
            },
            Some(Label::Own(own)) => (PhoneKind::Custom, Some(own.clone())),
            None if self.is("fax") && self.is("home") => (PhoneKind::HomeFax, None),
            None if self.is("fax") && self.is("work") => (PhoneKind::WorkFax, None),
            None if self.is("pager") => (PhoneKind::Pager, None),
            None if self.is("cell") || self.is("mobile") => (PhoneKind::Mobile, None),
            None if self.is("fax") => (PhoneKind::Custom, Some("fax".into())),
            None if self.is("home") => (PhoneKind::Home, None),
            None if self.is("work") => (PhoneKind::Work, None),
            None => match self.odd() {
                Some(odd) => (PhoneKind::Custom, Some(odd)),
                None => (PhoneKind::Other, None),
            },
        }
    }
}

/// Types and label that say what an address is for.
pub fn for_kind(kind: ContactKind, label: Option<&str>) -> (&'static [&'static str], Option<String>) {
    match kind {
        ContactKind::Home => (&["home"], None),
        ContactKind::Work => (&["work"], None),
        ContactKind::Other => (&[], None),
        ContactKind::Custom => (&[], Some(own(label))),
    }
}

/// The same of a number.
pub fn for_phone(kind: PhoneKind, label: Option<&str>) -> (&'static [&'static str], Option<String>) {
    match kind {
        PhoneKind::Mobile => (&["cell"], None),
        PhoneKind::Home => (&["home"], None),
        PhoneKind::Work => (&["work"], None),
        PhoneKind::HomeFax => (&["home", "fax"], None),
        PhoneKind::WorkFax => (&["work", "fax"], None),
        PhoneKind::Pager => (&["pager"], None),
        PhoneKind::Other => (&[], None),
        PhoneKind::Custom => (&[], Some(own(label))),
    }
}

/// A label of the user's own; a kind without a label still has to differ from "other".
fn own(label: Option<&str>) -> String {
    label
        .map(|label| text::plain(label).trim().to_owned())
        .filter(|label| !label.is_empty())
        .unwrap_or("Custom".into())
}

/// The types of a line with these for its use. Types of another kind stay.
pub fn typed(line: &VcardLine, types: &[&str]) -> String {
    let mut all = Vec::new();
    for had in params(line, "TYPE") {
        let kept = had.split(',').filter(|one| !one.eq_ignore_ascii_case("other"));
        all.extend(kept.filter(|one| OTHER.contains(&one.to_lowercase().as_str())).map(str::to_owned));
    }
    all.extend(types.iter().map(|one| (*one).to_owned()));
    all.join(",")
}

/// The types of a line with or without `pref`.
pub fn preferred(types: &str, version: Version, is_preferred: bool) -> String {
    let kept = types.split(',').filter(|one| !one.is_empty() && !one.eq_ignore_ascii_case("pref"));
    let pref = (is_preferred && version == Version::V3).then_some("pref");
    kept.chain(pref).collect::<Vec<_>>().join(",")
}
