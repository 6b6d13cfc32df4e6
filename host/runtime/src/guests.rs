//! Threads of guests. A call begins on its caller's thread: most are done, or wait for their provider, before they have computed
//! for a tick of the epoch, and a hop to another thread and back would cost more than all the rest of the sandbox. A guest that
//! still computes then moves to a separate pool of threads, so that it does not hold up requests.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use anyhow::Context;
use compute::come_after_requests;
use futures::FutureExt;
use futures::future::poll_fn;

use crate::spawned::ScopedTask;

/// The threads for guests that compute.
pub(crate) struct Guests(Option<tokio::runtime::Runtime>);

/// Whether a guest was seen computing. Clones are one.
#[derive(Clone, Default)]
pub(crate) struct Computes(Arc<AtomicBool>);

impl Computes {
    /// Records that the guest used the processor until a tick.
    pub(crate) fn seen(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_so(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Guests {
    /// Starts `threads` threads, one at the least.
    pub(crate) fn start(threads: usize) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(threads.max(1))
            .thread_name("guest")
            .on_thread_start(come_after_requests)
            .enable_all()
            .build()
            .context("starting the threads for connectors")?;
        Ok(Guests(Some(runtime)))
    }

    /// Does `work` here until `computes` says that it should move, and then on the pool. Ends with the future; none if it
    /// panicked.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        computes: Computes,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        // A guest that neither waits nor computes for a tick never yields its thread: a caller that calls it repeatedly has to
        // yield.
        tokio::task::coop::consume_budget().await;
        let mut work = Box::pin(AssertUnwindSafe(work).catch_unwind());
        let here = poll_fn(|cx| match work.as_mut().poll(cx) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending if computes.is_so() => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        });
        match here.await {
            Some(done) => done.ok(),
            None => ScopedTask::new(self.0.as_ref()?.spawn(work)).await?.ok(),
        }
    }
}

impl Drop for Guests {
    fn drop(&mut self) {
        // Dropping a tokio runtime waits, which is not allowed inside another one.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread() -> String {
        std::thread::current().name().unwrap_or_default().to_owned()
    }

    #[tokio::test]
    async fn only_work_that_computes_moves() {
        let guests = Guests::start(1).unwrap();
        let here = guests.run(Computes::default(), async { thread() }).await.unwrap();
        assert_eq!(here, thread());
        let waits = async {
            tokio::task::yield_now().await;
            thread()
        };
        assert_eq!(guests.run(Computes::default(), waits).await.unwrap(), thread());
        let computes = Computes::default();
        let work = {
            let computes = computes.clone();
            async move {
                computes.seen();
                tokio::task::yield_now().await;
                thread()
            }
        };
        assert_eq!(guests.run(computes, work).await.unwrap(), "guest");
    }

    #[tokio::test]
    async fn who_calls_over_and_over_lets_others_have_a_turn() {
        let guests = Guests::start(1).unwrap();
        let other = tokio::spawn(async {});
        let mut calls = 0;
        while !other.is_finished() && calls < 10_000 {
            guests.run(Computes::default(), async {}).await.unwrap();
            calls += 1;
        }
        assert!(other.is_finished());
    }

    #[tokio::test]
    async fn a_panic_ends_the_work_alone() {
        let guests = Guests::start(1).unwrap();
        let work = async { panic!("a fault of the host") };
        assert!(guests.run::<()>(Computes::default(), work).await.is_none());
    }
}
