//! The questions of an event type to its invitees.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[cfg(feature = "schema")]
use crate::bounds;
#[cfg(feature = "schema")]
use crate::formats;

/// A question to the invitee.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(transform = formats::RequiredFields(&["key", "label"])))]
pub struct Question {
    /// The key of the answer in `answers`: 1 to 64 letters, digits, `_` and `-`, unique within the event type.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^[A-Za-z0-9_-]{1,64}$")))]
    pub key: String,
    /// The text of the question, at most 256 characters.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = bounds::scheduling::MAX_LABEL), regex(pattern = r"\S")))]
    pub label: String,
    /// The kind of answer.
    #[serde(rename = "type")]
    pub kind: QuestionKind,
    /// Whether the question must be answered.
    pub required: bool,
    /// The choices of `select` and `multiselect`, 1 to 100 texts of at most 256 characters, each once. Empty for other kinds.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::scheduling::MAX_OPTIONS), inner(length(max = bounds::scheduling::MAX_LABEL)), extend("uniqueItems" = true)))]
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
