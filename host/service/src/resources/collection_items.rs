//! Contacts, groups and tasks: items of a collection, one to a provider record. They are created, changed, deleted, listed and read in one
//! way; a kind implements only its differences (`CollectionItem`). Events, of which one record can hold many, have their own module.

use std::collections::HashMap;

use base::error::{Code, Error, Result, invalid, not_found};
use base::input::merge_patch;
use base::input::validate::{self, fault};
use model::Instant;
use model::resource::Body;
use model::wire::{ItemDelete, ItemWrite};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use storage::items::{self, Item, ItemColumns, List, VisitedItem};
use storage::sql::Chunk;

use crate::app::App;
use crate::app::page_cache::PageBudget;
use crate::app::resource_kind::ResourceKind;
use crate::app::stored_response::StoredResponse;
use crate::connections::provider_call::{ProviderChange, ProviderWrite, call_deletion, call_provider};
use crate::connections::request_context::RequestContext;
use crate::connections::write_context::WriteContext;
use crate::local_copy::render;
use crate::resources::open_item::{ItemPath, ItemToWrite};
use crate::writes::conflict::conflict;
use crate::writes::etag::ExpectedEtag;
use crate::writes::open_collection::OpenCollection;
use crate::writes::reconcile::reconcile;
use crate::writes::response::{GoneView, ItemView, ResponseChange};

/// Most rows that one page scans when a filter drops most of them; the page may then be short.
const MAX_SCANNED: usize = 20_000;

/// A kind of content.
pub trait CollectionItem: Body + Default + Clone + Serialize + DeserializeOwned + Send + Sync {
    const KIND: ResourceKind;

    /// The arguments of the connector's write operations.
    type Args: Serialize + Send + Sync;

    /// Sets the fields that follow from those that were written, adds their names to `changed`, and validates the changed fields. `before`
    /// is none on a create; `zone` is the collection's.
    fn complete(
        &mut self,
        before: Option<&Self>,
        changed: &mut Vec<String>,
        now: Instant,
        zone: &str,
    ) -> Result<()>;

    /// Returns the arguments for the connector, with the provider's ids of other items.
    fn args(
        cx: &WriteContext,
        opened: &OpenCollection,
        write: ItemWrite<Self>,
        before: Option<&Self>,
    ) -> impl Future<Output = Result<Self::Args>> + Send;
}

/// How a write is to be done.
#[derive(Clone, Debug)]
pub struct WriteOptions {
    pub expected: ExpectedEtag,
    /// Unknown fields are refused.
    pub strict: bool,
    /// Fields that the provider cannot keep are refused.
    pub keep_all: bool,
}

/// Removes the connection from a create's body; it must be the collection's.
pub fn own_connection(input: &mut Map<String, Value>, opened: &OpenCollection) -> Result<()> {
    match input.remove("connectionId") {
        None | Some(Value::Null) => Ok(()),
        Some(Value::String(id)) if id == opened.account.connection.id => Ok(()),
        Some(_) => {
            let noun = opened.kind.collection().unwrap_or(opened.kind).noun();
            let rest = format!("is not the connection of this {noun}; leave it out or correct it");
            Err(fault("connectionId", &rest))
        }
    }
}

/// Makes one.
pub async fn create<T: CollectionItem>(
    cx: &WriteContext,
    opened: &OpenCollection,
    mut input: Map<String, Value>,
    manner: WriteOptions,
) -> Result<StoredResponse> {
    own_connection(&mut input, opened)?;
    validate::canonical_zone(&mut input, "timeZone");
    let mut write = merge_patch::over(&T::default(), &Value::Null, input, &[])?;
    write.body.complete(None, &mut write.changed, cx.app.clock.now(), &opened.zone)?;
    let warnings = merge_patch::warnings(&write.unknown, manner.strict)?;
    let args = ItemWrite { strict: manner.keep_all, ..item_write(opened, write.body, write.changed) };
    let args = T::args(cx, opened, args, None).await?;
    let call = ProviderChange::new(T::KIND.surface(), T::KIND.ops().create, &args);
    let mut done = call_provider(cx, &opened.account, call).await?;
    let change = ResponseChange { status: 201, metadata: write.metadata, warnings };
    let view = ItemView::new(&mut done, change)?;
    reconcile(cx, opened.location(), done, view).await
}

fn item_write<T: CollectionItem>(opened: &OpenCollection, body: T, changed: Vec<String>) -> ItemWrite<T> {
    ItemWrite {
        collection: opened.collection.external_id.clone(),
        time_zone: Some(opened.zone.clone()),
        body,
        changed,
        ..ItemWrite::default()
    }
}

/// Changes one.
pub async fn update<T: CollectionItem>(
    cx: &WriteContext,
    path: ItemPath<'_>,
    mut input: Map<String, Value>,
    manner: WriteOptions,
) -> Result<StoredResponse> {
    let mut target = ItemToWrite::open(cx, path).await?;
    validate::canonical_zone(&mut input, "timeZone");
    let item = target.current(cx).await?;
    let opened = &target.opened;
    let before: T = serde_json::from_str(&item.body)?;
    let printed: Value = serde_json::from_str(&render::item(&item, &[], true))?;
    let mut write = merge_patch::over(&before, &printed, input, &[])?;
    let warnings = merge_patch::warnings(&write.unknown, manner.strict)?;
    if !(cx.attempt.resumed && write.changed.is_empty()) {
        manner.expected.check(&item.etag)?;
    }
    let change = ResponseChange { status: 200, metadata: write.metadata, warnings };
    if write.changed.is_empty() {
        let view = ItemView::from_item(&item, change);
        return reconcile(cx, opened.location(), ProviderWrite::nothing(), view).await;
    }
    write.body.complete(Some(&before), &mut write.changed, cx.app.clock.now(), &opened.zone)?;
    let args = ItemWrite {
        source: Some(item.source_id.clone()),
        if_match: manner.expected.provider_etag(&item),
        strict: manner.keep_all,
        ..item_write(opened, write.body, write.changed)
    };
    let args = T::args(cx, opened, args, Some(&before)).await?;
    let call = ProviderChange::new(T::KIND.surface(), T::KIND.ops().update, &args);
    let mut done = match call_provider(cx, &opened.account, call).await {
        Ok(done) => done,
        Err(e) => return Err(conflict(cx, opened, &item, e).await),
    };
    let view = ItemView::new(&mut done, change)?;
    reconcile(cx, opened.location(), done, view).await
}

/// Deletes one.
pub async fn delete(cx: &WriteContext, path: ItemPath<'_>, expected: ExpectedEtag) -> Result<StoredResponse> {
    let is_repeated = |e: &Error| cx.attempt.resumed && e.code() == Some(Code::NotFound);
    let mut target = match ItemToWrite::open(cx, path).await {
        // An earlier attempt has deleted the item.
        Err(e) if path.collection_id.is_none() && is_repeated(&e) => return Ok(StoredResponse::no_content()),
        other => other?,
    };
    let item = match target.current(cx).await {
        // An earlier attempt has deleted the item.
        Err(e) if is_repeated(&e) => return Ok(StoredResponse::no_content()),
        other => other?,
    };
    let opened = &target.opened;
    expected.check(&item.etag)?;
    let args = ItemDelete {
        collection: opened.collection.external_id.clone(),
        source: item.source_id.clone(),
        if_match: expected.provider_etag(&item),
    };
    let call = ProviderChange::new(path.kind.surface(), path.kind.ops().delete, &args);
    match call_deletion(cx, &opened.account, call, &item.source_id).await {
        Ok(done) => reconcile(cx, opened.location(), done, GoneView::default()).await,
        Err(e) => Err(conflict(cx, opened, &item, e).await),
    }
}

/// The items of the collection with these ids, in their order. An id without an item is an error of the given field.
pub async fn resolve_ids(
    cx: &WriteContext,
    opened: &OpenCollection,
    kind: ResourceKind,
    ids: &[String],
    field: impl Fn(usize) -> String,
) -> Result<Vec<Item>> {
    let known = match ids.is_empty() {
        true => HashMap::new(),
        false => cx.request.items(&cx.app, kind, ids).await?,
    };
    let mut found = Vec::with_capacity(ids.len());
    for (i, id) in ids.iter().enumerate() {
        let Some(item) = known.get(id).filter(|item| item.parent_id == opened.collection.id) else {
            let collection = opened.kind.collection().unwrap_or(opened.kind).noun();
            let message = format!("{} names no {} of this {collection}", field(i), kind.noun());
            return Err(invalid(Code::InvalidParameter, field(i), message));
        };
        found.push(item.clone());
    }
    Ok(found)
}

/// The provider's id of an item, by which other items refer to it.
pub fn uid(item: &Item) -> String {
    item.uid.clone().unwrap_or_else(|| item.external_id.clone())
}

/// A place in a list: after this sort text and id.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ListPosition {
    #[serde(rename = "s")]
    pub sort_text: String,
    #[serde(rename = "i")]
    pub id: String,
}

/// A page of the items that the list selects and `admits` accepts, and the position of the next page. `list.after` is set here.
pub async fn list(
    app: &App,
    asker: &RequestContext,
    list: &List<'_>,
    after: Option<ListPosition>,
    raw: bool,
    admits: impl Fn(&ItemColumns<'_>) -> Result<bool> + Send + Sync,
) -> Result<(Vec<String>, Option<ListPosition>)> {
    let mut room = PageBudget::new(usize::try_from(list.limit).unwrap_or(usize::MAX));
    let mut found: Vec<String> = Vec::new();
    let mut place = after;
    let mut scanned = 0;
    // One row more than needed shows whether there is a next page.
    let more = List { limit: list.limit + 1, ..list.clone() };
    loop {
        let chunk = scan(app, asker, &more, place.as_ref(), raw, &admits).await?;
        if scanned > 0 {
            // Yields to other tasks between the steps of a long search.
            tokio::task::yield_now().await;
        }
        scanned += chunk.rows.len();
        let mut rows = chunk.rows.into_iter();
        while !room.is_full()
            && let Some((at, text)) = rows.next()
        {
            if let Some(text) = text {
                if !room.take(text.len()) {
                    return Ok((found, place));
                }
                found.push(text);
            }
            place = Some(at);
        }
        if chunk.is_last && rows.as_slice().is_empty() {
            return Ok((found, None));
        }
        if room.is_full() || scanned >= MAX_SCANNED {
            // The row that shows whether there is a next page may have been taken.
            let one = List { limit: 1, ..list.clone() };
            let is_end = rows.as_slice().is_empty()
                && scan(app, asker, &one, place.as_ref(), raw, &admits).await?.rows.is_empty();
            return Ok((found, place.filter(|_| !is_end)));
        }
    }
}

/// The next rows; the text of each that is listed.
async fn scan(
    app: &App,
    asker: &RequestContext,
    list: &List<'_>,
    after: Option<&ListPosition>,
    raw: bool,
    admits: &(impl Fn(&ItemColumns<'_>) -> Result<bool> + Send + Sync),
) -> Result<Chunk<(ListPosition, Option<String>)>> {
    let start = ListPosition::default();
    let after = after.unwrap_or(&start);
    let list = List { after: (&after.sort_text, &after.id), ..list.clone() };
    let print = |row: VisitedItem<'_>| {
        let text = match row.shown {
            Some(shown) if asker.may_use(shown.connection_id) && admits(&shown)? => {
                Some(render::item_columns(&shown, &[], raw))
            }
            _ => None,
        };
        Ok((ListPosition { sort_text: row.sort_text.to_owned(), id: row.id.to_owned() }, text))
    };
    Ok(items::read_list(app.db.resources(), &asker.tenant, &list, raw, |row| {
        print(row).map_err(|e: Error| anyhow::anyhow!(e.to_string()))
    })
    .await?)
}

/// One item, of a collection that was already refreshed.
pub async fn get(app: &App, asker: &RequestContext, path: ItemPath<'_>, raw: bool) -> Result<StoredResponse> {
    let read = |row: ItemColumns<'_>| {
        let is_asked =
            path.collection_id.is_none_or(|p| p == row.parent_id) && asker.may_use(row.connection_id);
        is_asked.then(|| StoredResponse::ok(render::item_columns(&row, &[], raw)).etag(row.etag))
    };
    let found =
        items::read(app.db.resources(), &asker.tenant, (path.kind.as_str(), path.id), raw, read).await?;
    found.flatten().ok_or_else(|| not_found(path.kind.noun()))
}
