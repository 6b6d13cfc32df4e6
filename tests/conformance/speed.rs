//! What the sandbox costs. Figures, not promises: `cargo xtask bench` holds the promises, in a release build.

use switchboard::runtime::Limits;

use crate::world::{World, call};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_does_nothing_is_cheap() {
    for guest_threads in [2, 0] {
        let world = World::start(Limits { guest_threads, ..Limits::default() }, &[]).await;
        world.install("noop", "").await;
        let bench = world.runtime.bench_noop(|| call("noop"), 2_000).await.unwrap();
        println!("guest threads {guest_threads}: ratio {:.1}, {bench:?}", bench.ratio());
        world.settled().await;
    }
}
