//! What a provider answered to a write of mail, stored with its log lines and the answer to the client in one transaction. What a pull
//! stored in the meantime is not undone: then the provider is asked again.

use std::sync::Arc;

use model::wire::email::{MessageRef, MessagesGet};
use model::wire::{Mutated, Sources};

use crate::answer::{Answer, Attempt};
use crate::app::App;
use crate::error::{Error, Result, not_found};
use crate::log::Origin;
use crate::resources::apply::{self, Overtaken, Place};
use crate::resources::commit::{Change, place};
use crate::resources::mail::bodies::Content;
use crate::resources::mail::{drafts, own};
use crate::resources::prepare::{Prepared, prepared};
use crate::resources::{Asker, Kind, fetch, render};
use crate::runtime::Surface;
use crate::storage::Tx;
use crate::storage::connections::Connection;
use crate::storage::items::{self, Item};
use crate::storage::log;

/// Times that the provider is asked again.
const OVERTAKEN: usize = 3;

/// What the client is told in the end.
#[derive(Clone)]
pub enum Told {
    Gone,
    /// The message of this source.
    Item {
        source_id: String,
        change: Arc<Change>,
    },
    /// The draft of this source.
    Draft {
        source_id: String,
        change: Arc<Change>,
        written: Arc<Written>,
    },
}

/// What the author of a draft wrote that no provider keeps, or that is not kept here.
pub struct Written {
    pub own: Vec<(&'static str, serde_json::Value)>,
    pub content: Content,
}

impl Told {
    pub fn item(source_id: &str, change: Change) -> Self {
        Told::Item { source_id: source_id.to_owned(), change: Arc::new(change) }
    }
}

/// Stores what became of a message, and the answer that shows it.
pub async fn commit(
    app: &App,
    asker: &Asker,
    connection: &Connection,
    mutated: Mutated,
    mut as_of: i64,
    told: Told,
    attempt: &Attempt,
) -> Result<Answer> {
    let told = completed(told, &mutated)?;
    let mut sources = prepared(Kind::EmailMessage, mutated.sources);
    for _ in 0..OVERTAKEN {
        if let Ok(answer) = store(app, connection, sources.clone(), as_of, told.clone(), attempt).await? {
            return Ok(answer);
        }
        as_of = log::last_sequence(app.db.reader(), &asker.tenant).await?;
        sources = read_again(app, asker, connection, sources).await;
    }
    // What the pull stored stands: it began before this write, so the next one tells of it.
    match store(app, connection, Vec::new(), i64::MAX, told, attempt).await? {
        Ok(answer) => Ok(answer),
        Err(Overtaken) => Err(anyhow::anyhow!("an empty write was overtaken").into()),
    }
}

/// The answer where the provider had nothing to do.
pub async fn nothing(app: &App, connection: &Connection, told: Told, attempt: &Attempt) -> Result<Answer> {
    match store(app, connection, Vec::new(), i64::MAX, told, attempt).await? {
        Ok(answer) => Ok(answer),
        Err(Overtaken) => Err(anyhow::anyhow!("an empty write was overtaken").into()),
    }
}

/// The answer is about what the provider says that the call was about, under the name that it has now.
fn completed(told: Told, mutated: &Mutated) -> Result<Told> {
    let (source_id, change, written) = match told {
        Told::Gone => return Ok(Told::Gone),
        Told::Item { source_id, change } => (source_id, change, None),
        Told::Draft { source_id, change, written } => (source_id, change, Some(written)),
    };
    let mut change = Change {
        status: change.status,
        metadata: change.metadata.clone(),
        warnings: change.warnings.clone(),
    };
    for warning in &mutated.warnings {
        change.warnings.push(serde_json::to_value(warning)?);
    }
    let renamed = mutated.sources.iter().find(|s| s.previous_id.as_deref() == Some(&source_id));
    let source_id = match (&mutated.item, renamed) {
        (_, Some(renamed)) => renamed.external_id.clone(),
        (Some(item), None) => {
            let of = mutated.sources.iter().find(|s| s.items.iter().any(|i| i.external_id == *item));
            of.map_or_else(|| item.clone(), |s| s.external_id.clone())
        }
        (None, None) => source_id,
    };
    let change = Arc::new(change);
    Ok(match written {
        None => Told::Item { source_id, change },
        Some(written) => Told::Draft { source_id, change, written },
    })
}

/// The sources as the provider has them now; those that it does not tell come with the next pull.
async fn read_again(
    app: &App,
    asker: &Asker,
    connection: &Connection,
    sources: Vec<Prepared>,
) -> Vec<Prepared> {
    let wanted = sources.iter().filter(|s| !s.items.is_empty());
    let reference = |s: &Prepared| MessageRef { source: s.source_id.clone(), hint: None };
    let args = MessagesGet { messages: wanted.map(reference).collect(), ..MessagesGet::default() };
    let read: Result<Sources> = fetch(app, connection, asker, (Surface::Email, "messages.get"), &args).await;
    let read = match read {
        Ok(read) => read,
        Err(e) => {
            tracing::warn!(error = %e, "the outcome of a write could not be read again");
            return Vec::new();
        }
    };
    let mut again = prepared(Kind::EmailMessage, read.sources);
    for source in &mut again {
        let before = sources.iter().find(|s| s.source_id == source.source_id);
        source.previous_id = before.and_then(|s| s.previous_id.clone());
    }
    again.extend(sources.into_iter().filter(|s| s.deleted));
    again
}

async fn store(
    app: &App,
    connection: &Connection,
    sources: Vec<Prepared>,
    as_of: i64,
    told: Told,
    attempt: &Attempt,
) -> Result<Result<Answer, Overtaken>> {
    let place = Place { origin: Origin::Api, ..place(connection, Kind::EmailMessage, "") };
    let (app, attempt) = (app.clone(), attempt.clone());
    let db = app.db.clone();
    db.write(move |tx| {
        Box::pin(async move {
            if let Err(overtaken) = apply::apply_read(tx, &app, &place, &sources, as_of).await? {
                return Ok(Err(overtaken));
            }
            let answer = match told {
                Told::Gone => Answer::no_content(),
                Told::Item { source_id, change } => shown(tx, &app, &place, &source_id, &change).await?,
                Told::Draft { source_id, change, written } => {
                    shown_draft(tx, &app, &place, (&source_id, &change), &written).await?
                }
            };
            attempt.store(tx, &app.keyring, &answer, app.now()).await?;
            Ok::<_, Error>(Ok(answer))
        })
    })
    .await
}

/// The answer that shows a stored message; its new metadata is stored first.
async fn shown(tx: &mut Tx, app: &App, place: &Place, source_id: &str, change: &Change) -> Result<Answer> {
    let mut item = of_source(tx, place, source_id).await?;
    if let Some(metadata) = &change.metadata {
        item = apply::set_metadata(tx, app, place, item, serde_json::to_string(metadata)?).await?;
    }
    let mut answer =
        Answer::json(change.status, render::item(&item, &change.warnings, false)).etag(&item.etag);
    if change.status == 201 {
        answer = answer.header("location", Kind::of(&item)?.path(&item));
    }
    Ok(answer)
}

/// The same for a draft.
async fn shown_draft(
    tx: &mut Tx,
    app: &App,
    place: &Place,
    (source_id, change): (&str, &Change),
    written: &Written,
) -> Result<Answer> {
    let mut item = of_source(tx, place, source_id).await?;
    if let Some(metadata) = &change.metadata {
        item = apply::set_metadata(tx, app, place, item, serde_json::to_string(metadata)?).await?;
    }
    item = own::set(tx, app, place, item, &written.own, "updated").await?;
    let text = drafts::printed(&item, Some(&written.content), &change.warnings, false)?;
    let mut answer = Answer::json(change.status, text).etag(&item.etag);
    if change.status == 201 {
        answer = answer.header("location", Kind::EmailDraft.path(&item));
    }
    Ok(answer)
}

/// The live message of a source.
pub async fn of_source(tx: &mut Tx, place: &Place, source_id: &str) -> Result<Item> {
    let family = Kind::EmailMessage.family();
    let found = items::of_source(tx, &place.connection_id, family, "", source_id).await?;
    found.into_iter().find(|i| i.deleted_at.is_none()).ok_or_else(|| not_found("message"))
}
