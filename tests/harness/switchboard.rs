//! The `switchboard` program, built again here: cargo builds a package's own binaries for its tests, but not those of a dependency.

use std::process::ExitCode;

fn main() -> ExitCode {
    switchboard::cli::run()
}
