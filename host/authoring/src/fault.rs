//! Errors for the author of a connector, each with its remedy.

use std::fmt;
use std::path::Path;

pub type Result<T> = std::result::Result<T, Fault>;

/// An error that the author of a connector can fix, with its remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// One sentence without a full stop: what is wrong.
    pub said: String,
    /// The remedy, as an order: the command to type, the line to write.
    pub help: String,
}

impl Fault {
    pub fn new(said: impl Into<String>, help: impl Into<String>) -> Self {
        Fault { said: said.into(), help: help.into() }
    }

    /// A failure to read or write a file or folder.
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
