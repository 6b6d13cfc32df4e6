//! Categories as labels. A message names its categories; a name may be missing in the mailbox's list, which has the colors.

use connector_sdk::http::Request;
use connector_sdk::{Failure, Outcome};
use model::email::folders::{Label, LabelColor};
use model::wire::{Item, JsonText, Source};

use crate::mail::native::CategoryEntry;
use crate::odata::root;

/// The begin of a label's id. Ids of messages and folders have no colon.
const PREFIX: &str = "category:";
/// Longest name of a category, characters (Outlook's own limit).
const MAX_NAME_CHARS: usize = 255;
/// Outlook's colors, `preset0` first.
const COLORS: [&str; 25] = [
    "#e7a1a2", "#f9ba89", "#f7dd8f", "#fcfa90", "#78d168", "#9fdcc9", "#c6d2b0", "#9db7e8", "#b5a1e2",
    "#daaec2", "#dad9dc", "#6b7994", "#bfbfbf", "#6f6f6f", "#4f4f4f", "#c11a25", "#e2620d", "#c79930",
    "#b9b300", "#368f2b", "#329b7a", "#778b45", "#2858a5", "#5c3fa3", "#93446b",
];

/// Returns the request for the mailbox's list.
pub fn request() -> Outcome<Request> {
    Ok(Request::get(root::me(&["outlook", "masterCategories"], &[])?))
}

/// The external id of the label for a category.
pub fn label_id(name: &str) -> String {
    format!("{PREFIX}{name}")
}

/// The category that a label stands for. Fails with `not-found` for what is no label.
pub fn name_of(label: &str) -> Outcome<&str> {
    let name = label.strip_prefix(PREFIX).filter(|name| !name.is_empty());
    name.filter(|name| name.chars().count() <= MAX_NAME_CHARS)
        .ok_or_else(|| Failure::not_found("there is no label with this id at the provider"))
}

/// Returns the label of a category.
pub fn source(name: &str, color: Option<&str>) -> Source {
    let background = color
        .and_then(|color| color.strip_prefix("preset"))
        .and_then(|number| number.parse::<usize>().ok())
        .and_then(|number| COLORS.get(number));
    let color = background.map(|hex| LabelColor { background: Some((*hex).to_owned()), text: None });
    let label = Label { name: name.to_owned(), color, ..Label::default() };
    let id = label_id(name);
    let body = JsonText::of(&label).unwrap_or_default();
    let item =
        Item { external_id: id.clone(), kind: Some("email_label".to_owned()), body, ..Item::default() };
    Source { external_id: id, items: vec![item], ..Source::default() }
}

/// A hash of the list (FNV-1a), which differs where a name or a color does.
pub fn digest(list: &[CategoryEntry]) -> String {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let mut hash = 0xcbf2_9ce4_8422_2325;
    for entry in list {
        let color = entry.color.as_deref().unwrap_or_default();
        hash = entry.display_name.bytes().chain([0]).chain(color.bytes()).chain([1]).fold(hash, step);
    }
    format!("{hash:016x}")
}

/// Returns the categories after this change: those that are there, with these added and these removed. Names are compared without their
/// case, as Outlook does.
pub fn merged(now: &[String], add: &[String], remove: &[String]) -> Outcome<Vec<String>> {
    let is_same = |one: &str, other: &str| one.to_lowercase() == other.to_lowercase();
    let add: Vec<&str> = add.iter().map(|label| name_of(label)).collect::<Outcome<_>>()?;
    let remove: Vec<&str> = remove.iter().map(|label| name_of(label)).collect::<Outcome<_>>()?;
    let mut merged: Vec<String> =
        now.iter().filter(|name| !remove.iter().any(|gone| is_same(gone, name))).cloned().collect();
    for name in add {
        if !merged.iter().any(|one| is_same(one, name)) {
            merged.push(name.to_owned());
        }
    }
    Ok(merged)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_label_is_the_name_of_a_category() {
        let found = source("Red: urgent", Some("preset0"));
        assert_eq!(found.external_id, "category:Red: urgent");
        let label: Label = found.items[0].body.read().unwrap();
        assert_eq!((label.name.as_str(), label.system), ("Red: urgent", false));
        assert_eq!(label.color.unwrap().background.as_deref(), Some("#e7a1a2"));
        for color in [None, Some("none"), Some("preset25"), Some("preset")] {
            let label: Label = source("a", color).items[0].body.read().unwrap();
            assert_eq!(label.color, None, "{color:?}");
        }
        assert_eq!(name_of("category:Red: urgent").unwrap(), "Red: urgent");
        for id in ["category:", "Red", "AAMk"] {
            assert!(name_of(id).is_err(), "{id}");
        }
    }

    /// The list of a message is replaced as a whole.
    #[test]
    fn a_change_keeps_the_other_categories() {
        let now = names(&["Red", "Blue", "Work"]);
        let change = |add: &[&str], remove: &[&str]| merged(&now, &names(add), &names(remove)).unwrap();
        assert_eq!(change(&["category:Green"], &["category:blue"]), ["Red", "Work", "Green"]);
        assert_eq!(change(&["category:WORK"], &[]), ["Red", "Blue", "Work"]);
        assert!(merged(&now, &names(&["Green"]), &[]).is_err());
    }

    #[test]
    fn another_color_is_another_list() {
        let entry = |name: &str, color: &str| CategoryEntry {
            display_name: name.to_owned(),
            color: Some(color.to_owned()),
        };
        let one = digest(&[entry("Red", "preset0"), entry("Blue", "preset7")]);
        assert_eq!(one, digest(&[entry("Red", "preset0"), entry("Blue", "preset7")]));
        assert_ne!(one, digest(&[entry("Red", "preset1"), entry("Blue", "preset7")]));
        assert_ne!(one, digest(&[entry("Red", "preset0")]));
    }
}
