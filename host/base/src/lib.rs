//! What everything in the host is built on: clock and randomness, ids, errors, tenants, scopes, keys, and how input is read.
//! It needs no tokio and builds for WebAssembly, where a test counts the instructions of `input`.

pub mod clock;
pub mod error;
pub mod file_lock;
pub mod ids;
pub mod input;
pub mod keyring;
pub mod retry_after;
pub mod scopes;
pub mod tenant;
