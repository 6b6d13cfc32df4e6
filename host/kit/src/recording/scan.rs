//! Finds secrets in a text by their context: names, authentication schemes, known token formats.

use std::ops::Range;

use crate::recording::names::{NamePlace, is_secret_name, is_secret_of_prose};

/// The shortest token that is found by its format or scheme alone, in bytes.
const MIN_TOKEN: usize = 20;
/// The shortest value that can look machine-made, in bytes.
const MIN_RANDOM: usize = 8;
/// Authentication schemes (RFC 9110, section 11; RFC 9449; AWS, Azure).
const SCHEMES: [&str; 11] = [
    "aws4-hmac-sha256",
    "basic",
    "bearer",
    "digest",
    "dpop",
    "hawk",
    "mac",
    "negotiate",
    "oauth",
    "sharedkey",
    "token",
];
/// Prefixes of tokens with a documented format: AWS, GitHub, GitLab, Google, Slack, Stripe, SendGrid, npm.
const SHAPES: [&str; 20] = [
    "AIza",
    "AKIA",
    "ASIA",
    "SG.",
    "eyJ",
    "ghp_",
    "gho_",
    "ghr_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "npm_",
    "rk_live_",
    "sk_live_",
    "sk_test_",
    "xoxa-",
    "xoxb-",
    "xoxp-",
    "ya29.",
];
const PRIVATE: &str = "private-";
/// The minimum length of the secret after it, in bytes.
const MIN_PRIVATE: usize = 16;
const PEM_BEGIN: &str = "-----BEGIN ";
const PEM_END: &str = "-----END ";

/// A range of a text that holds a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretPlace {
    pub range: Range<usize>,
    /// Whether the value is replaced in other texts too, because it looks random.
    pub is_sought: bool,
}

/// The scheme and the rest of a value such as `Bearer abc`.
pub fn split_scheme(value: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = value.trim().split_once(' ')?;
    let is_scheme = SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(scheme));
    Some((scheme, rest.trim())).filter(|(_, rest)| is_scheme && !rest.is_empty())
}

/// The ranges of URLs in a text.
pub fn urls(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = find(text, from, "://") {
        let before = text.get(from..at).unwrap_or_default();
        let is_scheme = |c: &char| c.is_ascii_alphanumeric() || "+-.".contains(*c);
        let scheme = before.chars().rev().take_while(is_scheme).count();
        let after = at + "://".len();
        let rest = text.get(after..).unwrap_or_default();
        let is_end = |c: char| c.is_whitespace() || c.is_control() || "<>\"'`{}|\\^".contains(c);
        let rest = rest.split(is_end).next().unwrap_or_default();
        let end = after + rest.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']']).len();
        if scheme > 0 && end > after {
            found.push(at - scheme..end);
        }
        from = end.max(after);
    }
    found
}

/// Returns the secrets in a text from left to right, without overlaps. `keeps` returns whether the author chose to keep the values of a
/// name.
pub fn secret_places(text: &str, keeps: &dyn Fn(&str) -> bool) -> Vec<SecretPlace> {
    let mut found = private_keys(text);
    found.extend(userinfo(text));
    found.extend(bots(text));
    found.extend(arguments(text));
    found.extend(values_after_names(text, keeps));
    found.extend(tokens(text));
    found.retain(|place| !place.range.is_empty());
    found.sort_by_key(|place| (place.range.start, std::cmp::Reverse(place.range.end)));
    let mut apart: Vec<SecretPlace> = Vec::new();
    for place in found {
        match apart.last_mut() {
            Some(last) if place.range.start < last.range.end => {
                last.range.end = last.range.end.max(place.range.end);
                last.is_sought |= place.is_sought;
            }
            _ => apart.push(place),
        }
    }
    apart
}

/// The position of `what` in a text at or after `from`.
fn find(text: &str, from: usize, what: &str) -> Option<usize> {
    Some(from + text.get(from..)?.find(what)?)
}

/// Finds private keys in PEM (RFC 7468): the content between the BEGIN and END lines.
fn private_keys(text: &str) -> Vec<SecretPlace> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = find(text, from, PEM_BEGIN) {
        let label = text.get(at + PEM_BEGIN.len()..).and_then(|rest| rest.split_once("-----"));
        let Some((label, _)) = label else { break };
        let start = at + PEM_BEGIN.len() + label.len() + "-----".len();
        from = start;
        if label.ends_with("PRIVATE KEY") {
            from = find(text, start, PEM_END).unwrap_or(text.len());
            found.push(SecretPlace { range: start..from, is_sought: true });
        }
    }
    found
}

/// Finds user names and passwords in URLs (RFC 3986, section 3.2.1). A user name that is an email address is replaced as an address.
fn userinfo(text: &str) -> Vec<SecretPlace> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = find(text, from, "://") {
        from = at + "://".len();
        let rest = text.get(from..).unwrap_or_default();
        let end = |c: char| c.is_whitespace() || "/?#<>\"'`\\".contains(c);
        let authority = rest.split(end).next().unwrap_or_default();
        let Some((userinfo, _)) = authority.rsplit_once('@') else { continue };
        let (user, password) = userinfo.split_once(':').unwrap_or((userinfo, ""));
        if !user.contains('@') && !user.contains("%40") {
            found.push(SecretPlace { range: from..from + user.len(), is_sought: is_random(user) });
        }
        let start = from + userinfo.len() - password.len();
        found.push(SecretPlace { range: start..from + userinfo.len(), is_sought: true });
    }
    found
}

/// Finds bot tokens in paths: `/bot123456:abc/`.
fn bots(text: &str) -> Vec<SecretPlace> {
    const BOT: &str = "bot";
    let token = |at: usize| {
        let rest = text.get(at + BOT.len()..)?;
        let value = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let start = text.len() - value.len() + 1;
        let value = value.strip_prefix(':').filter(|_| rest.starts_with(|c: char| c.is_ascii_digit()))?;
        let is_part = |c: &char| c.is_ascii_alphanumeric() || "-_".contains(*c);
        let length = value.chars().take_while(is_part).count();
        (length >= MIN_RANDOM).then_some(SecretPlace { range: start..start + length, is_sought: true })
    };
    text.match_indices(BOT).filter_map(|(at, _)| token(at)).collect()
}

/// Finds passwords in commands: `curl -u name:password`.
fn arguments(text: &str) -> Vec<SecretPlace> {
    let password = |end: usize| {
        let word = text.get(end..)?.trim_start_matches([' ', '"', '\'']);
        let start = text.len() - word.len();
        let word = word.split(|c: char| c.is_whitespace() || c == '"' || c == '\'').next()?;
        let colon = word.find(':')?;
        Some(SecretPlace { range: start + colon + 1..start + word.len(), is_sought: true })
    };
    let options = ["-u ", "--user "].into_iter().flat_map(|option| text.match_indices(option));
    let is_word = |at: usize| text.get(..at).is_some_and(|before| before.ends_with(char::is_whitespace));
    let options = options.filter(|(at, _)| is_word(*at));
    options.filter_map(|(at, option)| password(at + option.len())).collect()
}

/// Finds values after names of secrets: `name=value` and `name: value`, with or without quotes around the name.
fn values_after_names(text: &str, keeps: &dyn Fn(&str) -> bool) -> Vec<SecretPlace> {
    let mut found: Vec<SecretPlace> = Vec::new();
    for (at, sign) in text.match_indices(['=', ':']) {
        if found.last().is_some_and(|last| at < last.range.end) {
            continue;
        }
        let before =
            text.get(..at).unwrap_or_default().trim_end_matches([' ', '\t', '"', '\'', '\\', '*', '`']);
        // The host in `host.test:443` is not a name.
        let separators = if sign == "=" { "-_." } else { "-_" };
        let is_part = |c: &char| c.is_ascii_alphanumeric() || separators.contains(*c);
        let length = before.chars().rev().take_while(is_part).count();
        let (head, name) = before.split_at_checked(before.len() - length).unwrap_or((before, ""));
        if name.is_empty() || keeps(name) {
            continue;
        }
        // Distinguishes a parameter of a query, form, cookie or header from prose.
        let is_parameter = head.is_empty()
            || head.ends_with(['?', '&', '#', ';'])
            || head.ends_with("; ")
            || head.ends_with(", ");
        let is_secret = match is_parameter && sign == "=" {
            true => is_secret_name(name, NamePlace::Parameter),
            false => is_secret_of_prose(name),
        };
        if is_secret && let Some(range) = value_behind(text, at + 1, sign) {
            let value = text.get(range.clone()).unwrap_or_default();
            found.push(SecretPlace { is_sought: is_random(value), range });
        }
    }
    found
}

/// Returns the range of the value after the sign `=` or `:`: a quoted string, or one word. In `Bearer abc` the value is `abc`.
fn value_behind(text: &str, from: usize, sign: &str) -> Option<Range<usize>> {
    let mut value = text.get(from..)?.trim_start_matches([' ', '\t', '\\', '*', '>']);
    let next_line = value.strip_prefix("\r\n").or_else(|| value.strip_prefix('\n'));
    if let Some(next) = next_line {
        // `Password:` may be on its own line, with the value as the only word of the next.
        let word = next.lines().next()?.trim();
        if sign != ":" || word.is_empty() || word.contains([' ', '\t', ':']) {
            return None;
        }
        value = next.trim_start_matches([' ', '\t']);
    }
    let start = text.len() - value.len();
    if let Some(quote) = value.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        let escapes = text.get(..start)?.chars().rev().take_while(|c| *c == '\\').count();
        let value = quoted_text(value.get(1..)?, quote, escapes);
        let scheme = split_scheme(value).map_or(0, |(_, rest)| value.len() - rest.len());
        return Some(start + 1 + scheme..start + 1 + value.len());
    }
    // An equals sign may be followed by more parameters.
    let is_separator = |c: char| sign == "=" && "&;#".contains(c);
    let is_end = |c: char| c.is_control() || " <>\"'`\\".contains(c) || is_separator(c);
    let mut word = value.split(is_end).next()?;
    let mut skipped = 0;
    if SCHEMES.iter().any(|scheme| scheme.eq_ignore_ascii_case(word)) {
        let rest = value.get(word.len()..)?.trim_start_matches(' ');
        skipped = value.len() - rest.len();
        word = rest.split(is_end).next()?;
    }
    let word = word.trim_end_matches([',', '.', ';', ')', ']', '}']);
    Some(start + skipped..start + skipped + word.len())
}

/// Returns a value in quotes. The closing quote has as many backslashes before it as the opening one; a quote with more is part of the
/// value.
fn quoted_text(text: &str, quote: char, escapes: usize) -> &str {
    let mut backslashes = 0;
    for (at, c) in text.char_indices() {
        let is_end = c == quote && (backslashes < escapes || backslashes % (2 * (escapes + 1)) == escapes);
        if is_end || c == '\n' {
            let before = if is_end { backslashes.min(escapes) } else { 0 };
            return text.get(..at - before).unwrap_or_default();
        }
        backslashes = if c == '\\' { backslashes + 1 } else { 0 };
    }
    text
}

/// Finds words that are tokens, by their format or by the authentication scheme before them.
fn tokens(text: &str) -> Vec<SecretPlace> {
    let mut found = Vec::new();
    let (mut start, mut is_behind_scheme) = (0, false);
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_.~+/=".contains(c);
    for piece in text.split_inclusive(|c: char| !is_part(c)) {
        let word = piece.trim_end_matches(|c: char| !is_part(c));
        // A URL is a word with dots and slashes: each segment is checked.
        let mut from = start;
        for part in word.split('/') {
            let token = part.trim_end_matches('.');
            let has_shape = SHAPES.iter().any(|shape| token.starts_with(shape)) && has_token_shape(token);
            if has_shape {
                found.push(SecretPlace { range: from..from + token.len(), is_sought: true });
            }
            // The private URL of a calendar.
            if let Some(rest) = token.strip_prefix(PRIVATE)
                && rest.len() >= MIN_PRIVATE
                && rest.chars().all(|c| c.is_ascii_alphanumeric())
                && is_random(rest)
            {
                let end = from + token.len();
                found.push(SecretPlace { range: end - rest.len()..end, is_sought: true });
            }
            from += part.len() + 1;
        }
        if is_behind_scheme && word.len() >= MIN_RANDOM && is_random(word) {
            let length = word.trim_end_matches('.').len();
            found.push(SecretPlace { range: start..start + length, is_sought: true });
        }
        is_behind_scheme = piece.ends_with(' ')
            && ["bearer", "basic", "dpop", "token"].iter().any(|scheme| scheme.eq_ignore_ascii_case(word));
        start += piece.len();
    }
    found
}

/// Whether a word after a known prefix is a token: a JSON Web Token with two, three or five parts (RFC 7519), or any other word of the
/// minimum length.
fn has_token_shape(token: &str) -> bool {
    let is_jwt = [2, 3, 5].contains(&token.split('.').count());
    token.len() >= MIN_TOKEN && (!token.starts_with("eyJ") || is_jwt)
}

/// Returns whether a value looks random: letters mixed with digits, or longer than words are.
pub fn is_random(value: &str) -> bool {
    let has = |is: fn(&char) -> bool| value.chars().any(|c| is(&c));
    let is_mixed = has(char::is_ascii_digit) && has(char::is_ascii_alphabetic);
    value.len() >= MIN_RANDOM && (is_mixed || (value.len() >= MIN_TOKEN && !value.contains(' ')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find_secrets(text: &str) -> Vec<&str> {
        secret_places(text, &|_| false).into_iter().map(|place| text.get(place.range).unwrap()).collect()
    }

    #[test]
    fn secrets_are_found_by_their_names() {
        for (text, secrets) in [
            ("api_key=abc&a=1", &["abc"][..]),
            ("/x?a=1&sig=a%2Fb&code=c1#access_token=t", &["a%2Fb", "c1", "t"]),
            ("a=b; sid=x1; Path=/", &["x1"]),
            ("GET / HTTP/1.1\r\nAuthorization: Bearer abc\r\nHost: a", &["abc"]),
            ("{\"access_token\": \"a b\", \"n\": 1", &["a b"]),
            ("{\\\"clientSecret\\\":\\\"abc\\\"}", &["abc"]),
            ("AccountName=n;AccountKey=a+b/c==;x=1", &["a+b/c=="]),
            ("the password: hunter2, and more", &["hunter2"]),
            ("password:\tabc\nx-api-key:\tdef", &["abc", "def"]),
            ("Password:\nabc\nmore", &["abc"]),
            ("Forgot password:\nclick here\nX-Token:\r\nHost:a", &[]),
            ("**Password:** abc, `token`: def", &["abc", "def"]),
            ("password => abc", &["abc"]),
            ("password: a;b&c#d e", &["a;b&c#d"]),
            ("{\"password\": \"ab\\\"cd", &["ab\\\"cd"]),
            ("\"password\": \"ab\\\\\", \"n\": \"x\"", &["ab\\\\"]),
            ("{\\\"password\\\":\\\"a\\\\\\\"b\\\"}", &["a\\\\\\\"b"]),
            ("curl -u ann:abc https://a.test; curl --user 'ann:def' x-u a:b", &["abc", "def"]),
            ("the key: C major, code: none and pin=board", &[]),
            ("BEGIN:VTODO\r\nSUMMARY:state=open\r\n", &[]),
        ] {
            assert_eq!(find_secrets(text), secrets, "{text}");
        }
    }

    #[test]
    fn secrets_are_found_by_their_shape() {
        for (text, secrets) in [
            ("ftp://ann:pw@a.test/x and https://tok-12345@b.test", &["ann", "pw", "tok-12345"][..]),
            ("https://ann@home.org:pw@a.test/", &["pw"]),
            ("as Bearer abcdef123456.", &["abcdef123456"]),
            ("Basic information, Bearer authentication", &[]),
            ("Token abcdef123456, token information", &["abcdef123456"]),
            ("/ical/x/private-0123456789abcdef0123/basic.ics", &["0123456789abcdef0123"]),
            ("/ical/private-appointments/private-event-2024-notes", &[]),
            ("/bot12:abcdef-123/x, robot1: abcdefghij", &["abcdef-123"]),
            (
                "see eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln.",
                &["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"],
            ),
            ("/bot/ghp_0123456789abcdef0123/x", &["ghp_0123456789abcdef0123"]),
            (
                "-----BEGIN PRIVATE KEY-----\nMIIC\n-----END PRIVATE KEY-----\n-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
                &["\nMIIC\n"],
            ),
        ] {
            assert_eq!(find_secrets(text), secrets, "{text}");
        }
    }

    #[test]
    fn a_url_ends_where_the_sentence_goes_on() {
        let text = "(see https://a.test/x?y=1.), <webcal://b.test/z>; \"c+d://e\" :// f";
        let found: Vec<&str> = urls(text).into_iter().map(|range| text.get(range).unwrap()).collect();
        assert_eq!(found, ["https://a.test/x?y=1", "webcal://b.test/z", "c+d://e"]);
    }
}
