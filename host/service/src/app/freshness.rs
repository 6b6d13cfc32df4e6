//! How old the local copy is, as far as this process knows, and what a request was told of that: what makes most reads answerable without a
//! look at the provider.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

use base::error::{Code, Error};
use serde_json::{Value, json};

/// Scopes that are remembered; more empty the memory.
const MOST: usize = 100_000;
/// How often one scope is read again behind answers, ms.
const AGAIN_EVERY_MS: i64 = 60_000;

/// The name by which a scope is remembered: a collection, or with an empty `scope_id` what lies directly in the connection.
pub fn scope_name(connection_id: &str, surface: &str, scope_id: &str) -> String {
    format!("pull:{connection_id}:{surface}:{scope_id}")
}

/// When this process last asked the provider, by scope.
#[derive(Default)]
pub struct Freshness {
    read: Mutex<ScopeReads>,
    /// When it was last decided to read a scope again behind an answer, ms since 1970.
    again: Mutex<HashMap<String, i64>>,
}

#[derive(Default)]
struct ScopeReads {
    by_name: HashMap<String, ScopeRead>,
    /// How often a scope was forgotten.
    forgotten: u64,
}

#[derive(Clone, Copy, Default)]
struct ScopeRead {
    /// Milliseconds since 1970; none: it was forgotten.
    at: Option<i64>,
    /// That of the scope's state when all of it was read.
    generation: i64,
    /// The number of its last forgetting.
    forgotten: u64,
}

/// A moment before a pull: what is forgotten after it was not read by that pull.
#[derive(Clone, Copy, Debug)]
pub struct ReadMark(u64);

impl Freshness {
    /// Milliseconds since 1970 of the last pull.
    pub fn get(&self, name: &str) -> Option<i64> {
        self.read.lock().ok()?.by_name.get(name)?.at
    }

    /// The same, unless the scope's state is of another generation by now: another host was asked to read all of it again, or is at it.
    pub fn read_in(&self, name: &str, generation: i64) -> Option<i64> {
        let read = self.read.lock().ok()?.by_name.get(name).copied()?;
        read.at.filter(|_| read.generation == generation)
    }

    /// All of a scope was read: the provider was asked at `at` (ms since 1970), and the state is of this generation now.
    pub fn set(&self, name: &str, at: i64, generation: i64) {
        self.set_since(self.mark(), name, at, generation);
    }

    /// To be taken before a pull begins, for `set_since`.
    pub fn mark(&self) -> ReadMark {
        ReadMark(self.read.lock().map_or(0, |read| read.forgotten))
    }

    /// The same as `set`, unless the scope was forgotten after the mark was taken: the pull may have gone on from a place that is void.
    pub fn set_since(&self, mark: ReadMark, name: &str, at: i64, generation: i64) {
        let Ok(mut read) = self.read.lock() else { return };
        let forgotten = read.by_name.get(name).map_or(0, |known| known.forgotten);
        if forgotten > mark.0 {
            return;
        }
        if read.by_name.len() > MOST {
            read.by_name.clear();
        }
        read.by_name.insert(name.to_owned(), ScopeRead { at: Some(at), generation, forgotten });
    }

    /// The next read asks the provider, also where a pull is under way.
    pub fn forget(&self, name: &str) {
        let Ok(mut read) = self.read.lock() else { return };
        read.forgotten += 1;
        let forgotten = read.forgotten;
        if read.by_name.len() > MOST {
            read.by_name.clear();
        }
        read.by_name.insert(name.to_owned(), ScopeRead { forgotten, ..ScopeRead::default() });
    }

    /// Whether a scope may be read again behind an answer now: once a minute.
    pub fn may_read_again(&self, name: &str, now: i64) -> bool {
        let Ok(mut again) = self.again.lock() else { return false };
        if again.get(name).is_some_and(|at| now - at < AGAIN_EVERY_MS) {
            return false;
        }
        if again.len() > MOST {
            again.clear();
        }
        again.insert(name.to_owned(), now);
        true
    }
}

/// How old the data are that answer a read, and where they come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataAge {
    /// The provider had the data so at this time, ms since 1970. None: that is not known, as of a mailbox that is read for the first time.
    pub read_at: Option<i64>,
    /// The request waited for the provider.
    pub waited: bool,
    /// The provider was to be asked and could not be, for this reason: the data are shown as they were.
    pub failed: Option<Code>,
}

impl DataAge {
    /// Of a copy that was read then.
    pub fn local(read_at: Option<i64>) -> DataAge {
        DataAge { read_at, waited: false, failed: None }
    }

    /// Of what the provider was asked for then, for this request.
    pub fn provider(read_at: Option<i64>) -> DataAge {
        DataAge { read_at, waited: true, failed: None }
    }

    /// Of both together: as old as the older one.
    pub fn joined(self, other: DataAge) -> DataAge {
        let read_at = self.read_at.zip(other.read_at).map(|(one, other)| one.min(other));
        DataAge { read_at, waited: self.waited || other.waited, failed: self.failed.or(other.failed) }
    }
}

/// What one request was told of the data that it has read. Everybody who works on the request adds to the same one.
#[derive(Clone, Default)]
pub struct ReadTrace(Arc<Mutex<ReportedAge>>);

#[derive(Default)]
struct ReportedAge {
    age: Option<DataAge>,
    /// By connection: why its data are missing, or old.
    missing: Vec<(String, Value)>,
    /// Connections whose stored data may not be shown: their accounts do not grant that any more.
    withheld: BTreeSet<String>,
}

impl ReadTrace {
    /// Data of this age are part of the answer.
    pub fn note(&self, age: DataAge) {
        if let Ok(mut told) = self.0.lock() {
            told.age = Some(told.age.map_or(age, |before| before.joined(age)));
        }
    }

    /// Of all that is part of the answer. None: nothing of it is a provider's.
    pub fn age(&self) -> Option<DataAge> {
        self.0.lock().ok()?.age
    }

    /// A connection could not be read: of an answer over several ones its part is missing, or as it was.
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

    /// Whether this connection is told of as one that could not be read.
    pub fn misses(&self, connection_id: &str) -> bool {
        self.0.lock().is_ok_and(|told| told.missing.iter().any(|(known, _)| known == connection_id))
    }

    /// The stored data of this connection may not be shown.
    pub fn withhold(&self, connection_id: &str) {
        if let Ok(mut told) = self.0.lock() {
            told.withheld.insert(connection_id.to_owned());
        }
    }

    /// Whether the stored data of this connection may not be shown.
    pub fn withholds(&self, connection_id: &str) -> bool {
        self.0.lock().is_ok_and(|told| told.withheld.contains(connection_id))
    }

    /// One warning (`code`, `message`, `target`) for each connection that could not be read, by its id.
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
