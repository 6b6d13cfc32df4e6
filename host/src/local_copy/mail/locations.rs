//! Where messages are, and what their parts are called: kept beside them.

use std::collections::BTreeSet;

use base::error::Result;
use base::tenant::Tenant;
use model::email::Attachment;
use storage::{Tx, mail as table};

use crate::app::resource_kind::ResourceKind;
use crate::local_copy::change::{ChangeKind, ItemChange};
use crate::local_copy::mail::normalize::attachment_id;

/// Folders and labels: what messages are in.
pub fn is_place(kind: ResourceKind) -> bool {
    matches!(kind, ResourceKind::EmailFolder | ResourceKind::EmailLabel)
}

/// Keeps where a message is; called for each changed row after it is written.
pub async fn put(tx: &mut Tx, tenant: &Tenant, changed: &ItemChange<'_>) -> Result<()> {
    if is_place(changed.kind) {
        return Ok(());
    }
    let item = &changed.item;
    if changed.before.is_some() {
        table::remove_places(tx, item).await?;
    }
    if changed.change == ChangeKind::Deleted {
        return Ok(());
    }
    let mut places: Vec<&str> = vec![&tenant.application_id, &item.connection_id];
    places.extend(item.series_id.as_deref());
    places.extend(changed.places.iter().map(String::as_str));
    Ok(table::set_places(tx, item, &places).await?)
}

/// Says of the threads of what was written when their newest message came.
pub async fn date_threads(tx: &mut Tx, written: &[ItemChange<'_>], now: i64) -> Result<()> {
    let mut threads = BTreeSet::new();
    for changed in written.iter().filter(|c| !is_place(c.kind)) {
        threads.extend(changed.item.series_id.as_deref());
        threads.extend(changed.before.as_ref().and_then(|before| before.series_id.as_deref()));
    }
    for thread in threads {
        table::set_latest(tx, thread, now).await?;
    }
    Ok(())
}

/// Gives attachments our ids; what the connector calls them is kept beside.
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
