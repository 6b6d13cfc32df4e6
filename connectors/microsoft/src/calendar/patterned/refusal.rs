//! The refusal of a rule.

use connector_sdk::Failure;
use serde_json::json;

/// The reason why Graph cannot repeat an event as a rule says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleRefusal {
    /// Completes "the provider cannot repeat an event so: …".
    pub reason: String,
}

impl RuleRefusal {
    /// Returns a refusal for this reason.
    pub fn new(reason: impl Into<String>) -> Self {
        RuleRefusal { reason: reason.into() }
    }
}

impl From<RuleRefusal> for Failure {
    fn from(refusal: RuleRefusal) -> Self {
        let failure = Failure::unsupported("this recurrence").with_detail(json!({ "field": "recurrence" }));
        let message = format!("the provider cannot repeat an event so: {}", refusal.reason);
        Failure { message, ..failure }
    }
}
