//! The texts of content lines, which iCalendar (RFC 5545) and vCard (RFC 6350) write alike.

/// Longest line on the wire, in octets, without its end (RFC 5545 section 3.1, RFC 6350 section 3.2).
const LINE: usize = 75;

/// Text with `\n` for line breaks and no other control characters but the tab.
pub fn plain(text: &str) -> String {
    text.replace("\r\n", "\n").chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

/// Text without any control character: as part of a line it can never begin another one.
pub fn one_line(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

/// Returns the text after a prefix that may be written in any case: a scheme, a URN.
pub fn without_prefix<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let (head, rest) = text.split_at_checked(prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// A parameter's value: without its quotes, RFC 6868 resolved.
pub fn param(raw: &str) -> String {
    let bare = raw.strip_prefix('"').map_or(raw, |rest| rest.strip_suffix('"').unwrap_or(rest));
    if !bare.contains('^') {
        return bare.to_owned();
    }
    let mut text = String::with_capacity(bare.len());
    let mut characters = bare.chars().peekable();
    while let Some(character) = characters.next() {
        let meant = match (character, characters.peek()) {
            ('^', Some('n' | 'N')) => '\n',
            ('^', Some('\'')) => '"',
            ('^', Some('^')) => '^',
            _ => {
                text.push(character);
                continue;
            }
        };
        characters.next();
        text.push(meant);
    }
    text
}

/// A parameter's value as it is written: RFC 6868, and quotes where RFC 5545 section 3.2 asks for them.
pub fn raw_param(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for character in value.chars() {
        match character {
            '^' => text.push_str("^^"),
            '"' => text.push_str("^'"),
            '\n' => text.push_str("^n"),
            c if c.is_control() => {}
            c => text.push(c),
        }
    }
    if text.contains([':', ';', ',']) { format!("\"{text}\"") } else { text }
}

/// Lines that end with CRLF, also those that lost their CR on the way here inside XML.
pub fn crlf(text: String) -> String {
    if text.bytes().filter(|b| *b == b'\n').count() == text.matches("\r\n").count() {
        return text;
    }
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}

/// A logical line as lines of at most 75 octets, without the last line's end. Characters stay whole.
pub fn fold(line: &str) -> String {
    let mut folded = String::with_capacity(line.len() + line.len() / LINE * 3);
    let mut length = 0;
    for character in line.chars() {
        if length + character.len_utf8() > LINE {
            folded.push_str("\r\n ");
            length = 1;
        }
        folded.push(character);
        length += character.len_utf8();
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn long_lines_are_folded_between_characters() {
        assert_eq!(fold(&"a".repeat(75)), "a".repeat(75));
        let folded = fold(&"ü".repeat(100));
        assert!(folded.split("\r\n").all(|line| line.len() <= 75), "{folded}");
        assert_eq!(folded.replace("\r\n ", ""), "ü".repeat(100));
    }
}
