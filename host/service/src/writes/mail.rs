//! The response that shows a message or a draft.

use async_trait::async_trait;
use base::error::{Result, not_found};
use storage::Tx;
use storage::items::{self, Item, RecordNames};
use storage::locked::{ConnectionLock, LockedRow};

use crate::app::resource_kind::ResourceKind;
use crate::app::stored_response::StoredResponse;
use crate::connections::provider_call::ProviderWrite;
use crate::local_copy::change::UpsertResult;
use crate::local_copy::mail::render_content::MessageContent;
use crate::local_copy::mail::{host_fields, render_draft};
use crate::local_copy::transaction::CopyTransaction;
use crate::local_copy::{render, upsert};
use crate::writes::response::{ResponseChange, unanswered};
use crate::writes::view::ResponseView;

/// The fields of a draft that no provider stores, and the content that is not stored here.
pub struct DraftRemainder {
    pub own: Vec<(&'static str, serde_json::Value)>,
    pub content: MessageContent,
}

/// The view of a message or a draft.
pub struct MessageView {
    /// Our id; none for a message that is new.
    id: Option<String>,
    /// The provider's name of the message.
    source_id: String,
    change: ResponseChange,
    /// The remainder of a draft.
    remainder: Option<DraftRemainder>,
}

impl MessageView {
    /// Creates the view of a message. `item`: the message that is changed; none for a new one.
    pub fn message(item: Option<&Item>, change: ResponseChange) -> MessageView {
        let source_id = item.map(|item| item.source_id.clone()).unwrap_or_default();
        MessageView { id: item.map(|item| item.id.clone()), source_id, change, remainder: None }
    }

    /// Same as `message` for a draft.
    pub fn draft(item: Option<&Item>, change: ResponseChange, remainder: DraftRemainder) -> MessageView {
        MessageView { remainder: Some(remainder), ..MessageView::message(item, change) }
    }

    /// Returns the view of the message that the provider reports as written, under its present name, with the provider's warnings.
    pub fn after(self, write: &mut ProviderWrite) -> Result<MessageView> {
        let change = self.change.warned(write)?;
        let sources = &write.mutated.sources;
        let renamed = sources.iter().find(|s| s.previous_id.as_deref() == Some(&self.source_id));
        let source_id = match (&write.mutated.item, renamed) {
            (_, Some(renamed)) => renamed.external_id.clone(),
            (Some(item), None) => {
                let of = sources.iter().find(|s| s.items.iter().any(|i| i.external_id == *item));
                of.map_or_else(|| item.clone(), |s| s.external_id.clone())
            }
            (None, None) => self.source_id,
        };
        Ok(MessageView { source_id, change, id: self.id, remainder: self.remainder })
    }

    /// Returns the stored message: by the provider's name, or, if no pull has stored that name yet, by our id.
    async fn find<'l>(
        &self,
        copy: &mut CopyTransaction<'_, 'l>,
        upserted: &UpsertResult,
    ) -> Result<LockedRow<'l, Item>> {
        if let Some(item) = upserted.items.iter().find(|item| item.source_id == self.source_id) {
            return Ok(items::relock(copy.lock, item.clone())?);
        }
        let known = lock_sources(copy.tx, copy.lock, &self.source_id).await?;
        let is_known = !known.is_empty();
        if let Some(item) = known.into_iter().find(|item| item.deleted_at.is_none()) {
            return Ok(item);
        }
        let Some(id) = &self.id else {
            // A tombstone: it was deleted in between.
            return Err(if is_known { not_found("message") } else { unanswered("message") });
        };
        let found = items::lock_item(copy.tx, copy.lock, id).await?;
        found.filter(|item| item.deleted_at.is_none()).ok_or_else(|| not_found("message"))
    }
}

#[async_trait]
impl ResponseView for MessageView {
    async fn render(
        &self,
        copy: &mut CopyTransaction<'_, '_>,
        upserted: &UpsertResult,
    ) -> Result<StoredResponse> {
        let change = &self.change;
        let mut item = self.find(copy, upserted).await?;
        if let Some(metadata) = &change.metadata {
            item = upsert::set_metadata(copy, item, serde_json::to_string(metadata)?).await?;
        }
        let (text, path) = match &self.remainder {
            None => {
                (render::item(&item, &change.warnings, false), ResourceKind::from_item(&item)?.path(&item))
            }
            Some(remainder) => {
                item = host_fields::set(copy, item, &remainder.own, "updated").await?;
                let content = Some(&remainder.content);
                let text = render_draft::render_with_host_fields(&item, content, &change.warnings, false)?;
                (text, ResourceKind::EmailDraft.path(&item))
            }
        };
        let answer = StoredResponse::json(change.status, text).etag(&item.etag);
        Ok(if change.status == 201 { answer.header("location", path) } else { answer })
    }
}

/// Returns the live message of a record.
pub async fn of_source<'l>(
    tx: &mut Tx,
    lock: &'l ConnectionLock,
    source_id: &str,
) -> Result<LockedRow<'l, Item>> {
    let found = lock_sources(tx, lock, source_id).await?;
    found.into_iter().find(|i| i.deleted_at.is_none()).ok_or_else(|| not_found("message"))
}

/// Locks the rows of a record of the mailbox, tombstones included.
async fn lock_sources<'l>(
    tx: &mut Tx,
    lock: &'l ConnectionLock,
    source_id: &str,
) -> Result<Vec<LockedRow<'l, Item>>> {
    let names = RecordNames { source_ids: &[source_id], external_ids: &[] };
    Ok(items::lock_records(tx, lock, ResourceKind::EmailMessage.family(), "", names).await?)
}
