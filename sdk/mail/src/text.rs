//! Plain text of a message: the snippet for lists, and text out of HTML.

use crate::characters::visible;
use crate::read::limits::SNIPPET_CHARS;

pub(crate) use crate::characters::cut_at;
pub use crate::characters::{is_ignorable, without_smuggled};
pub use crate::html::to_text;

/// Enough text for a snippet, however it is spaced.
const SNIPPET_TEXT_BYTES: usize = 8 << 10;

/// Enough HTML for a snippet: style sheets come first.
const SNIPPET_HTML_BYTES: usize = 256 << 10;

/// The beginning of the visible text of a message, at most 200 characters on one line; from the HTML where there is no text.
pub fn snippet(text: Option<&str>, html: Option<&str>) -> String {
    match text.filter(|text| !text.trim().is_empty()) {
        Some(text) => one_line(cut_at(text, SNIPPET_TEXT_BYTES)),
        None => one_line(&to_text(cut_at(html.unwrap_or_default(), SNIPPET_HTML_BYTES))),
    }
}

fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(SNIPPET_CHARS);
    let mut chars = 0;
    let mut is_spaced = false;
    for c in visible(text) {
        // An empty Braille pattern looks like a blank.
        if c.is_whitespace() || c.is_control() || c == '\u{2800}' {
            is_spaced = chars > 0;
            continue;
        }
        let needed = if is_spaced { 2 } else { 1 };
        if chars + needed > SNIPPET_CHARS {
            break;
        }
        if is_spaced {
            line.push(' ');
        }
        line.push(c);
        chars += needed;
        is_spaced = false;
    }
    line
}
