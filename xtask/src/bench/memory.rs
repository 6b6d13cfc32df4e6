//! Memory of a process, as the kernel counts it.

use std::fs;

use anyhow::{Context, Result};

/// The resident set now.
pub fn resident_mib(pid: u32) -> Result<f64> {
    status_mib(pid, "VmRSS:")
}

/// Returns the largest resident set since the start, or since the last `forget_peak`.
pub fn peak_mib(pid: u32) -> Result<f64> {
    status_mib(pid, "VmHWM:")
}

/// Resets the peak of the resident set (`proc_pid_clear_refs(5)`).
pub fn forget_peak(pid: u32) -> Result<()> {
    fs::write(format!("/proc/{pid}/clear_refs"), "5").context("cannot reset the server's peak of memory")
}

fn status_mib(pid: u32, name: &str) -> Result<f64> {
    let status =
        fs::read_to_string(format!("/proc/{pid}/status")).context("cannot read the server's memory")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let line = line.with_context(|| format!("there is no {name}"))?;
    let kib: f64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kib / 1024.0)
}
