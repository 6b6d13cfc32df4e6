//! Keeps background work running: a loop that panics is restarted, and one piece of work that panics fails alone. Panics are bugs of this
//! program; they are logged and counted in `/metrics`.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::app::metrics::Metrics;

/// Wait before a loop that panicked is restarted: doubled each time that it failed soon again.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    pub first: Duration,
    pub longest: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Backoff { first: Duration::from_secs(1), longest: Duration::from_secs(60) }
    }
}

/// Returns the message of a panic.
pub fn panic_message(panic: Box<dyn Any + Send>) -> String {
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => {
            panic.downcast_ref::<&str>().map_or_else(|| "no message".to_owned(), |t| (*t).to_owned())
        }
    }
}

/// Runs one piece of work. The error is the message of a panic in it, which is already logged and counted.
pub async fn caught<T>(
    metrics: &Metrics,
    work: &'static str,
    future: impl Future<Output = T>,
) -> Result<T, String> {
    AssertUnwindSafe(future).catch_unwind().await.map_err(|panic| {
        let said = panic_message(panic);
        metrics.count_panic(work);
        tracing::error!(work, panic = %said, "work in the background panicked");
        said
    })
}

/// Same as `caught` for work that can fail: a panic becomes an error like any other.
pub async fn guarded<T, E: From<anyhow::Error>>(
    metrics: &Metrics,
    work: &'static str,
    future: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    match caught(metrics, work, future).await {
        Ok(outcome) => outcome,
        Err(said) => Err(anyhow::anyhow!("a panic: {said}").into()),
    }
}

/// Runs a loop until `stop` is true, and restarts it whenever it ends before.
pub async fn supervised<F: Future<Output = ()>>(
    metrics: Metrics,
    work: &'static str,
    mut stop: watch::Receiver<bool>,
    backoff: Backoff,
    start: impl Fn() -> F,
) {
    let mut wait = backoff.first;
    loop {
        let began = Instant::now();
        let ended = caught(&metrics, work, start()).await;
        if *stop.borrow() {
            return;
        }
        if ended.is_ok() {
            tracing::error!(work, "a loop in the background ended by itself");
        }
        if began.elapsed() >= backoff.longest {
            wait = backoff.first;
        }
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            // An error: the sender of the stop signal is gone.
            changed = stop.changed() => if changed.is_err() || *stop.borrow() { return },
        }
        wait = (wait * 2).min(backoff.longest);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn a_loop_that_panics_is_started_again_until_it_is_told_to_stop() {
        let metrics = Metrics::default();
        let (stop, stopping) = watch::channel(false);
        let (turns, stop) = (AtomicUsize::new(0), &stop);
        let backoff = Backoff { first: Duration::ZERO, longest: Duration::ZERO };
        let start = || async {
            match turns.fetch_add(1, Ordering::Relaxed) {
                0 => panic!("the first {}", "turn"),
                1 => std::panic::panic_any(7),
                2 => {}
                _ => drop(stop.send_replace(true)),
            }
        };
        supervised(metrics.clone(), "test", stopping, backoff, start).await;
        assert_eq!(turns.load(Ordering::Relaxed), 4);
        assert_eq!(metrics.panics("test"), 2, "an end without a panic is none");
    }

    #[tokio::test]
    async fn work_that_panics_fails_alone() {
        let metrics = Metrics::default();
        let hostile = guarded(&metrics, "test", async {
            let text = String::from("202é0301");
            anyhow::Ok(text.get(..4).expect("a char boundary").to_owned())
        });
        let said = hostile.await.expect_err("it panics");
        assert!(said.to_string().contains("char boundary"), "{said}");
        assert_eq!(guarded(&metrics, "test", async { anyhow::Ok(1) }).await.expect("it goes on"), 1);
        assert_eq!(metrics.panics("test"), 1);
    }
}
