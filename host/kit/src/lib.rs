//! The conformance kit: checks one connector against what every host relies on. The connector runs in the production runtime, with its
//! sandbox and its limits; below the policy and the credentials a [`line`] replaces the network: it plays the provider, or injects
//! faults. The kit has its own clock: a wait takes no real time, except those that a real provider asks for ([`pace`]).
//!
//! [`run`] is the entry point, [`CASES`] the list of the checks. [`record`] runs the cases and keeps the provider's answers, so that
//! later runs need no provider.

mod bench;
mod caller;
mod capability;
mod cases;
pub mod compiled;
mod escapes;
mod interceptor;
mod javascript;
mod junit;
mod line;
mod log;
mod mail_args;
mod mail_bench;
mod pace;
pub mod provider;
mod record;
mod recording;
mod report;
mod run;
mod selection;
mod surface_bench;
mod validity;

pub use bench::{Finding, Verdict};
pub use caller::ProviderCredentials;
pub use capability::Capability;
pub use cases::{CASES, Case};
pub use junit::junit;
pub use pace::ProviderTrouble;
pub use record::{RecordingCounts, record};
pub use recording::{Problem, Recording, Rules};
pub use report::{CaseReport, Report};
pub use run::{Options, Provider, run};
