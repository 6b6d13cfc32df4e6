//! The `switchboard` program once more: cargo builds a package's own binaries for its tests, but not those of a dependency.

use std::process::ExitCode;

fn main() -> ExitCode {
    switchboard::cli::run()
}
