//! The plan of a submission, its progress, and the change of the message afterwards.

use io_jmap::rfc8621::email::set::JmapEmailPatch;
use model::wire::email::MessageSend;

use crate::folders::Place;
use crate::message;
use crate::protocol::answers::SetError;

/// The mailboxes and the identity that a message is sent with.
pub(super) struct Sender {
    pub(super) identity: String,
    pub(super) drafts: Place,
    /// None where no copy is wanted.
    pub(super) sent: Option<Place>,
}

/// How far a submission came.
pub(super) struct SubmissionState {
    /// The message at the server.
    pub(super) email: String,
    /// It was there before.
    pub(super) existed: bool,
    /// The id of the submission, or why there is none.
    pub(super) outcome: Result<String, Box<SetError>>,
    /// The server has changed or destroyed the message after the submission, as requested.
    pub(super) is_moved: bool,
}

/// The change of the message once it is submitted.
pub(super) enum After {
    Change(JmapEmailPatch),
    Destroy,
    Keep,
}

/// `existing` is the message where it was at the server before: that one may be more than the draft.
pub(super) fn after(args: &MessageSend, sender: &Sender, existing: Option<&str>) -> After {
    let is_draft =
        |id: &str| args.draft.as_ref().is_some_and(|draft| draft.source == message::external_id(id));
    let Some(sent) = &sender.sent else {
        return if existing.is_none_or(is_draft) { After::Destroy } else { After::Keep };
    };
    let patch =
        JmapEmailPatch::default().unset_keyword("$draft").set_keyword("$seen").add_to_mailbox(&sent.id);
    After::Change(match sent.id == sender.drafts.id {
        true => patch,
        false => patch.remove_from_mailbox(&sender.drafts.id),
    })
}
