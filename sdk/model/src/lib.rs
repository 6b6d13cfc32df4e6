//! The normalized resources, in the contract's order, and what crosses the connector boundary (`wire`).
//! Plain serde types without I/O: the same structs are used by connectors, storage and the API, so they must compile to wasm.
//! Every field is always present in JSON: an unset scalar is `null`, an unset list is `[]`.

#![deny(missing_docs)]

pub mod admin;
pub mod admin_operations;
pub mod application;
pub mod connection;
pub mod webhook;

pub mod email;

pub mod calendar;
pub mod calendar_query;

pub mod contacts;

pub mod tasks;

pub mod scheduling;

pub mod capabilities;
pub mod error;
pub mod instant;
pub mod resource;
pub mod sync;
pub mod wire;

mod attendee;
mod availability;
mod conference;
mod contact_details;
mod webhook_replay;

pub use instant::Instant;

#[cfg(test)]
mod tests;
