//! The settings of a key for assistants.

pub use base::recipients::Recipient;
use model::agent::{AgentPolicy, AgentSend};

/// The acts that an assistant may do with a key beside reading. The default allows none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Policy {
    /// Whether tools may change the mailbox, the calendars, the contacts and the tasks.
    pub writes: bool,
    /// The condition for messages and invitations.
    pub send: SendPolicy,
    /// The only recipients under `SendPolicy::Allowed`.
    pub recipients: Vec<Recipient>,
    /// The sends and invitations in an hour.
    pub per_hour: u32,
    /// Whether tools show addresses of links in full.
    pub links: bool,
}

/// The condition for messages and invitations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SendPolicy {
    /// The default: the assistant writes drafts, and a person sends them.
    #[default]
    Drafts,
    /// A person confirms each one in the client.
    Ask,
    /// Sent without a question, to `Policy::recipients` alone.
    Allowed,
}

impl Policy {
    /// Returns the policy of a key with these stored settings; the default for a key without any. An entry of the list of recipients
    /// that cannot be read allows nobody.
    pub fn for_key(stored: Option<&AgentPolicy>) -> Self {
        let Some(stored) = stored else { return Policy::default() };
        Policy {
            writes: stored.writes,
            send: match stored.send {
                AgentSend::Drafts => SendPolicy::Drafts,
                AgentSend::Ask => SendPolicy::Ask,
                AgentSend::Allowed => SendPolicy::Allowed,
            },
            recipients: stored.recipients.iter().filter_map(|text| Recipient::parse(text).ok()).collect(),
            per_hour: u32::try_from(stored.per_hour).unwrap_or(0),
            links: stored.links,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_without_settings_reads_alone() {
        let policy = Policy::for_key(None);
        assert_eq!((policy.writes, policy.send, policy.links), (false, SendPolicy::Drafts, false));
        assert!(policy.recipients.is_empty() && policy.per_hour == 0);
    }

    #[test]
    fn an_unreadable_recipient_allows_nobody() {
        let recipients = ["*@acme.com", "*", "", "*@*"].map(str::to_owned).to_vec();
        let stored = AgentPolicy { recipients, per_hour: -1, ..AgentPolicy::default() };
        let policy = Policy::for_key(Some(&stored));
        assert_eq!(policy.recipients, [Recipient::Domain("acme.com".to_owned())]);
        assert_eq!(policy.per_hour, 0);
    }
}
