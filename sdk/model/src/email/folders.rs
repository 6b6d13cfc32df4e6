//! Folder and Label. Where a provider has labels alone, its system labels are folders with a role and the user's are labels.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::resource::{Body, Nothing};

/// A folder of a mailbox.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Folder {
    /// The name of the folder.
    pub name: String,
    /// The names of the folders from the root of the mailbox down to this one, which is last.
    pub path: Vec<String>,
    /// The id of the parent folder; null at the root.
    pub parent_id: Option<String>,
    /// The purpose of the folder; null if it has none. At most one folder of a mailbox has each role.
    pub role: Option<FolderRole>,
    /// The number of messages in the folder, as the provider counts them; null if unknown.
    pub total_count: Option<i64>,
    /// The number of unread messages in the folder, as the provider counts them; null if unknown.
    pub unread_count: Option<i64>,
    /// The position among the folders with the same parent, lowest first; equal positions are sorted by name.
    pub sort_order: i64,
    /// Whether the account is subscribed to the folder (IMAP). Mail programs may hide the others.
    pub subscribed: bool,
    /// Whether the folder can hold messages; false for one that only has other folders in it.
    pub selectable: bool,
    /// The rights of the account in the folder.
    pub rights: FolderRights,
    /// Whether the folder belongs to the provider, and can be neither renamed nor deleted.
    pub system: bool,
}

impl Body for Folder {
    const NAME: &'static str = "Folder";
    type Extra = Nothing;
    type Options = Nothing;
}

/// The purpose of a folder (special use: RFC 6154, RFC 8457, RFC 8621).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum FolderRole {
    /// The folder of incoming mail.
    #[default]
    Inbox,
    /// The folder of archived mail.
    Archive,
    /// The folder of drafts.
    Drafts,
    /// The folder of sent mail.
    Sent,
    /// The folder of deleted mail.
    Trash,
    /// The folder of spam.
    Junk,
    /// A folder that shows all mail.
    All,
    /// A folder that shows mail that the provider takes to be important.
    Important,
    /// A folder that shows starred mail.
    Flagged,
    /// The folder of mail that waits to be sent.
    Outbox,
}

/// The rights of the account in a folder (RFC 4314, RFC 8621).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct FolderRights {
    /// Whether messages in the folder can be read.
    pub read: bool,
    /// Whether messages can be added to the folder.
    pub add: bool,
    /// Whether messages can be removed from the folder.
    pub remove: bool,
    /// Whether flags and keywords of messages in the folder can be changed.
    pub set_flags: bool,
    /// Whether the folder can be renamed.
    pub rename: bool,
    /// Whether the folder can be deleted.
    pub delete: bool,
}

/// A label of messages. A message can have any number of labels. Providers without labels have none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Label {
    /// The name of the label. Nested labels have a path, such as `Clients/Acme`.
    pub name: String,
    /// The colors that the provider's own programs show the label in; null if it has none.
    pub color: Option<LabelColor>,
    /// Whether the label belongs to the provider, and can be neither renamed nor deleted.
    pub system: bool,
    /// The number of messages with the label; null if unknown.
    pub total_count: Option<i64>,
    /// The number of unread messages with the label; null if unknown.
    pub unread_count: Option<i64>,
    /// The visibility of the label in the provider's own programs.
    pub visibility: LabelVisibility,
}

impl Body for Label {
    const NAME: &'static str = "Label";
    type Extra = Nothing;
    type Options = Nothing;
}

/// The colors of a label, each in the form `#rrggbb`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct LabelColor {
    /// The background color, such as `#16a766`; null for the provider's default.
    pub background: Option<String>,
    /// The text color, such as `#ffffff`; null for the provider's default.
    pub text: Option<String>,
}

/// The visibility of a label in the provider's own programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum LabelVisibility {
    /// The label is shown in the list of labels.
    #[default]
    Show,
    /// The label is hidden in the list of labels.
    Hide,
}
