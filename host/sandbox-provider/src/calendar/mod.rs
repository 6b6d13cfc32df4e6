//! Calendars and events.

pub mod apart;
pub mod busy;
pub mod calendars;
pub mod events;
pub mod instances;
pub mod invitations;
pub mod listing;
pub mod series;
pub mod types;
mod when;
pub mod write;
