//! The texts by which lists are sorted and searched.

use base::error::Result;
use base::input::validate::fault;
use storage::items;

/// Returns the words of a search, folded like the searched texts.
pub fn words(q: Option<&str>) -> Result<Vec<String>> {
    let words: Vec<String> =
        text::folding::search_key(q.unwrap_or_default()).split_whitespace().map(str::to_owned).collect();
    match words.len() > items::MAX_WORDS {
        true => Err(fault("q", &format!("may have at most {} words", items::MAX_WORDS))),
        false => Ok(words),
    }
}

/// Returns a sort key that every database orders alike: hexadecimal. Items without a text come last.
pub fn sort_key(text: Option<&str>) -> String {
    /// Most bytes of the text that count.
    const MAX: usize = 255;
    match text.filter(|t| !t.is_empty()) {
        Some(text) => hex::encode(&text.as_bytes()[..text.len().min(MAX)]),
        None => "z".to_owned(),
    }
}

/// Returns the text for full-text search, folded.
pub fn searchable<'a>(parts: impl IntoIterator<Item = Option<&'a str>>) -> String {
    /// Most bytes that are searched.
    const MAX: usize = 65_536;
    let mut text = String::new();
    for part in parts.into_iter().flatten().filter(|p| !p.is_empty()) {
        if text.len() > MAX {
            break;
        }
        let (part, _) = part.split_at(part.floor_char_boundary(MAX));
        text.push_str(&text::folding::search_key(part));
        text.push('\n');
    }
    // PostgreSQL has no text with U+0000.
    text.retain(|c| !c.is_control() || c == '\n');
    text
}
