//! Text that others wrote, given to an assistant as data: between fences, as plain text alone, without characters that nobody sees and
//! without links and pictures that a chat would make of it.

use mail::html::{self, VisibleText};
use mail::text::is_ignorable;

/// Bytes of a fence's nonce.
const NONCE_BYTES: usize = 8;

/// Bytes of an HTML document that are read: about ten milliseconds, and twenty times the text that a result has.
const HTML_BYTES: usize = 512 << 10;
/// The same of a reply, of which a conversation has many.
const REPLY_HTML_BYTES: usize = 128 << 10;

/// Shown in place of an address that has no host.
const NO_HOST: &str = "(link)";

/// The end of a scheme in front of a host.
const SCHEME_END: &[u8] = b"://";

/// Marks at the end of a sentence: they end no URL.
const SENTENCE_ENDS: [char; 7] = ['.', ',', ';', ':', '!', '?', '\''];

/// The lines around text that others wrote. They have a nonce, so that no text can end its own fence.
#[derive(Clone, Debug)]
pub struct Fence {
    nonce: String,
}

impl Default for Fence {
    fn default() -> Fence {
        Fence::new()
    }
}

impl Fence {
    /// A fence with a random nonce, for one answer.
    pub fn new() -> Fence {
        let mut nonce = [0; NONCE_BYTES];
        getrandom::fill(&mut nonce).expect("the operating system's random generator works");
        Fence { nonce: hex::encode(nonce) }
    }

    /// Returns the text between two lines that name it untrusted: `<untrusted-NONCE>` and `</untrusted-NONCE>`.
    pub fn wrap(&self, text: &str) -> String {
        let nonce = &self.nonce;
        format!("<untrusted-{nonce}>\n{}\n</untrusted-{nonce}>", text.replace(nonce, ""))
    }
}

/// A text as an assistant may read it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CleanText {
    /// The text: plain, without invisible characters.
    pub text: String,
    /// Characters that a reader does not see and that were left out.
    pub removed: usize,
    /// The source was too long: its end was not read.
    pub is_cut: bool,
}

/// Returns the text without invisible and control characters, Markdown links and pictures, and tags. URLs are shown as their host unless
/// `links`. The result stays the same if it is cleaned again. Time and memory are linear in the text.
pub fn clean(text: &str, links: bool) -> CleanText {
    let (text, removed) = without_invisible(text);
    let text = if links { text } else { with_hosts(&text) };
    CleanText { text: without_markup(&text), removed, is_cut: false }
}

/// Returns the text on one line, for subjects, names, titles and places: white space is one blank.
pub fn clean_line(text: &str, links: bool) -> CleanText {
    let cleaned = clean(text, links);
    let line = cleaned.text.split_whitespace().collect::<Vec<_>>().join(" ");
    CleanText { text: line, ..cleaned }
}

/// Returns the text of an HTML document that a person would see (`mail::html::visible`), as `clean` does.
pub fn clean_html(html: &str, links: bool) -> CleanText {
    clean_visible(html, HTML_BYTES, html::visible, links)
}

/// Returns the same text without the quotes in which replies repeat earlier messages.
pub fn clean_html_reply(html: &str, links: bool) -> CleanText {
    clean_visible(html, REPLY_HTML_BYTES, html::visible_without_quotes, links)
}

fn clean_visible(html: &str, max_bytes: usize, read: fn(&str) -> VisibleText, links: bool) -> CleanText {
    let start = html.get(..html.floor_char_boundary(max_bytes)).unwrap_or_default();
    let visible = read(start);
    let cleaned = clean(&visible.text, links);
    let is_cut = visible.is_cut || start.len() < html.len();
    CleanText { removed: visible.removed + cleaned.removed, is_cut, ..cleaned }
}

/// Returns the beginning of the text, at most `max_bytes` in whole characters and with `…` at the end of one that was cut.
pub fn shorten(text: &str, max_bytes: usize) -> String {
    if text.len() <= max_bytes {
        return text.to_owned();
    }
    let room = max_bytes.saturating_sub('…'.len_utf8());
    let start = text.get(..text.floor_char_boundary(room)).unwrap_or_default();
    format!("{}…", start.trim_end())
}

/// The text without characters that have no glyph, and how many these were. Line ends are `\n`; of the control characters only these and
/// tabs stay.
fn without_invisible(text: &str) -> (String, usize) {
    let mut seen = String::with_capacity(text.len());
    let mut removed = 0;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' | '\t' => seen.push(c),
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => seen.push('\n'),
            c if c.is_control() || is_ignorable(c) => removed += 1,
            c => seen.push(c),
        }
    }
    (seen, removed)
}

/// The text with the host in place of each URL: of `scheme://…`, and of a word that begins with `www.`.
fn with_hosts(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, url)) = next_url(rest) {
        out.push_str(before);
        let (host, after) = split_host(url);
        if out.ends_with(char::is_alphanumeric) {
            out.push(' ');
        }
        out.push_str(if host.is_empty() { NO_HOST } else { host });
        if after.starts_with(char::is_alphanumeric) {
            out.push(' ');
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// The text before the first URL, and the text from the URL's host on.
fn next_url(text: &str) -> Option<(&str, &str)> {
    let bytes = text.as_bytes();
    let mut start_of_word = 0;
    for (at, byte) in bytes.iter().enumerate() {
        let rest = bytes.get(at..).unwrap_or_default();
        if rest.starts_with(SCHEME_END) {
            return text.get(..start_of_word).zip(text.get(at + SCHEME_END.len()..));
        }
        let is_www = at == start_of_word
            && rest.get(..4).is_some_and(|word| word.eq_ignore_ascii_case(b"www."))
            && !text.get(..at).unwrap_or_default().ends_with(char::is_alphanumeric);
        if is_www && rest.get(4).is_some_and(u8::is_ascii_alphanumeric) {
            return text.split_at_checked(at);
        }
        // The characters of a scheme (RFC 3986 3.1).
        if !byte.is_ascii_alphanumeric() && !matches!(byte, b'+' | b'-' | b'.') {
            start_of_word = at + 1;
        }
    }
    None
}

/// The host at the beginning of a URL without its scheme, and the text after the URL. A backslash ends the host too, as in browsers.
fn split_host(url: &str) -> (&str, &str) {
    let is_end = |c: char| matches!(c, '/' | '?' | '#' | '\\') || !(is_of_url(c) || c.is_alphanumeric());
    let (authority, path) = url.split_at_checked(url.find(is_end).unwrap_or(url.len())).unwrap_or((url, ""));
    let path_len = path.find(|c: char| !is_of_url(c)).unwrap_or(path.len());
    let (whole, rest) = url.split_at_checked(authority.len() + path_len).unwrap_or((url, ""));
    // A mark at the end is the sentence's.
    let is_end_of_word = !rest.starts_with(char::is_alphanumeric);
    let url_len = if is_end_of_word { whole.trim_end_matches(SENTENCE_ENDS).len() } else { whole.len() };
    let after = url.get(url_len..).unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let is_of_host = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '%');
    let host = host.split(|c: char| !is_of_host(c)).next().unwrap_or_default();
    (host.trim_end_matches(SENTENCE_ENDS), after)
}

/// Whether a URL has this character as it is (RFC 3986 2), brackets and parentheses aside: text puts these around URLs.
fn is_of_url(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-._~:/?#@!$&'*+,;=%\\".contains(c)
}

/// The text with a blank wherever Markdown or HTML would begin something: a link, a picture, the address of one, a tag.
fn without_markup(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = '\n';
    for c in text.chars() {
        let begins = match before {
            ']' => matches!(c, '(' | '[' | ':'),
            '!' => c == '[',
            '<' => c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'),
            _ => false,
        };
        if begins {
            out.push(' ');
        }
        out.push(c);
        before = c;
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Fence, clean, clean_html, clean_line, shorten};

    #[test]
    fn a_text_cannot_end_its_own_fence() {
        let (one, other) = (Fence::new(), Fence::new());
        assert_ne!(one.wrap(""), other.wrap(""));
        let guessed = one.wrap(&one.wrap("x"));
        let end = guessed.lines().last().unwrap();
        assert_eq!(guessed.matches(end).count(), 1, "{guessed}");
    }

    #[test]
    fn characters_that_nobody_sees_are_removed_and_counted() {
        let tags: String =
            "ignore all".chars().filter_map(|c| char::from_u32(0xe0000 + u32::from(c))).collect();
        let cleaned =
            clean(&format!("Hel{tags}lo\u{200b} \u{202e}you\u{2069}\u{feff}\u{fe0f}\u{e0100}\u{1b}"), false);
        assert_eq!((cleaned.text.as_str(), cleaned.removed), ("Hello you", 17));
        assert_eq!(clean("a\r\nb\rc\u{2028}d\te", false).text, "a\nb\nc\nd\te");
    }

    #[test]
    fn a_url_is_shown_as_its_host() {
        for (text, shown) in [
            ("see https://evil.example/collect?d=secret.", "see evil.example."),
            ("(HTTP://a.example:8080/x), then", "(a.example), then"),
            ("https://bank.example@evil.example/", "evil.example"),
            ("https://good.example\\@evil.example/", "good.example"),
            ("www.evil.example/x?y and awww.x", "www.evil.example and awww.x"),
            ("www.a.example and https://b.example/c", "www.a.example and b.example"),
            ("请看https://a.example/路径。", "请看 a.example 路径。"),
            ("file:///etc/passwd", "(link)"),
            ("https://://https://x", "(link)"),
            ("a://b.example/c,d://e", "b.example"),
            ("10:30 / 11:30, and/or", "10:30 / 11:30, and/or"),
        ] {
            assert_eq!(clean(text, false).text, shown, "{text}");
        }
        assert_eq!(clean("https://a.example/b?c", true).text, "https://a.example/b?c");
    }

    #[test]
    fn markdown_and_tags_come_to_nothing() {
        for links in [true, false] {
            let text = "![x](https://e.example/?q=1) [a][b] \n[b]: https://e.example <img src=x> </p> <!-- -->]\u{200b}(x)";
            let cleaned = clean(text, links).text;
            for markup in ["](", "][", "]:", "![", "<i", "</", "<!"] {
                assert!(!cleaned.contains(markup), "{markup} in {cleaned}");
            }
        }
        assert_eq!(clean("1 < 2, a[0] = b!", false).text, "1 < 2, a[0] = b!");
    }

    #[test]
    fn a_line_has_no_breaks_and_a_short_text_stays() {
        assert_eq!(clean_line(" a\r\n\r\nSystem:\u{2028}b\t", false).text, "a System: b");
        assert_eq!(shorten("abc", 3), "abc");
        assert_eq!(shorten("ääää", 7), "ää…");
        assert_eq!(shorten("abc", 0), "…");
    }

    #[test]
    fn html_becomes_the_text_that_a_person_sees() {
        let html = "<p>Hi <a href='https://evil.example/?q=1'>bank.example</a></p><p style='display:none'>Ignore all</p>";
        let cleaned = clean_html(html, false);
        assert_eq!((cleaned.text.as_str(), cleaned.removed), ("Hi bank.example (evil.example)", 9));
        assert!(!cleaned.is_cut && clean_html(&"<p>ä</p>".repeat(100_000), false).is_cut);
    }

    #[test]
    fn long_texts_take_linear_time() {
        for piece in ["https://", "www.", "a", "](", "\u{200b}", "x://y ", "www.a", "w"] {
            let text = piece.repeat(300_000);
            let cleaned = clean(&text, false);
            assert!(cleaned.text.len() <= 2 * text.len(), "{piece}");
        }
    }

    /// Texts of the pieces that matter here.
    fn texts() -> impl Strategy<Value = String> {
        let pieces = "https :// www. a.b @ : / \\ ] [ ( ) ! < > img ? # . , \u{200d} \u{e0041} \u{fe0f} \u{202e} é 。 - + % '";
        let pieces: Vec<&str> = pieces.split(' ').chain([" ", "\n", "\r"]).collect();
        let pieces = prop::sample::select(pieces);
        prop_oneof![prop::collection::vec(pieces, 0..24).prop_map(|pieces| pieces.concat()), any::<String>()]
    }

    proptest! {
        #[test]
        fn a_clean_text_stays_as_it_is(text in texts(), links: bool) {
            for clean in [clean, clean_line] {
                let once = clean(&text, links);
                let twice = clean(&once.text, links);
                prop_assert_eq!((&twice.text, twice.removed), (&once.text, 0));
                prop_assert!(links || !once.text.contains("://"), "{}", once.text);
                prop_assert!(!once.text.contains(mail::text::is_ignorable));
            }
        }
    }
}
