//! Bodies and headers of messages: not stored here, but fetched from the provider on request, for all messages of a page at once.

use std::collections::HashMap;

use base::error::Result;
use base::tenant::Tenant;
use model::email::EmailMessage;
use model::wire::email::{MessageRef, MessagesGet};
use model::wire::{Source, Sources};
use runtime::Surface;
use storage::connections::Connection;

use crate::app::App;
use crate::app::freshness::DataAge;
use crate::app::page_cache::PageBudget;
use crate::connections::provider_call::fetch;
use crate::connections::request_context::RequestContext;
use crate::local_copy::mail::render_content::{MessageContent, with_content};
use crate::resources::mail::filter::{MailQuery, MessageFields};
use crate::resources::mail::list_place::MailRow;
use crate::resources::readable::missed;
use crate::writes::provider_records::MessageToFetch;
use crate::writes::store_read::size;

/// Most bytes of each body that is shown; a longer one is cut and marked `truncated`.
pub const MAX_BODY: u32 = 2 << 20;
/// The same limit in a list.
const MAX_LISTED_BODY: u32 = 256 << 10;
/// Messages fetched at a time.
const MESSAGES_PER_FETCH: usize = 50;

/// Renders rows with the content that the query asks for: the first ones if not all fit on the page.
pub async fn render_rows(
    app: &App,
    asker: &RequestContext,
    connections: &[Connection],
    rows: Vec<MailRow>,
    query: &MailQuery,
) -> Result<Vec<String>> {
    let mut room = PageBudget::new(rows.len());
    if query.fields == MessageFields::Summary {
        let texts = rows.into_iter().map(|row| row.text);
        return Ok(texts.take_while(|text| room.take(text.len())).collect());
    }
    let mut texts = Vec::with_capacity(rows.len());
    // In chunks: messages that do not fit on the page are then not fetched, except the rest of the current chunk.
    for part in rows.chunks(MESSAGES_PER_FETCH) {
        let mut contents: HashMap<String, MessageContent> = HashMap::new();
        for connection in connections {
            let of = part.iter().filter_map(|row| row.wanted.as_ref());
            let wanted: Vec<MessageToFetch> =
                of.filter(|wanted| wanted.connection_id == connection.id).cloned().collect();
            if wanted.is_empty() {
                continue;
            }
            let read = ask(app, asker, connection, &wanted, query.fields, MAX_LISTED_BODY).await;
            match read {
                Ok(read) => contents.extend(content_of(app, asker, &wanted, &read.sources).await),
                // An account that does not answer must not hide the messages of the others: its messages are listed without bodies.
                Err(e) if connections.len() > 1 => missed(asker, connection, &e),
                Err(e) => return Err(e),
            }
        }
        for row in part {
            let text = match contents.remove(&row.id) {
                Some(content) => {
                    render_with_content(app, &asker.tenant, &row.text, content, query.with_images).await?
                }
                None => row.text.clone(),
            };
            if !room.take(text.len()) {
                return Ok(texts);
            }
            texts.push(text);
        }
    }
    Ok(texts)
}

/// Runs `with_content` on the compute pool: cleaning large HTML is slow.
pub async fn render_with_content(
    app: &App,
    tenant: &Tenant,
    text: &str,
    content: MessageContent,
    with_images: bool,
) -> Result<String> {
    app.compute
        .run(&tenant.application_id, content.bytes(), || with_content(text, content, with_images))
        .await
}

/// Fetches messages from the provider, and notes the call.
pub async fn ask(
    app: &App,
    asker: &RequestContext,
    connection: &Connection,
    wanted: &[MessageToFetch],
    fields: MessageFields,
    max_body_bytes: u32,
) -> Result<Sources> {
    let messages = wanted.iter().map(|w| MessageRef { source: w.source_id.clone(), hint: w.hint.clone() });
    let args = MessagesGet {
        messages: messages.collect(),
        headers: fields != MessageFields::Summary,
        body: fields == MessageFields::Full,
        max_body_bytes,
    };
    let asked = app.now();
    let sources = fetch(app, connection, asker, Surface::Email, "messages.get", &args).await?;
    asker.reading.note(DataAge::provider(Some(asked)));
    Ok(sources)
}

/// Parses fetched records on the compute pool. Returns the content that is not stored, by our message ids.
pub async fn content_of(
    app: &App,
    asker: &RequestContext,
    wanted: &[MessageToFetch],
    sources: &[Source],
) -> HashMap<String, MessageContent> {
    app.compute.run(&asker.tenant.application_id, size(sources), || of_sources(wanted, sources)).await
}

/// The content that is not stored, by our message ids.
fn of_sources(wanted: &[MessageToFetch], sources: &[Source]) -> HashMap<String, MessageContent> {
    let mut contents = HashMap::new();
    for source in sources {
        let Some(of) = wanted.iter().find(|w| w.source_id == source.external_id) else { continue };
        let Some(item) = source.items.first() else { continue };
        // A message that cannot be read does not affect the others of its page.
        let Ok(message) = item.body.read::<EmailMessage>() else {
            tracing::warn!(message_id = %of.id, "the connector's answer does not fit the model: its text is left out");
            continue;
        };
        contents.insert(of.id.clone(), MessageContent { headers: message.headers, body: message.body });
    }
    contents
}
