//! The parts of a batch and their results.

use crate::http::{Request, Response};

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
