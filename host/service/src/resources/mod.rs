//! Provider-backed resources: what is the same for all of them. A write goes to the provider first and is stored with its log
//! line and its idempotent answer in one transaction.
//!
//! One window cannot be closed by SQL: the provider has accepted the write and we die before the commit. So a claim on the
//! Idempotency-Key is on disk before the call; a retry that finds it is told so (`Attempt::resumed`) and looks at the
//! provider first; and a create gives the provider an id made from the key, so that a repeated one finds the first.

pub mod calendars;
pub mod capabilities;
pub mod collection_items;
pub mod collections;
pub mod contacts;
pub mod disconnect;
pub mod events;
pub mod mail;
pub mod open_item;
pub mod readable;
pub mod tasks;
