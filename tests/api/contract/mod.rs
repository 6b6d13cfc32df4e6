//! Promises of the contract that cut across operations.

mod feeds;
mod hostile;
mod idempotency;
mod isolation;
mod keys;
mod limits;
mod odd_items;
mod operations;
mod quarantine;
mod races;
mod scans;
mod throttling;
