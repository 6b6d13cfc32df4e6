//! What is kept in step as one: the collections of an account, or what one collection holds.

use base::error::Result;
use serde::Deserialize;
use storage::connections::Connection;
use storage::items::Item;

use crate::app::freshness::scope_name;
use crate::app::resource_kind::ResourceKind;

/// What is needed of a collection's body, whatever its kind, on the path of every read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
pub struct CollectionHead {
    pub time_zone: Option<String>,
    pub read_only: bool,
    /// Of task lists.
    pub role: Option<String>,
}

/// The scope of what is in a collection.
pub fn scope(collection: &Item) -> Result<SyncScope> {
    let body: CollectionHead = serde_json::from_str(&collection.body)?;
    Ok(SyncScope {
        kind: ResourceKind::of(collection)?.contents(),
        scope_id: collection.id.clone(),
        collection: Some(collection.external_id.clone()),
        time_zone: body.time_zone,
    })
}

/// What is kept in step as one: the list of calendars of an account, or the events of one calendar.
#[derive(Clone, Debug)]
pub struct SyncScope {
    /// What is there; of several kinds, the one that they are named after.
    pub kind: ResourceKind,
    /// The collection's canonical id; empty for what lives directly in the connection.
    pub scope_id: String,
    /// The collection's external id.
    pub collection: Option<String>,
    /// The collection's zone.
    pub time_zone: Option<String>,
}

impl SyncScope {
    /// The account's collections of a kind: its calendars.
    pub fn collections(kind: ResourceKind) -> Self {
        SyncScope { kind, scope_id: String::new(), collection: None, time_zone: None }
    }

    /// A mailbox: its folders and labels, and the messages in them.
    pub fn mail() -> Self {
        SyncScope::collections(ResourceKind::EmailMessage)
    }

    pub fn surface(&self) -> &'static str {
        self.kind.surface().as_str()
    }

    /// Whether clients follow it with all that is inside: contacts are one feed for all books of a connection.
    pub fn is_whole(&self) -> bool {
        self.kind == ResourceKind::ContactBook
    }

    /// The name under which pulls of this scope exclude each other.
    pub fn lock_name(&self, connection: &Connection) -> String {
        scope_name(&connection.id, self.surface(), &self.scope_id)
    }
}
