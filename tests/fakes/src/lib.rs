//! Providers for tests, on the loopback interface. Each behaves as its provider is known to behave, and each request and each answer is
//! judged by a document of the provider itself.

pub mod clock;
mod control;
mod door;
mod fake;
mod faults;
mod flights;
pub mod google;
pub mod graph;
mod journal;
pub mod oracle;
mod traffic;
mod traps;

pub use fake::{Fake, FakeService};
pub use faults::{Fault, What};
pub use flights::Flights;
pub use google::Google;
pub use graph::Graph;
pub use journal::RecordedRequest;
pub use oracle::Violation;
pub use traps::Traps;
