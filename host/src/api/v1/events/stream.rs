//! `/v1/events/stream`

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use schemars::JsonSchema;
use serde::Deserialize;
use service::app::App;
use service::webhooks::stream::EventStream;

use crate::api::access::api_key::Caller;
use crate::api::operation::Priority::Additive;
use crate::api::operation::Routes;
use crate::api::pagination;
use crate::api::request::extractors::Params;
use crate::api::response::error::ApiError;
use crate::api::shared::event_filter::EventFilterQuery;

/// The header with the position at which a reconnecting client continues (WHATWG HTML, section 9.2.4).
const LAST_EVENT_ID: &str = "last-event-id";
/// Tells reverse proxies to pass on each event at once.
const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// The query string of the event stream.
#[derive(Debug, Deserialize, JsonSchema)]
struct EventStreamQuery {
    /// The `sequence` after which the stream begins. `Last-Event-ID` takes precedence over it. By default the stream begins with the
    /// events from now on.
    #[schemars(range(min = 0))]
    after_sequence: Option<i64>,
}

pub fn routes() -> Routes<App> {
    Routes::new("Event log")
        .get("/v1/events/stream", "events.read", Additive, open)
        .summary("Receive events as they happen")
        .description("Server-sent events: `id` is the `sequence`, `event` the type, and `data` what a webhook with full payloads receives, in one line. The stream begins with the events after `Last-Event-ID` or `after_sequence`, and without either with events from now on. A comment comes every 15 seconds; an `id` without an event shows how far the log was read. The stream ends after an hour, or when the host is stopped; its client then opens another one with `Last-Event-ID`, as `EventSource` does by itself. It ends for good within a second when its API key or access token is revoked or expires. A client that reads nothing for 30 seconds is disconnected. `event: sync_reset_required`, the last of a stream, says that events after the position are no longer kept; a stream that is opened there is answered with 409. 429 while the key has 10 streams open at the host, its application 250, or the host 1,000.")
        .query::<EventStreamQuery>()
        .query::<EventFilterQuery>()
        .header("Last-Event-ID", "The `id` that was received last")
        .streams()
}

async fn open(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    params: Params,
) -> Result<Response, ApiError> {
    let EventStreamQuery { after_sequence } = params.read()?;
    let wish = params.read::<EventFilterQuery>()?.into_request()?;
    // A value that is no text is no sequence number either.
    let last_event_id = headers.get(LAST_EVENT_ID).map(|value| value.to_str().unwrap_or("?"));
    let last_event_id = pagination::sequence("Last-Event-ID", last_event_id.filter(|id| !id.is_empty()))?;
    let stream = EventStream::open(&app, caller.key.clone(), &wish, last_event_id.or(after_sequence)).await?;
    let mut response = Response::new(Body::from_stream(stream.pieces()));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
    Ok(response)
}
