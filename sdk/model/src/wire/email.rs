//! Operations of the email surface. Folders, labels and messages of an account are reported together, under one cursor, because
//! providers report them together: `Item.kind` is `email_folder`, `email_label` or, for a message, none.
//!
//! | verb | op | args | answer |
//! |---|---|---|---|
//! | changes | `mail` | `ChangesRequest` (no collection) | `Sources` |
//! | fetch | `messages.get` | `MessagesGet` | `Sources` of `EmailMessage` |
//! | fetch | `messages.search` | `MessageSearch`, with a cursor | `Sources` of `EmailMessage`, newest first |
//! | fetch | `messages.find` | `MessageFind` | `Sources` of `EmailMessage` |
//! | fetch | `messages.raw` | `MessageRef` | `Content` |
//! | fetch | `attachments.get` | `AttachmentRef` | `Content` |
//! | fetch | `capabilities` | `{}` | `MailFeatures` |
//! | mutate | `messages.update` | `MessageUpdate` | `Mutated` |
//! | mutate | `messages.delete` | `MessageDelete` | `Mutated` |
//! | mutate | `messages.append` | `MessageAppend` | `Mutated` |
//! | mutate | `drafts.save` | `DraftSave` | `Mutated` |
//! | mutate | `messages.send` | `MessageSend` | `Sent` |
//!
//! **Names.** A message names its folders, labels and thread as the provider does (`folderIds`, `labelIds`, `threadId`); the host turns
//! them into ours. `threadId` is null where the provider has no threads: then the host computes them. `attachments[].id` is the connector's
//! own name of the part. External ids of folders, labels and messages share one namespace in an account: add prefixes if the provider's ids
//! could be equal. A folder or label is reported before, or on the page of, the messages in it.
//!
//! **Drafts** are messages with `draft: true`.
//!
//! **Initial sync.** Without a cursor `mail` reports everything, newest message first over all folders, page by page (`enumeration: true`),
//! and each page also says how far back it is complete (`Sources.coveredSince`): the host serves lists from the part it has while the rest
//! is read. Changes in the meantime are reported too, on the next page: a message can be reported twice. The last page of the initial sync
//! has `more: false`; from then on only differences are reported.
//!
//! **Changes of a known message** are reported in short form: `Item.partial` with the fields that can change (`unread`, `starred`,
//! `answered`, `forwarded`, `draft`, `keywords`, `importance`, `folderIds`, `labelIds`), all that the connector knows of them. The host
//! merges them into its copy, and requests messages that it does not have.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Instant;
use crate::capabilities::{Alias, BounceDetection, EmailDelta, ThreadSource};
use crate::email::{EmailAddress, Importance};
use crate::wire::{Source, Warning};

/// A message at the provider.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MessageRef {
    /// The external id of the message's source.
    pub source: String,
    /// The `hint` of the message's item, as the connector last reported it; null if it had none.
    pub hint: Option<Value>,
}

/// Messages to read. An unknown message is left out of the answer, or reported as `deleted`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MessagesGet {
    /// The messages, at most 200.
    pub messages: Vec<MessageRef>,
    /// Whether the answer has `headers`.
    pub headers: bool,
    /// Whether the answer has `headers` and `body`.
    pub body: bool,
    /// The largest size of `body.text` and of `body.html`, in bytes each. A longer one is cut after a whole character and marked
    /// `truncated`.
    pub max_body_bytes: u32,
}

/// A search at the provider, over everything that a message holds; the call's cursor continues it. Newest first by `receivedAt`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MessageSearch {
    /// Words that must all occur in headers or text; null: no such condition.
    pub text: Option<String>,
    /// A query in the provider's own language, instead of `text`; null if there is none.
    pub native_query: Option<String>,
    /// The external id of the folder to search; null: all folders, with trash and junk.
    pub folder: Option<String>,
    /// The external id of the label that messages must have; null: any.
    pub label: Option<String>,
    /// The earliest time of receipt, inclusive; null: no bound.
    pub received_after: Option<Instant>,
    /// The latest time of receipt, exclusive; null: no bound.
    pub received_before: Option<Instant>,
    /// Whether messages must be unread; null: both.
    pub unread: Option<bool>,
    /// Whether messages must be starred; null: both.
    pub starred: Option<bool>,
    /// The most messages in one answer.
    pub limit: u32,
}

/// A search by Message-ID for a message that a call before a crash may have stored, in the folders that sent mail and drafts go to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MessageFind {
    /// The Message-ID without angle brackets.
    pub internet_message_id: String,
}

/// An attachment to read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AttachmentRef {
    /// The message that holds the attachment.
    #[serde(flatten)]
    pub message: MessageRef,
    /// The attachment's id, as the connector reported it in `attachments`.
    pub part: String,
}

/// The bytes of a message or attachment, in a blob of this call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Content {
    /// The id of the blob.
    pub blob: String,
    /// The media type; null if it is unknown.
    pub content_type: Option<String>,
}

/// A change of a message. Fields that are null stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MessageUpdate {
    /// The message to change.
    #[serde(flatten)]
    pub message: MessageRef,
    /// Whether the message becomes unread; null: unchanged.
    pub unread: Option<bool>,
    /// Whether the message becomes starred; null: unchanged.
    pub starred: Option<bool>,
    /// Whether the message becomes marked as answered; null: unchanged.
    pub answered: Option<bool>,
    /// Whether the message becomes marked as forwarded; null: unchanged.
    pub forwarded: Option<bool>,
    /// The new importance; null: unchanged.
    pub importance: Option<Importance>,
    /// The keywords to add, in lower case.
    pub add_keywords: Vec<String>,
    /// The keywords to remove, in lower case.
    pub remove_keywords: Vec<String>,
    /// The external ids of all folders that the message is in after the change, or of one if the provider allows no more; null: unchanged.
    pub folders: Option<Vec<String>>,
    /// The external ids of the labels to add.
    pub add_labels: Vec<String>,
    /// The external ids of the labels to remove.
    pub remove_labels: Vec<String>,
    /// The source's etag that the change is based on; null: any version. A mismatch is the failure `conflict`.
    pub if_match: Option<String>,
}

/// A message to delete.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MessageDelete {
    /// The message to delete.
    #[serde(flatten)]
    pub message: MessageRef,
    /// Whether the message is deleted for good. False: it goes to the trash; a mailbox without a trash deletes it for good.
    pub permanent: bool,
    /// The provider's etag that the change is based on; null: any version. A mismatch is the failure `conflict`.
    pub if_match: Option<String>,
}

/// A message to put into a folder, without sending it. A repeated append under the same idempotency key must find the message of the first
/// attempt: by `internetMessageId` in the folder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MessageAppend {
    /// The id of a blob of this call with the message: RFC 5322, lines end with CRLF.
    pub blob: String,
    /// The message's Message-ID without angle brackets.
    pub internet_message_id: String,
    /// The external ids of the folders; empty: the inbox.
    pub folders: Vec<String>,
    /// The external ids of the labels.
    pub labels: Vec<String>,
    /// Whether the message is unread.
    pub unread: bool,
    /// Whether the message is starred (flagged).
    pub starred: bool,
    /// Whether the message is a draft.
    pub draft: bool,
    /// The message's IMAP or JMAP keywords, in lower case.
    pub keywords: Vec<String>,
    /// The time of receipt (IMAP internal date); null: now.
    pub received_at: Option<Instant>,
}

/// A draft to store in the drafts folder, with `draft` set and marked as read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct DraftSave {
    /// The id of a blob of this call with the message: RFC 5322.
    pub blob: String,
    /// The draft's Message-ID without angle brackets.
    pub internet_message_id: String,
    /// The version that this draft replaces, which the connector deletes; null for a new draft. `previousId` of the new source names the
    /// old one.
    pub replaces: Option<MessageRef>,
    /// The replaced source's etag; null: any version. A mismatch is the failure `conflict`.
    pub if_match: Option<String>,
    /// The provider's id of the draft's thread: that of the message it answers, else that of the version it replaces. Null for a draft that
    /// begins a thread, and if the provider has no threads.
    pub thread: Option<String>,
}

/// A message to submit to the provider for delivery.
///
/// Call `Context::reached("handed-over")` right before the step after which the provider may deliver the message, and not before: until
/// then the host repeats the call after a crash, from then on it looks for the message (`messages.find`) and never repeats it. A failure
/// after that step counts as a refusal, with nothing handed over, when its `detail` says `{"handedOver": false}`, and does not when it
/// says `{"handedOver": true}`. Where `detail` says neither, a refusal is a status of 4xx without 408, and 503.
///
/// Call `Context::reached("accepted")` as soon as the provider has accepted the message for at least one recipient, and store the copy
/// and delete the draft after that. If the call ends in between, the host knows that the message was sent. Without this call the host has
/// to look for the message, and reports an unknown outcome for a message without a copy (`saveToSent` is false).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MessageSend {
    /// The id of a blob of this call with the message: RFC 5322, lines end with CRLF, without Bcc.
    pub blob: String,
    /// The message's Message-ID without angle brackets.
    pub internet_message_id: String,
    /// The sender in the envelope.
    pub from: EmailAddress,
    /// The recipients in the envelope: to, cc and bcc.
    pub recipients: Vec<String>,
    /// Whether the connector stores a copy in the sent folder, if the provider does not do so itself.
    pub save_to_sent: bool,
    /// The id of a blob with the copy for the sent folder, which has the Bcc; null: `blob`.
    pub sent_blob: Option<String>,
    /// The draft that is sent, which the connector deletes; null if there was none.
    pub draft: Option<MessageRef>,
    /// The provider's id of the message's thread: that of the message it answers, else that of its draft. Null for a message that begins a
    /// thread, and if the provider has no threads.
    pub thread: Option<String>,
}

/// The result of sending a message. Refused recipients are no failure of the call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Sent {
    /// The server's answers, one for each recipient.
    pub recipients: Vec<RecipientOutcome>,
    /// The Message-ID that the provider gave the message; null if it kept the one that it got.
    pub internet_message_id: Option<String>,
    /// The copy in the sent folder, whole, and the draft as deleted.
    pub sources: Vec<Source>,
    /// Warnings of a call that succeeded.
    pub warnings: Vec<Warning>,
}

/// The server's answer for one recipient.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct RecipientOutcome {
    /// The recipient's email address.
    pub email: String,
    /// Whether the server accepted the message for the recipient.
    pub accepted: bool,
    /// Whether the refusal is temporary (SMTP 4xx): a later attempt may succeed.
    pub temporary: bool,
    /// The SMTP reply in one line, such as `550 5.1.1 no such user`; null if there is none.
    pub reply: Option<String>,
    /// The enhanced status code (RFC 3463), such as `5.1.1`; null if there is none.
    pub enhanced_status: Option<String>,
}

/// The mail features of this account at its provider, for the capabilities operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MailFeatures {
    /// Whether `messages.search` takes `text`.
    pub search: bool,
    /// Whether `messages.search` takes `nativeQuery`.
    pub native_search: bool,
    /// Whether `unread`, `starred` and the other flags can be changed.
    pub modify_flags: bool,
    /// Whether messages can be moved to other folders.
    pub move_messages: bool,
    /// Whether messages can be moved to the trash.
    pub delete: bool,
    /// Whether messages can be deleted for good.
    pub permanent_delete: bool,
    /// Whether drafts can be stored.
    pub drafts: bool,
    /// Whether messages can be sent.
    pub send: bool,
    /// Whether messages can be put into a folder without being sent.
    pub append: bool,
    /// Whether the mailbox has folders.
    pub folders: bool,
    /// Whether the mailbox has labels.
    pub labels: bool,
    /// Whether a message can be in several folders.
    pub multi_folder: bool,
    /// The side that groups messages into threads.
    pub threads: ThreadSource,
    /// Whether keywords of any name can be set.
    pub keywords: bool,
    /// Whether the importance of a message can be changed.
    pub importance: bool,
    /// Whether messages can be sent from the addresses in `aliases`.
    pub send_as_alias: bool,
    /// Whether messages can be sent on behalf of another mailbox.
    pub delegated_send: bool,
    /// The way in which bounces are detected.
    pub bounce_detection: BounceDetection,
    /// Whether the provider notifies the service of changes.
    pub push: bool,
    /// The way in which changes are found.
    pub delta: EmailDelta,
    /// The largest message that can be sent, in bytes; null if it is unknown.
    pub max_message_bytes: Option<i64>,
    /// The most recipients of a message; null if it is unknown.
    pub max_recipients: Option<i64>,
    /// The most messages that can be sent in a day; null if it is unknown.
    pub max_send_per_day: Option<i64>,
    /// The addresses that the account can send as.
    pub aliases: Vec<Alias>,
}
