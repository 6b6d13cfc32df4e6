//! The age of the local copy, as far as this process knows, and the age that a response reports. Lets most reads be answered without a
//! request to the provider.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

use base::error::{Code, Error};
use serde_json::{Value, json};

/// Scopes that are remembered; one more clears all of them.
const MAX_SCOPES: usize = 100_000;
/// Shortest time between two background refreshes of one scope, ms.
const AGAIN_EVERY_MS: i64 = 60_000;

/// Returns the key of a scope: a collection, or with an empty `scope_id` the records directly below the connection.
pub fn scope_name(connection_id: &str, surface: &str, scope_id: &str) -> String {
    format!("pull:{connection_id}:{surface}:{scope_id}")
}

/// The time of this process's last request to the provider, by scope.
#[derive(Default)]
pub struct Freshness {
    read: Mutex<ScopeReads>,
    /// Time at which a background refresh of the scope was last started, ms since 1970.
    again: Mutex<HashMap<String, i64>>,
}

#[derive(Default)]
struct ScopeReads {
    by_name: HashMap<String, ScopeRead>,
    /// Number of invalidations of any scope.
    forgotten: u64,
}

#[derive(Clone, Copy, Default)]
struct ScopeRead {
    /// Milliseconds since 1970; none after an invalidation.
    at: Option<i64>,
    /// The generation of the scope's state when all of it was read.
    generation: i64,
    /// The number of its last invalidation.
    forgotten: u64,
}

/// A mark taken before a pull: the pull does not count for scopes that are invalidated after it.
#[derive(Clone, Copy, Debug)]
pub struct ReadMark(u64);

impl Freshness {
    /// Returns the time of the last pull, ms since 1970.
    pub fn get(&self, name: &str) -> Option<i64> {
        self.read.lock().ok()?.by_name.get(name)?.at
    }

    /// Same as `get`, but none if the scope's state has another generation by now: the sync was restarted by a reset or by another host.
    pub fn read_in(&self, name: &str, generation: i64) -> Option<i64> {
        let read = self.read.lock().ok()?.by_name.get(name).copied()?;
        read.at.filter(|_| read.generation == generation)
    }

    /// Records a complete read of a scope: the provider was asked at `at` (ms since 1970), and the state now has this generation.
    pub fn set(&self, name: &str, at: i64, generation: i64) {
        self.set_since(self.mark(), name, at, generation);
    }

    /// Returns a mark for `set_since`, to be taken before a pull begins.
    pub fn mark(&self) -> ReadMark {
        ReadMark(self.read.lock().map_or(0, |read| read.forgotten))
    }

    /// Same as `set`, unless the scope was invalidated after the mark was taken: the pull may have continued from a cursor that is void.
    pub fn set_since(&self, mark: ReadMark, name: &str, at: i64, generation: i64) {
        let Ok(mut read) = self.read.lock() else { return };
        let forgotten = read.by_name.get(name).map_or(0, |known| known.forgotten);
        if forgotten > mark.0 {
            return;
        }
        if read.by_name.len() > MAX_SCOPES {
            read.by_name.clear();
        }
        read.by_name.insert(name.to_owned(), ScopeRead { at: Some(at), generation, forgotten });
    }

    /// Invalidates a scope: the next read asks the provider, even while a pull is running.
    pub fn forget(&self, name: &str) {
        let Ok(mut read) = self.read.lock() else { return };
        read.forgotten += 1;
        let forgotten = read.forgotten;
        if read.by_name.len() > MAX_SCOPES {
            read.by_name.clear();
        }
        read.by_name.insert(name.to_owned(), ScopeRead { forgotten, ..ScopeRead::default() });
    }

    /// Whether a background refresh of the scope may start now: once a minute.
    pub fn may_read_again(&self, name: &str, now: i64) -> bool {
        let Ok(mut again) = self.again.lock() else { return false };
        if again.get(name).is_some_and(|at| now - at < AGAIN_EVERY_MS) {
            return false;
        }
        if again.len() > MAX_SCOPES {
            again.clear();
        }
        again.insert(name.to_owned(), now);
        true
    }
}

/// The age of the data in a response, and their source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataAge {
    /// Time at which the provider had these data, ms since 1970; none if unknown, as during the initial sync of a mailbox.
    pub read_at: Option<i64>,
    /// The request waited for the provider.
    pub waited: bool,
    /// The reason why a required request to the provider failed; the stored data are returned.
    pub failed: Option<Code>,
}

impl DataAge {
    /// Returns the age of a local copy that was read at `read_at`.
    pub fn local(read_at: Option<i64>) -> DataAge {
        DataAge { read_at, waited: false, failed: None }
    }

    /// Returns the age of data for which this request asked the provider at `read_at`.
    pub fn provider(read_at: Option<i64>) -> DataAge {
        DataAge { read_at, waited: true, failed: None }
    }

    /// Returns the combined age of both: the older one.
    pub fn joined(self, other: DataAge) -> DataAge {
        let read_at = self.read_at.zip(other.read_at).map(|(one, other)| one.min(other));
        DataAge { read_at, waited: self.waited || other.waited, failed: self.failed.or(other.failed) }
    }
}

/// The data age of one request, collected from all code that works on the request.
#[derive(Clone, Default)]
pub struct ReadTrace(Arc<Mutex<ReportedAge>>);

#[derive(Default)]
struct ReportedAge {
    age: Option<DataAge>,
    /// By connection: the reason why its data are missing or old.
    missing: Vec<(String, Value)>,
    /// Connections whose stored data must not be returned: their accounts no longer grant access.
    withheld: BTreeSet<String>,
}

impl ReadTrace {
    /// Adds data of this age to the response.
    pub fn note(&self, age: DataAge) {
        if let Ok(mut told) = self.0.lock() {
            told.age = Some(told.age.map_or(age, |before| before.joined(age)));
        }
    }

    /// Returns the age of all data in the response; none if no part comes from a provider.
    pub fn age(&self) -> Option<DataAge> {
        self.0.lock().ok()?.age
    }

    /// Records a connection that could not be read: its part of a combined response is missing or stale.
    pub fn miss(&self, connection_id: &str, error: &Error) {
        let (code, why) = match error {
            Error::Refused(refusal) => (refusal.code.as_str(), refusal.message.as_str()),
            Error::Internal(_) => ("internal_error", "this service has failed"),
        };
        let message = format!(
            "this connection could not be read now, and only what was read of it before is shown: {why}"
        );
        let warning = json!({ "code": code, "message": message, "target": connection_id });
        if let Ok(mut told) = self.0.lock()
            && told.missing.iter().all(|(known, _)| known != connection_id)
        {
            told.missing.push((connection_id.to_owned(), warning));
        }
    }

    /// Whether the response reports this connection as unreadable.
    pub fn misses(&self, connection_id: &str) -> bool {
        self.0.lock().is_ok_and(|told| told.missing.iter().any(|(known, _)| known == connection_id))
    }

    /// Excludes the stored data of this connection from responses.
    pub fn withhold(&self, connection_id: &str) {
        if let Ok(mut told) = self.0.lock() {
            told.withheld.insert(connection_id.to_owned());
        }
    }

    /// Whether the stored data of this connection must not be returned.
    pub fn withholds(&self, connection_id: &str) -> bool {
        self.0.lock().is_ok_and(|told| told.withheld.contains(connection_id))
    }

    /// Returns one warning (`code`, `message`, `target`) for each connection that could not be read, ordered by id.
    pub fn missing(&self) -> Vec<Value> {
        let mut missing = self.0.lock().map(|told| told.missing.clone()).unwrap_or_default();
        missing.sort_by(|one, other| one.0.cmp(&other.0));
        missing.into_iter().map(|(_, warning)| warning).collect()
    }
}

#[cfg(test)]
mod tests {
    use base::error::refuse;

    use super::*;

    #[test]
    fn an_answer_is_as_old_as_its_oldest_part() {
        let reading = ReadTrace::default();
        assert_eq!(reading.age(), None);
        reading.note(DataAge::local(Some(5)));
        reading.clone().note(DataAge::provider(Some(9)));
        assert_eq!(reading.age(), Some(DataAge::provider(Some(5))));
        reading.note(DataAge::local(None));
        assert_eq!(reading.age(), Some(DataAge::provider(None)), "of a part it is not known");
    }

    #[test]
    fn a_part_that_could_not_be_read_anew_is_remembered() {
        let failed = DataAge { failed: Some(Code::ProviderTimeout), ..DataAge::local(Some(5)) };
        for joined in [failed.joined(DataAge::provider(Some(9))), DataAge::provider(Some(9)).joined(failed)] {
            assert_eq!(joined, DataAge { waited: true, ..failed });
        }
    }

    #[test]
    fn each_connection_is_missed_once() {
        let reading = ReadTrace::default();
        for id in ["conn_2", "conn_1", "conn_2"] {
            reading.miss(id, &refuse(Code::ConnectorError, "it trapped"));
        }
        let targets: Vec<Value> = reading.missing().into_iter().map(|w| w["target"].clone()).collect();
        assert_eq!(targets, ["conn_1", "conn_2"]);
        assert!(reading.misses("conn_1") && !reading.misses("conn_3"));
    }

    #[test]
    fn what_was_read_in_another_generation_counts_for_nothing() {
        let freshness = Freshness::default();
        freshness.set("scope", 7, 2);
        assert_eq!((freshness.get("scope"), freshness.read_in("scope", 2)), (Some(7), Some(7)));
        assert_eq!(freshness.read_in("scope", 3), None);
    }

    #[test]
    fn a_pull_that_began_before_its_scope_was_forgotten_counts_for_nothing() {
        let freshness = Freshness::default();
        freshness.set("scope", 7, 2);
        let before = freshness.mark();
        freshness.forget("scope");
        freshness.set_since(before, "scope", 9, 2);
        assert_eq!((freshness.get("scope"), freshness.read_in("scope", 2)), (None, None));
        freshness.set_since(before, "another", 9, 2);
        assert_eq!(freshness.get("another"), Some(9), "it was not forgotten");
        let after = freshness.mark();
        freshness.set_since(after, "scope", 11, 3);
        assert_eq!(freshness.get("scope"), Some(11));
        freshness.set_since(before, "scope", 12, 3);
        assert_eq!(freshness.get("scope"), Some(11), "the older pull ended later");
    }

    #[test]
    fn a_scope_is_read_again_once_a_minute() {
        let freshness = Freshness::default();
        let asked: Vec<bool> =
            [0, 1, 59_999, 60_000, 60_001].map(|now| freshness.may_read_again("scope", now)).into();
        assert_eq!(asked, [true, false, false, true, false]);
    }
}
