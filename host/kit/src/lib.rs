//! The conformance kit: checks one connector against what every host relies on. The connector runs in the production runtime, with its
//! sandbox and its limits; below the policy and the credentials a [`line`] stands in place of the network, which plays the provider or
//! makes faults on the way to it. Time is the kit's own: a wait costs none, but those that a real provider asks for ([`pace`]).
//!
//! [`run`] is the way in, [`CASES`] the list of the checks. [`record`] keeps what a provider answers meanwhile, so
//! that later runs need no provider.

mod bench;
mod caller;
mod capability;
mod cases;
pub mod compiled;
mod escapes;
mod interceptor;
mod junit;
mod line;
mod log;
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
pub use capability::Capability;
pub use cases::{CASES, Case};
pub use junit::junit;
pub use pace::ProviderTrouble;
pub use record::{Saved, record};
pub use recording::{Problem, Recording, Rules};
pub use report::{CaseReport, Report};
pub use run::{Options, Provider, run};
