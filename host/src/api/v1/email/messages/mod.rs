//! `/v1/email/messages`

pub mod attachments;

use axum::extract::State;
use http::HeaderMap;
use model::email::EmailMessage;
use model::email::send::{MessagePatch, NewMessage};
use model::resource::Resource;
use service::app::App;
use service::connections::request_context::RequestContext;
use service::connections::write_context::WriteContext;
use service::resources::mail::filter::MessageFields;
use service::resources::mail::read::{self, ReadOptions};
use service::resources::mail::{append, write};

use crate::api::operation::Priority::Mvp;
use crate::api::operation::Routes;
use crate::api::request::etag;
use crate::api::request::extractors::{Extract, Params, Path};
use crate::api::request::json::{self, Body};
use crate::api::response::reply::{ApiResponse, ApiResult};
use crate::api::shared::collection_items::manner;
use crate::api::shared::mail_lists::{self, fields, filters, images, query};

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
        .takes_files()
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
        .description("A message that is in the trash already is destroyed. One that waits to be sent is taken back: with 204 nobody gets it, and with 409 `already_sent` it was sent, or is being sent. What is kept here of a sent message without a copy at the provider goes with `permanent` alone.")
        .param("permanent", "boolean", "Destroy it at once")
}

async fn list(State(app): State<App>, Extract(asker): Extract<RequestContext>, params: Params) -> ApiResult {
    mail_lists::messages(&app, &asker, &params, "email.messages.list", &query(&params)?).await
}

async fn create(Extract(cx): Extract<WriteContext>, headers: HeaderMap, Body(body): Body) -> ApiResult {
    let (new, unknown) = json::typed_with_files::<NewMessage>(&cx.app, &cx.request.tenant, body).await?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    Ok(ApiResponse(append::append(&cx, new, warnings).await?))
}

async fn get(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    params: Params,
    Path(id): Path<String>,
) -> ApiResult {
    let shown = ReadOptions {
        fields: fields(&params, MessageFields::Full)?,
        with_images: images(&params)?,
        with_provider_data: params.with_provider_data(),
    };
    Ok(ApiResponse(read::get(&app, &asker, &id, shown).await?))
}

async fn update(
    Extract(cx): Extract<WriteContext>,
    headers: HeaderMap,
    params: Params,
    Path(id): Path<String>,
    Body(mut body): Body,
) -> ApiResult {
    let manner = manner(&headers, &params, &mut body)?;
    Ok(ApiResponse(write::update(&cx, &id, body, manner).await?))
}

async fn delete(
    Extract(cx): Extract<WriteContext>,
    headers: HeaderMap,
    params: Params,
    Path(id): Path<String>,
    Body(mut body): Body,
) -> ApiResult {
    let expected = etag::expected(&headers, Some(&mut body))?;
    let permanent = params.flag("permanent")?;
    Ok(ApiResponse(write::delete(&cx, &id, expected, permanent).await?))
}
