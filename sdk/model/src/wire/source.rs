//! A source of a provider and the items in it, as they cross the connector boundary.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Instant;
use crate::wire::text::JsonText;

/// One thing of the provider that changes as a whole and has one provider etag: a CalDAV resource, a Google event, a card.
/// It holds one or more of our items: a CalDAV resource holds the series and its exceptions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Source {
    /// The provider's id of it (an href, an event id); stable as far as the provider allows.
    pub external_id: String,
    /// The provider's version of it, passed back as `ifMatch`.
    pub etag: Option<String>,
    /// It is gone, and so are all its items; `items` is empty.
    pub deleted: bool,
    /// Everything that it holds now. What the host stored of this source earlier and is not listed here is gone.
    pub items: Vec<Item>,
    /// It is there but could not be read: kept out, shown on the sync state, never a reason to stop.
    pub error: Option<ItemError>,
    /// What the provider called it until now: it was moved or stored anew. Its items keep their ids.
    pub previous_id: Option<String>,
    /// When the provider last changed it, by the provider's clock, which never goes back. A page of changes that tells a version
    /// from before the stored one does not replace that one: the host reads the source by itself. Not of mail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Instant>,
}

/// A source by its name and version, without what it holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SourceName {
    /// As `Source.externalId`.
    pub external_id: String,
    /// As `Source.etag`; where the host holds this version, it need not read it again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// It is gone; there is nothing to read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
}

/// Why a source could not be turned into items.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ItemError {
    pub code: String,
    pub message: String,
}

/// One of our resources inside a source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Item {
    /// Unique within the collection and the kind. The source's own id for the main item.
    pub external_id: String,
    /// Which resource it is (`contact_group`), where an operation tells of several; none: the one that it is named after.
    pub kind: Option<String>,
    /// What other items of the collection call it: a vCard's or a task's UID. None: its `externalId`. Where a body names
    /// other items (members of a group, the parent of a task), it names them so; the host finds out whose ids they are.
    pub uid: Option<String>,
    /// Exceptions of a series: the `externalId` of the series' item, in this source or in another one of the collection.
    pub series_external_id: Option<String>,
    /// The normalized resource: `calendar::Event`, `calendar::Calendar`, ...
    pub body: JsonText,
    /// What the model has no field for, as the provider has it; null where there is nothing to add.
    pub provider_data: Option<Value>,
    /// What whoever reads the item should know: what the provider has of it and `body` cannot say. Shown with it until it is read
    /// without them; a new or another warning is a change of the item. Few, and in few words: not of mail, and 64 KiB of JSON at most.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// `body` holds only some fields of a known item; the others stay as they are. Mail alone.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// What stays the same when the provider gives it another id: an immutable id, else Message-ID, date and size. An item that
    /// comes under a new id while one with this fingerprint goes is the same item. Mail alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// What the connector wants back when the item is read again (which parts are its text). Small; not shown to anybody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<Value>,
}

/// Something that the caller should know, though the call succeeded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Warning {
    pub code: String,
    pub message: String,
    /// What it is about: a field, an instance.
    pub target: Option<String>,
}
