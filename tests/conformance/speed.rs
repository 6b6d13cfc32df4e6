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
        let bench_line = serde_json::json!({
            "what": format!("no-op connector call, {}", if guest_threads == 0 { "on the caller's threads" } else { "on threads of its own" }),
            "ours": format!("p50 {:.1} µs, p99 {:.1} µs", bench.full.p50_us, bench.full.p99_us),
            "baseline": format!("bare wasmtime, same pool: p50 {:.1} µs, p99 {:.1} µs", bench.bare.p50_us, bench.bare.p99_us),
            "figure": bench.ratio(),
            "unit": "×",
            "atMost": 3.0,
        });
        println!("BENCH {bench_line}");
        world.settled().await;
    }
}
