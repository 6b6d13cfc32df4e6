//! The connectors in service, and the entry point to them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ipnet::IpNet;
use wasmtime::Engine;

use crate::admission::{Admission, Occupancy};
use crate::artefacts::Artefacts;
use crate::call::{Answer, Call};
use crate::candidate::InstallCandidate;
use crate::code::Code;
use crate::compile::Compiler;
use crate::engine::{self, Allocation};
use crate::error::Error;
use crate::guests::{Computes, Guests};
use crate::limits::Limits;
use crate::loaded::LoadedConnector;
use crate::observer::CallObserver;
use crate::outbound::{
    DirectError, DirectRequest, DirectResponse, Egress, HttpSettings, Lookup, OwnProvider, Post, PostError,
    PostResponse, Rules, Transport, UrlCheck,
};
use crate::packages::{Installed, Predecessor, Store};
use crate::registry::{Registry, blocking};
use crate::sandbox::{RunningCall, Sandbox, micros};
use crate::shared::SharedCode;
use crate::state::NowMs;

/// Settings of the runtime.
#[derive(Clone)]
pub struct Config {
    /// Folder of compiled code; may be deleted at any time.
    pub cache_dir: PathBuf,
    /// Installed connectors.
    pub store_dir: PathBuf,
    /// Connectors shipped with the host: one folder each, with `connector.toml` and `<name>.wasm`.
    pub bundle_dir: Option<PathBuf>,
    /// Key of the MAC over compiled code. A new key means that everything is compiled again.
    pub artefact_key: [u8; 32],
    /// Private networks in which providers are allowed.
    pub egress_allow: Vec<IpNet>,
    /// Private networks in which webhooks are allowed; plain http is used only there.
    pub webhook_allow: Vec<IpNet>,
    /// Origins, besides those of a connection's settings, that connectors for self-hosted providers may use with that connection's
    /// credentials: for providers that spread an account over several hosts.
    pub approved_origins: Vec<url::Url>,
    /// A provider that this process serves itself, and the connector that may reach it.
    pub own_provider: Option<OwnProvider>,
    /// The DNS resolver for providers' names: [`SystemLookup`](crate::SystemLookup), except in tests.
    pub lookup: Arc<dyn Lookup>,
    /// Carries connectors' HTTP requests instead of the network: for tests of connectors only.
    pub transport: Option<Arc<dyn Transport>>,
    pub limits: Limits,
    /// The clock: ms since 1970.
    pub now: Arc<dyn Fn() -> i64 + Send + Sync>,
    pub http: HttpSettings,
    /// The binary whose subcommand [`CHILD_COMMAND`](crate::CHILD_COMMAND) is [`compile_child_main`](crate::compile_child_main); none: this
    /// process compiles.
    pub compile_in_child: Option<PathBuf>,
    /// Whether frames of traps name files and lines, from debug information of the component: for the development of connectors. In
    /// service, debug information of third parties is never read.
    pub lines: bool,
    /// Receives each call and each line of its log, for the development of connectors.
    pub observer: Option<Arc<dyn CallObserver>>,
    /// Runtimes that share this share an engine with its pool, and the compiled code that any of them has authenticated: for tests, which
    /// start many runtimes with the same limits in one process. None in service; no effect with `lines`.
    pub shared: Option<SharedCode>,
}

/// The status of the runtime.
#[derive(Clone, Debug)]
pub struct Status {
    pub allocation: Allocation,
    pub occupancy: Occupancy,
    /// Slots of the pool in use: all 0 when nothing runs. None when allocating on demand.
    pub pool: Option<PoolStatus>,
    /// Connectors that could not be loaded, with the cause.
    pub problems: BTreeMap<String, String>,
}

/// The parts of the pool that are in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolStatus {
    pub component_instances: u64,
    pub core_instances: u64,
    pub memories: usize,
    pub tables: usize,
    pub stacks: usize,
}

/// The connectors in service. Cheap to clone; clones share their state.
#[derive(Clone)]
pub struct Runtime(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    engine: Engine,
    allocation: Allocation,
    pub(crate) registry: Registry,
    pub(crate) sandbox: Arc<Sandbox>,
    admission: Admission,
    store: Store,
    guests: Guests,
}

impl Runtime {
    /// Loads the bundled and the installed connectors; compiles those that are not in the cache. A failure to load a connector is
    /// recorded in [`Runtime::status`] and does not stop the others. From then on, changes of the store by other processes are
    /// noticed within a second. Must be called inside a tokio runtime.
    pub async fn start(config: Config) -> anyhow::Result<Runtime> {
        let runtime = Runtime::prepare(config)?;
        runtime.0.registry.reconcile().await?;
        runtime.follow_store();
        Ok(runtime)
    }

    fn prepare(config: Config) -> anyhow::Result<Runtime> {
        // Code with lines is compiled differently.
        let shared = config.shared.filter(|_| !config.lines);
        let (engine, allocation) = match &shared {
            Some(shared) => shared.engine(&config.limits)?,
            None => engine::start(&config.limits, config.lines)?,
        };
        let limits = config.limits;
        let rules = Rules {
            allowed: config.egress_allow,
            webhook_allowed: config.webhook_allow,
            approved: config.approved_origins,
            own: config.own_provider,
            lookup: config.lookup,
            transport: config.transport,
        };
        let egress = Egress::new(config.http, rules, &limits)?;
        let now: NowMs = config.now;
        let sandbox = Arc::new(Sandbox {
            limits: limits.clone(),
            egress: Arc::new(egress),
            now,
            observer: config.observer,
        });
        let compiler = Compiler::new(config.compile_in_child, config.lines);
        let artefacts = Artefacts::new(&config.cache_dir, config.artefact_key, &engine, compiler, shared)?;
        let store = Store::open(&config.store_dir)?;
        let registry = Registry::new(&engine, artefacts, sandbox.clone(), store.clone(), config.bundle_dir)?;
        let admission = Admission::new(&limits);
        let guests = Guests::start(limits.guest_threads)?;
        Ok(Runtime(Arc::new(Inner { engine, allocation, registry, sandbox, admission, store, guests })))
    }

    /// Calls a connector. Returns within the call's time limit plus the queue's; dropping the future stops the call.
    pub async fn call(&self, call: Call) -> Result<Answer, Error> {
        let of = (call.surface, call.verb);
        let loaded = self.find(&call.connector).ok_or_else(|| Error::new(Code::NotInstalled, ""))?;
        if !loaded.index.contains_key(&of) {
            return Err(Error::new(Code::UnsupportedSurface, format!("{}.{} is not exported", of.0, of.1)));
        }
        let queued = Instant::now();
        let (memory, background) = (loaded.memory_mib, call.context.background);
        let admitted = self.0.admission.admit(&call.context.tenant, &loaded.name, memory, background).await?;
        let queue_us = micros(queued.elapsed());
        let (sandbox, computes) = (self.0.sandbox.clone(), Computes::default());
        let meter = computes.clone();
        let work = async move {
            // Permits are released when the instance is gone, not when the caller stops waiting.
            let _admitted = admitted;
            let running = RunningCall::new(&loaded);
            let mut result = sandbox.call(&loaded, call, meter).await;
            match &mut result {
                Ok(answer) => answer.stats.queue_us = queue_us,
                Err(error) => error.stats.queue_us = queue_us,
            }
            running.record_outcome(of, &result);
            result
        };
        let done = self.0.guests.run(computes, work).await;
        done.unwrap_or_else(|| Err(Error::new(Code::Host, "the call was stopped")))
    }

    /// Whether a request over plain http to this URL would go to a public address that the operator has not allowed: then no credentials
    /// are sent.
    pub async fn is_exposed(&self, tenant: &str, url: &url::Url) -> bool {
        self.0.sandbox.egress.is_exposed(tenant, url).await
    }

    /// Sends a request of the host itself to a provider, under the same rules as connectors' requests: checked addresses, plain http only
    /// where the operator allows it, no redirects, no cookies. A response of any status is `Ok`.
    pub async fn send_direct(&self, request: DirectRequest) -> Result<DirectResponse, DirectError> {
        self.0.sandbox.egress.send_direct(request).await
    }

    /// Sends one notification to a webhook: to checked addresses, plain http only where the operator allows it, no redirects, no cookies. A
    /// response of any status is `Ok`. `deadline` covers everything up to the response head; reading the body takes at most one second
    /// more.
    pub async fn post(&self, post: Post<'_>, deadline: Duration) -> Result<PostResponse, PostError> {
        self.0.sandbox.egress.webhooks.post(post, deadline).await
    }

    /// Sends one request to a URL that the operator has set, to public and private addresses: private ones need no permission, because no
    /// client of the API chose them. Plain http only to private ones. `deadline` includes the response body. Otherwise as `post`.
    pub async fn post_to_operator(
        &self,
        post: Post<'_>,
        deadline: Duration,
    ) -> Result<PostResponse, PostError> {
        self.0.sandbox.egress.operator.post(post, deadline).await
    }

    /// Whether notifications may be sent to this URL, as far as is known now: each attempt checks again. May take as long as a DNS lookup.
    /// `tenant` is the application's id, whose lookups are limited.
    pub async fn check_webhook_url(&self, tenant: &str, url: &url::Url) -> UrlCheck {
        self.0.sandbox.egress.webhooks.check_url(tenant, url).await
    }

    /// Returns the units that requests of a connection have used on this host and that are not available again at `now` (ms since 1970), by
    /// bucket. Units used on other hosts are not included.
    pub fn used_units(&self, connection_id: &str, now: i64) -> BTreeMap<String, u64> {
        self.0.sandbox.egress.used_units(connection_id, now)
    }

    /// The connectors in service, by name.
    pub fn list(&self) -> Vec<Arc<LoadedConnector>> {
        self.0.registry.list()
    }

    /// Returns the version of this connector that is in service.
    pub fn find(&self, name: &str) -> Option<Arc<LoadedConnector>> {
        self.0.registry.find(name)
    }

    /// Checks, stores and publishes the connector in `dir` (`connector.toml` and `<name>.wasm`). If it is invalid, the error says why, and
    /// nothing changes.
    pub async fn install(&self, dir: &Path) -> anyhow::Result<Installed> {
        self.0.registry.install(dir).await
    }

    /// Checks a loaded connector as an installation does: compiles, links and tries it. Stores nothing, and puts nothing into service.
    pub async fn check_candidate(&self, candidate: &InstallCandidate) -> anyhow::Result<()> {
        let loaded = self.0.registry.load(&candidate.package).await?;
        // Unmapping code may take a while, so not on a thread that serves requests.
        tokio::task::spawn_blocking(move || drop(loaded));
        Ok(())
    }

    /// Checks, stores and publishes a loaded connector. Fails if the installed version is no longer the one that it was compared with.
    pub async fn install_candidate(&self, candidate: InstallCandidate) -> anyhow::Result<Installed> {
        let predecessor = Predecessor::Version(candidate.predecessor());
        self.0.registry.install_package(candidate.package, predecessor).await
    }

    /// Puts the connector in `dir` into service until the process ends, without installing it: for development. If it is invalid, the error
    /// says why, and the previous one stays in service.
    pub async fn load(&self, dir: &Path) -> anyhow::Result<Arc<LoadedConnector>> {
        self.0.registry.load_watched(dir.to_owned()).await
    }

    /// Takes an installed connector out of service. A bundled one of the same name takes its place.
    pub async fn remove(&self, name: &str) -> anyhow::Result<()> {
        let (store, name) = (self.0.store.clone(), name.to_owned());
        blocking(move || store.remove(&name)).await?;
        self.0.registry.reconcile().await
    }

    /// Puts the previous version into service.
    pub async fn rollback(&self, name: &str) -> anyhow::Result<Installed> {
        let (store, name) = (self.0.store.clone(), name.to_owned());
        let installed = blocking(move || store.rollback(&name)).await?;
        self.0.registry.reconcile().await?;
        Ok(installed)
    }

    /// Returns the status of the runtime.
    pub fn status(&self) -> Status {
        let pool = self.0.engine.pooling_allocator_metrics().map(|m| PoolStatus {
            component_instances: m.component_instances(),
            core_instances: m.core_instances(),
            memories: m.memories(),
            tables: m.tables(),
            stacks: m.stacks(),
        });
        Status {
            allocation: self.0.allocation,
            occupancy: self.0.admission.occupancy(),
            pool,
            problems: self.0.registry.problems(),
        }
    }

    /// Reads the store's index every second: `switchboard connector …` changes it in another process.
    fn follow_store(&self) {
        let weak = Arc::downgrade(&self.0);
        let store = self.0.store.clone();
        // Compared by content, not by time: two changes may fall into one tick of the file system's clock.
        let mut seen = store.index_bytes();
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(Duration::from_secs(1)).await;
                let Some(inner) = weak.upgrade() else { break };
                let now = store.index_bytes();
                if now != seen {
                    seen = now;
                    if let Err(error) = inner.registry.reconcile().await {
                        tracing::error!("the connector store cannot be read: {error:#}");
                    }
                }
            }
        });
    }
}

/// Checks and installs the connector in `dir` into the store, without serving it: `switchboard connector install` beside a
/// host, or before one starts. A running host puts it into service within a second.
pub async fn install_offline(config: Config, dir: &Path) -> anyhow::Result<Installed> {
    Runtime::prepare(config)?.install(dir).await
}

/// Installs a loaded connector offline, as `install_offline`. Fails if the installed version is no longer the one that it was compared
/// with.
pub async fn install_candidate(config: Config, candidate: InstallCandidate) -> anyhow::Result<Installed> {
    let predecessor = Predecessor::Version(candidate.predecessor());
    Runtime::prepare(config)?.0.registry.install_package(candidate.package, predecessor).await
}
