//! `[event_source]` of a manifest: the event source of a JMAP server (RFC 8620 section 7.3), at which the host waits for changes while
//! a mailbox is followed. What changed is read by calls as always.
//!
//! ```toml
//! [event_source]
//! url = "eventSourceUrl"
//! account = "accountId"
//! types = ["Email", "Mailbox"]
//! ```

use anyhow::ensure;
use serde::{Deserialize, Serialize};

/// Types of objects that an event source is subscribed to, and the longest name of one, bytes.
const MAX_TYPES: usize = 16;
const MAX_TYPE: usize = 64;

/// The server's event source, and the changes that it reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventSource {
    /// The setting in which `check` keeps the session's `eventSourceUrl`: a template (RFC 6570 level 1) with `types`, `closeafter` and
    /// `ping`. An account without it is polled. The request goes where the connector's own requests may go, and nowhere else, with the
    /// credentials of the slot "default".
    pub url: String,
    /// The setting in which `check` stores the account's id: changes of other accounts are ignored.
    pub account: String,
    /// The types of objects whose changes are reported as changes of the mailbox, 1 to 16 of them.
    pub types: Vec<String>,
}

/// Validates the table in its manifest. `has_email`: the connector has mail.
pub(super) fn check(source: &EventSource, has_email: bool) -> anyhow::Result<()> {
    ensure!(has_email, "event_source: it is for mailboxes, and the connector has no email surface");
    ensure!(!source.url.is_empty(), "event_source.url: must not be empty");
    ensure!(!source.account.is_empty(), "event_source.account: must not be empty");
    let is_type = |name: &String| {
        (1..=MAX_TYPE).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric())
    };
    ensure!(
        (1..=MAX_TYPES).contains(&source.types.len()) && source.types.iter().all(is_type),
        "event_source.types: name 1 to {MAX_TYPES} types, of letters and digits, for example \"Email\""
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::manifest::Manifest;

    const GOOD: &str = r#"
        name = "jmap"
        version = "1.0.0"
        title = "JMAP"
        surfaces = ["email@1.0.0"]
        [event_source]
        url = "eventSourceUrl"
        account = "accountId"
        types = ["Email", "Mailbox"]
    "#;

    const IDLE_TOO: &str = r#"
        servers_from_settings = ["imap"]
        idle_server = "imap"
        settings = [{ name = "imap", description = "." }]
        [event_source]
    "#;

    #[test]
    fn an_event_source_is_read() {
        let source = Manifest::parse(GOOD).unwrap().event_source.unwrap();
        assert_eq!((&*source.url, &*source.account), ("eventSourceUrl", "accountId"));
        assert_eq!(source.types, ["Email", "Mailbox"]);
    }

    #[test]
    fn a_fault_of_an_event_source_names_the_field() {
        for (from, to, said) in [
            ("email@1.0.0", "tasks@1.0.0", "event_source:"),
            ("\"eventSourceUrl\"", "\"\"", "event_source.url:"),
            ("\"accountId\"", "\"\"", "event_source.account:"),
            ("[\"Email\", \"Mailbox\"]", "[]", "event_source.types:"),
            ("\"Mailbox\"", "\"*\"", "event_source.types:"),
            ("\"Mailbox\"", "\"Email,Mailbox\"", "event_source.types:"),
            ("account = ", "acount = ", "acount"),
            ("account = \"accountId\"", "", "account"),
            ("[event_source]", IDLE_TOO, "event_source:"),
        ] {
            let error = format!("{:#}", Manifest::parse(&GOOD.replace(from, to)).unwrap_err());
            assert!(error.contains(said), "{to}: {error}");
        }
    }
}
