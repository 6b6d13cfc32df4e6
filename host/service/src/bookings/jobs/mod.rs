//! The job kinds of bookings.

pub mod complete;
pub mod event;
pub mod expire;
pub mod host_removed;
pub mod mail;
pub mod recheck;
pub mod reconcile;
pub mod remind;
