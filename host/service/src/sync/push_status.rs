//! The status of a scope's watch for the API.

use std::collections::BTreeSet;

use base::error::{Code, Result};
use model::Instant;
use model::sync::{SyncError, Watch, WatchCoverage, WatchStatus};
use storage::connections::Connection;
use storage::sync_states::SyncState;
use storage::{jobs, watches};

use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::connections::watch_expiry::watch_view;
use crate::connections::watch_reach;
use crate::sync::schedule::{MAX_WATCHED, parts, renew_job};
use crate::sync::scope::SyncScope;

/// Returns the watch of a scope whose provider can notify this service; `otherwise` if it cannot, and if there is no watch. None: the scope
/// is not followed. A scope that is followed with all of its collections has the worst status of these.
pub async fn load(
    app: &App,
    connection: &Connection,
    state: &SyncState,
    otherwise: Option<Watch>,
) -> Result<Option<Watch>> {
    if !watch_reach::can_watch(app, &connection.provider, &state.surface) {
        return Ok(otherwise);
    }
    if !state.followed {
        return Ok(None);
    }
    let (reader, now) = (app.db.reader(), app.now());
    let whole = SyncScope::collections(ResourceKind::ContactBook);
    if is_of(state, &whole) {
        let mut known = watches::of_connection(reader, &connection.id).await?;
        known.retain(|watch| watch.surface == state.surface);
        // One more than the limit: if it exists, not all are watched.
        let parts = parts(app, connection, &whole, MAX_WATCHED + 1).await?;
        return Ok(combine_watches(&known, &parts, now).or(otherwise));
    }
    let of = (state.surface.as_str(), state.scope_id.as_str());
    let known = watches::of_scope(reader, &connection.id, of).await?;
    Ok(watch_view(&known, now).or(otherwise))
}

/// Contract silent: why the provider sends no notifications of a scope that is followed, whose watch the API tells as `watch`. None: it
/// sends them, was not asked yet, has none of this scope, or cannot reach this service.
pub async fn find_error(
    app: &App,
    connection: &Connection,
    state: &SyncState,
    watch: Option<&Watch>,
) -> Result<Option<SyncError>> {
    let (provider, surface) = (&connection.provider, state.surface.as_str());
    let is_on = |watch: &Watch| matches!(watch.status, WatchStatus::Active | WatchStatus::Expiring);
    if watch.is_none_or(is_on) || !state.followed || !watch_reach::can_watch(app, provider, surface) {
        return Ok(None);
    }
    if let Some(setting) = watch_reach::missing_setting(app, connection, surface).await? {
        let message = format!(
            "changes are polled: the registration of {provider} has no {setting}; the operator gives it: `switchboard apps provider set {} \
             {provider} --setting {setting}=…`",
            connection.tenant.application_id
        );
        let at = Instant::from_millis(state.started_at.unwrap_or_default());
        let code = Code::ProviderNotRegistered.as_str().to_owned();
        return Ok(Some(SyncError { code, message, at, retry_at: None }));
    }
    let job = jobs::find(app.db.reader(), &renew_job(connection, surface, &state.scope_id).id()).await?;
    let Some(job) = job else { return Ok(None) };
    let error: Option<SyncError> = job.last_error.as_deref().map(serde_json::from_str).transpose()?;
    Ok(error.map(|error| SyncError { retry_at: job.due_at.map(Instant::from_millis), ..error }))
}

/// Contract silent: the number of collections of a scope for which the provider sends notifications now, out of `total`. None: the scope
/// has no collections, is not subscribed, or the provider cannot notify this service.
pub async fn coverage(
    app: &App,
    connection: &Connection,
    state: &SyncState,
    total: i64,
) -> Result<Option<WatchCoverage>> {
    let is_whole = is_of(state, &SyncScope::collections(ResourceKind::ContactBook));
    let can_watch = watch_reach::can_watch(app, &connection.provider, &state.surface);
    if !is_whole || !state.followed || !can_watch {
        return Ok(None);
    }
    let known = watches::of_connection(app.db.reader(), &connection.id).await?;
    Ok(Some(watch_coverage(&known, &state.surface, total, app.now())))
}

fn watch_coverage(known: &[watches::Watch], surface: &str, total: i64, now: i64) -> WatchCoverage {
    let is_on = |watch: &&watches::Watch| {
        watch.surface == surface && !watch.scope_id.is_empty() && watch.is_active(now)
    };
    let collections: BTreeSet<&str> =
        known.iter().filter(is_on).map(|watch| watch.scope_id.as_str()).collect();
    // The watch of a deleted collection ends a moment after it.
    let watched = i64::try_from(collections.len()).unwrap_or(i64::MAX).min(total);
    WatchCoverage { watched, total }
}

fn is_of(state: &SyncState, scope: &SyncScope) -> bool {
    (state.surface.as_str(), state.scope_id.as_str()) == (scope.surface(), scope.scope_id.as_str())
}

/// Returns the combined watch of several parts from the rows of all. If one of them is not watched, the whole is polled, and has no expiry.
fn combine_watches(known: &[watches::Watch], parts: &[String], now: i64) -> Option<Watch> {
    let of_part = |part: &String| {
        let rows: Vec<watches::Watch> =
            known.iter().filter(|watch| watch.scope_id == *part).cloned().collect();
        watch_view(&rows, now)
    };
    let each: Vec<Option<Watch>> = parts.iter().map(of_part).collect();
    let last_notification_at = each.iter().flatten().filter_map(|watch| watch.last_notification_at).max();
    each.iter().flatten().next()?;
    let Some(all) = each.into_iter().collect::<Option<Vec<Watch>>>() else {
        return Some(Watch { status: WatchStatus::Expired, expires_at: None, last_notification_at });
    };
    let is = |status: WatchStatus| all.iter().any(|watch| watch.status == status);
    let worst = [WatchStatus::Expired, WatchStatus::Expiring].into_iter().find(|status| is(*status));
    Some(Watch {
        status: worst.unwrap_or(WatchStatus::Active),
        expires_at: all.iter().filter_map(|watch| watch.expires_at).min(),
        last_notification_at,
    })
}

#[cfg(test)]
mod tests {
    use base::tenant::Tenant;
    use storage::watches::Status;

    use super::*;

    const NOW: i64 = 1_000;

    fn row(scope_id: &str, status: Status, expires_at: i64) -> watches::Watch {
        watches::Watch {
            id: format!("wat_{scope_id}"),
            tenant: Tenant { organization_id: "org_1".to_owned(), application_id: "app_1".to_owned() },
            connection_id: "conn_1".to_owned(),
            provider: "sandbox".to_owned(),
            surface: "contacts".to_owned(),
            scope_id: scope_id.to_owned(),
            external_id: None,
            resource: None,
            account: None,
            token_hash: String::new(),
            status,
            expires_at: Some(expires_at),
            renewed_at: Some(NOW),
            due_at: None,
            last_notified_at: Some(expires_at / 100),
            created_at: 0,
            updated_at: 0,
        }
    }

    #[test]
    fn a_whole_is_as_its_worst_part() {
        let parts = ["", "cb_1", "cb_2"].map(str::to_owned);
        let worst = |rows: &[watches::Watch]| {
            combine_watches(rows, &parts, NOW).map(|watch| (watch.status, watch.expires_at))
        };
        let at = |ms| Some(Instant::from_millis(ms));
        let rows = |status| {
            [row("", Status::Active, 9_000), row("cb_1", status, 5_000), row("cb_2", Status::Active, 7_000)]
        };
        assert_eq!(worst(&rows(Status::Active)), Some((WatchStatus::Active, at(5_000))));
        assert_eq!(worst(&rows(Status::Expiring)), Some((WatchStatus::Expiring, at(5_000))));
        assert_eq!(worst(&rows(Status::Expired)), Some((WatchStatus::Expired, at(5_000))));
        assert_eq!(
            worst(&rows(Status::Starting)),
            Some((WatchStatus::Expired, None)),
            "the watch does not exist yet"
        );
        assert_eq!(
            worst(&rows(Status::Active)[..2]),
            Some((WatchStatus::Expired, None)),
            "one is not watched"
        );
        assert_eq!(worst(&[]), None);
        let told =
            combine_watches(&rows(Status::Active), &parts, NOW).and_then(|watch| watch.last_notification_at);
        assert_eq!(told, at(90), "whichever part it was about");
    }

    #[test]
    fn each_collection_with_a_watch_that_is_on_counts_once() {
        let rows = [
            row("", Status::Active, 9_000),
            row("cb_1", Status::Active, 9_000),
            row("cb_1", Status::Expiring, 8_000),
            row("cb_2", Status::Active, NOW),
            row("cb_3", Status::Expiring, 9_000),
            row("cb_4", Status::Starting, 9_000),
            row("cb_5", Status::Stopping, 9_000),
        ];
        assert_eq!(watch_coverage(&rows, "contacts", 6, NOW), WatchCoverage { watched: 2, total: 6 });
        assert_eq!(
            watch_coverage(&rows, "contacts", 1, NOW),
            WatchCoverage { watched: 1, total: 1 },
            "one is gone"
        );
        assert_eq!(watch_coverage(&rows, "calendar", 6, NOW), WatchCoverage { watched: 0, total: 6 });
        assert_eq!(watch_coverage(&[], "contacts", 0, NOW), WatchCoverage::default());
    }
}
