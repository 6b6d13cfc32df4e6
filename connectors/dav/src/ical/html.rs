//! HTML as plain text, for readers that have no other: DESCRIPTION beside its HTML form.

/// Elements whose content is no text.
const UNSEEN: [&str; 4] = ["script", "style", "head", "title"];
/// Elements that begin a line of their own.
const BLOCKS: [&str; 14] =
    ["p", "div", "br", "li", "ul", "ol", "tr", "table", "h1", "h2", "h3", "h4", "blockquote", "pre"];
/// Longest character reference that is resolved, without `&` and `;`.
const LONGEST_REFERENCE: usize = 8;

/// What a reader sees of it: blocks as lines, references resolved, everything between `<` and `>` gone. No parser: what is no HTML
/// comes out as some text, never as a failure.
pub fn to_text(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        // What never closes is no tag.
        let Some(end) = rest[at..].find('>') else { break };
        push_text(&mut out, &rest[..at]);
        let tag = &rest[at + 1..at + end];
        let name = name(tag);
        rest = &rest[at + end + 1..];
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

/// What follows the end of an element.
fn behind<'t>(text: &'t str, name: &str) -> &'t str {
    let mut rest = text;
    while let Some(at) = rest.find("</") {
        rest = &rest[at + 2..];
        if rest.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name)) {
            return rest.find('>').map_or("", |end| &rest[end + 1..]);
        }
    }
    ""
}

/// Text with white space as HTML shows it, and with references resolved.
fn push_text(out: &mut String, text: &str) {
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        rest = &rest[character.len_utf8()..];
        match character {
            ' ' | '\t' | '\r' | '\n' if out.is_empty() || out.ends_with([' ', '\n']) => {}
            ' ' | '\t' | '\r' | '\n' => out.push(' '),
            '&' => match reference(rest) {
                Some((meant, after)) => {
                    out.push(meant);
                    rest = after;
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
    let name = &text[..end];
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
    Some((meant, &text[end + 1..]))
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
