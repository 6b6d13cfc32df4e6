//! The normalized resources, in the contract's order, and what crosses the connector boundary (`wire`).
//! Plain serde types without I/O: the same structs are used by connectors, storage and the API, so they must compile to wasm.
//! Every field is always present in JSON: an unset scalar is `null`, an unset list is `[]`.

pub mod calendar;
pub mod instant;
pub mod wire;

pub use instant::Instant;
