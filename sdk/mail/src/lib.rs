//! Internet mail as pure functions: MIME into the model and back, addresses, conversations, delivery reports, safe HTML.
//!
//! Nothing here opens a file, reads the clock or starts a thread, so it runs in a connector as well as in the host. All input is
//! taken to be hostile: every function answers within time and memory that are bounded by the length of its input.

#![deny(missing_docs)]

pub mod address;
#[cfg(feature = "build")]
pub mod build;
mod characters;
pub mod check;
pub mod cid;
pub mod foreign;
pub mod html;
pub mod read;
pub mod report;
pub mod text;
pub mod threads;
