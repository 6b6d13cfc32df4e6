//! `/v1/email/drafts`

use axum::extract::State;
use base::error::{Code, invalid};
use http::{HeaderMap, header};
use model::email::EmailMessage;
use model::email::draft::{Draft, ReplyMode};
use model::email::send::{DraftPatch, NewDraft, SendDraft};
use model::resource::Resource;
use service::app::App;
use service::app::stored_response::{IdempotentAttempt, StoredResponse};
use service::connections::request_context::RequestContext;
use service::connections::write_context::WriteContext;
use service::resources::mail::filter::MailQuery;
use service::resources::mail::{compose, drafts, message_list};
use service::sending::submit::{Submission, submit};

use crate::api::operation::Priority::{Additive, Mvp};
use crate::api::operation::Routes;
use crate::api::pagination;
use crate::api::request::etag;
use crate::api::request::extractors::{Extract, Params, Path};
use crate::api::request::json::{self, Body};
use crate::api::request::query::{IncludeQuery, StrictQuery};
use crate::api::response::reply::{self, ApiResponse, ApiResult};
use crate::api::shared::collection_items::manner;
use crate::api::shared::mail_lists::MessageFilterQuery;
use crate::web::cursor::Binding;

pub fn routes() -> Routes<App> {
    Routes::new("Email")
        .post("/v1/email/drafts", "email.write", Mvp, create)
        .summary("Create a draft")
        .description("The draft is stored in the drafts folder of the account, where other mail programs see it too.")
        .body::<NewDraft>()
        .takes_files()
        .returns::<Resource<Draft>>()
        .get("/v1/email/drafts", "email.read", Additive, list_drafts)
        .summary("List drafts, newest first")
        .description("Drafts are listed without their text. A draft that was sent is no longer listed.")
        .query::<MessageFilterQuery>()
        .query::<IncludeQuery>()
        .lists::<Resource<Draft>>()
        .get("/v1/email/drafts/{draftId}", "email.read", Mvp, get)
        .summary("Read a draft")
        .description("Returns the draft with its text and header fields. After the draft was sent, `sentMessageId` has the id of the message.")
        .query::<IncludeQuery>()
        .returns::<Resource<Draft>>()
        .patch("/v1/email/drafts/{draftId}", "email.write", Mvp, update)
        .summary("Change a draft")
        .description("A JSON merge patch. It needs the etag, because mail programs save drafts by themselves. Without `attachments`, the files stay; with it, the list replaces them, and `{\"id\": …}` in the list keeps a file that the draft has.")
        .query::<StrictQuery>()
        .body::<DraftPatch>()
        .takes_files()
        .returns::<Resource<Draft>>()
        .delete("/v1/email/drafts/{draftId}", "email.write", Additive, delete)
        .summary("Destroy a draft")
        .description("The draft does not go to the trash. While it is scheduled or being sent, it cannot be destroyed: delete the message with the id `sentMessageId` first, to cancel it.")
        .post("/v1/email/drafts/{draftId}/send", "email.send", Mvp, send)
        .summary("Send a draft")
        .description("The key needs `email.read` too, because sending a draft reads it. A draft is sent once: a second call answers 409 `draft_already_sent`. With `sendAt`, in the draft or in the request, the message is sent at that time: DELETE of the returned message cancels it until the provider gets it, and answers 409 `already_sent` from then on.")
        .header("If-Match", "The version of the draft to send, instead of `etag`. An outdated one answers 409 `stale_etag`.")
        .body::<SendDraft>()
        .returns::<Resource<EmailMessage>>()
}

async fn create(Extract(cx): Extract<WriteContext>, headers: HeaderMap, Body(body): Body) -> ApiResult {
    Ok(ApiResponse(drafts::create(&cx, body, json::is_strict(&headers)).await?))
}

async fn list_drafts(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    params: Params,
) -> ApiResult {
    let query = MailQuery {
        drafts: true,
        with_provider_data: params.read::<IncludeQuery>()?.include.has_provider_data(),
        ..params.read::<MessageFilterQuery>()?.into_mail_query()
    };
    let limit = pagination::limit(params.get("limit"))?;
    let binding = Binding::new(&asker.tenant, "email.drafts.list", &query);
    let after = binding.place(&app.keyring, params.get("cursor"))?;
    let (texts, place) = message_list::list(&app, &asker, &query, after, limit).await?;
    let texts = texts
        .iter()
        .map(|t| service::local_copy::mail::render_draft::without_time(t))
        .collect::<Result<Vec<_>, _>>()?;
    let next = place.map(|p| binding.cursor(&app.keyring, &p));
    Ok(ApiResponse(reply::over_connections(
        StoredResponse::ok(pagination::page(&texts, next.as_deref())),
        &asker,
    )))
}

async fn get(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    params: Params,
    Path(id): Path<String>,
) -> ApiResult {
    let IncludeQuery { include } = params.read()?;
    Ok(ApiResponse(drafts::get(&app, &asker, &id, include.has_provider_data()).await?))
}

async fn update(
    Extract(cx): Extract<WriteContext>,
    headers: HeaderMap,
    params: Params,
    Path(id): Path<String>,
    Body(mut body): Body,
) -> ApiResult {
    let has_etag = headers.contains_key(header::IF_MATCH) || body.get("etag").is_some_and(|e| !e.is_null());
    if !has_etag {
        let message = "a draft is changed with the etag of the version that is known: send If-Match or etag";
        return Err(invalid(Code::MissingField, "etag", message).into());
    }
    let manner = manner(&headers, &params, &mut body)?;
    Ok(ApiResponse(drafts::update(&cx, &id, body, manner).await?))
}

async fn delete(
    Extract(cx): Extract<WriteContext>,
    headers: HeaderMap,
    Path(id): Path<String>,
    Body(mut body): Body,
) -> ApiResult {
    let expected = etag::expected(&headers, Some(&mut body))?;
    Ok(ApiResponse(drafts::delete(&cx, &id, expected).await?))
}

async fn send(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    Extract(attempt): Extract<IdempotentAttempt>,
    headers: HeaderMap,
    Path(id): Path<String>,
    Body(mut body): Body,
) -> ApiResult {
    let expected = etag::expected(&headers, Some(&mut body))?;
    let (given, unknown) = json::typed::<SendDraft>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    let _one = app.locks.lock(&format!("item:{id}")).await;
    // Contract silent: whether sending a draft includes reading it. It does not: what it says is in the answer, and goes out.
    let item = drafts::find(&app, &asker, &id).await.map_err(|e| match e.code() {
        Some(Code::InsufficientScope) => e.with_param("draftId"),
        _ => e,
    })?;
    let connection = asker.connection(&app, &item.connection_id, "email.send").await?;
    service::local_copy::mail::draft_state::is_open(&item)?;
    let (item, content, own) = drafts::to_send(&app, &asker, &connection, item).await?;
    expected.check(&item.etag)?;
    let asked_at = attempt.first_at.unwrap_or_else(|| app.now());
    service::resources::mail::draft_input::send_at(asked_at, given.send_at)?;
    let send_at = given.send_at.or(own.send_at);
    let composed = compose::compose(&app, &asker, &connection, content, &attempt.connector_key).await?;
    service::resources::mail::sender::check(&app, &asker, &connection, &composed.outgoing.from).await?;
    let size = service::resources::mail::size_limit::MessageSize::of(&composed);
    service::resources::mail::size_limit::check(&app, &asker, &connection, size).await?;
    let metadata = serde_json::from_str(&item.metadata).map_err(anyhow::Error::from)?;
    let submission = Submission {
        send_at,
        save_to_sent: given.save_to_sent.unwrap_or(true),
        metadata,
        draft: Some(item),
        tracking: own.tracking,
        is_forward: own.reply_mode == Some(ReplyMode::Forward),
        answers: own.reply_to_message_id,
        warnings,
    };
    Ok(ApiResponse(submit(&app, &connection, composed, submission, &attempt).await?))
}
