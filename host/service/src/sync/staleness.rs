//! Decides whether the copy of a scope answers a read without a request to the provider. The decision depends on rows, so that all hosts
//! agree; if a database has a single host, its memory replaces some queries.
//!
//! A copy is in step while its background pulls keep up: clients follow it, its last pull was complete, and it is not older than twice the
//! time between two pulls (`schedule::interval_ms`), or an hour if the provider notifies of changes. Reads of it wait for nothing then.

use base::error::{Result, is_outage};
use storage::connections::Connection;
use storage::sync_states as table;
use storage::sync_states::CopyFreshness;
use tokio::sync::OnceCell;

use crate::app::App;
use crate::app::freshness::DataAge;
use crate::app::live_channels::{Channel, LiveChannel};
use crate::app::resource_kind::ResourceKind;
use crate::sync::schedule::{WATCHED_MS, interval_ms, pull_job, pull_soon, watch_of};
use crate::sync::scope::SyncScope;

/// Age from which a copy in step is refreshed in the background after a read, ms.
const AGAIN_AFTER_MS: i64 = 60_000;

/// Returns the sync status of a scope. None: it was never read.
async fn standing(app: &App, connection: &Connection, scope: &SyncScope) -> Result<Option<CopyFreshness>> {
    let of = (connection.id.as_str(), scope.surface(), scope.scope_id.as_str());
    Ok(table::standing(app.db.reader(), of, &pull_job(connection, scope).id()).await?)
}

/// Returns the time at which all of a scope was read (ms since 1970), if that was at `since` or later, by this host or another one. Reads
/// before a reset do not count.
pub async fn read_since(
    app: &App,
    connection: &Connection,
    scope: &SyncScope,
    since: i64,
) -> Result<Option<i64>> {
    let name = scope.lock_name(connection);
    if !app.db.is_shared() {
        return Ok(read_here(app, &name).filter(|at| *at >= since));
    }
    let standing = standing(app, connection, scope).await?;
    Ok(standing.and_then(|standing| known_since(app, &name, &standing, since)))
}

/// Returns the time of this host's last read of a scope with this name (`scope_name`). None if other hosts read, too.
pub fn read_here(app: &App, name: &str) -> Option<i64> {
    if app.db.is_shared() { None } else { app.freshness.get(name) }
}

/// Returns the time of the last complete read, by the rows of a database that several hosts share.
fn known_since(app: &App, name: &str, standing: &CopyFreshness, since: i64) -> Option<i64> {
    let here = app.freshness.read_in(name, standing.generation).filter(|at| *at >= since);
    if here.is_some() {
        return here;
    }
    // Another host has read it, and no pull was requested after that.
    let elsewhere = standing.done_at.filter(|at| *at >= since && !standing.is_asked_for(app.now()))?;
    app.freshness.set(name, elsewhere, standing.generation);
    Some(elsewhere)
}

/// The status of a scope that clients follow with all of its collections.
pub struct CollectionSetState {
    /// None: no background pulls keep it in step.
    standing: Option<CopyFreshness>,
    watched: Option<LiveChannel>,
}

impl CollectionSetState {
    async fn load(app: &App, connection: &Connection, top: &SyncScope) -> Result<CollectionSetState> {
        let standing = standing(app, connection, top).await?.filter(is_kept_up);
        let watched = if standing.is_some() { watch_of(app, connection, top).await? } else { None };
        Ok(CollectionSetState { standing, watched })
    }
}

/// Returns the age of a scope's copy if it can answer a read: it was just read (`freshness_ms`), or it is in step. A copy in step that is
/// older than a minute is refreshed in the background. None: the provider has to be asked first. `fresh`: the client requires that in any
/// case. Only the scope's names are used.
pub async fn age(
    app: &App,
    connection: &Connection,
    scope: &SyncScope,
    fresh: bool,
) -> Result<Option<DataAge>> {
    age_within(app, connection, scope, fresh, &OnceCell::new()).await
}

/// Same as `age` for one of many collections that are followed together. The status of the whole is read at most once, into `whole`, and
/// not at all if each of them was just read.
pub async fn age_within(
    app: &App,
    connection: &Connection,
    scope: &SyncScope,
    fresh: bool,
    whole: &OnceCell<CollectionSetState>,
) -> Result<Option<DataAge>> {
    if fresh {
        return Ok(None);
    }
    let (now, name, limit_ms) = (app.now(), scope.lock_name(connection), app.config.freshness_ms);
    let is_shared = app.db.is_shared();
    let here = app.freshness.get(&name).filter(|at| *at >= now - limit_ms && !is_shared);
    if here.is_some() {
        return Ok(Some(DataAge::local(here)));
    }
    if limit_ms == 0 && !is_shared {
        return Ok(None);
    }
    let Some(standing) = standing(app, connection, scope).await? else { return Ok(None) };
    let known = if is_shared { known_since(app, &name, &standing, now - limit_ms) } else { None };
    if known.is_some() {
        return Ok(Some(DataAge::local(known)));
    }
    // The setting requires a request to the provider for every read.
    if limit_ms == 0 {
        return Ok(None);
    }
    let read_at = in_step(app, connection, scope, &standing, whole).await?;
    if read_at.is_some_and(|at| now - at > AGAIN_AFTER_MS) && app.freshness.may_read_again(&name, now) {
        let followed = whole_of(scope).unwrap_or_else(|| scope.clone());
        if let Err(e) = pull_soon(app, connection, &followed).await
            && !is_outage(&e)
        {
            tracing::warn!(connection = %connection.id, error = %format!("{e:#}"), "a pull cannot be asked for");
        }
    }
    Ok(read_at.map(|at| DataAge::local(Some(at))))
}

/// Returns the age of a scope's copy, whether or not it can answer a read.
pub async fn known_age(app: &App, connection: &Connection, scope: &SyncScope) -> Result<DataAge> {
    let Some(own) = standing(app, connection, scope).await? else { return Ok(DataAge::local(None)) };
    Ok(DataAge::local(latest(&own, [own.done_at, here(app, connection, scope, &own)])))
}

/// Returns the time of this host's last read of a scope, if it counts.
fn here(app: &App, connection: &Connection, scope: &SyncScope, own: &CopyFreshness) -> Option<i64> {
    let name = scope.lock_name(connection);
    match app.db.is_shared() {
        true => app.freshness.read_in(&name, own.generation),
        false => app.freshness.get(&name),
    }
}

/// Returns the latest time at which a scope was read.
fn latest(own: &CopyFreshness, others: [Option<i64>; 2]) -> Option<i64> {
    // Times of a copy that was never read completely do not count.
    let read_at = own.last_success_at?;
    others.into_iter().flatten().max().max(Some(read_at))
}

/// Returns the scope that clients follow and that includes this one.
fn whole_of(scope: &SyncScope) -> Option<SyncScope> {
    let top = scope.kind.collection().filter(|top| *top == ResourceKind::ContactBook);
    top.map(SyncScope::collections)
}

/// Returns the time of the last read of a scope that is in step, ms since 1970.
async fn in_step(
    app: &App,
    connection: &Connection,
    scope: &SyncScope,
    own: &CopyFreshness,
    whole: &OnceCell<CollectionSetState>,
) -> Result<Option<i64>> {
    let here = here(app, connection, scope, own);
    let (now, shortest_ms) = (app.now(), app.config.poll_interval_ms);
    let Some(top) = whole_of(scope) else {
        if !is_kept_up(own) {
            return Ok(None);
        }
        let watched = watch_of(app, connection, scope).await?;
        let read_at = latest(own, [own.done_at, here]);
        return Ok(read_at.filter(|at| is_in_step(own, *at, watched, now, shortest_ms)));
    };
    if own.status != "caught_up" {
        return Ok(None);
    }
    let whole = whole.get_or_try_init(|| CollectionSetState::load(app, connection, &top)).await?;
    let Some(stands) = &whole.standing else { return Ok(None) };
    // Not the time of the whole's job: its runs may have read the list of collections alone.
    let read_at = latest(own, [own.done_at, here]);
    Ok(read_at.filter(|at| is_in_step(stands, *at, whole.watched, now, shortest_ms)))
}

/// Whether background pulls keep a scope in step, and one was completed since it was followed or reset.
fn is_kept_up(s: &CopyFreshness) -> bool {
    let is_done = s.done_at.is_some_and(|at| s.started_at.is_none_or(|started| at >= started));
    s.followed && s.status == "caught_up" && is_done
}

/// Whether a copy of `read_at` is in step, if background pulls keep it up. `shortest_ms` is the shortest time between two pulls.
fn is_in_step(
    s: &CopyFreshness,
    read_at: i64,
    watched: Option<LiveChannel>,
    now: i64,
    shortest_ms: i64,
) -> bool {
    // The provider has notified of a change that was not read yet.
    if watched.is_some_and(|watched| watched.told_at.is_some_and(|told_at| told_at >= read_at)) {
        return false;
    }
    let quiet_ms = s.last_success_at.zip(s.last_activity_at).map_or(0, |(read, active)| read - active);
    let polled = interval_ms(shortest_ms, quiet_ms, false).saturating_mul(2);
    let limit = match watched {
        Some(LiveChannel { channel: Channel::Open, .. }) => polled.max(WATCHED_MS),
        _ => polled,
    };
    now - read_at <= limit
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;
    const READ: i64 = 1_000 * MINUTE;

    fn kept_up() -> CopyFreshness {
        CopyFreshness {
            followed: true,
            status: "caught_up".to_owned(),
            started_at: Some(0),
            last_success_at: Some(READ),
            last_activity_at: Some(READ),
            done_at: Some(READ),
            ..CopyFreshness::default()
        }
    }

    #[test]
    fn only_what_is_followed_and_read_to_its_end_is_kept_up() {
        assert!(is_kept_up(&kept_up()));
        assert!(!is_kept_up(&CopyFreshness { followed: false, ..kept_up() }));
        for status in ["idle", "initial", "syncing", "throttled", "blocked", "error"] {
            assert!(!is_kept_up(&CopyFreshness { status: status.to_owned(), ..kept_up() }), "{status}");
        }
        assert!(!is_kept_up(&CopyFreshness { done_at: None, ..kept_up() }), "after a reset");
        assert!(
            !is_kept_up(&CopyFreshness { started_at: Some(READ + 1), ..kept_up() }),
            "it was read before"
        );
    }

    /// Returns the number of minutes for which a copy stays in step.
    fn minutes(s: &CopyFreshness, watched: Option<LiveChannel>) -> i64 {
        let is_in = |minute: &i64| is_in_step(s, READ, watched, READ + minute * MINUTE, MINUTE);
        (0..1_000).take_while(is_in).last().unwrap_or(-1)
    }

    #[test]
    fn a_copy_stays_in_step_for_two_pulls() {
        assert_eq!(minutes(&kept_up(), None), 2);
        let quiet = CopyFreshness { last_activity_at: Some(READ - 25 * MINUTE), ..kept_up() };
        assert_eq!(minutes(&quiet, None), 8, "it is pulled every four minutes");
        let silent = CopyFreshness { last_activity_at: Some(0), ..kept_up() };
        assert_eq!(minutes(&silent, None), 30);
    }

    #[test]
    fn a_provider_that_tells_of_changes_is_trusted_for_an_hour() {
        let told = |channel, told_at| Some(LiveChannel { channel, told_at });
        assert_eq!(minutes(&kept_up(), told(Channel::Open, None)), 60);
        assert_eq!(minutes(&kept_up(), told(Channel::Open, Some(READ - 1))), 60);
        assert_eq!(minutes(&kept_up(), told(Channel::Closed, Some(READ - 1))), 2);
        assert_eq!(minutes(&kept_up(), told(Channel::Open, Some(READ))), -1, "it has told of something");
    }
}
