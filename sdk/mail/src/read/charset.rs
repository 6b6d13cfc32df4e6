//! Decodes the bytes of a text in the charset that the sender names; invalid bytes become U+FFFD. The charset is guessed only if none is
//! named, or if the bytes cannot be in the named one.

use std::borrow::Cow;
use std::str::Utf8Error;

use encoding_rs::{CoderResult, EUC_KR, Encoding as Charset, GBK, ISO_2022_JP, REPLACEMENT};
use encoding_rs::{UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use mail_parser::decoders::charsets::map::charset_decoder;
use memchr::memmem;

use crate::read::end::End;
use crate::read::utf7;

/// The charset that a label names.
#[derive(Clone, Copy)]
enum NamedCharset {
    Known(&'static Charset),
    Ascii,
    Utf7,
    /// ISO-2022-KR (RFC 1557), and the GB 2312 part of ISO-2022-CN (RFC 1922): two bytes per character between SO and SI.
    Shifted(&'static Charset),
    /// HZ-GB-2312 (RFC 1843).
    Hz,
    Ibm850,
    Unknown,
}

/// Decodes a text in the charset that its sender names.
pub fn text(bytes: Cow<'_, [u8]>, label: Option<&str>, end: End) -> String {
    match label.map_or(NamedCharset::Unknown, charset_for_label) {
        NamedCharset::Known(charset) if charset == UTF_8 => utf_8(bytes, end),
        NamedCharset::Known(charset) if charset == UTF_16LE || charset == UTF_16BE => {
            utf_16(bytes, label.unwrap_or_default(), charset, end)
        }
        NamedCharset::Known(charset) if charset == ISO_2022_JP && !has_escapes(&bytes) => guessed(bytes, end),
        NamedCharset::Known(charset) => decoded(charset, &bytes, end),
        NamedCharset::Utf7 if !bytes.is_ascii() && !bytes.contains(&b'+') => guessed(bytes, end),
        NamedCharset::Utf7 => utf7::decode(&bytes, end),
        NamedCharset::Shifted(charset) if bytes.contains(&SHIFT_OUT) => {
            decoded(charset, &unshift(&bytes), end)
        }
        NamedCharset::Hz => decoded(GBK, &without_tildes(&bytes), end),
        NamedCharset::Ibm850 => match charset_decoder(b"850") {
            Some(decode) => decode(&bytes),
            None => guessed(bytes, end),
        },
        NamedCharset::Ascii | NamedCharset::Shifted(_) | NamedCharset::Unknown => guessed(bytes, end),
    }
}

/// Decodes a text without a charset label: by its byte order mark or escape sequences, as UTF-8 if most non-ASCII bytes are valid UTF-8,
/// else as windows-1252, in which every byte is valid.
pub fn guessed(bytes: Cow<'_, [u8]>, end: End) -> String {
    if bytes.is_ascii() {
        return match is_iso_2022_jp(&bytes) {
            true => decoded(ISO_2022_JP, &bytes, end),
            false => String::from_utf8(bytes.into_owned()).unwrap_or_default(),
        };
    }
    match Charset::for_bom(&bytes) {
        Some((charset, _)) if charset != UTF_8 => decoded(charset, &bytes, end),
        _ if is_mostly_utf_8(&bytes) => utf_8(bytes, end),
        _ => WINDOWS_1252.decode_without_bom_handling(&bytes).0.into_owned(),
    }
}

fn has_escapes(bytes: &[u8]) -> bool {
    memchr::memchr(0x1b, bytes).is_some()
}

/// Whether the text switches to a two-byte character set with an escape sequence of ISO-2022-JP (RFC 1468).
fn is_iso_2022_jp(bytes: &[u8]) -> bool {
    memmem::find(bytes, b"\x1b$B").is_some() || memmem::find(bytes, b"\x1b$@").is_some()
}

/// Whether the text has more multi-byte UTF-8 characters than invalid sequences. Text in other charsets hardly ever has one by chance.
fn is_mostly_utf_8(bytes: &[u8]) -> bool {
    let (mut characters, mut damages) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        // Counts the lead bytes.
        characters += chunk.valid().bytes().filter(|byte| *byte >= 0xc2).count();
        damages += usize::from(!chunk.invalid().is_empty());
    }
    characters > damages || damages == 1 && is_cut_utf_8(bytes, characters)
}

/// Whether the only fault is a truncated last character. A single byte of it is enough only if the text has other multi-byte characters.
fn is_cut_utf_8(bytes: &[u8], characters: usize) -> bool {
    let is_cut = |error: Utf8Error| {
        error.error_len().is_none() && (characters > 0 || bytes.len() - error.valid_up_to() > 1)
    };
    str::from_utf8(bytes).is_err_and(is_cut)
}

/// Decodes UTF-8 without a byte order mark. Valid text needs no copy.
fn utf_8(bytes: Cow<'_, [u8]>, end: End) -> String {
    match str::from_utf8(&bytes) {
        Ok(text) => match text.strip_prefix('\u{feff}') {
            Some(text) => text.to_owned(),
            None => String::from_utf8(bytes.into_owned()).unwrap_or_default(),
        },
        Err(_) => decoded(UTF_8, &bytes, end),
    }
}

/// Decodes text labelled UTF-16. Text without a NUL byte has no ASCII character in UTF-16: if it is ASCII, or UTF-8 with an odd length, the
/// label is wrong.
fn utf_16(bytes: Cow<'_, [u8]>, label: &str, charset: &'static Charset, end: End) -> String {
    if Charset::for_bom(&bytes).is_some() {
        return decoded(charset, &bytes, end);
    }
    let nuls = |from: usize| bytes.iter().skip(from).step_by(2).filter(|byte| **byte == 0).count();
    let (first, second) = (nuls(0), nuls(1));
    let is_odd = bytes.len() % 2 == 1;
    if first + second == 0 && (bytes.is_ascii() || is_odd && str::from_utf8(&bytes).is_ok()) {
        return guessed(bytes, end);
    }
    // "utf-16" leaves the order open (RFC 2781 4.3): the NUL of an ASCII character is its first byte or its second one.
    let is_open = !label.trim().to_ascii_lowercase().ends_with(['e', 'E']);
    decoded(if is_open && first > second { UTF_16BE } else { charset }, &bytes, end)
}

/// Decodes with this charset; a byte order mark takes precedence over the label.
fn decoded(charset: &'static Charset, bytes: &[u8], end: End) -> String {
    let (charset, mut rest) = match Charset::for_bom(bytes) {
        Some((charset, len)) => (charset, bytes.get(len..).unwrap_or_default()),
        None => (charset, bytes),
    };
    let mut decoder = charset.new_decoder_without_bom_handling();
    let mut text = String::with_capacity(rest.len() + 16);
    loop {
        let (result, read, _) = decoder.decode_to_string(rest, &mut text, end == End::Whole);
        rest = rest.get(read..).unwrap_or_default();
        match result {
            CoderResult::InputEmpty => return text,
            // `reserve` at least doubles the capacity, so this happens only a few times.
            CoderResult::OutputFull => text.reserve(rest.len() + 16),
        }
    }
}

const SHIFT_OUT: u8 = 0x0e;
const SHIFT_IN: u8 = 0x0f;

/// Converts shifted text to its eight-bit form. Each line begins unshifted; the designation sequence is removed.
fn unshift(bytes: &[u8]) -> Vec<u8> {
    let mut is_shifted = false;
    let mut plain = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match *byte {
            0x1b if matches!(after, [b'$', b')', _, ..]) => rest = after.get(3..).unwrap_or_default(),
            SHIFT_OUT => is_shifted = true,
            SHIFT_IN => is_shifted = false,
            b'\n' => {
                is_shifted = false;
                plain.push(b'\n');
            }
            byte @ 0x21..=0x7e if is_shifted => plain.push(byte | 0x80),
            byte => plain.push(byte),
        }
    }
    plain
}

/// Converts HZ to its eight-bit form: `~{` and `~}` enclose two-byte characters, `~~` is a tilde, and a tilde before a line end is removed.
fn without_tildes(bytes: &[u8]) -> Vec<u8> {
    let mut is_shifted = false;
    let mut plain = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match (*byte, after.first()) {
            (b'~', Some(b'{')) => is_shifted = true,
            (b'~', Some(b'}')) => is_shifted = false,
            (b'~', Some(b'~')) if !is_shifted => plain.push(b'~'),
            (b'~', Some(b'\n')) if !is_shifted => {}
            (b'\n', _) => {
                is_shifted = false;
                plain.push(b'\n');
                continue;
            }
            (byte @ 0x21..=0x7e, _) if is_shifted => {
                plain.push(byte | 0x80);
                continue;
            }
            (byte, _) => {
                plain.push(byte);
                continue;
            }
        }
        rest = after.get(1..).unwrap_or_default();
    }
    plain
}

/// Returns the charset for a label: one of the WHATWG's table, or another name that mail programs write.
fn charset_for_label(label: &str) -> NamedCharset {
    let label = label.trim();
    let is = |names: &[&str]| names.iter().any(|name| label.eq_ignore_ascii_case(name));
    if is(&["utf-7", "unicode-1-1-utf-7", "csutf7", "utf7", "utf_7"]) {
        return NamedCharset::Utf7;
    }
    if is(&["iso-2022-kr", "csiso2022kr"]) {
        return NamedCharset::Shifted(EUC_KR);
    }
    if is(&["iso-2022-cn", "iso-2022-cn-ext"]) {
        return NamedCharset::Shifted(GBK);
    }
    if is(&["hz-gb-2312", "hz", "hz-gb2312"]) {
        return NamedCharset::Hz;
    }
    let is_ascii =
        label.get(label.len().saturating_sub(5)..).is_some_and(|end| end.eq_ignore_ascii_case("ascii"));
    if is_ascii || is(&["ansi_x3.4-1968", "iso646-us", "us", "646"]) {
        return NamedCharset::Ascii;
    }
    match Charset::for_label(label.as_bytes()) {
        Some(charset) if charset == REPLACEMENT => NamedCharset::Unknown,
        Some(charset) => NamedCharset::Known(charset),
        None => otherwise_named(label),
    }
}

/// Returns the charset for a non-standard label, such as `UTF_8`, `Latin-1`, `cp-1252`, `windows1251`, `x-cp932` or `IBM850`.
fn otherwise_named(label: &str) -> NamedCharset {
    let bare: String = label.chars().filter(char::is_ascii_alphanumeric).take(40).collect();
    let bare = bare.to_ascii_lowercase();
    let bare = bare.strip_prefix('x').unwrap_or(&bare);
    if let Some(charset) = Charset::for_label_no_replacement(bare.as_bytes()) {
        return NamedCharset::Known(charset);
    }
    let number =
        ["windows", "win", "cp", "ibm", "ms", "dos"].iter().find_map(|prefix| bare.strip_prefix(prefix));
    let known = match number.unwrap_or(bare) {
        "850" => return NamedCharset::Ibm850,
        "20127" => return NamedCharset::Ascii,
        "932" => "shift_jis",
        "936" => "gbk",
        "949" | "euckr" | "uhc" => "euc-kr",
        "950" => "big5",
        "866" => "ibm866",
        "874" => "windows-874",
        "65001" => "utf-8",
        "eucjp" => "euc-jp",
        "koi8r" => "koi8-r",
        "koi8u" => "koi8-u",
        "iso2022jp" => "iso-2022-jp",
        number if number.len() == 4 && number.starts_with("125") => return windows(number),
        _ => return NamedCharset::Unknown,
    };
    Charset::for_label(known.as_bytes()).map_or(NamedCharset::Unknown, NamedCharset::Known)
}

fn windows(number: &str) -> NamedCharset {
    Charset::for_label(format!("windows-{number}").as_bytes())
        .map_or(NamedCharset::Unknown, NamedCharset::Known)
}
