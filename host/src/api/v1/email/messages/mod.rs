//! `/v1/email/messages`

pub mod attachments;

use axum::extract::State;
use http::HeaderMap;
use model::email::EmailMessage;
use model::email::send::{MessagePatch, NewMessage};
use model::resource::Resource;
use schemars::JsonSchema;
use serde::Deserialize;
use service::app::App;
use service::app::stored_response::StoredResponse;
use service::connections::request_context::RequestContext;
use service::connections::write_context::WriteContext;
use service::resources::mail::filter::{MailQuery, MessageFields};
use service::resources::mail::read::{self, ReadOptions};
use service::resources::mail::{append, message_list, write};

use crate::api::operation::Priority::Mvp;
use crate::api::operation::Routes;
use crate::api::pagination;
use crate::api::request::etag;
use crate::api::request::extractors::{Extract, Params, Path};
use crate::api::request::json::{self, Body};
use crate::api::request::query::StrictQuery;
use crate::api::response::reply::{self, ApiResponse, ApiResult};
use crate::api::shared::collection_items::manner;
use crate::api::shared::mail_lists::{MessageFilterQuery, MessageViewQuery};
use crate::web::cursor::Binding;

/// The query string of the deletion of a message.
#[derive(Debug, Deserialize, JsonSchema)]
struct DeleteMessageQuery {
    /// Whether the message is destroyed at once instead of being moved to the trash.
    #[serde(default)]
    permanent: bool,
}

pub fn routes() -> Routes<App> {
    Routes::new("Email")
        .get("/v1/email/messages", "email.read", Mvp, list)
        .summary("Search and list messages, newest first")
        .description("Sorted by `receivedAt` and id, both descending. While a new mailbox is synced for the first time, a page may be short or empty: only a null `next_cursor` is the end.")
        .query::<MessageFilterQuery>()
        .query::<MessageViewQuery>()
        .lists::<Resource<EmailMessage>>()
        .post("/v1/email/messages", "email.write", Mvp, create)
        .summary("Put a message into a folder without sending it")
        .description("Takes the whole message in `rawBase64`, or its parts in the other fields. If `folderIds` is empty, the message goes to the inbox.")
        .body::<NewMessage>()
        .takes_files()
        .returns::<Resource<EmailMessage>>()
        .get("/v1/email/messages/{messageId}", "email.read", Mvp, get)
        .summary("Read a message")
        .description("`body.html` is as the sender wrote it: show `body.safeHtml` instead. A draft can be read here too, by its id.")
        .query::<MessageViewQuery>()
        .returns::<Resource<EmailMessage>>()
        .patch("/v1/email/messages/{messageId}", "email.write", Mvp, update)
        .summary("Change flags, folders and labels of a message")
        .description("A JSON merge patch. Another folder in `folderIds` moves the message; it keeps its id. Providers without `features.multiFolder` take one folder.")
        .query::<StrictQuery>()
        .body::<MessagePatch>()
        .returns::<Resource<EmailMessage>>()
        .delete("/v1/email/messages/{messageId}", "email.write", Mvp, delete)
        .summary("Move a message to the trash, or destroy it")
        .description("A message that is already in the trash is destroyed. A message that waits to be sent is cancelled: 204 means that it is not sent, 409 `already_sent` that it was sent or is being sent. A sent message of which the provider has no copy is deleted only with `permanent`.")
        .query::<DeleteMessageQuery>()
}

async fn list(State(app): State<App>, Extract(asker): Extract<RequestContext>, params: Params) -> ApiResult {
    let view: MessageViewQuery = params.read()?;
    let query = MailQuery {
        fields: view.fields(MessageFields::Summary),
        with_images: view.with_images(),
        with_provider_data: view.with_provider_data(),
        ..params.read::<MessageFilterQuery>()?.into_mail_query()
    };
    let limit = pagination::limit(params.get("limit"))?;
    let binding = Binding::new(&asker.tenant, "email.messages.list", &query);
    let after = binding.place(&app.keyring, params.get("cursor"))?;
    let (texts, place) = message_list::list(&app, &asker, &query, after, limit).await?;
    let next = place.map(|p| binding.cursor(&app.keyring, &p));
    Ok(ApiResponse(reply::over_connections(
        StoredResponse::ok(pagination::page(&texts, next.as_deref())),
        &asker,
    )))
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
    let view: MessageViewQuery = params.read()?;
    let shown = ReadOptions {
        fields: view.fields(MessageFields::Full),
        with_images: view.with_images(),
        with_provider_data: view.with_provider_data(),
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
    let DeleteMessageQuery { permanent } = params.read()?;
    Ok(ApiResponse(write::delete(&cx, &id, expected, permanent).await?))
}
