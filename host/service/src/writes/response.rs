//! The responses that show an item or a collection, or report its deletion, and the code that all views share.

use std::collections::BTreeMap;

use async_trait::async_trait;
use base::error::{Code, Error, Result, not_found, refuse};
use serde_json::Value;
use storage::connections::Connection;
use storage::items::{self, Item, RecordNames};
use storage::locked::LockedRow;

use crate::app::event_log::Origin;
use crate::app::resource_kind::ResourceKind;
use crate::app::stored_response::StoredResponse;
use crate::connections::provider_call::ProviderWrite;
use crate::local_copy::change::{CopyLocation, UpsertResult};
use crate::local_copy::transaction::CopyTransaction;
use crate::local_copy::{collection_counts, render, upsert};
use crate::writes::view::ResponseView;

/// The parts of a response that the host adds to the stored row.
#[derive(Clone)]
pub struct ResponseChange {
    pub status: u16,
    /// New metadata; none: unchanged.
    pub metadata: Option<BTreeMap<String, String>>,
    pub warnings: Vec<Value>,
}

impl ResponseChange {
    /// Adds the provider's warnings.
    pub fn warned(mut self, write: &mut ProviderWrite) -> Result<ResponseChange> {
        self.warnings.extend(write.take_warnings()?);
        Ok(self)
    }
}

/// Returns the location at which a write of ours is stored: a collection, or with an empty `parent_id` the connection itself.
pub fn place(connection: &Connection, kind: ResourceKind, parent_id: &str) -> CopyLocation {
    CopyLocation {
        tenant: connection.tenant.clone(),
        connection_id: connection.id.clone(),
        kind,
        parent_id: parent_id.to_owned(),
        origin: Origin::Api,
    }
}

/// The view of one item.
pub struct ItemView {
    external_id: String,
    change: ResponseChange,
}

impl ItemView {
    /// Returns the view of the item that the provider reports as written.
    pub fn new(write: &mut ProviderWrite, change: ResponseChange) -> Result<ItemView> {
        let external_id = write.mutated.item.clone().unwrap_or_default();
        Ok(ItemView { external_id, change: change.warned(write)? })
    }

    /// Returns the view of an item that needed no change at the provider.
    pub fn from_item(item: &Item, change: ResponseChange) -> ItemView {
        ItemView { external_id: item.external_id.clone(), change }
    }

    fn response(&self, copy: &CopyTransaction<'_, '_>, item: &Item, text: String) -> StoredResponse {
        let answer = StoredResponse::json(self.change.status, text).etag(&item.etag);
        match self.change.status {
            201 => answer.header("location", copy.location.kind.path(item)),
            _ => answer,
        }
    }
}

#[async_trait]
impl ResponseView for ItemView {
    async fn render(
        &self,
        copy: &mut CopyTransaction<'_, '_>,
        upserted: &UpsertResult,
    ) -> Result<StoredResponse> {
        let item = stored(copy, upserted, &self.external_id, &self.change).await?;
        Ok(self.response(copy, &item, render::item(&item, &self.change.warnings, false)))
    }
}

/// The view of a collection, with counts of its contents and its watch.
pub struct CollectionView(pub ItemView);

#[async_trait]
impl ResponseView for CollectionView {
    async fn render(
        &self,
        copy: &mut CopyTransaction<'_, '_>,
        upserted: &UpsertResult,
    ) -> Result<StoredResponse> {
        let ItemView { external_id, change } = &self.0;
        let item = stored(copy, upserted, external_id, change).await?;
        let (app, location) = (copy.app, copy.location);
        let warnings = &change.warnings;
        let text = collection_counts::render_collection(
            app,
            &mut *copy.tx,
            &location.tenant,
            &item,
            warnings,
            false,
        )
        .await?;
        Ok(self.0.response(copy, &item, text))
    }
}

/// The view of a deletion: 204, or with warnings 200, because 204 has no room for them.
// Contract silent: what a deletion answers, and where its warnings are.
#[derive(Default)]
pub struct GoneView {
    pub warnings: Vec<Value>,
}

#[async_trait]
impl ResponseView for GoneView {
    async fn render(&self, _: &mut CopyTransaction<'_, '_>, _: &UpsertResult) -> Result<StoredResponse> {
        Ok(match self.warnings.is_empty() {
            true => StoredResponse::no_content(),
            false => StoredResponse::ok("{}").warned(&self.warnings),
        })
    }
}

/// The view of the deletion of a collection.
pub struct CollectionGoneView {
    /// The collection's id.
    pub id: String,
}

#[async_trait]
impl ResponseView for CollectionGoneView {
    async fn render(
        &self,
        copy: &mut CopyTransaction<'_, '_>,
        upserted: &UpsertResult,
    ) -> Result<StoredResponse> {
        let is_listed = upserted.items.iter().any(|item| item.id == self.id);
        if is_listed || !upserted.superseded.is_empty() {
            // Another client has created it again, and it stays, without the contents of the deleted one.
            let inside = copy.location.contents_of(&self.id);
            let family = inside.kind.family();
            let sources = items::live_sources(&mut *copy.tx, &inside.connection_id, family, &self.id).await?;
            upsert::remove_contents(&mut copy.at(&inside), &sources).await?;
        }
        Ok(StoredResponse::no_content())
    }
}

/// Returns the error for an answer of the connector that lacks the written record. The provider may have stored the change.
pub fn unanswered(noun: &str) -> Error {
    let message = format!(
        "the connector's answer does not have the {noun} that was written; the provider may have stored the change"
    );
    refuse(Code::ConnectorError, message)
}

/// Returns the live row of a resource, with its new metadata.
pub async fn stored<'l>(
    copy: &mut CopyTransaction<'_, 'l>,
    upserted: &UpsertResult,
    external_id: &str,
    change: &ResponseChange,
) -> Result<LockedRow<'l, Item>> {
    let kind = copy.location.kind;
    let is_named = |item: &Item| item.kind == kind.as_str() && item.external_id == external_id;
    let item = match upserted.items.iter().find(|item| is_named(item)) {
        Some(item) => items::relock(copy.lock, item.clone())?,
        None => {
            let names = RecordNames { source_ids: &[], external_ids: &[external_id] };
            let parent_id = &copy.location.parent_id;
            let found = items::lock_records(copy.tx, copy.lock, kind.family(), parent_id, names).await?;
            found.into_iter().find(|item| is_named(item)).ok_or_else(|| unanswered(kind.noun()))?
        }
    };
    if item.deleted_at.is_some() {
        // Another client deleted it during the write. A tombstone is never returned as a live resource.
        return Err(not_found(kind.noun()));
    }
    match &change.metadata {
        Some(metadata) => upsert::set_metadata(copy, item, serde_json::to_string(metadata)?).await,
        None => Ok(item),
    }
}
