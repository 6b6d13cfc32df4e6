//! The wasmtime engine: one per process, pooled instances where the address space allows it.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::time::Duration;

use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, WasmBacktraceDetails,
};

use crate::limits::Limits;

/// The period of the epoch ticker: how often a running guest yields and its CPU budget is checked.
pub(crate) const TICK: Duration = Duration::from_millis(5);

/// Part of the names of compiled artefacts. wasmtime itself refuses artefacts of another version; the name distinguishes them.
const WASMTIME: &str = "48.0.8";

/// Table elements that the limiter allows; the pool has room for twice as many, so that the limiter refuses first.
pub(crate) const TABLE_ELEMENTS: usize = 20_000;

/// The allocation of instances' memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// Slots reserved beforehand: some microseconds per instance.
    Pooling,
    /// Mapped for each instance: where the address space is too small for a pool.
    OnDemand,
}

/// An engine for running: with a pool if possible. Starts the epoch ticker, which ends with the engine. `lines`: traps have files
/// and lines of the code, from debug information in components.
pub(crate) fn start(limits: &Limits, lines: bool) -> anyhow::Result<(Engine, Allocation)> {
    let mut config = base(lines);
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(limits)));
    let (engine, allocation) = match Engine::new(&config) {
        Ok(engine) => (engine, Allocation::Pooling),
        Err(error) => {
            tracing::warn!("no address space for pooled instances, allocating on demand: {error:#}");
            (Engine::new(&base(lines))?, Allocation::OnDemand)
        }
    };
    let weak = engine.weak();
    // A thread, not a task: guests may occupy every worker of tokio.
    std::thread::Builder::new().name("epoch".to_owned()).spawn(move || {
        loop {
            std::thread::sleep(TICK);
            match weak.upgrade() {
                Some(engine) => engine.increment_epoch(),
                None => break,
            }
        }
    })?;
    Ok((engine, allocation))
}

/// An engine that only compiles: the same code, no pool, no ticker.
pub(crate) fn compiler(lines: bool) -> anyhow::Result<Engine> {
    Ok(Engine::new(&base(lines))?)
}

/// A fingerprint of the engine and its settings, on which compiled code depends besides the component: part of an artefact's
/// name.
pub(crate) fn fingerprint(engine: &Engine) -> String {
    let mut hasher = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    format!("{WASMTIME}-{}-{:016x}", std::env::consts::ARCH, hasher.finish())
}

fn base(lines: bool) -> Config {
    let mut config = Config::new();
    config
        .epoch_interruption(true)
        .concurrency_support(false)
        // Not `wasm_multi_memory(false)`: adapters of composed components use several memories.
        .wasm_memory64(false)
        .wasm_relaxed_simd(false)
        .memory_init_cow(true)
        // Registering unwind information makes dropping code slow; wasm backtraces do not need it.
        .native_unwind_info(false)
        .wasm_backtrace_details(if lines {
            WasmBacktraceDetails::Enable
        } else {
            WasmBacktraceDetails::Disable
        });
    config
}

fn pool(limits: &Limits) -> PoolingAllocationConfig {
    // More than admission allows: trials at install need instances too.
    let instances = limits.max_concurrent + 8;
    let count = |per_instance: u32| u32::try_from(instances).unwrap_or(1_024) * per_instance;
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(count(1))
        // A counter, no reservation; a Python component has 38 core instances.
        .total_core_instances(count(40))
        .total_memories(count(3))
        .total_tables(count(4))
        .total_stacks(count(1))
        .max_core_instances_per_component(64)
        .max_memories_per_component(4)
        .max_tables_per_component(32)
        .max_tables_per_module(8)
        .table_elements(2 * TABLE_ELEMENTS)
        .max_component_instance_size(4 << 20)
        .max_core_instance_size(4 << 20)
        .max_memory_size((limits.large_mib + 64) << 20)
        .max_unused_warm_slots(16)
        .linear_memory_keep_resident(kept_resident())
        .pagemap_scan(Enabled::Auto)
        .table_keep_resident(16 << 10)
        // More would leave freed memories unwiped for a while.
        .decommit_batch_size(1);
    pool
}

/// Bytes of a slot that are wiped and kept for the next call, instead of returned and requested again page by page: that costs a
/// call that maps a page of records a tenth of its time. Where the kernel cannot report the pages that were written (before Linux
/// 6.7), all of them would be wiped after every call.
fn kept_resident() -> usize {
    if PoolingAllocationConfig::is_pagemap_scan_available() { 8 << 20 } else { 64 << 10 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_of_the_compiler_runs_in_the_pool() {
        let (engine, _) = start(&Limits::default(), false).unwrap();
        assert_eq!(fingerprint(&engine), fingerprint(&compiler(false).unwrap()));
        assert_ne!(
            fingerprint(&engine),
            fingerprint(&compiler(true).unwrap()),
            "code with lines is other code"
        );
    }
}
