//! Folder and Label. Where a provider has labels alone, its system labels are folders with a role and the user's are labels.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::resource::{Body, Nothing};

/// A mailbox folder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Folder {
    /// The name of the folder.
    pub name: String,
    /// Names from the root down, this one last.
    pub path: Vec<String>,
    /// The id of the folder that it is in; null at the root.
    pub parent_id: Option<String>,
    /// The folder's purpose; at most one folder of a mailbox has each role.
    pub role: Option<FolderRole>,
    /// Messages in the folder; null if unknown.
    pub total_count: Option<i64>,
    /// Unread messages in the folder; null if unknown.
    pub unread_count: Option<i64>,
    /// Position among its siblings.
    pub sort_order: i64,
    /// Whether the user subscribed to the folder (IMAP).
    pub subscribed: bool,
    /// Whether the folder can hold messages.
    pub selectable: bool,
    /// The account's rights in the folder.
    pub rights: FolderRights,
    /// The provider's own: it cannot be renamed or deleted.
    pub system: bool,
}

impl Body for Folder {
    const NAME: &'static str = "Folder";
    type Extra = Nothing;
    type Options = Nothing;
}

/// Special uses: RFC 6154, RFC 8457 and the IANA registry of mailbox name attributes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum FolderRole {
    /// Incoming mail.
    #[default]
    Inbox,
    /// Archived mail.
    Archive,
    /// Drafts.
    Drafts,
    /// Sent mail.
    Sent,
    /// Deleted mail.
    Trash,
    /// Spam.
    Junk,
    /// All mail.
    All,
    /// Mail that is taken to be important.
    Important,
    /// Flagged mail.
    Flagged,
    /// Mail that waits to be sent.
    Outbox,
}

/// The account's rights in a folder (RFC 4314, RFC 8621).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct FolderRights {
    /// Whether messages can be read.
    pub read: bool,
    /// Whether messages can be added.
    pub add: bool,
    /// Whether messages can be removed.
    pub remove: bool,
    /// Whether flags and keywords can be changed.
    pub set_flags: bool,
    /// Whether the folder can be renamed.
    pub rename: bool,
    /// Whether the folder can be deleted.
    pub delete: bool,
}

/// A label: a message can have any number. Empty lists where the provider has none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Label {
    /// The name.
    pub name: String,
    /// The colors.
    pub color: Option<LabelColor>,
    /// The provider's own: it cannot be renamed or deleted.
    pub system: bool,
    /// Messages with the label; null if unknown.
    pub total_count: Option<i64>,
    /// Unread messages with the label; null if unknown.
    pub unread_count: Option<i64>,
    /// Whether the provider's own clients show the label.
    pub visibility: LabelVisibility,
}

impl Body for Label {
    const NAME: &'static str = "Label";
    type Extra = Nothing;
    type Options = Nothing;
}

/// Both `#rrggbb`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct LabelColor {
    /// The background.
    pub background: Option<String>,
    /// The text.
    pub text: Option<String>,
}

/// Whether the provider's own clients show a label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum LabelVisibility {
    /// Shown.
    #[default]
    Show,
    /// Hidden.
    Hide,
}
