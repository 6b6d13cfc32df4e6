//! The words of a text, and the limit of its length.

/// Maximum bytes that are read of a text. The longest names on record are shorter; a longer text is no name.
const MAX_BYTES: usize = 256;

/// Returns the part of a text that is read.
pub fn cut(text: &str) -> &str {
    text.split_at(text.floor_char_boundary(MAX_BYTES)).0
}

/// The words of a text. Marks and letters of every script make words, `々` too; punctuation and spaces part them.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| match c {
        '々' | '〆' | '〇' => false,
        '・' | '·' | '，' => true,
        '\u{2000}'..='\u{206f}' | '\u{3000}'..='\u{303f}' => true,
        _ => c.is_whitespace() || c.is_control() || c.is_ascii_punctuation(),
    })
    .filter(|w| !w.is_empty())
}
