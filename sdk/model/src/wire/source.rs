//! A source of a provider and the items in it, as they cross the connector boundary.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Instant;
use crate::wire::text::JsonText;

/// One record of the provider that changes as a whole and has one provider etag: a CalDAV resource, a Google event, a card. It contains one
/// or more items: a CalDAV resource holds the series and its exceptions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Source {
    /// The provider's id of the source (an href, an event id), as stable as the provider allows.
    pub external_id: String,
    /// The provider's version of the source, passed back as `ifMatch`; null if the provider has none.
    pub etag: Option<String>,
    /// Whether the source was deleted, with all its items; `items` is empty then.
    pub deleted: bool,
    /// All items of the source now. The host deletes stored items of this source that are not listed here.
    pub items: Vec<Item>,
    /// The reason why the source could not be read; null if it was read. Such a source is left out, shown in the sync state, and never
    /// stops a sync.
    pub error: Option<ItemError>,
    /// The previous external id of the source, if it was moved or stored again; else null. Its items keep their ids.
    pub previous_id: Option<String>,
    /// The time of the last change by the provider's clock, which never goes back; null if it is unknown. A page of changes with an older
    /// version than the stored one does not replace the stored one: the host reads the source by itself. Not for mail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Instant>,
}

/// The name and version of a source, without its items.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SourceName {
    /// The external id of the source.
    pub external_id: String,
    /// The provider's version of the source; null if it is unknown. The host does not read a version again that it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// Whether the source was deleted: there is nothing to read then.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
}

/// The reason why a source could not be converted to items.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ItemError {
    /// The connector's own code, shown in the sync state.
    pub code: String,
    /// A sentence for people, in English.
    pub message: String,
}

/// One normalized resource inside a source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Item {
    /// The provider's id of the item, unique within the collection and the kind; the source's own id for the main item.
    pub external_id: String,
    /// The resource type, such as `contact_group`, if an operation reports several; null: the type that the operation is named after.
    pub kind: Option<String>,
    /// The name by which other items of the collection refer to this item: a vCard's or a task's UID; null: its `externalId`. A body that
    /// names other items (members of a group, the parent of a task) uses this name, and the host resolves it to an id.
    pub uid: Option<String>,
    /// For an exception of a series, the `externalId` of the series' item, in this source or in another one of the collection; else null.
    pub series_external_id: Option<String>,
    /// The normalized resource: an event, a calendar, a contact and so on.
    pub body: JsonText,
    /// The provider's fields that the model has no field for, in the provider's own form; null if there are none.
    pub provider_data: Option<Value>,
    /// Warnings for readers of the item: the data of the provider that `body` cannot express. They are shown until the item is read without
    /// them; a new or another warning is a change of the item. At most 64 KiB of JSON. Not for mail.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// Whether `body` holds only some fields of a known item; the other fields stay as they are. Mail alone.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// The part that stays the same when the provider gives the item another id: an immutable id, else Message-ID, date and size; null if
    /// there is none. An item that appears under a new id while one with the same fingerprint disappears is the same item. Mail alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// Data that the connector wants back when the item is read again, such as the parts that are its text; null if it needs none. Keep it
    /// small. The API does not show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<Value>,
}

/// A warning of a call that succeeded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Warning {
    /// The stable code of the warning, for programs.
    pub code: String,
    /// A sentence for people, in English.
    pub message: String,
    /// The field or instance that the warning is about; null: the whole resource.
    pub target: Option<String>,
}
