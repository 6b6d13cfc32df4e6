//! Calendars, contact books and task lists: list, read, create, change, delete. They live directly in a connection and hold
//! what `contents` and `events` are about.

use std::sync::Arc;

use base::error::{Code, Error, Result, invalid, refuse};
use base::input::{merge_patch, validate};
use futures::{FutureExt, StreamExt};
use model::resource::Body;
use model::sync::Watch;
use model::wire::{CollectionDelete, CollectionWrite, Mutated};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use storage::connections::Connection;
use storage::items::{self, Item};
use storage::sync_states::{self, SyncState};

use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::connections::provider_call::mutate;
use crate::connections::request_context::RequestContext;
use crate::local_copy::{collection_counts, upsert};
use crate::resources::readable::{missed, noted, nothing_known, readable_connections};
use crate::sync::on_demand::refreshed;
use crate::sync::scope::{CollectionHead, SyncScope, scope};
use crate::sync::{collection_set, ensure_fresh, page, refresh_if_stale, staleness};
use crate::writes::etag::ExpectedEtag;
use crate::writes::open_collection::OpenCollection;
use crate::writes::response::{ResponseChange, commit, place};

/// A kind of collection.
pub trait Collection: Body + Default + Serialize + DeserializeOwned + Send + Sync {
    const KIND: ResourceKind;

    fn name(&self) -> &str;

    /// Checks what is particular to this kind.
    fn valid(&self) -> Result<()> {
        Ok(())
    }
}

/// Sees to it that what is in a collection is fresh enough to be read, and notes how old it is.
pub async fn freshen(
    app: &App,
    asker: &RequestContext,
    connection: &Connection,
    collection: &Item,
) -> Result<()> {
    // Its name says whether the copy will do; the rest of a scope costs a look into the body.
    let kind = ResourceKind::of(collection)?.contents();
    let name = SyncScope { kind, scope_id: collection.id.clone(), collection: None, time_zone: None };
    let age = match staleness::age(app, connection, &name, asker.no_cache).await? {
        Some(age) => age,
        None => {
            let scope = scope(collection)?;
            // Boxed, as what is rare on the path of a read is here: futures are moved, and a pull's is large.
            Box::pin(refreshed(app, connection, &scope, asker.no_cache)).await?
        }
    };
    asker.reading.note(age);
    Ok(())
}

/// A page of collections in id order. Without a connection: of every usable connection that the key may see.
pub async fn list(
    app: &App,
    asker: &RequestContext,
    kind: ResourceKind,
    connection_id: Option<&str>,
    after_id: &str,
    limit: i64,
) -> Result<Vec<Item>> {
    if let Some(id) = connection_id {
        let connection = asker.connection(app, id, kind.read_scope()).await?;
        let scope = SyncScope::collections(kind);
        asker.reading.note(refresh_if_stale(app, &connection, &scope, asker.no_cache).await?);
    } else {
        // With each page: what was just read is not read again, and every page tells what is missing.
        freshen_all(app, asker, kind, false).await?;
    }
    let mut found: Vec<Item> = Vec::new();
    let mut after = after_id.to_owned();
    // Keys that are bound to some connections see fewer rows than the query finds, and accounts may have withdrawn a scope.
    while (found.len() as i64) < limit {
        let (reader, tenant) = (app.db.reader(), &asker.tenant);
        let rows = items::list_top(reader, tenant, connection_id, kind.as_str(), &after, limit).await?;
        let is_last = (rows.len() as i64) < limit;
        after = rows.last().map_or(after, |i| i.id.clone());
        let is_shown =
            |i: &Item| asker.may_use(&i.connection_id) && !asker.reading.withholds(&i.connection_id);
        found.extend(rows.into_iter().filter(is_shown));
        if is_last {
            break;
        }
    }
    found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(found)
}

/// Accounts that are asked at a time when all of them are.
const CONCURRENT: usize = 8;

/// Freshens the collections of every connection, and with `contents` what is in them. One account that does not answer must not
/// hide what the others have: what was read of it earlier is shown, and the answer tells of it (`Reading::missing`).
pub async fn freshen_all(
    app: &App,
    asker: &RequestContext,
    kind: ResourceKind,
    contents: bool,
) -> Result<()> {
    let all = readable_connections(app, asker, kind).await?;
    let count = all.len();
    let freshened = all.into_iter().map(|connection| {
        let (app, asker) = (app.clone(), asker.clone());
        async move {
            let done = match contents {
                true => collection_set::refresh_all(&app, &connection, kind, asker.no_cache).await,
                false => {
                    refresh_if_stale(&app, &connection, &SyncScope::collections(kind), asker.no_cache).await
                }
            };
            let e = match done {
                Ok(age) => {
                    noted(&asker, &connection, age);
                    return Ok(None);
                }
                Err(e) => e,
            };
            missed(&asker, &connection, &e);
            let states = sync_states::of_connection(app.db.reader(), &connection.id).await?;
            let is_shown = |s: &SyncState| {
                let is_part = s.surface == kind.surface().as_str() && s.scope_id.is_empty() != contents;
                is_part && s.last_success_at.is_some()
            };
            Ok::<_, Error>(Some(e).filter(|_| !states.iter().any(is_shown)))
        }
        .boxed()
    });
    let unknown: Vec<Result<Option<Error>>> =
        futures::stream::iter(freshened).buffered(CONCURRENT).collect().await;
    let unknown: Vec<Option<Error>> = unknown.into_iter().collect::<Result<_>>()?;
    nothing_known(asker, unknown.into_iter().flatten().collect(), count)
}

/// A collection and its connection, for whoever has this scope.
pub async fn open(
    app: &App,
    asker: &RequestContext,
    (kind, id): (ResourceKind, &str),
    scope: &str,
) -> Result<(Connection, Item)> {
    let item = asker.item(app, kind, id).await?;
    let connection = asker.connection(app, &item.connection_id, scope).await?;
    Ok((connection, item))
}

/// The same for reads, out of a cache that forgets within a second: a read of one item is then one query.
pub async fn open_to_read(
    app: &App,
    asker: &RequestContext,
    (kind, id): (ResourceKind, &str),
) -> Result<Arc<(Connection, Item)>> {
    asker.ensure_scope(kind.read_scope())?;
    let name = format!("{}/{id}", asker.tenant.application_id);
    let now = app.now();
    if let Some(found) =
        app.opened.get(&name, now).filter(|f| asker.may_use(&f.0.id) && f.1.kind == kind.as_str())
    {
        return Ok(found);
    }
    let opened = Arc::new(Box::pin(open(app, asker, (kind, id), kind.read_scope())).await?);
    app.opened.put(name, opened.clone(), now);
    Ok(opened)
}

/// Opens a collection for writing.
pub async fn open_to_write(
    app: &App,
    asker: &RequestContext,
    (kind, id): (ResourceKind, &str),
) -> Result<OpenCollection> {
    let (connection, collection) = open(app, asker, (kind, id), kind.write_scope()).await?;
    let body: CollectionHead = serde_json::from_str(&collection.body)?;
    if body.read_only {
        let message = format!("this {} is read-only for the connected account", kind.noun());
        return Err(refuse(Code::CapabilityNotSupported, message));
    }
    let zone = body.time_zone.or_else(|| connection.time_zone.clone()).unwrap_or_else(|| "UTC".to_owned());
    Ok(OpenCollection { connection, collection, zone, kind: kind.contents() })
}

/// Reads one, fresh.
pub async fn get(app: &App, asker: &RequestContext, (kind, id): (ResourceKind, &str)) -> Result<Item> {
    let (connection, _) = open(app, asker, (kind, id), kind.read_scope()).await?;
    let scope = SyncScope::collections(kind);
    asker.reading.note(refresh_if_stale(app, &connection, &scope, asker.no_cache).await?);
    asker.item(app, kind, id).await
}

/// Makes a collection at the provider.
pub async fn create<C: Collection>(
    app: &App,
    asker: &RequestContext,
    mut input: Map<String, Value>,
    strict: bool,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let connection_id = match input.remove("connectionId") {
        Some(Value::String(id)) => id,
        _ => return Err(invalid(Code::MissingField, "connectionId", "connectionId is required")),
    };
    let connection = asker.connection(app, &connection_id, C::KIND.write_scope()).await?;
    validate::canonical_zone(&mut input, "timeZone");
    let write = merge_patch::over(&C::default(), &Value::Null, input, &[])?;
    valid(&write.body)?;
    let warnings = merge_patch::warnings(&write.unknown, strict)?;
    let args = CollectionWrite { body: write.body, changed: write.changed, ..CollectionWrite::default() };
    let op = (C::KIND.surface(), C::KIND.ops().create);
    let mutated: Mutated = mutate(app, &connection, asker, attempt, op, &args).await?;
    let change = ResponseChange { status: 201, metadata: write.metadata, warnings };
    store(app, &connection, C::KIND, mutated, change, attempt).await
}

fn valid<C: Collection>(collection: &C) -> Result<()> {
    let name = collection.name().trim();
    if name.is_empty() || name.chars().count() > 255 {
        let code = if name.is_empty() { Code::MissingField } else { Code::InvalidParameter };
        return Err(invalid(code, "name", "name is required and has at most 255 characters"));
    }
    collection.valid()
}

/// What was read of a calendar can be sent back. Its watch changes by itself meanwhile: that is no fault, and nothing becomes of it.
fn is_watch(value: &Value) -> bool {
    Option::<Watch>::deserialize(value).is_ok()
}

/// Changes a collection.
pub async fn update<C: Collection>(
    app: &App,
    asker: &RequestContext,
    id: &str,
    (mut input, expected): (Map<String, Value>, ExpectedEtag),
    strict: bool,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let _one = app.locks.lock(&format!("item:{id}")).await;
    let (connection, item) = open(app, asker, (C::KIND, id), C::KIND.write_scope()).await?;
    let current: C = serde_json::from_str(&item.body)?;
    if C::KIND == ResourceKind::Calendar && input.get("watch").is_some_and(is_watch) {
        input.remove("watch");
    }
    validate::canonical_zone(&mut input, "timeZone");
    let printed = collection_counts::printed(app, app.db.reader(), &asker.tenant, &item, &[], false).await?;
    let write = merge_patch::over(&current, &serde_json::from_str(&printed)?, input, &[])?;
    valid(&write.body)?;
    let warnings = merge_patch::warnings(&write.unknown, strict)?;
    if !(attempt.resumed && write.changed.is_empty()) {
        expected.check(&item.etag)?;
    }
    let change = ResponseChange { status: 200, metadata: write.metadata, warnings };
    if write.changed.is_empty() {
        let mutated = Mutated { item: Some(item.external_id.clone()), ..Mutated::default() };
        return store(app, &connection, C::KIND, mutated, change, attempt).await;
    }
    let args = CollectionWrite {
        source: Some(item.source_id.clone()),
        body: write.body,
        changed: write.changed,
        if_match: expected.provider_etag(&item),
    };
    let op = (C::KIND.surface(), C::KIND.ops().update);
    let mutated: Mutated = mutate(app, &connection, asker, attempt, op, &args).await?;
    store(app, &connection, C::KIND, mutated, change, attempt).await
}

/// Stores it, and forgets what was read of collections a moment ago.
async fn store(
    app: &App,
    connection: &Connection,
    kind: ResourceKind,
    mutated: Mutated,
    change: ResponseChange,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let stored = commit(app, place(connection, kind, ""), mutated, change, attempt).await;
    app.opened.clear();
    stored
}

/// Deletes a collection with everything in it; a contact book that is not empty only by `force`.
pub async fn delete(
    app: &App,
    asker: &RequestContext,
    (kind, id): (ResourceKind, &str),
    (expected, force): (ExpectedEtag, bool),
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let _one = app.locks.lock(&format!("item:{id}")).await;
    let opened = open(app, asker, (kind, id), kind.write_scope()).await;
    let (connection, item) = match opened {
        // An earlier attempt got as far as this.
        Err(e) if attempt.resumed && e.code() == Some(Code::NotFound) => {
            return Ok(StoredResponse::no_content());
        }
        other => other?,
    };
    expected.check(&item.etag)?;
    deletable(app, asker, &connection, &item, force).await?;
    let args =
        CollectionDelete { source: item.source_id.clone(), if_match: expected.provider_etag(&item), force };
    let op = (kind.surface(), kind.ops().delete);
    let gone: Result<Mutated> = mutate(app, &connection, asker, attempt, op, &args).await;
    match gone {
        Ok(_) => {}
        Err(e) if e.code() == Some(Code::NotFound) && attempt.resumed => {}
        Err(e) => return Err(e),
    }
    let place = place(&connection, kind, "");
    page::sweep_contents(app, &place, &item.id).await?;
    let (app, attempt, answer, held) =
        (app.clone(), attempt.clone(), StoredResponse::no_content(), app.clone());
    let kept = answer.clone();
    held.db
        .write(move |tx| {
            Box::pin(async move {
                let lock = crate::local_copy::change::lock(tx, &place).await?;
                let source = std::slice::from_ref(&item.source_id);
                upsert::remove_sources(tx, &app, (&lock, &place), source, i64::MAX).await?;
                attempt.store(tx, &app.keyring, &kept, app.now()).await?;
                Ok::<_, Error>(())
            })
        })
        .await?;
    held.opened.clear();
    Ok(answer)
}

/// Refuses what must stay: the default task list; a contact book with contacts, unless it is forced.
async fn deletable(
    app: &App,
    asker: &RequestContext,
    connection: &Connection,
    item: &Item,
    force: bool,
) -> Result<()> {
    let kind = ResourceKind::of(item)?;
    let body: CollectionHead = serde_json::from_str(&item.body)?;
    if body.role.as_deref() == Some("default") {
        let message = format!("this is the account's default {}, which cannot be deleted", kind.noun());
        return Err(refuse(Code::InvalidState, message));
    }
    if force || kind != ResourceKind::ContactBook {
        return Ok(());
    }
    ensure_fresh(app, connection, &scope(item)?, true).await?;
    let kinds = (kind.as_str(), kind.contents().as_str());
    let counts = items::counts(app.db.reader(), &asker.tenant, kinds, (&item.id, &item.id)).await?;
    match counts.first().map_or(0, |c| c.items) {
        0 => Ok(()),
        n => {
            let message = format!("this contact book holds {n} contacts; delete them too with ?force=true");
            Err(refuse(Code::NotEmpty, message))
        }
    }
}

/// A colour, where there is one.
pub fn color(color: Option<&str>) -> Result<()> {
    color.map_or(Ok(()), validate::color)
}
