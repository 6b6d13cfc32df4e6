//! The SDK for connectors. A connector is a unit type that implements one trait per surface and is handed to
//! [`export_connector!`]; everything a method may touch (HTTP, clock, randomness, log) comes with its [`Context`], so the same
//! code runs in the sandbox and in a native test.
//!
//! ```
//! use connector_sdk::{Answer, Calendar, Context, Outcome, export_connector};
//! use model::wire::{ChangesRequest, Sources};
//!
//! struct Nothing;
//!
//! impl Calendar for Nothing {
//!     fn list_calendars(_: &Context, _: ChangesRequest) -> Outcome<Answer<Sources>> {
//!         Ok(Answer::whole(Sources { sources: Vec::new(), enumeration: true, ..Sources::default() }))
//!     }
//! }
//!
//! export_connector!(Nothing, [calendar]);
//! # fn main() {}
//! ```

#![deny(missing_docs)]

#[cfg(target_arch = "wasm32")]
#[expect(unsafe_code, reason = "an allocator is made of raw memory")]
mod allocator;
#[expect(missing_docs, reason = "wit-bindgen writes it, without docs of modules and functions")]
mod bindings;
mod context;
mod dispatch;
mod error;
mod export;
mod guest;
pub mod http;
mod http_error;
pub mod rest;
pub mod surface;
pub mod tcp;
#[cfg(feature = "testing")]
pub mod testing;

pub use context::{Answer, Context, Host, Level};
pub use dispatch::{CallRequest, CallResponse};
pub use error::{Failure, Outcome, code};
pub use model;
pub use surface::{Calendar, Contacts, Email, Lifecycle, Tasks, Watch};

/// The code that [`export_connector!`] expands to. Not for connectors.
#[doc(hidden)]
pub mod private {
    pub use crate::bindings::{calendar, contacts, email, lifecycle, tasks, watch};
    pub use crate::guest::Guest;
}
