//! The configuration of ammonia: elements, attributes and styles that stay of HTML that was tidied.

use std::borrow::Cow;
use std::sync::LazyLock;

use ammonia::{Builder, UrlRelative};
use memchr::memmem;

use crate::characters::{cut_at, without_smuggled};
use crate::html::attribute::{HELD, SHOWN};
use crate::html::css::harmless;
use crate::html::options::{INPUT_BYTES, Safe};
use crate::html::tidy::tidy;
use crate::html::{tags, token};

/// The HTML without all that could act, reach out or disguise, and without what its writer hid. Links open in a new window and do not
/// reveal the page that they were on.
pub fn safe(html: &str, options: &Safe<'_>) -> String {
    let clean = CLEANER.clean(&tidy(cut_at(html, INPUT_BYTES), options)).to_string();
    let clean = without_smuggled(clean);
    let has = |word: &str| memmem::find(clean.as_bytes(), word.as_bytes()).is_some();
    if [HELD, SHOWN, "<pre"].into_iter().any(has) { finish(&clean) } else { clean }
}

/// Writes what the serializer cannot: the addresses of pictures, in `src` where they are shown and in `data-src` where not, and the line
/// break after `<pre>` that makes a second one visible, since parsers skip the first (WHATWG HTML 13.2.6.4.7).
fn finish(clean: &str) -> String {
    let mut out = String::with_capacity(clean.len());
    let mut rest = clean;
    while let Some((text, tag)) = rest.find('<').and_then(|start| rest.split_at_checked(start)) {
        let mut is_quoted = false;
        let end = tag.bytes().position(|byte| {
            is_quoted ^= byte == b'"';
            byte == b'>' && !is_quoted
        });
        let (tag, after) = tag.split_at(end.map_or(tag.len(), |end| end + 1));
        out.push_str(text);
        // Quotes are escaped in values, so this finds attributes alone.
        if tag.starts_with("<img ") {
            let held = tag.replace(&format!(" src=\"{HELD}"), " data-src=\"");
            out.push_str(&held.replace(&format!(" src=\"{SHOWN}"), " src=\""));
        } else {
            out.push_str(tag);
        }
        let is_pre = tag.strip_prefix("<pre").is_some_and(|rest| rest.starts_with(['>', ' ']));
        if is_pre && after.starts_with('\n') {
            out.push('\n');
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Properties of `style` that change how a text looks and not where it is. None takes an address, see `harmless`.
const STYLES: [&str; 58] = [
    "background-color",
    "border",
    "border-bottom",
    "border-bottom-color",
    "border-bottom-style",
    "border-bottom-width",
    "border-collapse",
    "border-color",
    "border-left",
    "border-left-color",
    "border-left-style",
    "border-left-width",
    "border-radius",
    "border-right",
    "border-right-color",
    "border-right-style",
    "border-right-width",
    "border-spacing",
    "border-style",
    "border-top",
    "border-top-color",
    "border-top-style",
    "border-top-width",
    "border-width",
    "color",
    "direction",
    "font",
    "font-family",
    "font-size",
    "font-style",
    "font-variant",
    "font-weight",
    "height",
    "letter-spacing",
    "line-height",
    "list-style-type",
    "margin",
    "margin-bottom",
    "margin-left",
    "margin-right",
    "margin-top",
    "max-width",
    "min-width",
    "padding",
    "padding-bottom",
    "padding-left",
    "padding-right",
    "padding-top",
    "table-layout",
    "text-align",
    "text-decoration",
    "text-indent",
    "text-transform",
    "vertical-align",
    "white-space",
    "width",
    "word-break",
    "word-wrap",
];

static CLEANER: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut cleaner = Builder::empty();
    cleaner
        .tags(tags::names().collect())
        .clean_content_tags(token::DROPPED.into_iter().collect())
        .generic_attributes(
            tags::ATTRIBUTES.into_iter().filter(|name| !matches!(*name, "href" | "src")).collect(),
        )
        .tag_attributes([("a", ["href"].into()), ("img", ["src"].into())].into())
        .url_schemes(
            [
                "http",
                "https",
                "mailto",
                "tel",
                "data",
                HELD.trim_end_matches(':'),
                SHOWN.trim_end_matches(':'),
            ]
            .into(),
        )
        .url_relative(UrlRelative::Deny)
        .link_rel(Some("noopener noreferrer nofollow"))
        .set_tag_attribute_value("a", "target", "_blank")
        .filter_style_properties(STYLES.into())
        .attribute_filter(attribute);
    cleaner
});

/// Filters the values of `style`, and of the two attributes with an address by their schemes.
fn attribute<'u>(element: &str, name: &str, value: &'u str) -> Option<Cow<'u, str>> {
    let begins = |prefixes: &[&str]| {
        let head = value.trim_start();
        prefixes
            .iter()
            .any(|prefix| head.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix)))
    };
    let is_kept = match (element, name) {
        (_, "style") => return Some(Cow::Owned(harmless(value))),
        ("a", "href") => begins(&["http:", "https:", "mailto:", "tel:"]),
        ("img", "src") => begins(&["http:", "https:", "data:image/", HELD, SHOWN]),
        (_, "href" | "src") => false,
        _ => true,
    };
    is_kept.then_some(Cow::Borrowed(value))
}
