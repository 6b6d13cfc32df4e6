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
//! **Names.** A message names its folders, labels and thread as the provider does (`folderIds`, `labelIds`, `threadId`); the
//! host turns them into ours. `threadId` is null where the provider has no threads: then the host computes them.
//! `attachments[].id` is the connector's own name of the part. External ids of folders, labels and messages of an account must not
//! be equal: prefix them where the provider's could be. A folder or label is reported before, or on the page of, the messages in it.
//!
//! **Drafts** are messages with `draft: true`.
//!
//! **Initial sync.** Without a cursor `mail` reports everything, newest message first over all folders, page by page
//! (`enumeration: true`), and each page also says how far back it is complete (`Sources.coveredSince`): the host serves lists from what
//! it has while the rest is read. Changes in the meantime are reported too, on the next page: a message can be reported twice.
//! The last page of the initial sync has `more: false`; from then on only differences are reported.
//!
//! **Changes of a known message** are reported in short form: `Item.partial` with the fields that can change (`unread`, `starred`,
//! `answered`, `forwarded`, `draft`, `keywords`, `importance`, `folderIds`, `labelIds`), all that the connector knows of them. The host
//! merges them into its copy, and asks for the message where it has none.

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
    /// External id of the source.
    pub source: String,
    /// `Item.hint` of its item, as it was reported last.
    pub hint: Option<Value>,
}

/// Messages to read. An unknown one is left out of the answer, or reported as `deleted`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MessagesGet {
    /// At most 200.
    pub messages: Vec<MessageRef>,
    /// With `headers`.
    pub headers: bool,
    /// With `headers` and `body`.
    pub body: bool,
    /// Most bytes of each of `body.text` and `body.html`; a longer one is cut at a character and marked `truncated`.
    pub max_body_bytes: u32,
}

/// A search at the provider, over all that a message holds; `Context.cursor` continues. Newest first by `receivedAt`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MessageSearch {
    /// Words that all must occur, in headers or text.
    pub text: Option<String>,
    /// In the provider's own query language; instead of `text`.
    pub native_query: Option<String>,
    /// External id of a folder; none: everywhere, trash and junk too.
    pub folder: Option<String>,
    /// External id of a label.
    pub label: Option<String>,
    /// Only messages received at this time or later.
    pub received_after: Option<Instant>,
    /// Only messages received before this time.
    pub received_before: Option<Instant>,
    /// Only unread messages, or only read ones.
    pub unread: Option<bool>,
    /// Only starred messages, or only others.
    pub starred: Option<bool>,
    /// At most this many in one answer.
    pub limit: u32,
}

/// Looks for a message that a crash may have left: by Message-ID, in the folders that sent mail and drafts go to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MessageFind {
    /// Without angle brackets.
    pub internet_message_id: String,
}

/// An attachment to read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct AttachmentRef {
    /// The message.
    #[serde(flatten)]
    pub message: MessageRef,
    /// `attachments[].id` as the connector reported it.
    pub part: String,
}

/// Bytes in a blob of this call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Content {
    /// The blob's id.
    pub blob: String,
    /// The media type; none: unknown.
    pub content_type: Option<String>,
}

/// A change of a message. Fields that are none stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MessageUpdate {
    /// The message.
    #[serde(flatten)]
    pub message: MessageRef,
    /// Whether it is to be unread.
    pub unread: Option<bool>,
    /// Whether it is to be starred.
    pub starred: Option<bool>,
    /// Whether it is to be marked as answered.
    pub answered: Option<bool>,
    /// Whether it is to be marked as forwarded.
    pub forwarded: Option<bool>,
    /// The importance that it is to have.
    pub importance: Option<Importance>,
    /// Lower case.
    pub add_keywords: Vec<String>,
    /// Lower case.
    pub remove_keywords: Vec<String>,
    /// External ids of the folders that it shall be in, all of them; one where the provider has no more.
    pub folders: Option<Vec<String>>,
    /// External ids of labels.
    pub add_labels: Vec<String>,
    /// External ids of labels.
    pub remove_labels: Vec<String>,
    /// The source's etag that the change is based on; a mismatch is failure "conflict".
    pub if_match: Option<String>,
}

/// A message to delete.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MessageDelete {
    /// The message.
    #[serde(flatten)]
    pub message: MessageRef,
    /// Destroy it. Else it goes to the trash, and where there is none it is destroyed too.
    pub permanent: bool,
    /// Provider etag that the change is based on; a mismatch is failure "conflict".
    pub if_match: Option<String>,
}

/// A message to put into a folder, without sending it. A repeated append under the same idempotency key must find what the
/// first attempt left: by `internetMessageId` in the folder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MessageAppend {
    /// Blob of this call: the message, RFC 5322, lines end with CRLF.
    pub blob: String,
    /// Its Message-ID, without angle brackets.
    pub internet_message_id: String,
    /// External ids of folders; none: the inbox.
    pub folders: Vec<String>,
    /// External ids of labels.
    pub labels: Vec<String>,
    /// Whether it has not been read.
    pub unread: bool,
    /// Whether it is starred (flagged).
    pub starred: bool,
    /// Whether it is a draft.
    pub draft: bool,
    /// IMAP and JMAP keywords, lower case.
    pub keywords: Vec<String>,
    /// The internal date; none: now.
    pub received_at: Option<Instant>,
}

/// A draft to store: in the drafts folder, with `draft` set and read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct DraftSave {
    /// Blob of this call: the message, RFC 5322.
    pub blob: String,
    /// Its Message-ID, without angle brackets.
    pub internet_message_id: String,
    /// The version that this one takes the place of; it is gone afterwards, and `Source.previousId` of the new one names it.
    pub replaces: Option<MessageRef>,
    /// The replaced source's etag; a mismatch is failure "conflict".
    pub if_match: Option<String>,
    /// The provider's id of the thread that the draft belongs to: that of the message it answers, else that of the version it replaces.
    /// None for a draft that begins a thread, and where the provider has no threads.
    pub thread: Option<String>,
}

/// A message to hand over for delivery.
///
/// Call `Context::reached("handed-over")` right before the step after which the provider may deliver it, and not before: until then the
/// host repeats the call after a crash, from then on it looks for the message (`messages.find`) and never repeats it. A failure
/// after that step counts as a refusal, with nothing handed over, when its `detail` says `{"handedOver": false}`, and does not when it
/// says `{"handedOver": true}`. Where `detail` says neither, a refusal is a status of 4xx without 408, and 503.
///
/// Call `Context::reached("accepted")` as soon as the provider has accepted the message for at least one recipient, and go on with
/// the copy and the draft after that. A call that ends in between is then a message that was sent; without it the host has to look for the
/// message, and of one without a copy (`save_to_sent` false) it could only say that the outcome is unknown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MessageSend {
    /// Blob of this call: the message, RFC 5322, lines end with CRLF, without Bcc.
    pub blob: String,
    /// Its Message-ID, without angle brackets.
    pub internet_message_id: String,
    /// The envelope's sender.
    pub from: EmailAddress,
    /// The envelope's recipients: to, cc and bcc.
    pub recipients: Vec<String>,
    /// Keep a copy in the sent folder, if the provider does not do so by itself.
    pub save_to_sent: bool,
    /// With the Bcc that the copy in the sent folder shall show; none: `blob`.
    pub sent_blob: Option<String>,
    /// The draft that it was; it is gone afterwards.
    pub draft: Option<MessageRef>,
    /// The provider's id of the thread that the message belongs to: that of the message it answers, else that of its draft. None for a
    /// message that begins a thread, and where the provider has no threads.
    pub thread: Option<String>,
}

/// The result of sending a message. Refused recipients are no failure of the call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Sent {
    /// One for each recipient.
    pub recipients: Vec<RecipientOutcome>,
    /// The Message-ID that the provider gave it, where it changed ours.
    pub internet_message_id: Option<String>,
    /// The copy in the sent folder, whole; the draft as deleted.
    pub sources: Vec<Source>,
    /// Warnings of a call that succeeded.
    pub warnings: Vec<Warning>,
}

/// The server's answer for one recipient.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct RecipientOutcome {
    /// The recipient's address.
    pub email: String,
    /// Whether the server accepted the message for the recipient.
    pub accepted: bool,
    /// Not accepted now, may be later: SMTP 4xx.
    pub temporary: bool,
    /// The SMTP reply, one line: `550 5.1.1 no such user`.
    pub reply: Option<String>,
    /// RFC 3463: `5.1.1`.
    pub enhanced_status: Option<String>,
}

/// The features of this account's provider, for the capabilities operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MailFeatures {
    /// `messages.search` with `text`.
    pub search: bool,
    /// `messages.search` with `nativeQuery`.
    pub native_search: bool,
    /// `unread`, `starred` and the like can be changed.
    pub modify_flags: bool,
    /// Messages can be moved to other folders.
    pub move_messages: bool,
    /// Messages can be moved to the trash.
    pub delete: bool,
    /// Messages can be destroyed.
    pub permanent_delete: bool,
    /// Drafts can be stored.
    pub drafts: bool,
    /// Messages can be sent.
    pub send: bool,
    /// Messages can be put into a folder.
    pub append: bool,
    /// The mailbox has folders.
    pub folders: bool,
    /// The mailbox has labels.
    pub labels: bool,
    /// A message can be in several folders.
    pub multi_folder: bool,
    /// The side that groups messages into threads.
    pub threads: ThreadSource,
    /// Keywords of any name can be set.
    pub keywords: bool,
    /// The importance of a message can be changed.
    pub importance: bool,
    /// Messages can be sent from `aliases`.
    pub send_as_alias: bool,
    /// Messages can be sent for another mailbox.
    pub delegated_send: bool,
    /// The way in which bounces are found.
    pub bounce_detection: BounceDetection,
    /// Whether the provider notifies of changes.
    pub push: bool,
    /// The way in which changes are found.
    pub delta: EmailDelta,
    /// Bytes of a message to send; none: unknown.
    pub max_message_bytes: Option<i64>,
    /// Recipients of a message; none: unknown.
    pub max_recipients: Option<i64>,
    /// Messages sent in a day; none: unknown.
    pub max_send_per_day: Option<i64>,
    /// Addresses that the account can send as.
    pub aliases: Vec<Alias>,
}
