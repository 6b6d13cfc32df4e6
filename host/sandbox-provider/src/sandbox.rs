//! The running provider: its state behind one lock, the journal, and what all requests share.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Context;
use axum::Extension;
use axum::extract::State as AxumState;
use axum::http::StatusCode;
use compute::Compute;
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;

use crate::auth::Login;
use crate::authorization_server::consent::FormTokens;
use crate::faults::Faults;
use crate::journal::{Durable, Journal};
use crate::problem::Problem;
use crate::push::delivery::Deliveries;
use crate::push::notices::{self, Notice, SYNC};
use crate::push::watches::Watch;
use crate::state::State;

/// Concurrent writes; more wait.
const MAX_WRITES: usize = 256;
/// Large bodies that are read concurrently; more wait.
const MAX_LARGE_BODIES: usize = 4;
/// Lifetime of a sync token, unless configured.
const SYNC_TOKEN_MS: i64 = 7 * 24 * 3_600_000;

/// Milliseconds since 1970-01-01T00:00:00Z.
pub type Clock = Arc<dyn Fn() -> i64 + Send + Sync>;

/// Settings of the provider.
#[derive(Clone)]
pub struct Config {
    /// The host's data directory: the journal is in `sandbox/` in it. None: nothing is stored (tests).
    pub data_dir: Option<PathBuf>,
    /// The clock. The seeded events lie around the time at which an account is created.
    pub clock: Clock,
    /// Seed of reproducible ids; none: random ids.
    pub seed: Option<u64>,
    /// Lifetime of a sync token, in milliseconds.
    pub sync_token_ms: i64,
    /// The provider's own origin, for example `http://127.0.0.1:8080`: its authorization server's issuer is below it. None: taken from each
    /// request (`Host`).
    pub address: Option<String>,
    /// The host's address for browsers, if that differs: the host's own client may redirect its users there.
    pub public_address: Option<String>,
}

impl Config {
    /// Returns settings without files, with random ids and sync tokens that last seven days.
    pub fn new(clock: Clock) -> Self {
        let (address, public_address) = (None, None);
        Config { data_dir: None, clock, seed: None, sync_token_ms: SYNC_TOKEN_MS, address, public_address }
    }
}

/// The running provider: cheap to clone.
#[derive(Clone)]
pub struct Sandbox(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    store: Mutex<Store>,
    faults: Faults,
    clock: Clock,
    ids: Ids,
    pub(crate) sync_token_ms: i64,
    /// See `Config`.
    pub(crate) address: Option<String>,
    pub(crate) public_address: Option<String>,
    /// Open consent forms.
    pub(crate) forms: FormTokens,
    deliveries: Arc<Deliveries>,
    writes: Semaphore,
    pub(crate) large_bodies: Semaphore,
    compute: Compute,
}

pub(crate) struct Store {
    pub(crate) state: State,
    journal: Journal,
}

impl Sandbox {
    /// Opens the journal, or creates one. Fails if the data directory cannot be written, is in use by another process, or has a damaged
    /// journal.
    pub fn new(config: Config) -> anyhow::Result<Self> {
        let ids = Ids { seed: config.seed, next: AtomicU64::new(0) };
        let mut state = State::default();
        let epoch = ids.make(8)?;
        let forms = FormTokens::new(ids.make(32)?);
        let journal = match &config.data_dir {
            Some(dir) => Journal::open(&dir.join("sandbox"), epoch, &mut state)?,
            None => Journal::in_memory(epoch),
        };
        // After a restart, a seeded run must not repeat its ids.
        ids.next.store(state.seq << 8, Ordering::Relaxed);
        Ok(Sandbox(Arc::new(Inner {
            store: Mutex::new(Store { state, journal }),
            faults: Faults::default(),
            clock: config.clock,
            ids,
            sync_token_ms: config.sync_token_ms,
            deliveries: Deliveries::new(config.address.clone(), config.public_address.clone()),
            address: config.address,
            public_address: config.public_address,
            forms,
            writes: Semaphore::new(MAX_WRITES),
            large_bodies: Semaphore::new(MAX_LARGE_BODIES),
            compute: Compute::default(),
        })))
    }

    /// The threads that parse large messages, with a share for each account.
    pub(crate) fn compute(&self) -> &Compute {
        &self.0.compute
    }

    pub(crate) fn now_ms(&self) -> i64 {
        (self.0.clock)()
    }

    pub(crate) fn new_id(&self) -> Result<String, Problem> {
        self.make_id(20)
    }

    /// An unguessable text: 160 random bits.
    pub(crate) fn new_secret(&self) -> Result<String, Problem> {
        self.make_id(32)
    }

    fn make_id(&self, len: usize) -> Result<String, Problem> {
        self.0.ids.make(len).map_err(|e| {
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", format!("no randomness: {e}"))
        })
    }

    pub(crate) fn faults(&self) -> &Faults {
        &self.0.faults
    }

    pub(crate) fn deliveries(&self) -> &Arc<Deliveries> {
        &self.0.deliveries
    }

    /// Sends the first notification of a watch, once the watch is on disk.
    pub(crate) fn greet(&self, watch: Watch) {
        let position = self.store().journal.position();
        self.0.deliveries.send(&Notice { watch, state: SYNC }, None, durable(position));
    }

    /// Sends these notifications, once the changes that they report are on disk.
    fn notify(&self, notices: &[Notice], position: &Position) {
        for notice in notices {
            let path = format!("/sandbox/v1/{}", notice.watch.watched.path());
            let fault = self.faults().take_push(&notice.watch.mail, &path);
            self.0.deliveries.send(notice, fault.as_ref(), durable(position.clone()));
        }
    }

    pub(crate) fn store(&self) -> MutexGuard<'_, Store> {
        self.0.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `act` on the state and waits until everything that it read is on disk: after a crash, a sync token for a lost change would skip
    /// the change that takes its number.
    pub(crate) async fn read<T>(&self, act: impl FnOnce(&State) -> Result<T, Problem>) -> Result<T, Problem> {
        let (result, position) = {
            let store = self.store();
            (act(&store.state), store.journal.position())
        };
        durable(position).await?;
        result
    }

    /// Runs `act` and waits until its changes are on disk. `act` must decide before it changes anything, so that a refusal leaves the state
    /// as it was.
    pub(crate) async fn write<T>(
        &self,
        act: impl FnOnce(&mut State) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let _permit = self.0.writes.acquire().await.map_err(|_| broken_problem())?;
        let now_ms = self.now_ms();
        let (result, position, notices) = {
            let mut store = self.store();
            if store.journal.is_broken() {
                return Err(broken_problem());
            }
            let result = act(&mut store.state);
            let Store { state, journal } = &mut *store;
            let changes = state.take_pending();
            journal.append(&changes).map_err(|_| broken_problem())?;
            let notices = notices::for_changes(&state.watches, &changes, now_ms);
            if journal.needs_rewrite() {
                journal.rewrite(state).map_err(|_| broken_problem())?;
            }
            (result, journal.position(), notices)
        };
        // Before the first wait: a client that disconnects during the wait must not cancel the notifications.
        self.notify(&notices, &position);
        durable(position).await?;
        result
    }

    /// The journal's id, which sync tokens contain.
    pub(crate) fn epoch(&self) -> String {
        self.store().journal.epoch.clone()
    }
}

fn broken_problem() -> Problem {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", "the sandbox cannot write to its disk")
}

/// The line of the journal to wait for, and the state of the file on disk.
type Position = (u64, tokio::sync::watch::Receiver<Durable>);

async fn durable((line, mut durable): Position) -> Result<(), Problem> {
    let known = *durable.borrow();
    let reached = if known.broken || known.lines >= line {
        known
    } else {
        *durable.wait_for(|d| d.broken || d.lines >= line).await.map_err(|_| broken_problem())?
    };
    if reached.broken { Err(broken_problem()) } else { Ok(()) }
}

/// Generates ids: random, or reproducible from a seed.
struct Ids {
    seed: Option<u64>,
    next: AtomicU64,
}

impl Ids {
    /// `len` (at most 32) characters of `[a-z2-7]`.
    fn make(&self, len: usize) -> anyhow::Result<String> {
        let mut bytes = [0; 32];
        match self.seed {
            None => getrandom::fill(&mut bytes).ok().context("the system gives no randomness")?,
            Some(seed) => {
                let next = self.next.fetch_add(1, Ordering::Relaxed);
                bytes = Sha256::digest([seed.to_be_bytes(), next.to_be_bytes()].concat()).into();
            }
        }
        Ok(bytes
            .iter()
            .take(len)
            .map(|b| char::from(b"abcdefghijklmnopqrstuvwxyz234567"[usize::from(b % 32)]))
            .collect())
    }
}

/// The extractors of handlers: the provider and the account.
pub(crate) type Caller = (AxumState<Sandbox>, Extension<Login>);
