//! The parts of a batch and their results.

use crate::http::{Request, Response};

/// Most units of one request.
const MAX_UNITS: u32 = 1_000_000;

/// A request of a batch. It has no blobs, and its units are those of [`Request::units`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Part {
    /// The name that its outcome has. Not sent.
    pub id: String,
    /// The request of the part.
    pub request: Request,
}

impl Part {
    /// The part with this name.
    pub fn new(id: impl Into<String>, request: Request) -> Self {
        Part { id: id.into(), request }
    }
}

/// The outcome of a part.
#[derive(Clone, Debug, PartialEq)]
pub enum PartOutcome {
    /// An answer, of any status.
    Answered(Response),
    /// No answer yet: the provider asks for a wait, or has left the part out. It proves nothing about the request.
    Missing,
}

/// The order in which the provider runs the parts of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartOrder {
    /// Any, and several at a time.
    Any,
    /// One after the other, each only where those before it succeeded.
    InTurn,
}

/// Returns the units of a batch with these parts: those that each names, else 1.
pub(super) fn total_units(parts: &[Part]) -> u32 {
    let units = |request: &Request| {
        let named = request.extra.iter().find(|(name, _)| name == "units");
        named.and_then(|(_, units)| units.parse().ok()).unwrap_or(1)
    };
    let sum = parts.iter().map(|part| units(&part.request)).fold(0, u32::saturating_add);
    sum.clamp(1, MAX_UNITS)
}
