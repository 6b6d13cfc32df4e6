//! Addresses in the lines of a report.

use crate::read::limits::TOKEN_BYTES;

/// How many spaces a line begins with; a tab counts as one.
pub fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The address at the beginning of a line, without brackets and quotes, and the rest of the line: `<a@b.example>: no such user`.
pub fn address_at(text: &str) -> Option<(String, &str)> {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || "*\u{2022}->".contains(c));
    let text = text.trim_start_matches(['<', '"', '\'', '[']);
    let text = ["mailto:", "smtp:", "rfc822;"].iter().find_map(|kind| after_kind(text, kind)).unwrap_or(text);
    let end = text.find(|c: char| c.is_whitespace() || "<>()[],;\"'".contains(c)).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let address = word.trim_end_matches([':', '.']);
    let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || ">\"'],:;".contains(c));
    is_address(address).then(|| (address.to_owned(), rest))
}

fn after_kind<'a>(text: &'a str, kind: &str) -> Option<&'a str> {
    text.get(..kind.len())
        .filter(|begin| begin.eq_ignore_ascii_case(kind))
        .and_then(|_| text.get(kind.len()..))
}

/// The address after a label, and the rest of the line.
pub fn address_after(text: &str) -> Option<(String, &str)> {
    address_at(text.trim_start_matches(|c: char| c.is_whitespace() || ":='".contains(c)))
}

/// The first address in brackets of a line: `Ada (ada@b.example)`.
pub fn address_within(text: &str) -> Option<(String, &str)> {
    let begins = text.match_indices(['<', '(']).take(20);
    begins.filter_map(|(at, begin)| address_at(text.get(at + begin.len()..)?)).next()
}

/// The address that a message was sent to, where an alias or a list made another one of it, and what follows:
/// `(generated from ada@b.example)`, `(expanded from: <ada@b.example>)`.
pub fn generated_from(text: &str) -> (Option<String>, &str) {
    let begins = ["(generated from", "(expanded from", "(forwarded from"];
    let Some(inner) = begins.iter().find_map(|begin| text.trim_start().strip_prefix(begin)) else {
        return (None, text);
    };
    let Some((address, rest)) = address_after(inner) else { return (None, text) };
    (Some(address), rest.trim_start_matches(['>', ')', ':', ' ']))
}

fn is_address(word: &str) -> bool {
    let Some((local, domain)) = word.rsplit_once('@') else { return false };
    let is_named = |c: char| c.is_alphanumeric() || "-._".contains(c);
    !local.is_empty()
        && word.len() <= TOKEN_BYTES
        && !local.contains('@')
        && !local.contains(|c: char| c.is_control() || "=:".contains(c) && local.starts_with(c))
        && domain.chars().all(is_named)
        && domain.starts_with(|c: char| c.is_alphanumeric())
}
