//! Cost of the sandbox: a call that does nothing, through [`Runtime::call`] and as a bare wasmtime loop on the same engine.

use std::time::{Duration, Instant};

use anyhow::Context;
use wasmtime::Store;
use wasmtime::component::{ComponentExportIndex, HasSelf, InstancePre, Linker};

use crate::bindings::{CallFn, Request, types};
use crate::call::Call;
use crate::runtime::Runtime;

/// Percentiles 50 and 99 of the durations, µs.
#[derive(Clone, Copy, Debug)]
pub struct Percentiles {
    pub p50_us: f64,
    pub p99_us: f64,
}

/// One run: both loops, alternating.
#[derive(Clone, Copy, Debug)]
pub struct NoopBench {
    pub calls: usize,
    /// Store, instance, call, drop: wasmtime alone.
    pub bare: Percentiles,
    /// [`Runtime::call`]: admission, policy, limits, meters, log, error handling.
    pub full: Percentiles,
}

impl NoopBench {
    /// The ratio of the whole call's cost to the bare one, at the median.
    pub fn ratio(&self) -> f64 {
        self.full.p50_us / self.bare.p50_us
    }
}

impl Runtime {
    /// For `cargo xtask bench`: the cost of a call beside wasmtime alone. `connector` must be of level strict and import nothing
    /// but types; `make` makes a call of it that does nothing.
    pub async fn bench_noop(&self, make: impl Fn() -> Call, calls: usize) -> anyhow::Result<NoopBench> {
        noop(self, make, calls).await
    }
}

struct Bare;

impl types::Host for Bare {}

/// Small, so that other load of the machine affects both loops alike.
const BATCH: usize = 100;

async fn noop(runtime: &Runtime, make: impl Fn() -> Call, calls: usize) -> anyhow::Result<NoopBench> {
    let sample = make();
    let loaded = runtime.find(&sample.connector).context("the connector is not installed")?;
    let at = *loaded
        .index
        .get(&(sample.surface, sample.verb))
        .context("the connector does not have this function")?;
    let component = loaded.pre.component().clone();
    let mut linker = Linker::new(component.engine());
    types::add_to_linker::<Bare, HasSelf<Bare>>(&mut linker, |s| s)?;
    let pre = linker.instantiate_pre(&component)?;
    let (mut bare, mut full) = (Vec::with_capacity(calls), Vec::with_capacity(calls));
    for _ in 0..calls.div_ceil(BATCH) {
        for _ in 0..BATCH {
            let started = Instant::now();
            bare_call(&pre, &at).await?;
            bare.push(started.elapsed());
        }
        for _ in 0..BATCH {
            let call = make();
            let started = Instant::now();
            runtime.call(call).await?;
            full.push(started.elapsed());
        }
    }
    Ok(NoopBench { calls: full.len(), bare: percentiles(bare), full: percentiles(full) })
}

async fn bare_call(pre: &InstancePre<Bare>, at: &ComponentExportIndex) -> wasmtime::Result<()> {
    let mut store = Store::new(pre.engine(), Bare);
    store.set_epoch_deadline(u64::MAX / 2);
    let instance = pre.instantiate_async(&mut store).await?;
    let function: CallFn = instance.get_typed_func(&mut store, at)?;
    let request = Request {
        op: "noop".to_owned(),
        body: "{}".to_owned(),
        cursor: None,
        idempotency_key: None,
        deadline_ms: 60_000,
        extra: Vec::new(),
    };
    let _ = function.call_async(&mut store, (request,)).await?;
    Ok(())
}

fn percentiles(mut times: Vec<Duration>) -> Percentiles {
    times.sort_unstable();
    let at = |share: f64| {
        let index = (times.len() as f64 * share) as usize;
        times.get(index.min(times.len().saturating_sub(1))).map_or(0.0, |t| t.as_secs_f64() * 1e6)
    };
    Percentiles { p50_us: at(0.5), p99_us: at(0.99) }
}
