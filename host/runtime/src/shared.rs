//! One engine and its code for several runtimes of a process. A service has one runtime; tests start hundreds, and to authenticate,
//! copy and decode tens of megabytes of native code for each takes longer than many of them.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use wasmtime::Engine;
use wasmtime::component::Component;

use crate::engine::{self, Allocation};
use crate::limits::Limits;

/// Components that are cached; later ones are loaded by each runtime separately.
const KEPT: usize = 16;
/// Runtimes that may run as many concurrent calls as their limits allow.
const FULL_RUNTIMES: usize = 4;

/// An engine, and the components that were loaded into it. Clones are one.
#[derive(Clone, Default)]
pub struct SharedCode(Arc<CodeCache>);

#[derive(Default)]
struct CodeCache {
    engine: Mutex<Option<(Engine, Allocation)>>,
    /// Components by the names of their artefacts.
    components: Mutex<HashMap<String, Component>>,
}

impl fmt::Debug for SharedCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedCode").finish_non_exhaustive()
    }
}

impl SharedCode {
    /// The engine. The first runtime starts it, with a pool for several runtimes with its limits. Its code has no lines.
    pub(crate) fn engine(&self, limits: &Limits) -> anyhow::Result<(Engine, Allocation)> {
        let mut engine = self.0.engine.lock().expect("no panic while starting an engine");
        if let Some(started) = &*engine {
            return Ok(started.clone());
        }
        let room = Limits { max_concurrent: limits.max_concurrent * FULL_RUNTIMES, ..limits.clone() };
        let started = engine::start(&room, false)?;
        *engine = Some(started.clone());
        Ok(started)
    }

    /// The component of this artefact, if a runtime has loaded it.
    pub(crate) fn component(&self, artefact: &str) -> Option<Component> {
        self.0.components.lock().expect("no panic while keeping components").get(artefact).cloned()
    }

    /// Stores a component that was loaded into the engine.
    pub(crate) fn keep(&self, artefact: &str, component: &Component) {
        let mut components = self.0.components.lock().expect("no panic while keeping components");
        if components.len() < KEPT {
            components.insert(artefact.to_owned(), component.clone());
        }
    }
}
