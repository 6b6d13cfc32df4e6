//! `/v1/calendars`

mod apart;
mod availability;
mod convergence;
mod cost;
mod events;
mod freebusy;
mod recurrence;
mod sync;
mod unreadable;
