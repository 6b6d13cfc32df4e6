//! What the provider holds, written into the local copy: one function for a sync's pages and for the answer of our own
//! writes. Equal content changes nothing and is told to nobody, so that our own write coming back is no second event.

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::app::App;
use crate::error::{Result, not_found};
use crate::log::{self, Note, Origin};
use crate::resources::bind::bind;
use crate::resources::mail;
use crate::resources::prepare::{Prepared, PreparedItem};
use crate::resources::{Kind, render};
use crate::storage::Tx;
use crate::storage::connections;
use crate::storage::items::{self, Item, Key};
use crate::tenant::Tenant;
use crate::tracking::arrivals;

/// Where sources are written.
#[derive(Clone, Debug)]
pub struct Place {
    pub tenant: Tenant,
    pub connection_id: String,
    /// What lies there; where several kinds do, the one that they are named after.
    pub kind: Kind,
    /// The collection; empty for what lives directly in the connection.
    pub parent_id: String,
    pub origin: Origin,
}

/// What one item went through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Created,
    Updated,
    Deleted,
}

/// An item that is about to be written.
#[derive(Clone, Debug)]
pub struct Changed {
    pub kind: Kind,
    pub item: Item,
    pub change: Change,
    /// The row that it replaces.
    pub before: Option<Item>,
    /// Whom it names, as the provider names them.
    pub refs: Vec<String>,
    pub keys: Vec<Key>,
    /// Of a message: the folders and labels that it is in.
    pub places: Vec<String>,
}

impl Changed {
    /// The sequence of the row that it replaces; 0 for a new one.
    fn over(&self) -> i64 {
        self.before.as_ref().map_or(0, |b| b.sequence)
    }
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
    if changed.iter().any(|c| c.over() > as_of) {
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
    if place.kind.is_mail() {
        return mail::differences(tx, app, place, sources).await;
    }
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
        let source = Prepared::gone(source_id);
        let of_source = differences(tx, app, place, &source).await?;
        match of_source.iter().any(|c| c.over() > as_of) {
            true => spared.push(source_id.clone()),
            false => changed.extend(of_source),
        }
    }
    Ok((write(tx, app, place, changed).await?, spared))
}

async fn differences(tx: &mut Tx, app: &App, place: &Place, source: &Prepared) -> Result<Vec<Changed>> {
    let (connection_id, parent_id) = (place.connection_id.as_str(), place.parent_id.as_str());
    let stored =
        items::of_source(tx, connection_id, place.kind.family(), parent_id, &source.source_id).await?;
    let mut changed = Vec::new();
    let mut ids: Vec<(String, String)> = Vec::new();
    for fresh in &source.items {
        let kind = fresh.kind.as_str();
        let mut known = stored.iter().find(|i| i.external_id == fresh.external_id && i.kind == kind).cloned();
        if known.is_none() {
            // It may have been read from another source before: moved, or split off.
            known = items::by_external_id(tx, connection_id, kind, parent_id, &fresh.external_id).await?;
        }
        let id = known.as_ref().map_or_else(|| app.new_id(fresh.kind.id_kind()), |i| i.id.clone());
        ids.push((fresh.external_id.clone(), id.clone()));
        let series_id = fresh.series_external_id.as_ref().and_then(|s| {
            let new = ids.iter().find(|(external, _)| external == s).map(|(_, id)| id.clone());
            new.or_else(|| stored.iter().find(|i| i.external_id == *s).map(|i| i.id.clone()))
        });
        let row = row(app, place, source, fresh, (id, series_id), known.as_ref());
        let change = match &known {
            Some(known) if known.deleted_at.is_none() && known.hash == row.hash => {
                if known.provider_etag != row.provider_etag || known.provider_data != row.provider_data {
                    let (etag, data) = (&row.provider_etag, &row.provider_data);
                    items::set_provider_side(tx, &known.id, etag, data, &known.aside).await?;
                }
                continue;
            }
            Some(known) if known.deleted_at.is_none() => Change::Updated,
            _ => Change::Created,
        };
        let (refs, keys) = (fresh.content.refs.clone(), fresh.content.keys.clone());
        changed.push(Changed {
            kind: fresh.kind,
            item: row,
            change,
            before: known,
            refs,
            keys,
            places: Vec::new(),
        });
    }
    let is_kept = |item: &Item| {
        source.items.iter().any(|i| i.external_id == item.external_id && i.kind.as_str() == item.kind)
    };
    changed.extend(stored.into_iter().filter(|i| i.deleted_at.is_none() && !is_kept(i)).map(|item| {
        Changed {
            kind: Kind::parse(&item.kind).unwrap_or(place.kind),
            item: Item { deleted_at: Some(app.now()), updated_at: app.now(), ..item.clone() },
            change: Change::Deleted,
            before: Some(item),
            refs: Vec::new(),
            keys: Vec::new(),
            places: Vec::new(),
        }
    }));
    Ok(changed)
}

pub fn row(
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
        kind: fresh.kind.as_str().to_owned(),
        parent_id: place.parent_id.clone(),
        external_id: fresh.external_id.clone(),
        source_id: source.source_id.clone(),
        series_id: ids.1,
        provider_etag: source.provider_etag.clone(),
        etag: String::new(),
        hash: fresh.hash.clone(),
        body: fresh.content.body.clone(),
        metadata: live.map_or_else(|| "{}".to_owned(), |k| k.metadata.clone()),
        provider_data: fresh.provider_data.clone(),
        uid: fresh.uid.clone(),
        is_series: fresh.content.is_series,
        sort_at: fresh.content.sort_at,
        until_at: fresh.content.until_at,
        sort_text: fresh.content.sort_text.clone(),
        search_text: fresh.content.search_text.clone(),
        is_open: fresh.content.is_open,
        flags: fresh.content.flags,
        fingerprint: fresh.fingerprint.clone(),
        aside: fresh.aside.clone(),
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
    let mut changed = bind(tx, app, place, changed).await?;
    let count = i64::try_from(changed.len()).unwrap_or(i64::MAX);
    let first = crate::storage::log::next_sequence(tx, &place.tenant, count).await?;
    let mut notes = Vec::with_capacity(changed.len());
    for (sequence, changed) in (first..).zip(&mut changed) {
        changed.item.sequence = sequence;
        changed.item.etag = etag(&changed.item);
        items::upsert(tx, &place.tenant, &changed.item).await?;
        if place.kind.is_mail() {
            mail::put(tx, &place.tenant, changed).await?;
            arrivals::look(tx, app, place, changed).await?;
        }
        notes.push(note(place, changed));
    }
    if place.kind.is_mail() {
        mail::date_threads(tx, &changed).await?;
    }
    log::insert(tx, app, &place.tenant, first, notes).await?;
    Ok(Some(first + count - 1))
}

fn note(place: &Place, changed: &Changed) -> Note {
    let word = match changed.change {
        Change::Created => "created",
        Change::Updated => "updated",
        Change::Deleted => "deleted",
    };
    let fields = match (&changed.before, changed.change) {
        (Some(before), Change::Updated) => Some(changed_fields(before, &changed.item)),
        _ => None,
    };
    let kind = changed.kind;
    let told = if is_completion(changed, fields.as_deref()) { "completed" } else { word };
    let is_gone = changed.change == Change::Deleted;
    Note {
        connection_id: Some(place.connection_id.clone()),
        entry_type: format!("{}.{told}", kind.resource_type()),
        change_type: word,
        resource_type: kind.resource_type(),
        resource_id: changed.item.id.clone(),
        parent_id: place.parent_id.clone(),
        changed_fields: fields,
        etag: (!is_gone).then(|| changed.item.etag.clone()),
        origin: place.origin,
        resource: (!is_gone).then(|| render::item(&changed.item, &[], false)),
    }
}

/// A task that is done has a notification of its own.
fn is_completion(changed: &Changed, fields: Option<&[String]>) -> bool {
    changed.kind == Kind::Task
        && fields.is_some_and(|f| f.iter().any(|f| f == "status"))
        && changed.item.body.contains("\"status\":\"completed\"")
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
    let changed = Changed {
        kind: Kind::parse(&item.kind).unwrap_or(place.kind),
        before: None,
        item,
        change: Change::Updated,
        refs: Vec::new(),
        keys: Vec::new(),
        places: Vec::new(),
    };
    let note = Note { changed_fields: Some(vec!["metadata".to_owned()]), ..note(place, &changed) };
    log::insert(tx, app, &place.tenant, sequence, vec![note]).await?;
    Ok(changed.item)
}

/// The version of an item: changes with every visible change, and with nothing else.
pub fn etag(item: &Item) -> String {
    let text = format!("{}\n{}\n{}\n{}", item.id, item.sequence, item.hash, item.metadata);
    format!("\"{}\"", hex::encode(&Sha256::digest(text)[..8]))
}

/// Names of the top-level fields that differ.
fn changed_fields(before: &Item, after: &Item) -> Vec<String> {
    let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    let (before, after) = (parse(&before.body), parse(&after.body));
    let Some(after) = after.as_object() else { return Vec::new() };
    let differs = |(name, value): &(&String, &Value)| before.get(name.as_str()) != Some(*value);
    after.iter().filter(differs).map(|(name, _)| name.clone()).collect()
}
