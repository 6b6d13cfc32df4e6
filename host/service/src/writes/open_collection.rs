//! The target of a write: an account, or a usable collection with its account.

use storage::connections::Connection;
use storage::items::Item;

use crate::app::resource_kind::ResourceKind;
use crate::connections::write_context::WriteAccount;
use crate::local_copy::change::CopyLocation;
use crate::writes::response::place;

/// A collection that a write changes.
pub struct OpenCollection {
    pub account: WriteAccount,
    pub collection: Item,
    /// The collection's zone, or the account's, or UTC.
    pub zone: String,
    /// The kind of its items.
    pub kind: ResourceKind,
}

impl OpenCollection {
    /// Returns the location inside the collection.
    pub fn location(&self) -> WriteLocation<'_> {
        WriteLocation { connection: &self.account.connection, kind: self.kind, opened: Some(self) }
    }
}

/// An account, and the location in it that a write changes.
#[derive(Clone, Copy)]
pub struct WriteLocation<'w> {
    pub connection: &'w Connection,
    /// The kind of the records there.
    pub kind: ResourceKind,
    /// The collection of the records; none for records directly in the account.
    pub opened: Option<&'w OpenCollection>,
}

impl<'w> WriteLocation<'w> {
    /// Returns the location of a kind's records directly in the account: collections, or mail.
    pub fn top(connection: &'w Connection, kind: ResourceKind) -> Self {
        WriteLocation { connection, kind, opened: None }
    }

    /// Returns the same location in the local copy.
    pub fn copy(&self) -> CopyLocation {
        place(self.connection, self.kind, self.opened.map_or("", |opened| &opened.collection.id))
    }
}
