//! Reads records by batches after a listing has named them: a provider that cannot resume inside a listing lists once. The names
//! are stored with the state, so that an interrupted sync continues with the remaining ones.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use anyhow::Context;
use base::error::Result;
use model::wire::{ItemError as WireError, Source, SourceName, Sources, SourcesGet};
use runtime::{self, Blame, Code, Verb};
use storage::sync_states::{Batch, ItemError, SyncState};
use storage::{items, sync_states as table};

use crate::connections::call::{self, CallOptions, Op, Reply};
use crate::connections::call_target::CallTarget;
use crate::connections::state;
use crate::local_copy::deduplicate::is_bad_name;
use crate::sync::provider_page::{DeferredNames, ProviderPage, Scan};
use crate::sync::pull::{MAX_UNREADABLE_RECORDS, PageToStore, Pull, PullEnd, PullError};
use crate::sync::quarantine;

/// A requested batch.
struct BatchRequest {
    batch: Batch,
    /// The names whose content was requested.
    names: Vec<SourceName>,
    /// The names whose stored version is the provider's.
    held: Vec<String>,
    as_of: i64,
    answer: Result<Vec<Source>, runtime::Error>,
}

impl Pull<'_> {
    /// Whether the connector can list names before their content.
    pub(crate) fn takes_names(&self) -> bool {
        !self.scope.kind.ops().batch_get.is_empty()
    }

    /// Returns the names of an answer, in batches that are read together.
    pub(crate) fn batches(&self, names: &[SourceName]) -> Result<DeferredNames> {
        // A record without an id cannot be requested.
        let names: Vec<&SourceName> = names.iter().filter(|name| !name.external_id.is_empty()).collect();
        if names.is_empty() {
            return Ok(DeferredNames::None);
        }
        let size = usize::try_from(self.app.config.pull_page).unwrap_or(usize::MAX).max(1);
        let batch = |(number, names): (usize, &[&SourceName])| -> Result<Batch> {
            let names = serde_json::to_string(names)?;
            Ok(Batch { number: i64::try_from(number).unwrap_or(i64::MAX), names })
        };
        let batches: Result<Vec<Batch>> = names.chunks(size).enumerate().map(batch).collect();
        Ok(DeferredNames::Kept(batches?))
    }

    /// Reads and writes the remaining names of this state, batch by batch. While one is written, the next one is requested. None: all were
    /// read, and the provider may be asked for its next page.
    pub(crate) async fn read_named(
        &self,
        state: &mut SyncState,
        cursor: Option<&str>,
        scan: Option<Scan>,
    ) -> Result<Option<PullEnd>, PullError> {
        let Some(cursor) = cursor.filter(|_| self.takes_names()) else { return Ok(None) };
        let known = state.clone();
        let mut asked = self.ask(&known, -1).await?;
        let mut is_begun = false;
        while let Some(BatchRequest { batch, names, held, as_of, answer }) = asked {
            if is_begun && self.background && self.is_late() {
                return Ok(Some(PullEnd::Enough));
            }
            is_begun = true;
            let number = batch.number;
            let sources = self.answered(state, &names, held.len(), answer).await?;
            state::record_outcome(self.app, self.connection, Ok(())).await;
            let page = ProviderPage {
                sources: Vec::new(),
                earlier: Vec::new(),
                connector: quarantine::connector(self.app, self.connection),
                as_of,
                scan,
                is_doubted: false,
                covered_since: None,
                cursor: Some(cursor.to_owned()),
                more: true,
                reread: Vec::new(),
                named: DeferredNames::Read(batch, held),
            };
            let read = PageToStore { page, sources };
            let (stored, next) = tokio::join!(self.store(state, read), self.ask(&known, number));
            if !stored? {
                return Ok(Some(PullEnd::Superseded));
            }
            asked = next?;
        }
        Ok(None)
    }

    /// Requests the first batch after this one.
    async fn ask(&self, state: &SyncState, number: i64) -> Result<Option<BatchRequest>, PullError> {
        let place = (state.generation, number);
        let Some(batch) = table::names_after(self.app.db.reader(), state.key(), place).await? else {
            return Ok(None);
        };
        let names: Vec<SourceName> = serde_json::from_str(&batch.names).context("names that were kept")?;
        let as_of = self.now().await?;
        // Without a cursor it is the initial sync, or a full read was requested.
        let (held, names) = match state.cursor {
            Some(_) => self.parted(state, names).await?,
            None => (Vec::new(), names),
        };
        let answer = self.content(&names, false).await;
        Ok(Some(BatchRequest { batch, names, held, as_of, answer }))
    }

    /// Splits these names into those whose stored version is current, and the others: a stored version is not read again, nor one that was
    /// quarantined.
    async fn parted(
        &self,
        state: &SyncState,
        names: Vec<SourceName>,
    ) -> Result<(Vec<String>, Vec<SourceName>), PullError> {
        let reader = self.app.db.reader();
        let ids: Vec<&str> =
            names.iter().map(|name| name.external_id.as_str()).filter(|id| !is_bad_name(id)).collect();
        let inside = (self.scope.kind.family(), self.scope.scope_id.as_str());
        let versions = items::held_versions(reader, &self.connection.id, inside, &ids).await?;
        let errors = table::item_errors_among(reader, state, &ids).await?;
        let connector = quarantine::connector(self.app, self.connection);
        let known = StoredSources::from_versions(versions, errors);
        let (held, others): (Vec<_>, Vec<_>) =
            names.into_iter().partition(|name| known.says_all_of(name, connector.as_deref()));
        Ok((held.into_iter().map(|name| name.external_id).collect(), others))
    }

    /// Returns the content of these names: a record for each of them. Records that the listing reported as deleted are requested too,
    /// because they may have been restored since. `completes_page`: see `CallOptions`.
    pub(crate) async fn content(
        &self,
        names: &[SourceName],
        completes_page: bool,
    ) -> Result<Vec<Source>, runtime::Error> {
        let (bad, asked): (Vec<&SourceName>, Vec<&SourceName>) =
            names.iter().partition(|name| is_bad_name(&name.external_id));
        let mut sources: Vec<Source> = bad.into_iter().map(source).collect();
        if asked.is_empty() {
            return Ok(sources);
        }
        let args = SourcesGet {
            collection: self.scope.collection.clone().unwrap_or_default(),
            sources: asked.iter().map(|name| name.external_id.clone()).collect(),
            time_zone: self.scope.time_zone.clone(),
        };
        let target = CallTarget::for_connection(self.app, self.connection)
            .map_err(|e| runtime::Error::new(runtime::Code::Host, e.to_string()))?;
        let kind = self.scope.kind;
        let op = Op { surface: kind.surface(), verb: Verb::Fetch, name: kind.ops().batch_get };
        let options = CallOptions { background: self.background, completes_page, ..CallOptions::default() };
        let reply: Reply<Sources> = call::run(self.app, &target, op, &args, options).await?;
        sources.extend(match_to_requests(&asked, reply.body.sources));
        Ok(sources)
    }

    /// Returns the answer; after a batch that stopped the connector, the answers of its parts. `held`: the number of records of the batch
    /// that were not requested.
    async fn answered(
        &self,
        state: &SyncState,
        names: &[SourceName],
        held: usize,
        answer: Result<Vec<Source>, runtime::Error>,
    ) -> Result<Vec<Source>, PullError> {
        let error = match answer {
            Ok(sources) => return Ok(sources),
            Err(e) if e.blame != Blame::Connector => return Err(PullError::Provider(Box::new(e))),
            Err(e) => e,
        };
        tracing::warn!(connection = %self.connection.id, scope = %self.scope.scope_id, sources = names.len(),
            "a batch of the provider's data stopped the connector, it is read in parts");
        self.in_halves(state, names, held, error).await
    }

    /// Reads a batch that stopped the connector with this error, or exceeded the limit of an answer: in halves, and a half that fails in
    /// halves again, down to single records. So a batch that is too large costs a few more calls, and one bad record among many some dozen.
    /// `held`: records of the batch that were not requested. Fails with the error if no record can be read: then the connector is faulty.
    pub(crate) async fn in_halves(
        &self,
        state: &SyncState,
        names: &[SourceName],
        held: usize,
        error: runtime::Error,
    ) -> Result<Vec<Source>, PullError> {
        let mut read: Vec<Source> = Vec::with_capacity(names.len());
        let mut waiting: Vec<&[SourceName]> = match self.takes_names() {
            true => halves(names).into(),
            false => names.chunks(1).rev().collect(),
        };
        while let Some(some) = waiting.pop() {
            if some.len() > 1 {
                match self.content(some, true).await {
                    Ok(sources) => {
                        read.extend(sources);
                        continue;
                    }
                    Err(e) if e.blame == Blame::Connector => {
                        waiting.extend(halves(some));
                        continue;
                    }
                    // This connector's records are requested one by one.
                    Err(e) if matches!(e.code, Code::Unsupported | Code::UnsupportedSurface) => {}
                    Err(e) => return Err(PullError::Provider(Box::new(e))),
                }
            }
            let alone = some.iter().map(source).collect();
            let (app, connection, scope) = (self.app, self.connection, self.scope);
            let found = quarantine::one_by_one(app, connection, scope, state, alone, self.background).await?;
            read.extend(found.map_err(|e| PullError::Provider(Box::new(e)))?);
        }
        if held == 0
            && read.len() >= MAX_UNREADABLE_RECORDS
            && read.iter().all(|source| source.error.is_some())
        {
            return Err(PullError::Provider(Box::new(error)));
        }
        Ok(read)
    }
}

/// Returns the second and the first half.
fn halves(names: &[SourceName]) -> [&[SourceName]; 2] {
    let (first, second) = names.split_at(names.len() / 2);
    [second, first]
}

/// Returns a record for each requested name. A name without an answer counts as deleted if the listing reported that, else it becomes an
/// error: it is requested again. Records that were not requested are left out.
fn match_to_requests(asked: &[&SourceName], answered: Vec<Source>) -> Vec<Source> {
    let mut left: HashMap<&str, &SourceName> =
        asked.iter().map(|name| (name.external_id.as_str(), *name)).collect();
    let mut sources: Vec<Source> = Vec::with_capacity(asked.len());
    for source in answered {
        if left.remove(source.external_id.as_str()).is_some() {
            sources.push(source);
        }
    }
    for name in asked.iter().filter(|name| left.contains_key(name.external_id.as_str())) {
        let error = (!name.deleted).then(|| WireError {
            code: "bad_output".to_owned(),
            message: "the connector did not answer for this source".to_owned(),
        });
        sources.push(Source { error, ..source(name) });
    }
    sources
}

/// The stored versions and errors of some records.
#[derive(Default)]
struct StoredSources {
    /// The provider's version of all items of a record; none if they differ.
    versions: HashMap<String, Option<String>>,
    errors: HashMap<String, ItemError>,
}

impl StoredSources {
    fn from_versions(versions: Vec<(String, Option<String>)>, errors: Vec<ItemError>) -> StoredSources {
        let errors = errors.into_iter().map(|error| (error.source_id.clone(), error)).collect();
        let mut known = StoredSources { versions: HashMap::with_capacity(versions.len()), errors };
        for (source_id, version) in versions {
            match known.versions.entry(source_id) {
                Entry::Occupied(mut other) if *other.get() != version => drop(other.insert(None)),
                Entry::Occupied(_) => {}
                Entry::Vacant(place) => drop(place.insert(version)),
            }
        }
        known
    }

    /// Whether the stored version is current, so that the record need not be read.
    fn says_all_of(&self, name: &SourceName, connector: Option<&str>) -> bool {
        if name.deleted || name.etag.is_none() {
            return false;
        }
        match self.errors.get(&name.external_id) {
            Some(error) => quarantine::is_settled(error, name.etag.as_deref(), connector),
            None => self.versions.get(&name.external_id).is_some_and(|version| *version == name.etag),
        }
    }
}

fn source(name: &SourceName) -> Source {
    Source {
        external_id: name.external_id.clone(),
        etag: name.etag.clone(),
        deleted: name.deleted,
        ..Source::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(id: &str, etag: Option<&str>, deleted: bool) -> SourceName {
        SourceName { external_id: id.into(), etag: etag.map(str::to_owned), deleted }
    }

    fn error(id: &str, etag: &str, attempts: i64, connector: &str) -> ItemError {
        ItemError {
            source_id: id.into(),
            provider_etag: Some(etag.into()),
            connector: Some(connector.into()),
            code: "unreadable".into(),
            message: String::new(),
            attempts,
            at: 0,
        }
    }

    #[test]
    fn every_name_that_was_asked_for_has_one_source() {
        let names =
            [name("there", Some("1"), false), name("silent", Some("2"), false), name("gone", None, true)];
        let asked: Vec<&SourceName> = names.iter().collect();
        let answer =
            |id: &str| Source { external_id: id.into(), etag: Some("3".into()), ..Source::default() };
        let sources = match_to_requests(&asked, vec![answer("there"), answer("uninvited"), answer("there")]);
        let told: Vec<(&str, Option<&str>, bool)> = sources
            .iter()
            .map(|s| (s.external_id.as_str(), s.error.as_ref().map(|e| e.code.as_str()), s.deleted))
            .collect();
        assert_eq!(
            told,
            [("there", None, false), ("silent", Some("bad_output"), false), ("gone", None, true)]
        );
        let restored = match_to_requests(&asked, ["there", "silent", "gone"].map(answer).to_vec());
        assert!(restored.iter().all(|source| source.error.is_none() && !source.deleted));
    }

    #[test]
    fn what_is_held_or_set_aside_in_this_version_is_not_read_again() {
        let held = |id: &str, etag: Option<&str>| (id.to_owned(), etag.map(str::to_owned));
        let versions = vec![
            held("one", Some("1")),
            held("series", Some("1")),
            held("series", Some("1")),
            held("torn", Some("1")),
            held("torn", Some("2")),
            held("unversioned", None),
            held("failing", Some("1")),
            held("aside", Some("1")),
        ];
        let errors = vec![
            error("failing", "1", 1, "b1"),
            error("aside", "2", 3, "b1"),
            error("other build", "2", 3, "b0"),
            error("again", "2", 0, "b1"),
        ];
        let known = StoredSources::from_versions(versions, errors);
        let is_known = |id: &str, etag: Option<&str>| known.says_all_of(&name(id, etag, false), Some("b1"));
        for (id, etag) in [("one", "1"), ("series", "1"), ("aside", "2")] {
            assert!(is_known(id, Some(etag)), "{id}");
        }
        for (id, etag) in [
            ("one", "2"),
            ("new", "1"),
            ("torn", "1"),
            ("torn", "2"),
            ("failing", "1"),
            ("aside", "1"),
            ("aside", "3"),
            ("other build", "2"),
            ("again", "2"),
        ] {
            assert!(!is_known(id, Some(etag)), "{id} {etag}");
        }
        assert!(!is_known("one", None) && !is_known("unversioned", None));
        assert!(!known.says_all_of(&name("one", Some("1"), true), Some("b1")), "it is gone");
    }
}
