//! The connectors in service, one version of each. Publishing replaces one pointer: calls that began earlier finish on the
//! version that they hold, later ones get the new version, and none fails in between.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use anyhow::Context;
use arc_swap::ArcSwap;
use wasmtime::Engine;

use crate::artefacts::Artefacts;
use crate::loaded::{self, Linkers, LoadedConnector};
use crate::packages::{self, Installed, Package, Predecessor, Source, Store};
use crate::sandbox::Sandbox;
use crate::stats::Stats;

type Live = HashMap<String, Arc<LoadedConnector>>;

pub(crate) struct Registry {
    live: ArcSwap<Live>,
    linkers: Linkers,
    artefacts: Artefacts,
    sandbox: Arc<Sandbox>,
    store: Store,
    bundle: Option<PathBuf>,
    /// Counters by connector name: they survive a swap.
    stats: Mutex<HashMap<String, Arc<Stats>>>,
    /// Connectors that could not be loaded, with the cause.
    problems: Mutex<BTreeMap<String, String>>,
    /// One change at a time.
    changing: tokio::sync::Mutex<()>,
}

impl Registry {
    pub(crate) fn new(
        engine: &Engine,
        artefacts: Artefacts,
        sandbox: Arc<Sandbox>,
        store: Store,
        bundle: Option<PathBuf>,
    ) -> anyhow::Result<Self> {
        Ok(Registry {
            live: ArcSwap::default(),
            linkers: Linkers::new(engine)?,
            artefacts,
            sandbox,
            store,
            bundle,
            stats: Mutex::default(),
            problems: Mutex::default(),
            changing: tokio::sync::Mutex::default(),
        })
    }

    pub(crate) fn find(&self, name: &str) -> Option<Arc<LoadedConnector>> {
        self.live.load().get(name).cloned()
    }

    /// In the order of their names.
    pub(crate) fn list(&self) -> Vec<Arc<LoadedConnector>> {
        let mut all: Vec<_> = self.live.load().values().cloned().collect();
        all.sort_by(|a, b| a.manifest.name.cmp(&b.manifest.name));
        all
    }

    pub(crate) fn problems(&self) -> BTreeMap<String, String> {
        self.problems.lock().expect("no panic while noting problems").clone()
    }

    /// The whole pipeline without the publication: bytes, compile or cache, types, trial.
    pub(crate) async fn load(&self, package: &Package) -> anyhow::Result<Arc<LoadedConnector>> {
        let limits = &self.sandbox.limits;
        loaded::check_bytes(&package.wasm, limits)?;
        let component =
            self.artefacts.component(&package.manifest.name, &package.wasm, &package.sha256).await?;
        let stats = {
            let mut stats = self.stats.lock().expect("no panic while counting");
            stats.entry(package.manifest.name.clone()).or_default().clone()
        };
        let mut loaded = loaded::link(&self.linkers, &component, package, limits, stats)?;
        loaded.start_up = self.sandbox.trial(&loaded).await?;
        Ok(Arc::new(loaded))
    }

    /// Installs the connector in `dir`: checked completely, stored, then put into service.
    pub(crate) async fn install(&self, dir: &Path) -> anyhow::Result<Installed> {
        let package = self.read(dir.to_owned(), Source::Bundle).await?;
        let package = Package { source: Source::Installed, ..package };
        self.install_package(package, Predecessor::Any).await
    }

    /// The same for a package that was read before.
    pub(crate) async fn install_package(
        &self,
        package: Package,
        predecessor: Predecessor,
    ) -> anyhow::Result<Installed> {
        let loaded = self.load(&package).await?;
        let _turn = self.changing.lock().await;
        let store = self.store.clone();
        let installed = blocking(move || store.insert(&package, &predecessor)).await?;
        self.publish([(loaded.manifest.name.clone(), Some(loaded))]);
        Ok(installed)
    }

    /// Makes the connectors in service agree with the bundle folder and the store's index. If one cannot be loaded, its old
    /// version stays in service and the failure is recorded.
    pub(crate) async fn reconcile(&self) -> anyhow::Result<()> {
        let _turn = self.changing.lock().await;
        let mut wanted: BTreeMap<String, WantedConnector> = BTreeMap::new();
        if let Some(bundle) = &self.bundle {
            for dir in packages::bundled(bundle)? {
                match self.read(dir.clone(), Source::Bundle).await {
                    Ok(package) => {
                        drop(wanted.insert(package.manifest.name.clone(), WantedConnector::Bundled(package)))
                    }
                    Err(error) => self.log_failure(&file_name(&dir), &error),
                }
            }
        }
        for (name, entry) in self.store.index()?.connectors {
            wanted.insert(name, WantedConnector::Installed(entry.current));
        }
        let live = self.live.load_full();
        let gone = live
            .iter()
            .filter(|(name, loaded)| loaded.source != Source::Watched && !wanted.contains_key(*name));
        self.publish(gone.map(|(name, _)| (name.clone(), None)));
        let changed = wanted.into_iter().filter(|(name, w)| live.get(name).is_none_or(|l| !w.is(l)));
        // Compiling is serialized; reading, linking and trials overlap with it.
        let loading = changed.map(|(name, wanted)| async move {
            let result = self.load_wanted(wanted).await;
            match result.with_context(|| format!("connector \"{name}\"")) {
                Ok(loaded) => self.publish([(name, Some(loaded))]),
                Err(error) => self.log_failure(&name, &error),
            }
        });
        futures::future::join_all(loading).await;
        Ok(())
    }

    async fn load_wanted(&self, wanted: WantedConnector) -> anyhow::Result<Arc<LoadedConnector>> {
        let package = match wanted {
            WantedConnector::Bundled(package) => package,
            WantedConnector::Installed(digest) => {
                let (store, max) = (self.store.clone(), self.sandbox.limits.component_bytes);
                blocking(move || store.read(&digest, max)).await?
            }
        };
        self.load(&package).await
    }

    /// Loads the connector in `dir` and puts it into service without installing it.
    pub(crate) async fn load_watched(&self, dir: PathBuf) -> anyhow::Result<Arc<LoadedConnector>> {
        let result = async {
            let package = self.read(dir.clone(), Source::Watched).await?;
            match self.find(&package.manifest.name) {
                Some(live) if live.digest == package.digest && live.source == Source::Watched => Ok(live),
                _ => self.load(&package).await,
            }
        }
        .await;
        let _turn = self.changing.lock().await;
        match result {
            Ok(loaded) => {
                let name = loaded.manifest.name.clone();
                if self.find(&name).is_none_or(|live| !Arc::ptr_eq(&live, &loaded)) {
                    self.publish([(name, Some(loaded.clone()))]);
                }
                Ok(loaded)
            }
            Err(error) => {
                self.log_failure(&file_name(&dir), &error);
                Err(error)
            }
        }
    }

    async fn read(&self, dir: PathBuf, source: Source) -> anyhow::Result<Package> {
        let max = self.sandbox.limits.component_bytes;
        blocking(move || Package::read(&dir, source, max)).await
    }

    fn publish(&self, changes: impl IntoIterator<Item = (String, Option<Arc<LoadedConnector>>)>) {
        let changes: Vec<_> = changes.into_iter().collect();
        if changes.is_empty() {
            return;
        }
        let old = self.live.rcu(|live| {
            let mut next = Live::clone(live);
            for (name, loaded) in &changes {
                match loaded {
                    Some(loaded) => next.insert(name.clone(), loaded.clone()),
                    None => next.remove(name),
                };
            }
            next
        });
        for (name, loaded) in &changes {
            self.problems.lock().expect("no panic while noting problems").remove(name);
            match loaded {
                Some(l) => {
                    tracing::info!(connector = %name, version = %l.manifest.version, digest = %l.digest, "connector in service")
                }
                None => tracing::info!(connector = %name, "connector out of service"),
            }
        }
        // Unmapping code may take a while; not on a thread that serves requests.
        tokio::task::spawn_blocking(move || drop(old));
    }

    fn log_failure(&self, name: &str, error: &anyhow::Error) {
        tracing::error!(connector = %name, "connector not loaded: {error:#}");
        self.problems
            .lock()
            .expect("no panic while noting problems")
            .insert(name.to_owned(), format!("{error:#}"));
    }
}

enum WantedConnector {
    Bundled(Package),
    Installed(String),
}

impl WantedConnector {
    fn is(&self, loaded: &LoadedConnector) -> bool {
        match self {
            // A connector from a developer's folder stays in service until the process ends.
            _ if loaded.source == Source::Watched => true,
            WantedConnector::Bundled(package) => {
                loaded.source == Source::Bundle && loaded.digest == package.digest
            }
            WantedConnector::Installed(digest) => {
                loaded.source == Source::Installed && loaded.digest == *digest
            }
        }
    }
}

fn file_name(dir: &Path) -> String {
    dir.file_name().unwrap_or(dir.as_os_str()).to_string_lossy().into_owned()
}

pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> anyhow::Result<T> + Send + 'static,
) -> anyhow::Result<T> {
    tokio::task::spawn_blocking(work).await.context("a piece of work stopped")?
}
