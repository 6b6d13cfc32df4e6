//! HTML as plain text: for searching, and with its lines and the addresses of its links for a message that is passed on to programs that
//! show no HTML.

use mail_parser::decoders::html::html_to_text;

use crate::characters::{cut_at, without_smuggled};
use crate::html::options::INPUT_BYTES;
use crate::html::tags::{Kind, tag};
use crate::html::tidy::visible_html;
use crate::html::token::{Token, Tokens};

/// The text of an HTML document that a reader sees, for snippets and searching: no layout, no links. At most the first 2 MiB are read.
pub fn to_text(html: &str) -> String {
    without_smuggled(html_to_text(&visible_html(cut_at(html, INPUT_BYTES))))
}

/// The end of a line, as `html_to_text` reads it.
const END: &str = "<br>";

/// Returns the text of an HTML document: a line for each block, item and row, a blank between cells, the address of a link behind its
/// text. Scripts, styles, forms and content that its writer hid are removed. Time and memory are linear in the HTML.
pub fn plain(html: &str) -> String {
    let link = |href: &str| is_address(href).then(|| format!("&lt;{}&gt;", href.replace('<', "%3C")));
    without_smuggled(lines(&visible_html(html), true, link))
}

/// The lines of tidied HTML, with or without those in a `blockquote`. `link` returns the HTML that stands behind the text of a link with
/// this `href`, none for no address.
pub fn lines(html: &str, with_quotes: bool, link: impl Fn(&str) -> Option<String>) -> String {
    let mut simple = String::with_capacity(html.len());
    // The address of the open link, and where its text begins.
    let mut open: Option<(&str, usize)> = None;
    // Quotes that are open.
    let mut quotes = 0_usize;
    for token in Tokens::new(html) {
        match &token {
            Token::Start(name, _) if name == "blockquote" => quotes += 1,
            Token::End(name) if name == "blockquote" => quotes = quotes.saturating_sub(1),
            _ => {}
        }
        if quotes > 0 && !with_quotes {
            continue;
        }
        match token {
            Token::Text(text) if simple.ends_with(END) => simple.push_str(text.trim_start()),
            Token::Text(text) => simple.push_str(text),
            Token::LessThan => simple.push_str("&lt;"),
            Token::Style(..) => (),
            Token::Start(name, attributes) if name == "a" => {
                let href = attributes.iter().find(|(name, _)| *name == "href").map(|(_, value)| value.trim());
                open = href.map(|href| (href, simple.len()));
            }
            Token::End(name) if name == "a" => {
                if let Some((href, start)) = open.take()
                    && simple.get(start..).is_none_or(|shown| !shown.contains(href))
                    && let Some(address) = link(href)
                {
                    simple.extend([" ", &address]);
                }
            }
            Token::Start(name, _) => mark(&mut simple, &name, true),
            Token::End(name) => mark(&mut simple, &name, false),
        }
    }
    tidied(&html_to_text(&simple))
}

/// Whether a reader can open the link. Other schemes act, or refer to parts of the message itself.
fn is_address(href: &str) -> bool {
    ["http://", "https://", "mailto:"]
        .iter()
        .any(|scheme| href.get(..scheme.len()).is_some_and(|head| head.eq_ignore_ascii_case(scheme)))
}

/// Writes the text form of a tag: the end of a line that is not ended yet, an empty line after a paragraph, a blank between cells.
fn mark(simple: &mut String, name: &str, is_start: bool) {
    match tag(name) {
        Some(("br" | "hr", _)) => simple.push_str(END),
        Some(("p", _)) if !is_start => simple.extend([END, END]),
        Some((name, Kind::Block | Kind::Item | Kind::Table | Kind::Row)) => {
            if !simple.ends_with(END) {
                simple.push_str(END);
            }
            if name == "li" && is_start {
                simple.push_str("- ");
            }
        }
        Some((_, Kind::Cell)) => simple.push(' '),
        _ => (),
    }
}

/// Lines without blanks at their ends, and no two empty ones in a row.
fn tidied(text: &str) -> String {
    let mut tidied = String::with_capacity(text.len());
    let mut is_empty = true;
    for line in text.lines().map(str::trim) {
        if line.is_empty() {
            is_empty = true;
            continue;
        }
        if !tidied.is_empty() {
            tidied.push_str(if is_empty { "\n\n" } else { "\n" });
        }
        tidied.push_str(line);
        is_empty = false;
    }
    tidied
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn a_text_has_the_lines_of_the_html() {
        for (html, text) in [
            ("<p>One &amp; <b>two</b></p>", "One & two"),
            ("a<br>b<br/>c", "a\nb\nc"),
            ("<div>a</div>\n<div>b</div><p>c</p><p>d</p>", "a\nb\nc\n\nd"),
            ("<ul><li>a</li><li>b</li></ul>", "- a\n- b"),
            ("<table><tr><td>a</td><td>b</td></tr></table>", "a b"),
            ("<style type=\"text/css\">p { color: red }</style><title>t</title>x<script>y</script>", "x"),
            ("<a href=\"https://x.example/?a&amp;b\">here</a>", "here <https://x.example/?a&b>"),
            ("<a href=\"https://x.example\">https://x.example</a>", "https://x.example"),
            ("<a href=\"javascript:x\">here</a><a href='#top'>top</a>", "heretop"),
            ("a < b", "a < b"),
            ("", ""),
        ] {
            assert_eq!(plain(html), text, "{html}");
        }
    }
}
