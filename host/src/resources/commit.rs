//! What the ends of all writes share: what the provider answered, its log lines and the answer to the client, in one transaction.

use std::collections::BTreeMap;

use model::wire::Mutated;
use serde_json::Value;

use crate::answer::{Answer, Attempt};
use crate::app::App;
use crate::error::{Error, Result, not_found};
use crate::log::Origin;
use crate::resources::apply::{self, Place, Prepared};
use crate::resources::{Kind, answer};
use crate::storage::Tx;
use crate::storage::connections::Connection;
use crate::storage::items::{self, Item};

/// What the answer to the client needs beside the provider's.
pub struct Change {
    pub status: u16,
    /// Ours alone; none: as it is.
    pub metadata: Option<BTreeMap<String, String>>,
    pub warnings: Vec<Value>,
}

/// Where a write of ours is stored: a collection, or with an empty `parent_id` the connection itself.
pub fn place(connection: &Connection, kind: Kind, parent_id: &str) -> Place {
    Place {
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
    place: Place,
    mutated: Mutated,
    mut change: Change,
    attempt: &Attempt,
) -> Result<Answer> {
    let sources = prepared(place.kind, mutated.sources);
    for warning in mutated.warnings {
        change.warnings.push(serde_json::to_value(warning)?);
    }
    let external_id = mutated.item.unwrap_or_default();
    let (app, attempt) = (app.clone(), attempt.clone());
    let db = app.db.clone();
    db.write(move |tx| {
        Box::pin(async move {
            apply::apply(tx, &app, &place, &sources).await?;
            let answer = shown(tx, &app, &place, &external_id, &change).await?;
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
    place: &Place,
    external_id: &str,
    change: &Change,
) -> Result<Answer> {
    let kind = place.kind.as_str();
    let found = items::by_external_id(tx, &place.connection_id, kind, &place.parent_id, external_id).await?;
    let mut item =
        found.ok_or_else(|| anyhow::anyhow!("the connector did not say what became of the {kind}"))?;
    if item.deleted_at.is_some() {
        // Somebody else deleted it while we were at it. Nothing of a tombstone is told as if it were there.
        return Err(not_found(kind));
    }
    if let Some(metadata) = &change.metadata {
        item = apply::set_metadata(tx, app, place, item, serde_json::to_string(metadata)?).await?;
    }
    let mut answer = answer(change.status, &item, &change.warnings);
    if change.status == 201 {
        answer = answer.header("location", location(&item, place.kind));
    }
    Ok(answer)
}

/// A connector's sources, ready to be stored.
pub fn prepared(kind: Kind, sources: Vec<model::wire::Source>) -> Vec<Prepared> {
    sources.into_iter().map(|source| apply::prepare(kind, source)).collect()
}

fn location(item: &Item, kind: Kind) -> String {
    match kind {
        Kind::Calendar => format!("/v1/calendars/{}", item.id),
        Kind::Event => format!("/v1/calendars/{}/events/{}", item.parent_id, item.id),
    }
}
