//! The end of every write: what the provider answered, its log lines and the answer to the client, in one transaction.

use std::collections::BTreeMap;

use model::wire::Mutated;
use serde_json::Value;

use crate::answer::{Answer, Attempt};
use crate::app::App;
use crate::error::{Error, Result};
use crate::log::Origin;
use crate::resources::apply::{self, Place, Prepared};
use crate::resources::{Kind, answer};
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

/// Stores what became of a resource, and answers with it.
pub async fn commit(
    app: &App,
    place: Place,
    mutated: Mutated,
    change: Change,
    attempt: &Attempt,
) -> Result<Answer> {
    let sources = prepared(place.kind, mutated.sources);
    let mut warnings = change.warnings;
    for warning in mutated.warnings {
        warnings.push(serde_json::to_value(warning)?);
    }
    let external_id = mutated.item.unwrap_or_default();
    let (app, attempt) = (app.clone(), attempt.clone());
    let db = app.db.clone();
    db.write(move |tx| {
        Box::pin(async move {
            apply::apply(tx, &app, &place, &sources).await?;
            let kind = place.kind.as_str();
            let found =
                items::by_external_id(tx, &place.connection_id, kind, &place.parent_id, &external_id).await?;
            let mut item = found
                .ok_or_else(|| anyhow::anyhow!("the connector did not say what became of the {kind}"))?;
            if let Some(metadata) = change.metadata {
                let text = serde_json::to_string(&metadata)?;
                item = apply::set_metadata(tx, &app, &place, item, text).await?;
            }
            let mut answer = answer(change.status, &item, &warnings);
            if change.status == 201 {
                answer = answer.header("location", location(&item, place.kind));
            }
            attempt.store(tx, &app.keyring, &answer, app.now()).await?;
            Ok::<_, Error>(answer)
        })
    })
    .await
}

/// Stores what is left after a deletion, and answers 204.
pub async fn commit_deletion(app: &App, place: Place, mutated: Mutated, attempt: &Attempt) -> Result<Answer> {
    let sources = prepared(place.kind, mutated.sources);
    let (app, attempt) = (app.clone(), attempt.clone());
    let db = app.db.clone();
    db.write(move |tx| {
        Box::pin(async move {
            let answer = Answer::no_content();
            apply::apply(tx, &app, &place, &sources).await?;
            attempt.store(tx, &app.keyring, &answer, app.now()).await?;
            Ok::<_, Error>(answer)
        })
    })
    .await
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
