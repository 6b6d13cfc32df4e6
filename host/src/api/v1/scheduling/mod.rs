//! `/v1/scheduling`: event types, slots and bookings.

pub mod availability;
pub mod booking_links;
pub mod bookings;
pub mod event_types;
pub mod schedules;

#[cfg(test)]
mod tests;
