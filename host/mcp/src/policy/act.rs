//! Acts that reach other people.

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::tool::ToolError;

/// The kind of an act that reaches other people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActKind {
    /// Sends an email.
    Email,
    /// Invites people to an event.
    Invitation,
    /// Answers an invitation, with a comment to its organizer that other guests may see.
    Response,
    /// Sends a change of an event to its participants.
    EventUpdate,
    /// Sends a cancellation of an event to its participants.
    Cancellation,
}

impl ActKind {
    /// The question to a person about an act of this kind.
    pub(crate) fn question(self) -> &'static str {
        match self {
            ActKind::Email => "Send this email?",
            ActKind::Invitation => "Send this invitation?",
            ActKind::Response => "Send this answer to the organizer and the other guests?",
            ActKind::EventUpdate => "Send this change to the participants?",
            ActKind::Cancellation => "Send this cancellation to the participants?",
        }
    }

    /// The refusal of an act of this kind that a person has to do.
    pub(crate) fn person_required(self) -> ToolError {
        let (message, remedy) = match self {
            ActKind::Email => (
                "a person has to send it: it is in the drafts",
                "Tell the user that the message is in the drafts of the account, and has to be sent from there.",
            ),
            ActKind::Invitation => (
                "a person has to send the invitation: this key cannot notify anybody",
                "Tell the user to invite the people in the calendar.",
            ),
            ActKind::Response => (
                "a person has to send the answer: this key cannot notify anybody",
                "Tell the user to answer the invitation in the calendar.",
            ),
            ActKind::EventUpdate | ActKind::Cancellation => (
                "a person has to make this change: it notifies the participants, and this key cannot notify anybody",
                "Tell the user which change to make in the calendar.",
            ),
        };
        ToolError::new("person_required", message).remedy(remedy)
    }
}

/// The record that an act is about, in the version that the person is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActTarget {
    pub id: String,
    pub etag: String,
}

/// A recipient of an act.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActRecipient {
    /// The field that names the recipient: `to`, `cc`, `bcc`, `attendees`.
    pub field: &'static str,
    /// The address alone, without a display name.
    pub email: String,
}

/// An act that reaches other people.
#[derive(Clone, Debug)]
pub struct Act {
    pub kind: ActKind,
    /// The name of the tool.
    pub tool: &'static str,
    /// SHA-256 of all arguments of the tool, in hexadecimal digits: see `digest`.
    pub arguments: String,
    /// The draft or event; none if the act makes a new record.
    pub target: Option<ActTarget>,
    /// All recipients, those of copies and blind copies included.
    pub recipients: Vec<ActRecipient>,
    /// The subject or title.
    pub subject: String,
    /// The text. The question shows its beginning.
    pub excerpt: String,
    /// The names of the files.
    pub files: Vec<String>,
    /// Further lines of the question, label and value: all that a person would not expect, such as another address for replies.
    pub details: Vec<(&'static str, String)>,
}

/// Returns the SHA-256 of a tool's arguments in hexadecimal digits. The order of an object's fields does not count.
pub fn digest(arguments: &Value) -> String {
    hex::encode(Sha256::digest(sorted(arguments).to_string()))
}

/// Returns the value with the fields of each object in the order of their names.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            fields.into_iter().map(|(name, value)| (name.clone(), sorted(value))).collect()
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::digest;

    #[test]
    fn the_digest_is_of_the_arguments_and_not_of_their_order() {
        let one = digest(&json!({"draftId": "dft_1", "to": [{"email": "a@x.test", "name": null}]}));
        assert_eq!(one, digest(&json!({"to": [{"name": null, "email": "a@x.test"}], "draftId": "dft_1"})));
        assert_ne!(one, digest(&json!({"draftId": "dft_1", "to": [{"email": "b@x.test", "name": null}]})));
        assert_eq!(one.len(), 64);
    }
}
