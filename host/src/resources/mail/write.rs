//! Changes and deletions of messages.

use std::collections::BTreeSet;

use base::error::{Code, Result, not_found, refuse};
use base::input::errors::field_error;
use base::input::merge_patch;
use base::input::validate::{fault, length};
use model::email::EmailMessage;
use model::wire::Mutated;
use model::wire::email::{MessageDelete, MessageUpdate};
use runtime::Surface;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use storage::connections::Connection;
use storage::items::Item;
use storage::log;

use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::connections::provider_call::mutate;
use crate::connections::request_context::RequestContext;
use crate::local_copy::mail::source_names::is_only_here;
use crate::local_copy::render;
use crate::resources::collection_items::WriteOptions;
use crate::resources::mail::bodies;
use crate::resources::mail::filter::MessageFields;
use crate::resources::mail::read::{self, find, open};
use crate::sending::cancel;
use crate::sync::backfill;
use crate::writes::etag::{ExpectedEtag, stale};
use crate::writes::mail::{self, MailResponseView};
use crate::writes::provider_records::reference;
use crate::writes::reconcile::gone;
use crate::writes::response::ResponseChange;

/// Fields that a caller changes.
const WRITABLE: [&str; 6] = ["unread", "starred", "answered", "folderIds", "labelIds", "importance"];
/// Labels and keywords that one change names.
const MANY: usize = 100;
/// Characters of a keyword.
const KEYWORD: usize = 100;

/// Changes that are no fields.
struct MessageMoves {
    add_label_ids: Vec<String>,
    remove_label_ids: Vec<String>,
    add_keywords: Vec<String>,
    remove_keywords: Vec<String>,
}

/// Changes flags, folders, labels, keywords and metadata.
pub async fn update(
    app: &App,
    asker: &RequestContext,
    id: &str,
    mut input: Map<String, Value>,
    manner: WriteOptions,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let _one = app.locks.lock(&format!("item:{id}")).await;
    let (connection, item) = current(app, asker, id, attempt.resumed).await?;
    if is_only_here(&item.source_id) && input.keys().any(|name| name != "metadata") {
        let message = "the message is not in the mailbox: only its metadata can be changed";
        return Err(refuse(Code::InvalidState, message));
    }
    let moves = moves(&mut input)?;
    let before: EmailMessage = serde_json::from_str(&item.body)?;
    let printed = printed(app, asker, &connection, &item, &input).await?;
    // What only a provider sets, and what is shown of a message beside what is stored.
    let read_only: Vec<&str> = printed
        .as_object()
        .into_iter()
        .flat_map(|o| o.keys().map(String::as_str))
        .filter(|name| !WRITABLE.contains(name))
        .collect();
    drop_equal(&mut input, &printed);
    let write = merge_patch::over(&before, &printed, input, &read_only)?;
    let warnings = merge_patch::warnings(&write.unknown, manner.strict)?;
    let change = ResponseChange { status: 200, metadata: write.metadata, warnings };
    let mut args = MessageUpdate {
        message: reference(&item),
        if_match: manner.expected.provider_etag(&item),
        ..MessageUpdate::default()
    };
    changes(app, asker, &connection, (&before, &write.body), moves, &mut args).await?;
    let is_same = MessageUpdate {
        message: args.message.clone(),
        if_match: args.if_match.clone(),
        ..Default::default()
    } == args;
    if !(attempt.resumed && is_same) {
        manner.expected.check(&item.etag)?;
    }
    let told = MailResponseView::item(Some(&item), change);
    if is_same {
        return mail::nothing(app, &connection, told, attempt).await;
    }
    let as_of = log::last_sequence(app.db.reader(), &asker.tenant).await?;
    let op = (Surface::Email, "messages.update");
    match mutate::<_, Mutated>(app, &connection, asker, attempt, op, &args).await {
        Ok(mutated) => mail::commit(app, asker, &connection, mutated, as_of, told, attempt).await,
        Err(e) => Err(conflict(app, asker, &connection, &item, e).await),
    }
}

/// The message as fresh as a read, with its connection.
async fn current(app: &App, asker: &RequestContext, id: &str, look: bool) -> Result<(Connection, Item)> {
    let (connection, _) = open(app, asker, id, "email.write").await?;
    backfill::ensure(app, &connection, look).await?;
    Ok((connection, find(app, asker, id).await?))
}

/// The message as a read shows it; with its text where the caller sends that back.
async fn printed(
    app: &App,
    asker: &RequestContext,
    connection: &Connection,
    item: &Item,
    input: &Map<String, Value>,
) -> Result<Value> {
    let text = render::item(item, &[], true);
    let sends = |name: &str| input.get(name).is_some_and(|v| !v.is_null() && *v != Value::Array(Vec::new()));
    if !sends("body") && !sends("headers") {
        return Ok(serde_json::from_str(&text)?);
    }
    let (_, content) = read::read(app, asker, connection, item.clone(), MessageFields::Full).await?;
    let shown = bodies::shown(app, &asker.tenant, &text, content, false).await?;
    Ok(serde_json::from_str(&shown)?)
}

/// A summary repeats a message without its text: that is no wish to empty it.
fn drop_equal(input: &mut Map<String, Value>, printed: &Value) {
    if input.get("body").is_some_and(Value::is_null) {
        input.remove("body");
    }
    if input.get("headers").is_some_and(|v| *v == Value::Array(Vec::new())) {
        input.remove("headers");
    }
    input.retain(|name, value| printed.get(name) != Some(value));
}

fn moves(input: &mut Map<String, Value>) -> Result<MessageMoves> {
    Ok(MessageMoves {
        add_label_ids: taken(input, "addLabelIds")?,
        remove_label_ids: taken(input, "removeLabelIds")?,
        add_keywords: keywords("addKeywords", taken(input, "addKeywords")?)?,
        remove_keywords: keywords("removeKeywords", taken(input, "removeKeywords")?)?,
    })
}

fn taken<T: DeserializeOwned + Default>(input: &mut Map<String, Value>, name: &str) -> Result<T> {
    match input.remove(name) {
        None | Some(Value::Null) => Ok(T::default()),
        Some(value) => serde_path_to_error::deserialize(&value).map_err(|e| {
            let path = e.path().to_string();
            let field = if path == "." { name.to_owned() } else { format!("{name}{path}") };
            field_error(&field, &e.inner().to_string())
        }),
    }
}

/// Keywords are atoms of IMAP (RFC 9051 section 9), and JMAP's have the same characters (RFC 8621 section 4.1.1). `$seen` and its
/// like are fields.
pub fn keywords(field: &str, given: Vec<String>) -> Result<Vec<String>> {
    length(field, given.len(), MANY)?;
    let own = ["$seen", "$flagged", "$answered", "$draft", "$forwarded", "$recent", "$deleted"];
    let mut found = Vec::with_capacity(given.len());
    for (i, keyword) in given.into_iter().enumerate() {
        let field = format!("{field}[{i}]");
        let keyword = keyword.to_ascii_lowercase();
        let is_atom = !keyword.is_empty()
            && keyword.len() <= KEYWORD
            && keyword.bytes().all(|b| b.is_ascii_graphic() && !b"(){%*\"\\]".contains(&b));
        if !is_atom {
            let rest =
                format!("must have 1 to {KEYWORD} visible ASCII characters other than ( ) {{ ] % * \" \\");
            return Err(fault(&field, &rest));
        }
        if own.contains(&keyword.as_str()) {
            return Err(fault(
                &field,
                "has a field of its own: unread, starred, answered, forwarded or draft",
            ));
        }
        found.push(keyword);
    }
    Ok(found)
}

/// What the connector is asked to change: only what differs.
async fn changes(
    app: &App,
    asker: &RequestContext,
    connection: &Connection,
    (before, after): (&EmailMessage, &EmailMessage),
    moves: MessageMoves,
    args: &mut MessageUpdate,
) -> Result<()> {
    let differs = |before: bool, after: bool| (before != after).then_some(after);
    args.unread = differs(before.unread, after.unread);
    args.starred = differs(before.starred, after.starred);
    args.answered = differs(before.answered, after.answered);
    args.importance = (before.importance != after.importance).then_some(after.importance);
    let has = |keyword: &String| before.keywords.contains(keyword);
    args.add_keywords = moves.add_keywords.into_iter().filter(|k| !has(k)).collect();
    args.remove_keywords = moves.remove_keywords.into_iter().filter(has).collect();
    let set = |ids: &[String]| ids.iter().cloned().collect::<BTreeSet<String>>();
    if set(&before.folder_ids) != set(&after.folder_ids) {
        if after.folder_ids.is_empty() {
            return Err(fault("folderIds", "must name a folder: DELETE takes a message away"));
        }
        let kind = (ResourceKind::EmailFolder, "folderIds");
        args.folders = Some(named(app, asker, connection, kind, &after.folder_ids).await?);
    }
    let mut labels = set(&after.label_ids);
    labels.extend(moves.add_label_ids.iter().cloned());
    for gone in &moves.remove_label_ids {
        labels.remove(gone);
    }
    let had = set(&before.label_ids);
    let added: Vec<String> = labels.difference(&had).cloned().collect();
    let removed: Vec<String> = had.difference(&labels).cloned().collect();
    let field = if moves.add_label_ids.is_empty() { "labelIds" } else { "addLabelIds" };
    args.add_labels = named(app, asker, connection, (ResourceKind::EmailLabel, field), &added).await?;
    args.remove_labels =
        named(app, asker, connection, (ResourceKind::EmailLabel, "removeLabelIds"), &removed).await?;
    Ok(())
}

/// What the provider calls these folders or labels of the connection.
pub async fn named(
    app: &App,
    asker: &RequestContext,
    connection: &Connection,
    (kind, field): (ResourceKind, &str),
    ids: &[String],
) -> Result<Vec<String>> {
    length(field, ids.len(), MANY)?;
    let mut names = Vec::with_capacity(ids.len());
    for (i, id) in ids.iter().enumerate() {
        let found = match asker.item(app, kind, id).await {
            Err(e) if e.code() == Some(Code::NotFound) => None,
            other => Some(other?),
        };
        let item = found.filter(|item| item.connection_id == connection.id);
        let item = item.ok_or_else(|| {
            fault(&format!("{field}[{i}]"), &format!("names no {} of this connection", kind.noun()))
        })?;
        names.push(item.external_id);
    }
    Ok(names)
}

/// Moves a message to the trash; one that is there, or with `permanent`, is destroyed. One that waits to be sent is taken back.
pub async fn delete(
    app: &App,
    asker: &RequestContext,
    id: &str,
    (expected, permanent): (ExpectedEtag, bool),
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let _one = app.locks.lock(&format!("item:{id}")).await;
    let (connection, item) = match current(app, asker, id, attempt.resumed).await {
        // An earlier attempt got as far as this.
        Err(e) if attempt.resumed && e.code() == Some(Code::NotFound) => {
            return Ok(StoredResponse::no_content());
        }
        other => other?,
    };
    expected.check(&item.etag)?;
    if is_only_here(&item.source_id) {
        return cancel::cancel(app, &connection, &item, permanent, attempt).await;
    }
    if !attempt.resumed {
        cancel::check_late_cancel(&item, permanent || expected != ExpectedEtag::Anything, app.now())?;
    }
    let args =
        MessageDelete { message: reference(&item), permanent, if_match: expected.provider_etag(&item) };
    let as_of = log::last_sequence(app.db.reader(), &asker.tenant).await?;
    let op = (Surface::Email, "messages.delete");
    let mutated = match mutate::<_, Mutated>(app, &connection, asker, attempt, op, &args).await {
        Ok(mutated) => mutated,
        // Somebody else destroyed it first: that is what was asked for.
        Err(e) if e.code() == Some(Code::NotFound) => {
            Mutated { sources: vec![gone(&item.source_id)], ..Mutated::default() }
        }
        Err(e) => return Err(conflict(app, asker, &connection, &item, e).await),
    };
    mail::commit(app, asker, &connection, mutated, as_of, MailResponseView::Gone, attempt).await
}

/// The provider had another version: it is read, so that the caller gets the etag that is true now.
pub async fn conflict(
    app: &App,
    asker: &RequestContext,
    connection: &Connection,
    item: &Item,
    e: base::error::Error,
) -> base::error::Error {
    if e.code() != Some(Code::StaleEtag) {
        return e;
    }
    match read::read(app, asker, connection, item.clone(), MessageFields::Summary).await {
        Ok((now, _)) => stale(&now.etag),
        Err(failed) if failed.code() == Some(Code::NotFound) => not_found("message"),
        Err(failed) => {
            tracing::warn!(error = %failed, "the current version could not be read");
            e
        }
    }
}
