//! Reads records again that a pull stored while the provider worked on a write: only the provider knows which of the two came last.

use base::error::{Code, Result, refuse};
use model::wire::email::{MessageRef, MessagesGet};
use model::wire::{ChangesRequest, Source, SourceRef, Sources};
use runtime::Surface;

use crate::app::resource_kind::ResourceKind;
use crate::connections::call::{CallOptions, Op, Reply};
use crate::connections::provider_call::{deleted_source, fetch, run};
use crate::connections::write_context::WriteContext;
use crate::local_copy::change::SupersededRecords;
use crate::local_copy::normalize::prepared;
use crate::local_copy::record::NormalizedRecord;
use crate::writes::open_collection::{OpenCollection, WriteLocation};

/// Most pages of a list of collections.
const MAX_LIST_PAGES: usize = 100;

/// Returns the superseded records in the provider's present version; those that it does not return are left out, and come with the next
/// pull. `before`: all records of the write.
pub(crate) async fn read_again(
    cx: &WriteContext,
    location: WriteLocation<'_>,
    mut before: Vec<NormalizedRecord>,
    superseded: &SupersededRecords,
) -> Vec<NormalizedRecord> {
    before.retain(|record| superseded.sources.contains(&record.source_id));
    match location.opened {
        Some(opened) => items(cx, opened, &superseded.sources).await,
        None if location.kind.is_mail() => or_nothing(messages(cx, location, before).await),
        None => collections(cx, location, before, &superseded.sources).await,
    }
}

/// Returns the records that were read; none after a failure.
fn or_nothing<T>(read: Result<Vec<T>>) -> Vec<T> {
    read.unwrap_or_else(|e| {
        tracing::warn!(error = %e, "the outcome of a write could not be read again");
        Vec::new()
    })
}

async fn items(cx: &WriteContext, opened: &OpenCollection, names: &[String]) -> Vec<NormalizedRecord> {
    let mut found = Vec::new();
    for name in names {
        found.extend(or_nothing(read_source(cx, opened, name).await));
    }
    prepared(opened.kind, found)
}

/// Returns the provider's present version of a record; a deleted one is marked as such.
pub(crate) async fn read_source(
    cx: &WriteContext,
    opened: &OpenCollection,
    source_id: &str,
) -> Result<Vec<Source>> {
    let args = SourceRef {
        collection: opened.collection.external_id.clone(),
        source: source_id.to_owned(),
        time_zone: Some(opened.zone.clone()),
    };
    let (kind, connection) = (opened.kind, &opened.account.connection);
    let read: Result<Sources> =
        fetch(&cx.app, connection, &cx.request, kind.surface(), kind.ops().get, &args).await;
    match read {
        Ok(sources) => Ok(sources.sources),
        Err(e) if e.code() == Some(Code::NotFound) => Ok(vec![deleted_source(source_id)]),
        Err(e) => Err(e),
    }
}

/// Returns messages, and the deletions of the write.
async fn messages(
    cx: &WriteContext,
    location: WriteLocation<'_>,
    before: Vec<NormalizedRecord>,
) -> Result<Vec<NormalizedRecord>> {
    let wanted = before.iter().filter(|record| !record.items.is_empty());
    let reference = |record: &NormalizedRecord| MessageRef { source: record.source_id.clone(), hint: None };
    let args = MessagesGet { messages: wanted.map(reference).collect(), ..MessagesGet::default() };
    let (connection, asker) = (location.connection, &cx.request);
    let read: Sources = fetch(&cx.app, connection, asker, Surface::Email, "messages.get", &args).await?;
    let mut again = prepared(ResourceKind::EmailMessage, read.sources);
    for record in &mut again {
        let known = before.iter().find(|known| known.source_id == record.source_id);
        record.previous_id = known.and_then(|known| known.previous_id.clone());
    }
    again.extend(before.into_iter().filter(|record| record.deleted));
    Ok(again)
}

/// Returns collections, which cannot be read one by one, from their list; and the deletions of the write, unless the list contains them. If
/// the list cannot be read, they count as deleted: one that was created again comes with the next list.
async fn collections(
    cx: &WriteContext,
    location: WriteLocation<'_>,
    before: Vec<NormalizedRecord>,
    names: &[String],
) -> Vec<NormalizedRecord> {
    let mut again = prepared(location.kind, or_nothing(list_collections(cx, location).await));
    again.retain(|record| names.contains(&record.source_id));
    for record in before.into_iter().filter(|record| record.deleted) {
        if !again.iter().any(|listed| listed.source_id == record.source_id) {
            again.push(record);
        }
    }
    again
}

/// Returns all collections of the kind that the account has now.
async fn list_collections(cx: &WriteContext, location: WriteLocation<'_>) -> Result<Vec<Source>> {
    let (verb, name) = location.kind.ops().pull;
    let op = Op { surface: location.kind.surface(), verb, name };
    let args = ChangesRequest { limit: cx.app.config.pull_page, ..ChangesRequest::default() };
    let (mut found, mut cursor) = (Vec::new(), None);
    for _ in 0..MAX_LIST_PAGES {
        let request_id = cx.request.request_id.clone();
        let options = CallOptions { cursor, request_id, ..CallOptions::default() };
        let page: Reply<Sources> = run(&cx.app, location.connection, op, &args, options).await?;
        found.extend(page.body.sources);
        if !page.more || page.cursor.is_none() {
            return Ok(found);
        }
        cursor = page.cursor;
    }
    Err(refuse(Code::ConnectorError, "the connector's list of collections does not end"))
}
