//! The ways in which a message goes to Graph, by its size and by the rights of the account.

use connector_sdk::{Failure, Outcome, code};

use crate::mail::access::MailAccess;

/// Largest message that goes in one request, bytes. Graph answers larger ones with 200 and does not send them
/// (microsoftgraph/microsoft-graph-docs#13979).
pub const MAX_MIME_BYTES: u64 = 2_000_000;
/// Largest message at all, bytes: 35 MB, the limit of most organizations.
pub const MAX_MESSAGE_BYTES: u64 = 36_700_160;

/// A way to Graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Road {
    /// `sendMail`: nothing but the right to send is needed.
    SendMail,
    /// A draft in one request, which is sent then.
    Mime,
    /// A draft without the large files, which follow one by one, and which is sent then.
    Parts,
}

/// Returns the way for a message of this many bytes. Fails with `invalid` for one that is too large for it.
pub fn road(size: u64, can: MailAccess) -> Outcome<Road> {
    let too_large = |max: u64| {
        Failure::invalid(format!("the message has {size} bytes; this account can send at most {max}"))
    };
    match can {
        MailAccess::ReadWrite if size > MAX_MESSAGE_BYTES => Err(too_large(MAX_MESSAGE_BYTES)),
        MailAccess::ReadWrite if size > MAX_MIME_BYTES => Ok(Road::Parts),
        MailAccess::ReadWrite => Ok(Road::Mime),
        MailAccess::Read | MailAccess::SendOnly if size > MAX_MIME_BYTES => {
            let failure = too_large(MAX_MIME_BYTES);
            let message = format!(
                "{}: a larger one is kept as a draft first, which takes the right to change mail",
                failure.message
            );
            Err(Failure { message, ..failure.with_code(code::INVALID) })
        }
        MailAccess::Read | MailAccess::SendOnly => Ok(Road::SendMail),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_depends_on_the_size_and_the_rights() {
        use MailAccess::{Read, ReadWrite, SendOnly};
        for (size, can, expected) in [
            (1, ReadWrite, Some(Road::Mime)),
            (2_000_000, ReadWrite, Some(Road::Mime)),
            (2_000_001, ReadWrite, Some(Road::Parts)),
            (36_700_160, ReadWrite, Some(Road::Parts)),
            (36_700_161, ReadWrite, None),
            (2_000_000, SendOnly, Some(Road::SendMail)),
            (2_000_000, Read, Some(Road::SendMail)),
            (2_000_001, SendOnly, None),
            (2_000_001, Read, None),
        ] {
            assert_eq!(road(size, can).ok(), expected, "{size} {can:?}");
        }
        assert_eq!(road(9_000_000, SendOnly).unwrap_err().code, code::INVALID);
    }
}
