//! Values that other people wrote, made fit to be written again: into an answer, into a message that is forwarded, or into the next
//! version of a draft that another program made.
//!
//! The caller can change none of them, so none is refused. Each value is put on one line, cut, rewritten or left out; afterwards it
//! passes the check of `crate::check` that the same value of a caller must pass.

use model::email::{EmailAddress, EmailHeader};

use crate::check;
use crate::cid;
use crate::read::field::clean;
use crate::read::limits::TOKEN_BYTES;
use crate::text::{cut_at, without_smuggled};

/// Returns the text on one line: each run of white space and control characters becomes one space.
pub fn one_line(text: &str) -> String {
    clean(text)
}

/// Returns a subject on one line, without invisible characters that carry text, cut to `check::VALUE_BYTES`.
pub fn subject(subject: &str) -> String {
    cut_at(&without_smuggled(clean(subject)), check::VALUE_BYTES).to_owned()
}

/// Returns an address with its name, each on one line and cut. The address need not be one that a message can be sent to.
pub fn address(address: &EmailAddress) -> EmailAddress {
    let name = address.name.as_deref().map(clean).filter(|name| !name.is_empty());
    EmailAddress {
        name: name.map(|name| cut_at(&name, check::NAME_BYTES).to_owned()),
        email: cut_at(&clean(&address.email), TOKEN_BYTES).to_owned(),
    }
}

/// Returns the media type of a file; none where it cannot be written, so that the file is `application/octet-stream`.
pub fn content_type(value: &str) -> Option<String> {
    Some(value.trim()).filter(|value| check::content_type(value).is_ok()).map(str::to_owned)
}

/// Returns a Content-ID that can be written. One that cannot is percent-encoded, so that it still differs from those of other files; none
/// where even that is too long. HTML that names the file must name it by the id that this returns.
pub fn content_id(id: &str) -> Option<String> {
    let is_writable = |id: &String| check::content_id(id).is_ok();
    Some(id.to_owned()).filter(is_writable).or_else(|| Some(cid::encoded(id)).filter(is_writable))
}

/// Returns the first `max` of those fields that a caller may set too and that can be written.
pub fn headers(fields: &[EmailHeader], max: usize) -> Vec<EmailHeader> {
    let is_writable = |field: &&EmailHeader| {
        check::header_name(&field.name).is_ok() && check::field_value(&field.value).is_ok()
    };
    fields.iter().filter(is_writable).take(max).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ODD: [&str; 10] = [
        "",
        " a\r\nBcc: b@c ",
        "\0\u{85}\u{2028}\t",
        "=?utf-8?q?=0D=0A?=",
        "image 1 (2)@x",
        "<a>",
        "\u{fc}@x",
        "\"x y\"@[192.0.2.7]",
        "a/b; c=\"d",
        "multipart/mixed",
    ];

    #[test]
    fn what_is_made_of_any_value_can_be_written() {
        let long = "\u{fc} ".repeat(10_000);
        for odd in ODD.into_iter().chain([long.as_str()]) {
            assert_eq!(check::header_value(&subject(odd)), Ok(()), "{odd:?}");
            let email = address(&EmailAddress { name: Some(odd.to_owned()), email: odd.to_owned() });
            assert_eq!(email.name.as_deref().map_or(Ok(()), check::display_name), Ok(()), "{odd:?}");
            assert_eq!(check::unfinished_email(&email.email), Ok(()), "{odd:?}");
            assert_eq!(content_type(odd).as_deref().map_or(Ok(()), check::content_type), Ok(()), "{odd:?}");
            assert_eq!(content_id(odd).as_deref().map_or(Ok(()), check::content_id), Ok(()), "{odd:?}");
        }
    }

    #[test]
    fn a_value_that_can_be_written_stays() {
        assert_eq!(subject("Re: Gr\u{fc}\u{df}e"), "Re: Gr\u{fc}\u{df}e");
        assert_eq!(content_type("image/png").as_deref(), Some("image/png"));
        assert_eq!(content_type("image"), None);
        assert_eq!(content_id("image 1 (2)@x").as_deref(), Some("image 1 (2)@x"));
        assert_eq!(content_id("\u{fc}@x").as_deref(), Some("%C3%BC@x"));
        let field = |name: &str, value: &str| EmailHeader { name: name.to_owned(), value: value.to_owned() };
        let fields =
            [field("X-A", "1"), field("Received", "2"), field("X-B", &"b".repeat(901)), field("X-C", "3")];
        assert_eq!(headers(&fields, 9), [field("X-A", "1"), field("X-C", "3")]);
        assert_eq!(headers(&fields, 1), [field("X-A", "1")]);
    }
}
