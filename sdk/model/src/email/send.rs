//! The bodies that callers write: messages to send or to import, drafts, changes of a message.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Instant;
#[cfg(feature = "schema")]
use crate::bounds;
use crate::email::draft::ReplyMode;
#[cfg(feature = "schema")]
use crate::email::schema::{DraftAddress, EmailAddressInput, EmailHeaderInput};
use crate::email::{EmailAddress, EmailHeader, Importance, TrackingSettings};
#[cfg(feature = "schema")]
use crate::formats;
use crate::resource::Metadata;

/// A message to send. It needs at least one recipient in `to`, `cc` or `bcc`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["connectionId"])))]
#[cfg_attr(
    feature = "schema",
    schemars(extend("x-rules" = ["at least one recipient in to, cc and bcc", "replyMode only with replyToMessageId"]))
)]
pub struct SendMessage {
    /// The id of the connection that sends the message.
    #[cfg_attr(feature = "schema", schemars(with = "formats::Id"))]
    pub connection_id: String,
    /// The authors. If empty, the address of the account; else addresses that the account may send as.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<EmailAddressInput>", length(max = bounds::mail::MAX_FROM)))]
    pub from: Vec<EmailAddress>,
    /// The primary recipients. `to`, `cc` and `bcc` may have 500 recipients together.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<EmailAddressInput>", length(max = bounds::mail::MAX_RECIPIENTS)))]
    pub to: Vec<EmailAddress>,
    /// The recipients of copies.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<EmailAddressInput>", length(max = bounds::mail::MAX_RECIPIENTS)))]
    pub cc: Vec<EmailAddress>,
    /// The recipients of blind copies, which the other recipients do not see.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<EmailAddressInput>", length(max = bounds::mail::MAX_RECIPIENTS)))]
    pub bcc: Vec<EmailAddress>,
    /// The addresses that replies go to. If empty, replies go to `from`.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<EmailAddressInput>", length(max = bounds::mail::MAX_REPLY_TO)))]
    pub reply_to: Vec<EmailAddress>,
    /// The subject. If null, a reply or forward gets the subject of the original with `Re:` or `Fwd:`.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::OneLine>", length(max = bounds::mail::MAX_SUBJECT)))]
    pub subject: Option<String>,
    /// The text of the message.
    pub body: NewBody,
    /// The files to attach, at most 25 MiB together, decoded.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::mail::MAX_FILES)))]
    pub attachments: Vec<NewAttachment>,
    /// The id of the message that is answered or forwarded; null for a new message. The In-Reply-To and References headers are made from
    /// it.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Id>"))]
    pub reply_to_message_id: Option<String>,
    /// The kind of answer; null means a reply. It needs `replyToMessageId`.
    pub reply_mode: Option<ReplyMode>,
    /// Further header fields, in this order: only `X-*`, `List-*` and `Auto-Submitted`.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<EmailHeaderInput>", length(max = bounds::mail::MAX_HEADERS)))]
    pub headers: Vec<EmailHeader>,
    /// The time at which the message is sent, at most 90 days ahead and not in the past; null to send it at once.
    pub send_at: Option<Instant>,
    /// The tracking options; null if the message is not to be tracked.
    pub tracking: Option<TrackingSettings>,
    /// Whether a copy of the message is kept in the sent folder; true if absent.
    pub save_to_sent: bool,
    /// Your own notes on the message; they are never sent to a provider.
    #[cfg_attr(feature = "schema", schemars(with = "formats::Notes"))]
    pub metadata: Metadata,
}

impl Default for SendMessage {
    fn default() -> Self {
        SendMessage {
            connection_id: String::new(),
            from: Vec::new(),
            to: Vec::new(),
            cc: Vec::new(),
            bcc: Vec::new(),
            reply_to: Vec::new(),
            subject: None,
            body: NewBody::default(),
            attachments: Vec::new(),
            reply_to_message_id: None,
            reply_mode: None,
            headers: Vec::new(),
            send_at: None,
            tracking: None,
            save_to_sent: true,
            metadata: Metadata::new(),
        }
    }
}

/// The text to write: plain text, HTML, or both as alternatives.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct NewBody {
    /// The plain text; null for none.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::mail::MAX_REQUEST)))]
    pub text: Option<String>,
    /// The HTML; null for none.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::mail::MAX_REQUEST)))]
    pub html: Option<String>,
}

/// A file to attach: the bytes in `contentBase64`, or an attachment of a message in `attachmentRef`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("x-rules" = ["exactly one of contentBase64 and attachmentRef"])))]
pub struct NewAttachment {
    /// The name of the file, at most 255 bytes, without slashes. Null for none, or for the name of the referenced attachment.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::FileName>"))]
    pub filename: Option<String>,
    /// The media type, such as `application/pdf`. Null for `application/octet-stream`, or for the type of the referenced attachment.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::MediaType>"))]
    pub content_type: Option<String>,
    /// The bytes of the file in base64 with padding (RFC 4648 section 4); null if `attachmentRef` is given.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Base64>", length(max = bounds::mail::MAX_FILE_BYTES.div_ceil(3) * 4)))]
    pub content_base64: Option<String>,
    /// The attachment of a message to attach; null if `contentBase64` is given.
    pub attachment_ref: Option<AttachmentRef>,
    /// The id of an upload. The service takes no uploads yet: leave this null.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Id>"))]
    pub upload_id: Option<String>,
    /// Whether the file is shown within the HTML text rather than listed as an attachment.
    pub inline: bool,
    /// The Content-ID without angle brackets, which `cid:` links in the HTML refer to; null for none.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::ContentId>"))]
    pub content_id: Option<String>,
}

/// A file of a draft: a new one, or one that the draft has.
#[cfg(feature = "schema")]
#[derive(Clone, Debug, JsonSchema)]
#[schemars(extend("x-rules" = ["exactly one of id, contentBase64 and attachmentRef"]))]
pub struct DraftAttachment {
    /// The id of a file that the draft has, to keep that file when the draft is changed; null for a new file.
    pub id: Option<formats::Id>,
    /// The new file.
    #[schemars(flatten)]
    pub file: NewAttachment,
}

/// An attachment of a message in a mailbox.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["messageId", "attachmentId"])))]
pub struct AttachmentRef {
    /// The id of the message.
    #[cfg_attr(feature = "schema", schemars(with = "formats::Id"))]
    pub message_id: String,
    /// The id of the attachment in the message.
    #[cfg_attr(feature = "schema", schemars(with = "formats::Id"))]
    pub attachment_id: String,
}

/// A message to put into a folder without sending it: the whole message in `rawBase64`, or its parts in the other fields.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["connectionId"])))]
pub struct NewMessage {
    /// The id of the connection whose mailbox gets the message.
    #[cfg_attr(feature = "schema", schemars(with = "formats::Id"))]
    pub connection_id: String,
    /// The whole message (RFC 5322) in base64; null if the message is made from the other fields. The request may have 40 MiB, which is a
    /// message of about 30 MiB. With it, only `folderIds`, `labelIds`, `unread`, `starred`, `keywords`, `receivedAt` and `metadata` are
    /// used of the other fields.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Base64>", length(max = bounds::mail::MAX_REQUEST)))]
    pub raw_base64: Option<String>,
    /// The authors. If empty, the address of the account.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<EmailAddressInput>", length(max = bounds::mail::MAX_FROM)))]
    pub from: Vec<EmailAddress>,
    /// The primary recipients. `to`, `cc` and `bcc` may have 500 recipients together.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<EmailAddressInput>", length(max = bounds::mail::MAX_RECIPIENTS)))]
    pub to: Vec<EmailAddress>,
    /// The recipients of copies.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<EmailAddressInput>", length(max = bounds::mail::MAX_RECIPIENTS)))]
    pub cc: Vec<EmailAddress>,
    /// The recipients of blind copies.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<EmailAddressInput>", length(max = bounds::mail::MAX_RECIPIENTS)))]
    pub bcc: Vec<EmailAddress>,
    /// The addresses that replies go to.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<EmailAddressInput>", length(max = bounds::mail::MAX_REPLY_TO)))]
    pub reply_to: Vec<EmailAddress>,
    /// The subject; null for none.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::OneLine>", length(max = bounds::mail::MAX_SUBJECT)))]
    pub subject: Option<String>,
    /// The text of the message.
    pub body: NewBody,
    /// The files to attach, at most 25 MiB together, decoded.
    #[cfg_attr(feature = "schema", schemars(length(max = bounds::mail::MAX_FILES)))]
    pub attachments: Vec<NewAttachment>,
    /// Further header fields, in this order: only `X-*`, `List-*` and `Auto-Submitted`.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<EmailHeaderInput>", length(max = bounds::mail::MAX_HEADERS)))]
    pub headers: Vec<EmailHeader>,
    /// The time of receipt that the mailbox records for the message; null for now.
    pub received_at: Option<Instant>,
    /// The time of sending (Date header), for a message that is made from fields; null for now.
    pub sent_at: Option<Instant>,
    /// The ids of the folders to put the message into. If empty, the inbox.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<formats::Id>", length(max = bounds::mail::MAX_KEYWORDS)))]
    pub folder_ids: Vec<String>,
    /// The ids of the labels to give the message.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<formats::Id>", length(max = bounds::mail::MAX_KEYWORDS)))]
    pub label_ids: Vec<String>,
    /// Whether the message is marked as unread.
    pub unread: bool,
    /// Whether the message is starred (flagged).
    pub starred: bool,
    /// The IMAP and JMAP keywords to give the message, such as `$junk`. They are stored in lower case.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<formats::Keyword>", length(max = bounds::mail::MAX_KEYWORDS)))]
    pub keywords: Vec<String>,
    /// Your own notes on the message; they are never sent to a provider.
    #[cfg_attr(feature = "schema", schemars(with = "formats::Notes"))]
    pub metadata: Metadata,
}

/// Changes of a message. An absent field keeps its value; `null` sets the default: `false`, no labels, normal importance, no notes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MessagePatch {
    /// Whether the message is marked as unread.
    pub unread: Option<bool>,
    /// Whether the message is starred (flagged).
    pub starred: Option<bool>,
    /// Whether the message is marked as answered.
    pub answered: Option<bool>,
    /// The ids of all folders that the message is to be in, at least one. Another folder moves the message.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<formats::Id>", length(min = 1, max = bounds::mail::MAX_KEYWORDS)))]
    pub folder_ids: Option<Vec<String>>,
    /// The ids of all labels that the message is to have. Null or an empty list removes them all.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<formats::Id>>", length(max = bounds::mail::MAX_KEYWORDS)))]
    pub label_ids: Option<Vec<String>>,
    /// The ids of the labels to add; the others stay.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<formats::Id>>", length(max = bounds::mail::MAX_KEYWORDS)))]
    pub add_label_ids: Option<Vec<String>>,
    /// The ids of the labels to remove; the others stay.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<formats::Id>>", length(max = bounds::mail::MAX_KEYWORDS)))]
    pub remove_label_ids: Option<Vec<String>>,
    /// The keywords to add, such as `$junk`; the others stay. They are stored in lower case.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<formats::Keyword>>", length(max = bounds::mail::MAX_KEYWORDS)))]
    pub add_keywords: Option<Vec<String>>,
    /// The keywords to remove; the others stay.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<formats::Keyword>>", length(max = bounds::mail::MAX_KEYWORDS)))]
    pub remove_keywords: Option<Vec<String>>,
    /// The importance that the message is to have.
    pub importance: Option<Importance>,
    /// Your own notes on the message, which replace the present ones; they are never sent to a provider.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Notes>"))]
    pub metadata: Option<Metadata>,
    /// The version that the change is based on, instead of the header `If-Match`. An outdated one answers 409 `stale_etag`; null changes
    /// any version.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Etag>"))]
    pub etag: Option<String>,
}

/// A draft to write. Everything but the connection can be added later; `null` means the same as an absent field.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["connectionId"])))]
pub struct NewDraft {
    /// The id of the connection whose mailbox gets the draft.
    #[cfg_attr(feature = "schema", schemars(with = "formats::Id"))]
    pub connection_id: String,
    /// The draft's content.
    #[serde(flatten)]
    pub content: DraftContent,
}

/// Changes of a draft. An absent field keeps its value, `null` clears it, and a list replaces the present one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct DraftPatch {
    /// The version that the change is based on. An outdated one answers 409 `stale_etag`. It is required, unless the header `If-Match` is
    /// sent.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Etag>"))]
    pub etag: Option<String>,
    /// The draft's content.
    #[serde(flatten)]
    pub content: DraftContent,
}

/// Options for sending a draft.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SendDraft {
    /// The time at which the message is sent, at most 90 days ahead and not in the past; null for the `sendAt` of the draft.
    pub send_at: Option<Instant>,
    /// Whether a copy of the message is kept in the sent folder; null means true.
    pub save_to_sent: Option<bool>,
    /// The version of the draft to send, instead of the header `If-Match`. An outdated one answers 409 `stale_etag`; null sends any
    /// version.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Etag>"))]
    pub etag: Option<String>,
}

/// The fields of a draft that its author writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct DraftContent {
    /// The authors. If empty, the address of the account.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<DraftAddress>>", length(max = bounds::mail::MAX_FROM)))]
    pub from: Vec<EmailAddress>,
    /// The primary recipients. The addresses in a draft may be unfinished; they are checked when it is sent. `to`, `cc` and `bcc` may
    /// have 500 recipients together.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<DraftAddress>>", length(max = bounds::mail::MAX_RECIPIENTS)))]
    pub to: Vec<EmailAddress>,
    /// The recipients of copies.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<DraftAddress>>", length(max = bounds::mail::MAX_RECIPIENTS)))]
    pub cc: Vec<EmailAddress>,
    /// The recipients of blind copies, which the other recipients do not see.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<DraftAddress>>", length(max = bounds::mail::MAX_RECIPIENTS)))]
    pub bcc: Vec<EmailAddress>,
    /// The addresses that replies go to. If empty, replies go to `from`.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<DraftAddress>>", length(max = bounds::mail::MAX_REPLY_TO)))]
    pub reply_to: Vec<EmailAddress>,
    /// The subject. If null, a reply or forward gets the subject of the original with `Re:` or `Fwd:`.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::OneLine>", length(max = bounds::mail::MAX_SUBJECT)))]
    pub subject: Option<String>,
    /// The text of the draft.
    #[cfg_attr(feature = "schema", schemars(with = "Option<NewBody>"))]
    pub body: NewBody,
    /// The files to attach, at most 25 MiB together, decoded. In a patch, `{"id": …}` keeps a file that the draft has.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<DraftAttachment>>", length(max = bounds::mail::MAX_FILES)))]
    pub attachments: Vec<NewAttachment>,
    /// The id of the message that the draft answers or forwards; null for a new message.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Id>"))]
    pub reply_to_message_id: Option<String>,
    /// The kind of answer; null means a reply. It needs `replyToMessageId`.
    pub reply_mode: Option<ReplyMode>,
    /// Further header fields, in this order: only `X-*`, `List-*` and `Auto-Submitted`.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<EmailHeaderInput>>", length(max = bounds::mail::MAX_HEADERS)))]
    pub headers: Vec<EmailHeader>,
    /// The importance that the author gives the message.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Importance>"))]
    pub importance: Importance,
    /// The time that the message is scheduled for when the draft is sent, at most 90 days ahead and not in the past; null to send it at
    /// once.
    pub send_at: Option<Instant>,
    /// The tracking options that the message is sent with; null if it is not to be tracked.
    pub tracking: Option<TrackingSettings>,
    /// Your own notes on the draft; they are never sent to a provider.
    #[cfg_attr(feature = "schema", schemars(with = "Option<formats::Notes>"))]
    pub metadata: Metadata,
}
