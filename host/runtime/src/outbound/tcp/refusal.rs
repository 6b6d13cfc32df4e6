//! The errors of the `tcp` import.

use crate::bindings::tcp::Err;

/// An error as the guest sees it.
pub(super) fn refused(code: &str, message: impl Into<String>) -> Err {
    Err { code: code.to_owned(), message: message.into() }
}
