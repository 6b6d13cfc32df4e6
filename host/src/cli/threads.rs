//! The threads of a command.

use std::time::Duration;

use anyhow::{Context, Result};

/// Runs `work` on a runtime that does not wait for threads that are still running when it is done.
pub fn block_on<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the threads of the process")?;
    let result = runtime.block_on(work);
    runtime.shutdown_timeout(Duration::from_millis(200));
    result
}
