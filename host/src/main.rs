//! The `switchboard` program. Everything is in the library; see `cli`.

use std::process::ExitCode;

fn main() -> ExitCode {
    switchboard::cli::run()
}
