//! Providers for tests, on the loopback interface. Each behaves as its provider is known to behave, and each request and each answer is
//! judged by a document of the provider itself.

pub mod clock;
mod control;
mod door;
mod faults;
pub mod google;
pub mod graph;
pub mod oracle;

pub use faults::{Fault, What};
pub use google::Google;
pub use graph::Graph;
pub use oracle::Violation;
