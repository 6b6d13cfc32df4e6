//! Recipients of an act: who they are by their addresses alone, and whether the policy of a key allows them.

use mail::address;

use crate::policy::{ActRecipient, Recipient};
use crate::tool::ToolError;

/// Recipients of one message or invitation.
pub const MAX_RECIPIENTS: usize = 10;

/// Characters of a refused address that an error shows.
const MAX_SHOWN: usize = 100;

/// Checks the recipients of an act, whatever its policy: at least one, and each as `check_addresses`.
///
/// # Errors
/// Names the field and the address.
pub fn check(recipients: &[ActRecipient]) -> Result<(), ToolError> {
    if recipients.is_empty() {
        return Err(ToolError::new("missing_field", "there is no recipient").param("to"));
    }
    check_addresses(recipients)
}

/// Checks that there are at most `MAX_RECIPIENTS`, and that each is a plain address. A text that other programs might read as another
/// address, as several or as a group is none.
///
/// # Errors
/// Names the field and the address.
pub fn check_addresses(recipients: &[ActRecipient]) -> Result<(), ToolError> {
    if recipients.len() > MAX_RECIPIENTS {
        let count = recipients.len();
        let message =
            format!("an assistant writes to at most {MAX_RECIPIENTS} recipients at once; got {count}");
        return Err(ToolError::new("too_many_recipients", message)
            .remedy("Write to fewer people, or tell the user to send it."));
    }
    for recipient in recipients {
        if let Err(fault) = address::check(&recipient.email) {
            let message = format!("{:?} is not an address: {fault}", first_chars(&recipient.email));
            return Err(ToolError::invalid(recipient.field, message));
        }
    }
    Ok(())
}

/// Checks that each recipient is one that the policy allows.
///
/// # Errors
/// `recipient_not_allowed` with the field and the first other address.
pub fn ensure_allowed(recipients: &[ActRecipient], allowed: &[Recipient]) -> Result<(), ToolError> {
    let is_allowed = |recipient: &&ActRecipient| allowed.iter().any(|one| one.includes(&recipient.email));
    match recipients.iter().find(|recipient| !is_allowed(recipient)) {
        None => Ok(()),
        Some(other) => {
            let message = format!("this key may not send to {:?}", first_chars(&other.email));
            Err(ToolError::new("recipient_not_allowed", message).param(other.field).remedy(
                "Tell the user that a person has to send it: the recipient is not among those of the key.",
            ))
        }
    }
}

fn first_chars(text: &str) -> String {
    text.chars().take(MAX_SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(emails: &[&str]) -> Vec<ActRecipient> {
        emails.iter().map(|email| ActRecipient { field: "to", email: (*email).to_owned() }).collect()
    }

    fn code(result: Result<(), ToolError>) -> String {
        result.err().map(|error| error.code).unwrap_or_default()
    }

    #[test]
    fn a_message_has_one_to_ten_recipients() {
        assert_eq!(code(check(&to(&[]))), "missing_field");
        let many: Vec<String> = (0..200).map(|n| format!("p{n}@acme.com")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(code(check(&to(&many))), "too_many_recipients");
        assert_eq!(code(check(&to(many.get(..11).unwrap()))), "too_many_recipients");
        assert_eq!(code(check(&to(many.get(..10).unwrap()))), "");
    }

    #[test]
    fn a_recipient_is_a_plain_address() {
        for wrong in [
            "",
            "ada",
            "Ada <ada@acme.com>",
            "ada@acme.com <eve@evil.example>",
            "ada@acme.com, eve@evil.example",
            "ada@acme.com;eve@evil.example",
            "friends: ada@acme.com, eve@evil.example;",
            "undisclosed-recipients:;",
            "ada@acme.com\r\nBcc: eve@evil.example",
            "ada@acme.com\u{200b}",
            "=?utf-8?q?eve=40evil.example?=@acme.com",
            "\"eve@evil.example> \"@acme.com",
            "ada@acme.com@evil.example",
        ] {
            let refused = check(&to(&["bob@acme.com", wrong]));
            assert_eq!(code(refused.clone()), "invalid_parameter", "{wrong}");
            assert_eq!(refused.err().and_then(|error| error.param).as_deref(), Some("to"), "{wrong}");
        }
    }

    #[test]
    fn one_recipient_outside_the_list_stops_the_message() {
        let allowed: Vec<Recipient> = ["*@acme.com", "bob@partner.example"]
            .iter()
            .filter_map(|text| Recipient::parse(text).ok())
            .collect();
        assert_eq!(allowed.len(), 2);
        let refused = |emails: &[&str]| code(ensure_allowed(&to(emails), &allowed));
        assert_eq!(refused(&["ada@acme.com", "BOB@partner.example"]), "");
        for other in [
            "eve@evil.example",
            "alice@partner.example",
            "ada@acme.com.evil.example",
            // Cyrillic letters that look like those of the domain, and of the address.
            "ada@\u{430}cme.com",
            "b\u{43e}b@partner.example",
        ] {
            assert_eq!(refused(&["ada@acme.com", other]), "recipient_not_allowed", "{other}");
        }
        assert_eq!(code(ensure_allowed(&to(&["ada@acme.com"]), &[])), "recipient_not_allowed");
    }
}
