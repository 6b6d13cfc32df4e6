//! Changes and deletions of messages.

use std::collections::BTreeSet;

use base::error::{Code, Error, Result, not_found, refuse};
use base::input::errors::field_error;
use base::input::merge_patch;
use base::input::validate::{fault, length};
use model::bounds::mail::{MAX_KEYWORD, MAX_KEYWORDS};
use model::email::EmailMessage;
use model::wire::email::{MessageDelete, MessageUpdate};
use runtime::Surface;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use storage::connections::Connection;
use storage::items::Item;

use crate::app::freshness::scope_name;
use crate::app::resource_kind::ResourceKind;
use crate::app::stored_response::StoredResponse;
use crate::connections::provider_call::{ProviderChange, ProviderWrite, call_deletion, call_provider};
use crate::connections::write_context::{WriteAccount, WriteContext};
use crate::local_copy::mail::source_names::is_only_here;
use crate::local_copy::render;
use crate::resources::collection_items::WriteOptions;
use crate::resources::mail::bodies;
use crate::resources::mail::filter::MessageFields;
use crate::resources::mail::read::{self, find};
use crate::resources::open_item::{KnownItem, ensure_mailbox_fresh};
use crate::sending::cancel;
use crate::sync::scope::SyncScope;
use crate::writes::etag::{ExpectedEtag, stale};
use crate::writes::mail::MessageView;
use crate::writes::open_collection::WriteLocation;
use crate::writes::provider_records::reference;
use crate::writes::reconcile::reconcile;
use crate::writes::response::{GoneView, ResponseChange};

/// Fields that a caller may change.
const WRITABLE: [&str; 6] = ["unread", "starred", "answered", "folderIds", "labelIds", "importance"];

/// Label and keyword changes, which are no fields of a message.
struct MessageMoves {
    add_label_ids: Vec<String>,
    remove_label_ids: Vec<String>,
    add_keywords: Vec<String>,
    remove_keywords: Vec<String>,
}

/// Changes flags, folders, labels, keywords and metadata.
pub async fn update(
    cx: &WriteContext,
    id: &str,
    mut input: Map<String, Value>,
    manner: WriteOptions,
) -> Result<StoredResponse> {
    let _one = cx.app.locks.lock(&format!("item:{id}")).await;
    let (account, item) = current(cx, id).await?;
    let connection = &account.connection;
    if is_only_here(&item.source_id) && input.keys().any(|name| name != "metadata") {
        let message = "the message is not in the mailbox: only its metadata can be changed";
        return Err(refuse(Code::InvalidState, message));
    }
    let moves = moves(&mut input)?;
    let before: EmailMessage = serde_json::from_str(&item.body)?;
    let printed = render_message(cx, connection, &item, &input).await?;
    // Fields that only a provider sets, and fields that are shown but not stored.
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
    changes(cx, connection, &before, &write.body, moves, &mut args).await?;
    let is_same = MessageUpdate {
        message: args.message.clone(),
        if_match: args.if_match.clone(),
        ..Default::default()
    } == args;
    if !(cx.attempt.resumed && is_same) {
        manner.expected.check(&item.etag)?;
    }
    let view = MessageView::message(Some(&item), change);
    let location = WriteLocation::top(connection, ResourceKind::EmailMessage);
    if is_same {
        return reconcile(cx, location, ProviderWrite::nothing(), view).await;
    }
    let call = ProviderChange::new(Surface::Email, "messages.update", &args);
    let mut done = match call_provider(cx, &account, call).await {
        Ok(done) => done,
        Err(e) => return Err(conflict(cx, connection, &item, e).await),
    };
    let view = view.after(&mut done)?;
    reconcile(cx, location, done, view).await
}

/// The message, refreshed if the copy is stale, with its account.
async fn current(cx: &WriteContext, id: &str) -> Result<(WriteAccount, Item)> {
    let item = find(&cx.app, &cx.request, id).await?;
    let (connection_id, scope) = (item.connection_id.clone(), SyncScope::mail());
    let known = KnownItem::new(&cx.app, item, &scope_name(&connection_id, scope.surface(), &scope.scope_id));
    let mut account = cx.account(&connection_id, "email.write").await?;
    let copy_at = ensure_mailbox_fresh(&cx.app, &mut account, cx.attempt.resumed).await?;
    let item = match known.of_copy(copy_at) {
        Some(item) => item,
        None => find(&cx.app, &cx.request, id).await?,
    };
    Ok((account, item))
}

/// The message as a read returns it; with its body if the caller sends that back.
async fn render_message(
    cx: &WriteContext,
    connection: &Connection,
    item: &Item,
    input: &Map<String, Value>,
) -> Result<Value> {
    let text = render::item(item, &[], true);
    let sends = |name: &str| input.get(name).is_some_and(|v| !v.is_null() && *v != Value::Array(Vec::new()));
    if !sends("body") && !sends("headers") {
        return Ok(serde_json::from_str(&text)?);
    }
    let full = MessageFields::Full;
    let (_, content) = read::read(&cx.app, &cx.request, connection, item.clone(), full).await?;
    let shown = bodies::render_with_content(&cx.app, &cx.request.tenant, &text, content, false).await?;
    Ok(serde_json::from_str(&shown)?)
}

/// Drops fields that equal the current message. Null bodies and empty headers are dropped too: a list shows messages without them, so they
/// are no request to clear them.
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
        add_label_ids: take_field(input, "addLabelIds")?,
        remove_label_ids: take_field(input, "removeLabelIds")?,
        add_keywords: keywords("addKeywords", take_field(input, "addKeywords")?)?,
        remove_keywords: keywords("removeKeywords", take_field(input, "removeKeywords")?)?,
    })
}

fn take_field<T: DeserializeOwned + Default>(input: &mut Map<String, Value>, name: &str) -> Result<T> {
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
    length(field, given.len(), MAX_KEYWORDS)?;
    let own = ["$seen", "$flagged", "$answered", "$draft", "$forwarded", "$recent", "$deleted"];
    let mut found = Vec::with_capacity(given.len());
    for (i, keyword) in given.into_iter().enumerate() {
        let field = format!("{field}[{i}]");
        let keyword = keyword.to_ascii_lowercase();
        let is_atom = !keyword.is_empty()
            && keyword.len() <= MAX_KEYWORD
            && keyword.bytes().all(|b| b.is_ascii_graphic() && !b"(){%*\"\\]".contains(&b));
        if !is_atom {
            let rest = format!(
                "must have 1 to {MAX_KEYWORD} visible ASCII characters other than ( ) {{ ] % * \" \\"
            );
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

/// Fills in the arguments for the connector: only fields that differ.
async fn changes(
    cx: &WriteContext,
    connection: &Connection,
    before: &EmailMessage,
    after: &EmailMessage,
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
        let kind = ResourceKind::EmailFolder;
        args.folders = Some(resolve_folders(cx, connection, kind, "folderIds", &after.folder_ids).await?);
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
    let kind = ResourceKind::EmailLabel;
    args.add_labels = resolve_folders(cx, connection, kind, field, &added).await?;
    args.remove_labels = resolve_folders(cx, connection, kind, "removeLabelIds", &removed).await?;
    Ok(())
}

/// The provider's ids of folders or labels of the connection.
pub async fn resolve_folders(
    cx: &WriteContext,
    connection: &Connection,
    kind: ResourceKind,
    field: &str,
    ids: &[String],
) -> Result<Vec<String>> {
    length(field, ids.len(), MAX_KEYWORDS)?;
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let known = cx.request.items(&cx.app, kind, ids).await?;
    let mut names = Vec::with_capacity(ids.len());
    for (i, id) in ids.iter().enumerate() {
        let item = known.get(id).filter(|item| item.connection_id == connection.id);
        let item = item.ok_or_else(|| {
            fault(&format!("{field}[{i}]"), &format!("names no {} of this connection", kind.noun()))
        })?;
        names.push(item.external_id.clone());
    }
    Ok(names)
}

/// Moves a message to the trash; destroys one that is already there, or any with `permanent`. Cancels one that waits to be sent.
pub async fn delete(
    cx: &WriteContext,
    id: &str,
    expected: ExpectedEtag,
    permanent: bool,
) -> Result<StoredResponse> {
    let _one = cx.app.locks.lock(&format!("item:{id}")).await;
    let (account, item) = match current(cx, id).await {
        // An earlier attempt has deleted the message.
        Err(e) if cx.attempt.resumed && e.code() == Some(Code::NotFound) => {
            return Ok(StoredResponse::no_content());
        }
        other => other?,
    };
    expected.check(&item.etag)?;
    if is_only_here(&item.source_id) {
        return cancel::cancel(&cx.app, &account.connection, &item, permanent, &cx.attempt).await;
    }
    if !cx.attempt.resumed {
        cancel::check_late_cancel(&item, permanent || expected != ExpectedEtag::Anything, cx.app.now())?;
    }
    let args =
        MessageDelete { message: reference(&item), permanent, if_match: expected.provider_etag(&item) };
    let call = ProviderChange::new(Surface::Email, "messages.delete", &args);
    match call_deletion(cx, &account, call, &item.source_id).await {
        Ok(done) => {
            let location = WriteLocation::top(&account.connection, ResourceKind::EmailMessage);
            reconcile(cx, location, done, GoneView::default()).await
        }
        Err(e) => Err(conflict(cx, &account.connection, &item, e).await),
    }
}

/// Reads the message again after a version conflict, so that the caller gets the current etag.
pub async fn conflict(cx: &WriteContext, connection: &Connection, item: &Item, e: Error) -> Error {
    if e.code() != Some(Code::StaleEtag) {
        return e;
    }
    match read::read(&cx.app, &cx.request, connection, item.clone(), MessageFields::Summary).await {
        Ok((now, _)) => stale(&now.etag),
        Err(failed) if failed.code() == Some(Code::NotFound) => not_found("message"),
        Err(failed) => {
            tracing::warn!(error = %failed, "the current version could not be read");
            e
        }
    }
}
