//! Sync scopes, the units that are kept in step: the collections of an account, or the contents of one collection.

use base::error::Result;
use serde::Deserialize;
use storage::connections::Connection;
use storage::items::Item;

use crate::app::freshness::scope_name;
use crate::app::resource_kind::ResourceKind;

/// The fields of a collection's body that every read needs, whatever its kind.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
pub struct CollectionHead {
    pub time_zone: Option<String>,
    pub read_only: bool,
    /// The role of a task list.
    pub role: Option<String>,
}

/// Returns the scope of a collection's contents.
pub fn scope(collection: &Item) -> Result<SyncScope> {
    let body: CollectionHead = serde_json::from_str(&collection.body)?;
    Ok(SyncScope {
        kind: ResourceKind::from_item(collection)?.contents(),
        scope_id: collection.id.clone(),
        collection: Some(collection.external_id.clone()),
        time_zone: body.time_zone,
    })
}

/// A unit that is kept in step: the list of calendars of an account, or the events of one calendar.
#[derive(Clone, Debug)]
pub struct SyncScope {
    /// The kind of its records; of several kinds, the one that they are named after.
    pub kind: ResourceKind,
    /// The collection's canonical id; empty for records directly in the connection.
    pub scope_id: String,
    /// The collection's external id.
    pub collection: Option<String>,
    /// The collection's zone.
    pub time_zone: Option<String>,
}

impl SyncScope {
    /// Returns the scope of the account's collections of a kind, such as its calendars.
    pub fn collections(kind: ResourceKind) -> Self {
        SyncScope { kind, scope_id: String::new(), collection: None, time_zone: None }
    }

    /// Returns the scope of a mailbox: its folders and labels, and the messages in them.
    pub fn mail() -> Self {
        SyncScope::collections(ResourceKind::EmailMessage)
    }

    pub fn surface(&self) -> &'static str {
        self.kind.surface().as_str()
    }

    /// Whether clients follow it with all of its collections: contacts are one feed for all books of a connection.
    pub fn is_whole(&self) -> bool {
        self.kind == ResourceKind::ContactBook
    }

    /// Returns the name of the lock that pulls of this scope share.
    pub fn lock_name(&self, connection: &Connection) -> String {
        scope_name(&connection.id, self.surface(), &self.scope_id)
    }
}
