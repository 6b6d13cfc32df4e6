//! The end of a scan: the records that it did not name, and whether they are deleted. A connector that answers a failed request with an
//! empty list must not cause deletions. So a scan that lacks everything, or most of many records, is doubted: everything is read a second
//! time, and records that are missing again are deleted. A read with failed requests to the provider confirms nothing.

use std::collections::HashMap;

use base::error::Result;
use serde::{Deserialize, Serialize};
use storage::items::{self, UnseenSource};
use storage::sync_states::SyncState;

use crate::app::resource_kind::ResourceKind;
use crate::local_copy::mail::source_names::is_only_here;
use crate::sync::provider_page::{ProviderPage, Scan};
use crate::sync::pull::{Pull, PullError};
use crate::sync::walk::restart_scan;

/// Number of records of a kind from which a scan is doubted if it lacks more than half of them. For collections, which are deleted with
/// their content, any number counts.
const MUCH: i64 = 20;
/// Time for which consecutive reads with failed requests confirm nothing, from the first of them, ms. After it such failures count as
/// normal for the provider.
const FAILING_MS: i64 = 24 * 3_600_000;

/// A doubted scan, which deleted nothing because it lacked too much: `SyncState::doubt`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScanDoubt {
    /// The number of the scan.
    pub scan: i64,
    /// The last sequence of the log when the scan began.
    pub since: i64,
    /// Number of records that the scan did not name.
    pub missing: i64,
    /// Number of stored records.
    pub known: i64,
    /// Time at which the scan ended, ms since 1970.
    pub at: i64,
}

impl ScanDoubt {
    /// Returns the doubted scan, if there is one.
    pub fn from_state(state: &SyncState) -> Result<Option<ScanDoubt>> {
        Ok(ReadingDoubt::from_state(state)?.scan)
    }

    /// Stores this as the doubted scan.
    pub(crate) fn store(&self, state: &mut SyncState) -> Result<()> {
        ReadingDoubt { scan: Some(self.clone()), ..ReadingDoubt::from_state(state)? }.store(state)
    }
}

/// A series of reads that lacked too much and had failed requests to the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct FailingReadings {
    /// Time at which the first one ended, ms since 1970.
    since: i64,
    /// Time at which the last one ended, ms since 1970.
    last: i64,
}

impl FailingReadings {
    /// Returns the series extended by a read that ends now. After a long pause it restarts: an outage of last week says nothing about this
    /// one.
    fn with_another(before: Option<FailingReadings>, now: i64) -> FailingReadings {
        let before = before.filter(|before| now - before.last < FAILING_MS);
        FailingReadings { since: before.map_or(now, |before| before.since), last: now }
    }

    /// Whether the failures are normal for the provider.
    fn are_usual(self) -> bool {
        self.last - self.since >= FAILING_MS
    }
}

/// The content of `SyncState::doubt`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct ReadingDoubt {
    #[serde(flatten)]
    scan: Option<ScanDoubt>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failing: Option<FailingReadings>,
}

impl ReadingDoubt {
    fn from_state(state: &SyncState) -> Result<ReadingDoubt> {
        Ok(state.doubt.as_deref().map(serde_json::from_str).transpose()?.unwrap_or_default())
    }

    fn store(&self, state: &mut SyncState) -> Result<()> {
        let is_empty = self.scan.is_none() && self.failing.is_none();
        state.doubt = if is_empty { None } else { Some(serde_json::to_string(self)?) };
        Ok(())
    }
}

/// The decision on the records that a scan did not name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ScanEnd {
    /// No scan ends here.
    None,
    /// These are deleted, except for rows that were written after this sequence of the log.
    Deleted { sources: Vec<String>, since: i64 },
    /// They stay until a second full read.
    Doubted(ScanDoubt),
}

/// Number of missing and of all stored records of a kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct MissingCount {
    missing: i64,
    known: i64,
}

impl MissingCount {
    fn is_much(self, is_collection: bool) -> bool {
        let is_most = 2 * self.missing > self.known;
        self.missing > 0 && (self.missing == self.known || is_most && (is_collection || self.known >= MUCH))
    }
}

/// The records that a scan did not name.
struct Absence {
    is_collection: bool,
    missing: Vec<UnseenSource>,
    /// The number of stored records of each kind that it named.
    named: HashMap<String, i64>,
}

/// Returns the kind under which records are counted: a draft becomes a message when it is sent.
fn counted_as(kind: &str) -> &str {
    if kind == ResourceKind::EmailDraft.as_str() { ResourceKind::EmailMessage.as_str() } else { kind }
}

impl Absence {
    /// Returns the counts, by kind, of the missing records that meet the condition.
    fn counts(&self, is_counted: impl Fn(&UnseenSource) -> bool) -> HashMap<&str, MissingCount> {
        let mut counts: HashMap<&str, MissingCount> = HashMap::new();
        for (kind, named) in &self.named {
            counts.entry(counted_as(kind)).or_default().known += named;
        }
        for source in self.missing.iter().filter(|source| is_counted(source)) {
            let count = counts.entry(counted_as(&source.kind)).or_default();
            count.missing += 1;
            count.known += 1;
        }
        counts
    }

    /// Whether too many are missing to trust one read.
    fn is_much(&self, is_counted: impl Fn(&UnseenSource) -> bool) -> bool {
        self.counts(is_counted).values().any(|count| count.is_much(self.is_collection))
    }

    /// Returns the provider ids of the missing records, each once.
    fn sources(self) -> Vec<String> {
        let mut sources: Vec<String> = self.missing.into_iter().map(|source| source.source_id).collect();
        sources.dedup();
        sources
    }
}

impl Pull<'_> {
    /// Decides what happens to the records that the scan which ends with this page did not name. Fails if that is undecidable: then the
    /// next pull reads everything from the beginning.
    pub(crate) async fn scan_end(
        &self,
        state: &mut SyncState,
        page: &ProviderPage,
    ) -> Result<ScanEnd, PullError> {
        let Some(scan) = page.ended() else { return Ok(ScanEnd::None) };
        let absence = self.absence(page, scan).await?;
        let doubt = ScanDoubt::from_state(state)?;
        let Some(first) = &doubt else {
            if !absence.is_much(|_| true) {
                return Ok(ScanEnd::Deleted { sources: absence.sources(), since: scan.since });
            }
            self.ensure_answered(state)?;
            return Ok(ScanEnd::Doubted(self.doubted(&absence, scan)));
        };
        let is_missing_again = |source: &UnseenSource| source.seen_in < first.scan;
        let again = absence.missing.iter().filter(|source| is_missing_again(source)).count();
        let others = i64::try_from(absence.missing.len() - again).unwrap_or(i64::MAX);
        // The second read lacks most of the records that the first one named.
        let is_other_reading = others > 0 && others.saturating_mul(2) > first.known - first.missing;
        if is_other_reading || absence.is_much(|source| !is_missing_again(source)) {
            return Err(self.contradicted(state));
        }
        if again > 0 {
            self.ensure_answered(state)?;
        }
        tracing::warn!(connection = %self.connection.id, surface = self.scope.surface(), scope = %self.scope.scope_id,
            missing = first.missing, missing_again = again,
            "second full read complete: deleting records that are missing again");
        Ok(ScanEnd::Deleted { sources: absence.sources(), since: scan.since.min(first.since) })
    }

    /// Returns the records that the scan which ends with this page did not name.
    async fn absence(&self, page: &ProviderPage, scan: Scan) -> Result<Absence> {
        let (kind, parent_id) = (self.scope.kind, self.scope.scope_id.as_str());
        let (reader, id, family) = (self.app.db.reader(), &self.connection.id, kind.family());
        let mut missing = items::unseen(reader, id, family, parent_id, scan.generation).await?;
        let on_page: HashMap<&str, bool> =
            page.sources.iter().map(|source| (source.source_id.as_str(), source.deleted)).collect();
        let mut named: HashMap<String, i64> = HashMap::new();
        missing.retain(|source| match on_page.get(source.source_id.as_str()) {
            Some(is_deleted) => {
                *named.entry(source.kind.clone()).or_default() += i64::from(!is_deleted);
                false
            }
            None => !is_only_here(&source.source_id),
        });
        if !missing.is_empty() {
            let seen = items::seen_again(reader, id, family, parent_id, scan.generation, scan.since).await?;
            for (kind, sources) in seen {
                *named.entry(kind).or_default() += sources;
            }
        }
        Ok(Absence { is_collection: kind.is_collection(), missing, named })
    }

    /// Returns the scan as doubted, and logs it.
    fn doubted(&self, absence: &Absence, scan: Scan) -> ScanDoubt {
        let counts = absence.counts(|_| true);
        let missing = counts.values().map(|count| count.missing).sum();
        let known = counts.values().map(|count| count.known).sum();
        tracing::warn!(connection = %self.connection.id, surface = self.scope.surface(), scope = %self.scope.scope_id,
            missing, known, "the enumeration lacks most of the stored records: reading everything a second time before deleting any");
        ScanDoubt { scan: scan.generation, since: scan.since, missing, known, at: self.app.now() }
    }

    /// Fails if requests to the provider failed during this read: then missing records prove nothing.
    fn ensure_answered(&self, state: &mut SyncState) -> Result<(), PullError> {
        let failed = self.walk.failed_requests;
        let mut doubt = ReadingDoubt::from_state(state)?;
        doubt.failing = (failed > 0).then(|| FailingReadings::with_another(doubt.failing, self.app.now()));
        doubt.store(state)?;
        if doubt.failing.is_none_or(FailingReadings::are_usual) {
            return Ok(());
        }
        restart_scan(state);
        tracing::warn!(connection = %self.connection.id, surface = self.scope.surface(), scope = %self.scope.scope_id, failed,
            "the enumeration lacks most of the stored records, and the provider failed requests during it: nothing is deleted");
        let message = format!(
            "the provider failed {failed} requests while everything was read, so nothing was deleted"
        );
        let error = runtime::Error::new(runtime::Code::Unavailable, message.clone());
        Err(PullError::Provider(Box::new(runtime::Error { message, ..error })))
    }

    /// Returns the error for two full reads that lack different records: neither is trusted.
    fn contradicted(&self, state: &mut SyncState) -> PullError {
        restart_scan(state);
        state.doubt = None;
        tracing::warn!(connection = %self.connection.id, surface = self.scope.surface(), scope = %self.scope.scope_id,
            "two enumerations contradict each other: nothing is deleted");
        let message =
            "the connector enumerated everything twice, and the two enumerations lack different records"
                .to_owned();
        let error = runtime::Error::bad_output(message.clone());
        PullError::Provider(Box::new(runtime::Error { message, ..error }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASK: &str = "task";

    fn absence(missing: i64, named: i64, is_collection: bool) -> Absence {
        let source = |number| UnseenSource {
            source_id: format!("source-{number}"),
            kind: TASK.to_owned(),
            seen_in: number % 2,
        };
        Absence {
            is_collection,
            missing: (0..missing).map(source).collect(),
            named: HashMap::from([(TASK.to_owned(), named)]),
        }
    }

    #[test]
    fn a_scan_is_doubted_that_lacks_everything_or_most_of_much() {
        let is_much = |missing, named| absence(missing, named, false).is_much(|_| true);
        for (missing, named) in [(1, 0), (3, 0), (11, 9), (20, 0), (600, 400)] {
            assert!(is_much(missing, named), "{missing} of {}", missing + named);
        }
        for (missing, named) in [(0, 0), (0, 50), (1, 1), (18, 1), (10, 10), (499, 501)] {
            assert!(!is_much(missing, named), "{missing} of {}", missing + named);
        }
    }

    #[test]
    fn most_collections_are_much_however_few_they_are() {
        let is_much = |missing, named| absence(missing, named, true).is_much(|_| true);
        assert!(is_much(1, 0) && is_much(2, 1));
        assert!(!is_much(1, 1) && !is_much(0, 1));
    }

    #[test]
    fn kinds_are_counted_apart_and_drafts_with_messages() {
        let named = |kind: &str, number| (kind.to_owned(), number);
        let missing =
            |kind: &str| vec![UnseenSource { source_id: "a".into(), kind: kind.into(), seen_in: 0 }];
        let mailbox = |kind: &str| Absence {
            is_collection: false,
            missing: missing(kind),
            named: HashMap::from([named("email_folder", 4), named("email_message", 1)]),
        };
        assert!(mailbox("email_label").is_much(|_| true), "the only label");
        assert!(!mailbox("email_draft").is_much(|_| true) && !mailbox("email_folder").is_much(|_| true));
    }

    #[test]
    fn a_provider_fails_as_usual_after_a_day_of_readings() {
        let hours = |number: i64| number * 3_600_000;
        let mut failing = FailingReadings::with_another(None, hours(0));
        for (at, is_usual) in [(13, false), (23, false), (24, true), (48, false), (71, false), (72, true)] {
            failing = FailingReadings::with_another(Some(failing), hours(at));
            assert_eq!(failing.are_usual(), is_usual, "{at}");
        }
    }

    #[test]
    fn a_doubt_and_failing_readings_are_kept_side_by_side() {
        let mut state = SyncState::default();
        let failing = Some(FailingReadings { since: 1, last: 2 });
        ReadingDoubt { scan: None, failing }.store(&mut state).expect("JSON");
        assert!(state.doubt.is_some() && ScanDoubt::from_state(&state).expect("JSON").is_none());
        let scan = ScanDoubt { scan: 3, since: 4, missing: 5, known: 6, at: 7 };
        scan.store(&mut state).expect("JSON");
        let stored = ReadingDoubt::from_state(&state).expect("JSON");
        assert_eq!(stored, ReadingDoubt { scan: Some(scan.clone()), failing });
        assert_eq!(ScanDoubt::from_state(&state).expect("JSON"), Some(scan));
        ReadingDoubt::default().store(&mut state).expect("JSON");
        assert_eq!(state.doubt, None);
    }

    #[test]
    fn only_the_records_that_are_asked_about_are_missing() {
        let absence = absence(40, 0, false);
        assert!(
            absence.is_much(|source| source.seen_in == 1),
            "the second reading lacks all that the first one has"
        );
        assert!(!absence.is_much(|_| false));
        assert_eq!(absence.sources().len(), 40);
    }
}
