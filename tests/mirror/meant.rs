//! Intended differences, each with its reason.

use crate::report::Difference;

/// The class, the beginning of the object's name (empty: any), and the reason.
const MEANT: [(&str, &str, &str); 2] = [
    (
        "contact.patch refused: 400 capability_not_supported",
        "",
        "version 2.1 is read, not written: the connector writes RFC 2426 and RFC 6350",
    ),
    (
        "message.attachments.size is null",
        "",
        "IMAP tells how long an attachment is encoded, which does not say how long it is decoded; its own path tells that, with the bytes",
    ),
];

/// Returns the reason why a difference is intended; none if it is not.
pub fn reason(difference: &Difference) -> Option<&'static str> {
    let found = MEANT
        .iter()
        .find(|(class, object, _)| difference.class == *class && difference.object.starts_with(object));
    found.map(|(_, _, why)| *why)
}
