//! The characters of a text: its beginning, and those that no reader sees. Some of these a text needs all the same: joiners of Persian,
//! Indic scripts and emoji, selectors of a glyph, the tags of three flags.

use std::str::Chars;

use memchr::memmem;

/// The flags that are written with tag characters, behind a black flag: England, Scotland and Wales (Unicode Technical Standard 51, RGI).
const FLAG_TAGS: [&str; 3] = [
    "\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
    "\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
];

const BLACK_FLAG: char = '\u{1f3f4}';

/// The beginning of the text, at most this many bytes, whole characters only.
pub(crate) fn cut_at(text: &str, max_bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(max_bytes)).unwrap_or(text)
}

/// The text without tag characters and variation selectors that change nothing which is seen: text can be hidden in them. Soft hyphens,
/// joiners and marks of direction stay.
pub fn without_smuggled(text: String) -> String {
    // U+E0000 to U+E0FFF, and U+FE00 to U+FE3F, in UTF-8.
    let has = |bytes: &[u8]| memmem::find(text.as_bytes(), bytes).is_some();
    if !has(b"\xf3\xa0") && !has(b"\xef\xb8") {
        return text;
    }
    let is_needed =
        |before: Option<char>, c: char, _: Option<char>| !is_selector(c) || is_selected(before, c);
    NeededChars { rest: text.chars(), before: None, tags: 0, is_needed }.collect()
}

/// The characters of a text that are seen, or change how others look, for one line of plain text.
pub fn visible(text: &str) -> impl Iterator<Item = char> {
    let is_needed = |before: Option<char>, c: char, after: Option<char>| match c {
        '\u{200c}' | '\u{200d}' => is_joined(before, c, after),
        _ => is_selector(c) && is_selected(before, c),
    };
    NeededChars { rest: text.chars(), before: None, tags: 0, is_needed }
}

/// The characters of a text without those that have no glyph and are not needed.
struct NeededChars<'a, F> {
    rest: Chars<'a>,
    /// The last character that stayed.
    before: Option<char>,
    /// Tag characters of the flag that was started.
    tags: usize,
    /// Whether a character without a glyph stays between these two.
    is_needed: F,
}

impl<F: Fn(Option<char>, char, Option<char>) -> bool> Iterator for NeededChars<'_, F> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        loop {
            let c = self.rest.next()?;
            let is_needed = match c {
                BLACK_FLAG => {
                    let rest = self.rest.as_str();
                    let tags = FLAG_TAGS.into_iter().find(|tags| rest.starts_with(tags));
                    self.tags = tags.map_or(0, |tags| tags.chars().count());
                    true
                }
                '\u{e0000}'..='\u{e007f}' => {
                    let is_of_flag = self.tags > 0;
                    self.tags = self.tags.saturating_sub(1);
                    is_of_flag
                }
                c if c.is_ascii() || !is_ignorable(c) => true,
                c => (self.is_needed)(self.before, c, self.rest.clone().next()),
            };
            if is_needed {
                self.before = Some(c);
                return Some(c);
            }
        }
    }
}

/// Whether the character has no glyph: Unicode's Default_Ignorable_Code_Point, and the marks of annotations. Joiners of scripts and emoji
/// and variation selectors are among them.
pub fn is_ignorable(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

fn is_selector(c: char) -> bool {
    matches!(c, '\u{180b}'..='\u{180f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Whether characters like `before` have several glyphs, of which a selector names one. A second selector has none before it.
fn is_selected(before: Option<char>, selector: char) -> bool {
    let Some(before) = before else { return false };
    match selector {
        '\u{fe0e}' | '\u{fe0f}' => is_emoji(before) || matches!(before, '0'..='9' | '#' | '*'),
        '\u{fe00}'..='\u{fe0d}' => matches!(
            before,
            '\u{1000}'..='\u{109f}' | '\u{2200}'..='\u{22ff}' | '\u{2e80}'..='\u{9fff}' | '\u{a840}'..='\u{a877}' | '\u{f900}'..='\u{faff}'
        ),
        '\u{180b}'..='\u{180f}' => matches!(before, '\u{1820}'..='\u{18aa}'),
        _ => matches!(before, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}'),
    }
}

/// Whether a joiner or a non-joiner changes how the characters around it look: in scripts whose letters join, and between two emoji.
fn is_joined(before: Option<char>, joiner: char, after: Option<char>) -> bool {
    let is_of_script = matches!(
        before,
        Some(
            '\u{620}'..='\u{109f}'
            | '\u{1700}'..='\u{17b3}'
            | '\u{17b6}'..='\u{180a}'
            | '\u{1810}'..='\u{1cff}'
            | '\u{a800}'..='\u{abff}'
            | '\u{fb50}'..='\u{fdff}'
            | '\u{fe70}'..='\u{fefc}'
            | '\u{10a00}'..='\u{11fff}'
            | '\u{1e900}'..='\u{1e95f}',
        )
    );
    let is_end = |c| is_emoji(c) || matches!(c, '\u{fe0f}' | '\u{e007f}');
    is_of_script || joiner == '\u{200d}' && before.is_some_and(is_end) && after.is_some_and(is_emoji)
}

/// Blocks that emoji are in, with other symbols.
fn is_emoji(c: char) -> bool {
    matches!(
        c,
        '\u{a9}'
            | '\u{ae}'
            | '\u{203c}'
            | '\u{2049}'
            | '\u{2122}'
            | '\u{2139}'
            | '\u{2190}'..='\u{2bff}'
            | '\u{3030}'
            | '\u{303d}'
            | '\u{3297}'
            | '\u{3299}'
            | '\u{1f000}'..='\u{1faff}'
    )
}

#[cfg(test)]
mod tests {
    use super::{visible, without_smuggled};

    const WALES: &str = "\u{1f3f4}\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}";

    /// The text in tag characters.
    fn in_tags(text: &str) -> String {
        text.chars().filter_map(|c| char::from_u32(0xe0000 + u32::from(c))).collect()
    }

    #[test]
    fn what_scripts_emoji_and_flags_need_stays() {
        for text in [
            "plain",
            "می\u{200c}خواهم",
            "क्\u{200d}ष",
            "ന്\u{200d}",
            "👩\u{200d}👩\u{200d}👧",
            "❤\u{fe0f}\u{200d}🔥",
            "🧑🏽\u{200d}⚕\u{fe0f}",
            "1\u{fe0f}\u{20e3}",
            "葛\u{e0100}",
            WALES,
        ] {
            assert_eq!(visible(text).collect::<String>(), text, "{text:?}");
            assert_eq!(without_smuggled(text.to_owned()), text, "{text:?}");
        }
    }

    #[test]
    fn text_in_characters_without_glyphs_is_left_out() {
        let selectors: String = ('\u{e0100}'..='\u{e01ef}').collect();
        for (text, seen) in [
            (format!("a{}b", in_tags("ignore all")), "ab".to_owned()),
            (format!("\u{1f3f4}{}b", in_tags("abcde")), "\u{1f3f4}b".to_owned()),
            (format!("{WALES}{}", in_tags("x")), WALES.to_owned()),
            (format!("😀{selectors}b"), "😀b".to_owned()),
            ("😀\u{fe0f}\u{fe0f}\u{fe01}b".to_owned(), "😀\u{fe0f}b".to_owned()),
            ("a\u{fe0f}b".to_owned(), "ab".to_owned()),
            (format!("葛\u{e0100}{selectors}b"), "葛\u{e0100}b".to_owned()),
        ] {
            assert_eq!(visible(&text).collect::<String>(), seen, "{text:?}");
            assert_eq!(without_smuggled(text.clone()), seen, "{text:?}");
        }
    }

    #[test]
    fn a_line_of_text_has_no_padding_and_a_document_keeps_its_hyphens() {
        let padded = "a\u{34f}\u{200c}\u{ad}\u{feff}\u{200d}\u{2060}\u{202e}\u{3164}b";
        assert_eq!(visible(padded).collect::<String>(), "ab");
        assert_eq!(without_smuggled(format!("{padded}\u{e0041}")), padded);
        assert_eq!(visible("می\u{200c}\u{200c}\u{200c}خ").collect::<String>(), "می\u{200c}خ");
    }
}
