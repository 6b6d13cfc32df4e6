//! The change feed of a collection: its changes since a cursor, from the application's log. Without a cursor it begins with all present
//! items (a snapshot, in id order) and continues with the log at the sequence at which the snapshot began: no gap, and no item twice on one
//! page.

use std::collections::HashMap;
use std::fmt::Write;

use base::error::{Code, Result, invalid, refuse};
use base::tenant::Tenant;
use model::Instant;
use serde::{Deserialize, Serialize};
use storage::items::{self, Item};
use storage::log::{self, FeedLine, Types};
use storage::sql::Chunk;
use storage::sync_states::SyncState;

use crate::app::App;
use crate::app::page_cache::PageBudget;
use crate::app::resource_kind::ResourceKind;
use crate::local_copy::render;

/// Most bytes of a change before its `FeedChange::fields`, with the comma before it.
const HEAD_BYTES: usize = 64;
/// Typical size of `FeedChange::fields` without the resource, bytes.
const FIELDS_BYTES: usize = 256;
/// Room for the fields of a response after its changes, bytes.
const REST_BYTES: usize = 1_024;
/// Beginning of a response.
const BEGIN: &str = "{\"data\":[";

/// A position in a feed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FeedPosition {
    /// The state's epoch: a hard reset invalidates all cursors of earlier ones.
    #[serde(rename = "e")]
    pub epoch: i64,
    /// All changes up to this sequence were returned.
    #[serde(rename = "s")]
    pub sequence: i64,
    /// The last id that was returned of the snapshot; none after the snapshot.
    #[serde(rename = "i", default, skip_serializing_if = "Option::is_none")]
    pub snapshot_after: Option<String>,
    /// The present kind of the snapshot, in a feed of several kinds.
    #[serde(rename = "k", default, skip_serializing_if = "is_first")]
    pub kind: usize,
}

fn is_first(kind: &usize) -> bool {
    *kind == 0
}

/// The resources that a feed covers.
#[derive(Clone, Copy, Debug)]
pub enum Feed<'a> {
    /// The contents of a collection.
    Collection { id: &'a str, kind: ResourceKind },
    /// All contact books of a connection, and their contents.
    Contacts { connection_id: &'a str },
    /// A mailbox.
    Mail { connection_id: &'a str },
}

/// The types of a connection's contacts feed.
pub const CONTACTS: Types = ["contact_book", "contact_group", "contact", "contact"];
/// The types of a mailbox's feed.
// Contract silent: whether the feed has threads. It does not: a thread is its messages, which the feed has.
pub const MAIL: Types = ["email.folder", "email.label", "email.draft", "email.message"];

impl Feed<'_> {
    /// Returns its kinds, in the order of its snapshot.
    fn kinds(&self) -> &[ResourceKind] {
        match self {
            Feed::Collection { kind, .. } => std::slice::from_ref(kind),
            Feed::Contacts { .. } => {
                &[ResourceKind::ContactBook, ResourceKind::ContactGroup, ResourceKind::Contact]
            }
            Feed::Mail { .. } => &[
                ResourceKind::EmailFolder,
                ResourceKind::EmailLabel,
                ResourceKind::EmailDraft,
                ResourceKind::EmailMessage,
            ],
        }
    }

    async fn snapshot(
        &self,
        app: &App,
        tenant: &Tenant,
        kind: ResourceKind,
        sequence: i64,
        after: &str,
        limit: i64,
    ) -> Result<Chunk<Item>> {
        let (reader, kind) = (app.db.resources(), kind.as_str());
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

    /// Returns the results of `read` for the log's entries after a sequence.
    async fn lines<T>(
        &self,
        app: &App,
        tenant: &Tenant,
        after: i64,
        limit: i64,
        read: impl FnMut(FeedLine<'_>) -> T,
    ) -> Result<Chunk<T>> {
        let reader = app.db.resources();
        Ok(match self {
            Feed::Collection { id, .. } => log::of_collection(reader, tenant, id, after, limit, read).await?,
            Feed::Contacts { connection_id } => {
                log::of_connection(reader, tenant, (connection_id, CONTACTS), after, limit, read).await?
            }
            Feed::Mail { connection_id } => {
                log::of_connection(reader, tenant, (connection_id, MAIL), after, limit, read).await?
            }
        })
    }
}

/// A change of a resource, rendered as far as its row allows. The change type is final only after all changes of the page are read.
struct FeedChange {
    sequence: i64,
    /// `created`, `updated` or `deleted`.
    change_type: String,
    resource_id: String,
    /// The fields of the response after `changeType`, with the closing brace.
    fields: String,
}

impl FeedChange {
    fn of_line(line: &FeedLine<'_>, with_resource: bool) -> FeedChange {
        let is_shown = with_resource && line.change_type != "deleted";
        let resource = line.resource.filter(|_| is_shown);
        FeedChange {
            sequence: line.sequence,
            change_type: line.change_type.to_owned(),
            resource_id: line.resource_id.to_owned(),
            fields: fields(line.resource_type, line.resource_id, line.at, line.etag, resource),
        }
    }

    /// Returns its maximum size in a response, bytes.
    fn bytes(&self) -> usize {
        HEAD_BYTES + self.fields.len()
    }
}

/// Renders `FeedChange::fields`. The resource is JSON already, and copied.
fn fields(kind: &str, id: &str, at: i64, etag: Option<&str>, resource: Option<&str>) -> String {
    let resource = resource.unwrap_or("null");
    let mut out = String::with_capacity(FIELDS_BYTES + resource.len());
    render::field(&mut out, ",\"resourceType\":", kind);
    render::field(&mut out, ",\"resourceId\":", id);
    // Writing to a string cannot fail.
    let _ = write!(out, ",\"changedAt\":\"{}\"", Instant::from_millis(at));
    match etag {
        Some(etag) => render::field(&mut out, ",\"etag\":", etag),
        None => out.push_str(",\"etag\":null"),
    }
    out.push_str(",\"resource\":");
    out.push_str(resource);
    out.push('}');
    out
}

/// Appends a change to a response.
fn append_change(out: &mut String, sequence: i64, change_type: &str, fields: &str) {
    if out.len() > BEGIN.len() {
        out.push(',');
    }
    // Writing to a string cannot fail.
    let _ = write!(out, "{{\"sequence\":{sequence}");
    render::field(out, ",\"changeType\":", change_type);
    out.push_str(fields);
}

/// One page of the feed.
pub struct FeedPage {
    /// The response up to its changes, `{"data":[…]`, with room for the rest of the object.
    pub begun: String,
    /// The position of the next page.
    pub position: FeedPosition,
    pub has_more: bool,
}

impl FeedPage {
    fn new(mut begun: String, position: FeedPosition, has_more: bool) -> FeedPage {
        begun.push(']');
        FeedPage { begun, position, has_more }
    }
}

/// A request for a page of a feed.
pub struct FeedQuery<'a> {
    pub feed: Feed<'a>,
    /// Most changes to read.
    pub limit: i64,
    /// Whether the resources are included.
    pub with_resource: bool,
}

/// Reads a page. `state` was read for this request.
pub async fn page(
    app: &App,
    tenant: &Tenant,
    state: &SyncState,
    query: FeedQuery<'_>,
    position: Option<FeedPosition>,
) -> Result<FeedPage> {
    let position = match position {
        None => FeedPosition {
            epoch: state.epoch,
            sequence: state.log_sequence,
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
        Some(after) => snapshot(app, tenant, query, position, after).await,
        None => tail(app, tenant, query, position, state.log_sequence).await,
    }
}

async fn snapshot(
    app: &App,
    tenant: &Tenant,
    FeedQuery { feed, limit, with_resource }: FeedQuery<'_>,
    mut position: FeedPosition,
    mut after: String,
) -> Result<FeedPage> {
    let mut begun = BEGIN.to_owned();
    let mut room = PageBudget::new(usize::try_from(limit).unwrap_or(usize::MAX));
    let mut left = limit;
    while let Some(kind) = feed.kinds().get(position.kind) {
        let chunk = feed.snapshot(app, tenant, *kind, position.sequence, &after, left + 1).await?;
        for item in &chunk.rows {
            let resource = with_resource.then(|| render::item(item, &[], false));
            let (kind, etag) = (kind.resource_type(), Some(item.etag.as_str()));
            let fields = fields(kind, &item.id, item.updated_at, etag, resource.as_deref());
            if !room.take(HEAD_BYTES + fields.len()) {
                position.snapshot_after = Some(after);
                return Ok(FeedPage::new(begun, position, true));
            }
            after.clone_from(&item.id);
            append_change(&mut begun, item.sequence.min(position.sequence), "created", &fields);
            left -= 1;
        }
        if chunk.is_last {
            position.kind += 1;
            after.clear();
        }
    }
    // Changes during the snapshot are on the pages that follow.
    let newest = log::last_sequence(app.db.resources(), tenant).await?;
    let waiting = feed.lines(app, tenant, position.sequence, 1, |_| ()).await?;
    let has_more = !waiting.rows.is_empty();
    let sequence = if has_more { position.sequence } else { position.sequence.max(newest) };
    let position = FeedPosition { sequence, snapshot_after: None, kind: 0, ..position };
    Ok(FeedPage::new(begun, position, has_more))
}

/// Reads changes from the log. `newest` is the last number of the application's log, read before.
async fn tail(
    app: &App,
    tenant: &Tenant,
    FeedQuery { feed, limit, with_resource }: FeedQuery<'_>,
    position: FeedPosition,
    newest: i64,
) -> Result<FeedPage> {
    // The newest number was read before the entries. Writers take the next number under the lock of the application's row and hold that
    // lock to their commit, so that every entry up to the newest committed number is visible. Between its last entry and that number this
    // feed has none.
    let after = position.sequence;
    let chunk =
        feed.lines(app, tenant, after, limit + 1, |line| FeedChange::of_line(&line, with_resource)).await?;
    let mut room = PageBudget::new(usize::try_from(limit).unwrap_or(usize::MAX));
    let count = chunk.rows.iter().take_while(|change| room.take(change.bytes())).count();
    let has_more = count < chunk.rows.len() || !chunk.is_last;
    let read = chunk.rows.get(..count).unwrap_or(&chunk.rows);
    let told = read.last().map_or(after, |change| change.sequence);
    // A quiet feed follows the log nevertheless: its cursor must not fall behind the entries that the log has dropped.
    let sequence = if has_more { told } else { told.max(newest) };
    let bytes: usize = read.iter().map(FeedChange::bytes).sum();
    let mut begun = String::with_capacity(BEGIN.len() + bytes + REST_BYTES);
    begun.push_str(BEGIN);
    for (change_type, change) in coalesce(read) {
        append_change(&mut begun, change.sequence, change_type, &change.fields);
    }
    Ok(FeedPage::new(begun, FeedPosition { sequence, ..position }, has_more))
}

/// Returns one change per resource, the last (RFC 8620, 5.2): created + updated is created, updated + deleted is deleted, created + deleted
/// is none.
fn coalesce(changes: &[FeedChange]) -> Vec<(&str, &FeedChange)> {
    // The first and the last change of each resource.
    let mut ends: HashMap<&str, (&FeedChange, &FeedChange)> = HashMap::with_capacity(changes.len());
    for change in changes {
        ends.entry(&change.resource_id).or_insert((change, change)).1 = change;
    }
    let mut ends: Vec<(&FeedChange, &FeedChange)> = ends.into_values().collect();
    ends.sort_unstable_by_key(|(_, last)| last.sequence);
    let told = ends.into_iter().filter_map(|(first, last)| {
        let change_type = match (first.change_type.as_str(), last.change_type.as_str()) {
            ("created", "deleted") => return None,
            ("created", _) => "created",
            // Deleted and created again under the same id: for the reader it was updated.
            ("deleted", "created" | "updated") => "updated",
            (_, change_type) => change_type,
        };
        Some((change_type, last))
    });
    told.collect()
}

/// Parses a client's page size.
pub fn limit(text: Option<&str>) -> Result<i64> {
    match text.map(str::parse::<i64>) {
        None => Ok(100),
        Some(Ok(n)) if n >= 1 => Ok(n.min(500)),
        Some(_) => Err(invalid(Code::InvalidParameter, "limit", "limit must be an integer from 1 to 500")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn change(sequence: i64, id: &str, change_type: &str) -> FeedChange {
        let line = FeedLine {
            sequence,
            change_type,
            resource_type: "calendar.event",
            resource_id: id,
            at: 0,
            etag: Some("\"1\""),
            resource: Some("{\"title\":\"x\"}"),
        };
        FeedChange::of_line(&line, true)
    }

    #[test]
    fn a_change_is_told_as_json() {
        let changes = [change(1, "a", "created"), change(2, "b", "deleted")];
        let mut begun = BEGIN.to_owned();
        for change in &changes {
            append_change(&mut begun, change.sequence, &change.change_type, &change.fields);
        }
        assert!(begun.len() <= BEGIN.len() + changes.iter().map(FeedChange::bytes).sum::<usize>());
        let page = FeedPage::new(
            begun,
            FeedPosition { epoch: 1, sequence: 2, snapshot_after: None, kind: 0 },
            false,
        );
        let told: Value = serde_json::from_str(&(page.begun + "}")).unwrap();
        let told_of = |sequence, id, change_type, resource| {
            json!({
                "sequence": sequence, "changeType": change_type, "resourceType": "calendar.event", "resourceId": id,
                "changedAt": "1970-01-01T00:00:00.000Z", "etag": "\"1\"", "resource": resource,
            })
        };
        let created = told_of(1, "a", "created", json!({ "title": "x" }));
        assert_eq!(told, json!({ "data": [created, told_of(2, "b", "deleted", Value::Null)] }));
    }

    #[test]
    fn a_page_tells_each_resource_once_and_as_it_ended() {
        let log = [
            change(1, "a", "created"),
            change(2, "b", "updated"),
            change(3, "a", "updated"),
            change(4, "c", "created"),
            change(5, "b", "deleted"),
            change(6, "c", "deleted"),
        ];
        let told: Vec<(&str, &str, i64)> =
            coalesce(&log).into_iter().map(|(c, e)| (c, e.resource_id.as_str(), e.sequence)).collect();
        assert_eq!(told, [("created", "a", 3), ("deleted", "b", 5)]);
    }
}
