//! Attributes as they are written into tidied HTML, and the addresses of pictures among them.

use crate::cid;
use crate::html::options::{DATA_URL_BYTES, Safe};
use crate::html::references::{decoded, style_pairs, work};

/// Before the address of a picture that is not fetched. A private scheme, so that nothing is fetched if it stays.
pub const HELD: &str = "x-held:";

/// Before the address of a picture that is part of the message: that address can be a path.
pub const SHOWN: &str = "x-shown:";

/// Most bytes of the value of an attribute, as they are written, times its references: the serializer of html5ever takes time with the
/// square of a long value of them.
const VALUE_WORK: usize = 1 << 20;

/// Pairs of characters in a `style` that may be written as references. A style is rewritten with a space between any two of its
/// parts, and so grows: what bounds it counts what does not.
const STYLE_PAIRS: usize = 64;

/// Writes an attribute, with `prefix` before its value. Character references stay as they are. NUL is U+FFFD as in HTML: without it
/// `font\0-size` would become a declaration.
pub fn write_attribute(out: &mut String, name: &str, prefix: &str, value: &str) {
    let is_costly = match name {
        "style" => style_pairs(value) > STYLE_PAIRS,
        _ => work(value) > VALUE_WORK,
    };
    if is_costly {
        return;
    }
    out.extend([" ", name, "=\"", prefix]);
    for piece in value.split_inclusive(['"', '<', '>', '\0']) {
        let plain = piece.trim_end_matches(['"', '<', '>', '\0']);
        out.push_str(plain);
        out.push_str(match piece.get(plain.len()..) {
            Some("\"") => "&quot;",
            Some("<") => "&lt;",
            Some(">") => "&gt;",
            Some("\0") if !out.ends_with('\u{fffd}') => "\u{fffd}",
            _ => "",
        });
    }
    out.push('"');
}

/// Writes the address of a picture: where it comes from says whether it is shown.
pub fn write_source(out: &mut String, value: &str, options: &Safe<'_>) {
    let value = value.trim();
    let after = |prefix: &str| {
        value.get(..prefix.len()).filter(|head| head.eq_ignore_ascii_case(prefix)).map(|_| prefix.len())
    };
    if let Some(id) = after("cid:").and_then(|at| value.get(at..)) {
        let link = decoded(id);
        // Some programs write an id that has percent escapes as it is.
        if let Some(url) = (options.cid)(&cid::decoded(&link)).or_else(|| (options.cid)(&link)) {
            write_attribute(out, "src", SHOWN, &url.replace('&', "&amp;"));
        }
    } else if after("http://").or_else(|| after("https://")).is_some() {
        write_attribute(out, "src", if options.images { "" } else { HELD }, value);
    } else if value.starts_with("//") {
        write_attribute(out, "src", if options.images { "https:" } else { "x-held:https:" }, value);
    } else if is_picture(value) && value.len() <= DATA_URL_BYTES {
        write_attribute(out, "src", "", value);
    }
}

/// Formats that are pixels and nothing else: an SVG is a document.
fn is_picture(value: &str) -> bool {
    let head = value.get(..24).unwrap_or(value).to_ascii_lowercase();
    ["png", "gif", "jpeg", "jpg", "webp", "bmp"]
        .iter()
        .any(|kind| head.starts_with(&format!("data:image/{kind};")))
}
