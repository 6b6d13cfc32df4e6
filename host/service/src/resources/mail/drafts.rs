//! Drafts: messages in the provider's drafts folder, so that every client of the account sees them, with data that only the host has: when
//! they are to be sent, the message that they reply to, and the result of sending.

use base::error::{Code, Error, Result, invalid, not_found, refuse};
use base::input::merge_patch;
use base::input::validate::fault;
use model::email::EmailMessage;
use model::email::draft::{Draft, DraftStatus, ReplyMode};
use model::email::send::NewBody;
use model::wire::email::DraftSave;
use runtime::{Blobs, Surface};
use serde_json::{Map, Value};
use storage::connections::Connection;
use storage::items::{self, Item};

use crate::app::App;
use crate::app::freshness::DataAge;
use crate::app::resource_kind::ResourceKind;
use crate::app::stored_response::StoredResponse;
use crate::connections::provider_call::{ProviderChange, call_provider};
use crate::connections::request_context::RequestContext;
use crate::connections::write_context::{WriteAccount, WriteContext};
use crate::local_copy::mail::draft_state::{is_being_sent, is_gone, is_open, status};
use crate::local_copy::mail::render_content::content_of;
use crate::local_copy::mail::render_draft::{DraftHostFields, render_with_host_fields};
use crate::local_copy::mail::threads;
use crate::resources::collection_items::WriteOptions;
use crate::resources::mail::append::full;
use crate::resources::mail::compose::{DraftContent, compose};
use crate::resources::mail::draft_input::{content_before, merged, take_host_fields, taken_metadata, typed};
use crate::resources::mail::filter::MessageFields;
use crate::resources::mail::{read, write};
use crate::resources::open_item::ensure_mailbox_fresh;
use crate::sending::message::OutgoingMessage;
use crate::writes::etag::ExpectedEtag;
use crate::writes::mail::{DraftRemainder, MessageView};
use crate::writes::open_collection::WriteLocation;
use crate::writes::reconcile::reconcile;
use crate::writes::response::{ResponseChange, place};

/// A draft that the key may see.
pub async fn find(app: &App, asker: &RequestContext, id: &str) -> Result<Item> {
    asker.item(app, ResourceKind::EmailDraft, id).await
}

/// Writes a new draft.
pub async fn create(
    cx: &WriteContext,
    mut input: Map<String, Value>,
    strict: bool,
) -> Result<StoredResponse> {
    let missing = || invalid(Code::MissingField, "connectionId", "connectionId is required");
    let id = match input.remove("connectionId") {
        Some(Value::String(id)) if !id.is_empty() => id,
        Some(Value::Null) | None => return Err(missing()),
        Some(_) => return Err(fault("connectionId", "must be a string")),
    };
    let mut account = cx.account(&id, "email.write").await?;
    ensure_mailbox_fresh(&cx.app, &mut account, false).await?;
    let metadata = taken_metadata(&mut input)?;
    let asked_at = cx.attempt.first_at.unwrap_or_else(|| cx.app.now());
    let own = take_host_fields(asked_at, &mut input, &DraftHostFields::default())?;
    let mut content: DraftContent = typed(&mut input)?;
    (content.reply_to_message_id, content.reply_mode) = (own.reply_to_message_id.clone(), own.reply_mode);
    content.is_draft = true;
    let unknown: Vec<String> = input.keys().cloned().collect();
    let warnings = merge_patch::warnings(&unknown, strict)?;
    let key = &cx.attempt.connector_key;
    let composed = compose(&cx.app, &cx.request, &account.connection, content, key).await?;
    let change = ResponseChange { status: 201, metadata, warnings };
    let version = DraftVersion { composed, own, before: None, expected: ExpectedEtag::Anything };
    save(cx, &account, version, change).await
}

/// A version of a draft that the provider is to keep.
struct DraftVersion<'d> {
    composed: OutgoingMessage,
    own: DraftHostFields,
    /// The version that it replaces.
    before: Option<&'d Item>,
    expected: ExpectedEtag,
}

/// Saves a draft at the provider, replacing its previous version.
async fn save(
    cx: &WriteContext,
    account: &WriteAccount,
    version: DraftVersion<'_>,
    change: ResponseChange,
) -> Result<StoredResponse> {
    let DraftVersion { composed, own, before, expected } = version;
    let (app, connection) = (&cx.app, &account.connection);
    let bytes = composed.built.with_bcc();
    let tenant = &cx.request.tenant.application_id;
    let content = app.compute.run(tenant, bytes.len(), || content_of(&bytes)).await;
    let blobs = Blobs::default();
    let blob = blobs.create(&bytes, Some("message/rfc822".to_owned())).ok_or_else(full)?;
    let thread = find_thread(app, connection, &own, before).await?;
    let args = DraftSave {
        blob,
        internet_message_id: composed.outgoing.message_id.clone(),
        replaces: before.map(crate::writes::provider_records::reference),
        if_match: before.and_then(|item| expected.provider_etag(item)),
        thread,
    };
    if let Some(item) = before {
        announce(app, connection, item, &args.internet_message_id).await?;
    }
    let call = ProviderChange::new(Surface::Email, "drafts.save", &args).with_blobs(blobs);
    let mut done = match (call_provider(cx, account, call).await, before) {
        (Ok(done), _) => done,
        (Err(e), Some(item)) => return Err(write::conflict(cx, connection, item, e).await),
        (Err(e), None) => return Err(e),
    };
    let remainder = DraftRemainder { own: own.fields(), content };
    let view = MessageView::draft(before, change, remainder).after(&mut done)?;
    reconcile(cx, WriteLocation::top(connection, ResourceKind::EmailMessage), done, view).await
}

/// Returns the provider's id of the thread that a draft belongs to. A draft that no longer replies to its message leaves the thread.
async fn find_thread(
    app: &App,
    connection: &Connection,
    own: &DraftHostFields,
    before: Option<&Item>,
) -> Result<Option<String>> {
    let answered = own.reply_to_message_id.as_deref().filter(|_| own.reply_mode != Some(ReplyMode::Forward));
    let draft = match before {
        Some(item) => {
            let draft: Draft = serde_json::from_str(&item.body)?;
            let is_same = draft.reply_to_message_id == own.reply_to_message_id;
            Some(item).filter(|_| is_same && draft.reply_mode == own.reply_mode)
        }
        None => None,
    };
    threads::find_joined(app, &connection.tenant, answered, draft).await
}

/// Stores the Message-ID of the next version, so that a pull that sees that version first assigns it to this draft.
async fn announce(app: &App, connection: &Connection, item: &Item, message_id: &str) -> Result<()> {
    let place = place(connection, ResourceKind::EmailMessage, "");
    let (id, message_id) = (item.id.clone(), message_id.to_owned());
    app.db
        .write(move |tx| {
            Box::pin(async move {
                let lock = crate::local_copy::change::lock(tx, &place).await?;
                let item = items::lock_item(tx, &lock, &id).await?.ok_or_else(|| not_found("draft"))?;
                Ok::<_, Error>(items::set_uid(tx, &item, &message_id).await?)
            })
        })
        .await
}

/// One draft, with its body.
pub async fn get(
    app: &App,
    asker: &RequestContext,
    id: &str,
    with_provider_data: bool,
) -> Result<StoredResponse> {
    let item = find(app, asker, id).await?;
    let connection = asker.connection(app, &item.connection_id, "email.read").await?;
    let (item, content) = current(app, asker, &connection, item).await?;
    let text = render_with_host_fields(&item, content.as_ref(), &[], with_provider_data)?;
    Ok(StoredResponse::ok(text).etag(&item.etag))
}

/// The draft with its content, read from the provider; the stored item without content if the draft was sent or is being sent.
async fn current(
    app: &App,
    asker: &RequestContext,
    connection: &Connection,
    item: Item,
) -> Result<(Item, Option<crate::local_copy::mail::render_content::MessageContent>)> {
    if is_gone(&item) {
        asker.reading.note(DataAge::local(Some(app.now())));
        return Ok((item, None));
    }
    let id = item.id.clone();
    let (item, content) = match read::read(app, asker, connection, item, MessageFields::Full).await {
        // The provider has already sent it, or had lost it before: the outbox will record which.
        Err(e) if e.code() == Some(Code::NotFound) => {
            let item = find(app, asker, &id).await?;
            return if is_gone(&item) || is_being_sent(&item) { Ok((item, None)) } else { Err(e) };
        }
        read => read?,
    };
    match item.kind == ResourceKind::EmailDraft.as_str() {
        true => Ok((item, Some(content))),
        false => Err(not_found("draft")),
    }
}

/// Changes a draft. The caller names the version that it changes.
pub async fn update(
    cx: &WriteContext,
    id: &str,
    mut input: Map<String, Value>,
    manner: WriteOptions,
) -> Result<StoredResponse> {
    let (app, asker) = (&cx.app, &cx.request);
    let _one = app.locks.lock(&format!("item:{id}")).await;
    let item = find(app, asker, id).await?;
    let mut account = cx.account(&item.connection_id, "email.write").await?;
    is_open(&item)?;
    let (item, content) = current(app, asker, &account.connection, item).await?;
    account.advance(app).await?;
    // The draft may have been sent during the call to the provider.
    is_open(&item)?;
    let content = content.unwrap_or_default();
    if !cx.attempt.resumed {
        manner.expected.check(&item.etag)?;
    }
    let before: Draft = serde_json::from_str(&item.body)?;
    let shown: Value = serde_json::from_str(&render_with_host_fields(&item, Some(&content), &[], true)?)?;
    // Fields that are sent back as a read showed them are no change.
    input.retain(|name, value| shown.get(name) != Some(value));
    let metadata = taken_metadata(&mut input)?;
    let own_before = DraftHostFields {
        send_at: before.send_at,
        tracking: before.tracking.clone(),
        reply_to_message_id: before.reply_to_message_id.clone(),
        reply_mode: before.reply_mode,
    };
    let asked_at = cx.attempt.first_at.unwrap_or_else(|| app.now());
    let own = take_host_fields(asked_at, &mut input, &own_before)?;
    let answers_anew = (&own.reply_to_message_id, own.reply_mode)
        != (&own_before.reply_to_message_id, own_before.reply_mode);
    let message: EmailMessage = serde_json::from_str(&item.body)?;
    let mut next = merged(&message, &content, id, &mut input)?;
    next.is_draft = true;
    if answers_anew {
        (next.reply_to_message_id, next.reply_mode) = (own.reply_to_message_id.clone(), own.reply_mode);
        next.kept = None;
    }
    read_only(&input, &shown)?;
    let unknown: Vec<String> = input.keys().cloned().collect();
    let warnings = merge_patch::warnings(&unknown, manner.strict)?;
    let composed = compose(app, asker, &account.connection, next, &cx.attempt.connector_key).await?;
    let own_id = &composed.outgoing.message_id;
    // The current version is the one that an earlier attempt saved, or was about to save.
    if cx.attempt.resumed && item.uid.as_ref() != Some(own_id) {
        manner.expected.check(&item.etag)?;
    }
    let change = ResponseChange { status: 200, metadata, warnings };
    let version = DraftVersion { composed, own, before: Some(&item), expected: manner.expected };
    save(cx, &account, version, change).await
}

/// Refuses changes of read-only fields.
fn read_only(input: &Map<String, Value>, shown: &Value) -> Result<()> {
    match input.keys().find(|name| shown.get(name.as_str()).is_some()) {
        Some(name) => {
            Err(invalid(Code::InvalidParameter, name.clone(), format!("{name} cannot be set; leave it out")))
        }
        None => Ok(()),
    }
}

/// Destroys a draft.
pub async fn delete(cx: &WriteContext, id: &str, expected: ExpectedEtag) -> Result<StoredResponse> {
    let item = match find(&cx.app, &cx.request, id).await {
        Err(e) if cx.attempt.resumed && e.code() == Some(Code::NotFound) => {
            return Ok(StoredResponse::no_content());
        }
        other => other?,
    };
    if matches!(status(&item)?, DraftStatus::Scheduled | DraftStatus::Sending) {
        is_open(&item)?;
    }
    write::delete(cx, id, expected, true).await
}

/// The content of a draft, to send it.
pub async fn to_send(
    app: &App,
    asker: &RequestContext,
    connection: &Connection,
    item: Item,
) -> Result<(Item, DraftContent, DraftHostFields)> {
    let (item, content) = current(app, asker, connection, item).await?;
    is_open(&item)?;
    let content = content.ok_or_else(|| Error::from(anyhow::anyhow!("a draft without content")))?;
    let draft: Draft = serde_json::from_str(&item.body)?;
    let message: EmailMessage = serde_json::from_str(&item.body)?;
    let mut next = content_before(&message, &content, &item.id);
    let body = content.body.unwrap_or_default();
    if body.truncated {
        return Err(refuse(Code::PayloadTooLarge, "the draft's text is too long to be sent from here"));
    }
    next.body = NewBody { text: body.text, html: body.html };
    let own = DraftHostFields {
        send_at: draft.send_at,
        tracking: draft.tracking,
        reply_to_message_id: draft.reply_to_message_id,
        reply_mode: draft.reply_mode,
    };
    Ok((item, next, own))
}
