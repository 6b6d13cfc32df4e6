//! Common parts of mail lists: query parameters, and pages of messages, drafts, folders and labels.

use base::error::Result;
use service::app::App;
use service::app::resource_kind::ResourceKind;
use service::app::stored_response::StoredResponse;
use service::connections::request_context::RequestContext;
use service::resources::mail::filter::{MailQuery, MessageFields};
use service::resources::mail::folders;

use crate::api::operation::Routes;
use crate::api::pagination;
use crate::api::request::extractors::Params;
use crate::api::response::reply::{self, ApiResponse, ApiResult};
use crate::web::cursor::Binding;

/// Adds the filter parameters of message lists.
pub fn filters<S: Clone + Send + Sync + 'static>(routes: Routes<S>) -> Routes<S> {
    routes
        .param("connection_id", "string", "Only messages of this connection; without it, of all that the key may use")
        .param("folder_id", "string", "In this folder")
        .param("label_id", "string", "With this label")
        .param("thread_id", "string", "Of this thread")
        .param("q", "string", "Words, anywhere in the message: the provider searches one mailbox with its texts; over several mailboxes subjects, people, snippets and names of files are searched")
        .param("from", "string", "Part of the sender's address or name")
        .param("to", "string", "Part of an address or name in To")
        .param("cc", "string", "Part of an address or name in Cc")
        .param("bcc", "string", "Part of an address or name in Bcc")
        .param("any_email", "string", "Part of the address or name of anybody")
        .param("subject", "string", "Part of the subject; case and accents do not matter")
        .param("unread", "boolean", "Only unread, or only read")
        .param("starred", "boolean", "Only starred, or only others")
        .param("has_attachment", "boolean", "Only with attachments, or only without")
        .param("received_after", "string", "Instant, included")
        .param("received_before", "string", "Instant, not included")
        .param("native_query", "string", "The provider's own search language, if it has one (`operations.nativeSearch` of the capabilities)")
}

/// Parses the query of a list.
pub fn query(params: &Params) -> Result<MailQuery> {
    Ok(MailQuery {
        connection_id: params.text("connection_id", 64)?,
        folder_id: params.text("folder_id", 64)?,
        label_id: params.text("label_id", 64)?,
        thread_id: params.text("thread_id", 64)?,
        q: params.text("q", 256)?,
        native_query: params.text("native_query", 4_096)?,
        from: params.text("from", 320)?,
        to: params.text("to", 320)?,
        cc: params.text("cc", 320)?,
        bcc: params.text("bcc", 320)?,
        any_email: params.text("any_email", 320)?,
        subject: params.text("subject", 256)?,
        unread: params.choice("unread")?,
        starred: params.choice("starred")?,
        has_attachment: params.choice("has_attachment")?,
        received_after: params.instant("received_after")?,
        received_before: params.instant("received_before")?,
        drafts: false,
        fields: fields(params, MessageFields::Summary)?,
        with_images: images(params)?,
        with_provider_data: params.with_provider_data(),
    })
}

/// How much of each message is asked for.
pub fn fields(params: &Params, otherwise: MessageFields) -> Result<MessageFields> {
    Ok(match params.word("fields", &["summary", "headers", "full"])?.as_deref() {
        None => otherwise,
        Some("summary") => MessageFields::Summary,
        Some("headers") => MessageFields::Headers,
        Some(_) => MessageFields::Full,
    })
}

/// Whether remote images stay in `safeHtml`.
pub fn images(params: &Params) -> Result<bool> {
    Ok(params.word("images", &["allow", "block"])?.as_deref() == Some("allow"))
}

/// A page of messages, or of drafts.
pub async fn messages(
    app: &App,
    asker: &RequestContext,
    params: &Params,
    name: &str,
    query: &MailQuery,
) -> ApiResult {
    let limit = pagination::limit(params.get("limit"))?;
    let binding = Binding::new(&asker.tenant, name, query);
    let after = binding.place(&app.keyring, params.get("cursor"))?;
    let (texts, place) =
        service::resources::mail::message_list::list(app, asker, query, after, limit).await?;
    let next = place.map(|p| binding.cursor(&app.keyring, &p));
    Ok(ApiResponse(reply::over_connections(
        StoredResponse::ok(pagination::page(&texts, next.as_deref())),
        asker,
    )))
}

/// A page of folders or labels.
pub async fn places(app: &App, asker: &RequestContext, params: &Params, kind: ResourceKind) -> ApiResult {
    let limit = pagination::limit(params.get("limit"))?;
    let connection_id = params.get("connection_id");
    let binding = Binding::new(&asker.tenant, kind.as_str(), &connection_id);
    let after: String = binding.place(&app.keyring, params.get("cursor"))?.unwrap_or_default();
    let mut items = folders::list(app, asker, kind, connection_id, &after, limit + 1).await?;
    let more = (items.len() as i64) > limit;
    items.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let raw = params.with_provider_data();
    let texts = folders::render_folders(app, &items, raw).await?;
    let cursor = |last: usize| binding.cursor(&app.keyring, &items.get(last).map(|i| &i.id));
    Ok(ApiResponse(reply::over_connections(StoredResponse::ok(pagination::cut(&texts, more, cursor)), asker)))
}
