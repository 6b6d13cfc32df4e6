//! Converts refusals to errors of the command line, and gives errors their remedy.

use std::fmt;

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

/// The exit code for wrong usage.
pub const WRONG_USAGE: u8 = 2;
/// The exit code for a server that cannot be reached, or that fails.
pub const SERVER_FAILED: u8 = 4;
/// The exit code after Ctrl-C, as shells have it.
pub const INTERRUPTED: u8 = 130;

/// A failure with an exit code of its own, its cause and its remedy.
#[derive(Debug)]
struct ExitFailure {
    code: u8,
    fault: Fault,
}

impl fmt::Display for ExitFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fault.fmt(f)
    }
}

impl std::error::Error for ExitFailure {}

/// An error with its remedy that ends the process with `code`.
pub fn exit_failure(code: u8, cause: impl Into<String>, help: impl Into<String>) -> anyhow::Error {
    ExitFailure { code, fault: Fault::new(cause, help) }.into()
}

/// The exit code that an error ends the process with.
pub fn exit_code(error: &anyhow::Error) -> u8 {
    error.downcast_ref::<ExitFailure>().map_or(1, |failure| failure.code)
}

/// The lines that show an error: its cause, and its remedy if it has one.
pub fn render(error: &anyhow::Error) -> String {
    let of_exit = || error.downcast_ref::<ExitFailure>().map(|failure| &failure.fault);
    let fault = error.downcast_ref::<Fault>().or_else(of_exit);
    let help = fault.map(|fault| format!("help: {}\n", fault.help));
    format!("error: {error:#}\n{}", help.unwrap_or_default())
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
    match error.is::<Fault>() || error.is::<ExitFailure>() {
        true => error,
        false => failure(format!("{error:#}"), help),
    }
}
