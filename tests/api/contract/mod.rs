//! Promises of the contract that cut across operations.

mod hostile;
mod idempotency;
mod isolation;
mod keys;
mod limits;
mod operations;
