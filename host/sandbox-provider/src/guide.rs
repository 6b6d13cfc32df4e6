//! The accounts and addresses that a person needs to know to use the provider, as answers, logs and documents name them.

use crate::auth::{DOMAIN, PASSWORD};

/// An address of the provider, with what it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotableAddress {
    /// The part before the `@`.
    pub name: &'static str,
    /// A sentence about the account, or about the effect of the address.
    pub description: &'static str,
}

impl NotableAddress {
    /// The whole address.
    pub fn email(&self) -> String {
        format!("{}{DOMAIN}", self.name)
    }
}

const fn notable(name: &'static str, description: &'static str) -> NotableAddress {
    NotableAddress { name, description }
}

/// The accounts that have data from the beginning.
pub const ACCOUNTS: [NotableAddress; 3] = [
    notable("alice", "Has mail, calendars, contacts and tasks."),
    notable("bob", "Has mail, calendars, contacts and tasks; a colleague of alice."),
    notable("carol", "Has mail, calendars, contacts and tasks; a colleague of alice."),
];

/// The addresses with an effect of their own: recipients of mail, guests of events, and accounts to connect.
pub const SPECIAL_ADDRESSES: [NotableAddress; 15] = [
    notable("reject", "Refuses mail that is sent to it, in any domain: SMTP reply 550."),
    notable("defer", "Refuses mail that is sent to it for now, in any domain: SMTP reply 451."),
    notable("bounce", "Accepts mail that is sent to it, in any domain, and returns a bounce."),
    notable("away", "Answers mail that is sent to it, in any domain, with an automatic reply."),
    notable("replies", "Answers mail that is sent to it, in any domain, with a personal reply."),
    notable("accepts", "Accepts each invitation at once."),
    notable("declines", "Declines each invitation at once."),
    notable("hesitates", "Answers each invitation with tentative at once."),
    notable("revoked", "An account whose credentials are always refused."),
    notable("throttled", "An account that always answers that there are too many requests."),
    notable("down", "An account that is always unavailable."),
    notable("denied", "An account that declines the authorization by OAuth."),
    notable("admin", "An account whose administrator has to approve the authorization by OAuth."),
    notable("fewer", "An account that grants all scopes but the last one of several by OAuth."),
    notable("short", "An account whose access tokens expire after 5 seconds."),
];

/// The sentence about signing in: accounts and password.
pub fn sign_in_hint() -> String {
    let accounts = ACCOUNTS.map(|account| account.email()).join(", ");
    format!("use {accounts} or any other name{DOMAIN}, with the password \"{PASSWORD}\"")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{ACCOUNTS, SPECIAL_ADDRESSES, sign_in_hint};

    #[test]
    fn the_hint_names_every_account_and_the_password() {
        let hint = sign_in_hint();
        assert!(ACCOUNTS.iter().all(|account| hint.contains(&account.email())), "{hint}");
        assert!(hint.ends_with("the password \"sandbox\""), "{hint}");
    }

    #[test]
    fn an_address_has_one_meaning() {
        let names: BTreeSet<&str> = ACCOUNTS.iter().chain(&SPECIAL_ADDRESSES).map(|a| a.name).collect();
        assert_eq!(names.len(), ACCOUNTS.len() + SPECIAL_ADDRESSES.len());
    }
}
