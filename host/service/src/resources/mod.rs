//! Provider-backed resources: the common path of all kinds. A write goes to the provider first and is stored with its log line and its
//! idempotent answer in one transaction.
//!
//! One window cannot be closed by SQL: the process dies after the provider has accepted the write and before the commit. So a claim on the
//! Idempotency-Key is on disk before the call; a retry that finds it (`IdempotentAttempt::resumed`) checks the provider first; and a create
//! gives the provider an id made from the key, so that a repeated create finds the first one.

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
