//! The normalized resources, in the contract's order, and what crosses the connector boundary (`wire`).
//! Plain serde types without I/O: the same structs are used by connectors, storage and the API, so they must compile to wasm.
//! Every field is always present in JSON: an unset scalar is `null`, an unset list is `[]`.

#![deny(missing_docs)]

pub mod admin;
pub mod admin_operations;
pub mod agent;
pub mod application;
pub mod connection;
pub mod provider;
pub mod webhook;

pub mod email;

pub mod calendar;
pub mod calendar_query;

pub mod contacts;

pub mod tasks;

pub mod scheduling;

pub mod bounds;
pub mod capabilities;
pub mod error;
#[cfg(feature = "schema")]
pub mod formats;
pub mod instant;
pub mod resource;
pub mod sync;
pub mod test_mode;
pub mod wire;

mod admin_operators;
mod attendee;
mod availability;
mod conference;
mod connection_status;
mod contact_details;
mod notification;
mod oauth;
mod time_zone_rules;
mod webhook_delivery;
mod webhook_replay;

pub use instant::Instant;

#[cfg(test)]
mod tests;
