//! A source of a provider and the items in it, as they cross the connector boundary.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Instant;
use crate::wire::text::JsonText;

/// One record of the provider that changes as a whole and has one provider etag: a CalDAV resource, a Google event, a card.
/// It contains one or more of our items: a CalDAV resource holds the series and its exceptions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Source {
    /// The provider's id of the source (an href, an event id); stable as far as the provider allows.
    pub external_id: String,
    /// The provider's version of the source, passed back as `ifMatch`.
    pub etag: Option<String>,
    /// The source was deleted, and so were all its items; `items` is empty.
    pub deleted: bool,
    /// All items of the source now. The host deletes stored items of this source that are not listed here.
    pub items: Vec<Item>,
    /// The source exists but could not be read: it is left out, shown in the sync state, and never stops a sync.
    pub error: Option<ItemError>,
    /// The source's previous external id: it was moved or stored again. Its items keep their ids.
    pub previous_id: Option<String>,
    /// When the provider last changed it, by the provider's clock, which never goes back. A page of changes with a version
    /// from before the stored one does not replace that one: the host reads the source by itself. Not of mail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Instant>,
}

/// A source by its name and version, without its items.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SourceName {
    /// As `Source.externalId`.
    pub external_id: String,
    /// As `Source.etag`; where the host holds this version, it need not read it again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// The source was deleted; there is nothing to read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
}

/// The reason why a source could not be converted to items.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ItemError {
    /// A code of the connector's own, shown in the sync state.
    pub code: String,
    /// A sentence for people.
    pub message: String,
}

/// One of our resources inside a source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Item {
    /// Unique within the collection and the kind. The source's own id for the main item.
    pub external_id: String,
    /// The resource type (`contact_group`), where an operation reports several; none: the one that it is named after.
    pub kind: Option<String>,
    /// The name by which other items of the collection refer to it: a vCard's or a task's UID. None: its `externalId`. Where a body names
    /// other items (members of a group, the parent of a task), it names them so; the host resolves them to ids.
    pub uid: Option<String>,
    /// Exceptions of a series: the `externalId` of the series' item, in this source or in another one of the collection.
    pub series_external_id: Option<String>,
    /// The normalized resource: `calendar::Event`, `calendar::Calendar`, ...
    pub body: JsonText,
    /// The provider's fields that the model has none for, in its own form; null where there are none.
    pub provider_data: Option<Value>,
    /// Warnings for readers of the item: what the provider has of it and `body` cannot express. Shown with it until it is read without
    /// them; a new or another warning is a change of the item. Few, and in few words: not of mail, and 64 KiB of JSON at most.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// `body` holds only some fields of a known item; the others stay as they are. Mail alone.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// The part that stays the same when the provider gives the item another id: an immutable id, else Message-ID, date and size. An item
    /// that comes under a new id while one with this fingerprint goes is the same item. Mail alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// The data that the connector wants back when the item is read again (which parts are its text). Small; not part of the API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<Value>,
}

/// A warning to the caller of a call that succeeded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Warning {
    /// A stable code: branch on this.
    pub code: String,
    /// A sentence for people.
    pub message: String,
    /// The subject: a field, an instance.
    pub target: Option<String>,
}
