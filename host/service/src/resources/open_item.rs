//! Items and mailboxes to write: opened with their accounts, and refreshed if the copy is stale.

use base::error::{Result, not_found};
use base::ids;
use storage::items::{self, Item};
use tokio::sync::OwnedMutexGuard;

use crate::app::App;
use crate::app::freshness::scope_name;
use crate::app::resource_kind::ResourceKind;
use crate::connections::write_context::{WriteAccount, WriteContext};
use crate::resources::collections::{open_found, open_to_write};
use crate::sync::scope::{SyncScope, scope};
use crate::sync::{backfill, on_demand, staleness};
use crate::writes::open_collection::OpenCollection;

/// The ids that a path has of an item.
#[derive(Clone, Copy)]
pub struct ItemPath<'p> {
    pub kind: ResourceKind,
    /// The collection; none if the path does not name it.
    pub collection_id: Option<&'p str>,
    pub id: &'p str,
}

/// An item that was read before the age of the local copy was checked.
pub struct KnownItem {
    item: Item,
    /// The time at which this host last refreshed the copy, at that read; none if unknown.
    copy_at: Option<i64>,
}

impl KnownItem {
    /// An item that was read just now from the copy of the scope with this name.
    pub fn new(app: &App, item: Item, scope_name: &str) -> KnownItem {
        KnownItem { item, copy_at: staleness::read_here(app, scope_name) }
    }

    fn inside(app: &App, kind: ResourceKind, item: Item) -> KnownItem {
        let name = scope_name(&item.connection_id, kind.surface().as_str(), &item.parent_id);
        KnownItem::new(app, item, &name)
    }

    /// The item, if the copy was not refreshed since it was read. `copy_at` is the time of the refresh that is recent enough.
    pub fn of_copy(self, copy_at: Option<i64>) -> Option<Item> {
        (copy_at.is_some() && copy_at == self.copy_at).then_some(self.item)
    }
}

/// An item to write. While this exists, no other request of this process changes the item.
pub struct ItemToWrite {
    pub opened: OpenCollection,
    id: String,
    known: Option<KnownItem>,
    _one: OwnedMutexGuard<()>,
}

impl ItemToWrite {
    /// Opens the collection that holds the item.
    pub async fn open(cx: &WriteContext, path: ItemPath<'_>) -> Result<ItemToWrite> {
        let one = cx.app.locks.lock(&format!("item:{}", path.id)).await;
        let (opened, known) = match path.collection_id {
            Some(collection_id) => open_with(cx, path.kind, collection_id, path.id).await?,
            None => {
                let item = cx.request.item(&cx.app, path.kind, path.id).await?;
                let known = KnownItem::inside(&cx.app, path.kind, item);
                let collection = path.kind.collection().unwrap_or(path.kind);
                (open_to_write(cx, collection, &known.item.parent_id).await?, Some(known))
            }
        };
        let opened = OpenCollection { kind: path.kind, ..opened };
        Ok(ItemToWrite { opened, id: path.id.to_owned(), known, _one: one })
    }

    /// The item, refreshed if the copy is stale.
    pub async fn current(&mut self, cx: &WriteContext) -> Result<Item> {
        let kind = self.opened.kind;
        let copy_at = ensure_inside_fresh(cx, &mut self.opened).await?;
        let item = match self.known.take().and_then(|known| known.of_copy(copy_at)) {
            Some(item) => item,
            None => cx.request.item(&cx.app, kind, &self.id).await?,
        };
        if item.parent_id == self.opened.collection.id { Ok(item) } else { Err(not_found(kind.noun())) }
    }
}

/// Opens a collection for writing. The item of this kind and id in it is read with the same statement; none if there is no such item.
pub async fn open_with(
    cx: &WriteContext,
    kind: ResourceKind,
    collection_id: &str,
    id: &str,
) -> Result<(OpenCollection, Option<KnownItem>)> {
    let of_collection = kind.collection().unwrap_or(kind);
    let missing = || not_found(of_collection.noun());
    if !ids::is_plausible(collection_id) {
        return Err(missing());
    }
    cx.request.ensure_scope(of_collection.read_scope())?;
    let mut wanted = vec![collection_id];
    wanted.extend(Some(id).filter(|id| ids::is_plausible(id)));
    let mut found = items::find_all(cx.app.db.resources(), &cx.request.tenant, &wanted).await?;
    let mut take = |kind: ResourceKind, id: &str| {
        let at = found.iter().position(|item| item.id == id && cx.request.is_readable(item, kind))?;
        Some(found.swap_remove(at))
    };
    let collection = take(of_collection, collection_id).ok_or_else(missing)?;
    let item = take(kind, id).filter(|item| item.parent_id == collection.id);
    let known = item.map(|item| KnownItem::inside(&cx.app, kind, item));
    Ok((open_found(cx, collection).await?, known))
}

/// Refreshes the items of a collection if they are too old to be changed. Returns the time of their last refresh (Unix ms); none if they
/// were refreshed just now, so that rows read before are outdated.
pub async fn ensure_inside_fresh(cx: &WriteContext, opened: &mut OpenCollection) -> Result<Option<i64>> {
    let inside = scope(&opened.collection)?;
    ensure_fresh(&cx.app, &mut opened.account, &inside, cx.attempt.resumed).await
}

/// As `ensure_inside_fresh`, for any sync scope. `look`: asks the provider in any case.
pub async fn ensure_fresh(
    app: &App,
    account: &mut WriteAccount,
    scope: &SyncScope,
    look: bool,
) -> Result<Option<i64>> {
    if !look && let Some(at) = fresh_since(app, account, scope).await? {
        return Ok(Some(at));
    }
    Box::pin(on_demand::refreshed(app, &account.connection, scope, look)).await?;
    account.advance(app).await?;
    Ok(None)
}

/// As `ensure_inside_fresh`, for a mailbox: during the initial sync, for its newest messages.
pub async fn ensure_mailbox_fresh(app: &App, account: &mut WriteAccount, look: bool) -> Result<Option<i64>> {
    if !look && let Some(at) = fresh_since(app, account, &SyncScope::mail()).await? {
        return Ok(Some(at));
    }
    Box::pin(backfill::ensure(app, &account.connection, look)).await?;
    account.advance(app).await?;
    Ok(None)
}

async fn fresh_since(app: &App, account: &WriteAccount, scope: &SyncScope) -> Result<Option<i64>> {
    let since = app.now() - app.config.freshness_ms;
    staleness::read_since(app, &account.connection, scope, since).await
}
