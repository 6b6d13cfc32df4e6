//! The envelope that the API puts around a body (`calendar::Event`, `contacts::Contact`, ...): the id and the other fields that are ours
//! and not the provider's. `Resource` is the shape of answers, `New` that of creates, `Patch` that of merge patches.

use std::collections::BTreeMap;
use std::marker::PhantomData;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Instant;
use crate::wire::Warning;

#[cfg(feature = "schema")]
mod schema;

/// The application's own notes on a resource: at most 50 keys of up to 40 characters, values up to 500. They are never sent to a provider.
pub type Metadata = BTreeMap<String, String>;

/// A type with a JSON schema, in a build with the feature `schema`.
#[cfg(feature = "schema")]
pub use schemars::JsonSchema as SchemaType;

/// A type with a JSON schema in a build with the feature `schema`: this build has none, so every type is one.
#[cfg(not(feature = "schema"))]
pub trait SchemaType {}

#[cfg(not(feature = "schema"))]
impl<T> SchemaType for T {}

/// A body that the API stores and answers as a resource.
pub trait Body: SchemaType {
    /// Name of the resource in the API's description; `New…` and `…Patch` are made of it.
    const NAME: &'static str;
    /// Fields (camelCase) that a create must have.
    const REQUIRED: &'static [&'static str] = &[];
    /// Fields (camelCase) that the caller cannot set: derived, or decided by the provider.
    const READ_ONLY: &'static [&'static str] = &[];
    /// Fields (camelCase) that the caller can set on a create and not change afterwards.
    const CREATE_ONLY: &'static [&'static str] = &[];
    /// Whether it belongs to a connection, which a create can name.
    const IN_CONNECTION: bool = true;
    /// Fields that only this resource has beside the common ones.
    type Extra: SchemaType;
    /// Fields that a create or a patch may have and that are not kept.
    type Options: SchemaType;
}

/// The extra fields of bodies that have none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Nothing {}

/// A stored resource: the body with the common fields.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Resource<T: Body + Default>
where
    T::Extra: Default,
{
    /// The id of the resource: opaque, at most 64 characters of `[A-Za-z0-9_]`, never reused, the same wherever the provider moves the
    /// resource.
    pub id: String,
    /// The connection that the resource belongs to; null for a resource that the service itself owns.
    pub connection_id: Option<String>,
    /// The provider's id of the resource, for reconciliation; null if it has none.
    pub external_id: Option<String>,
    /// The version of the resource, with its quotes, as in the `ETag` header. It changes with every visible change and no other.
    pub etag: String,
    /// The time at which the service first stored the resource.
    pub created_at: Instant,
    /// The time of the last visible change.
    pub updated_at: Instant,
    /// The application's own notes on the resource, set by a create or a patch. They are never sent to a provider.
    pub metadata: Metadata,
    /// The fields that only this kind of resource has beside the common ones.
    #[serde(flatten)]
    pub extra: T::Extra,
    /// The resource itself.
    #[serde(flatten)]
    pub body: T,
    /// Warnings of a call that succeeded. On a read they also say why a series cannot be expanded, and which data of the provider the model
    /// cannot express.
    pub warnings: Vec<Warning>,
    /// The provider's fields that the model has no field for, in the provider's own form; only with `include=providerData`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_data: Option<Value>,
}

/// The answer to a write of a resource without common fields.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(rename = "Written{T}"))]
pub struct Written<T: Default> {
    /// The resource itself.
    #[serde(flatten)]
    pub body: T,
    /// Warnings of a call that succeeded: unknown fields of the request.
    pub warnings: Vec<Warning>,
}

/// Body of a create.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct New<T: Body + Default>
where
    T::Options: Default,
{
    /// The connection to create the resource in.
    pub connection_id: Option<String>,
    /// Your own notes on the resource, which are never sent to a provider.
    pub metadata: Metadata,
    /// Options of the create.
    #[serde(flatten)]
    pub options: T::Options,
    /// The resource itself.
    #[serde(flatten)]
    pub body: T,
}

/// Shape of a JSON merge patch (RFC 7396): absent keeps, `null` clears, arrays are replaced whole. Only a schema: a patch is
/// applied to JSON, because a struct cannot tell absent from null.
#[derive(Clone, Copy, Debug, Default)]
pub struct Patch<T>(PhantomData<T>);
