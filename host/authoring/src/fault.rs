//! Why something could not be done, and what to do about it.

use std::fmt;
use std::path::Path;

pub type Result<T> = std::result::Result<T, Fault>;

/// An error that the author of a connector can mend. Every one says how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// One sentence without a full stop: what is wrong.
    pub said: String,
    /// What to do, as an order: the command to type, the line to write.
    pub help: String,
}

impl Fault {
    pub fn new(said: impl Into<String>, help: impl Into<String>) -> Self {
        Fault { said: said.into(), help: help.into() }
    }

    /// A file or a folder could not be read or written.
    pub(crate) fn of_file(doing: &str, path: &Path, error: impl fmt::Display) -> Self {
        Fault::new(
            format!("cannot {doing} {}: {error}", path.display()),
            "check that the folder is there, that you may write to it, and that the disk has room",
        )
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said)
    }
}

impl std::error::Error for Fault {}
