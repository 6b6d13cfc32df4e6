//! Why a message could not be sent.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Instant;

/// The reason why a message could not be sent, as its draft and its delivery show it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SendError {
    /// A stable code, such as `outcome_unknown`.
    pub code: String,
    /// A sentence for people.
    pub message: String,
    /// The time of the failure.
    pub at: Option<Instant>,
}
