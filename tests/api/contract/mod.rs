//! Promises of the contract that cut across operations.

mod account_limits;
mod clients_document;
mod cors;
mod fairness;
mod feeds;
mod full_disk;
mod hostile;
pub mod idempotency;
mod isolation;
mod key_rotation;
mod keys;
mod late_feeds;
mod limits;
mod messages;
mod noted_waits;
mod odd_items;
mod operations;
mod page_bytes;
mod page_parts;
mod quarantine;
mod races;
mod scans;
mod second_reading;
mod statements;
mod statements_jobs;
mod throttling;
