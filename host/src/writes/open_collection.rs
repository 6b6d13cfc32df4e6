//! A collection that was found and may be used, with its connection.

use storage::connections::Connection;
use storage::items::Item;

use crate::app::resource_kind::ResourceKind;
use crate::local_copy::change::CopyLocation;
use crate::writes::response::place;

/// A collection that something is about to be written into.
pub struct OpenCollection {
    pub connection: Connection,
    pub collection: Item,
    /// The collection's zone, or the account's, or UTC.
    pub zone: String,
    /// What it holds.
    pub kind: ResourceKind,
}

impl OpenCollection {
    /// Where what the provider answers is written.
    pub fn place(&self) -> CopyLocation {
        place(&self.connection, self.kind, &self.collection.id)
    }
}
