//! Problems of recording and replay, each with its remedy.

use std::fmt;

/// An error that the author of a connector can fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// One sentence without a full stop: what is wrong.
    pub said: String,
    /// The remedy: the command to type, or the line to write.
    pub help: String,
}

impl Problem {
    /// A problem with its remedy.
    pub fn new(said: impl Into<String>, help: impl Into<String>) -> Self {
        Problem { said: said.into(), help: help.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said)
    }
}

impl std::error::Error for Problem {}
