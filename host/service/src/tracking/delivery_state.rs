//! The words that the database has for delivery states.

use model::email::DeliveryState;

/// The word that the database has for a state.
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
