//! The text that a person sees of an HTML document: for readers that would obey what its writer hid from people.

use std::fmt::Write;

use crate::characters::{cut_at, is_ignorable};
use crate::check;
use crate::html::options::INPUT_BYTES;
use crate::html::plain::lines;
use crate::html::references::decoded;
use crate::html::tidy::seen_html;

/// Longest address of a link that is shown, bytes; of a longer one the path is left out.
const ADDRESS_BYTES: usize = 2 << 10;

/// Longest host of a link that is shown, bytes as it is written: a name of 253 has fewer in any script.
const HOST_BYTES: usize = 1 << 10;

/// The text that a person sees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VisibleText {
    /// The text, without characters that have no glyph.
    pub text: String,
    /// Characters that a person does not see and that were left out: of hidden text, without its blanks, and those without a glyph.
    pub removed: usize,
    /// The HTML was too long: the text of its end is missing.
    pub is_cut: bool,
}

/// Returns the text of an HTML document that a person sees: a line for each block, item and row, the address of a link in parentheses
/// behind its text. Content without display, visibility, size, opacity or a place on the screen is left out, and so are text in the colour
/// of its background, comments and the descriptions of pictures. At most the first 2 MiB are read; time and memory are linear in them.
///
/// The hidden text is counted. Comments, scripts and descriptions are not, because most newsletters have them.
pub fn visible(html: &str) -> VisibleText {
    visible_text(html, true)
}

/// Returns the same text without the quotes (`blockquote`) in which replies repeat earlier messages.
pub fn visible_without_quotes(html: &str) -> VisibleText {
    visible_text(html, false)
}

fn visible_text(html: &str, with_quotes: bool) -> VisibleText {
    let read = cut_at(html, INPUT_BYTES);
    let seen = seen_html(read);
    let link = |href: &str| address(href).map(|address| format!("({})", address.replace('&', "&amp;")));
    let text = lines(&seen.html, with_quotes, link);
    let is_needed = |c: &char| !is_ignorable(*c) && (!c.is_control() || matches!(c, '\n' | '\t'));
    let shown: String = text.chars().filter(is_needed).collect();
    let removed = seen.hidden + (text.chars().count() - shown.chars().count());
    VisibleText { text: shown, removed, is_cut: seen.is_cut || read.len() < html.len() }
}

/// The address that a link opens, in ASCII, so that no text can hide in it: of a web page with its host as it is registered, or of a
/// person. None for other links.
fn address(href: &str) -> Option<String> {
    let href = decoded(href);
    let (scheme, rest) = href.trim().split_once(':')?;
    let scheme = scheme.to_ascii_lowercase();
    if scheme == "mailto" {
        let email = rest.split('?').next().unwrap_or_default();
        return check::email(email).is_ok().then(|| email.to_owned());
    }
    let rest = rest.trim_start_matches(['/', '\\']);
    let (authority, path) = rest.split_at_checked(rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len()))?;
    let host_and_port = authority.rsplit('@').next()?;
    let (host, port) = host_and_port.split_once(':').unwrap_or((host_and_port, ""));
    let host = Some(host).filter(|host| host.len() <= HOST_BYTES)?;
    let host = idna::domain_to_ascii_strict(host).ok().filter(|host| !host.is_empty())?;
    let port = if port.is_empty() || port.len() > 5 || !port.bytes().all(|byte| byte.is_ascii_digit()) {
        String::new()
    } else {
        format!(":{port}")
    };
    let whole = matches!(scheme.as_str(), "http" | "https").then(|| format!("{scheme}://{host}{port}"))?;
    let path = encoded(path);
    Some(if whole.len() + path.len() <= ADDRESS_BYTES { whole + &path } else { whole })
}

/// The path, query and fragment of a URL with all but the characters of RFC 3986 2 percent-encoded; backslashes are slashes, as in
/// browsers.
fn encoded(path: &str) -> String {
    let mut encoded = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte) {
            encoded.push(char::from(byte));
        } else if byte == b'\\' {
            encoded.push('/');
        } else {
            // Writing to a string cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{VisibleText, visible, visible_without_quotes};

    fn text(html: &str) -> String {
        visible(html).text
    }

    #[test]
    fn text_in_the_colour_of_its_background_is_left_out() {
        for hidden in [
            "<span style='color:#fff'>secret</span>",
            "<font color=white>secret</font>",
            "<div style='background:#000'><b>secret</b></div>",
            "<table bgcolor=black><tr><td><span style='color:#000'>secret</span></table>",
            "<style>.x{color:#fefefe}</style><p class=x>secret</p>",
            "<a href='https://x.example' style='color:#fff'>secret</a>",
            "<form style='color:white'>secret</form>",
            "<h1 style='text-indent:-9999px'>secret</h1>",
            "<p style='color:#fff;text-shadow:0 0 0 #fff'>secret</p>",
        ] {
            let visible = visible(&format!("{hidden}<p>seen</p>"));
            assert!(!visible.text.contains("secret") && visible.text.contains("seen"), "{hidden}");
            assert_eq!(visible.removed, 6, "{hidden}");
        }
        for seen in [
            "<body bgcolor=black text=white>seen</body>",
            "<body style='background:#000'><p style='color:#fff'>seen</body>",
            "<style>body{background:#000;color:#fff}</style><body><p>seen</body>",
            "<body style='background:#fff;color:#fff'>seen</body>",
            "<table bgcolor='#000000'><tr><td style='color:#fff'>seen</table>",
            "<table><td background=x.png><span style='color:#fff'>seen</span></table>",
            "<div style='background:#000'><a href='https://x.example'>seen</a></div>",
            "<style>.dark .x{background:#000}</style><p class=x style='color:#fff'>seen</p>",
            "<style>@media(prefers-color-scheme:light){.x{color:#fff}}</style><p class=x>seen</p>",
            "<p style='background:linear-gradient(red,blue);-webkit-background-clip:text;color:transparent'>seen</p>",
        ] {
            assert!(text(seen).contains("seen"), "{seen}");
        }
    }

    #[test]
    fn hidden_text_is_counted_and_characters_without_glyphs_too() {
        let html = "<p>a&zwnj;b</p><div style='display:none'>x y &amp; z&nbsp;&zwnj;</div><!-- c --><img src='https://x.example/p.png' alt='d'>";
        assert_eq!(visible(html), VisibleText { text: "ab".to_owned(), removed: 5, is_cut: false });
        assert_eq!(visible(""), VisibleText::default());
    }

    #[test]
    fn a_link_shows_where_it_leads_and_hides_no_text() {
        for (href, shown) in [
            ("https://x.example/a?b=1&amp;c=2", "here (https://x.example/a?b=1&c=2)"),
            ("HTTPS:\\\\user:pw@X.example:8080\\p", "here (https://x.example:8080/p)"),
            ("https://x.example/ignore all&#10;é", "here (https://x.example/ignore%20all%0A%C3%A9)"),
            ("https://аpple.example/", "here (https://xn--pple-43d.example/)"),
            ("mailto:ada@example.com?body=ignore", "here (ada@example.com)"),
            ("https://ignore all/", "here"),
            ("javascript:x", "here"),
            ("#top", "here"),
        ] {
            assert_eq!(text(&format!("<a href=\"{href}\">here</a>")), shown, "{href}");
        }
        let long = format!("<a href='https://x.example/{}'>here</a>", "a".repeat(5_000));
        assert_eq!(text(&long), "here (https://x.example)");
        assert_eq!(text(&format!("<a href='https://{}.example'>here</a>", "ö".repeat(500_000))), "here");
        assert_eq!(text("<a href='https://x.example'>https://x.example</a>"), "https://x.example");
    }

    #[test]
    fn quotes_are_left_out_of_a_reply() {
        let html = "Yes<blockquote>No<blockquote>Perhaps</blockquote>?</blockquote>Bob";
        assert_eq!(visible_without_quotes(html).text, "Yes\nBob");
        assert_eq!(text(html), "Yes\nNo\nPerhaps\n?\nBob");
    }

    #[test]
    fn documents_of_any_size_take_linear_time() {
        let styled = |count: usize| "<b style='color:#fff;background:rgb(1,2,3)'>".repeat(count);
        let rule = |n: usize| format!(".a{n},.b{n} .c{{color:#fff;background:url(x) #000}}");
        for html in [
            "<p>text ".repeat(650_000),
            format!("{}seen", "<div>".repeat(100_000)),
            format!("{}seen", styled(100_000)),
            format!("<style>{}</style>seen", (0..50_000).map(rule).collect::<String>()),
            format!("<p style='{}'>seen", "color:rgb(1,2,3);".repeat(100_000)),
            format!("<p style='color:{}'>seen", "rgb(".repeat(200_000)),
            "<a href='https://x.example/y'>z</a>".repeat(100_000),
            "&zwnj;&#x200b;".repeat(300_000),
            format!("seen<!--{}", "<!--".repeat(1_000_000)),
        ] {
            let visible = visible(&html);
            assert!(visible.text.len() <= html.len());
            assert_eq!(visible.is_cut, html.len() > 2 << 20, "{html:.20}");
        }
    }

    /// HTML of the pieces that matter here.
    fn documents() -> impl Strategy<Value = String> {
        let pieces = "<p>|</p>|<div style='display:none'>|</div>|<b style='color:#fff'>|</b>|<a href='https://x.example/\u{200b}'>|</a>|\
            <blockquote>|</blockquote>|<table>|<td bgcolor=black>|</table>|&#x200b;|&zwnj;|&#xe0041;|&shy;|&#x202e;|\u{feff}|\u{e0041}|\
            \u{fe0f}|text|é|<|>|&amp;|<!--|-->|\u{0}|&#0;|&#x85;|\u{2028}| |\n";
        let pieces: Vec<&str> = pieces.split('|').collect();
        prop::collection::vec(prop::sample::select(pieces), 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn no_character_of_the_text_is_invisible(html in documents()) {
            let is_seen = |c: char| matches!(c, '\n' | '\t') || !c.is_control() && !super::is_ignorable(c);
            for visible in [visible(&html), visible_without_quotes(&html)] {
                prop_assert!(visible.text.chars().all(is_seen), "{:?}", visible.text);
                prop_assert!(!visible.is_cut);
            }
        }
    }
}
