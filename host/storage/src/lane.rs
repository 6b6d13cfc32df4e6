//! Lanes: for whom the database works. A lane is known to whatever runs inside of it, so that storage chooses the connections (`pools.rs`)
//! without every function handing it on. Requests, jobs and the lease of the host have lanes apart, and none waits for a connection of
//! another one. A task that is spawned is in no lane unless `Lane::spawn` spawns it; work in no lane is a request's, of no application.

use std::sync::Arc;

use compute::named_semaphores::Shares;
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinHandle;

use crate::statement_counts::StatementCounts;

/// Which connections the work has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LaneKind {
    /// Somebody waits for an answer.
    #[default]
    Requests,
    /// Work in the background.
    Jobs,
    /// The renewal of the host's lease, which never waits behind work.
    Lease,
}

/// For whom the database works. Cheap to clone.
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
    /// Requests that no application is known of. Nothing but the pools bounds them.
    pub fn requests() -> Lane {
        Lane::default()
    }

    /// Work in the background that is no application's.
    pub fn jobs() -> Lane {
        Lane { kind: LaneKind::Jobs, ..Lane::default() }
    }

    /// The renewal of the host's lease.
    pub fn lease() -> Lane {
        Lane { kind: LaneKind::Lease, ..Lane::default() }
    }

    /// The same for an application, which has a share of the connections at most. `""` stands for all who are no application.
    pub fn of(self, application_id: &str) -> Lane {
        Lane { application_id: Some(application_id.into()), ..self }
    }

    /// The same lane whose statements are added to these counts. Without this, a lane has counts of its own.
    pub fn counted(self, counts: &StatementCounts) -> Lane {
        Lane { counts: counts.clone(), ..self }
    }

    /// Statements that ran in this lane, and in those made of it.
    pub fn counts(&self) -> &StatementCounts {
        &self.counts
    }

    /// The lane of the caller: to be handed to work that is spawned elsewhere.
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

    /// Waits for the application's next permit. They are given in the order in which they were asked for. None: the lane is no
    /// application's.
    pub(crate) async fn share(&self, of: &Shares) -> Option<OwnedSemaphorePermit> {
        let application_id = self.application_id.as_deref()?;
        // Only a closed semaphore fails, and nobody closes these.
        of.of(application_id).acquire_owned().await.ok()
    }
}

/// Calls `add` with the counts of the caller's lane; not at all for work in no lane.
pub(crate) fn with_counts(add: impl FnOnce(&StatementCounts)) {
    // The error says that there is no lane.
    let _ = CURRENT.try_with(|lane| add(&lane.counts));
}
