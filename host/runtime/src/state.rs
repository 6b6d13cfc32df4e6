//! State of a store during one call: the meters, the log, the blobs and the egress.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use sha2::{Digest, Sha256};
use wasmtime::ResourceLimiter;
use wasmtime::component::ResourceTable;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use crate::blobs::Blobs;
use crate::engine::TABLE_ELEMENTS;
use crate::engine::TICK;
use crate::guests::Computes;
use crate::log::LogBook;
use crate::outbound::CallEgress;
use crate::outbound::wasi_http::WasiHttp;

/// The host's clock, ms since 1970.
pub(crate) type NowMs = Arc<dyn Fn() -> i64 + Send + Sync>;

/// Stores the progress of a call that must not be repeated.
#[async_trait]
pub trait Progress: Send + Sync {
    /// Returns once it is on disk.
    async fn reached(&self, step: &str) -> anyhow::Result<()>;
}

pub(crate) struct State {
    pub(crate) cpu: Cpu,
    pub(crate) memory: Memory,
    pub(crate) log: LogBook,
    pub(crate) blobs: Blobs,
    pub(crate) egress: Arc<CallEgress>,
    pub(crate) now: NowMs,
    pub(crate) random: Random,
    pub(crate) host_calls: HostCalls,
    /// The receiver of the call's progress.
    pub(crate) progress: Option<Arc<dyn Progress>>,
    /// Level `compat` alone.
    pub(crate) wasi: Option<WasiCtx>,
    pub(crate) wasi_http: WasiHttp,
    pub(crate) table: ResourceTable,
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        let ctx = self.wasi.as_mut().expect("WASI is linked for level compat alone, which has a context");
        WasiCtxView { ctx, table: &mut self.table }
    }
}

/// The budget of host calls is spent. The trap contains it.
#[derive(Debug)]
pub(crate) struct HostCallsSpent(pub(crate) u64);

impl std::fmt::Display for HostCallsSpent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "more than {} calls of host functions", self.0)
    }
}

impl std::error::Error for HostCallsSpent {}

/// Counts calls of our own host functions.
pub(crate) struct HostCalls {
    pub(crate) left: u64,
    pub(crate) limit: u64,
}

impl HostCalls {
    pub(crate) fn new(limit: u64) -> Self {
        HostCalls { left: limit, limit }
    }

    /// One more; a trap when the budget is spent.
    pub(crate) fn count(&mut self) -> wasmtime::Result<()> {
        self.left =
            self.left.checked_sub(1).ok_or_else(|| wasmtime::Error::new(HostCallsSpent(self.limit)))?;
        Ok(())
    }
}

/// The CPU budget is spent. The trap contains it.
#[derive(Debug)]
pub(crate) struct CpuSpent(pub(crate) Duration);

impl std::fmt::Display for CpuSpent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "more than {} ms of processor time", self.0.as_millis())
    }
}

impl std::error::Error for CpuSpent {}

/// Most that is charged between two checks of the meter. A guest that computes is checked within 10 ms, so more means that the
/// machine gave it no processor.
const LONGEST_CHARGE: Duration = Duration::from_millis(25);

/// Meters the time in the guest, and in host functions on its behalf, but not the time that it waits for HTTP or for a permit.
/// The epoch callback checks it, and waits stop it; wasmtime's call hooks would cost two clock readings for every `memory.copy`
/// of the guest. Clones are one meter.
#[derive(Clone)]
pub(crate) struct Cpu(Arc<CpuMeter>);

struct CpuMeter {
    began: Instant,
    budget: Duration,
    used_ns: AtomicU64,
    computes: Computes,
    /// When the guest got the processor, ns after `began`; [`STOPPED`] while it waits.
    since_ns: AtomicU64,
}

const STOPPED: u64 = u64::MAX;

impl Cpu {
    /// A meter that runs.
    pub(crate) fn new(budget: Duration, computes: Computes) -> Self {
        let (used_ns, since_ns) = (AtomicU64::new(0), AtomicU64::new(0));
        Cpu(Arc::new(CpuMeter { began: Instant::now(), budget, used_ns, computes, since_ns }))
    }

    /// The guest waits from now on: stops the meter.
    pub(crate) fn pause(&self) {
        let since = self.0.since_ns.swap(STOPPED, Ordering::Relaxed);
        if since != STOPPED {
            let longest = LONGEST_CHARGE.as_nanos() as u64;
            let spent = self.now_ns().saturating_sub(since).min(longest);
            self.0.used_ns.fetch_add(spent, Ordering::Relaxed);
        }
    }

    /// The guest computes from now on: starts the meter.
    pub(crate) fn resume(&self) {
        self.0.since_ns.store(self.now_ns(), Ordering::Relaxed);
    }

    /// Does `work` without charging for the time in which it waits. Computation in between is charged: a guest that polls ten
    /// thousand pollables repeatedly uses time.
    pub(crate) async fn idling<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        let mut waits = false;
        poll_fn(|cx| {
            if std::mem::take(&mut waits) {
                self.resume();
            }
            let polled = work.as_mut().poll(cx);
            if polled.is_pending() {
                self.pause();
                waits = true;
            }
            polled
        })
        .await
    }

    /// The time that was used until the last pause.
    pub(crate) fn used(&self) -> Duration {
        Duration::from_nanos(self.0.used_ns.load(Ordering::Relaxed))
    }

    /// Handles a tick while the guest computed: traps when its budget is spent. Returns whether it has computed for a whole tick,
    /// and so should make room: the meter is stopped then. A tick that was due while the guest waited comes right after it
    /// resumes, and does not count.
    pub(crate) fn tick(&self) -> wasmtime::Result<bool> {
        let since = self.0.since_ns.load(Ordering::Relaxed);
        let computed = Duration::from_nanos(self.now_ns().saturating_sub(since));
        if computed < TICK && self.used() + computed < self.0.budget {
            return Ok(false);
        }
        self.pause();
        self.0.computes.seen();
        if self.used() >= self.0.budget {
            return Err(wasmtime::Error::new(CpuSpent(self.0.budget)));
        }
        Ok(true)
    }

    fn now_ns(&self) -> u64 {
        u64::try_from(self.0.began.elapsed().as_nanos()).unwrap_or(STOPPED - 1)
    }
}

/// Sums the linear memories of a call, and the blobs in memory: wasmtime's own limits are per memory.
pub(crate) struct Memory {
    blobs: Blobs,
    pub(crate) used: usize,
    pub(crate) peak: usize,
    pub(crate) max: usize,
    /// Whether growth was refused: the trap that follows is due to this limit.
    pub(crate) refused: bool,
    last_growth: usize,
}

impl Memory {
    pub(crate) fn new(max: usize, blobs: Blobs) -> Self {
        Memory { blobs, used: 0, peak: 0, max, refused: false, last_growth: 0 }
    }
}

impl ResourceLimiter for Memory {
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let growth = desired.saturating_sub(current);
        let next = self.used.saturating_add(growth);
        let blobs = usize::try_from(self.blobs.in_memory()).unwrap_or(usize::MAX);
        if next.saturating_add(blobs) > self.max {
            self.refused = true;
            return Ok(false);
        }
        self.last_growth = growth;
        self.used = next;
        self.peak = self.peak.max(next);
        Ok(true)
    }

    fn memory_grow_failed(&mut self, _: wasmtime::Error) -> wasmtime::Result<()> {
        self.used -= std::mem::take(&mut self.last_growth);
        Ok(())
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let fits = desired <= TABLE_ELEMENTS;
        self.refused |= !fits;
        Ok(fits)
    }

    fn instances(&self) -> usize {
        64
    }

    fn memories(&self) -> usize {
        4
    }

    fn tables(&self) -> usize {
        32
    }
}

/// The call's randomness: the operating system's, or a stream that a seed repeats.
pub(crate) struct Random {
    seed: Option<u64>,
    counter: u64,
}

impl Random {
    pub(crate) fn new(seed: Option<u64>) -> Self {
        Random { seed, counter: 0 }
    }

    pub(crate) fn bytes(&mut self, len: usize) -> wasmtime::Result<Vec<u8>> {
        let mut out = vec![0; len];
        match self.seed {
            None => {
                getrandom::fill(&mut out).map_err(|e| wasmtime::Error::msg(format!("randomness: {e}")))?
            }
            Some(seed) => {
                for piece in out.chunks_mut(32) {
                    let block = Sha256::new()
                        .chain_update(seed.to_be_bytes())
                        .chain_update(self.counter.to_be_bytes())
                        .finalize();
                    self.counter += 1;
                    piece.copy_from_slice(&block[..piece.len()]);
                }
            }
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memories_are_summed() {
        let mut m = Memory::new(100, Blobs::new(0));
        assert!(m.memory_growing(0, 60, None).unwrap());
        assert!(!m.memory_growing(0, 60, None).unwrap());
        assert!(m.refused);
        assert!(m.memory_growing(60, 100, None).unwrap());
        m.memory_grow_failed(wasmtime::Error::msg("the pool is full")).unwrap();
        assert_eq!((m.used, m.peak), (60, 100));
    }

    #[test]
    fn blobs_in_memory_are_the_calls_memory() {
        let blobs = Blobs::default();
        let mut m = Memory::new(1 << 20, blobs.clone());
        assert!(m.memory_growing(0, 900 << 10, None).unwrap());
        let _id = blobs.create(&[7; 100 << 10], None).unwrap();
        assert!(!m.memory_growing(900 << 10, 1_000 << 10, None).unwrap() && m.refused);
    }

    #[tokio::test]
    async fn waiting_is_not_charged_and_work_is() {
        let cpu = Cpu::new(Duration::from_secs(1), Computes::default());
        for _ in 0..10 {
            cpu.idling(tokio::time::sleep(Duration::from_millis(20))).await;
            cpu.pause();
            cpu.resume();
        }
        assert!(cpu.used() < Duration::from_millis(50), "waited for 200 ms: {:?}", cpu.used());
        let from = Instant::now();
        let work = async { while from.elapsed() < 4 * LONGEST_CHARGE {} };
        cpu.idling(work).await;
        cpu.pause();
        assert!(cpu.used() >= LONGEST_CHARGE, "{:?}", cpu.used());
    }

    #[test]
    fn a_tick_that_was_due_while_the_guest_waited_moves_nobody() {
        let cpu = Cpu::new(4 * TICK, Computes::default());
        let compute = |time: Duration| {
            let from = Instant::now();
            while from.elapsed() < time {}
        };
        compute(2 * TICK);
        // It continues now. (In a second: no test may depend on being given the processor at once.)
        cpu.0.since_ns.store(cpu.now_ns() + 1_000_000_000, Ordering::Relaxed);
        assert!(!cpu.tick().unwrap());
        cpu.resume();
        compute(TICK);
        assert!(cpu.tick().unwrap());
        cpu.resume();
        compute(4 * TICK);
        assert!(cpu.tick().is_err());
    }

    #[test]
    fn a_seed_repeats_the_stream() {
        let mut streams = [Random::new(Some(7)), Random::new(Some(7))];
        let drawn = streams.each_mut().map(|r| [r.bytes(40).unwrap(), r.bytes(3).unwrap()]);
        assert_eq!(drawn[0], drawn[1]);
        assert_ne!(drawn[0][0][..3], drawn[0][1][..]);
    }
}
