//! The component with every parser (`guest/`), run with its instructions counted.
//!
//! The count is fuel: one unit for each instruction of WebAssembly, and one for each byte that an instruction copies or fills. So the
//! count is the same on every machine and at every load, a loop that only moves memory counts, a panic or a stack overflow is a trap, and
//! the parsers need no counters of their own.

use std::path::PathBuf;
use std::sync::LazyLock;

use anyhow::{Context, Result, anyhow};
use wasmtime::component::{Component, InstancePre, Linker, ResourceTable};
use wasmtime::{Config, Engine, Store, StoreLimits, StoreLimitsBuilder};
use wasmtime_wasi::p2::pipe::MemoryOutputPipe;
use wasmtime_wasi::random::Deterministic;
use wasmtime_wasi::{WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};

/// The maximum work of an input of some ten thousand bytes; linear parsers take a hundredth.
const MAX_FUEL: u64 = 4_000_000_000;

/// Memory of a run, bytes: what the host gives a connector of the smallest class.
const MEMORY: usize = 64 << 20;

/// The guest that all tests share: compiling it takes longer than most of them.
pub static GUEST: LazyLock<Guest> = LazyLock::new(|| Guest::load().expect("the guest can be loaded"));

/// The compiled component.
pub struct Guest {
    engine: Engine,
    instance: InstancePre<State>,
    /// The names of the parsers; a parser's index is its number.
    pub names: Vec<String>,
}

/// The environment of a run: its own messages, and randomness that repeats.
struct State {
    wasi: WasiCtx,
    table: ResourceTable,
    limits: StoreLimits,
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

/// Returns the path at which `cargo xtask test` puts the guest.
fn file() -> PathBuf {
    harness::bundle().with_file_name("linear-guest.wasm")
}

impl Guest {
    fn load() -> Result<Guest> {
        let mut config = Config::new();
        config.consume_fuel(true);
        let engine = Engine::new(&config)?;
        let path = file();
        let bytes = std::fs::read(&path)
            .with_context(|| format!("no {}: run `cargo xtask test --only connectors`", path.display()))?;
        let component = Component::from_binary(&engine, &bytes)?;
        let mut linker = Linker::new(&engine);
        wasmtime_wasi::p2::add_to_linker_sync(&mut linker)?;
        let mut guest = Guest { instance: linker.instantiate_pre(&component)?, engine, names: Vec::new() };
        guest.names = guest.call(|store, instance| {
            let names = instance.get_typed_func::<(), (Vec<String>,)>(&mut *store, "names")?;
            Ok(names.call(store, ())?.0)
        })?;
        Ok(guest)
    }

    /// Returns the work of reading the input with this parser. An error is a trap: a panic, an exhausted stack or memory, or more work
    /// than [`MAX_FUEL`].
    pub fn work(&self, parser: &str, input: &[u8]) -> Result<u64> {
        let number = self.names.iter().position(|name| name == parser);
        let number = number.with_context(|| format!("the guest has no parser {parser:?}"))?;
        self.call(|store, instance| {
            let run = instance.get_typed_func::<(u32, &[u8]), ()>(&mut *store, "run")?;
            run.call(&mut *store, (u32::try_from(number)?, input))?;
            Ok(MAX_FUEL - store.get_fuel()?)
        })
    }

    /// Calls an export, each time in a new instance, so that earlier inputs do not change the count.
    fn call<T>(
        &self,
        call: impl FnOnce(&mut Store<State>, wasmtime::component::Instance) -> Result<T>,
    ) -> Result<T> {
        let said = MemoryOutputPipe::new(64 << 10);
        let seed = || Deterministic::new(vec![7]);
        let wasi = WasiCtxBuilder::new()
            .stderr(said.clone())
            .secure_random(seed())
            .insecure_random(seed())
            .insecure_random_seed(7)
            .build();
        let limits = StoreLimitsBuilder::new().memory_size(MEMORY).trap_on_grow_failure(true).build();
        let mut store = Store::new(&self.engine, State { wasi, table: ResourceTable::new(), limits });
        store.limiter(|state| &mut state.limits);
        store.set_fuel(MAX_FUEL)?;
        let called = self.instance.instantiate(&mut store).map_err(anyhow::Error::from);
        called.and_then(|instance| call(&mut store, instance)).map_err(|error| {
            let said = String::from_utf8_lossy(&said.contents()).trim().to_owned();
            anyhow!("{} {said}", error.root_cause())
        })
    }
}
