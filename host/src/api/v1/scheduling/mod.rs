//! `/v1/scheduling`: what can be booked, when, and bookings.

pub mod availability;
pub mod booking_links;
pub mod bookings;
pub mod event_types;
pub mod schedules;
