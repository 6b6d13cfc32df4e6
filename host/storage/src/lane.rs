//! Lanes: on behalf of which kind of work the database is used. A lane is task-local, so that storage chooses the connections
//! (`pools.rs`) without every function passing it on. Requests, jobs and the host's lease have separate lanes, and none waits for
//! a connection of another one. A spawned task is in no lane unless `Lane::spawn` spawns it; work in no lane counts as a request
//! without application.

use std::sync::Arc;

use compute::named_semaphores::Shares;
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinHandle;

use crate::statement_counts::StatementCounts;

/// The kind of work, which decides on the pool of connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LaneKind {
    /// Work for a caller that waits for an answer.
    #[default]
    Requests,
    /// Work in the background.
    Jobs,
    /// The renewal of the host's lease, which never waits behind work.
    Lease,
}

/// The work on behalf of which the database is used. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Lane {
    kind: LaneKind,
    application_id: Option<Arc<str>>,
    counts: StatementCounts,
}

tokio::task_local! {
    static CURRENT: Lane;
}

impl Lane {
    /// Requests without a known application. Only the pools bound them.
    pub fn requests() -> Lane {
        Lane::default()
    }

    /// Background work of no application.
    pub fn jobs() -> Lane {
        Lane { kind: LaneKind::Jobs, ..Lane::default() }
    }

    /// The renewal of the host's lease.
    pub fn lease() -> Lane {
        Lane { kind: LaneKind::Lease, ..Lane::default() }
    }

    /// The same for an application, which gets at most a share of the connections. `""` is for work of no application.
    pub fn for_application(self, application_id: &str) -> Lane {
        Lane { application_id: Some(application_id.into()), ..self }
    }

    /// The same lane, with its statements added to these counts. Without this, a lane has separate counts.
    pub fn counted(self, counts: &StatementCounts) -> Lane {
        Lane { counts: counts.clone(), ..self }
    }

    /// Counts of the statements that ran in this lane, and in those derived from it.
    pub fn counts(&self) -> &StatementCounts {
        &self.counts
    }

    /// The caller's lane: for work that is spawned elsewhere.
    pub fn current() -> Lane {
        CURRENT.try_with(Lane::clone).unwrap_or_default()
    }

    /// Runs work in this lane.
    pub fn scope<F: Future>(self, work: F) -> impl Future<Output = F::Output> + use<F> {
        CURRENT.scope(self, work)
    }

    /// Spawns work in this lane.
    pub fn spawn<F>(self, work: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        tokio::spawn(CURRENT.scope(self, work))
    }

    pub(crate) fn kind(&self) -> LaneKind {
        self.kind
    }

    /// Waits for the application's next permit; permits are granted in the order of the requests. None: the lane belongs to no
    /// application.
    pub(crate) async fn share(&self, of: &Shares) -> Option<OwnedSemaphorePermit> {
        let application_id = self.application_id.as_deref()?;
        // Only a closed semaphore fails, and these are never closed.
        of.of(application_id).acquire_owned().await.ok()
    }
}

/// Calls `add` with the counts of the caller's lane; not for work in no lane.
pub(crate) fn with_counts(add: impl FnOnce(&StatementCounts)) {
    // The error means that there is no lane.
    let _ = CURRENT.try_with(|lane| add(&lane.counts));
}
