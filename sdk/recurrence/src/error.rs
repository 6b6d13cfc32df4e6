//! The errors of a series.

use std::fmt;

/// A line that is not a recurrence line, and why. The API's code for it is `invalid_recurrence`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// The line (or field) as given, cut to 120 characters.
    pub line: String,
    /// The fault, and how to fix it.
    pub reason: String,
}

impl Invalid {
    /// The error code of the API.
    pub const CODE: &'static str = "invalid_recurrence";

    pub(crate) fn new(line: &str, reason: impl Into<String>) -> Self {
        Invalid { line: line.chars().take(120).collect(), reason: reason.into() }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "recurrence line {:?}: {}", self.line, self.reason)
    }
}

impl std::error::Error for Invalid {}

/// Why a question about a series has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The series cannot be read.
    Invalid(Invalid),
    /// More instances than `Caps.max_instances` (the value) lie in the range.
    TooManyInstances(usize),
    /// The rule costs more than `Caps.max_steps` (the value) to expand this far.
    TooExpensive(u32),
    /// This recurrence id names no instance of the series.
    NoSuchInstance(String),
    /// The rest of the series from this instance on cannot be written as one rule: the instance is an RDATE between the
    /// periods of a rule with an INTERVAL.
    Unsplittable(String),
}

impl From<Invalid> for Error {
    fn from(invalid: Invalid) -> Self {
        Error::Invalid(invalid)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Invalid(invalid) => invalid.fmt(f),
            Error::TooManyInstances(max) => {
                write!(f, "the series has more than {max} instances in this range; ask for a shorter range")
            }
            Error::TooExpensive(max) => {
                write!(f, "the recurrence rule needs more than {max} steps to expand; use a simpler rule")
            }
            Error::NoSuchInstance(id) => write!(f, "recurrenceId {id:?} names no instance of the series"),
            Error::Unsplittable(id) => {
                write!(
                    f,
                    "the series cannot be split at {id:?}: it is an added date; split at an instance of the rule"
                )
            }
        }
    }
}

impl std::error::Error for Error {}
