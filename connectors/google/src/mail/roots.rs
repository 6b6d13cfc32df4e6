//! Addresses of the Gmail API, and the units that its operations cost (developers.google.com/workspace/gmail/api/reference/quota).

use connector_sdk::Outcome;
use connector_sdk::rest::url::url;

/// The account's mailbox.
const MAILBOX: &str = "https://gmail.googleapis.com/gmail/v1/users/me";
/// The same for requests with media.
const UPLOAD: &str = "https://gmail.googleapis.com/upload/gmail/v1/users/me";
/// Many requests in one. Its parts name paths below the host alone.
pub const BATCH: &str = "https://gmail.googleapis.com/batch/gmail/v1";

/// The bucket of `[limits]` in the manifest.
pub const BUCKET: &str = "gmail";

/// Units of reading one message in whichever form.
pub const GET_UNITS: u32 = 20;
/// Units of a page of messages or of drafts.
pub const LIST_UNITS: u32 = 5;
/// Units of a page of the history.
pub const HISTORY_UNITS: u32 = 2;
/// Units of reading an attachment.
pub const ATTACHMENT_UNITS: u32 = 5;
/// Units of changing the labels of a message, which moves it too.
pub const MODIFY_UNITS: u32 = 5;
/// Units of storing a message without sending it.
pub const INSERT_UNITS: u32 = 25;
/// Units of making a draft.
pub const DRAFT_UNITS: u32 = 10;
/// Units of changing a draft.
pub const DRAFT_UPDATE_UNITS: u32 = 15;
/// Units of sending a message or a draft.
pub const SEND_UNITS: u32 = 100;

/// Returns an address below the mailbox: `["labels"]`, `["drafts", id]`.
pub fn mailbox(segments: &[&str], query: &[(&str, &str)]) -> Outcome<String> {
    url(MAILBOX, segments, query)
}

/// Returns the address of a message. Fails with `not-found` for what can be no id.
pub fn message(id: &str, query: &[(&str, &str)]) -> Outcome<String> {
    mailbox(&["messages", id], query)
}

/// Returns an address below the mailbox for requests with media: `["messages", "send"]`.
pub fn upload(segments: &[&str], query: &[(&str, &str)]) -> Outcome<String> {
    url(UPLOAD, segments, query)
}
