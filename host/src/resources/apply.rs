//! What the provider holds, written into the local copy: one function for a sync's pages and for the answer of our own
//! writes. Equal content changes nothing and is told to nobody, so that our own write coming back is no second event.

use std::collections::HashSet;

use model::calendar::{Calendar, Event, EventType};
use model::wire::{JsonText, Source};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::app::App;
use crate::error::{Result, not_found};
use crate::log::{self, Note, Origin};
use crate::resources::events::bounds;
use crate::resources::{Kind, render};
use crate::storage::Tx;
use crate::storage::connections;
use crate::storage::items::{self, Item};
use crate::tenant::Tenant;

/// Where sources are written.
#[derive(Clone, Debug)]
pub struct Place {
    pub tenant: Tenant,
    pub connection_id: String,
    pub kind: Kind,
    /// The collection; empty for what lives directly in the connection.
    pub parent_id: String,
    pub origin: Origin,
}

/// A source, parsed and hashed before the transaction begins.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub source_id: String,
    pub provider_etag: Option<String>,
    pub items: Vec<PreparedItem>,
    /// It is there but unreadable: what was read of it earlier stays.
    pub error: Option<(String, String)>,
}

#[derive(Clone, Debug)]
pub struct PreparedItem {
    pub external_id: String,
    pub series_external_id: Option<String>,
    body: String,
    hash: String,
    provider_data: Option<String>,
    is_series: bool,
    sort_at: i64,
    until_at: i64,
}

/// Parses what a connector returned. A source that does not fit the model becomes an error of that source alone.
pub fn prepare(kind: Kind, source: Source) -> Prepared {
    let mut prepared = Prepared {
        source_id: source.external_id,
        provider_etag: source.etag,
        items: Vec::with_capacity(source.items.len()),
        error: source.error.map(|e| (e.code, e.message)),
    };
    if source.deleted || prepared.error.is_some() {
        return prepared;
    }
    for item in source.items {
        match prepare_item(kind, &item.body) {
            Ok(body) => prepared.items.push(PreparedItem {
                external_id: item.external_id,
                series_external_id: item.series_external_id,
                provider_data: item.provider_data.filter(|d| !d.is_null()).map(|d| d.to_string()),
                ..body
            }),
            Err(e) => {
                prepared.error =
                    Some(("bad_output".into(), format!("the connector's answer does not fit: {e}")))
            }
        }
    }
    prepared
}

fn prepare_item(kind: Kind, body: &JsonText) -> Result<PreparedItem, serde_json::Error> {
    let (body, is_series, (sort_at, until_at)) = match kind {
        Kind::Calendar => {
            let calendar: Calendar = body.read()?;
            (serde_json::to_string(&calendar)?, false, (0, 0))
        }
        Kind::Event => {
            let mut event: Event = body.read()?;
            event.busy = event.derived_busy();
            let is_series = event.event_type == EventType::Series;
            (serde_json::to_string(&event)?, is_series, bounds(&event))
        }
    };
    let hash = hex::encode(&Sha256::digest(&body)[..16]);
    Ok(PreparedItem {
        external_id: String::new(),
        series_external_id: None,
        body,
        hash,
        provider_data: None,
        is_series,
        sort_at,
        until_at,
    })
}

/// What one item went through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Created,
    Updated,
    Deleted,
}

struct Changed {
    item: Item,
    change: Change,
    fields: Option<Vec<String>>,
    /// The sequence of the row that it replaces; 0 for a new one.
    over: i64,
}

/// What the provider said may be older than what is stored: the row was written after the provider was asked.
#[derive(Clone, Copy, Debug)]
pub struct Overtaken;

/// Writes sources and their log lines. Returns the last sequence that was given, if anything changed.
pub async fn apply(tx: &mut Tx, app: &App, place: &Place, sources: &[Prepared]) -> Result<Option<i64>> {
    let changed = all_differences(tx, app, place, sources).await?;
    write(tx, app, place, changed).await
}

/// The same for what was read while others may have written: nothing is written when it would undo a change that is younger
/// than `as_of`, the log's last sequence when the provider was asked.
pub async fn apply_read(
    tx: &mut Tx,
    app: &App,
    place: &Place,
    sources: &[Prepared],
    as_of: i64,
) -> Result<Result<Option<i64>, Overtaken>> {
    let changed = all_differences(tx, app, place, sources).await?;
    if changed.iter().any(|c| c.over > as_of) {
        return Ok(Err(Overtaken));
    }
    Ok(Ok(write(tx, app, place, changed).await?))
}

/// Before the first look at what is stored: what is decided on it must still be so when it is written.
async fn hold(tx: &mut Tx, place: &Place) -> Result<()> {
    match connections::hold(tx, &place.connection_id).await? {
        true => Ok(()),
        // It was disconnected while the provider was asked.
        false => Err(not_found("connection")),
    }
}

async fn all_differences(
    tx: &mut Tx,
    app: &App,
    place: &Place,
    sources: &[Prepared],
) -> Result<Vec<Changed>> {
    hold(tx, place).await?;
    let mut changed = Vec::new();
    for source in sources {
        if source.error.is_none() {
            changed.extend(differences(tx, app, place, source).await?);
        }
    }
    Ok(changed)
}

/// Makes tombstones of everything that the provider no longer has; what was written after `as_of` is spared. Returns the
/// last sequence and the sources that were spared.
pub async fn remove_sources(
    tx: &mut Tx,
    app: &App,
    place: &Place,
    gone: &[String],
    as_of: i64,
) -> Result<(Option<i64>, Vec<String>)> {
    hold(tx, place).await?;
    let mut changed = Vec::new();
    let mut spared = Vec::new();
    for source_id in gone {
        let source =
            Prepared { source_id: source_id.clone(), provider_etag: None, items: Vec::new(), error: None };
        let of_source = differences(tx, app, place, &source).await?;
        match of_source.iter().any(|c| c.over > as_of) {
            true => spared.push(source_id.clone()),
            false => changed.extend(of_source),
        }
    }
    Ok((write(tx, app, place, changed).await?, spared))
}

async fn differences(tx: &mut Tx, app: &App, place: &Place, source: &Prepared) -> Result<Vec<Changed>> {
    let kind = place.kind.as_str();
    let stored =
        items::of_source(tx, &place.connection_id, kind, &place.parent_id, &source.source_id).await?;
    let mut changed = Vec::new();
    let mut ids: Vec<(String, String)> = Vec::new();
    for fresh in &source.items {
        let mut known = stored.iter().find(|i| i.external_id == fresh.external_id).cloned();
        if known.is_none() {
            // It may have been read from another source before: moved, or split off.
            known =
                items::by_external_id(tx, &place.connection_id, kind, &place.parent_id, &fresh.external_id)
                    .await?;
        }
        let id = known.as_ref().map_or_else(|| app.new_id(place.kind.id_kind()), |i| i.id.clone());
        ids.push((fresh.external_id.clone(), id.clone()));
        let series_id = fresh.series_external_id.as_ref().and_then(|s| {
            let new = ids.iter().find(|(external, _)| external == s).map(|(_, id)| id.clone());
            new.or_else(|| stored.iter().find(|i| i.external_id == *s).map(|i| i.id.clone()))
        });
        let row = row(app, place, source, fresh, (id, series_id), known.as_ref());
        match known {
            Some(known) if known.deleted_at.is_none() && known.hash == row.hash => {
                if known.provider_etag != row.provider_etag || known.provider_data != row.provider_data {
                    items::set_provider_side(tx, &known.id, &row.provider_etag, &row.provider_data).await?;
                }
            }
            Some(known) if known.deleted_at.is_none() => {
                let fields = Some(changed_fields(&known.body, &row.body));
                changed.push(Changed { item: row, change: Change::Updated, fields, over: known.sequence });
            }
            known => {
                let over = known.map_or(0, |k| k.sequence);
                changed.push(Changed { item: row, change: Change::Created, fields: None, over });
            }
        }
    }
    let kept: HashSet<&str> = source.items.iter().map(|i| i.external_id.as_str()).collect();
    for item in stored {
        if item.deleted_at.is_none() && !kept.contains(item.external_id.as_str()) {
            let over = item.sequence;
            changed.push(Changed { item, change: Change::Deleted, fields: None, over });
        }
    }
    Ok(changed)
}

fn row(
    app: &App,
    place: &Place,
    source: &Prepared,
    fresh: &PreparedItem,
    ids: (String, Option<String>),
    known: Option<&Item>,
) -> Item {
    let now = app.now();
    let live = known.filter(|k| k.deleted_at.is_none());
    Item {
        id: ids.0,
        connection_id: place.connection_id.clone(),
        kind: place.kind.as_str().to_owned(),
        parent_id: place.parent_id.clone(),
        external_id: fresh.external_id.clone(),
        source_id: source.source_id.clone(),
        series_id: ids.1,
        provider_etag: source.provider_etag.clone(),
        etag: String::new(),
        hash: fresh.hash.clone(),
        body: fresh.body.clone(),
        metadata: live.map_or_else(|| "{}".to_owned(), |k| k.metadata.clone()),
        provider_data: fresh.provider_data.clone(),
        is_series: fresh.is_series,
        sort_at: fresh.sort_at,
        until_at: fresh.until_at,
        sequence: 0,
        created_at: live.map_or(now, |k| k.created_at),
        updated_at: now,
        deleted_at: None,
    }
}

async fn write(tx: &mut Tx, app: &App, place: &Place, changed: Vec<Changed>) -> Result<Option<i64>> {
    if changed.is_empty() {
        return Ok(None);
    }
    let count = i64::try_from(changed.len()).unwrap_or(i64::MAX);
    let first = crate::storage::log::next_sequence(tx, &place.tenant, count).await?;
    let mut notes = Vec::with_capacity(changed.len());
    for (sequence, mut changed) in (first..).zip(changed) {
        changed.item.sequence = sequence;
        if changed.change == Change::Deleted {
            changed.item.deleted_at = Some(app.now());
            changed.item.updated_at = app.now();
        }
        changed.item.etag = etag(&changed.item);
        items::upsert(tx, &place.tenant, &changed.item).await?;
        notes.push(note(place, changed));
    }
    log::insert(tx, app, &place.tenant, first, notes).await?;
    Ok(Some(first + count - 1))
}

fn note(place: &Place, changed: Changed) -> Note {
    let word = match changed.change {
        Change::Created => "created",
        Change::Updated => "updated",
        Change::Deleted => "deleted",
    };
    let is_gone = changed.change == Change::Deleted;
    Note {
        connection_id: Some(place.connection_id.clone()),
        entry_type: format!("{}.{word}", place.kind.resource_type()),
        change_type: word,
        resource_type: place.kind.resource_type(),
        resource_id: changed.item.id.clone(),
        parent_id: place.parent_id.clone(),
        changed_fields: changed.fields,
        etag: (!is_gone).then(|| changed.item.etag.clone()),
        origin: place.origin,
        resource: (!is_gone).then(|| render::item(&changed.item, &[], false)),
    }
}

/// Stores new metadata for an item: a change of ours alone, told like any other.
pub async fn set_metadata(
    tx: &mut Tx,
    app: &App,
    place: &Place,
    mut item: Item,
    metadata: String,
) -> Result<Item> {
    if item.metadata == metadata {
        return Ok(item);
    }
    item.metadata = metadata;
    item.updated_at = app.now();
    let sequence = crate::storage::log::next_sequence(tx, &place.tenant, 1).await?;
    item.sequence = sequence;
    item.etag = etag(&item);
    items::upsert(tx, &place.tenant, &item).await?;
    let fields = Some(vec!["metadata".to_owned()]);
    let changed = Changed { item: item.clone(), change: Change::Updated, fields, over: 0 };
    log::insert(tx, app, &place.tenant, sequence, vec![note(place, changed)]).await?;
    Ok(item)
}

/// The version of an item: changes with every visible change, and with nothing else.
fn etag(item: &Item) -> String {
    let text = format!("{}\n{}\n{}\n{}", item.id, item.sequence, item.hash, item.metadata);
    format!("\"{}\"", hex::encode(&Sha256::digest(text)[..8]))
}

/// Names of the top-level fields that differ.
fn changed_fields(before: &str, after: &str) -> Vec<String> {
    let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    let (before, after) = (parse(before), parse(after));
    let Some(after) = after.as_object() else { return Vec::new() };
    after
        .iter()
        .filter(|(name, value)| before.get(name.as_str()) != Some(value))
        .map(|(n, _)| n.clone())
        .collect()
}
