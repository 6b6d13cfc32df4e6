//! Writes the application's log: assigns numbers, ids and times in the transaction of the change.

use std::collections::{BTreeMap, BTreeSet};

use base::error::{Code, Result, refuse};
use base::ids::Kind;
use base::tenant::Tenant;
use storage::connections::Connection;
use storage::log::Entry;
use storage::usage;
use storage::{Tx, log as table};

use crate::app::App;

/// The cause of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    Provider,
    Api,
    System,
    /// The initial sync of a collection, or a sync from scratch: reported as no news.
    Backfill,
}

impl Origin {
    pub fn as_str(self) -> &'static str {
        match self {
            Origin::Provider => "provider",
            Origin::Api => "api",
            Origin::System => "system",
            Origin::Backfill => "backfill",
        }
    }
}

/// A log entry without its number.
#[derive(Clone, Debug)]
pub struct NewLogEntry {
    pub connection_id: Option<String>,
    /// All connections that the resource names, where there can be several. A key that is bound to connections sees the entry if it may use
    /// all of them.
    pub account_ids: Option<BTreeSet<String>>,
    pub entry_type: String,
    pub change_type: &'static str,
    pub resource_type: &'static str,
    pub resource_id: String,
    pub parent_id: String,
    pub changed_fields: Option<Vec<String>>,
    pub etag: Option<String>,
    pub origin: Origin,
    pub resource: Option<String>,
}

impl NewLogEntry {
    /// Returns an entry for a connection. `change`: `created`, `updated`, `reauth_required`, `recovered`, `degraded` or `revoked`.
    pub fn of_connection(c: &Connection, change: &'static str, resource: Option<String>) -> NewLogEntry {
        NewLogEntry {
            connection_id: Some(c.id.clone()),
            account_ids: None,
            entry_type: format!("connection.{change}"),
            change_type: match change {
                "created" => "created",
                "updated" => "updated",
                "revoked" => "deleted",
                _ => "state",
            },
            resource_type: "connection",
            resource_id: c.id.clone(),
            parent_id: String::new(),
            changed_fields: None,
            etag: Some(c.etag.clone()),
            origin: Origin::System,
            resource,
        }
    }
}

/// Refuses to continue after `position` unless the log still holds every later entry: it has dropped entries up to `floor`, and its last
/// number is `last`. A position above `last` belongs to another log: the database was restored from a backup.
pub fn check_position(position: i64, floor: i64, last: i64) -> Result<()> {
    let message = if position < floor {
        "events after this position are no longer kept: read the resources again, then continue from there"
    } else if position > last {
        "this position has not been reached yet: the database may have been restored; read the resources again, then continue from there"
    } else {
        return Ok(());
    };
    Err(refuse(Code::SyncResetRequired, message))
}

/// Entry types that are also counted on their own.
const COUNTED: [(&str, &str); 4] = [
    ("booking.created", usage::BOOKING_CREATED),
    ("booking.cancelled", usage::BOOKING_CANCELLED),
    ("email.message.sent", usage::EMAIL_SENT),
    ("email.message.bounced", usage::EMAIL_BOUNCED),
];

/// Appends entries, in order; returns the sequence of the first.
pub async fn append(tx: &mut Tx, app: &App, tenant: &Tenant, notes: Vec<NewLogEntry>) -> Result<i64> {
    let first = table::next_sequence(tx, tenant, as_count(notes.len())).await?;
    insert(tx, app, tenant, first, notes).await?;
    Ok(first)
}

/// Appends entries whose numbers were reserved before.
pub async fn insert(
    tx: &mut Tx,
    app: &App,
    tenant: &Tenant,
    first: i64,
    notes: Vec<NewLogEntry>,
) -> Result<()> {
    if notes.is_empty() {
        return Ok(());
    }
    let at = app.now();
    let mut counts = BTreeMap::from([(usage::CHANGE.to_owned(), as_count(notes.len()))]);
    for (kind, outcome) in COUNTED {
        let of_kind = notes.iter().filter(|note| note.entry_type == kind).count();
        if of_kind > 0 {
            counts.insert(outcome.to_owned(), as_count(of_kind));
        }
    }
    usage::add_each(tx, tenant, (&crate::app::usage::day(at), ""), &counts).await?;
    let mut entries = Vec::with_capacity(notes.len());
    for (sequence, note) in (first..).zip(notes) {
        let changed_fields = note.changed_fields.map(|f| serde_json::to_string(&f)).transpose()?;
        entries.push(Entry {
            sequence,
            id: app.new_id(Kind::Notification),
            connection_id: note.connection_id,
            account_ids: note.account_ids.map(|ids| ids.into_iter().collect()),
            entry_type: note.entry_type,
            change_type: note.change_type.to_owned(),
            resource_type: note.resource_type.to_owned(),
            resource_id: note.resource_id,
            parent_id: note.parent_id,
            changed_fields,
            etag: note.etag,
            origin: note.origin.as_str().to_owned(),
            resource: note.resource,
            at,
        });
    }
    Ok(table::insert(tx, tenant, &entries).await?)
}

fn as_count(lines: usize) -> i64 {
    i64::try_from(lines).unwrap_or(i64::MAX)
}
