//! `/v1/scheduling/availability/query`

use axum::extract::State;
use http::HeaderMap;
use model::scheduling::slots::{SlotAnswer, SlotQuery};
use service::app::App;
use service::app::stored_response::StoredResponse;
use service::bookings::slots;
use service::connections::request_context::RequestContext;

use crate::api::access::api_key::Caller;
use crate::api::operation::Priority::Mvp;
use crate::api::operation::Routes;
use crate::api::request::extractors::Extract;
use crate::api::request::json::{self, Body};
use crate::api::response::reply::{ApiResponse, ApiResult};
use crate::web::cursor::Binding;

pub fn routes() -> Routes<App> {
    Routes::new("Scheduling")
        .post("/v1/scheduling/availability/query", "scheduling.book", Mvp, ask)
        .summary("Find slots")
        .description("Slots lie on a grid that starts with each window of the schedule; neither the range nor a busy time moves it. Every slot in the answer can be booked: search and booking use the same rules. Buffers are kept free of busy times and need not be within opening hours. A host whose calendars cannot be read counts as busy; if none could be read, the answer is 503 `availability_unknown`. Only keys with `scheduling.read` see who the hosts are: for others `hostIds` is null. `limit` and `cursor` are fields of the body.")
        .body::<SlotQuery>()
        .returns::<SlotAnswer>()
}

async fn ask(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    caller: Caller,
    headers: HeaderMap,
    Body(body): Body,
) -> ApiResult {
    slots::require_fields(&body)?;
    let (query, unknown) = json::typed::<SlotQuery>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    let filters = SlotQuery { limit: None, cursor: None, ..query.clone() };
    let binding = Binding::new(&asker.tenant, "scheduling.availability", &filters);
    let from_ms: Option<i64> = binding.place(&app.keyring, query.cursor.as_deref())?;
    let sees_hosts = caller.has_scope("scheduling.read");
    let (mut answer, next_ms) = slots::answer(&app, &asker, sees_hosts, &query, from_ms).await?;
    answer.next_cursor = next_ms.map(|ms| binding.cursor(&app.keyring, &ms));
    // Not by way of a `Value`: a pool's answer names thousands of hosts.
    let body = serde_json::to_vec(&answer).map_err(anyhow::Error::from)?;
    Ok(ApiResponse(StoredResponse::ok(body).warned(&warnings)))
}
