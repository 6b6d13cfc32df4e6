//! `/v1/email/send`

use axum::extract::State;
use base::error::{Code, invalid};
use base::input::metadata;
use http::HeaderMap;
use model::email::EmailMessage;
use model::email::send::SendMessage;
use model::resource::Resource;
use service::app::App;
use service::app::stored_response::IdempotentAttempt;
use service::connections::request_context::RequestContext;
use service::resources::mail::compose::{self, DraftContent};
use service::sending::submit::{Submission, submit};
use service::sync::backfill;

use crate::api::operation::Priority::Mvp;
use crate::api::operation::Routes;
use crate::api::request::extractors::Extract;
use crate::api::request::json::{self, Body};
use crate::api::response::reply::{ApiResponse, ApiResult};

pub fn routes() -> Routes<App> {
    Routes::new("Email")
        .post("/v1/email/send", "email.send", Mvp, send)
        .summary("Send a message")
        .description("Answers 202 with the message; `delivery` and the events about it show the progress. The message is sent once, however often you repeat the request with its Idempotency-Key. If it is unknown whether the provider accepted it, `delivery.error.code` is `outcome_unknown`. With `sendAt`, the message is sent at that time: DELETE of the message cancels it until the provider gets it, and answers 409 `already_sent` from then on. `replyToMessageId` and `attachmentRef` read a message: a key without `email.read` gets 403 `insufficient_scope`, and `param` names the field.")
        .body::<SendMessage>()
        .takes_files()
        .returns::<Resource<EmailMessage>>()
}

async fn send(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    Extract(attempt): Extract<IdempotentAttempt>,
    headers: HeaderMap,
    Body(body): Body,
) -> ApiResult {
    let (new, unknown) = json::typed_with_files::<SendMessage>(&app, &asker.tenant, body).await?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    if new.connection_id.is_empty() {
        return Err(invalid(Code::MissingField, "connectionId", "connectionId is required").into());
    }
    metadata::check("metadata", &new.metadata)?;
    let asked_at = attempt.first_at.unwrap_or_else(|| app.now());
    service::resources::mail::draft_input::send_at(asked_at, new.send_at)?;
    service::resources::mail::draft_input::tracking(new.tracking.as_ref())?;
    let connection = asker.connection(&app, &new.connection_id, "email.send").await?;
    if new.reply_to_message_id.is_some() {
        backfill::ensure(&app, &connection, false).await?;
    }
    let content = DraftContent {
        from: new.from,
        to: new.to,
        cc: new.cc,
        bcc: new.bcc,
        reply_to: new.reply_to,
        subject: new.subject,
        body: new.body,
        attachments: new.attachments,
        headers: new.headers,
        reply_to_message_id: new.reply_to_message_id,
        reply_mode: new.reply_mode,
        ..DraftContent::default()
    };
    let composed = compose::compose(&app, &asker, &connection, content, &attempt.connector_key).await?;
    service::resources::mail::sender::check(&app, &asker, &connection, &composed.outgoing.from).await?;
    let size = service::resources::mail::size_limit::MessageSize::of(&composed);
    service::resources::mail::size_limit::check(&app, &asker, &connection, size).await?;
    let submission = Submission {
        send_at: new.send_at,
        save_to_sent: new.save_to_sent,
        metadata: new.metadata,
        tracking: new.tracking,
        warnings,
        ..Submission::default()
    };
    Ok(ApiResponse(submit(&app, &connection, composed, submission, &attempt).await?))
}
