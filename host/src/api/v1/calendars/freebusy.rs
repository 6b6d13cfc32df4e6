//! `/v1/calendars/freebusy/query`

use axum::extract::State;
use base::error::{Code, refuse};
use http::HeaderMap;
use model::calendar_query::{FreeBusyAnswer, FreeBusyQuery};
use service::app::App;
use service::connections::request_context::RequestContext;
use service::freebusy::query;

use crate::api::access::api_key::Caller;
use crate::api::operation::Priority::Mvp;
use crate::api::operation::Routes;
use crate::api::request::extractors::Extract;
use crate::api::request::json::{self, Body};
use crate::api::response::error::ApiError;
use crate::api::response::reply::{ApiResponse, ApiResult};

pub fn routes() -> Routes<App> {
    Routes::new("Free and busy")
        .post("/v1/calendars/freebusy/query", "calendar.freebusy", Mvp, ask)
        .summary("Ask when people are busy")
        .description("Up to 50 targets over at most 92 days. A target that is named twice is answered once, with the warning `duplicate_target`. A target that failed has `status` `error`, is never reported as free, and makes `complete` false; the others are answered all the same. `includeDetails` needs the scope `calendar.read`.")
        .body::<FreeBusyQuery>()
        .returns::<FreeBusyAnswer>()
}

async fn ask(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    caller: Caller,
    headers: HeaderMap,
    Body(body): Body,
) -> ApiResult {
    query::require_fields(&body)?;
    let (asked, unknown) = json::typed::<FreeBusyQuery>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    if asked.include_details && !caller.has_scope("calendar.read") {
        // Contract silent: who may see details. `calendar.freebusy` is for busy times and nothing else.
        let message = "includeDetails needs the scope calendar.read, which this API key lacks";
        return Err(ApiError(refuse(Code::InsufficientScope, message)));
    }
    Ok(ApiResponse(query::answer(&app, &asker, asked, warnings).await?))
}
