//! `/v1/email/threads`

use axum::extract::State;
use model::bounds;
use model::email::EmailThread;
use model::formats::{self, InstantOrDate};
use model::resource::Resource;
use schemars::JsonSchema;
use serde::Deserialize;
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

/// The filters of a list of threads. A thread is listed if one of its messages matches all of them.
#[derive(Debug, Deserialize, JsonSchema)]
struct ThreadFilterQuery {
    /// Returns only threads of this connection. Without it: of all connections that the key may use.
    #[schemars(with = "Option<formats::Id>", length(max = bounds::MAX_ID))]
    connection_id: Option<String>,
    /// Returns only threads with a message in this folder.
    #[schemars(with = "Option<formats::Id>", length(max = bounds::MAX_ID))]
    folder_id: Option<String>,
    /// Returns only threads with a message that has this label.
    #[schemars(with = "Option<formats::Id>", length(max = bounds::MAX_ID))]
    label_id: Option<String>,
    /// Returns only threads with a message that has this text in an address or name in From, To, Cc or Bcc.
    #[schemars(length(max = bounds::list::MAX_ADDRESS))]
    any_email: Option<String>,
    /// Returns only threads with a message that has this text in its subject. Case and accents do not matter.
    #[schemars(length(max = bounds::list::MAX_QUERY))]
    subject: Option<String>,
    /// Returns only threads with an unread message, or, with `false`, with a read one.
    unread: Option<bool>,
    /// Returns only threads with a starred message, or, with `false`, with a message without a star.
    starred: Option<bool>,
    /// Returns only threads with a message that has attachments, or, with `false`, with a message that has none.
    has_attachment: Option<bool>,
    /// Returns only threads with a message that was received at or after this time.
    received_after: Option<InstantOrDate>,
    /// Returns only threads with a message that was received before this time.
    received_before: Option<InstantOrDate>,
}

impl ThreadFilterQuery {
    fn into_mail_query(self) -> MailQuery {
        MailQuery {
            connection_id: self.connection_id,
            folder_id: self.folder_id,
            label_id: self.label_id,
            any_email: self.any_email,
            subject: self.subject,
            unread: self.unread,
            starred: self.starred,
            has_attachment: self.has_attachment,
            received_after: self.received_after.map(InstantOrDate::as_millis),
            received_before: self.received_before.map(InstantOrDate::as_millis),
            ..MailQuery::default()
        }
    }
}

pub fn routes() -> Routes<App> {
    Routes::new("Email")
        .get("/v1/email/threads", "email.read", Additive, list)
        .summary("List threads, newest message first")
        .description("A thread is listed if one of its messages matches all filters.")
        .query::<ThreadFilterQuery>()
        .lists::<Resource<EmailThread>>()
        .get("/v1/email/threads/{threadId}", "email.read", Mvp, get)
        .summary("Read a thread")
        .description("`messageIds` has its messages, oldest first. If the thread was merged into another one, the answer is that other thread, and `mergedInto` has its id.")
        .returns::<Resource<EmailThread>>()
}

async fn list(State(app): State<App>, Extract(asker): Extract<RequestContext>, params: Params) -> ApiResult {
    let limit = pagination::limit(params.get("limit"))?;
    let query = params.read::<ThreadFilterQuery>()?.into_mail_query();
    let binding = Binding::new(&asker.tenant, "email.threads.list", &query);
    let after = binding.place(&app.keyring, params.get("cursor"))?;
    let (texts, place) = thread_views::list(&app, &asker, &query, after, limit).await?;
    let next = place.map(|p| binding.cursor(&app.keyring, &p));
    Ok(ApiResponse(reply::over_connections(
        StoredResponse::ok(pagination::page(&texts, next.as_deref())),
        &asker,
    )))
}

async fn get(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    Path(id): Path<String>,
) -> ApiResult {
    Ok(ApiResponse(thread_views::get(&app, &asker, &id).await?))
}
