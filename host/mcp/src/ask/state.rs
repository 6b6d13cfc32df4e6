//! The sealed state of a question: the act that the person is asked about. The client carries it, and can neither read nor change it.

use getrandom::fill;
use serde::{Deserialize, Serialize};

use crate::api::Api;

/// Milliseconds for which a person may think about a question.
const MAX_AGE_MS: i64 = 10 * 60 * 1_000;
/// Bytes of a nonce.
const NONCE_BYTES: usize = 16;

/// The act that a question is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SealedAct {
    /// The id of the key whose assistant asked.
    pub key_id: String,
    /// The name of the tool.
    pub tool: String,
    /// SHA-256 of the tool's arguments.
    pub arguments: String,
    /// The id of the draft or event; none if the act makes a new record.
    pub target: Option<String>,
    /// The version that the person saw.
    pub etag: Option<String>,
    /// The `Idempotency-Key` of the act, so that a repeated answer acts once.
    pub nonce: String,
    /// The time of the question in Unix ms.
    pub asked_at: i64,
}

impl SealedAct {
    /// Returns the act as a text that a client can carry.
    pub fn seal<A: Api>(&self, api: &A) -> String {
        // A struct of texts and numbers always has a JSON form.
        api.seal(&serde_json::to_string(self).unwrap_or_default())
    }

    /// Reads a text that `seal` returned; none if it was changed, comes from elsewhere or is older than 10 minutes.
    pub fn open<A: Api>(api: &A, state: &str) -> Option<Self> {
        let act: SealedAct = serde_json::from_str(&api.open(state)?).ok()?;
        let age_ms = api.now().saturating_sub(act.asked_at);
        (age_ms <= MAX_AGE_MS).then_some(act)
    }

    /// Whether the act is of this key and this call.
    pub fn is_for(&self, key_id: &str, tool: &str, arguments: &str, target: Option<&str>) -> bool {
        self.key_id == key_id
            && self.tool == tool
            && self.arguments == arguments
            && self.target.as_deref() == target
    }
}

/// Returns a random text for the `Idempotency-Key` of an act.
pub fn new_nonce() -> String {
    let mut bytes = [0; NONCE_BYTES];
    fill(&mut bytes).expect("the operating system's random generator works");
    format!("mcp_{}", hex::encode(bytes))
}
