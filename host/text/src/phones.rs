//! Phone numbers in ITU E.164 form. The numbering plans are those of Google's libphonenumber.

use rlibphonenumber::PHONE_NUMBER_UTIL;
use rlibphonenumber::PhoneNumberFormat;
use rlibphonenumber::Region;

/// Maximum length of a number; libphonenumber's own limit is 250, which it parses with regular expressions.
const MAX_LENGTH: usize = 64;
/// Digits after which a number is complete, so that following letters are a remark (`030 901820 home`) and not vanity digits.
const WHOLE_NUMBER_DIGITS: usize = 8;

/// An international number, and the extension to be dialled after the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number {
    /// `+` and up to 15 digits.
    pub e164: String,
    /// Digits.
    pub extension: Option<String>,
}

/// Returns the number as E.164. `region`: the ISO 3166-1 alpha-2 code of the country whose national format is accepted; without it only
/// international numbers are (`+…`, `00…`). None: not a number, an impossible length, a local number without its area code, or a number
/// with an extension, which E.164 cannot express: the main line is another number.
pub fn e164(value: &str, region: Option<&str>) -> Option<String> {
    number(value, region).filter(|n| n.extension.is_none()).map(|n| n.e164)
}

/// Returns the number as `e164` does, with the extension apart. A number is valid if its length is possible, assigned or not: numbering
/// plans grow faster than tables, and example numbers are never assigned.
pub fn number(value: &str, region: Option<&str>) -> Option<Number> {
    let value = value.trim();
    if value.len() > MAX_LENGTH || !value.chars().any(|c| c.is_numeric()) {
        return None;
    }
    let region = region.and_then(|code| code.trim().parse::<Region>().ok());
    let written = without_remark(value);
    // Most countries write `+` as `00`; where they do not (`011` in the United States), no number starts with `00`.
    let bare = written.trim_start_matches(|c: char| !c.is_numeric() && c != '+' && c != '＋');
    let international = bare.strip_prefix("00").map(|rest| format!("+{rest}"));
    let written = international.as_deref().unwrap_or(written);
    let parsed = PHONE_NUMBER_UTIL.parse(written, region).ok()?;
    PHONE_NUMBER_UTIL
        .is_possible_number_with_reason(&parsed)
        .is_ok_and(|length| length == rlibphonenumber::NumberLengthType::IsPossible)
        .then(|| Number {
            e164: PHONE_NUMBER_UTIL.format(&parsed, PhoneNumberFormat::E164).to_string(),
            extension: parsed.extension.filter(|e| !e.is_empty()),
        })
}

/// Returns the digits of a text as ASCII, from the Unicode decimal blocks in which numbers are written.
pub fn digits(value: &str) -> String {
    let normalized = crate::folding::fold(value);
    normalized
        .chars()
        .filter_map(|c| c.to_digit(10).or_else(|| native_digit(c)))
        .filter_map(|d| char::from_digit(d, 10))
        .collect()
}

/// The value of an Arabic-Indic, extended Arabic-Indic, Devanagari or Bengali digit; other scripts are not used for phone numbers.
fn native_digit(c: char) -> Option<u32> {
    let zero = match c {
        '\u{660}'..='\u{669}' => 0x660,
        '\u{6f0}'..='\u{6f9}' => 0x6f0,
        '\u{966}'..='\u{96f}' => 0x966,
        '\u{9e6}'..='\u{9ef}' => 0x9e6,
        _ => return None,
    };
    Some(c as u32 - zero)
}

/// Returns the text without words after a complete number. Markers of an extension stay for libphonenumber to parse.
fn without_remark(value: &str) -> &str {
    let mut digits = 0;
    for (at, c) in value.char_indices() {
        if c.is_numeric() {
            digits += 1;
        } else if c.is_alphabetic() && digits >= WHOLE_NUMBER_DIGITS {
            let (whole, rest) = value.split_at(at);
            return if marks_extension(rest) { value } else { whole };
        }
    }
    value
}

/// Whether the rest begins with the marker of an extension in a language that libphonenumber reads: `ext`, `x`, `доб`, `int`, `anexo`.
fn marks_extension(rest: &str) -> bool {
    let rest = crate::folding::fold(rest);
    ["ext", "xt", "x", "доб", "int", "anexo", "e"].iter().any(|marker| {
        let after = rest.strip_prefix(marker);
        after.is_some_and(|a| {
            let a = a.trim_start_matches(|c: char| !c.is_numeric() && !c.is_alphabetic());
            a.starts_with(|c: char| c.is_numeric()) || a.starts_with("n") || a.starts_with("ension")
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: &str, region: Option<&str>) -> Option<String> {
        e164(value, region)
    }

    #[test]
    fn one_number_however_written() {
        for (value, region) in [
            ("+49 30 901820", None),
            ("0049 30 901820", None),
            ("0049 30 901820", Some("US")),
            ("\u{202a}0049 30 901820", None),
            ("(030) 90 18 20", Some("DE")),
            ("030/901820", Some("de")),
            ("030 901820 home", Some("DE")),
            ("Tel. 030-901820", Some("DE")),
            ("tel:+49-30-901820", None),
            ("+49 (0)30 901820", None),
            ("＋４９ ３０ ９０１８２０", None),
            ("+٤٩٣٠٩٠١٨٢٠", None),
            ("\u{202a}+49 30 901820\u{202c}", None),
            ("011 49 30 901820", Some("US")),
        ] {
            assert_eq!(read(value, region).as_deref(), Some("+4930901820"), "{value:?} {region:?}");
        }
        assert_eq!(read("1-800-FLOWERS", Some("US")).as_deref(), Some("+18003569377"));
        assert_eq!(read("8 (495) 123-45-67", Some("RU")).as_deref(), Some("+74951234567"));
        assert_eq!(read("06 69812345", Some("IT")).as_deref(), Some("+390669812345"));
    }

    #[test]
    fn an_extension_is_another_number() {
        for value in
            ["+49 30 901820 ext. 12", "+49 30 901820 x12", "tel:+49-30-901820;ext=12", "+49 30 901820,,12#"]
        {
            assert_eq!(read(value, None), None, "{value}");
            let number = number(value, None).unwrap();
            assert_eq!(
                (number.e164.as_str(), number.extension.as_deref()),
                ("+4930901820", Some("12")),
                "{value}"
            );
        }
    }

    #[test]
    fn junk_is_no_number() {
        let long = "1".repeat(10_000_000);
        for value in ["", "+", "+1", "hello", "1", "+000", "+999123456789", "\0", "110", "n/a", long.as_str()]
        {
            assert_eq!(read(value, None), None);
            assert!(read(value, Some("DE")).is_none(), "{value:.20}");
        }
        assert_eq!(read("030 901820", None), None);
        assert_eq!(read("12345", None), None);
        assert_eq!(read("030 901820", Some("XX")), None);
        assert_eq!(read("+1 415 555 2671 / +1 415 555 9999", None), None);
        assert_eq!(digits("٠٣٠-90 १"), "030901");
    }
}
