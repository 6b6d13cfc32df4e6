//! The folders and labels of messages, and the names of their parts: stored beside them.

use std::collections::{BTreeSet, HashMap};

use base::error::Result;
use model::email::Attachment;
use storage::mail::{self as table, MessagePlace};

use crate::app::resource_kind::ResourceKind;
use crate::local_copy::change::{ChangeKind, ItemChange};
use crate::local_copy::mail::normalize::attachment_id;
use crate::local_copy::transaction::CopyTransaction;

/// Whether the kind is one that contains messages: folders and labels.
pub fn is_place(kind: ResourceKind) -> bool {
    matches!(kind, ResourceKind::EmailFolder | ResourceKind::EmailLabel)
}

/// Stores the folders and labels of a page's messages, and the time of the newest message of each of their threads. Called once, after
/// their rows are written.
pub async fn store(copy: &mut CopyTransaction<'_, '_>, written: &[ItemChange<'_>]) -> Result<()> {
    let messages = || written.iter().filter(|one| !is_place(one.kind));
    let stored: Vec<&str> =
        messages().filter(|one| one.before.is_some()).map(|one| one.item.id.as_str()).collect();
    let connection_id = copy.location.connection_id.as_str();
    table::remove_places(copy.tx, connection_id, &stored).await?;
    // Of several changes of a message the last one counts.
    let last: HashMap<&str, &ItemChange<'_>> = messages().map(|one| (one.item.id.as_str(), one)).collect();
    let mut places = Vec::new();
    for one in last.into_values().filter(|one| one.change != ChangeKind::Deleted) {
        let item = &one.item;
        let around = [copy.location.tenant.application_id.as_str(), connection_id];
        let thread = item.series_id.as_deref();
        let ids = around.into_iter().chain(thread).chain(one.places.iter().map(String::as_str));
        places.extend(ids.map(|place_id| MessagePlace { item, place_id }));
    }
    places.sort_unstable_by_key(|place| (place.place_id, place.item.sort_at, &place.item.id));
    table::set_places(copy.tx, connection_id, &places).await?;
    let mut threads = BTreeSet::new();
    for one in messages() {
        threads.extend(one.item.series_id.as_deref());
        threads.extend(one.before.as_ref().and_then(|before| before.series_id.as_deref()));
    }
    let threads: Vec<&str> = threads.into_iter().collect();
    Ok(table::set_latest(copy.tx, &threads, copy.app.now()).await?)
}

/// Gives attachments our ids; returns the connector's names of them for the side data.
pub fn take_parts(message_id: &str, attachments: &mut [Attachment]) -> Vec<(String, String)> {
    let mut parts = Vec::with_capacity(attachments.len());
    for attachment in attachments {
        let part = std::mem::take(&mut attachment.id);
        attachment.id = attachment_id(message_id, &part);
        attachment.message_id = Some(message_id.to_owned());
        attachment.download_url =
            Some(format!("/v1/email/messages/{message_id}/attachments/{}", attachment.id));
        attachment.content_base64 = None;
        parts.push((attachment.id.clone(), part));
    }
    parts
}
