//! Items and mailboxes that are about to be changed: opened with their accounts, and as fresh as a read.

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
    /// The collection; none where the path does not name it.
    pub collection_id: Option<&'p str>,
    pub id: &'p str,
}

/// An item as it was read before anybody asked how fresh the copy is.
pub struct KnownItem {
    item: Item,
    /// When this host had read the copy by then; none: that is not known.
    copy_at: Option<i64>,
}

impl KnownItem {
    /// The item, which was read just now, of the copy of a scope of this name.
    pub fn new(app: &App, item: Item, scope_name: &str) -> KnownItem {
        KnownItem { item, copy_at: staleness::read_here(app, scope_name) }
    }

    fn inside(app: &App, kind: ResourceKind, item: Item) -> KnownItem {
        let name = scope_name(&item.connection_id, kind.surface().as_str(), &item.parent_id);
        KnownItem::new(app, item, &name)
    }

    /// The item, if nothing was read into the copy since: `copy_at` is when the copy was read that is fresh enough.
    pub fn of_copy(self, copy_at: Option<i64>) -> Option<Item> {
        (copy_at.is_some() && copy_at == self.copy_at).then_some(self.item)
    }
}

/// An item that is about to be changed. As long as this lives, no other request of this process changes it.
pub struct ItemToWrite {
    pub opened: OpenCollection,
    id: String,
    known: Option<KnownItem>,
    _one: OwnedMutexGuard<()>,
}

impl ItemToWrite {
    /// Opens the collection that the item lies in.
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

    /// The item, as fresh as a read.
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

/// Opens a collection for writing. The item of this kind and id in it is read with the same statement; none: it is not there.
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

/// Sees to it that the items of a collection are fresh enough to be changed. Returns when they were read, ms since 1970. None: that was just
/// now, and rows that were read before are old.
pub async fn ensure_inside_fresh(cx: &WriteContext, opened: &mut OpenCollection) -> Result<Option<i64>> {
    let inside = scope(&opened.collection)?;
    ensure_fresh(&cx.app, &mut opened.account, &inside, cx.attempt.resumed).await
}

/// The same for whatever is kept in step as one. `look`: the provider is asked in any case.
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

/// The same for a mailbox: for its newest messages, where it is still being read for the first time.
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
