//! Telephone numbers.

/// E.164.
pub fn e164(value: &str, region: Option<&str>) -> Option<String> {
    let _ = region;
    let digits: String = value.chars().filter(char::is_ascii_digit).collect();
    value.trim_start().starts_with('+').then(|| format!("+{digits}"))
}
