//! Cases that are the same for the items of every surface: events, contacts.

pub mod changes;
pub mod discovery;
pub mod paging;
pub mod reading;
pub mod writing;
