//! The state of a draft: open, being sent, sent.

use base::error::{Code, Result, refuse};
use model::email::draft::{Draft, DraftStatus};
use storage::items::Item;

use crate::app::resource_kind::ResourceKind;

/// Whether it was sent and exists only in the local copy.
pub fn is_gone(item: &Item) -> bool {
    item.source_id.starts_with(crate::local_copy::mail::source_names::SENT)
}

/// The status of a draft.
pub fn status(item: &Item) -> Result<DraftStatus> {
    let draft: Draft = serde_json::from_str(&item.body)?;
    Ok(draft.status)
}

/// Whether the outbox has the draft's message. The outbox then decides about the draft: providers remove it from the mailbox once they have
/// sent it, which is no deletion.
pub fn is_being_sent(item: &Item) -> bool {
    item.kind == ResourceKind::EmailDraft.as_str()
        && status(item).is_ok_and(|s| matches!(s, DraftStatus::Scheduled | DraftStatus::Sending))
}

/// Refuses changes of a draft that is being sent or was sent.
pub fn is_open(item: &Item) -> Result<()> {
    match status(item)? {
        DraftStatus::Draft | DraftStatus::Failed => Ok(()),
        DraftStatus::Scheduled => {
            let message =
                "the draft is scheduled to be sent: delete the message that it became to take it back";
            Err(refuse(Code::InvalidState, message))
        }
        DraftStatus::Sending | DraftStatus::Sent => {
            Err(refuse(Code::DraftAlreadySent, "the draft was sent, or is being sent"))
        }
    }
}
