//! Colours of calendars: Graph takes one of a few by name, and shows as hexadecimal digits those that were chosen.

/// The colours of Outlook by Graph's names, as Outlook on the web shows them.
const COLORS: [(&str, &str); 9] = [
    ("lightBlue", "#a6d1f5"),
    ("lightGreen", "#87d28e"),
    ("lightOrange", "#fcab73"),
    ("lightGray", "#c0c0c0"),
    ("lightYellow", "#f4d07a"),
    ("lightTeal", "#4adacc"),
    ("lightPink", "#f08cc0"),
    ("lightBrown", "#cba287"),
    ("lightRed", "#f88c9b"),
];

/// Returns the colour of a calendar as `#rrggbb`; none for the automatic one.
pub fn color_from(name: Option<&str>, hex: Option<&str>) -> Option<String> {
    let digits = hex.map(|hex| hex.trim_start_matches('#')).unwrap_or_default();
    let own = format!("#{}", digits.to_ascii_lowercase());
    if channels(&own).is_some() {
        return Some(own);
    }
    let known = COLORS.iter().find(|(known, _)| Some(*known) == name);
    known.map(|(_, hex)| (*hex).to_owned())
}

/// Returns the name of the colour nearest to `#rrggbb`, and whether it is exactly that one. None where the text is no colour.
pub fn color_to(hex: &str) -> Option<(&'static str, bool)> {
    let wanted = channels(hex)?;
    let distance = |other: &str| {
        let other = channels(other)?;
        Some(wanted.iter().zip(other).map(|(a, b)| (a - b).pow(2)).sum::<i64>())
    };
    let measured = COLORS.iter().filter_map(|(name, hex)| Some((*name, distance(hex)?)));
    measured.min_by_key(|(_, distance)| *distance).map(|(name, distance)| (name, distance == 0))
}

/// Red, green and blue of `#rrggbb`.
fn channels(hex: &str) -> Option<[i64; 3]> {
    let is_hex = |digits: &&str| digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = i64::from_str_radix(hex.strip_prefix('#').filter(is_hex)?, 16).ok()?;
    Some([number >> 16, (number >> 8) & 0xFF, number & 0xFF])
}

#[cfg(test)]
mod tests {
    use super::{color_from, color_to};

    #[test]
    fn a_colour_is_a_name_or_digits() {
        assert_eq!(color_from(Some("auto"), Some("")), None);
        assert_eq!(color_from(Some("lightRed"), Some("")).as_deref(), Some("#f88c9b"));
        assert_eq!(color_from(Some("auto"), Some("#0078D4")).as_deref(), Some("#0078d4"));
        assert_eq!(color_from(None, None), None);
    }

    #[test]
    fn a_colour_becomes_the_nearest_name() {
        assert_eq!(color_to("#f88c9b"), Some(("lightRed", true)));
        assert_eq!(color_to("#a0d0ff"), Some(("lightBlue", false)));
        assert_eq!(color_to("red"), None);
    }
}
