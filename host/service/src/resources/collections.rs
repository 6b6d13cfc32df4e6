//! Calendars, contact books and task lists: list, read, create, change, delete. They belong directly to a connection; their items are in
//! `collection_items` and `events`.

use std::sync::Arc;

use base::error::{Code, Error, Result, invalid, refuse};
use base::input::{merge_patch, validate};
use futures::{FutureExt, StreamExt};
use model::bounds::MAX_LABEL;
use model::resource::Body;
use model::sync::Watch;
use model::wire::{CollectionDelete, CollectionWrite};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use storage::connections::Connection;
use storage::items::{self, Item};
use storage::sync_states::{self, SyncState};

use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::app::stored_response::StoredResponse;
use crate::connections::provider_call::{ProviderChange, ProviderWrite, call_provider};
use crate::connections::request_context::RequestContext;
use crate::connections::write_context::{WriteAccount, WriteContext};
use crate::local_copy::{collection_counts, render};
use crate::resources::readable::{missed, nothing_known, readable_connections, record_age};
use crate::sync::on_demand::refreshed;
use crate::sync::scope::{CollectionHead, SyncScope, scope};
use crate::sync::{collection_set, ensure_fresh, page, refresh_if_stale, staleness};
use crate::writes::etag::ExpectedEtag;
use crate::writes::open_collection::{OpenCollection, WriteLocation};
use crate::writes::reconcile::reconcile;
use crate::writes::response::{CollectionGoneView, CollectionView, ItemView, ResponseChange};
use crate::writes::view::ResponseView;

/// A kind of collection.
pub trait Collection: Body + Default + Serialize + DeserializeOwned + Send + Sync {
    const KIND: ResourceKind;

    fn name(&self) -> &str;

    /// Checks what is particular to this kind.
    fn valid(&self) -> Result<()> {
        Ok(())
    }
}

/// Refreshes the items of a collection if the local copy is stale, and notes its age for the answer.
pub async fn freshen(
    app: &App,
    asker: &RequestContext,
    connection: &Connection,
    collection: &Item,
) -> Result<()> {
    // The scope's name is enough to look up the age; the other fields would have to be parsed out of the body.
    let kind = ResourceKind::from_item(collection)?.contents();
    let name = SyncScope { kind, scope_id: collection.id.clone(), collection: None, time_zone: None };
    let age = match staleness::age(app, connection, &name, asker.no_cache).await? {
        Some(age) => age,
        None => {
            let scope = scope(collection)?;
            // Boxed, because this branch is rare on a read: futures are moved, and a pull's is large.
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
        // On each page: data that was just read is not read again, and every page lists the missing connections.
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

/// Accounts that are refreshed at a time.
const CONCURRENT: usize = 8;

/// Refreshes the collections of every connection, with `contents` also their items. An account that does not answer must not hide the data
/// of the others: its stored data is listed, and the answer names the connection (`ReadTrace::missing`).
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
                    record_age(&asker, &connection, age);
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

/// A collection and its connection, if the key and the account have this scope.
pub async fn open(
    app: &App,
    asker: &RequestContext,
    kind: ResourceKind,
    id: &str,
    scope: &str,
) -> Result<(Connection, Item)> {
    let item = asker.item(app, kind, id).await?;
    let connection = asker.connection(app, &item.connection_id, scope).await?;
    Ok((connection, item))
}

/// As `open`, for reads, from a cache that expires within a second: reading one item then takes one query.
pub async fn open_to_read(
    app: &App,
    asker: &RequestContext,
    kind: ResourceKind,
    id: &str,
) -> Result<Arc<(Connection, Item)>> {
    asker.ensure_scope(kind.read_scope())?;
    let name = format!("{}/{id}", asker.tenant.application_id);
    let now = app.now();
    if let Some(found) =
        app.opened.get(&name, now).filter(|f| asker.may_use(&f.0.id) && f.1.kind == kind.as_str())
    {
        return Ok(found);
    }
    let opened = Arc::new(Box::pin(open(app, asker, kind, id, kind.read_scope())).await?);
    app.opened.put(name, opened.clone(), now);
    Ok(opened)
}

/// Opens a collection for writing.
pub async fn open_to_write(cx: &WriteContext, kind: ResourceKind, id: &str) -> Result<OpenCollection> {
    let collection = cx.request.item(&cx.app, kind, id).await?;
    open_found(cx, collection).await
}

/// As `open_to_write`, for a collection that was just read.
pub async fn open_found(cx: &WriteContext, collection: Item) -> Result<OpenCollection> {
    let kind = ResourceKind::from_item(&collection)?;
    let account = cx.account(&collection.connection_id, kind.write_scope()).await?;
    open_of(account, collection)
}

/// As `open_to_write`, for a collection of this account.
pub fn open_of(account: WriteAccount, collection: Item) -> Result<OpenCollection> {
    let kind = ResourceKind::from_item(&collection)?;
    let body: CollectionHead = serde_json::from_str(&collection.body)?;
    if body.read_only {
        let message = format!("this {} is read-only for the connected account", kind.noun());
        return Err(refuse(Code::CapabilityNotSupported, message));
    }
    let zone = body.time_zone.or_else(|| account.connection.time_zone.clone());
    let zone = zone.unwrap_or_else(|| "UTC".to_owned());
    Ok(OpenCollection { account, collection, zone, kind: kind.contents() })
}

/// A collection to be changed itself, and its account.
async fn open_account(cx: &WriteContext, kind: ResourceKind, id: &str) -> Result<(WriteAccount, Item)> {
    let item = cx.request.item(&cx.app, kind, id).await?;
    let account = cx.account(&item.connection_id, kind.write_scope()).await?;
    Ok((account, item))
}

/// Reads one, fresh.
pub async fn get(app: &App, asker: &RequestContext, kind: ResourceKind, id: &str) -> Result<Item> {
    let (connection, _) = open(app, asker, kind, id, kind.read_scope()).await?;
    let scope = SyncScope::collections(kind);
    asker.reading.note(refresh_if_stale(app, &connection, &scope, asker.no_cache).await?);
    asker.item(app, kind, id).await
}

/// Makes a collection at the provider.
pub async fn create<C: Collection>(
    cx: &WriteContext,
    mut input: Map<String, Value>,
    strict: bool,
) -> Result<StoredResponse> {
    let connection_id = match input.remove("connectionId") {
        Some(Value::String(id)) => id,
        _ => return Err(invalid(Code::MissingField, "connectionId", "connectionId is required")),
    };
    let account = cx.account(&connection_id, C::KIND.write_scope()).await?;
    validate::canonical_zone(&mut input, "timeZone");
    let write = merge_patch::over(&C::default(), &Value::Null, input, &[])?;
    valid(&write.body)?;
    let warnings = merge_patch::warnings(&write.unknown, strict)?;
    let args = CollectionWrite { body: write.body, changed: write.changed, ..CollectionWrite::default() };
    let change = ResponseChange { status: 201, metadata: write.metadata, warnings };
    write_collection::<C>(cx, &account, C::KIND.ops().create, &args, change).await
}

/// Has the provider create or change a collection, and stores it.
async fn write_collection<C: Collection>(
    cx: &WriteContext,
    account: &WriteAccount,
    op: &'static str,
    args: &CollectionWrite<C>,
    change: ResponseChange,
) -> Result<StoredResponse> {
    let mut done = call_provider(cx, account, ProviderChange::new(C::KIND.surface(), op, args)).await?;
    let view = CollectionView(ItemView::new(&mut done, change)?);
    store(cx, account, C::KIND, done, view).await
}

/// Stores a write of a collection, and drops the cached collections.
async fn store(
    cx: &WriteContext,
    account: &WriteAccount,
    kind: ResourceKind,
    write: ProviderWrite,
    view: impl ResponseView + 'static,
) -> Result<StoredResponse> {
    let location = WriteLocation::top(&account.connection, kind);
    let stored = reconcile(cx, location, write, view).await;
    cx.app.opened.clear();
    stored
}

fn valid<C: Collection>(collection: &C) -> Result<()> {
    let name = collection.name().trim();
    if name.is_empty() || name.chars().count() > MAX_LABEL {
        let code = if name.is_empty() { Code::MissingField } else { Code::InvalidParameter };
        let message = format!("name is required and has at most {MAX_LABEL} characters");
        return Err(invalid(code, "name", message));
    }
    collection.valid()
}

/// Whether the value is a calendar's `watch`. Clients may send it back as it was read; it can change in the meantime, so it is ignored
/// rather than compared.
fn is_watch(value: &Value) -> bool {
    Option::<Watch>::deserialize(value).is_ok()
}

/// Fields that are not part of a collection's etag, and take a query to read.
const UNVERSIONED: [&str; 4] = ["watch", "contactCount", "taskCount", "openCount"];

/// The collection as a read returns it; with its counts and its watch if the caller sends those back.
async fn render_collection(cx: &WriteContext, item: &Item, input: &Map<String, Value>) -> Result<Value> {
    let text = match UNVERSIONED.iter().any(|name| input.contains_key(*name)) {
        true => {
            let (reader, tenant) = (cx.app.db.reader(), &cx.request.tenant);
            collection_counts::render_collection(&cx.app, reader, tenant, item, &[], false).await?
        }
        false => render::item(item, &[], false),
    };
    Ok(serde_json::from_str(&text)?)
}

/// Changes a collection.
pub async fn update<C: Collection>(
    cx: &WriteContext,
    id: &str,
    mut input: Map<String, Value>,
    expected: ExpectedEtag,
    strict: bool,
) -> Result<StoredResponse> {
    let _one = cx.app.locks.lock(&format!("item:{id}")).await;
    let (account, item) = open_account(cx, C::KIND, id).await?;
    let current: C = serde_json::from_str(&item.body)?;
    if C::KIND == ResourceKind::Calendar && input.get("watch").is_some_and(is_watch) {
        input.remove("watch");
    }
    validate::canonical_zone(&mut input, "timeZone");
    let shown = render_collection(cx, &item, &input).await?;
    let write = merge_patch::over(&current, &shown, input, &[])?;
    valid(&write.body)?;
    let warnings = merge_patch::warnings(&write.unknown, strict)?;
    if !(cx.attempt.resumed && write.changed.is_empty()) {
        expected.check(&item.etag)?;
    }
    let change = ResponseChange { status: 200, metadata: write.metadata, warnings };
    if write.changed.is_empty() {
        let view = CollectionView(ItemView::from_item(&item, change));
        return store(cx, &account, C::KIND, ProviderWrite::nothing(), view).await;
    }
    let args = CollectionWrite {
        source: Some(item.source_id.clone()),
        body: write.body,
        changed: write.changed,
        if_match: expected.provider_etag(&item),
    };
    write_collection::<C>(cx, &account, C::KIND.ops().update, &args, change).await
}

/// Deletes a collection with its items; a contact book with contacts only with `force`.
pub async fn delete(
    cx: &WriteContext,
    kind: ResourceKind,
    id: &str,
    expected: ExpectedEtag,
    force: bool,
) -> Result<StoredResponse> {
    let _one = cx.app.locks.lock(&format!("item:{id}")).await;
    let (account, item) = match open_account(cx, kind, id).await {
        // An earlier attempt has deleted the collection.
        Err(e) if cx.attempt.resumed && e.code() == Some(Code::NotFound) => {
            return Ok(StoredResponse::no_content());
        }
        other => other?,
    };
    expected.check(&item.etag)?;
    deletable(cx, &account.connection, &item, force).await?;
    let args =
        CollectionDelete { source: item.source_id.clone(), if_match: expected.provider_etag(&item), force };
    let change = ProviderChange::new(kind.surface(), kind.ops().delete, &args);
    match call_provider(cx, &account, change).await {
        Err(e) if e.code() == Some(Code::NotFound) && cx.attempt.resumed => {}
        done => drop(done?),
    }
    let location = WriteLocation::top(&account.connection, kind);
    page::sweep_contents(&cx.app, &location.copy(), &item.id).await?;
    let gone = ProviderWrite::gone(&item.source_id, account.as_of);
    store(cx, &account, kind, gone, CollectionGoneView { id: item.id }).await
}

/// Refuses to delete the default task list and, unless forced, a contact book with contacts.
async fn deletable(cx: &WriteContext, connection: &Connection, item: &Item, force: bool) -> Result<()> {
    let kind = ResourceKind::from_item(item)?;
    let body: CollectionHead = serde_json::from_str(&item.body)?;
    if body.role.as_deref() == Some("default") {
        let message = format!("this is the account's default {}, which cannot be deleted", kind.noun());
        return Err(refuse(Code::InvalidState, message));
    }
    if force || kind != ResourceKind::ContactBook {
        return Ok(());
    }
    ensure_fresh(&cx.app, connection, &scope(item)?, true).await?;
    let (reader, tenant) = (cx.app.db.reader(), &cx.request.tenant);
    let kinds = (kind.as_str(), kind.contents().as_str());
    let counts = items::counts(reader, tenant, kinds, (&item.id, &item.id)).await?;
    match counts.first().map_or(0, |c| c.items) {
        0 => Ok(()),
        n => {
            let message = format!("this contact book holds {n} contacts; delete them too with ?force=true");
            Err(refuse(Code::NotEmpty, message))
        }
    }
}

/// Checks a color, if there is one.
pub fn color(color: Option<&str>) -> Result<()> {
    color.map_or(Ok(()), validate::color)
}
