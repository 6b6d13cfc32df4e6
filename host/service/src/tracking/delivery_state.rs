//! The database's names of delivery states.

use model::email::DeliveryState;

/// Returns the database's name of a state.
pub fn word(state: DeliveryState) -> &'static str {
    match state {
        DeliveryState::Queued => "queued",
        DeliveryState::Sending => "sending",
        DeliveryState::Sent => "sent",
        DeliveryState::PartiallyFailed => "partially_failed",
        DeliveryState::Failed => "failed",
        DeliveryState::Bounced => "bounced",
        DeliveryState::Cancelled => "cancelled",
    }
}
