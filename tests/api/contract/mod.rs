//! Promises of the contract that cut across operations.

mod idempotency;
mod isolation;
mod keys;
mod limits;
mod operations;
