//! A connector that is ready for calls: its component checked against its manifest, linked, and tried once. All possible refusals
//! happen here, with the cause, and not at the first call.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, ComponentExportIndex, InstancePre, Linker};
use wasmtime::{Engine, Precompiled};

use crate::imports;
use crate::limits::Limits;
use crate::manifest::{AccountLimits, Level, Manifest};
use crate::outbound::wasi_http;
use crate::packages::{Package, Source};
use crate::state::State;
use crate::stats::{CallStats, Stats, StatsSnapshot};
use crate::surface::{Surface, Verb};
use crate::wasi;

/// Our interfaces that a component may import.
const OFFERED: [&str; 9] =
    ["types", "http", "log", "clock", "random", "blob", "tcp", "progress", "time-zones"];
const PACKAGE: &str = "switchboard:connector/";

/// A connector in service. Calls in flight hold it, so a version that was replaced lives until its last call is done.
pub struct LoadedConnector {
    pub manifest: Arc<Manifest>,
    /// SHA-256 (hex) over manifest and component: the id of this version in the store.
    pub digest: String,
    pub source: Source,
    /// Surfaces that the component exports, read from its type.
    pub surfaces: BTreeSet<Surface>,
    /// Cost of the start when the connector was loaded: one instance, of which no function was called.
    pub start_up: CallStats,
    pub(crate) name: Arc<str>,
    pub(crate) index: HashMap<(Surface, Verb), ComponentExportIndex>,
    pub(crate) pre: InstancePre<State>,
    pub(crate) memory_mib: usize,
    /// `[limits]` of the manifest.
    pub(crate) limits: Arc<AccountLimits>,
    pub(crate) stats: Arc<Stats>,
}

impl LoadedConnector {
    /// The connector's counters since the process started.
    pub fn stats(&self) -> StatsSnapshot {
        self.stats.snapshot()
    }
}

impl std::fmt::Debug for LoadedConnector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} {} ({})",
            self.manifest.name,
            self.manifest.version,
            self.digest.get(..12).unwrap_or(&self.digest)
        )
    }
}

/// One linker per level, built once.
pub(crate) struct Linkers {
    strict: Linker<State>,
    compat: Linker<State>,
}

impl Linkers {
    pub(crate) fn new(engine: &Engine) -> anyhow::Result<Self> {
        let mut strict = Linker::new(engine);
        imports::add_to_linker(&mut strict)?;
        let mut compat = Linker::new(engine);
        imports::add_to_linker(&mut compat)?;
        wasi::add_to_linker(&mut compat)?;
        wasi_http::add_to_linker(&mut compat)?;
        Ok(Linkers { strict, compat })
    }

    fn linker(&self, level: Level) -> &Linker<State> {
        match level {
            Level::Strict => &self.strict,
            Level::Compat => &self.compat,
        }
    }
}

/// Refuses bytes that are not a component, before any compiler reads them.
pub(crate) fn check_bytes(wasm: &[u8], limits: &Limits) -> anyhow::Result<()> {
    ensure!(
        wasm.len() <= limits.component_bytes,
        "the component is too large: {} bytes, the limit is {}",
        wasm.len(),
        limits.component_bytes
    );
    match Engine::detect_precompiled(wasm) {
        None => {}
        Some(Precompiled::Module | Precompiled::Component) => {
            bail!("the file is compiled code: only WebAssembly components are accepted, and compiled here")
        }
    }
    match wasm {
        [0, b'a', b's', b'm', 0x0d, 0, 1, 0, ..] => Ok(()),
        [0, b'a', b's', b'm', 1, 0, 0, 0, ..] => {
            bail!(
                "the file is a core module, not a component: build it for wasm32-wasip2, or run wasm-component-ld"
            )
        }
        _ => bail!("the file is not a WebAssembly component"),
    }
}

/// Checks and links a component. Guest code does not run here; the sandbox runs the trial that follows.
pub(crate) fn link(
    linkers: &Linkers,
    component: &Component,
    package: &Package,
    limits: &Limits,
    stats: Arc<Stats>,
) -> anyhow::Result<LoadedConnector> {
    let manifest = package.manifest.clone();
    check_imports(component, manifest.level)?;
    let pre = linkers
        .linker(manifest.level)
        .instantiate_pre(component)
        .map_err(anyhow::Error::from)
        .context("an import has another type than this host offers: build against its wit/ package")?;
    let index = index(component)?;
    let surfaces: BTreeSet<Surface> = index.keys().map(|(surface, _)| *surface).collect();
    check_surfaces(&manifest, &surfaces)?;
    check_memory(component, limits.memory_mib(manifest.memory))?;
    Ok(LoadedConnector {
        name: manifest.name.as_str().into(),
        memory_mib: limits.memory_mib(manifest.memory),
        limits: Arc::new(manifest.limits.clone()),
        digest: package.digest.clone(),
        source: package.source,
        manifest,
        surfaces,
        start_up: CallStats::default(),
        index,
        pre,
        stats,
    })
}

/// Checks that the level offers every import. The linker would also fail, but only name the first, and with a less helpful
/// message.
fn check_imports(component: &Component, level: Level) -> anyhow::Result<()> {
    let engine = component.engine();
    let ty = component.component_type();
    let unknown: Vec<&str> =
        ty.imports(engine).map(|(name, _)| name).filter(|name| !is_offered(name, level)).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let level_name = if level == Level::Strict { "strict" } else { "compat" };
    let hint = match level {
        Level::Strict if unknown.iter().all(|n| is_offered(n, Level::Compat)) => {
            ": level = \"compat\" would offer them"
        }
        _ => "",
    };
    bail!("the component imports what level \"{level_name}\" does not offer: {}{hint}", unknown.join(", "))
}

fn is_offered(import: &str, level: Level) -> bool {
    let (name, version) = import.split_once('@').unwrap_or((import, ""));
    match name.strip_prefix(PACKAGE) {
        Some(interface) => OFFERED.contains(&interface) && version.starts_with("1."),
        None => {
            let linked =
                |interface| wasi::OFFERED.contains(&interface) || wasi_http::OFFERED.contains(&interface);
            level == Level::Compat
                && version.starts_with("0.2.")
                && name.strip_prefix("wasi:").is_some_and(linked)
        }
    }
}

/// The indices of the component's functions. Exports that are not ours (`init`, `exports`) are ignored.
fn index(component: &Component) -> anyhow::Result<HashMap<(Surface, Verb), ComponentExportIndex>> {
    let engine = component.engine();
    let mut index = HashMap::new();
    for (name, item) in component.component_type().exports(engine) {
        let Some((interface, version)) = name.strip_prefix(PACKAGE).and_then(|n| n.split_once('@')) else {
            continue;
        };
        let Some(surface) = Surface::parse(interface) else { continue };
        ensure!(version.starts_with("1."), "the component exports {name}, this host speaks version 1");
        let ComponentItem::ComponentInstance(instance) = item.ty else {
            bail!("the export {name} is not an interface")
        };
        let at = component
            .get_export_index(None, name)
            .with_context(|| format!("the export {name} is not reachable"))?;
        for verb in surface.verbs() {
            let is_function = instance
                .get_export(engine, verb.as_str())
                .is_some_and(|e| matches!(e.ty, ComponentItem::ComponentFunc(_)));
            ensure!(is_function, "the export {name} has no function \"{verb}\"");
            let function = component
                .get_export_index(Some(&at), verb.as_str())
                .with_context(|| format!("{name}#{verb} is not reachable"))?;
            index.insert((surface, *verb), function);
        }
    }
    Ok(index)
}

fn check_surfaces(manifest: &Manifest, exported: &BTreeSet<Surface>) -> anyhow::Result<()> {
    let named: BTreeSet<Surface> = manifest.surfaces.iter().map(|s| s.surface).collect();
    let list = |names: Vec<Surface>| names.iter().map(|s| s.as_str()).collect::<Vec<_>>().join(", ");
    let missing: Vec<Surface> = named.difference(exported).copied().collect();
    ensure!(
        missing.is_empty(),
        "surfaces: the manifest names {}, which the component does not export",
        list(missing)
    );
    let extra: Vec<Surface> = exported.difference(&named).copied().collect();
    ensure!(
        extra.is_empty(),
        "surfaces: the component exports {}, which the manifest does not name",
        list(extra)
    );
    Ok(())
}

fn check_memory(component: &Component, mib: usize) -> anyhow::Result<()> {
    const PAGE: u64 = 64 << 10;
    let needs = component
        .resources_required()
        .context("the component imports core modules, which is not supported")?;
    let largest = needs.max_initial_memory_size.unwrap_or(0).saturating_mul(PAGE);
    ensure!(
        largest <= (mib as u64) << 20,
        "memory: the component starts with {} MiB, its class allows {mib}: choose a larger class",
        largest >> 20
    );
    Ok(())
}

/// Processor time of a trial: starting up must be quick, because it is part of every call.
pub const TRIAL_CPU: Duration = Duration::from_millis(500);
