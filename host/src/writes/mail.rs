//! What a provider answered to a write of mail, stored with its log lines and the answer to the client in one transaction. What a pull
//! stored in the meantime is not undone: then the provider is asked again.

use std::sync::Arc;

use base::error::{Error, Result, not_found};
use model::wire::email::{MessageRef, MessagesGet};
use model::wire::{Mutated, Sources};
use runtime::Surface;
use storage::connections::Connection;
use storage::items::{self, Item};
use storage::locked::{ConnectionLock, Locked};
use storage::{Tx, log};

use crate::app::App;
use crate::app::event_log::Origin;
use crate::app::resource_kind::ResourceKind;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::connections::provider_call::fetch;
use crate::connections::request_context::RequestContext;
use crate::local_copy::change::{CopyLocation, SupersededRecords};
use crate::local_copy::mail::host_fields;
use crate::local_copy::mail::render_content::MessageContent;
use crate::local_copy::normalize::prepared;
use crate::local_copy::record::NormalizedRecord;
use crate::local_copy::{render, upsert};
use crate::writes::reconcile::{READ_AGAIN, write_round};
use crate::writes::response::{ResponseChange, place};

/// What the client is told in the end.
#[derive(Clone)]
pub enum MailResponseView {
    Gone,
    /// The message of this source.
    Item {
        named: MessageKey,
        change: Arc<ResponseChange>,
    },
    /// The draft of this source.
    Draft {
        named: MessageKey,
        change: Arc<ResponseChange>,
        written: Arc<DraftRemainder>,
    },
}

/// What the author of a draft wrote that no provider keeps, or that is not kept here.
pub struct DraftRemainder {
    pub own: Vec<(&'static str, serde_json::Value)>,
    pub content: MessageContent,
}

/// Which message a write is about.
#[derive(Clone, Default)]
pub struct MessageKey {
    /// Our id; none for a message that is new.
    id: Option<String>,
    /// What the provider calls it.
    source_id: String,
}

impl MessageKey {
    pub fn of(item: Option<&Item>) -> Self {
        match item {
            Some(item) => MessageKey { id: Some(item.id.clone()), source_id: item.source_id.clone() },
            None => MessageKey::default(),
        }
    }

    /// The message as it is stored: under the provider's name, or, where a pull has not told of that yet, under our id.
    async fn find<'l>(&self, tx: &mut Tx, lock: &'l ConnectionLock) -> Result<Locked<'l, Item>> {
        match (of_source(tx, lock, &self.source_id).await, &self.id) {
            (Ok(item), _) => Ok(item),
            (Err(e), None) => Err(e),
            (Err(e), Some(id)) => {
                let found = items::lock_item(tx, lock, id).await?;
                found.filter(|item| item.deleted_at.is_none()).ok_or(e)
            }
        }
    }
}

impl MailResponseView {
    /// `item`: the message that is changed; none for a new one.
    pub fn item(item: Option<&Item>, change: ResponseChange) -> Self {
        MailResponseView::Item { named: MessageKey::of(item), change: Arc::new(change) }
    }
}

/// Stores what became of a message, and the answer that shows it.
pub async fn commit(
    app: &App,
    asker: &RequestContext,
    connection: &Connection,
    mutated: Mutated,
    mut as_of: i64,
    told: MailResponseView,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let told = completed(told, &mutated)?;
    let mut sources = prepared(ResourceKind::EmailMessage, mutated.sources);
    for round in 0..=READ_AGAIN {
        // In the end what others stored stands, and the next pull reads what this write left behind.
        let is_last = round == READ_AGAIN;
        let written = (sources.clone(), as_of, is_last);
        let superseded = match store(app, connection, written, told.clone(), attempt).await? {
            Ok(answer) => return Ok(answer),
            Err(superseded) => superseded,
        };
        as_of = log::last_sequence(app.db.reader(), &asker.tenant).await?;
        sources.retain(|s| superseded.sources.contains(&s.source_id));
        sources = read_again(app, asker, connection, sources).await;
    }
    Err(anyhow::anyhow!("the last round answers whatever was superseded").into())
}

/// The answer where the provider had nothing to do.
pub async fn nothing(
    app: &App,
    connection: &Connection,
    told: MailResponseView,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let stored = store(app, connection, (Vec::new(), i64::MAX, true), told, attempt).await?;
    Ok(stored.map_err(|_| anyhow::anyhow!("nothing supersedes an empty write"))?)
}

/// The answer is about what the provider says that the call was about, under the name that it has now.
fn completed(told: MailResponseView, mutated: &Mutated) -> Result<MailResponseView> {
    let (MessageKey { id, source_id }, change, written) = match told {
        MailResponseView::Gone => return Ok(MailResponseView::Gone),
        MailResponseView::Item { named, change } => (named, change, None),
        MailResponseView::Draft { named, change, written } => (named, change, Some(written)),
    };
    let mut change = ResponseChange {
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
    let (named, change) = (MessageKey { id, source_id }, Arc::new(change));
    Ok(match written {
        None => MailResponseView::Item { named, change },
        Some(written) => MailResponseView::Draft { named, change, written },
    })
}

/// The sources as the provider has them now; those that it does not tell come with the next pull.
async fn read_again(
    app: &App,
    asker: &RequestContext,
    connection: &Connection,
    sources: Vec<NormalizedRecord>,
) -> Vec<NormalizedRecord> {
    let wanted = sources.iter().filter(|s| !s.items.is_empty());
    let reference = |s: &NormalizedRecord| MessageRef { source: s.source_id.clone(), hint: None };
    let args = MessagesGet { messages: wanted.map(reference).collect(), ..MessagesGet::default() };
    let read: Result<Sources> = fetch(app, connection, asker, (Surface::Email, "messages.get"), &args).await;
    let read = match read {
        Ok(read) => read,
        Err(e) => {
            tracing::warn!(error = %e, "the outcome of a write could not be read again");
            return Vec::new();
        }
    };
    let mut again = prepared(ResourceKind::EmailMessage, read.sources);
    for source in &mut again {
        let before = sources.iter().find(|s| s.source_id == source.source_id);
        source.previous_id = before.and_then(|s| s.previous_id.clone());
    }
    again.extend(sources.into_iter().filter(|s| s.deleted));
    again
}

/// An error: superseded, as `write_round` says it.
async fn store(
    app: &App,
    connection: &Connection,
    (sources, as_of, is_last): (Vec<NormalizedRecord>, i64, bool),
    told: MailResponseView,
    attempt: &IdempotentAttempt,
) -> Result<Result<StoredResponse, SupersededRecords>> {
    let place = CopyLocation { origin: Origin::Api, ..place(connection, ResourceKind::EmailMessage, "") };
    let (app, attempt) = (app.clone(), attempt.clone());
    let db = app.db.clone();
    db.write(move |tx| {
        Box::pin(async move {
            let lock = crate::local_copy::change::lock(tx, &place).await?;
            let round = (&sources[..], as_of, is_last);
            if let Some(superseded) = write_round(tx, &app, (&lock, &place), round).await? {
                return Ok(Err(superseded));
            }
            let answer = match told {
                MailResponseView::Gone => StoredResponse::no_content(),
                MailResponseView::Item { named, change } => {
                    shown(tx, &app, (&lock, &place), &named, &change).await?
                }
                MailResponseView::Draft { named, change, written } => {
                    shown_draft(tx, &app, (&lock, &place), (&named, &change), &written).await?
                }
            };
            attempt.store(tx, &app.keyring, &answer, app.now()).await?;
            Ok::<_, Error>(Ok(answer))
        })
    })
    .await
}

/// The answer that shows a stored message; its new metadata is stored first.
async fn shown(
    tx: &mut Tx,
    app: &App,
    (lock, place): (&ConnectionLock, &CopyLocation),
    named: &MessageKey,
    change: &ResponseChange,
) -> Result<StoredResponse> {
    let mut item = named.find(tx, lock).await?;
    if let Some(metadata) = &change.metadata {
        item = upsert::set_metadata(tx, app, place, item, serde_json::to_string(metadata)?).await?;
    }
    let mut answer =
        StoredResponse::json(change.status, render::item(&item, &change.warnings, false)).etag(&item.etag);
    if change.status == 201 {
        answer = answer.header("location", ResourceKind::of(&item)?.path(&item));
    }
    Ok(answer)
}

/// The same for a draft.
async fn shown_draft(
    tx: &mut Tx,
    app: &App,
    (lock, place): (&ConnectionLock, &CopyLocation),
    (named, change): (&MessageKey, &ResponseChange),
    written: &DraftRemainder,
) -> Result<StoredResponse> {
    let mut item = named.find(tx, lock).await?;
    if let Some(metadata) = &change.metadata {
        item = upsert::set_metadata(tx, app, place, item, serde_json::to_string(metadata)?).await?;
    }
    item = host_fields::set(tx, app, place, item, &written.own, "updated").await?;
    let text = crate::local_copy::mail::render_draft::printed(
        &item,
        Some(&written.content),
        &change.warnings,
        false,
    )?;
    let mut answer = StoredResponse::json(change.status, text).etag(&item.etag);
    if change.status == 201 {
        answer = answer.header("location", ResourceKind::EmailDraft.path(&item));
    }
    Ok(answer)
}

/// The live message of a source.
pub async fn of_source<'l>(
    tx: &mut Tx,
    lock: &'l ConnectionLock,
    source_id: &str,
) -> Result<Locked<'l, Item>> {
    let family = ResourceKind::EmailMessage.family();
    let found = items::lock_of_source(tx, lock, family, "", source_id).await?;
    found.into_iter().find(|i| i.deleted_at.is_none()).ok_or_else(|| not_found("message"))
}
