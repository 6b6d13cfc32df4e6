//! A spawned task that is aborted when its waiter is dropped.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::task::JoinHandle;

/// Aborts the work when dropped. Yields none if it panicked or its runtime is gone.
pub(crate) struct ScopedTask<T>(JoinHandle<T>);

impl<T> ScopedTask<T> {
    pub(crate) fn new(handle: JoinHandle<T>) -> Self {
        ScopedTask(handle)
    }
}

impl<T> Future for ScopedTask<T> {
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        Pin::new(&mut self.0).poll(cx).map(Result::ok)
    }
}

impl<T> Drop for ScopedTask<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
