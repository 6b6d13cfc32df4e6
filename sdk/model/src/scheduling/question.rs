//! The questions of an event type to its invitees.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A question to the invitee.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Question {
    /// The key in `answers`.
    pub key: String,
    /// The text of the question.
    pub label: String,
    /// The kind of answer.
    #[serde(rename = "type")]
    pub kind: QuestionKind,
    /// Whether an answer is needed.
    pub required: bool,
    /// The choices of `select` and `multiselect`.
    pub options: Vec<String>,
}

/// The kind of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum QuestionKind {
    /// One line of text.
    #[default]
    Text,
    /// Several lines of text.
    Textarea,
    /// One of `options`.
    Select,
    /// Any of `options`.
    Multiselect,
    /// Yes or no.
    Boolean,
    /// A number.
    Number,
    /// A phone number.
    Phone,
    /// An email address.
    Email,
}
