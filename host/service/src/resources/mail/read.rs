//! One message with its body, fetched from the provider, whose answer also updates the flags.

use base::error::{Code, Result, not_found, refuse};
use storage::connections::Connection;
use storage::items::{self, Item};

use crate::app::App;
use crate::app::freshness::DataAge;
use crate::app::resource_kind::ResourceKind;
use crate::app::stored_response::StoredResponse;
use crate::connections::provider_call::deleted_source;
use crate::connections::request_context::RequestContext;
use crate::local_copy::mail::render_content::{MessageContent, content_of};
use crate::local_copy::mail::source_names::is_only_here;
use crate::local_copy::render;
use crate::resources::mail::bodies::{self, MAX_BODY};
use crate::resources::mail::filter::MessageFields;
use crate::sync::backfill;
use crate::writes::provider_records::message_to_fetch;

/// Options of reading a message.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions {
    pub fields: MessageFields,
    /// Whether remote images are included.
    pub with_images: bool,
    pub with_provider_data: bool,
}

/// A message or draft that the key may read. A draft is a message too: its id is valid here.
pub async fn find(app: &App, asker: &RequestContext, id: &str) -> Result<Item> {
    asker.ensure_scope(ResourceKind::EmailMessage.read_scope())?;
    let missing = || not_found("message");
    if !base::ids::is_plausible(id) {
        return Err(missing());
    }
    let found = items::any(app.db.resources(), &asker.tenant, id).await?;
    let is_message = |i: &Item| {
        i.kind == ResourceKind::EmailMessage.as_str() || i.kind == ResourceKind::EmailDraft.as_str()
    };
    found.filter(|i| is_message(i) && asker.may_use(&i.connection_id)).ok_or_else(missing)
}

/// As `find`, with the connection, on which this scope must be granted.
pub async fn open(app: &App, asker: &RequestContext, id: &str, scope: &str) -> Result<(Connection, Item)> {
    let item = find(app, asker, id).await?;
    let connection = asker.connection(app, &item.connection_id, scope).await?;
    Ok((connection, item))
}

/// A message as it is shown.
pub async fn get(app: &App, asker: &RequestContext, id: &str, shown: ReadOptions) -> Result<StoredResponse> {
    let (connection, item) = open(app, asker, id, "email.read").await?;
    if shown.fields == MessageFields::Summary {
        asker.reading.note(backfill::refresh(app, &connection, asker.no_cache).await?);
        let item = find(app, asker, id).await?;
        return Ok(StoredResponse::ok(render::item(&item, &[], shown.with_provider_data)).etag(&item.etag));
    }
    let (item, content) = match is_only_here(&item.source_id) {
        true => {
            let content = outgoing(app, asker, &item).await?;
            asker.reading.note(DataAge::local(Some(app.now())));
            (item, content)
        }
        false => read(app, asker, &connection, item, shown.fields).await?,
    };
    let text = render::item(&item, &[], shown.with_provider_data);
    let text = bodies::render_with_content(app, &asker.tenant, &text, content, shown.with_images).await?;
    Ok(StoredResponse::ok(text).etag(&item.etag))
}

/// The body of an outgoing message; empty for one that was sent without a copy.
async fn outgoing(app: &App, asker: &RequestContext, item: &Item) -> Result<MessageContent> {
    let pieces = storage::outbox::pieces(app.db.reader(), &item.id).await?;
    Ok(match pieces.is_empty() {
        true => MessageContent::default(),
        false => {
            let bytes = pieces.iter().map(String::len).sum();
            let read = || content_of(pieces.concat().as_bytes());
            app.compute.run(&asker.tenant.application_id, bytes, read).await
        }
    })
}

/// A message with the content that is not stored. Fields that changed at the provider are stored.
pub async fn read(
    app: &App,
    asker: &RequestContext,
    connection: &Connection,
    item: Item,
    fields: MessageFields,
) -> Result<(Item, MessageContent)> {
    let as_of = crate::writes::store_read::now(app, asker).await?;
    let wanted = [message_to_fetch(&item)];
    let asked = bodies::ask(app, asker, connection, &wanted, fields, MAX_BODY).await;
    let mut sources = match asked {
        Err(e) if e.code() == Some(Code::NotFound) => Vec::new(),
        other => other?.sources,
    };
    sources.retain(|s| s.external_id == item.source_id);
    if sources.iter().all(|s| s.items.is_empty() && s.error.is_none()) {
        // It was deleted or moved by another program: the next pull shows which.
        backfill::ensure(app, connection, true).await?;
        let moved = find(app, asker, &item.id).await?;
        if is_only_here(&moved.source_id) {
            // It is being sent: the provider has no id for it, and must not be asked for ours.
            return Err(not_found("message"));
        }
        if moved.source_id == item.source_id {
            crate::writes::store_read::store(app, connection, vec![deleted_source(&item.source_id)], as_of)
                .await?;
            return Err(not_found("message"));
        }
        return Box::pin(read(app, asker, connection, moved, fields)).await;
    }
    let content = bodies::content_of(app, asker, &wanted, &sources).await.remove(&item.id);
    if content.is_none() && sources.iter().any(|s| !s.items.is_empty()) {
        return Err(refuse(
            Code::ConnectorError,
            "the connector's answer does not fit the model of a message",
        ));
    }
    let content = content.unwrap_or_default();
    let kept = crate::writes::store_read::store(app, connection, sources, as_of).await?.unwrap_or_default();
    let item = match kept.into_iter().find(|kept| kept.id == item.id) {
        Some(kept) => kept,
        None => find(app, asker, &item.id).await?,
    };
    Ok((item, content))
}
