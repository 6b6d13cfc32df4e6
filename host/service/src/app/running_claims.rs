//! Claims of Idempotency-Keys whose requests run in this process. The claim ends when its request ends, whatever ended that: an error, a
//! panic, a client that hung up. Where the database is away at that moment, the end is written as soon as it is back. A request has no limit
//! of time, so the host renews the claims of those that last, and keeps its own lease as long as there are any (`job_runner::lease`).

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

/// Time that a claim is left to its request where the host does not renew it, ms: it frees a claim whose end could not be written.
pub const CLAIM_LEASE_MS: u64 = 90_000;
/// Time that a response waits for the end of its claim to be written. Then the end is written behind it.
const END_TIMEOUT: Duration = Duration::from_secs(2);
/// Ends that wait for the database; the claims of further ones are left to their leases.
const MAX_UNWRITTEN_ENDS: usize = 10_000;
/// Claims that one transaction ends, or renews.
const CLAIMS_PER_TRANSACTION: usize = 100;
/// The first and the longest wait after the database refused to write ends.
const RETRY_WAITS: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(1));

/// A claimed row, and the fence that proves that it is still this request's.
#[derive(Clone, Debug)]
pub struct Claim {
    pub application_id: String,
    pub scope: String,
    pub fence: String,
}

impl Claim {
    /// The place of the sealed answer.
    pub fn place(&self) -> String {
        format!("idempotency.answer:{}:{}", self.application_id, self.scope)
    }

    /// Its row. Transactions change several in this order, so that none waits for another one in a circle.
    fn row(&self) -> (&str, &str) {
        (&self.application_id, &self.scope)
    }
}

/// How a claim without an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimEnd {
    /// The request changed nothing anywhere: the key is as good as new.
    Unused,
    /// A provider may have been asked for a change: the row stays, and the next attempt knows that it has to look before it writes.
    Free,
}

/// The claims of this process. Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct RunningClaims(Arc<ClaimRegistry>);

struct ClaimRegistry {
    db: Db,
    state: Mutex<ClaimState>,
    /// Requests that run with a claim, and listeners whose requests may make one.
    users: watch::Sender<usize>,
}

#[derive(Default)]
struct ClaimState {
    /// By the fence of the claim.
    running: HashMap<String, RunningRequest>,
    unwritten: VecDeque<UnwrittenEnd>,
    /// A task writes what is in `unwritten`.
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
    /// Without any claim. Ends are written to `db`.
    pub fn new(db: Db) -> RunningClaims {
        RunningClaims(Arc::new(ClaimRegistry { db, state: Mutex::default(), users: watch::Sender::new(0) }))
    }

    /// Begins a request with a claim that is about to be written. Until the request says otherwise it ends as `Unused`.
    pub fn begin(&self, claim: Claim) -> RunningClaim {
        let request = RunningRequest { claim: claim.clone(), since: Instant::now() };
        self.state().running.insert(claim.fence.clone(), request);
        self.0.users.send_modify(|users| *users += 1);
        let end = Mutex::new(Some(ClaimEnd::Unused));
        RunningClaim { claim, claims: self.clone(), end, has_called: AtomicBool::new(false) }
    }

    /// Whether the request that has this fence runs in this process.
    pub fn is_running(&self, fence: &str) -> bool {
        self.state().running.contains_key(fence)
    }

    /// Until what is returned is dropped, requests may come that claim keys: the lease of this host goes on until then.
    pub fn open(&self) -> OpenListener {
        self.0.users.send_modify(|users| *users += 1);
        OpenListener(self.clone())
    }

    /// Whether no request has a claim, and none can come that makes one.
    pub fn is_idle(&self) -> bool {
        *self.0.users.borrow() == 0
    }

    /// Waits until no request has a claim, and none can come that makes one.
    pub async fn idle(&self) {
        let mut users = self.0.users.subscribe();
        // It fails without a sender, which is in `self`.
        let _ = users.wait_for(|users| *users == 0).await;
    }

    /// Renews the claims whose requests have run for so long, as claims of this host: until then, in ms since 1970.
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

    /// The claims whose requests have run for so long.
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

    /// Ends a request. `end`: what has still to be written of its claim.
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
        // Outside of a runtime the process is ending.
        if !state.is_writing && Handle::try_current().is_ok() {
            state.is_writing = true;
            let claims = self.clone();
            Lane::jobs().spawn(async move { claims.write_ends().await });
        }
    }

    /// One user less.
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

    /// The ends that are to be written next, without those whose lease has freed the claim by itself. Without any, the writing task ends.
    fn next_ends(&self) -> Vec<UnwrittenEnd> {
        let mut state = self.state();
        state.unwritten.retain(|ended| ended.at.elapsed() < Duration::from_millis(CLAIM_LEASE_MS));
        let ends: Vec<UnwrittenEnd> = state.unwritten.iter().take(CLAIMS_PER_TRANSACTION).cloned().collect();
        state.is_writing = !ends.is_empty();
        ends
    }
}

/// While it lives, requests may come that claim keys.
pub struct OpenListener(RunningClaims);

impl OpenListener {
    /// Listens while it lives, and no longer.
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

/// The claim of a request that runs. Dropped before it is settled, it ends as it was last told to.
pub struct RunningClaim {
    claim: Claim,
    claims: RunningClaims,
    /// None: nothing is to be written any more.
    end: Mutex<Option<ClaimEnd>>,
    /// A provider was asked for a change.
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

    /// Sets how the claim ends from now on.
    pub fn set_end(&self, end: ClaimEnd) {
        *self.unwritten_end() = Some(end);
    }

    /// Leaves nothing to be written: the row has the answer, or there is no row of this request.
    pub fn settle(&self) {
        *self.unwritten_end() = None;
    }

    pub fn is_settled(&self) -> bool {
        self.unwritten_end().is_none()
    }

    /// Notes that a provider is about to be asked for a change.
    pub fn note_call(&self) {
        self.has_called.store(true, Ordering::Relaxed);
    }

    /// Whether a provider was asked for a change, whatever it said.
    pub fn has_called(&self) -> bool {
        self.has_called.load(Ordering::Relaxed)
    }

    /// Writes the end of the claim. Where that fails or takes too long, it is written later.
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
