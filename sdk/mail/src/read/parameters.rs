//! Parameters in pieces and in a charset (RFC 2231 3 and 4), each made one before the field is parsed.
//!
//! Not by mail-parser's own reader: it decodes each piece alone, so that a character that is cut between two is lost, and knows the
//! charset of the first one only.

use std::borrow::Cow;

use crate::read::charset;
use crate::read::end::End;
use crate::read::words;

/// One parameter, or a piece of one.
struct ParameterPiece<'a> {
    name: &'a [u8],
    number: u32,
    is_extended: bool,
    value: Vec<u8>,
}

/// The value of a field with `name*0*=…; name*1*=…` written as `name="=?utf-8?b?…?="`; none where there are no such.
///
/// They come before the others, for a name that is there in both ways is meant in this one (RFC 6266 4.3).
pub fn joined(field: &[u8]) -> Option<Vec<u8>> {
    memchr::memchr(b'*', field)?;
    let mut segments = segments(field).into_iter();
    let mut joined = segments.next()?.trim_ascii_end().to_vec();
    let (pieces, others): (Vec<_>, Vec<_>) =
        segments.map(|segment| piece(segment).ok_or(segment)).partition(Result::is_ok);
    let mut pieces: Vec<ParameterPiece<'_>> = pieces.into_iter().flatten().collect();
    if pieces.is_empty() {
        return None;
    }
    // Of several with one number the first counts.
    pieces.sort_by(|a, b| {
        (a.name.to_ascii_lowercase(), a.number).cmp(&(b.name.to_ascii_lowercase(), b.number))
    });
    pieces.dedup_by(|b, a| a.number == b.number && a.name.eq_ignore_ascii_case(b.name));
    for of_name in pieces.chunk_by(|a, b| a.name.eq_ignore_ascii_case(b.name)) {
        let name = of_name.first().map(|piece| piece.name).unwrap_or_default();
        joined.extend_from_slice(b"; ");
        joined.extend_from_slice(name);
        joined.extend_from_slice(b"=\"");
        joined.extend_from_slice(words::encoded(&text(of_name)).as_bytes());
        joined.push(b'"');
    }
    for other in others.into_iter().filter_map(Result::err) {
        joined.extend_from_slice(b";");
        joined.extend_from_slice(other);
    }
    Some(joined)
}

/// Splits a field at the semicolons outside of quotes.
fn segments(field: &[u8]) -> Vec<&[u8]> {
    let mut segments = Vec::new();
    let (mut start, mut is_quoted, mut is_escaped) = (0, false, false);
    for (at, byte) in field.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            b';' if !is_quoted => {
                segments.extend(field.get(start..at));
                start = at + 1;
            }
            _ => {}
        }
    }
    segments.extend(field.get(start..));
    segments
}

/// `name*=`, `name*0=` or `name*0*=` with its value.
fn piece(segment: &[u8]) -> Option<ParameterPiece<'_>> {
    let equals = memchr::memchr(b'=', segment)?;
    let left = segment.get(..equals)?.trim_ascii();
    let star = memchr::memchr(b'*', left)?;
    let name = left.get(..star)?.trim_ascii();
    let rest = left.get(star + 1..)?;
    let number = rest.strip_suffix(b"*").unwrap_or(rest);
    let is_name = !name.is_empty() && name.iter().all(|byte| byte.is_ascii_graphic() && *byte != b'"');
    if !is_name {
        return None;
    }
    let value = unquote(segment.get(equals + 1..)?.trim_ascii());
    if number.is_empty() {
        return Some(ParameterPiece { name, number: 0, is_extended: true, value });
    }
    let number: u32 = str::from_utf8(number).ok()?.parse().ok()?;
    Some(ParameterPiece { name, number, is_extended: number_is_extended(rest), value })
}

fn number_is_extended(rest: &[u8]) -> bool {
    rest.ends_with(b"*")
}

/// Without quotes, the backslashes in them and line ends.
fn unquote(value: &[u8]) -> Vec<u8> {
    let Some(quoted) = value.strip_prefix(b"\"") else {
        return value.iter().copied().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
    };
    let mut plain = Vec::with_capacity(quoted.len());
    let mut is_escaped = false;
    for byte in quoted {
        match byte {
            b'\r' | b'\n' => {}
            byte if is_escaped => {
                is_escaped = false;
                plain.push(*byte);
            }
            b'\\' => is_escaped = true,
            b'"' => break,
            byte => plain.push(*byte),
        }
    }
    plain
}

/// Joins and decodes all pieces of one name, in order. The first one names charset and language.
fn text(pieces: &[ParameterPiece<'_>]) -> String {
    let mut label = None;
    let mut bytes = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        let mut value = piece.value.as_slice();
        if at == 0 && piece.is_extended {
            let mut parts = value.splitn(3, |byte| *byte == b'\'');
            if let (Some(charset), Some(_), Some(rest)) = (parts.next(), parts.next(), parts.next()) {
                label = str::from_utf8(charset).ok();
                value = rest;
            }
        }
        if piece.is_extended {
            unescape(value, &mut bytes);
        } else {
            bytes.extend_from_slice(value);
        }
    }
    if !pieces.iter().any(|piece| piece.is_extended) {
        // Some senders cut a value of encoded words into pieces.
        return words::decoded(&bytes);
    }
    charset::text(Cow::Owned(bytes), label.filter(|label| !label.trim().is_empty()), End::Whole)
}

/// `%` and two digits are a byte; one without them stands for itself.
fn unescape(mut value: &[u8], bytes: &mut Vec<u8>) {
    while let Some((byte, after)) = value.split_first() {
        match words::hex(after).filter(|_| *byte == b'%') {
            Some(escaped) => {
                bytes.push(escaped);
                value = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*byte);
                value = after;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;

    use super::joined;

    /// The parameters that were joined, decoded.
    fn read(field: &str) -> String {
        let bytes: Vec<u8> = field.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
        let Some(joined) = joined(&bytes) else { return "none".to_owned() };
        let joined = String::from_utf8(joined).unwrap();
        let pieces = joined.split("=?utf-8?b?").enumerate().map(|(at, piece)| match piece.split_once("?=") {
            Some((word, rest)) if at > 0 => {
                format!("{}{rest}", String::from_utf8(STANDARD.decode(word).unwrap()).unwrap())
            }
            _ => piece.to_owned(),
        });
        pieces.collect()
    }

    #[test]
    fn pieces_become_one() {
        for (field, expected) in [
            ("a/b; x=y", "none"),
            ("a/b; x=\"*0*=\"", "none"),
            ("a*b/c; d=e", "none"),
            ("a/b; x*=utf-8'de'%C3%BC; y=z", "a/b; x=\"\u{fc}\"; y=z"),
            ("a; x*0*=utf-8''%C3;\r\n x*1*=%BC; x*2=%41", "a; x=\"\u{fc}%41\""),
            ("a; x*1*=%C1; y=1; X*0*=koi8-r''%C1", "a; X=\"\u{430}\u{430}\"; y=1"),
            ("a; x*0=\"b;\\\"c\"; x*1=d", "a; x=\"b;\"cd\""),
            ("a; x*0=\"=?utf-8?q?=C3\"; x*1=\"=BC?=\"", "a; x=\"\u{fc}\""),
            ("a; x=1; x*=''%C3%BC", "a; x=\"\u{fc}\"; x=1"),
            ("a; x*=%E4%zz%4", "a; x=\"\u{e4}%zz%4\""),
            ("a; x*0*=utf-8''a; x*0*=utf-8''b; x*2*=c", "a; x=\"ac\""),
            ("a; x*99999999999=y; *=z", "none"),
            ("a; x*=utf-8''\u{e4}%C3%BC", "a; x=\"\u{fffd}\u{fc}\""),
        ] {
            assert_eq!(read(field), expected, "{field}");
        }
    }
}
