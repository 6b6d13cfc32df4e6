//! What the ends of all writes share: what the provider answered, its log lines and the answer to the client, in one transaction.

use std::collections::BTreeMap;

use base::error::{Error, Result, not_found};
use model::wire::Mutated;
use serde_json::Value;
use storage::Tx;
use storage::connections::Connection;
use storage::items::{self, Item};
use storage::locked::{ConnectionLock, Locked};

use crate::app::App;
use crate::app::event_log::Origin;
use crate::app::resource_kind::ResourceKind;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::local_copy::change::CopyLocation;
use crate::local_copy::normalize::prepared;
use crate::local_copy::{collection_counts, render, upsert};

/// What the answer to the client needs beside the provider's.
#[derive(Clone)]
pub struct ResponseChange {
    pub status: u16,
    /// Ours alone; none: as it is.
    pub metadata: Option<BTreeMap<String, String>>,
    pub warnings: Vec<Value>,
}

/// Where a write of ours is stored: a collection, or with an empty `parent_id` the connection itself.
pub fn place(connection: &Connection, kind: ResourceKind, parent_id: &str) -> CopyLocation {
    CopyLocation {
        tenant: connection.tenant.clone(),
        connection_id: connection.id.clone(),
        kind,
        parent_id: parent_id.to_owned(),
        origin: Origin::Api,
    }
}

/// Stores what became of a resource that nobody else can have changed meanwhile, and answers with it.
pub async fn commit(
    app: &App,
    place: CopyLocation,
    mutated: Mutated,
    mut change: ResponseChange,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let sources = prepared(place.kind, mutated.sources);
    for warning in mutated.warnings {
        change.warnings.push(serde_json::to_value(warning)?);
    }
    let external_id = mutated.item.unwrap_or_default();
    let (app, attempt) = (app.clone(), attempt.clone());
    let db = app.db.clone();
    db.write(move |tx| {
        Box::pin(async move {
            let lock = crate::local_copy::change::lock(tx, &place).await?;
            upsert::apply(tx, &app, &lock, &place, &sources).await?;
            let answer = shown(tx, &app, (&lock, &place), &external_id, &change).await?;
            attempt.store(tx, &app.keyring, &answer, app.now()).await?;
            Ok::<_, Error>(answer)
        })
    })
    .await
}

/// The answer that shows a stored resource; its new metadata is stored first.
pub async fn shown(
    tx: &mut Tx,
    app: &App,
    (lock, place): (&ConnectionLock, &CopyLocation),
    external_id: &str,
    change: &ResponseChange,
) -> Result<StoredResponse> {
    let item = stored(tx, app, (lock, place), external_id, change).await?;
    let text = match place.kind.is_collection() {
        true => collection_counts::printed(app, tx, &place.tenant, &item, &change.warnings, false).await?,
        false => render::item(&item, &change.warnings, false),
    };
    let mut answer = StoredResponse::json(change.status, text).etag(&item.etag);
    if change.status == 201 {
        answer = answer.header("location", place.kind.path(&item));
    }
    Ok(answer)
}

/// A stored resource, with its new metadata.
pub async fn stored<'l>(
    tx: &mut Tx,
    app: &App,
    (lock, place): (&'l ConnectionLock, &CopyLocation),
    external_id: &str,
    change: &ResponseChange,
) -> Result<Locked<'l, Item>> {
    let (kind, noun) = (place.kind.as_str(), place.kind.noun());
    let found = items::lock_by_external_id(tx, lock, kind, &place.parent_id, external_id).await?;
    let mut item =
        found.ok_or_else(|| anyhow::anyhow!("the connector did not say what became of the {noun}"))?;
    if item.deleted_at.is_some() {
        // Somebody else deleted it while we were at it. Nothing of a tombstone is told as if it were there.
        return Err(not_found(noun));
    }
    if let Some(metadata) = &change.metadata {
        item = upsert::set_metadata(tx, app, place, item, serde_json::to_string(metadata)?).await?;
    }
    Ok(item)
}
