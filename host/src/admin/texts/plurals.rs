//! Plural forms: a text with the number `{n}` may have several, separated by ` | `.

/// Between the forms of a text.
pub const BETWEEN_FORMS: &str = " | ";

/// The form of a text for a number. A text of two forms has one for 1 and one for all other numbers; one of five forms, as Arabic has them, has
/// those for one, two, few (3 to 10), many (11 to 99) and all others (Unicode CLDR, plural rules).
pub fn form(text: &str, n: u64) -> &str {
    let forms: Vec<&str> = text.split(BETWEEN_FORMS).collect();
    let last_digits = n % 100;
    match (forms.as_slice(), n) {
        ([one, ..], 1) => one,
        ([_, two, _, _, _], 2) => two,
        ([_, _, few, _, _], _) if (3..=10).contains(&last_digits) => few,
        ([_, _, _, many, _], _) if last_digits >= 11 => many,
        ([.., other], _) => other,
        ([], _) => text,
    }
}

#[cfg(test)]
mod tests {
    use super::form;

    #[test]
    fn each_number_has_its_form() {
        let said = |text: &'static str| [0, 1, 2, 3, 10, 11, 99, 100, 103].map(|n| form(text, n));
        assert_eq!(said("a key"), ["a key"; 9]);
        let two = said("a key | keys");
        assert_eq!(two, ["keys", "a key", "keys", "keys", "keys", "keys", "keys", "keys", "keys"]);
        let five = said("one | two | few | many | other");
        assert_eq!(five, ["other", "one", "two", "few", "few", "many", "many", "other", "few"]);
    }
}
