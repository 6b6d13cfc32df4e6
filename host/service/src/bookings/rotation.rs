//! The loads of hosts in a rotation, counted from the meetings themselves, so that cancelled and reassigned ones count correctly.

use std::collections::{BTreeMap, HashMap};

use base::error::Result;
use model::scheduling::event_type::{EventType, HostRole};
use scheduling::hours::Zone;
use scheduling::rules::{Assignment, Question, Strategy};
use storage::scheduling::event_types::EventTypeRow;
use storage::scheduling::rotation;
use storage::sql::On;

/// Meetings that are searched for the last one of each host. A host without one among them counts as waiting longest.
const LATEST: i64 = 1_000;

/// The hosts of the rotation, each with its weight. When they change, loads are counted from then on.
pub fn weights(body: &EventType) -> BTreeMap<&str, i64> {
    let hosts = body.hosts.iter().filter(|host| host.role == HostRole::Rotation);
    hosts.map(|host| (host.connection_id.as_str(), host.weight)).collect()
}

/// Fills in the hosts' loads, if one of several is chosen for a meeting that begins at `start_ms`.
///
/// Loads are those of the slot's local month: meetings of the event type that start in it and were made since the hosts or their weights
/// were last changed, so that a new host does not get all meetings until the others' lead is made up.
pub async fn count(
    on: impl Into<On<'_>>,
    row: &EventTypeRow,
    question: &mut Question,
    start_ms: i64,
) -> Result<()> {
    let rules = &question.rules;
    if !matches!(rules.assignment, Assignment::RoundRobin | Assignment::Priority) {
        return Ok(());
    }
    if rules.strategy == Strategy::Soonest {
        let latest = rotation::latest(on, &row.id, LATEST).await?;
        for host in &mut question.hosts {
            let last = latest.iter().find(|meeting| meeting.hosts.contains(&host.id));
            host.last_assigned_ms = last.map_or(0, |meeting| meeting.created_at);
        }
        return Ok(());
    }
    let month = month(&rules.zone, start_ms);
    let given = rotation::starting_in(on, &row.id, month, row.rotation_since).await?;
    let mut loads: HashMap<&str, u32> = HashMap::new();
    for host in given.iter().flat_map(|meeting| &meeting.hosts) {
        *loads.entry(host.as_str()).or_insert(0) += 1;
    }
    for host in &mut question.hosts {
        host.load = loads.get(host.id.as_str()).copied().unwrap_or(0);
    }
    Ok(())
}

/// The local month of an instant: its first instant, and that of the next month.
fn month(zone: &Zone, at_ms: i64) -> (i64, i64) {
    let date = zone.date(at_ms);
    let first = zone.instant_ms(date.first_of_month(), 0).unwrap_or(i64::MIN);
    let next = date.last_of_month().tomorrow().ok().and_then(|next| zone.instant_ms(next, 0));
    (first, next.unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_is_that_of_the_zone() {
        let zone = Zone::named("Asia/Kolkata").unwrap();
        // 31 January, 20:00 UTC is 1 February there; the zone is 5 h 30 min ahead.
        let ahead = (5 * 60 + 30) * 60_000;
        let day = 24 * 60 * 60_000;
        let first = 31 * day - ahead;
        assert_eq!(month(&zone, 30 * day + 20 * 3_600_000), (first, first + 28 * day));
    }
}
