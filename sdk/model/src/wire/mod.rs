//! The types at the connector boundary: the bodies of `fetch`, `mutate`, `changes` and `check`, the same for all surfaces here, per
//! surface in the files beside. Additive only: unknown fields are ignored, new ones are optional.

mod apart;
pub mod calendar;
pub mod contacts;
pub mod email;
mod source;
pub mod tasks;
mod text;
pub mod watch;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Instant;
pub use crate::wire::source::{Item, ItemError, Source, SourceName, Warning};
pub use crate::wire::text::JsonText;

/// Answer of `changes` and of every `*.list`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Sources {
    /// Each element is read by itself: one that is no `Source` is listed with an error, under its own id.
    // Contract silent: what becomes of a source without an id. It cannot be asked for nor told from others like it: it is here without
    // one, and the host shows all such sources of a collection as one error, as a fault of the connector.
    #[serde(deserialize_with = "apart::sources")]
    pub sources: Vec<Source>,
    /// True: the pages since the cursor-less call name all sources there are: the host deletes the others once the last
    /// page was read. False: only differences.
    pub enumeration: bool,
    /// In an enumeration from new to old: all items of this time and later have been reported by now. Mail alone.
    pub covered_since: Option<Instant>,
    /// Sources whose content is still to be read, where the request was `namesFirst`: the host keeps these names, reads what they
    /// stand for with `*.batchGet`, and only then asks for the next page, which is there (`more`), at this answer's cursor. Of an
    /// enumeration they count as named.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "apart::names")]
    pub named: Vec<SourceName>,
}

/// Body of a `changes` call, and of a `*.list` inside a collection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ChangesRequest {
    /// External id of the collection (calendar, address book, task list, mailbox); none where the surface has no collections.
    pub collection: Option<String>,
    /// The collection's zone, for dates without one.
    pub time_zone: Option<String>,
    /// At most about this many sources in one answer; 0: the connector's choice.
    pub limit: u32,
    /// Only name the sources (`externalId`, `etag`, `deleted`) and read none of their content. The host requests it for the
    /// page that crashed the connector, to read its sources one by one and find the faulty one. A connector that cannot
    /// ignores it, and such a source blocks its collection.
    pub names_only: bool,
    /// Allows an answer that names all sources of the listing (`Sources.named`), however many, where there is more than a page: one
    /// listing instead of one per page, for a provider that cannot go on inside a listing. A connector that can ignores it.
    pub names_first: bool,
}

/// Sources of one collection, to be read in one call; body of `*.batchGet`. The answer has for each its items, an error, or
/// `deleted`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SourcesGet {
    /// External id of the collection.
    pub collection: String,
    /// External ids of the sources.
    pub sources: Vec<String>,
    /// The collection's zone, for dates without one.
    pub time_zone: Option<String>,
}

/// One source of a collection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SourceRef {
    /// External id of the collection.
    pub collection: String,
    /// External id of the source.
    pub source: String,
    /// The collection's zone, for dates without one.
    pub time_zone: Option<String>,
}

/// A collection (calendar, address book, task list) to make or to change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct CollectionWrite<T: Default> {
    /// External id of its source; none on create.
    pub source: Option<String>,
    /// The whole collection as it shall be.
    pub body: T,
    /// Names (camelCase) of the fields that the caller changed; all given ones on create.
    pub changed: Vec<String>,
    /// Provider etag that the change is based on; a mismatch is failure "conflict".
    pub if_match: Option<String>,
}

/// A collection to delete, with everything in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct CollectionDelete {
    /// External id of its source.
    pub source: String,
    /// Provider etag that the change is based on; a mismatch is failure "conflict".
    pub if_match: Option<String>,
    /// Delete the collection even if it is not empty. The host has checked; a provider that can refuse checks again.
    pub force: bool,
}

/// An item of a collection (contact, group, task) to make or to change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ItemWrite<T: Default> {
    /// External id of the collection.
    pub collection: String,
    /// The collection's zone, for dates without one.
    pub time_zone: Option<String>,
    /// External id of the source; none on create.
    pub source: Option<String>,
    /// The whole item as it shall be; other items in it are named as `Item.uid` names them.
    pub body: T,
    /// Names (camelCase) of the fields that the caller changed; all given ones on create. Fields that are not named keep the
    /// provider's bytes.
    pub changed: Vec<String>,
    /// Provider etag that the change is based on; a mismatch is failure "conflict".
    pub if_match: Option<String>,
    /// Refuses the write (failure "unsupported", the field's name as `detail.field`) before anything is written, if the provider cannot
    /// keep a field. Without it the rest is written, with a warning `field_not_supported`.
    pub strict: bool,
}

/// A source to delete.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ItemDelete {
    /// External id of the collection.
    pub collection: String,
    /// External id of the source.
    pub source: String,
    /// Provider etag that the change is based on; a mismatch is failure "conflict".
    pub if_match: Option<String>,
}

/// Answer of every `mutate`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Mutated {
    /// The changed sources at the provider, in their new state.
    pub sources: Vec<Source>,
    /// External id of the item that the call was about; none after a delete.
    pub item: Option<String>,
    /// The provider's id of the part (step, link) of that item that the call was about.
    pub part: Option<String>,
    /// Warnings of a call that succeeded.
    pub warnings: Vec<Warning>,
}

/// Answer of `lifecycle.check`: the account that the credentials open.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Account {
    /// The provider's id of the account, stable: two connections with the same one are the same account.
    pub external_account_id: String,
    /// The account's email address.
    pub email: Option<String>,
    /// Other addresses that are the account.
    pub aliases: Vec<String>,
    /// The account's name.
    pub display_name: Option<String>,
    /// IANA name of the time zone.
    pub time_zone: Option<String>,
    /// Surfaces that this account has: "email", "calendar", "contacts", "tasks".
    pub surfaces: Vec<String>,
    /// The granted scopes in the provider's own names, where it returns them.
    pub provider_scopes: Vec<String>,
    /// The settings that the connector wants back with every call (found home sets, principal URL); no secrets, at most 64 KiB. Settings
    /// that the manifest declares are the user's: the host ignores them here.
    pub settings: serde_json::Map<String, Value>,
    /// The provider's servers of the account beside those that the user gave: origins `https://host[:port]`, at most 16 and all that
    /// there are now. The host takes those that belong to a given server: in the same registrable domain (public suffix list), on the
    /// same host, or named by the manifest (`related_hosts`). It sends credentials there from then on. Any other fails the check. Where
    /// some are new to it, the host runs `check` again, with all of them as the setting `discoveredOrigins`: so a connector that cannot
    /// go on without one answers with no more than this field.
    pub discovered_origins: Vec<String>,
}

/// Body that goes with every call: the connector's view of the connection. The host puts it under `connection`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Connection {
    /// The user's settings (`serverUrl`) merged with those that `check` found. `discoveredOrigins`, a list of texts, are the origins that
    /// `check` found and the host accepted.
    pub settings: serde_json::Map<String, Value>,
    /// The account's addresses, lower case: "self" among the people of an event.
    pub addresses: Vec<String>,
    /// The login name, where the connection has one. Never the password.
    pub username: Option<String>,
}

/// The envelope inside `request.body`: `{ "connection": …, "args": … }`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Call<A: Default> {
    /// The connector's view of the connection.
    pub connection: Connection,
    /// The operation's arguments.
    pub args: A,
}
