//! Plain text of a message: what a list shows of it, text out of HTML, and the beginning of a text.

use mail_parser::decoders::html::html_to_text;

use crate::read::limits::SNIPPET_CHARS;

/// Most bytes of HTML that `to_text` reads.
const HTML_BYTES: usize = 2 << 20;

/// Enough text for a snippet, however it is spaced.
const SNIPPET_TEXT_BYTES: usize = 8 << 10;

/// Enough HTML for a snippet: style sheets come first.
const SNIPPET_HTML_BYTES: usize = 256 << 10;

/// The text of an HTML document, for snippets and searching: no layout, no links. At most the first 2 MiB are read.
pub fn to_text(html: &str) -> String {
    html_to_text(cut_at(html, HTML_BYTES))
}

/// The beginning of a message's text, at most 200 characters on one line; from the HTML where there is no text.
pub fn snippet(text: Option<&str>, html: Option<&str>) -> String {
    match text.filter(|text| !text.trim().is_empty()) {
        Some(text) => one_line(cut_at(text, SNIPPET_TEXT_BYTES)),
        None => one_line(&html_to_text(cut_at(html.unwrap_or_default(), SNIPPET_HTML_BYTES))),
    }
}

/// The beginning of the text, at most this many bytes, whole characters only.
pub(crate) fn cut_at(text: &str, max_bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(max_bytes)).unwrap_or(text)
}

fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(SNIPPET_CHARS);
    let mut chars = 0;
    let mut is_spaced = false;
    for c in text.chars() {
        if !c.is_ascii() && is_unseen(c) {
            continue;
        }
        if c.is_whitespace() || c.is_control() {
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

/// Characters without width, with which newsletters push their text out of the preview.
fn is_unseen(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{206f}' | '\u{feff}')
}
