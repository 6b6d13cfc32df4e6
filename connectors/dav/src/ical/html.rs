//! HTML as plain text, for readers that have no other: DESCRIPTION beside its HTML form.

use crate::text::without_prefix;

/// Elements whose content is no text.
const UNSEEN: [&str; 4] = ["script", "style", "head", "title"];
/// Elements that begin a line of their own.
const BLOCKS: [&str; 14] =
    ["p", "div", "br", "li", "ul", "ol", "tr", "table", "h1", "h2", "h3", "h4", "blockquote", "pre"];
/// Longest character reference that is resolved, without `&` and `;`.
const LONGEST_REFERENCE: usize = 8;

/// Renders HTML as plain text: blocks as lines, references resolved, everything between `<` and `>` gone. No parser: text that is no HTML
/// comes out as some text, never as a failure.
pub fn to_text(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some((text, tag_on)) = rest.split_once('<') {
        // What never closes is no tag.
        let Some((tag, after)) = tag_on.split_once('>') else { break };
        push_text(&mut out, text);
        let name = name(tag);
        rest = after;
        if UNSEEN.contains(&name.as_str()) && !tag.starts_with('/') {
            rest = behind(rest, &name);
        } else if BLOCKS.contains(&name.as_str()) && (name == "br" || !out.ends_with('\n')) {
            trim_end(&mut out);
            out.push('\n');
        }
    }
    push_text(&mut out, rest);
    out.trim().to_owned()
}

fn name(tag: &str) -> String {
    let tag = tag.trim_start_matches('/');
    tag.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default().to_ascii_lowercase()
}

/// Returns the text after the end tag of an element.
fn behind<'t>(text: &'t str, name: &str) -> &'t str {
    let mut rest = text;
    while let Some((_, tag)) = rest.split_once("</") {
        if without_prefix(tag, name).is_some() {
            return tag.split_once('>').map_or("", |(_, after)| after);
        }
        rest = tag;
    }
    ""
}

/// Text with white space as HTML shows it, and with references resolved.
fn push_text(out: &mut String, text: &str) {
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        match character {
            ' ' | '\t' | '\r' | '\n' if out.is_empty() || out.ends_with([' ', '\n']) => {}
            ' ' | '\t' | '\r' | '\n' => out.push(' '),
            '&' => match reference(rest.as_str()) {
                Some((meant, after)) => {
                    out.push(meant);
                    rest = after.chars();
                }
                None => out.push('&'),
            },
            other => out.push(other),
        }
    }
}

/// A character reference, and what follows it.
fn reference(text: &str) -> Option<(char, &str)> {
    let end = text.bytes().take(LONGEST_REFERENCE + 1).position(|byte| byte == b';')?;
    let (name, after) = text.split_at_checked(end)?;
    let meant = match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        _ => {
            let digits = name.strip_prefix('#')?;
            let code = match digits.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => digits.parse(),
            };
            char::from_u32(code.ok()?)?
        }
    };
    Some((meant, after.strip_prefix(';')?))
}

fn trim_end(out: &mut String) {
    out.truncate(out.trim_end_matches(' ').len());
}

#[cfg(test)]
mod tests {
    use super::to_text;

    #[test]
    fn a_reader_sees_lines_and_characters() {
        let html = "<html><head><title>no</title><STYLE>p { a: b }</style></head><body>\r\n <p>Buy &amp; <b>carry</b></p>\
            <ul><li>milk&nbsp;&#49;&#x4C;</li><li>eggs</li></ul>a<br>b<br/><br>c</body></html>";
        assert_eq!(to_text(html), "Buy & carry\nmilk 1L\neggs\na\nb\n\nc");
        assert_eq!(to_text("plain, a < b"), "plain, a < b");
        assert_eq!(to_text("&bogus; & &#xFFFFFFFF; ü&é;"), "&bogus; & &#xFFFFFFFF; ü&é;");
        assert_eq!(to_text(""), "");
    }

    #[test]
    fn what_never_ends_is_read_once() {
        assert_eq!(to_text(&"<script>".repeat(100_000)), "");
        assert_eq!(to_text(&"<".repeat(100_000)).len(), 100_000);
        assert_eq!(to_text(&"&".repeat(100_000)).len(), 100_000);
    }
}
