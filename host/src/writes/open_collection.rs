//! A collection that was found and may be used, with its connection.

use storage::connections::Connection;
use storage::items::Item;

use crate::app::resource_kind::Kind;
use crate::local_copy::change::Place;
use crate::writes::response::place;

/// A collection that something is about to be written into.
pub struct Opened {
    pub connection: Connection,
    pub collection: Item,
    /// The collection's zone, or the account's, or UTC.
    pub zone: String,
    /// What it holds.
    pub kind: Kind,
}

impl Opened {
    /// Where what the provider answers is written.
    pub fn place(&self) -> Place {
        place(&self.connection, self.kind, &self.collection.id)
    }
}
