//! Fields that Google cannot keep.

use connector_sdk::{Failure, Outcome, code};
use model::wire::Warning;
use serde_json::json;

/// Returns the warnings of a write without these fields. Fails with `unsupported` if the caller wants all fields kept.
pub fn accept_losses(lost: Vec<Warning>, strict: bool) -> Outcome<Vec<Warning>> {
    match lost.first().filter(|_| strict) {
        Some(first) => {
            let failure = Failure::new(code::UNSUPPORTED, first.message.clone());
            Err(failure.with_detail(json!({ "field": first.target })))
        }
        None => Ok(lost),
    }
}
