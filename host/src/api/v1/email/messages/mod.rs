//! `/v1/email/messages`

pub mod attachments;

use axum::extract::State;
use http::HeaderMap;
use model::email::EmailMessage;
use model::email::send::{MessagePatch, NewMessage};
use model::resource::Resource;

use crate::answer::{Answer, Attempt};
use crate::api::asker::{Params, Path};
use crate::api::contents::manner;
use crate::api::error::ApiError;
use crate::api::etag;
use crate::api::json::{self, Body, LargeBody};
use crate::api::operation::Priority::Mvp;
use crate::api::operation::Routes;
use crate::api::page::{self, Binding};
use crate::app::App;
use crate::error::Result;
use crate::resources::Asker;
use crate::resources::mail::append;
use crate::resources::mail::bodies::Fields;
use crate::resources::mail::filter::Query;
use crate::resources::mail::list;
use crate::resources::mail::read::{self, Shown};
use crate::resources::mail::write;

pub fn routes() -> Routes<App> {
    let routes = Routes::new("Email")
        .get("/v1/email/messages", "email.read", Mvp, list)
        .summary("Search and list messages, newest first")
        .description("By `receivedAt`, then by id, both downwards. A mailbox that was just connected is read from new to old while it is listed: a page may then be short, and only a null `next_cursor` is the end.");
    filters(routes)
        .param("fields", "string", "`summary` (default), `headers` or `full`")
        .param("images", "string", "`allow` leaves remote images in `safeHtml`")
        .param("include", "string", "`providerData` adds what the model has no field for")
        .lists::<Resource<EmailMessage>>()
        .post("/v1/email/messages", "email.write", Mvp, create)
        .summary("Put a message into a folder, without sending it")
        .description("The whole message in `rawBase64`, or its parts. Into the inbox where `folderIds` is empty.")
        .body::<NewMessage>()
        .returns::<Resource<EmailMessage>>()
        .get("/v1/email/messages/{messageId}", "email.read", Mvp, get)
        .summary("Read a message")
        .description("`html` is as the sender wrote it: show `safeHtml`. A draft can be read here too, by its id.")
        .param("fields", "string", "`summary`, `headers` or `full` (default)")
        .param("images", "string", "`allow` leaves remote images in `safeHtml`")
        .param("include", "string", "`providerData` adds what the model has no field for")
        .returns::<Resource<EmailMessage>>()
        .patch("/v1/email/messages/{messageId}", "email.write", Mvp, update)
        .summary("Change flags, folders and labels of a message")
        .description("A JSON merge patch. `folderIds` moves it: all folders that it is to be in, one where the provider has no more. It keeps its id.")
        .param("strict", "boolean", "400 for a field that the provider cannot keep, instead of a warning")
        .body::<MessagePatch>()
        .returns::<Resource<EmailMessage>>()
        .delete("/v1/email/messages/{messageId}", "email.write", Mvp, delete)
        .summary("Move a message to the trash, or destroy it")
        .description("A message that is in the trash already is destroyed.")
        .param("permanent", "boolean", "Destroy it at once")
}

/// What a list of messages can be narrowed by.
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

/// What a list is asked for.
pub fn query(params: &Params) -> Result<Query> {
    Ok(Query {
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
        fields: fields(params, Fields::Summary)?,
        with_images: images(params)?,
        with_provider_data: params.with_provider_data(),
    })
}

fn fields(params: &Params, otherwise: Fields) -> Result<Fields> {
    Ok(match params.word("fields", &["summary", "headers", "full"])?.as_deref() {
        None => otherwise,
        Some("summary") => Fields::Summary,
        Some("headers") => Fields::Headers,
        Some(_) => Fields::Full,
    })
}

fn images(params: &Params) -> Result<bool> {
    Ok(params.word("images", &["allow", "block"])?.as_deref() == Some("allow"))
}

async fn list(State(app): State<App>, asker: Asker, params: Params) -> Result<Answer, ApiError> {
    listed(&app, &asker, &params, ("email.messages.list", query(&params)?)).await
}

/// A page of messages, or of drafts.
pub async fn listed(
    app: &App,
    asker: &Asker,
    params: &Params,
    (name, query): (&str, Query),
) -> Result<Answer, ApiError> {
    let limit = page::limit(params.get("limit"))?;
    let binding = Binding::new(&asker.tenant, name, &query);
    let after = binding.place(&app.keyring, params.get("cursor"))?;
    let (texts, place) = list::list(app, asker, &query, (after, limit)).await?;
    let next = place.map(|p| binding.cursor(&app.keyring, &p));
    Ok(Answer::ok(page::page(&texts, next.as_deref())))
}

async fn create(
    State(app): State<App>,
    asker: Asker,
    attempt: Attempt,
    headers: HeaderMap,
    LargeBody(body): LargeBody,
) -> Result<Answer, ApiError> {
    let (new, unknown) = json::typed::<NewMessage>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    Ok(append::append(&app, &asker, new, warnings, &attempt).await?)
}

async fn get(
    State(app): State<App>,
    asker: Asker,
    params: Params,
    Path(id): Path<String>,
) -> Result<Answer, ApiError> {
    let shown = Shown {
        fields: fields(&params, Fields::Full)?,
        with_images: images(&params)?,
        with_provider_data: params.with_provider_data(),
    };
    Ok(read::get(&app, &asker, &id, shown).await?)
}

async fn update(
    State(app): State<App>,
    asker: Asker,
    attempt: Attempt,
    headers: HeaderMap,
    params: Params,
    Path(id): Path<String>,
    Body(mut body): Body,
) -> Result<Answer, ApiError> {
    let manner = manner(&headers, &params, &mut body)?;
    Ok(write::update(&app, &asker, &id, body, manner, &attempt).await?)
}

async fn delete(
    State(app): State<App>,
    asker: Asker,
    attempt: Attempt,
    headers: HeaderMap,
    params: Params,
    Path(id): Path<String>,
    Body(mut body): Body,
) -> Result<Answer, ApiError> {
    let expected = etag::expected(&headers, Some(&mut body))?;
    let permanent = params.flag("permanent")?;
    Ok(write::delete(&app, &asker, &id, (expected, permanent), &attempt).await?)
}
