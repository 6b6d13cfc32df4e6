//! `/v1/calendars`

mod availability;
mod events;
mod freebusy;
mod sync;
mod unreadable;
