//! Converts refusals to errors of the command line, and gives errors their remedy.

use authoring::Fault;
use base::error::Error;

/// The message of a refusal, as the error of a command.
pub fn command_error(error: Error) -> anyhow::Error {
    match error {
        Error::Refused(refusal) => anyhow::anyhow!(refusal.message),
        Error::Internal(cause) => cause,
    }
}

/// An error with its remedy, which is printed as a line of its own.
pub fn failure(cause: impl Into<String>, help: impl Into<String>) -> anyhow::Error {
    Fault::new(cause, help).into()
}

/// Fails with a cause and its remedy unless `holds`.
pub fn ensure_or_help(
    holds: bool,
    cause: impl FnOnce() -> String,
    help: impl FnOnce() -> String,
) -> anyhow::Result<()> {
    if holds { Ok(()) } else { Err(failure(cause(), help())) }
}

/// Adds a remedy to an error that has none.
pub fn with_help(error: anyhow::Error, help: &str) -> anyhow::Error {
    match error.is::<Fault>() {
        true => error,
        false => failure(format!("{error:#}"), help),
    }
}
