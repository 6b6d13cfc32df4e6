//! Booking: `event_types` makes templates, `links` finds them for people who book, `slots` tells when they can, and `create` takes a slot.
//! `gather` reads what the engine is asked about (`rules` and the crate `scheduling`), `event_write` brings bookings into calendars.

pub mod create;
pub mod event_body;
pub mod event_types;
pub mod event_write;
pub mod gather;
pub mod hosts;
pub mod input;
pub mod links;
pub mod new_booking;
pub mod rules;
pub mod slots;
pub mod state;
pub mod view;
