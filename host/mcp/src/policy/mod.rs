//! The way out: which acts of an assistant may reach other people, and under which conditions.
//!
//! A mailbox holds private data and text by strangers. An assistant that reads both may be talked into sending one to the other, and no
//! filter of texts prevents that. So every act that reaches somebody passes `way_out`, which decides by the policy of the key alone.

mod act;
mod settings;
mod way_out;

pub use act::{Act, ActKind, ActRecipient, ActTarget, digest};
pub use settings::{Policy, Recipient, SendPolicy};
pub use way_out::{Passage, confirmed, take_send, way_out};

#[cfg(test)]
mod tests;
