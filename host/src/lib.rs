//! The Switchboard host: one API over mailboxes, calendars, address books and task lists, with every provider behind a
//! WebAssembly component. Modules in reading order.

pub mod clock;
pub mod error;
pub mod ids;
pub mod keyring;
pub mod storage;
pub mod tenant;
