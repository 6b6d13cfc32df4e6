//! The types at the connector boundary: the bodies of `fetch`, `mutate`, `changes` and `check`. This file has those of all surfaces, the
//! files beside it those of one. Changes are additive only: unknown fields are ignored, new ones are optional.

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

/// The provider's sources: answer of `changes` and of every `*.list`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Sources {
    /// The sources of this page. The host reads each element by itself: it lists one that does not fit the type with an error, under its
    /// own id.
    // Contract silent: sources without an id. Such a source can neither be requested nor distinguished from others. It is listed without an
    // id, and the host shows all of them in a collection as one error of the connector.
    #[serde(deserialize_with = "apart::sources")]
    pub sources: Vec<Source>,
    /// Whether the pages since the call without a cursor name all sources that exist. The host then deletes the others once it has read the
    /// last page. False: the pages report only differences.
    pub enumeration: bool,
    /// In an enumeration from new to old, the time from which on all items have been reported; null if nothing is known. Mail alone.
    pub covered_since: Option<Instant>,
    /// The sources whose content is still to be read, if the request had `namesFirst`: the host stores these names, reads their content
    /// with `*.batchGet`, and only then asks for the next page (`more` is true) at this answer's cursor. In an enumeration they count as
    /// named.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "apart::names")]
    pub named: Vec<SourceName>,
}

/// The arguments of `changes`, and of a `*.list` inside a collection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ChangesRequest {
    /// The external id of the collection (calendar, address book, task list, mailbox); null if the surface has no collections.
    pub collection: Option<String>,
    /// The collection's IANA time zone, for times without one; null if it is unknown.
    pub time_zone: Option<String>,
    /// The number of sources that one answer should not exceed by much; 0: the connector decides.
    pub limit: u32,
    /// Whether the connector only names the sources (`externalId`, `etag`, `deleted`) and reads none of their content. The host sets it for
    /// the page that crashed the connector, to read its sources one by one and find the faulty one. A connector that cannot do so ignores
    /// it, and such a source blocks its collection.
    pub names_only: bool,
    /// Whether the answer may name all sources of the listing (`named`), however many, if there is more than a page: one listing instead of
    /// one per page, for a provider that cannot continue inside a listing. A connector that can continue ignores it.
    pub names_first: bool,
}

/// Sources of one collection to read in one call: the arguments of `*.batchGet`. The answer has for each its items, an error, or `deleted`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SourcesGet {
    /// The external id of the collection.
    pub collection: String,
    /// The external ids of the sources.
    pub sources: Vec<String>,
    /// The collection's IANA time zone, for times without one; null if it is unknown.
    pub time_zone: Option<String>,
}

/// A source of a collection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SourceRef {
    /// The external id of the collection.
    pub collection: String,
    /// The external id of the source.
    pub source: String,
    /// The collection's IANA time zone, for times without one; null if it is unknown.
    pub time_zone: Option<String>,
}

/// A collection (calendar, address book, task list) to create or to change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct CollectionWrite<T: Default> {
    /// The external id of the collection's source; null on a create.
    pub source: Option<String>,
    /// The whole collection after the change.
    pub body: T,
    /// The camelCase names of the fields that the caller changed; on a create, all fields that it set.
    pub changed: Vec<String>,
    /// The provider's etag that the change is based on; null: any version. A mismatch is the failure `conflict`.
    pub if_match: Option<String>,
}

/// A collection to delete, with everything in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct CollectionDelete {
    /// The external id of the collection's source.
    pub source: String,
    /// The provider's etag that the change is based on; null: any version. A mismatch is the failure `conflict`.
    pub if_match: Option<String>,
    /// Whether the collection is deleted even if it is not empty. The host has checked; a provider that can refuse checks again.
    pub force: bool,
}

/// An item of a collection (contact, group, task) to create or to change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ItemWrite<T: Default> {
    /// The external id of the collection.
    pub collection: String,
    /// The collection's IANA time zone, for times without one; null if it is unknown.
    pub time_zone: Option<String>,
    /// The external id of the source; null on a create.
    pub source: Option<String>,
    /// The whole item after the change. It names other items by their `uid`.
    pub body: T,
    /// The camelCase names of the fields that the caller changed; on a create, all fields that it set. Fields that are not named keep the
    /// provider's bytes.
    pub changed: Vec<String>,
    /// The provider's etag that the change is based on; null: any version. A mismatch is the failure `conflict`.
    pub if_match: Option<String>,
    /// Whether the connector refuses the write (failure `unsupported`, with the field's name as `detail.field`) before it writes anything
    /// if the provider cannot store a field. False: the rest is written, with the warning `field_not_supported`.
    pub strict: bool,
}

/// A source to delete.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct ItemDelete {
    /// The external id of the collection.
    pub collection: String,
    /// The external id of the source.
    pub source: String,
    /// The provider's etag that the change is based on; null: any version. A mismatch is the failure `conflict`.
    pub if_match: Option<String>,
}

/// The result of a write: the answer of every `mutate`, except `messages.send`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Mutated {
    /// The changed sources at the provider, in their new state.
    pub sources: Vec<Source>,
    /// The external id of the item that the call wrote; null after a delete.
    pub item: Option<String>,
    /// The provider's id of the checklist item or link that the call wrote; null if it wrote none.
    pub part: Option<String>,
    /// Warnings of a call that succeeded.
    pub warnings: Vec<Warning>,
}

/// The account that the credentials open: the answer of `lifecycle.check`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Account {
    /// The provider's id of the account, which never changes: two connections with the same id are the same account.
    pub external_account_id: String,
    /// The account's email address; null if it has none.
    pub email: Option<String>,
    /// Other email addresses of the account.
    pub aliases: Vec<String>,
    /// The account's name; null if it is unknown.
    pub display_name: Option<String>,
    /// The account's IANA time zone; null if it is unknown.
    pub time_zone: Option<String>,
    /// The surfaces of the account: `email`, `calendar`, `contacts`, `tasks`.
    pub surfaces: Vec<String>,
    /// The granted scopes in the provider's own names; empty if the provider does not return them.
    pub provider_scopes: Vec<String>,
    /// The settings that the connector wants back with every call, such as home sets or a principal URL: no secrets, at most 64 KiB. The
    /// host ignores settings that the manifest declares: they are the user's.
    pub settings: serde_json::Map<String, Value>,
    /// The provider's servers of the account beside those that the user named: origins `https://host[:port]`, all that exist now, at most
    /// 16. The host accepts an origin in the same registrable domain (public suffix list) as a given server, on the same host, or named by
    /// the manifest (`related_hosts`), and sends credentials there from then on. Any other fails the check. If some are new, the host runs
    /// `check` again with all of them as the setting `discoveredOrigins`: a connector that needs one of them to continue answers with this
    /// field alone.
    pub discovered_origins: Vec<String>,
}

/// The connector's view of the connection, which comes with every call, under `connection`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Connection {
    /// The user's settings (`serverUrl`) together with those that `check` returned. `discoveredOrigins`, a list of texts, has the origins
    /// that `check` returned and the host accepted.
    pub settings: serde_json::Map<String, Value>,
    /// The account's email addresses in lower case: they identify the account among the people of an event.
    pub addresses: Vec<String>,
    /// The login name; null if the connection has none. It is never the password.
    pub username: Option<String>,
}

/// The envelope inside `request.body`: `{ "connection": …, "args": … }`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Call<A: Default> {
    /// The connector's view of the connection.
    pub connection: Connection,
    /// The arguments of the operation.
    pub args: A,
}
