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
    pub name: String,
    /// Names from the root down, this one last.
    pub path: Vec<String>,
    pub parent_id: Option<String>,
    /// The folder's purpose; at most one folder of a mailbox has each role.
    pub role: Option<FolderRole>,
    pub total_count: Option<i64>,
    pub unread_count: Option<i64>,
    /// Position among its siblings.
    pub sort_order: i64,
    pub subscribed: bool,
    pub selectable: bool,
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
    #[default]
    Inbox,
    Archive,
    Drafts,
    Sent,
    Trash,
    Junk,
    All,
    Important,
    Flagged,
    Outbox,
}

/// The account's rights in a folder (RFC 4314, RFC 8621).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct FolderRights {
    pub read: bool,
    pub add: bool,
    pub remove: bool,
    pub set_flags: bool,
    pub rename: bool,
    pub delete: bool,
}

/// A label: a message can have any number. Empty lists where the provider has none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Label {
    pub name: String,
    pub color: Option<LabelColor>,
    /// The provider's own: it cannot be renamed or deleted.
    pub system: bool,
    pub total_count: Option<i64>,
    pub unread_count: Option<i64>,
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
    pub background: Option<String>,
    pub text: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum LabelVisibility {
    #[default]
    Show,
    Hide,
}
