//! The rights that an account gives to its mail, as `check` has found them.

use connector_sdk::{Context, Failure, Outcome, code};

use crate::account::MAIL;

/// The rights to a mailbox, beside that to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailAccess {
    /// `Mail.ReadWrite`.
    ReadWrite,
    /// `Mail.Read`.
    Read,
    /// Neither: `Mail.Send` alone.
    SendOnly,
}

impl MailAccess {
    /// The access of this account. Where it is not known, Graph decides.
    pub fn of(context: &Context) -> MailAccess {
        match context.setting(MAIL) {
            Some("read") => MailAccess::Read,
            Some("sendOnly") => MailAccess::SendOnly,
            _ => MailAccess::ReadWrite,
        }
    }
}

/// Fails with `forbidden` where the account lets this connector send mail and read none.
pub fn ensure_readable(context: &Context) -> Outcome<()> {
    match MailAccess::of(context) {
        MailAccess::SendOnly => {
            Err(Failure::new(code::FORBIDDEN, "the account lets this server send mail alone"))
        }
        MailAccess::Read | MailAccess::ReadWrite => Ok(()),
    }
}
