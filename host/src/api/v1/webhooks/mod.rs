//! `/v1/webhooks`

pub mod deliveries;
pub mod replay;
pub mod replays;
pub mod test;

#[cfg(test)]
mod tests;

use axum::extract::State;
use http::HeaderMap;
use model::resource::{New, Patch, Resource};
use model::webhook::WebhookSubscription;
use service::app::App;
use service::app::stored_response::{IdempotentAttempt, StoredResponse};
use service::webhooks::{subscription, subscription_update, view};

use crate::api::access::api_key::Caller;
use crate::api::operation::Priority::Mvp;
use crate::api::operation::Routes;
use crate::api::pagination;
use crate::api::request::etag;
use crate::api::request::extractors::{Extract, Params, Path};
use crate::api::request::json::{self, Body};
use crate::api::response::reply::{ApiResponse, ApiResult};
use crate::web::cursor::Binding;

pub fn routes() -> Routes<App> {
    Routes::new("Webhooks")
        .post("/v1/webhooks", "webhooks.write", Mvp, create)
        .summary("Create a webhook")
        .description("The answer holds `secret`. It is shown only once; an idempotent replay shows it again. The webhook receives every event from then on. Event types need the scopes that read their resources (403 `insufficient_scope` names the missing one), and a key that is bound to connections subscribes to their events only. The URL must lead to a public address, which is checked again for every attempt. If its host cannot be resolved now, the URL is accepted with a warning. The webhook ends with the API key or access token that creates it (`keyId`): it is then disabled with `key_ended`, unless the key was replaced (see `DELETE /v1/api-keys/{keyId}`). If that key expires, the warning `ends_with_key` says when. The values of `headers` are sent to the receiver and never shown: every answer has `********` instead. An application has at most 10,000 webhooks.")
        .body::<New<WebhookSubscription>>()
        .returns::<Resource<WebhookSubscription>>()
        .get("/v1/webhooks", "webhooks.read", Mvp, list)
        .summary("List webhooks")
        .description("A key that is bound to connections sees the webhooks that receive events of these connections only.")
        .lists::<Resource<WebhookSubscription>>()
        .get("/v1/webhooks/{webhookId}", "webhooks.read", Mvp, get)
        .summary("Read a webhook")
        .returns::<Resource<WebhookSubscription>>()
        .patch("/v1/webhooks/{webhookId}", "webhooks.write", Mvp, update)
        .summary("Change, pause or resume a webhook, or rotate its secret")
        .description("`paused` keeps the position: `active` continues where it stopped, as far back as events are kept. `disabled` discards waiting deliveries, and `active` then starts with new events. A change applies to everything that was not attempted yet. With `rotateSecret`, or a `secret` of your own, the answer holds the new secret, which is shown only once; the old one also signs for `secretGraceSeconds`. With `0` all earlier secrets end at once, even if you send that alone. To change what is sent, or where, your key needs the same scopes as for a new webhook. A webhook gets more event types only if the request names `url` or `eventTypes`: it then belongs to the key of the request (`keyId`), and receives what that key may read. A change of any other field removes what the key of the request may not read, and adds no event types; if it lets more through (`connectionIds`, `includeBackfill`, `payloadMode`) and that key ends earlier, the webhook then belongs to that key. In `headers` a masked value keeps the stored one. If you change `url` to another server, send the values again: stored ones are not sent there.")
        .body::<Patch<WebhookSubscription>>()
        .returns::<Resource<WebhookSubscription>>()
        .delete("/v1/webhooks/{webhookId}", "webhooks.write", Mvp, delete)
        .summary("Delete a webhook")
        .description("No further notifications are sent. An attempt that is under way may still arrive.")
}

async fn create(
    State(app): State<App>,
    caller: Caller,
    Extract(attempt): Extract<IdempotentAttempt>,
    headers: HeaderMap,
    Body(body): Body,
) -> ApiResult {
    let strict = json::is_strict(&headers);
    Ok(ApiResponse(subscription::create(&app, &caller.key, body, strict, &attempt).await?))
}

async fn list(State(app): State<App>, caller: Caller, params: Params) -> ApiResult {
    let limit = usize::try_from(pagination::limit(params.get("limit"))?).unwrap_or(usize::MAX);
    let binding = Binding::new(caller.tenant(), "webhooks.list", &());
    let after: String = binding.place(&app.keyring, params.get("cursor"))?.unwrap_or_default();
    let mut found = subscription::list(&app, &caller.key, &after, limit + 1).await?;
    let has_more = found.len() > limit;
    found.truncate(limit);
    let mut items = Vec::with_capacity(found.len());
    for webhook in &found {
        items.push(view::json(&app, webhook)?.to_string());
    }
    let cursor = |last: usize| binding.cursor(&app.keyring, &found.get(last).map(|w| &w.id));
    Ok(ApiResponse(StoredResponse::ok(pagination::cut(&items, has_more, cursor))))
}

async fn get(State(app): State<App>, caller: Caller, Path(id): Path<String>) -> ApiResult {
    let webhook = subscription::find(&app, &caller.key, &id).await?;
    Ok(ApiResponse(StoredResponse::ok(view::json(&app, &webhook)?.to_string()).etag(&webhook.etag)))
}

async fn update(
    State(app): State<App>,
    caller: Caller,
    Extract(attempt): Extract<IdempotentAttempt>,
    headers: HeaderMap,
    Path(id): Path<String>,
    Body(mut body): Body,
) -> ApiResult {
    let expected = etag::expected(&headers, Some(&mut body))?;
    let strict = json::is_strict(&headers);
    Ok(ApiResponse(
        subscription_update::update(&app, &caller.key, &id, (body, expected), strict, &attempt).await?,
    ))
}

async fn delete(
    State(app): State<App>,
    caller: Caller,
    Extract(attempt): Extract<IdempotentAttempt>,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> ApiResult {
    let expected = etag::expected(&headers, None)?;
    Ok(ApiResponse(subscription::delete(&app, &caller.key, &id, expected, &attempt).await?))
}
