//! Literals of `$filter` (OData 4.01 URL conventions, section 5.1.1.14.1).

/// Returns a text as a literal: in apostrophes, with its own ones doubled.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn an_apostrophe_does_not_end_a_text() {
        assert_eq!(quoted("O'Hara' or '1' eq '1"), "'O''Hara'' or ''1'' eq ''1'");
        assert_eq!(quoted(""), "''");
    }
}
