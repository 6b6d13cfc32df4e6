//! Email addresses of operators, compared without regard to how they are written.

/// The same text for all spellings of an address; for a text that is none something that no address has.
pub fn address_key(email: &str) -> String {
    let printable: String = email.chars().filter(|c| !c.is_control()).collect();
    mail::address::folded(&printable)
}

#[cfg(test)]
mod tests {
    use super::address_key;

    #[test]
    fn spellings_of_an_address_are_one() {
        assert_eq!(address_key(" Ada@Example.COM\n"), "ada@example.com");
        assert_eq!(address_key("ADA@bücher.example"), address_key("ada@xn--bcher-kva.example"));
        assert_ne!(address_key("ada@example.com"), address_key("ada@example.org"));
        assert!(!address_key("a\0b").contains('\0'), "PostgreSQL stores no NUL");
    }
}
