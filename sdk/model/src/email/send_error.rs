//! Why a message could not be sent.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Instant;

/// The reason why a message could not be sent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SendError {
    /// A stable code of the cause, such as `outcome_unknown`.
    pub code: String,
    /// A sentence that explains the cause, for people.
    pub message: String,
    /// The time of the failure; null if unknown.
    pub at: Option<Instant>,
}
