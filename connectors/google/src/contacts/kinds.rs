//! Types of the values of a contact. Google has a few, and takes any other text as one: that is a label of the user's.

use model::contacts::{ContactKind, PhoneKind};

/// Google's types of numbers that the model has too.
const PHONE_KINDS: [(&str, PhoneKind); 7] = [
    ("mobile", PhoneKind::Mobile),
    ("home", PhoneKind::Home),
    ("work", PhoneKind::Work),
    ("homeFax", PhoneKind::HomeFax),
    ("workFax", PhoneKind::WorkFax),
    ("pager", PhoneKind::Pager),
    ("other", PhoneKind::Other),
];

/// Google's types of other values that the model has too.
const KINDS: [(&str, ContactKind); 3] =
    [("home", ContactKind::Home), ("work", ContactKind::Work), ("other", ContactKind::Other)];

/// Returns the kind of a value, and its label where that says more.
pub fn kind_from(theirs: Option<&str>) -> (ContactKind, Option<String>) {
    match theirs.filter(|text| !text.is_empty()) {
        None => (ContactKind::Other, None),
        Some(text) => match KINDS.iter().find(|(name, _)| *name == text) {
            Some((_, kind)) => (*kind, None),
            None => (ContactKind::Custom, Some(text.to_owned())),
        },
    }
}

/// Returns Google's type of a value. `before`: the type that the value has now, which stays where it says the same.
pub fn kind_to(ours: ContactKind, label: Option<&str>, before: Option<&str>) -> Option<String> {
    let (kind, text) = kind_from(before);
    let is_same = kind == ours && (kind != ContactKind::Custom || text.as_deref() == label);
    if before.is_some() && is_same {
        return before.map(str::to_owned);
    }
    let name = KINDS.iter().find(|(_, kind)| *kind == ours).map(|(name, _)| *name);
    Some(name.or(label).unwrap_or("other").to_owned())
}

/// Returns the kind of a number, and its label where that says more.
pub fn phone_kind_from(theirs: Option<&str>) -> (PhoneKind, Option<String>) {
    match theirs.filter(|text| !text.is_empty()) {
        None => (PhoneKind::Other, None),
        Some(text) => match PHONE_KINDS.iter().find(|(name, _)| *name == text) {
            Some((_, kind)) => (*kind, None),
            None => (PhoneKind::Custom, Some(text.to_owned())),
        },
    }
}

/// Returns Google's type of a number. `before`: the type that the number has now, which stays where it says the same.
pub fn phone_kind_to(ours: PhoneKind, label: Option<&str>, before: Option<&str>) -> Option<String> {
    let (kind, text) = phone_kind_from(before);
    let is_same = kind == ours && (kind != PhoneKind::Custom || text.as_deref() == label);
    if before.is_some() && is_same {
        return before.map(str::to_owned);
    }
    let name = PHONE_KINDS.iter().find(|(_, kind)| *kind == ours).map(|(name, _)| *name);
    Some(name.or(label).unwrap_or("other").to_owned())
}
