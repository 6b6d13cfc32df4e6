//! `/v1/email/threads`

use axum::extract::State;
use base::error::Result;
use model::email::EmailThread;
use model::resource::Resource;
use service::app::App;
use service::app::stored_response::StoredResponse;
use service::connections::request_context::RequestContext;
use service::resources::mail::filter::MailQuery;
use service::resources::mail::thread_views;

use crate::api::operation::Priority::{Additive, Mvp};
use crate::api::operation::Routes;
use crate::api::pagination;
use crate::api::request::extractors::{Extract, Params, Path};
use crate::api::response::reply::{self, ApiResponse, ApiResult};
use crate::web::cursor::Binding;

pub fn routes() -> Routes<App> {
    Routes::new("Email")
        .get("/v1/email/threads", "email.read", Additive, list)
        .summary("List threads, by their newest message")
        .description("A thread is listed when one of its messages is what the filters ask for.")
        .param("connection_id", "string", "Only threads of this connection; without it, of all that the key may use")
        .param("folder_id", "string", "With a message in this folder")
        .param("label_id", "string", "With a message under this label")
        .param("any_email", "string", "Part of the address or name of anybody")
        .param("subject", "string", "Part of a subject")
        .param("unread", "boolean", "With an unread message, or with a read one")
        .param("starred", "boolean", "With a starred message, or with one that is not")
        .param("has_attachment", "boolean", "With a message that has attachments, or with one that has none")
        .param("received_after", "string", "Instant, included")
        .param("received_before", "string", "Instant, not included")
        .lists::<Resource<EmailThread>>()
        .get("/v1/email/threads/{threadId}", "email.read", Mvp, get)
        .summary("Read a thread")
        .description("Messages oldest first. The id of a thread that became part of another one shows that one, with `mergedInto`.")
        .returns::<Resource<EmailThread>>()
}

async fn list(State(app): State<App>, Extract(asker): Extract<RequestContext>, params: Params) -> ApiResult {
    let limit = pagination::limit(params.get("limit"))?;
    let query = query(&params)?;
    let binding = Binding::new(&asker.tenant, "email.threads.list", &query);
    let after = binding.place(&app.keyring, params.get("cursor"))?;
    let (texts, place) = thread_views::list(&app, &asker, &query, after, limit).await?;
    let next = place.map(|p| binding.cursor(&app.keyring, &p));
    Ok(ApiResponse(reply::over_connections(
        StoredResponse::ok(pagination::page(&texts, next.as_deref())),
        &asker,
    )))
}

fn query(params: &Params) -> Result<MailQuery> {
    Ok(MailQuery {
        connection_id: params.text("connection_id", 64)?,
        folder_id: params.text("folder_id", 64)?,
        label_id: params.text("label_id", 64)?,
        any_email: params.text("any_email", 320)?,
        subject: params.text("subject", 256)?,
        unread: params.choice("unread")?,
        starred: params.choice("starred")?,
        has_attachment: params.choice("has_attachment")?,
        received_after: params.instant("received_after")?,
        received_before: params.instant("received_before")?,
        ..MailQuery::default()
    })
}

async fn get(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    Path(id): Path<String>,
) -> ApiResult {
    Ok(ApiResponse(thread_views::get(&app, &asker, &id).await?))
}
