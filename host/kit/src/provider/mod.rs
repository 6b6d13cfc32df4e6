//! Built-in providers that answer the connector's requests.

pub mod notes;
pub mod paper;
mod record_kind;
