//! Threads for the API, built from their messages when they are read.

use std::collections::{BTreeSet, HashMap};

use base::error::{Result, not_found};
use model::Instant;
use model::email::{EmailAddress, EmailMessage, EmailThread};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use storage::items::Item;
use storage::mail as table;

use crate::app::App;
use crate::app::freshness::DataAge;
use crate::app::page_cache::PageBudget;
use crate::app::resource_kind::ResourceKind;
use crate::app::stored_response::StoredResponse;
use crate::connections::request_context::RequestContext;
use crate::local_copy::mail::threads;
use crate::local_copy::render;
use crate::resources::mail::filter::{self, MailQuery};
use crate::resources::mail::list;
use crate::resources::mail::list_place::MailAccounts;
use crate::sync::backfill;

/// Most threads that one page scans when a filter drops most of them; the page may then be short.
const MAX_SCANNED: usize = 1_000;
/// Most people that a thread lists.
const PARTICIPANTS: usize = 100;

/// A position in a list of threads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ThreadListPosition {
    #[serde(rename = "t")]
    pub at: i64,
    #[serde(rename = "i")]
    pub id: String,
}

/// One thread; the old id of a merged thread shows the thread that it is part of now.
pub async fn get(app: &App, asker: &RequestContext, id: &str) -> Result<StoredResponse> {
    let thread = threads::find(app, asker, id).await?;
    let connection = asker.connection(app, &thread.connection_id, "email.read").await?;
    asker.reading.note(backfill::refresh(app, &connection, asker.no_cache).await?);
    // The refresh may have merged it.
    let thread = threads::find(app, asker, id).await?;
    let mut found = table::messages_of(app.db.reader(), &asker.tenant, &[&thread.id]).await?;
    let messages = found.remove(&thread.id).ok_or_else(|| not_found("thread"))?;
    let (text, etag) =
        render_thread(&thread.id, thread.external_id.as_deref(), thread.created_at, id, &messages)?;
    Ok(StoredResponse::ok(text).etag(&etag))
}

/// A page of threads while it is built.
struct ThreadPage {
    texts: Vec<String>,
    /// Most threads on the page.
    limit: i64,
    room: PageBudget,
    /// Threads that were scanned.
    scanned: usize,
    /// The position after the last scanned thread.
    place: ThreadListPosition,
}

/// A page of threads by their newest message. During the initial sync of a mailbox the list goes as far back as the copy does: a page may
/// then be short, and its cursor continues where the copy ended.
pub async fn list(
    app: &App,
    asker: &RequestContext,
    query: &MailQuery,
    after: Option<ThreadListPosition>,
    limit: i64,
) -> Result<(Vec<String>, Option<ThreadListPosition>)> {
    let opened = list::open(app, asker, query).await?;
    list::freshen(app, asker, &opened).await?;
    let deadline = tokio::time::Instant::now() + list::PATIENCE;
    let mut page = ThreadPage {
        texts: Vec::new(),
        limit,
        room: PageBudget::new(usize::try_from(limit).unwrap_or(usize::MAX)),
        scanned: 0,
        place: after.unwrap_or(ThreadListPosition { at: i64::MAX, id: String::new() }),
    };
    loop {
        let bound = list::bound(app, asker, &opened.connections).await?;
        if fill(app, asker, query, &opened, bound, &mut page).await? {
            return Ok((page.texts, Some(page.place)));
        }
        if bound == i64::MIN || query.received_after.is_some_and(|after| after >= bound) {
            return Ok((page.texts, None));
        }
        // The copy ends here. Matches so far are returned; without any, the list waits.
        if (bound, "") < (page.place.at, page.place.id.as_str()) {
            page.place = ThreadListPosition { at: bound, id: String::new() };
        }
        let is_late = tokio::time::Instant::now() >= deadline;
        if page.place.at != i64::MAX && (is_late || !page.texts.is_empty()) {
            return Ok((page.texts, Some(page.place)));
        }
        list::further(app, asker, &opened.connections).await?;
        asker.reading.note(DataAge::provider(Some(app.now())));
    }
}

/// Adds the threads whose newest message was received at `bound` (Unix ms) or later. Returns true if the page is full or the scan limit was
/// reached.
async fn fill(
    app: &App,
    asker: &RequestContext,
    query: &MailQuery,
    opened: &MailAccounts,
    bound: i64,
    page: &mut ThreadPage,
) -> Result<bool> {
    let connection_id = match opened.connections.as_slice() {
        [one] => one.id.as_str(),
        _ => "",
    };
    let wanted = usize::try_from(page.limit).unwrap_or(usize::MAX);
    loop {
        let (reader, tenant) = (app.db.reader(), &asker.tenant);
        let before = (page.place.at, page.place.id.as_str());
        let mut found = table::list_threads(reader, tenant, connection_id, before, page.limit + 1).await?;
        let is_end = found.len() <= wanted || found.last().is_some_and(|thread| thread.latest_at < bound);
        // Of older mail, only messages that searches found are stored.
        found.retain(|thread| thread.latest_at >= bound);
        let is_asked = |id: &str| opened.connections.iter().any(|c| c.id == id) && asker.may_use(id);
        let asked = found.iter().filter(|thread| is_asked(&thread.connection_id));
        let ids: Vec<&str> = asked.map(|thread| thread.id.as_str()).collect();
        let mut messages = table::messages_of(reader, tenant, &ids).await?;
        for thread in found {
            if page.room.is_full() {
                return Ok(true);
            }
            page.scanned += 1;
            let messages = messages.remove(&thread.id).unwrap_or_default();
            if is_listed(query, &messages)? {
                let external_id = thread.external_id.as_deref();
                let text =
                    render_thread(&thread.id, external_id, thread.created_at, &thread.id, &messages)?.0;
                if !page.room.take(text.len()) {
                    return Ok(true);
                }
                page.texts.push(text);
            }
            page.place = ThreadListPosition { at: thread.latest_at, id: thread.id };
        }
        if is_end {
            return Ok(false);
        }
        if page.room.is_full() || page.scanned >= MAX_SCANNED {
            return Ok(true);
        }
    }
}

/// Whether a thread is listed: one of its messages matches the query.
fn is_listed(query: &MailQuery, messages: &[Item]) -> Result<bool> {
    let (mask, flags) = filter::bits(query);
    let narrow = filter::FoldedFilter::from_query(query);
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    struct Places {
        folder_ids: Vec<String>,
        label_ids: Vec<String>,
    }
    for item in messages {
        let places: Places = serde_json::from_str(&item.body)?;
        let among = |id: &Option<String>, ids: &[String]| id.as_ref().is_none_or(|id| ids.contains(id));
        let is_in = among(&query.folder_id, &places.folder_ids) && among(&query.label_id, &places.label_ids);
        let is_then = query.received_after.is_none_or(|at| item.sort_at >= at)
            && query.received_before.is_none_or(|at| item.sort_at < at);
        if is_in && is_then && item.flags & mask == flags && narrow.admits(&item.body)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The JSON of a thread, and its etag. `asked` is the id in the request.
fn render_thread(
    id: &str,
    external_id: Option<&str>,
    created_at: i64,
    asked: &str,
    items: &[Item],
) -> Result<(String, String)> {
    let mut thread = summary(items)?;
    thread.merged_into = (asked != id).then(|| id.to_owned());
    let etag = format!("\"{}\"", hex::encode(&Sha256::digest(serde_json::to_string(&thread)?)[..8]));
    let connection_id = items.first().map(|i| i.connection_id.clone());
    let updated_at = items.iter().map(|i| i.updated_at).max().unwrap_or(created_at);
    let mut printed: Map<String, Value> = Map::new();
    printed.insert("id".into(), json!(id));
    printed.insert("connectionId".into(), json!(connection_id));
    printed.insert("externalId".into(), json!(external_id));
    if let Value::Object(fields) = serde_json::to_value(thread)? {
        printed.extend(fields);
    }
    if let Some(latest) = items.last() {
        printed.insert("latestMessage".into(), serde_json::from_str(&render::item(latest, &[], false))?);
    }
    let at = |ms| json!(Instant::from_millis(ms));
    printed.insert("metadata".into(), json!({}));
    printed.insert("createdAt".into(), at(created_at));
    printed.insert("updatedAt".into(), at(updated_at));
    printed.insert("etag".into(), json!(etag));
    printed.insert("warnings".into(), json!([]));
    Ok((Value::Object(printed).to_string(), etag))
}

/// Aggregates a thread from its messages, oldest first.
fn summary(items: &[Item]) -> Result<EmailThread> {
    let mut thread = EmailThread::default();
    let (mut folders, mut labels) = (BTreeSet::new(), BTreeSet::new());
    let mut seen: HashMap<String, usize> = HashMap::new();
    for item in items {
        let message: EmailMessage = serde_json::from_str(&item.body)?;
        let is_draft = item.kind == ResourceKind::EmailDraft.as_str();
        match is_draft {
            true => thread.draft_ids.push(item.id.clone()),
            false => thread.message_ids.push(item.id.clone()),
        }
        thread.unread_count += i64::from(message.unread && !is_draft);
        thread.starred |= message.starred;
        thread.has_attachments |= message.has_attachments;
        thread.earliest_message_at = thread.earliest_message_at.or(Some(message.received_at));
        match message.sent_at.filter(|_| message.delivery.is_some()) {
            Some(sent) => thread.latest_sent_at = thread.latest_sent_at.max(Some(sent)),
            None if !is_draft => thread.latest_received_at = Some(message.received_at),
            None => {}
        }
        if thread.subject.is_none() {
            thread.subject.clone_from(&message.subject);
        }
        thread.snippet.clone_from(&message.snippet);
        folders.extend(message.folder_ids);
        labels.extend(message.label_ids);
        for person in message.from.into_iter().chain(message.to).chain(message.cc) {
            take_part(&mut thread.participants, &mut seen, person);
        }
    }
    thread.message_count = i64::try_from(thread.message_ids.len()).unwrap_or(i64::MAX);
    thread.unread = thread.unread_count > 0;
    thread.has_drafts = !thread.draft_ids.is_empty();
    thread.folder_ids = folders.into_iter().collect();
    thread.label_ids = labels.into_iter().collect();
    Ok(thread)
}

/// Adds a participant unless the address is already listed; keeps the first name that was given. At most `PARTICIPANTS`.
fn take_part(people: &mut Vec<EmailAddress>, seen: &mut HashMap<String, usize>, person: EmailAddress) {
    let key = ::mail::address::folded(&person.email);
    match seen.get(&key) {
        Some(at) => {
            if let Some(known) = people.get_mut(*at).filter(|known| known.name.is_none()) {
                known.name = person.name;
            }
        }
        None if people.len() < PARTICIPANTS => {
            seen.insert(key, people.len());
            people.push(person);
        }
        None => {}
    }
}
