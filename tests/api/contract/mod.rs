//! Promises of the contract that cut across operations.

mod cors;
mod fairness;
mod feeds;
mod hostile;
mod idempotency;
mod isolation;
mod keys;
mod limits;
mod odd_items;
mod operations;
mod page_bytes;
mod quarantine;
mod races;
mod scans;
mod throttling;
