//! The elements and attributes that stay.

use Kind::{Block, Cell, Group, Inline, Item, Row, Table, Void};

/// How an element nests. Elements that are not listed nest in everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Inline,
    /// Ends a paragraph.
    Block,
    /// Ends an item of its list, and a paragraph.
    Item,
    Table,
    /// `tbody` and its likes.
    Group,
    Row,
    Cell,
    /// Has no content.
    Void,
}

/// Sorted by name.
const TAGS: [(&str, Kind); 68] = [
    ("a", Inline),
    ("abbr", Inline),
    ("acronym", Inline),
    ("address", Block),
    ("article", Block),
    ("aside", Block),
    ("b", Inline),
    ("bdi", Inline),
    ("bdo", Inline),
    ("big", Inline),
    ("blockquote", Block),
    ("br", Void),
    ("center", Block),
    ("cite", Inline),
    ("code", Inline),
    ("dd", Item),
    ("del", Inline),
    ("dfn", Inline),
    ("div", Block),
    ("dl", Block),
    ("dt", Item),
    ("em", Inline),
    ("figcaption", Block),
    ("figure", Block),
    ("font", Inline),
    ("footer", Block),
    ("h1", Block),
    ("h2", Block),
    ("h3", Block),
    ("h4", Block),
    ("h5", Block),
    ("h6", Block),
    ("header", Block),
    ("hr", Void),
    ("i", Inline),
    ("img", Void),
    ("ins", Inline),
    ("kbd", Inline),
    ("li", Item),
    ("main", Block),
    ("mark", Inline),
    ("nav", Block),
    ("ol", Block),
    ("p", Block),
    ("pre", Block),
    ("q", Inline),
    ("s", Inline),
    ("samp", Inline),
    ("section", Block),
    ("small", Inline),
    ("span", Inline),
    ("strike", Inline),
    ("strong", Inline),
    ("sub", Inline),
    ("sup", Inline),
    ("table", Table),
    ("tbody", Group),
    ("td", Cell),
    ("tfoot", Group),
    ("th", Cell),
    ("thead", Group),
    ("time", Inline),
    ("tr", Row),
    ("tt", Inline),
    ("u", Inline),
    ("ul", Block),
    ("var", Inline),
    ("wbr", Void),
];

/// Attributes of every element; one without a meaning there has no effect.
pub const ATTRIBUTES: [&str; 26] = [
    "align",
    "alt",
    "bgcolor",
    "border",
    "cellpadding",
    "cellspacing",
    "color",
    "colspan",
    "datetime",
    "dir",
    "face",
    "height",
    "href",
    "lang",
    "nowrap",
    "rowspan",
    "size",
    "span",
    "src",
    "start",
    "style",
    "title",
    "type",
    "valign",
    "value",
    "width",
];

/// Attributes that say whether an element is seen. They are read and not kept.
pub const READ: [&str; 7] = ["background", "class", "hidden", "id", "media", "open", "text"];

/// Elements beside those in `TAGS` that have no content.
const VOID: [&str; 12] = [
    "area", "base", "basefont", "bgsound", "col", "frame", "input", "keygen", "link", "meta", "param",
    "source",
];

/// Whether an element of this name, which does not stay, has content.
pub fn has_content(name: &str) -> bool {
    !VOID.contains(&name)
}

/// The names of all elements that stay.
#[cfg(feature = "html")]
pub fn names() -> impl Iterator<Item = &'static str> {
    TAGS.iter().map(|(name, _)| *name)
}

/// The element of this name, in lower case.
pub fn tag(name: &str) -> Option<(&'static str, Kind)> {
    TAGS.binary_search_by(|(known, _)| known.cmp(&name)).ok().and_then(|at| TAGS.get(at)).copied()
}

#[cfg(test)]
mod tests {
    use super::{ATTRIBUTES, TAGS, tag};

    #[test]
    fn names_are_sorted_so_that_they_are_found() {
        assert!(TAGS.is_sorted_by_key(|entry| entry.0) && ATTRIBUTES.is_sorted());
        assert!(TAGS.iter().all(|entry| tag(entry.0) == Some(*entry)));
        assert_eq!(tag("script"), None);
    }
}
