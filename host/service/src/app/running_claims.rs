//! Claims of Idempotency-Keys whose requests run in this process. A claim ends with its request, whatever the cause: a response, an error,
//! a panic, a client that disconnected. If the database is unavailable then, the end is written as soon as it is back. Requests have no
//! time limit, so the host renews the claims of long ones, and keeps its own lease while there are any (`job_runner::lease`).

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Result;
use storage::lane::Lane;
use storage::{Db, idempotency};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

/// Lifetime of a claim that its host does not renew, ms: it frees a claim whose end could not be written.
pub const CLAIM_LEASE_MS: u64 = 90_000;
/// Time that a response waits for the end of its claim to be written. After that the end is written in the background.
const END_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum ends that wait for the database; further claims end with their leases.
const MAX_UNWRITTEN_ENDS: usize = 10_000;
/// Claims that one transaction ends or renews.
const CLAIMS_PER_TRANSACTION: usize = 100;
/// The shortest and the longest wait before writing ends is retried.
const RETRY_WAITS: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(1));

/// A claimed row, and the fence that proves that it is still this request's.
#[derive(Clone, Debug)]
pub struct Claim {
    pub application_id: String,
    pub scope: String,
    pub fence: String,
}

impl Claim {
    /// Returns the context that the sealed response is bound to.
    pub fn place(&self) -> String {
        format!("idempotency.answer:{}:{}", self.application_id, self.scope)
    }

    /// Returns the key of its row. Transactions change several rows in this order, so that they cannot deadlock.
    fn row(&self) -> (&str, &str) {
        (&self.application_id, &self.scope)
    }
}

/// How a claim without an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimEnd {
    /// The request changed nothing: the key can be used again like a new one.
    Unused,
    /// A provider may have received a change: the row stays, and the next attempt checks the provider before it writes.
    Free,
}

/// The claims of this process. Cheap to clone; clones share their state.
#[derive(Clone)]
pub struct RunningClaims(Arc<ClaimRegistry>);

struct ClaimRegistry {
    db: Db,
    state: Mutex<ClaimState>,
    /// Number of running requests with a claim, plus listeners whose requests may make one.
    users: watch::Sender<usize>,
}

#[derive(Default)]
struct ClaimState {
    /// By the fence of the claim.
    running: HashMap<String, RunningRequest>,
    unwritten: VecDeque<UnwrittenEnd>,
    /// Whether a task is writing `unwritten`.
    is_writing: bool,
}

/// A request that runs with a claim.
struct RunningRequest {
    claim: Claim,
    since: Instant,
}

#[derive(Clone)]
struct UnwrittenEnd {
    claim: Claim,
    end: ClaimEnd,
    at: Instant,
}

impl RunningClaims {
    /// Creates the registry with no claims. Ends are written to `db`.
    pub fn new(db: Db) -> RunningClaims {
        RunningClaims(Arc::new(ClaimRegistry { db, state: Mutex::default(), users: watch::Sender::new(0) }))
    }

    /// Registers a request with a claim that is about to be written. Unless changed, it ends as `Unused`.
    pub fn begin(&self, claim: Claim) -> RunningClaim {
        let request = RunningRequest { claim: claim.clone(), since: Instant::now() };
        self.state().running.insert(claim.fence.clone(), request);
        self.0.users.send_modify(|users| *users += 1);
        let end = Mutex::new(Some(ClaimEnd::Unused));
        RunningClaim { claim, claims: self.clone(), end, has_called: AtomicBool::new(false) }
    }

    /// Whether the request with this fence runs in this process.
    pub fn is_running(&self, fence: &str) -> bool {
        self.state().running.contains_key(fence)
    }

    /// Announces requests that may claim keys, until the returned guard is dropped. The host keeps its lease until then.
    pub fn open(&self) -> OpenListener {
        self.0.users.send_modify(|users| *users += 1);
        OpenListener(self.clone())
    }

    /// Whether no request has a claim, and no listener can accept one.
    pub fn is_idle(&self) -> bool {
        *self.0.users.borrow() == 0
    }

    /// Waits until `is_idle`.
    pub async fn idle(&self) {
        let mut users = self.0.users.subscribe();
        // It fails without a sender, which is in `self`.
        let _ = users.wait_for(|users| *users == 0).await;
    }

    /// Renews the claims of requests that have run for at least `after`, as claims of `owner`, until `until` (ms since 1970).
    pub async fn renew(&self, after: Duration, owner: &str, until: i64) -> Result<()> {
        for claims in self.running_for(after).chunks(CLAIMS_PER_TRANSACTION) {
            let (claims, owner) = (claims.to_vec(), owner.to_owned());
            let renewed: Result<()> = self
                .0
                .db
                .write(move |tx| {
                    Box::pin(async move {
                        for Claim { application_id, scope, fence } in &claims {
                            let key = [application_id.as_str(), scope.as_str(), fence.as_str()];
                            idempotency::renew(tx, key, &owner, until).await?;
                        }
                        Ok(())
                    })
                })
                .await;
            renewed?;
        }
        Ok(())
    }

    /// Returns the claims of requests that have run for at least this time.
    fn running_for(&self, time: Duration) -> Vec<Claim> {
        let state = self.state();
        let long = state.running.values().filter(|request| request.since.elapsed() >= time);
        let mut claims: Vec<Claim> = long.map(|request| request.claim.clone()).collect();
        claims.sort_by(|one, other| one.row().cmp(&other.row()));
        claims
    }

    fn state(&self) -> MutexGuard<'_, ClaimState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends a request. `end`: the claim's end, if it is still to be written.
    fn end(&self, claim: &Claim, end: Option<ClaimEnd>) {
        self.close();
        let mut state = self.state();
        state.running.remove(&claim.fence);
        let Some(end) = end else { return };
        if state.unwritten.len() >= MAX_UNWRITTEN_ENDS {
            drop(state);
            tracing::warn!(
                "too many ends of Idempotency-Keys wait for the database; this key is free in 90 s"
            );
            return;
        }
        state.unwritten.push_back(UnwrittenEnd { claim: claim.clone(), end, at: Instant::now() });
        // Outside a runtime the process is ending.
        if !state.is_writing && Handle::try_current().is_ok() {
            state.is_writing = true;
            let claims = self.clone();
            Lane::jobs().spawn(async move { claims.write_ends().await });
        }
    }

    /// Subtracts one user.
    fn close(&self) {
        self.0.users.send_modify(|users| *users = users.saturating_sub(1));
    }

    /// Writes ends until none is left.
    async fn write_ends(&self) {
        let mut wait = RETRY_WAITS.0;
        loop {
            let ends = self.next_ends();
            if ends.is_empty() {
                return;
            }
            let count = ends.len();
            match write(&self.0.db, ends.into_iter().map(|ended| (ended.claim, ended.end)).collect()).await {
                Ok(()) => {
                    self.state().unwritten.drain(..count);
                    wait = RETRY_WAITS.0;
                }
                Err(e) => {
                    tracing::debug!(count, error = %format!("{e:#}"), "the ends of Idempotency-Keys cannot be written yet");
                    sleep(wait).await;
                    wait = (wait * 2).min(RETRY_WAITS.1);
                }
            }
        }
    }

    /// Returns the ends to write next, without those whose lease has expired. If there are none, the writing task ends.
    fn next_ends(&self) -> Vec<UnwrittenEnd> {
        let mut state = self.state();
        state.unwritten.retain(|ended| ended.at.elapsed() < Duration::from_millis(CLAIM_LEASE_MS));
        let ends: Vec<UnwrittenEnd> = state.unwritten.iter().take(CLAIMS_PER_TRANSACTION).cloned().collect();
        state.is_writing = !ends.is_empty();
        ends
    }
}

/// A guard: while it exists, requests that claim keys may be accepted.
pub struct OpenListener(RunningClaims);

impl OpenListener {
    /// Holds the guard while `listening` runs.
    pub async fn during<T>(self, listening: impl Future<Output = T>) -> T {
        let _open = self;
        listening.await
    }
}

impl Drop for OpenListener {
    fn drop(&mut self) {
        self.0.close();
    }
}

async fn write(db: &Db, mut ends: Vec<(Claim, ClaimEnd)>) -> Result<()> {
    ends.sort_by(|(one, _), (other, _)| one.row().cmp(&other.row()));
    db.write(move |tx| {
        Box::pin(async move {
            for (Claim { application_id, scope, fence }, end) in &ends {
                match end {
                    ClaimEnd::Unused => idempotency::delete(tx, application_id, scope, fence).await?,
                    ClaimEnd::Free => idempotency::expire(tx, application_id, scope, fence).await?,
                }
            }
            Ok(())
        })
    })
    .await
}

/// The claim of a running request. If it is dropped before it is settled, it ends as `set_end` said last.
pub struct RunningClaim {
    claim: Claim,
    claims: RunningClaims,
    /// None: nothing is left to write.
    end: Mutex<Option<ClaimEnd>>,
    /// Whether a change was sent to a provider.
    has_called: AtomicBool,
}

impl Drop for RunningClaim {
    fn drop(&mut self) {
        let end = *self.end.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.claims.end(&self.claim, end);
    }
}

impl RunningClaim {
    pub fn claim(&self) -> &Claim {
        &self.claim
    }

    /// Sets how the claim is going to end.
    pub fn set_end(&self, end: ClaimEnd) {
        *self.unwritten_end() = Some(end);
    }

    /// Leaves nothing to write: the row has the response, or this request has no row.
    pub fn settle(&self) {
        *self.unwritten_end() = None;
    }

    pub fn is_settled(&self) -> bool {
        self.unwritten_end().is_none()
    }

    /// Records that a change is about to be sent to a provider.
    pub fn note_call(&self) {
        self.has_called.store(true, Ordering::Relaxed);
    }

    /// Whether a change was sent to a provider, whatever the result.
    pub fn has_called(&self) -> bool {
        self.has_called.load(Ordering::Relaxed)
    }

    /// Writes the end of the claim. If that fails or times out, it is written later.
    pub async fn finish(&self, end: ClaimEnd) -> Result<()> {
        self.set_end(end);
        timeout(END_TIMEOUT, write(&self.claims.0.db, vec![(self.claim.clone(), end)])).await??;
        self.settle();
        Ok(())
    }

    fn unwritten_end(&self) -> MutexGuard<'_, Option<ClaimEnd>> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
