//! The times at which a watch is renewed and expires, and its status.

use model::Instant;
use model::sync::{Watch as Shown, WatchStatus};
use storage::watches::{Status, Watch};

/// Lifetime that a provider is asked for, ms. It may choose a shorter one.
pub const WANTED_MS: i64 = 7 * 24 * 3_600_000;
/// Shortest time before a renewal, ms: a provider that ends watches at once is not asked without pause.
const SHORTEST_MS: i64 = 60_000;
/// Longest time before a renewal, ms, whatever expiry the provider reports.
const LONGEST_MS: i64 = 90 * 24 * 3_600_000;

/// Returns the renewal time of a watch that was started or renewed at `now` and ends at `expires_at`: after half of its life, up to 5 % of
/// that earlier or later, so that watches that began together are not renewed together. `random` chooses.
pub fn renew_at(now: i64, expires_at: i64, random: u8) -> i64 {
    let half = (expires_at.saturating_sub(now).max(0) / 2).min(LONGEST_MS);
    let jitter = half / 20 * (2 * i64::from(random) - 255) / 255;
    now.saturating_add((half + jitter).max(SHORTEST_MS))
}

/// Returns the time at which a quarter of its life is left.
pub fn expiring_at(watch: &Watch) -> Option<i64> {
    let (expires_at, renewed_at) = (watch.expires_at?, watch.renewed_at?);
    Some(expires_at - expires_at.saturating_sub(renewed_at).max(0) / 4)
}

/// Returns the status of a watch at `now`, if the passage of time alone has changed it.
pub fn after_time(watch: &Watch, now: i64) -> Option<Status> {
    let is_over = watch.expires_at.is_some_and(|at| at <= now);
    match watch.status {
        Status::Active | Status::Expiring if is_over => Some(Status::Expired),
        Status::Active if expiring_at(watch).is_some_and(|at| at <= now) => Some(Status::Expiring),
        _ => None,
    }
}

/// Returns the decisive watch of a scope: an active one before an expired one.
pub fn present(watches: &[Watch]) -> Option<&Watch> {
    let rank = |watch: &&Watch| match watch.status {
        Status::Active => 3,
        Status::Expiring => 2,
        Status::Expired => 1,
        Status::Starting | Status::Stopping => 0,
    };
    watches.iter().filter(|watch| rank(watch) > 0).max_by_key(rank)
}

/// Returns the watch of one collection as the API shows it, from its rows. None: no watch has begun.
pub fn watch_view(known: &[Watch], now: i64) -> Option<Shown> {
    let watch = present(known)?;
    let status = match after_time(watch, now).unwrap_or(watch.status) {
        Status::Active => WatchStatus::Active,
        Status::Expiring => WatchStatus::Expiring,
        Status::Expired | Status::Starting | Status::Stopping => WatchStatus::Expired,
    };
    let at = |ms: Option<i64>| ms.map(Instant::from_millis);
    Some(Shown { status, expires_at: at(watch.expires_at), last_notification_at: at(watch.last_notified_at) })
}

/// Returns the time after `now` at which these watches need attention: a status change by time, or a due renewal.
pub fn next_at(watches: &[Watch], now: i64) -> Option<i64> {
    let times = watches.iter().flat_map(|watch| match watch.status {
        Status::Active => [watch.due_at, expiring_at(watch), watch.expires_at],
        Status::Expiring => [watch.due_at, watch.expires_at, None],
        Status::Stopping => [watch.due_at, None, None],
        Status::Starting | Status::Expired => [None; 3],
    });
    times.flatten().filter(|at| *at > now).min()
}

#[cfg(test)]
mod tests {
    use base::tenant::Tenant;

    use super::*;

    const HOUR: i64 = 3_600_000;

    fn watch(status: Status) -> Watch {
        Watch {
            id: "wat_1".to_owned(),
            tenant: Tenant { organization_id: "org_1".to_owned(), application_id: "app_1".to_owned() },
            connection_id: "conn_1".to_owned(),
            provider: "sandbox".to_owned(),
            surface: "calendar".to_owned(),
            scope_id: "cal_1".to_owned(),
            external_id: Some("wat_1".to_owned()),
            resource: None,
            account: None,
            token_hash: String::new(),
            status,
            expires_at: Some(8 * HOUR),
            renewed_at: Some(0),
            due_at: Some(4 * HOUR),
            last_notified_at: None,
            created_at: 0,
            updated_at: 0,
        }
    }

    #[test]
    fn half_of_the_life_is_five_percent_wide() {
        let at = |random| renew_at(HOUR, 41 * HOUR, random) - HOUR;
        assert_eq!((at(0), at(255)), (19 * HOUR, 21 * HOUR));
        assert!((at(127) - 20 * HOUR).abs() < HOUR / 100);
        assert_eq!(renew_at(0, 10, 0), SHORTEST_MS, "it is over before");
        assert!(renew_at(0, i64::MAX, 255) > 0);
    }

    #[test]
    fn a_watch_ends_by_itself() {
        let active = watch(Status::Active);
        assert_eq!(after_time(&active, 6 * HOUR - 1), None);
        assert_eq!(after_time(&active, 6 * HOUR), Some(Status::Expiring));
        assert_eq!(after_time(&active, 8 * HOUR), Some(Status::Expired));
        assert_eq!(after_time(&watch(Status::Expiring), 7 * HOUR), None);
        assert_eq!(after_time(&watch(Status::Expiring), 8 * HOUR), Some(Status::Expired));
        assert_eq!(after_time(&watch(Status::Expired), 9 * HOUR), None);
    }

    #[test]
    fn the_next_time_is_the_earliest_that_is_not_over() {
        let of = |status| [watch(status)];
        assert_eq!(next_at(&of(Status::Active), 0), Some(4 * HOUR));
        assert_eq!(next_at(&of(Status::Active), 4 * HOUR), Some(6 * HOUR));
        assert_eq!(next_at(&of(Status::Expiring), 6 * HOUR), Some(8 * HOUR));
        assert_eq!(next_at(&of(Status::Expired), 0), None);
    }
}
