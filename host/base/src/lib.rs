//! Foundations of the host: clock and randomness, ids, errors, tenants, scopes, keys, and the parsing of input. It needs no tokio
//! and builds for WebAssembly, where a test counts the instructions of `input`.

pub mod clock;
pub mod error;
pub mod file_lock;
pub mod ids;
pub mod input;
pub mod keyring;
pub mod recipients;
pub mod retry_after;
pub mod scopes;
pub mod tenant;
