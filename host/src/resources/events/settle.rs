//! What the provider answered to a write becomes ours: sources, log lines and the answer to the client in one transaction.
//! While the provider worked, a pull may have stored what somebody else did right before or right after; which of the two
//! came last, only the provider knows. So it is asked again, rather than that either is put over the other.

use std::sync::Arc;

use model::wire::{Mutated, Source, SourceRef, Sources};
use serde::Serialize;

use crate::answer::{Answer, Attempt};
use crate::app::App;
use crate::error::{Code, Error, Result};
use crate::resources::apply::{self, Overtaken, Prepared};
use crate::resources::commit::{Change, prepared, shown};
use crate::resources::events::write::Opened;
use crate::resources::{Asker, Kind, fetch, mutate};
use crate::storage::log;

/// Times that the provider is asked again.
const OVERTAKEN: usize = 3;

/// A write that the provider has done.
pub struct Done {
    pub mutated: Mutated,
    /// The log's last sequence before the provider was asked.
    pub as_of: i64,
}

impl Done {
    /// There was nothing to be done at the provider.
    pub fn nothing(external_id: &str) -> Done {
        let mutated = Mutated { item: Some(external_id.to_owned()), ..Mutated::default() };
        Done { mutated, as_of: i64::MAX }
    }
}

/// Has the provider do it.
pub async fn done<A: Serialize + Sync>(
    app: &App,
    opened: &Opened,
    asker: &Asker,
    attempt: &Attempt,
    op: &'static str,
    args: &A,
) -> Result<Done> {
    let as_of = log::last_sequence(app.db.reader(), &asker.tenant).await?;
    let mutated = mutate(app, &opened.connection, asker, attempt, op, args).await?;
    Ok(Done { mutated, as_of })
}

/// What the client is told in the end.
#[derive(Clone)]
enum Told {
    Gone,
    Item { external_id: String, change: Arc<Change> },
}

/// Stores what became of an event, and the answer that shows it.
pub async fn commit(
    app: &App,
    opened: &Opened,
    asker: &Asker,
    mut done: Done,
    mut change: Change,
    attempt: &Attempt,
) -> Result<Answer> {
    for warning in std::mem::take(&mut done.mutated.warnings) {
        change.warnings.push(serde_json::to_value(warning)?);
    }
    let external_id = done.mutated.item.take().unwrap_or_default();
    let told = Told::Item { external_id, change: Arc::new(change) };
    settle(app, opened, asker, done, told, attempt).await
}

/// Stores that an event is gone.
pub async fn commit_deletion(
    app: &App,
    opened: &Opened,
    asker: &Asker,
    done: Done,
    attempt: &Attempt,
) -> Result<Answer> {
    settle(app, opened, asker, done, Told::Gone, attempt).await
}

async fn settle(
    app: &App,
    opened: &Opened,
    asker: &Asker,
    done: Done,
    told: Told,
    attempt: &Attempt,
) -> Result<Answer> {
    let mut as_of = done.as_of;
    let mut sources = prepared(Kind::Event, done.mutated.sources);
    for _ in 0..OVERTAKEN {
        if let Ok(answer) = store(app, opened, sources.clone(), as_of, told.clone(), attempt).await? {
            return Ok(answer);
        }
        as_of = log::last_sequence(app.db.reader(), &asker.tenant).await?;
        sources = read_again(app, opened, asker, &sources).await;
    }
    // What the pull stored stands: it began before this write, so the next one tells of it.
    match store(app, opened, Vec::new(), as_of, told, attempt).await? {
        Ok(answer) => Ok(answer),
        Err(Overtaken) => Err(anyhow::anyhow!("an empty write was overtaken").into()),
    }
}

/// The sources as the provider has them now; those that it does not tell are left out, and come with the next pull.
async fn read_again(app: &App, opened: &Opened, asker: &Asker, sources: &[Prepared]) -> Vec<Prepared> {
    let mut found = Vec::new();
    for source in sources {
        let args = SourceRef {
            collection: opened.calendar.external_id.clone(),
            source: source.source_id.clone(),
            time_zone: Some(opened.zone.clone()),
        };
        let read: Result<Sources> = fetch(app, &opened.connection, asker, "events.get", &args).await;
        match read {
            Ok(sources) => found.extend(sources.sources),
            Err(e) if e.code() == Some(Code::NotFound) => found.push(Source {
                external_id: source.source_id.clone(),
                deleted: true,
                ..Source::default()
            }),
            Err(e) => tracing::warn!(error = %e, "the outcome of a write could not be read again"),
        }
    }
    prepared(Kind::Event, found)
}

async fn store(
    app: &App,
    opened: &Opened,
    sources: Vec<Prepared>,
    as_of: i64,
    told: Told,
    attempt: &Attempt,
) -> Result<Result<Answer, Overtaken>> {
    let (app, place, attempt) = (app.clone(), opened.place(), attempt.clone());
    app.clone()
        .db
        .write(move |tx| {
            Box::pin(async move {
                if let Err(overtaken) = apply::apply_read(tx, &app, &place, &sources, as_of).await? {
                    return Ok(Err(overtaken));
                }
                let answer = match told {
                    Told::Gone => Answer::no_content(),
                    Told::Item { external_id, change } => {
                        shown(tx, &app, &place, &external_id, &change).await?
                    }
                };
                attempt.store(tx, &app.keyring, &answer, app.now()).await?;
                Ok::<_, Error>(Ok(answer))
            })
        })
        .await
}
