//! Cases that are the same for the items of every surface: tasks, events, contacts.

pub mod changes;
pub mod discovery;
pub mod faults;
pub mod meanwhile;
pub mod operations;
pub mod paging;
pub mod paths;
pub mod reading;
pub mod secrets;
pub mod sent_fields;
pub mod walks;
pub mod writing;
