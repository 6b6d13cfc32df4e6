//! Clients that send requests during another measurement. Any status is an answer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Result, anyhow};

use crate::bench::providers::host::ProviderHost;

/// The time from an answer to the next request of a client: requests that are refused at once would use up the processor.
const PAUSE: Duration = Duration::from_millis(20);

/// The answers to the clients.
#[derive(Clone, Copy, Default)]
pub struct AnswerCount {
    pub accepted: u64,
    pub refused: u64,
}

/// Runs `work` while this many clients read these paths, each as fresh as the provider. Returns the result of `work` and the answers to the
/// clients.
pub fn under_pressure<T>(
    host: &ProviderHost,
    paths: &[String],
    clients: usize,
    work: impl FnOnce() -> Result<T>,
) -> Result<(T, AnswerCount)> {
    let is_done = &AtomicBool::new(false);
    thread::scope(|scope| {
        let clients: Vec<_> =
            (0..clients).map(|first| scope.spawn(move || read_until(host, paths, first, is_done))).collect();
        let result = work();
        is_done.store(true, Ordering::Relaxed);
        let mut count = AnswerCount::default();
        for client in clients {
            let own = client.join().map_err(|_| anyhow!("a client panicked"))??;
            count.accepted += own.accepted;
            count.refused += own.refused;
        }
        Ok((result?, count))
    })
}

fn read_until(
    host: &ProviderHost,
    paths: &[String],
    first: usize,
    is_done: &AtomicBool,
) -> Result<AnswerCount> {
    let client = host.another_client();
    let mut count = AnswerCount::default();
    for path in paths.iter().cycle().skip(first) {
        if is_done.load(Ordering::Relaxed) {
            break;
        }
        let answer = client.send("GET", path, &[("cache-control", "no-cache")], None)?;
        match answer.status {
            200 => count.accepted += 1,
            _ => count.refused += 1,
        }
        thread::sleep(PAUSE);
    }
    Ok(count)
}
