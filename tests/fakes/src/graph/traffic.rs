//! Round trips to Graph: how many an account's requests make. The fake can be as far away as Graph is.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use crate::door::Ask;
use crate::graph::{GraphService, lock, oauth};

/// The requests of all accounts, and the distance of the fake.
#[derive(Default)]
pub(crate) struct MailboxTraffic {
    /// The time that a request and its answer are on their way, together.
    distance: Duration,
    /// By the account's address.
    mailboxes: BTreeMap<String, MailboxRequests>,
}

/// The requests of one account.
#[derive(Default)]
struct MailboxRequests {
    requests: u64,
    /// Requests that arrive within half of the distance of the first of them make one round trip.
    round_trips: u64,
    /// The arrival of the first request of the latest round trip.
    began: Option<Instant>,
}

/// A request of Graph that has arrived.
pub(crate) struct GraphArrival {
    /// The number of its round trip among those of its account; 0 where the request has no token of a user.
    pub(crate) round_trip: u64,
    distance: Duration,
}

impl MailboxTraffic {
    pub(crate) fn set_distance(&mut self, distance: Duration) {
        self.distance = distance;
    }

    /// Forgets the requests so far.
    pub(crate) fn clear(&mut self) {
        self.mailboxes.clear();
    }

    /// The counts by account, as in `{"alice@example.com": {"requests": 3, "roundTrips": 2}}`.
    pub(crate) fn to_value(&self) -> Value {
        let value = |mailbox: &MailboxRequests| json!({ "requests": mailbox.requests, "roundTrips": mailbox.round_trips });
        let all = self.mailboxes.iter().map(|(name, mailbox)| (name.clone(), value(mailbox)));
        Value::Object(all.collect::<Map<String, Value>>())
    }

    /// Counts a request that arrives now. Returns the number of its round trip.
    fn count(&mut self, user: &str) -> u64 {
        let (now, window) = (Instant::now(), self.distance / 2);
        let mailbox = self.mailboxes.entry(user.to_owned()).or_default();
        mailbox.requests += 1;
        if mailbox.began.is_none_or(|began| now.duration_since(began) >= window) {
            mailbox.round_trips += 1;
            mailbox.began = Some(now);
        }
        mailbox.round_trips
    }
}

impl GraphArrival {
    /// Counts a request.
    pub(crate) fn count(service: &GraphService, ask: &Ask) -> GraphArrival {
        let token = oauth::authenticate(&lock(&service.state), ask);
        let mut journal = lock(&service.journal);
        let round_trip = token.map_or(0, |token| journal.traffic.count(&token.user));
        GraphArrival { round_trip, distance: journal.traffic.distance }
    }

    /// Waits for as long as one direction takes.
    pub(crate) async fn travel(&self) {
        if !self.distance.is_zero() {
            tokio::time::sleep(self.distance / 2).await;
        }
    }
}
