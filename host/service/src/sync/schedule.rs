//! Schedules pulls and streams of followed scopes: their jobs, and the interval of quiet collections.

use anyhow::Result;
use storage::connections::Connection;
use storage::jobs::{self, Job, NewJob};
use storage::wakes::JobClass;
use storage::watches::{self, Watch};
use storage::{Tx, items};

use crate::app::App;
use crate::app::live_channels::{Channel, LiveChannel};
use crate::app::resource_kind::ResourceKind;
use crate::connections::call_target::server_of;
use crate::sync::scope::SyncScope;

/// The kind of the jobs that pull; their keys are `<connection>:<surface>:<scope>`.
pub const PULL_JOB: &str = "pull";
/// The kind of the jobs that listen to a provider; their keys are `<connection>:email`.
pub const WATCH_JOB: &str = "watch";

/// The kind of the jobs that start, renew and stop a provider's watches; their keys have the form of those of pulls.
pub const RENEW_JOB: &str = "renew";

/// Time after an activity in which pulls are as frequent as the setting allows, ms.
const BUSY_MS: i64 = 10 * 60_000;
/// The longest interval between pulls of a quiet collection, ms.
const LONGEST_MS: i64 = 15 * 60_000;
/// The same interval if the provider notifies of changes, ms: no provider is trusted to report all of them.
pub const WATCHED_MS: i64 = 60 * 60_000;
/// Most watched collections of a surface that is followed as a whole. If a connection has more, the others are polled, and a change in a
/// watched one brings their poll forward.
pub const MAX_WATCHED: i64 = 50;

/// A job on a connection: its kind and key, and the server that it calls.
#[derive(Clone, Debug)]
pub struct ConnectionJob {
    kind: &'static str,
    class: JobClass,
    key: String,
    target: String,
}

impl ConnectionJob {
    /// Returns the id of its row.
    pub fn id(&self) -> String {
        format!("{}:{}", self.kind, self.key)
    }

    /// Returns the job for enqueuing. `due_at`: ms since 1970.
    pub fn due<'a>(&'a self, connection: &'a Connection, due_at: Option<i64>) -> NewJob<'a> {
        NewJob {
            kind: self.kind,
            key: &self.key,
            class: self.class,
            tenant: &connection.tenant,
            connection_id: Some(&connection.id),
            target: &self.target,
            due_at,
            args: None,
        }
    }
}

/// Returns the job that pulls a scope.
pub fn pull_job(connection: &Connection, scope: &SyncScope) -> ConnectionJob {
    pull_job_of(connection, scope.surface(), &scope.scope_id)
}

/// Same as `pull_job` by the names in a sync state.
pub fn pull_job_of(connection: &Connection, surface: &str, scope_id: &str) -> ConnectionJob {
    let key = format!("{}:{surface}:{scope_id}", connection.id);
    ConnectionJob { kind: PULL_JOB, class: JobClass::Pull, key, target: server_of(connection) }
}

/// Returns the job that maintains the watch of a collection, or of the records directly in a connection (`scope_id` empty).
pub fn renew_job(connection: &Connection, surface: &str, scope_id: &str) -> ConnectionJob {
    let key = format!("{}:{surface}:{scope_id}", connection.id);
    ConnectionJob { kind: RENEW_JOB, class: JobClass::Pull, key, target: server_of(connection) }
}

/// Returns the id of the job that maintains a watch.
pub fn renew_id_of(watch: &Watch) -> String {
    format!("{RENEW_JOB}:{}:{}:{}", watch.connection_id, watch.surface, watch.scope_id)
}

/// Returns the id of the job that pulls the watched scope. Contacts are pulled with all of their books.
pub fn pull_id_of(watch: &Watch) -> String {
    let is_whole = watch.surface == ResourceKind::ContactBook.surface().as_str();
    let scope_id = if is_whole { "" } else { watch.scope_id.as_str() };
    format!("{PULL_JOB}:{}:{}:{scope_id}", watch.connection_id, watch.surface)
}

/// Returns the job that listens to a mailbox's provider; none if the provider has no stream of changes.
pub fn watch_job(app: &App, connection: &Connection, scope: &SyncScope) -> Option<ConnectionJob> {
    let can_listen = scope.kind.is_mail() && app.runtime.can_listen(&connection.provider);
    can_listen.then(|| ConnectionJob {
        kind: WATCH_JOB,
        class: JobClass::Watch,
        key: watch_key(&connection.id),
        target: server_of(connection),
    })
}

fn watch_key(connection_id: &str) -> String {
    format!("{connection_id}:{}", ResourceKind::EmailMessage.surface().as_str())
}

/// Returns the id of the job that listens to a connection's provider.
pub fn watch_id(connection_id: &str) -> String {
    format!("{WATCH_JOB}:{}", watch_key(connection_id))
}

/// Schedules a pull of a scope in the background soon. Writes nothing if one is due already.
pub async fn pull_soon(app: &App, connection: &Connection, scope: &SyncScope) -> Result<()> {
    let (job, now) = (pull_job(connection, scope), app.now());
    match jobs::find(app.db.reader(), &job.id()).await? {
        Some(found) if found.state == "running" => Ok(()),
        Some(found) if is_due(&found, now) => {
            app.db.wakes().wake(job.class);
            Ok(())
        }
        _ => pull_at(app, connection, job, now).await,
    }
}

/// Schedules a pull for this time (ms since 1970) or earlier.
pub async fn pull_at(app: &App, connection: &Connection, job: ConnectionJob, due_at: i64) -> Result<()> {
    let (connection, now) = (connection.clone(), app.now());
    app.db
        .write(move |tx| {
            Box::pin(async move { jobs::enqueue(tx, &job.due(&connection, Some(due_at)), now).await })
        })
        .await
}

/// Ensures that a subscribed mailbox has a listening job. An existing job stays as it is.
pub async fn enqueue_watch(
    tx: &mut Tx,
    app: &App,
    connection: &Connection,
    job: &ConnectionJob,
) -> Result<()> {
    if jobs::find(&mut *tx, &job.id()).await?.is_some() {
        return Ok(());
    }
    let now = app.now();
    jobs::enqueue(tx, &job.due(connection, Some(now)), now).await
}

/// Whether a job waits to be run now.
pub fn is_due(job: &Job, now: i64) -> bool {
    job.state == "queued" && job.due_at.is_some_and(|at| at <= now)
}

/// Returns the state of a connection's push channel, on whichever host it is open. None: no host listens.
pub async fn watched(app: &App, connection_id: &str) -> Result<Option<LiveChannel>> {
    match app.watches.find(connection_id) {
        Some(here) => Ok(Some(here)),
        None => watched_by_rows(app, connection_id).await,
    }
}

/// Same as `watched`, but from rows, as every host sees it.
pub async fn watched_by_rows(app: &App, connection_id: &str) -> Result<Option<LiveChannel>> {
    let Some(job) = jobs::find(app.db.reader(), &watch_id(connection_id)).await? else { return Ok(None) };
    let kept = job.progress.as_deref().and_then(|kept| serde_json::from_str::<LiveChannel>(kept).ok());
    Ok(kept.map(|kept| match kept.channel {
        Channel::Open if job.state != "running" => LiveChannel { channel: Channel::Closed, ..kept },
        _ => kept,
    }))
}

/// Returns the state of the push channel by which the provider notifies of changes in this scope. None: there is none.
pub async fn watch_of(app: &App, connection: &Connection, scope: &SyncScope) -> Result<Option<LiveChannel>> {
    match watch_job(app, connection, scope) {
        Some(_) => watched(app, &connection.id).await,
        None => find_live_channel(app, connection, scope).await,
    }
}

/// Returns the same for notifications that the provider posts to this service. A scope that is followed with all of its collections is
/// watched if each of them is: with more than `MAX_WATCHED` it never is.
async fn find_live_channel(
    app: &App,
    connection: &Connection,
    scope: &SyncScope,
) -> Result<Option<LiveChannel>> {
    let connector = app.runtime.find(&connection.provider);
    if connector.is_none_or(|connector| connector.manifest.push_of(scope.surface()).is_none()) {
        return Ok(None);
    }
    let (reader, now) = (app.db.reader(), app.now());
    let mut rows = watches::of_connection(reader, &connection.id).await?;
    rows.retain(|watch| watch.surface == scope.surface());
    if rows.is_empty() {
        return Ok(None);
    }
    // One more than the limit: if it exists, not all are watched.
    let scope_ids = parts(app, connection, scope, MAX_WATCHED + 1).await?;
    rows.retain(|watch| scope_ids.contains(&watch.scope_id));
    if rows.is_empty() {
        return Ok(None);
    }
    let is_active = |id: &String| rows.iter().any(|watch| watch.scope_id == *id && watch.is_active(now));
    let channel = if scope_ids.iter().all(is_active) { Channel::Open } else { Channel::Closed };
    let told_at = rows.iter().filter_map(|watch| watch.last_notified_at).max();
    Ok(Some(LiveChannel { channel, told_at }))
}

/// Returns the ids to watch for a scope: itself, and if it is followed with all of its collections the first of these, at most `limit`.
/// They are ordered by id, the oldest first: a new one displaces no other.
pub async fn parts(app: &App, connection: &Connection, scope: &SyncScope, limit: i64) -> Result<Vec<String>> {
    let mut parts = vec![scope.scope_id.clone()];
    if scope.is_whole() {
        let (reader, kind) = (app.db.reader(), scope.kind.as_str());
        let inside =
            items::list_top(reader, &connection.tenant, Some(&connection.id), kind, "", limit).await?;
        parts.extend(inside.into_iter().map(|collection| collection.id));
    }
    Ok(parts)
}

/// Whether the provider notifies of changes in this scope now.
pub async fn is_watched(app: &App, connection: &Connection, scope: &SyncScope) -> Result<bool> {
    let watched = watch_of(app, connection, scope).await?;
    Ok(watched.is_some_and(|watched| watched.channel == Channel::Open))
}

/// Returns the time from a pull to the next one, ms. `shortest_ms`: the setting. `quiet_ms`: the time without activity.
pub fn interval_ms(shortest_ms: i64, quiet_ms: i64, is_watched: bool) -> i64 {
    if is_watched {
        return WATCHED_MS.max(shortest_ms);
    }
    let (mut interval, mut quiet) = (shortest_ms, BUSY_MS);
    while quiet <= quiet_ms && interval < LONGEST_MS {
        interval *= 2;
        quiet *= 2;
    }
    interval.min(LONGEST_MS.max(shortest_ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;

    #[test]
    fn a_quiet_collection_is_left_alone_for_longer_and_longer() {
        let minutes = |quiet: i64| interval_ms(MINUTE, quiet * MINUTE, false) / MINUTE;
        let intervals: Vec<i64> =
            [0, 9, 10, 19, 20, 39, 40, 79, 80, 100_000].into_iter().map(minutes).collect();
        assert_eq!(intervals, [1, 1, 2, 2, 4, 4, 8, 8, 15, 15]);
    }

    #[test]
    fn the_setting_is_the_shortest_interval() {
        assert_eq!(interval_ms(100, 0, false), 100);
        assert_eq!(interval_ms(20 * MINUTE, 1_000 * MINUTE, false), 20 * MINUTE);
        assert_eq!(interval_ms(MINUTE, 0, true), 60 * MINUTE);
        assert_eq!(interval_ms(90 * MINUTE, 0, true), 90 * MINUTE);
    }
}
