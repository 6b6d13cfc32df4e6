//! Round trips: how many an account's requests make. The fake can be as far away as a provider is.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

/// The requests of all accounts, and the distance of the fake.
#[derive(Default)]
pub struct Traffic {
    /// The time that a request and its answer are on their way, together.
    distance: Duration,
    /// By the user's address.
    accounts: BTreeMap<String, AccountTraffic>,
}

/// The requests of one account.
#[derive(Default)]
struct AccountTraffic {
    requests: u64,
    /// Requests that arrive within half of the distance of the first of them make one round trip.
    round_trips: u64,
    /// The arrival of the first request of the latest round trip.
    began: Option<Instant>,
}

/// A request that has arrived.
pub struct Arrival {
    /// The number of its round trip among those of its account; 0 where the request has no token of a user.
    pub(crate) round_trip: u64,
    distance: Duration,
}

impl Traffic {
    pub(crate) fn set_distance(&mut self, distance: Duration) {
        self.distance = distance;
    }

    /// Forgets the requests so far.
    pub(crate) fn clear(&mut self) {
        self.accounts.clear();
    }

    /// The counts by account, as in `{"alice@example.com": {"requests": 3, "roundTrips": 2}}`.
    pub(crate) fn to_value(&self) -> Value {
        let value = |account: &AccountTraffic| json!({ "requests": account.requests, "roundTrips": account.round_trips });
        let accounts = self.accounts.iter().map(|(name, account)| (name.clone(), value(account)));
        Value::Object(accounts.collect::<Map<String, Value>>())
    }

    /// Counts a request of this user that arrives now; one without a user counts for none.
    pub(crate) fn arrive(&mut self, user: Option<&str>) -> Arrival {
        let round_trip = user.map_or(0, |user| self.count(user));
        Arrival { round_trip, distance: self.distance }
    }

    /// Counts a request that arrives now. Returns the number of its round trip.
    fn count(&mut self, account: &str) -> u64 {
        let (now, window) = (Instant::now(), self.distance / 2);
        let account = self.accounts.entry(account.to_owned()).or_default();
        account.requests += 1;
        if account.began.is_none_or(|began| now.duration_since(began) >= window) {
            account.round_trips += 1;
            account.began = Some(now);
        }
        account.round_trips
    }
}

impl Arrival {
    /// Waits for as long as one direction takes.
    pub(crate) async fn travel(&self) {
        if !self.distance.is_zero() {
            tokio::time::sleep(self.distance / 2).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::Traffic;

    #[test]
    fn requests_that_arrive_together_are_one_round_trip() {
        let mut traffic = Traffic::default();
        traffic.set_distance(Duration::from_secs(600));
        assert_eq!((traffic.count("a"), traffic.count("a"), traffic.count("b")), (1, 1, 1));
        traffic.set_distance(Duration::ZERO);
        assert_eq!(traffic.count("a"), 2);
        let expected =
            json!({ "a": { "requests": 3, "roundTrips": 2 }, "b": { "requests": 1, "roundTrips": 1 } });
        assert_eq!(traffic.to_value(), expected);
        traffic.clear();
        assert_eq!((traffic.to_value(), traffic.count("a")), (json!({}), 1));
    }
}
