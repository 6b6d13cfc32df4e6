//! Where a write goes: an account, or a collection that was found and may be used, with its account.

use storage::connections::Connection;
use storage::items::Item;

use crate::app::resource_kind::ResourceKind;
use crate::connections::write_context::WriteAccount;
use crate::local_copy::change::CopyLocation;
use crate::writes::response::place;

/// A collection that something is about to be written into.
pub struct OpenCollection {
    pub account: WriteAccount,
    pub collection: Item,
    /// The collection's zone, or the account's, or UTC.
    pub zone: String,
    /// The kind of the items that it holds.
    pub kind: ResourceKind,
}

impl OpenCollection {
    /// The inside of the collection.
    pub fn location(&self) -> WriteLocation<'_> {
        WriteLocation { connection: &self.account.connection, kind: self.kind, opened: Some(self) }
    }
}

/// An account, and the place in it that a write is about.
#[derive(Clone, Copy)]
pub struct WriteLocation<'w> {
    pub connection: &'w Connection,
    /// The kind of the records there.
    pub kind: ResourceKind,
    /// The collection that the records lie in; none where they lie directly in the account.
    pub opened: Option<&'w OpenCollection>,
}

impl<'w> WriteLocation<'w> {
    /// The records of a kind that lie directly in the account: collections, or mail.
    pub fn top(connection: &'w Connection, kind: ResourceKind) -> Self {
        WriteLocation { connection, kind, opened: None }
    }

    /// The same place in the local copy.
    pub fn copy(&self) -> CopyLocation {
        place(self.connection, self.kind, self.opened.map_or("", |opened| &opened.collection.id))
    }
}
