//! The work of a delivery run: deliveries that are due for a retry, and events after the webhook's cursor.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use base::error::Result;
use base::ids::Kind;
use model::webhook::DeliveryStatus;
use storage::log::{self, Light};
use storage::webhooks::deliveries::{Delivery, Endpoint};
use storage::webhooks::{deliveries as table, held as waiting};

use crate::app::App;
use crate::webhooks::health::PROBING_AFTER;
use crate::webhooks::notification_types::Matcher;

/// Most deliveries that a run retries.
const REPEATED: i64 = 64;
/// Log entries that a run reads.
const PAGE: i64 = 256;
/// Most deliveries that a run retries if the endpoint is slow or being probed: it completes few of them, and each holds up to 12 KiB of
/// earlier answers. A thousand such runs are in progress at a time.
const REPEATED_OF_SLOW: i64 = 8;
/// Most new events that a run takes for such an endpoint, for each concurrent attempt.
const NEW_OF_SLOW: i64 = 2;
/// Most deliveries of one subscription that wait for an earlier one of their resource. Beyond it the log is not read further.
const MOST_HELD: i64 = 10_000;

/// The work of a run.
#[derive(Debug, Default, PartialEq)]
pub struct Work {
    /// In the order in which attempts begin.
    pub deliveries: VecDeque<Delivery>,
    /// Deliveries that have to wait for an earlier one of their resource, in their stored form.
    pub held: Vec<Delivery>,
    /// Sequence numbers of events without a delivery.
    pub unsettled: BTreeSet<i64>,
    /// The sequence number up to which the log was read.
    pub up_to: i64,
    /// Whether there may be more.
    pub is_full: bool,
    /// Whether the log was not read further because the most deliveries are waiting.
    pub is_stopped: bool,
}

/// Most deliveries that a run retries, and most new ones that it takes.
fn bounds(endpoint: &Endpoint, is_slow: bool) -> (i64, i64) {
    match is_slow || endpoint.health.consecutive_failures >= PROBING_AFTER {
        true => (REPEATED_OF_SLOW, endpoint.max_concurrent.clamp(4, 64) * NEW_OF_SLOW),
        false => (REPEATED, PAGE),
    }
}

/// Finds the work for a subscription as it is now. `is_slow`: its endpoint is slow.
pub async fn find(app: &App, endpoint: &Endpoint, matcher: &Matcher, is_slow: bool) -> Result<Work> {
    let (reader, tenant, webhook_id) = (app.db.reader(), &endpoint.tenant, &endpoint.filters.id);
    let (most_repeated, most_new) = bounds(endpoint, is_slow);
    let repeated = table::due(reader, webhook_id, app.now(), most_repeated).await?;
    let is_full = i64::try_from(repeated.len()).is_ok_and(|count| count >= most_repeated);
    // Events between the cursor and the first match do not match the subscription.
    let after = endpoint.wake_from.map_or(endpoint.cursor, |from| endpoint.cursor.max(from - 1));
    let last = log::last_sequence(reader, tenant).await?;
    let mut found = log::light_after(reader, tenant, after, PAGE).await?;
    found.retain(|line| line.sequence <= last);
    let mut is_page = i64::try_from(found.len()).is_ok_and(|count| count >= PAGE);
    let mut up_to = found.last().filter(|_| is_page).map_or(last.max(after), |line| line.sequence);
    let written = table::written(reader, webhook_id, after, up_to).await?;
    found.retain(|line| is_wanted(matcher, line) && written.binary_search(&line.sequence).is_err());
    let most_new = usize::try_from(most_new).unwrap_or(usize::MAX);
    if found.len() > most_new {
        found.truncate(most_new);
        (is_page, up_to) = (true, found.last().map_or(up_to, |line| line.sequence));
    }
    let new: Vec<Delivery> = found.into_iter().map(|line| first(app, line)).collect();
    if endpoint.ordered {
        let resources: BTreeSet<&String> =
            repeated.iter().chain(&new).filter(|d| d.replay_id.is_empty()).map(|d| &d.resource_id).collect();
        let resources: Vec<String> = resources.into_iter().cloned().collect();
        let earliest = waiting::earliest(reader, webhook_id, &resources).await?;
        let room = usize::try_from(MOST_HELD - endpoint.held).unwrap_or(0);
        let mut work = in_order(repeated, new, &earliest, room);
        if !work.is_stopped {
            work.up_to = up_to;
        }
        work.is_full = is_full || (is_page && !work.is_stopped);
        return Ok(work);
    }
    let unsettled = new.iter().map(|delivery| delivery.sequence).collect();
    let mut deliveries = VecDeque::from(repeated);
    deliveries.extend(new);
    Ok(Work { deliveries, unsettled, up_to, is_full: is_full || is_page, ..Work::default() })
}

fn is_wanted(matcher: &Matcher, line: &Light) -> bool {
    matcher.matching(line.into()).next().is_some()
}

/// The delivery of an event before its first attempt.
fn first(app: &App, line: Light) -> Delivery {
    Delivery {
        id: app.new_id(Kind::Delivery),
        sequence: line.sequence,
        replay_id: String::new(),
        event_id: line.id,
        resource_id: line.resource_id,
        status: DeliveryStatus::Pending,
        attempts: Vec::new(),
        next_attempt_at: None,
    }
}

/// Splits due retries and new deliveries into those that may begin and those that have to wait. `earliest` has the first event of each
/// resource whose delivery has not ended. `room` is how many more deliveries may wait: when it is used up, no more new ones are taken.
fn in_order(
    repeated: Vec<Delivery>,
    new: Vec<Delivery>,
    earliest: &BTreeMap<String, i64>,
    mut room: usize,
) -> Work {
    let has_to_wait = |d: &Delivery| {
        d.replay_id.is_empty() && earliest.get(&d.resource_id).is_some_and(|sequence| *sequence < d.sequence)
    };
    let mut work = Work::default();
    for delivery in repeated {
        match has_to_wait(&delivery) {
            // It was due by itself before the subscription became ordered.
            true => work.held.push(Delivery { next_attempt_at: None, ..delivery }),
            false => work.deliveries.push_back(delivery),
        }
    }
    let mut seen = BTreeSet::new();
    for delivery in new {
        let waits = has_to_wait(&delivery);
        // The second one of a resource has to wait if the first one fails.
        let is_second = !seen.insert(delivery.resource_id.clone());
        if waits || is_second {
            let Some(left) = room.checked_sub(1) else {
                work.is_stopped = true;
                work.up_to = delivery.sequence - 1;
                return work;
            };
            room = left;
        }
        work.unsettled.insert(delivery.sequence);
        match waits {
            true => work.held.push(delivery),
            false => work.deliveries.push_back(delivery),
        }
    }
    work
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delivery(sequence: i64, resource_id: &str) -> Delivery {
        Delivery {
            id: format!("whd_{sequence}"),
            sequence,
            replay_id: String::new(),
            event_id: format!("ev_{sequence}"),
            resource_id: resource_id.to_owned(),
            status: DeliveryStatus::Pending,
            attempts: Vec::new(),
            next_attempt_at: None,
        }
    }

    fn due(sequence: i64, resource_id: &str) -> Delivery {
        Delivery { next_attempt_at: Some(7), ..delivery(sequence, resource_id) }
    }

    fn sequences<'d>(deliveries: impl IntoIterator<Item = &'d Delivery>) -> Vec<i64> {
        deliveries.into_iter().map(|delivery| delivery.sequence).collect()
    }

    #[test]
    fn an_event_waits_for_the_earliest_one_that_has_not_ended() {
        let earliest = BTreeMap::from([("a".to_owned(), 1), ("b".to_owned(), 4)]);
        let replay = Delivery { replay_id: "rpl_1".to_owned(), ..due(9, "a") };
        let repeated = vec![due(1, "a"), due(3, "a"), replay];
        let new = vec![delivery(10, "b"), delivery(11, "c"), delivery(12, "c"), delivery(13, "a")];
        let work = in_order(repeated, new, &earliest, 100);
        assert_eq!(sequences(&work.deliveries), [1, 9, 11, 12]);
        assert_eq!(sequences(&work.held), [3, 10, 13]);
        assert!(work.held.iter().all(|delivery| delivery.next_attempt_at.is_none()));
        assert_eq!(work.unsettled, BTreeSet::from([10, 11, 12, 13]));
        assert!(!work.is_stopped);
    }

    /// No more events are taken from the log than may wait, even if every attempt fails.
    #[test]
    fn the_log_is_read_as_far_as_there_is_room() {
        let earliest = BTreeMap::from([("a".to_owned(), 1)]);
        let new = || vec![delivery(10, "a"), delivery(11, "b"), delivery(12, "b"), delivery(13, "c")];
        let work = in_order(Vec::new(), new(), &earliest, 1);
        assert_eq!((sequences(&work.held), sequences(&work.deliveries)), (vec![10], vec![11]));
        assert_eq!((work.is_stopped, work.up_to), (true, 11));
        let work = in_order(Vec::new(), new(), &earliest, 0);
        assert_eq!((work.is_stopped, work.up_to, work.unsettled.len()), (true, 9, 0));
        let work = in_order(Vec::new(), new(), &earliest, 2);
        assert_eq!((work.is_stopped, work.unsettled.len()), (false, 4));
    }
}
