//! Unreadable records. They are isolated, so that the others are synced; retried a few times, because the fault may have been a temporary
//! one of the provider; then quarantined until the provider has another version of them, or until a client requests a full read by a reset
//! of the sync or a refresh of the connection.

use std::collections::{BTreeMap, HashMap};

use base::error::Result;
use model::wire::email::{MessageRef, MessagesGet};
use model::wire::{ItemError as WireError, Source, SourceRef, Sources};
use runtime::{self, Blame, Code, Verb};
use serde_json::json;
use storage::connections::Connection;
use storage::sync_states::{ItemError, SyncState};
use storage::{Tx, sync_states as table};

use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::connections::call::{self, CallOptions, Op, Reply};
use crate::connections::call_target::CallTarget;
use crate::local_copy::deduplicate::{NAMELESS, is_bad_name};
use crate::local_copy::record::NormalizedRecord;
use crate::sync::provider_page::ProviderPage;
use crate::sync::scope::SyncScope;

/// Delays before each retry of an unreadable version, ms.
const RETRY_AFTER_MS: [i64; 2] = [60_000, 15 * 60_000];
/// Attempts to read a version before it is quarantined.
const ATTEMPTS: i64 = 1 + RETRY_AFTER_MS.len() as i64;
/// Most records that one pull retries: each is a separate call.
const RETRIES: usize = 20;
/// Most rows that are checked for them.
const LOOKED_AT: i64 = 200;
/// Most characters of a connector's message that are stored.
const MESSAGE_CHARS: usize = 500;

/// Whether a record has failed so often that it is ignored until it changes.
pub fn is_quarantined(error: &ItemError) -> bool {
    error.attempts >= ATTEMPTS
}

/// Whether this version is quarantined after this build of the connector has tried it.
pub fn is_settled(error: &ItemError, etag: Option<&str>, connector: Option<&str>) -> bool {
    is_quarantined(error) && error.provider_etag.as_deref() == etag && error.connector.as_deref() == connector
}

fn is_due(error: &ItemError, now: i64) -> bool {
    if is_quarantined(error) {
        return false;
    }
    // 0: a full read was requested.
    let waited = usize::try_from(error.attempts - 1).ok().and_then(|n| RETRY_AFTER_MS.get(n));
    waited.is_none_or(|wait| now - error.at >= *wait)
}

/// Returns the build of a connection's connector.
pub fn connector(app: &App, connection: &Connection) -> Option<String> {
    app.runtime.find(&connection.provider).map(|loaded| loaded.digest.clone())
}

/// Stores a page's unreadable records: adds new ones, and removes those that were read or deleted.
pub async fn store(tx: &mut Tx, state: &SyncState, page: &ProviderPage, now: i64) -> Result<()> {
    let has_any = table::has_item_errors(tx, state).await?;
    if !has_any && page.sources.iter().all(|source| source.error.is_none()) {
        return Ok(());
    }
    let known = match has_any {
        true => {
            let names: Vec<&str> = page.sources.iter().map(|source| source.source_id.as_str()).collect();
            table::item_errors_among(&mut *tx, state, &names).await?
        }
        false => Vec::new(),
    };
    let changes = error_changes(page, &known, now);
    let cleared = changes.iter().filter(|(_, error)| error.is_none());
    let cleared: Vec<&str> = cleared.map(|(source_id, _)| *source_id).collect();
    table::clear_item_errors(tx, state, &cleared).await?;
    let noted: Vec<&ItemError> = changes.values().flatten().collect();
    table::note_item_errors(tx, state, &noted).await?;
    let Some(scan) = page.scan else { return Ok(()) };
    table::mark_item_errors(tx, state, &page.existing_names(), scan.generation).await?;
    if page.ended().is_some() {
        table::clear_unmarked_item_errors(tx, state, scan.generation).await?;
    }
    Ok(())
}

/// Returns the changed errors of a page's records, by record; none where an error is removed. `known`: the stored errors.
fn error_changes<'p>(
    page: &'p ProviderPage,
    known: &[ItemError],
    now: i64,
) -> BTreeMap<&'p str, Option<ItemError>> {
    let known: HashMap<&str, &ItemError> =
        known.iter().map(|error| (error.source_id.as_str(), error)).collect();
    let connector = page.connector.as_deref();
    let mut changes = BTreeMap::new();
    for source in &page.sources {
        let (source_id, before) = (source.source_id.as_str(), known.get(source.source_id.as_str()).copied());
        if source.error.is_some() {
            if let Some(error) = tried(source, before, connector, now) {
                changes.insert(source_id, Some(error));
            }
        } else if before.is_some() || changes.contains_key(source_id) {
            changes.insert(source_id, None);
        }
    }
    changes
}

/// Returns the error with one more attempt; none if the same version was seen again before its retry is due, as in every full read, which
/// does not count.
fn tried(
    source: &NormalizedRecord,
    before: Option<&ItemError>,
    connector: Option<&str>,
    now: i64,
) -> Option<ItemError> {
    let (code, message) = source.error.clone()?;
    let attempts = match before {
        Some(before)
            if before.provider_etag == source.provider_etag && before.connector.as_deref() == connector =>
        {
            if !is_due(before, now) {
                return None;
            }
            before.attempts + 1
        }
        _ => 1,
    };
    Some(ItemError {
        source_id: source.source_id.clone(),
        provider_etag: source.provider_etag.clone(),
        connector: connector.map(str::to_owned),
        code: code.chars().take(64).collect(),
        message: message.chars().take(MESSAGE_CHARS).collect(),
        attempts,
        at: now,
    })
}

/// Returns the records whose retry is due.
pub async fn due(app: &App, connection: &Connection, state: &SyncState) -> Result<Vec<ItemError>> {
    let connector = connector(app, connection);
    let settled = (ATTEMPTS, connector.as_deref());
    let unsettled = table::unsettled_item_errors(app.db.reader(), state, settled, LOOKED_AT).await?;
    // A record under a substitute name cannot be requested.
    let has_name = |e: &ItemError| e.code != NAMELESS && !e.source_id.is_empty();
    let is_due = |e: &ItemError| has_name(e) && (e.connector != connector || is_due(e, app.now()));
    Ok(unsettled.into_iter().filter(is_due).take(RETRIES).collect())
}

/// Retries one record. None: the provider must not be asked now, which says nothing about the record.
pub async fn retry_record(
    app: &App,
    connection: &Connection,
    scope: &SyncScope,
    error: &ItemError,
    background: bool,
) -> Result<Option<Vec<Source>>> {
    let etag = error.provider_etag.clone();
    let options = CallOptions { background, ..CallOptions::default() };
    Ok(match read_one(app, connection, scope, &error.source_id, options).await? {
        Ok(sources) => Some(sources),
        Err(e) if matches!(e.code, Code::RateLimited | Code::Busy | Code::AuthExpired | Code::Host) => None,
        Err(e) => Some(vec![failed(error.source_id.clone(), etag, &e)]),
    })
}

/// Reads the records of a page one by one, after the page as a whole killed the connector: those that kill it are quarantined, the others
/// are read. An error that is not the connector's fault says nothing about the record, and ends this.
pub async fn one_by_one(
    app: &App,
    connection: &Connection,
    scope: &SyncScope,
    state: &SyncState,
    named: Vec<Source>,
    background: bool,
) -> Result<Result<Vec<Source>, runtime::Error>> {
    let connector = connector(app, connection);
    let names = named.iter().map(|source| source.external_id.as_str());
    let names: Vec<&str> = names.filter(|name| !is_bad_name(name)).collect();
    let known = table::item_errors_among(app.db.reader(), state, &names).await?;
    let mut known: HashMap<String, ItemError> =
        known.into_iter().map(|error| (error.source_id.clone(), error)).collect();
    let mut read = Vec::with_capacity(named.len());
    for source in named {
        if source.deleted || is_bad_name(&source.external_id) {
            read.push(source);
            continue;
        }
        let is_settled = |k: &ItemError| is_settled(k, source.etag.as_deref(), connector.as_deref());
        if let Some(known) = known.remove(&source.external_id).filter(is_settled) {
            let error = Some(WireError { code: known.code, message: known.message });
            read.push(Source { error, ..source });
            continue;
        }
        let options = CallOptions { background, completes_page: true, ..CallOptions::default() };
        match read_one(app, connection, scope, &source.external_id, options).await? {
            Ok(sources) => read.extend(sources),
            Err(e) if e.blame == Blame::Connector => read.push(failed(source.external_id, source.etag, &e)),
            Err(e) => return Ok(Err(e)),
        }
    }
    Ok(Ok(read))
}

/// Returns the provider's present version of one record.
pub async fn read_one(
    app: &App,
    connection: &Connection,
    scope: &SyncScope,
    source_id: &str,
    options: CallOptions,
) -> Result<Result<Vec<Source>, runtime::Error>> {
    let args = match scope.kind.is_mail() {
        true => json!(MessagesGet { messages: vec![message_ref(source_id)], ..MessagesGet::default() }),
        false => json!(SourceRef {
            collection: scope.collection.clone().unwrap_or_default(),
            source: source_id.to_owned(),
            time_zone: scope.time_zone.clone(),
        }),
    };
    let op = Op { surface: scope.kind.surface(), verb: Verb::Fetch, name: scope.kind.ops().get };
    let target = CallTarget::for_connection(app, connection)?;
    let reply: Result<Reply<Sources>, runtime::Error> = call::run(app, &target, op, &args, options).await;
    Ok(match reply {
        Ok(reply) => Ok(reply.body.sources),
        Err(e) if e.code == Code::NotFound => {
            Ok(vec![Source { external_id: source_id.to_owned(), deleted: true, ..Source::default() }])
        }
        Err(e) => Err(e),
    })
}

fn message_ref(source_id: &str) -> MessageRef {
    MessageRef { source: source_id.to_owned(), hint: None }
}

/// Returns a record that could not be read.
pub fn failed(external_id: String, etag: Option<String>, e: &runtime::Error) -> Source {
    let error = Some(WireError { code: e.code.as_str().to_owned(), message: e.message.clone() });
    Source { external_id, etag, error, ..Source::default() }
}

/// Whether records of this kind are retried one by one: collections come whole with every pull.
pub fn is_retried(kind: ResourceKind) -> bool {
    !kind.is_collection()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(etag: &str) -> NormalizedRecord {
        NormalizedRecord {
            source_id: "a".into(),
            provider_etag: Some(etag.into()),
            items: Vec::new(),
            error: Some(("unreadable".into(), "x".repeat(1_000))),
            previous_id: None,
            deleted: false,
            updated_at: None,
            is_from_feed: false,
        }
    }

    #[test]
    fn a_version_has_three_tries_and_another_one_has_its_own() {
        let mut now = 0;
        let tried = |source: &NormalizedRecord, before: Option<&ItemError>, now| {
            tried(source, before, Some("b1"), now)
        };
        let first = tried(&source("1"), None, now).unwrap();
        assert_eq!((first.attempts, first.message.len()), (1, MESSAGE_CHARS));
        assert!(tried(&source("1"), Some(&first), now + 59_999).is_none(), "too early to count");
        now += 60_000;
        let second = tried(&source("1"), Some(&first), now).unwrap();
        assert!(tried(&source("1"), Some(&second), now + 60_000).is_none());
        now += 15 * 60_000;
        let third = tried(&source("1"), Some(&second), now).unwrap();
        assert!(is_quarantined(&third) && !is_quarantined(&second));
        assert!(tried(&source("1"), Some(&third), i64::MAX / 2).is_none(), "set aside for good");
        assert_eq!(tried(&source("2"), Some(&third), now).unwrap().attempts, 1);
        let of_another = ItemError { connector: Some("b0".into()), ..third.clone() };
        assert_eq!(tried(&source("1"), Some(&of_another), now).unwrap().attempts, 1, "another build");
        let forgotten = ItemError { attempts: 0, ..third };
        assert_eq!(tried(&source("1"), Some(&forgotten), now).unwrap().attempts, 1);
    }
}
