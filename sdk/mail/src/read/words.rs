//! Encoded words (RFC 2047) that follow each other, as one. Many senders split a text between the bytes of a character, which can only be
//! decoded when the words are together.

use memchr::memmem;

/// Longest encoded word that is looked at, bytes. RFC 2047 2 says 75, some senders write a whole subject as one.
const WORD_BYTES: usize = 1_000;

/// The value with neighbours of the same charset and encoding joined; none where there are no such.
pub fn joined(value: &[u8]) -> Option<Vec<u8>> {
    let mut joined = Vec::with_capacity(value.len());
    let mut is_changed = false;
    let mut rest = value;
    while let Some(at) = memmem::find(rest, b"=?") {
        let (before, from) = rest.split_at(at);
        joined.extend_from_slice(before);
        let Some((head, len)) = word(from) else {
            joined.extend_from_slice(b"=?");
            rest = from.get(2..).unwrap_or_default();
            continue;
        };
        joined.extend_from_slice(from.get(..len).unwrap_or_default());
        rest = from.get(len..).unwrap_or_default();
        while let Some((next_head, next_len)) = word(rest.trim_ascii_start())
            && rest.first().is_some_and(u8::is_ascii_whitespace)
            && next_head.eq_ignore_ascii_case(head)
        {
            let next = rest.trim_ascii_start();
            joined.truncate(joined.len() - 2);
            joined.extend_from_slice(next.get(next_head.len()..next_len).unwrap_or_default());
            rest = next.get(next_len..).unwrap_or_default();
            is_changed = true;
        }
    }
    joined.extend_from_slice(rest);
    is_changed.then_some(joined)
}

/// `=?charset?encoding?` of the word that the text begins with, and the length of the word.
fn word(text: &[u8]) -> Option<(&[u8], usize)> {
    let text = text.get(..WORD_BYTES).unwrap_or(text);
    let charset = text.strip_prefix(b"=?")?;
    let head = 2 + memchr::memchr(b'?', charset)? + 3;
    if !matches!(text.get(head - 2..head)?, b"B?" | b"b?" | b"Q?" | b"q?") {
        return None;
    }
    let content = text.get(head..)?;
    let end = memmem::find(content, b"?=")?;
    let is_word = !content.get(..end)?.iter().any(u8::is_ascii_whitespace);
    is_word.then_some((text.get(..head)?, head + end + 2))
}

#[cfg(test)]
mod tests {
    use super::joined;

    #[test]
    fn neighbours_become_one() {
        let text = |value: &str| joined(value.as_bytes()).map(|joined| String::from_utf8(joined).unwrap());
        assert_eq!(
            text("x =?utf-8?Q?=C3?=\r\n =?UTF-8?q?=BC?= y").as_deref(),
            Some("x =?utf-8?Q?=C3=BC?= y")
        );
        assert_eq!(text("=?a?b?AA==?= =?a?b?BB==?= =?a?b?CC?=").as_deref(), Some("=?a?b?AA==BB==CC?="));
        for alone in [
            "",
            "=?a?b?AA?=",
            "=?a?b?AA?= =?b?b?AA?=",
            "=?a?b?AA?= =?a?q?A?=",
            "=?a?b?AA?=x =?a?b?AA?=",
            "=?=?=?",
            "=?a?b?A A?= =?a?b?",
        ] {
            assert_eq!(text(alone), None, "{alone}");
        }
    }
}
