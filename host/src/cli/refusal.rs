//! Converts refusals to errors of the command line.

use base::error::Error;

/// The message of a refusal, as the error of a command.
pub fn command_error(error: Error) -> anyhow::Error {
    match error {
        Error::Refused(refusal) => anyhow::anyhow!(refusal.message),
        Error::Internal(cause) => cause,
    }
}
