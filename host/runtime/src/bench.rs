//! What the sandbox costs: a call that does nothing, through [`Runtime::call`] and as a bare wasmtime loop on the same engine.

use std::time::{Duration, Instant};

use anyhow::Context;
use wasmtime::Store;
use wasmtime::component::{ComponentExportIndex, HasSelf, InstancePre, Linker};

use crate::bindings::{CallFn, Request, types};
use crate::call::Call;
use crate::runtime::Runtime;

/// Half and 99 of 100 were faster, µs.
#[derive(Clone, Copy, Debug)]
pub struct Percentiles {
    pub p50_us: f64,
    pub p99_us: f64,
}

/// One run: both loops, taking turns.
#[derive(Clone, Copy, Debug)]
pub struct NoopBench {
    pub calls: usize,
    /// Store, instance, call, drop: wasmtime and nothing else.
    pub bare: Percentiles,
    /// [`Runtime::call`]: admission, policy, limits, meters, log, error handling.
    pub full: Percentiles,
}

impl NoopBench {
    /// How many times dearer the whole call is, at the median.
    pub fn ratio(&self) -> f64 {
        self.full.p50_us / self.bare.p50_us
    }
}

impl Runtime {
    /// For `cargo xtask bench`: what a call costs beside wasmtime alone. `connector` must be of level strict and import nothing
    /// but types; `make` makes a call of it that does nothing.
    pub async fn bench_noop(&self, make: impl Fn() -> Call, calls: usize) -> anyhow::Result<NoopBench> {
        noop(self, make, calls).await
    }
}

struct Bare;

impl types::Host for Bare {}

/// Short, so that what else the machine does meets both loops alike.
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
