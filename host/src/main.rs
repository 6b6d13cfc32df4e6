//! The `switchboard` program. Everything is in the library; see `cli`.

use std::process::ExitCode;

/// Requests and rows are many small allocations; the system's allocator takes twice the time for them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    switchboard::cli::run()
}
