//! The feed: what changed in a collection since a cursor, read off the application's log. Without a cursor it begins with
//! everything there is (a snapshot, in id order) and goes over to the log at the sequence at which it began: no gap, and no
//! item twice on one page.

use std::collections::HashMap;

use base::error::{Code, Result, invalid, refuse};
use base::tenant::Tenant;
use model::Instant;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use storage::items::{self, Item};
use storage::log::{self, Entry, Types};
use storage::sql::Chunk;
use storage::sync_states::SyncState;

use crate::app::App;
use crate::pages::Room;
use crate::resources::{Kind, render};

/// About how many bytes a change has without its resource.
const LINE_BYTES: usize = 400;

/// A place in a feed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Position {
    /// The state's epoch: a hard reset ends all cursors of an older one.
    #[serde(rename = "e")]
    pub epoch: i64,
    /// Everything up to here was told.
    #[serde(rename = "s")]
    pub sequence: i64,
    /// Still in the snapshot: told up to this id.
    #[serde(rename = "i", default, skip_serializing_if = "Option::is_none")]
    pub snapshot_after: Option<String>,
    /// The kind that the snapshot has come to, where a feed tells of several.
    #[serde(rename = "k", default, skip_serializing_if = "is_first")]
    pub kind: usize,
}

fn is_first(kind: &usize) -> bool {
    *kind == 0
}

/// What a feed tells of.
#[derive(Clone, Copy, Debug)]
pub enum Feed<'a> {
    /// What is in a collection.
    Collection { id: &'a str, kind: Kind },
    /// All contact books of a connection, and what is in them.
    Contacts { connection_id: &'a str },
    /// A mailbox.
    Mail { connection_id: &'a str },
}

/// The types of a connection's contacts feed.
pub const CONTACTS: Types = ["contact_book", "contact_group", "contact", "contact"];
/// The types of a mailbox's feed.
// Contract silent: whether threads are told. They are made up of their messages, so whoever has those has them.
pub const MAIL: Types = ["email.folder", "email.label", "email.draft", "email.message"];

impl Feed<'_> {
    /// The kinds that it tells of, in the order of its snapshot.
    fn kinds(&self) -> &[Kind] {
        match self {
            Feed::Collection { kind, .. } => std::slice::from_ref(kind),
            Feed::Contacts { .. } => &[Kind::ContactBook, Kind::ContactGroup, Kind::Contact],
            Feed::Mail { .. } => &[Kind::EmailFolder, Kind::EmailLabel, Kind::EmailDraft, Kind::EmailMessage],
        }
    }

    async fn snapshot(
        &self,
        app: &App,
        tenant: &Tenant,
        kind: Kind,
        (sequence, after): (i64, &str),
        limit: i64,
    ) -> Result<Chunk<Item>> {
        let (reader, kind) = (app.db.reader(), kind.as_str());
        Ok(match self {
            Feed::Collection { id, .. } => {
                items::snapshot(reader, tenant, (id, kind), sequence, after, limit).await?
            }
            Feed::Contacts { connection_id } | Feed::Mail { connection_id } => {
                let within = (*connection_id, kind);
                items::snapshot_of_connection(reader, tenant, within, sequence, after, limit).await?
            }
        })
    }

    async fn entries(&self, app: &App, tenant: &Tenant, after: i64, limit: i64) -> Result<Chunk<Entry>> {
        let reader = app.db.reader();
        Ok(match self {
            Feed::Collection { id, .. } => log::of_collection(reader, tenant, id, after, limit).await?,
            Feed::Contacts { connection_id } => {
                log::of_connection(reader, tenant, (connection_id, CONTACTS), after, limit).await?
            }
            Feed::Mail { connection_id } => {
                log::of_connection(reader, tenant, (connection_id, MAIL), after, limit).await?
            }
        })
    }
}

/// One page of the feed.
pub struct Page {
    /// Its changes, rendered.
    pub data: Vec<String>,
    /// Where to go on.
    pub position: Position,
    pub has_more: bool,
}

/// Reads a page. `with_resource` false leaves the resources out.
pub async fn page(
    app: &App,
    tenant: &Tenant,
    state: &SyncState,
    feed: Feed<'_>,
    position: Option<Position>,
    limit: i64,
    with_resource: bool,
) -> Result<Page> {
    let position = match position {
        None => Position {
            epoch: state.epoch,
            sequence: log::last_sequence(app.db.reader(), tenant).await?,
            snapshot_after: Some(String::new()),
            kind: 0,
        },
        Some(position) => position,
    };
    if position.epoch != state.epoch || position.sequence < state.floor_sequence {
        return Err(refuse(
            Code::SyncResetRequired,
            "this cursor is from before a reset, or older than the log; start again without a cursor",
        ));
    }
    match position.snapshot_after.clone() {
        Some(after) => snapshot(app, tenant, feed, (position, after), limit, with_resource).await,
        None => tail(app, tenant, feed, position, limit, with_resource).await,
    }
}

async fn snapshot(
    app: &App,
    tenant: &Tenant,
    feed: Feed<'_>,
    (mut position, mut after): (Position, String),
    limit: i64,
    with_resource: bool,
) -> Result<Page> {
    let mut data = Vec::new();
    let mut room = Room::new(usize::try_from(limit).unwrap_or(usize::MAX));
    while let Some(kind) = feed.kinds().get(position.kind) {
        let left = limit - data.len() as i64;
        let chunk = feed.snapshot(app, tenant, *kind, (position.sequence, &after), left + 1).await?;
        for item in &chunk.rows {
            let resource = with_resource.then(|| render::item(item, &[], false));
            let change = json!({
                "sequence": item.sequence.min(position.sequence),
                "changeType": "created",
                "resourceType": kind.resource_type(),
                "resourceId": item.id,
                "changedAt": Instant::from_millis(item.updated_at),
                "etag": item.etag,
            });
            let line = line(&change, resource.as_deref());
            if !room.take(line.len()) {
                position.snapshot_after = Some(after);
                return Ok(Page { data, position, has_more: true });
            }
            after.clone_from(&item.id);
            data.push(line);
        }
        if chunk.is_last {
            position.kind += 1;
            after.clear();
        }
    }
    // What happened while the snapshot was walked is on the pages that follow.
    let newest = log::last_sequence(app.db.reader(), tenant).await?;
    let waiting = feed.entries(app, tenant, position.sequence, 1).await?;
    let has_more = !waiting.rows.is_empty();
    let sequence = if has_more { position.sequence } else { position.sequence.max(newest) };
    let position = Position { sequence, snapshot_after: None, kind: 0, ..position };
    Ok(Page { data, position, has_more })
}

async fn tail(
    app: &App,
    tenant: &Tenant,
    feed: Feed<'_>,
    position: Position,
    limit: i64,
    with_resource: bool,
) -> Result<Page> {
    // Asked for before the lines: whoever writes takes the next number under the lock of the application's row and holds that to its
    // commit, so that every line up to the newest committed number is there to be read. Nothing of this feed lies between its last
    // line and that number.
    let newest = log::last_sequence(app.db.reader(), tenant).await?;
    let chunk = feed.entries(app, tenant, position.sequence, limit + 1).await?;
    let mut room = Room::new(usize::try_from(limit).unwrap_or(usize::MAX));
    let length = |entry: &Entry| {
        let resource = entry.resource.as_ref().filter(|_| with_resource);
        LINE_BYTES + resource.map_or(0, String::len)
    };
    let count = chunk.rows.iter().take_while(|entry| room.take(length(entry))).count();
    let has_more = count < chunk.rows.len() || !chunk.is_last;
    let read = chunk.rows.get(..count).unwrap_or(&chunk.rows);
    let told = read.last().map_or(position.sequence, |e| e.sequence);
    // A quiet feed keeps up with the log all the same: its cursor must not be from before what the log has forgotten.
    let sequence = if has_more { told } else { told.max(newest) };
    let mut data = Vec::new();
    for (change, entry) in coalesced(read) {
        let resource = entry.resource.as_deref().filter(|_| with_resource && change != "deleted");
        let change = json!({
            "sequence": entry.sequence,
            "changeType": change,
            "resourceType": entry.resource_type,
            "resourceId": entry.resource_id,
            "changedAt": Instant::from_millis(entry.at),
            "etag": entry.etag,
        });
        data.push(line(&change, resource));
    }
    Ok(Page { data, position: Position { sequence, ..position }, has_more })
}

/// A change, which is an object, with its resource as it is rendered: nothing is parsed and printed again.
fn line(change: &Value, resource: Option<&str>) -> String {
    let resource = resource.unwrap_or("null");
    let mut line = change.to_string();
    line.truncate(line.len() - 1);
    line.reserve(resource.len() + 16);
    line.push_str(",\"resource\":");
    line.push_str(resource);
    line.push('}');
    line
}

/// One line per resource, the last (RFC 8620, 5.2): created + updated is created, updated + deleted is deleted, created +
/// deleted is nothing.
fn coalesced(entries: &[Entry]) -> Vec<(&str, &Entry)> {
    let mut first: HashMap<&str, &str> = HashMap::new();
    let mut last: HashMap<&str, i64> = HashMap::new();
    for entry in entries {
        first.entry(&entry.resource_id).or_insert(&entry.change_type);
        last.insert(&entry.resource_id, entry.sequence);
    }
    let mut out = Vec::with_capacity(last.len());
    for entry in entries {
        if last.get(entry.resource_id.as_str()) != Some(&entry.sequence) {
            continue;
        }
        let began = first.get(entry.resource_id.as_str()).copied().unwrap_or_default();
        match (began, entry.change_type.as_str()) {
            ("created", "deleted") => {}
            ("created", _) => out.push(("created", entry)),
            // Deleted and made again under the same id: to the reader it changed.
            ("deleted", "created" | "updated") => out.push(("updated", entry)),
            (_, change) => out.push((change, entry)),
        }
    }
    out
}

/// What a client may ask of the page's size.
pub fn limit(text: Option<&str>) -> Result<i64> {
    match text.map(str::parse::<i64>) {
        None => Ok(100),
        Some(Ok(n)) if n >= 1 => Ok(n.min(500)),
        Some(_) => Err(invalid(Code::InvalidParameter, "limit", "limit must be an integer from 1 to 500")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(sequence: i64, id: &str, change: &str) -> Entry {
        Entry {
            sequence,
            id: format!("ev_{sequence}"),
            connection_id: None,
            entry_type: String::new(),
            change_type: change.into(),
            resource_type: "calendar.event".into(),
            resource_id: id.into(),
            parent_id: "cal".into(),
            changed_fields: None,
            etag: None,
            origin: "api".into(),
            resource: None,
            at: 0,
        }
    }

    #[test]
    fn a_page_tells_each_resource_once_and_as_it_ended() {
        let log = [
            entry(1, "a", "created"),
            entry(2, "b", "updated"),
            entry(3, "a", "updated"),
            entry(4, "c", "created"),
            entry(5, "b", "deleted"),
            entry(6, "c", "deleted"),
        ];
        let told: Vec<(&str, &str, i64)> =
            coalesced(&log).into_iter().map(|(c, e)| (c, e.resource_id.as_str(), e.sequence)).collect();
        assert_eq!(told, [("created", "a", 3), ("deleted", "b", 5)]);
    }
}
