//! Leaves out records of a page of mail whose messages were written here after the provider was asked; they are read again.

use base::error::Result;
use model::email::EmailMessage;
use storage::Tx;
use storage::items::{self, Item};

use crate::app::resource_kind::ResourceKind;
use crate::local_copy::mail::locations::is_place;
use crate::local_copy::mail::normalize::MessageSideData;
use crate::local_copy::mail::page::MailPage;
use crate::local_copy::mail::source_names::is_only_here;
use crate::local_copy::record::{NormalizedItem, NormalizedRecord};

/// Splits off records whose name an item of ours lost after the provider was asked: stored as they are, they would create that item a
/// second time. Returns the other readable ones, and these.
pub(crate) async fn without_renamed<'s>(
    tx: &mut Tx,
    connection_id: &str,
    sources: &'s [NormalizedRecord],
    as_of: i64,
) -> Result<(Vec<&'s NormalizedRecord>, Vec<&'s NormalizedRecord>)> {
    let read = || sources.iter().filter(|source| source.error.is_none());
    let names = |s: &'s NormalizedRecord| {
        [Some(s.source_id.as_str()), s.previous_id.as_deref()].into_iter().flatten()
    };
    if as_of == i64::MAX || sources.is_empty() {
        return Ok((read().collect(), Vec::new()));
    }
    let all: Vec<&str> = read().flat_map(names).collect();
    let left = items::left_sources(tx, connection_id, &all, as_of).await?;
    Ok(read().partition(|source| !names(source).any(|name| left.contains(name))))
}

impl MailPage<'_, '_> {
    /// Whether a row was written after the provider was asked.
    pub(crate) fn is_younger(&self, item: &Item) -> bool {
        item.sequence > self.as_of
    }

    /// Leaves a record out, under both of its names, so that it is recognized when both are read again.
    pub(crate) fn supersede(&mut self, source: &NormalizedRecord) {
        match source.items.iter().any(|i| is_place(i.kind)) {
            true => self.superseded_folders = true,
            false => {
                self.superseded.insert(source.source_id.clone());
                self.superseded.extend(source.previous_id.clone());
            }
        }
    }

    pub(crate) fn supersede_item(&mut self, item: &Item) {
        match ResourceKind::from_item(item).is_ok_and(is_place) {
            true => self.superseded_folders = true,
            // No provider has it.
            false if is_only_here(&item.source_id) => {}
            false => drop(self.superseded.insert(item.source_id.clone())),
        }
    }
}

/// Whether the last complete report of a message was the same.
pub(crate) fn is_as_stored(known: &Item, source: &NormalizedRecord, fresh: &NormalizedItem) -> bool {
    let (was, is) = (
        MessageSideData::from_text(known.aside.as_deref()).told,
        MessageSideData::from_text(fresh.aside.as_deref()).told,
    );
    known.deleted_at.is_none() && known.source_id == source.source_id && is.is_some() && was == is
}

/// Returns the announced Message-ID of a draft's next version, until that version is reported.
pub(crate) fn announced_uid(item: &Item) -> Option<&String> {
    let is_draft = item.kind == ResourceKind::EmailDraft.as_str() && item.deleted_at.is_none();
    let shown: EmailMessage = serde_json::from_str(&item.body).ok().filter(|_| is_draft)?;
    item.uid.as_ref().filter(|uid| shown.internet_message_id.as_ref() != Some(*uid))
}
