//! Texts and headers of messages: not kept here, asked of the provider for those who want them, all messages of a page at once.

use std::collections::HashMap;

use base::error::{Error, Result};
use base::tenant::Tenant;
use model::email::{EmailBody, EmailHeader, EmailMessage};
use model::wire::email::{MessageRef, MessagesGet};
use model::wire::{Source, Sources};
use runtime::Surface;
use serde_json::{Map, Value, json};
use storage::connections::Connection;
use storage::items::{self, Item};
use storage::log;

use crate::app::App;
use crate::freshness::DataAge;
use crate::log::Origin;
use crate::pages::Room;
use crate::resources::apply;
use crate::resources::commit::place;
use crate::resources::mail::filter::Query;
use crate::resources::mail::list::Row;
use crate::resources::mail::prepare::Aside;
use crate::resources::prepare::{Prepared, prepared};
use crate::resources::readable::missed;
use crate::resources::{Asker, Kind, fetch};
use crate::sync::page::apply_isolated;

/// Most bytes of each text of a message that are shown; what is longer is marked `truncated`.
pub const MAX_BODY: u32 = 2 << 20;
/// The same on a list, where there are many.
const MAX_LISTED_BODY: u32 = 256 << 10;
/// Messages asked for at a time.
const AT_ONCE: usize = 50;

/// How much of a message is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fields {
    #[default]
    Summary,
    Headers,
    Full,
}

/// A message to ask for.
#[derive(Clone, Debug)]
pub struct Wanted {
    pub id: String,
    pub connection_id: String,
    pub source_id: String,
    pub hint: Option<Value>,
}

/// What is not kept of a message.
#[derive(Clone, Debug, Default)]
pub struct Content {
    pub headers: Vec<EmailHeader>,
    pub body: Option<EmailBody>,
}

impl Content {
    /// How much there is to clean.
    pub fn bytes(&self) -> usize {
        self.body.iter().flat_map(|b| [&b.text, &b.html]).flatten().map(String::len).sum()
    }
}

/// The rows as they are shown, with what the query wants of them: the first ones where a page has no room for all.
pub async fn printed(
    app: &App,
    asker: &Asker,
    connections: &[Connection],
    rows: Vec<Row>,
    query: &Query,
) -> Result<Vec<String>> {
    let mut room = Room::new(rows.len());
    if query.fields == Fields::Summary {
        let texts = rows.into_iter().map(|row| row.text);
        return Ok(texts.take_while(|text| room.take(text.len())).collect());
    }
    let mut texts = Vec::with_capacity(rows.len());
    // Some at a time: what had no room on the page is then not asked for, but for the rest of its part.
    for part in rows.chunks(AT_ONCE) {
        let mut contents: HashMap<String, Content> = HashMap::new();
        for connection in connections {
            let of = part.iter().filter(|r| r.wanted.connection_id == connection.id);
            let wanted: Vec<Wanted> = of.map(|r| r.wanted.clone()).collect();
            if wanted.is_empty() {
                continue;
            }
            let read = ask(app, asker, connection, &wanted, query.fields, MAX_LISTED_BODY).await;
            match read {
                Ok(read) => contents.extend(content_of(app, asker, &wanted, &read.sources).await),
                // An account that does not answer hides nothing of the others: its messages are listed without their texts.
                Err(e) if connections.len() > 1 => missed(asker, connection, &e),
                Err(e) => return Err(e),
            }
        }
        for row in part {
            let text = match contents.remove(&row.id) {
                Some(content) => shown(app, &asker.tenant, &row.text, content, query.with_images).await?,
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

/// `with_content` where it holds up nobody: cleaning large HTML takes long.
pub async fn shown(
    app: &App,
    tenant: &Tenant,
    text: &str,
    content: Content,
    with_images: bool,
) -> Result<String> {
    app.compute
        .run(&tenant.application_id, content.bytes(), || with_content(text, content, with_images))
        .await
}

/// Asks the provider for messages, and notes that it was asked.
pub async fn ask(
    app: &App,
    asker: &Asker,
    connection: &Connection,
    wanted: &[Wanted],
    fields: Fields,
    max_body_bytes: u32,
) -> Result<Sources> {
    let messages = wanted.iter().map(|w| MessageRef { source: w.source_id.clone(), hint: w.hint.clone() });
    let args = MessagesGet {
        messages: messages.collect(),
        headers: fields != Fields::Summary,
        body: fields == Fields::Full,
        max_body_bytes,
    };
    let asked = app.now();
    let sources = fetch(app, connection, asker, (Surface::Email, "messages.get"), &args).await?;
    asker.reading.note(DataAge::provider(Some(asked)));
    Ok(sources)
}

/// What is not kept of messages, by our ids, read where it holds up nobody.
pub async fn content_of(
    app: &App,
    asker: &Asker,
    wanted: &[Wanted],
    sources: &[Source],
) -> HashMap<String, Content> {
    app.compute.run(&asker.tenant.application_id, size(sources), || of_sources(wanted, sources)).await
}

/// Bytes of what sources hold.
fn size(sources: &[Source]) -> usize {
    sources.iter().flat_map(|source| &source.items).map(|item| item.body.as_str().len()).sum()
}

/// What is not kept, by our ids.
fn of_sources(wanted: &[Wanted], sources: &[Source]) -> HashMap<String, Content> {
    let mut contents = HashMap::new();
    for source in sources {
        let Some(of) = wanted.iter().find(|w| w.source_id == source.external_id) else { continue };
        let Some(item) = source.items.first() else { continue };
        // One that cannot be read costs the others of its page nothing.
        let Ok(message) = item.body.read::<EmailMessage>() else {
            tracing::warn!(message = %of.id, "the connector's answer does not fit the model: its text is left out");
            continue;
        };
        contents.insert(of.id.clone(), Content { headers: message.headers, body: message.body });
    }
    contents
}

/// A printed message with its headers and its text.
pub fn with_content(text: &str, content: Content, with_images: bool) -> Result<String> {
    let mut message: Map<String, Value> = serde_json::from_str(text)?;
    let cids = cids(&message);
    let cid = |id: &str| cids.get(id).cloned();
    let options = ::mail::html::Safe { images: with_images, cid: &cid };
    let html = content.body.as_ref().and_then(|b| b.html.as_deref());
    let safe = html.map(|html| ::mail::html::safe(html, &options));
    if let Some(mut body) = content.body {
        body.safe_html = safe;
        message.insert("body".into(), json!(body));
    }
    message.insert("headers".into(), json!(content.headers));
    Ok(Value::Object(message).to_string())
}

/// Where the pictures of a message are that its HTML shows.
fn cids(message: &Map<String, Value>) -> HashMap<String, String> {
    let attachments = message.get("attachments").and_then(Value::as_array);
    let of = |a: &Value| {
        let id = a.get("contentId")?.as_str()?.to_owned();
        Some((id, format!("{}?format=raw", a.get("downloadUrl")?.as_str()?)))
    };
    attachments.into_iter().flatten().filter_map(of).collect()
}

/// Keeps what was read, if nobody wrote in the meantime. Where all of it is here already: the rows of these sources, in their order.
pub async fn keep(
    app: &App,
    connection: &Connection,
    sources: Vec<Source>,
    as_of: i64,
) -> Result<Option<Vec<Item>>> {
    let place = apply::Place { origin: Origin::Provider, ..place(connection, Kind::EmailMessage, "") };
    let (tenant, bytes) = (&connection.tenant.application_id, size(&sources));
    let mut sources = app.compute.run(tenant, bytes, || prepared(Kind::EmailMessage, sources)).await;
    let names: Vec<String> = sources.iter().map(|source| source.source_id.clone()).collect();
    let stored = items::of_sources(app.db.reader(), &connection.tenant, &connection.id, &names).await?;
    sources.retain(|source| !is_as_stored(source, &stored));
    if sources.is_empty() {
        return Ok(Some(stored));
    }
    let app = app.clone();
    let db = app.db.clone();
    db.write(move |tx| {
        Box::pin(async move {
            // Superseded by a pull or a write: that is as new, and the next pull tells which is newer.
            let lock = apply::lock(tx, &place).await?;
            // One that cannot be stored is told of by the pull that comes to it; the others are kept.
            let _ = apply_isolated(tx, &app, (&lock, &place), &mut sources, as_of).await?;
            Ok::<_, Error>(None)
        })
    })
    .await
}

/// The same was told before of the only item of the source, and nothing else since.
fn is_as_stored(source: &Prepared, stored: &[Item]) -> bool {
    let known = stored.iter().find(|item| item.source_id == source.source_id);
    let (Some(known), [fresh]) = (known, source.items.as_slice()) else { return false };
    let (was, is) = (Aside::of(known.aside.as_deref()), Aside::of(fresh.aside.as_deref()));
    source.error.is_none()
        && source.previous_id.is_none()
        && known.external_id == fresh.external_id
        && known.provider_etag == source.provider_etag
        && known.provider_data == fresh.provider_data
        && is.told.is_some()
        && (was.told, was.hint) == (is.told, is.hint)
}

/// The log's last sequence: what is read after it is newer than what it tells.
pub async fn now(app: &App, asker: &Asker) -> Result<i64> {
    Ok(log::last_sequence(app.db.reader(), &asker.tenant).await?)
}
