//! The facts of the account that its events are read and written with.

use connector_sdk::Context;

use crate::account::mailbox_zone;
use crate::calendar::times::{UTC, known_zone};

/// The zone of the mailbox, and the addresses that are the account.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MailboxInfo {
    /// IANA name. Calendars have no zone of their own.
    pub time_zone: String,
    /// The account's addresses, in lower case.
    pub addresses: Vec<String>,
}

impl MailboxInfo {
    /// The facts that a call brings: the calendar's zone, else the one that `check` kept.
    pub fn of_call(context: &Context, time_zone: Option<&str>) -> Self {
        let known = time_zone.and_then(known_zone).or_else(|| known_zone(mailbox_zone(context)));
        MailboxInfo {
            time_zone: known.unwrap_or_else(|| UTC.to_owned()),
            addresses: context.connection.addresses.clone(),
        }
    }

    /// Whether this address is one of the account's.
    pub fn is_self(&self, address: &str) -> bool {
        self.addresses.iter().any(|own| own.eq_ignore_ascii_case(address))
    }
}
