//! `/v1/scheduling/bookings`

pub mod cancel;
pub mod confirm;
pub mod reject;
pub mod reschedule;

use axum::extract::State;
use base::error::{Code, Result, invalid};
use http::HeaderMap;
use model::bounds;
use model::formats::{self, InstantOrDate};
use model::resource::{Patch, Resource};
use model::scheduling::booking::{Booking, NewBooking};
use schemars::JsonSchema;
use serde::Deserialize;
use service::app::stored_response::{IdempotentAttempt, StoredResponse};
use service::app::{App, page_cache};
use service::bookings::change::Viewer;
use service::bookings::create::Booker;
use service::bookings::list::{BookingFilter, BookingListPosition};
use service::bookings::{create as booking, list as bookings, new_booking, update as change};
use service::connections::request_context::RequestContext;
use service::connections::write_context::WriteContext;

use crate::api::access::api_key::Caller;
use crate::api::operation::Priority::{Additive, Mvp};
use crate::api::operation::Routes;
use crate::api::pagination;
use crate::api::request::etag;
use crate::api::request::extractors::{Extract, Params, Path};
use crate::api::request::json::{self, Body};
use crate::api::response::reply::{ApiResponse, ApiResult};
use crate::web::cursor::Binding;

/// The query string of a list of bookings.
#[derive(Debug, Deserialize, JsonSchema)]
struct BookingListQuery {
    /// Returns only bookings of this event type.
    #[schemars(with = "Option<formats::Id>", length(max = bounds::MAX_ID))]
    event_type_id: Option<String>,
    /// Returns only bookings in this state.
    status: Option<BookingStatusFilter>,
    /// Returns only bookings of the invitee with this email address, however it is spelled.
    #[schemars(length(max = bounds::list::MAX_ADDRESS))]
    invitee_email: Option<String>,
    /// Returns only bookings that start at this time or later: an RFC 3339 instant, or a date, which stands for its midnight in UTC.
    start: Option<InstantOrDate>,
    /// Returns only bookings that start before this time: an RFC 3339 instant, or a date, which stands for its midnight in UTC.
    end: Option<InstantOrDate>,
}

/// The states of a booking to filter by.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
enum BookingStatusFilter {
    Pending,
    Confirmed,
    Rejected,
    Cancelled,
    Expired,
    Completed,
}

impl BookingStatusFilter {
    /// The state as bookings are stored with it.
    fn as_str(self) -> &'static str {
        match self {
            BookingStatusFilter::Pending => "pending",
            BookingStatusFilter::Confirmed => "confirmed",
            BookingStatusFilter::Rejected => "rejected",
            BookingStatusFilter::Cancelled => "cancelled",
            BookingStatusFilter::Expired => "expired",
            BookingStatusFilter::Completed => "completed",
        }
    }
}

pub fn routes() -> Routes<App> {
    Routes::new("Scheduling")
        .get("/v1/scheduling/bookings", "scheduling.read", Additive, list)
        .summary("List bookings by their start")
        .description("A key that is bound to connections sees the bookings that name no other connection, neither as a host nor in `calendarEvents`. With several filters a page can be short: only a null `next_cursor` marks the end.")
        .query::<BookingListQuery>()
        .lists::<Resource<Booking>>()
        .post("/v1/scheduling/bookings", "scheduling.book", Mvp, create)
        .summary("Book a slot")
        .description("A 400 names every fault of the body in `details`, at most 20. Exactly one of several requests for the same slot succeeds; the others get 409 `slot_unavailable`, and so does every start that the slot search does not offer. 409 `booking_limit_reached`: the address already has as many upcoming bookings as the event type allows. `slug` names the link that the invitee came by: a link for a single booking is used up with it; one that belongs to another event type, is expired or used up gives 404. The event is written to the host's calendar right after the answer; `calendarEvents` shows the progress. An event that invites the invitee and guests has none of the invitee's notes, answers and phone number, because providers send it to them: its description links hosts to a page that shows these. Only keys with `scheduling.read` see who the hosts are. A key without it, such as one for web pages, cannot set `metadata` (400). With such a key an email address gets three bookings an hour in the application, as invitee or as guest, including those of the booking page, in any spelling and with any `+tag`; the next one gets 429 `rate_limited` with `Retry-After`, and `param` is `inviteeEmail` or `guests[0].email`.")
        .body::<NewBooking>()
        .returns::<Resource<Booking>>()
        .get("/v1/scheduling/bookings/{bookingId}", "scheduling.read", Additive, get)
        .summary("Read a booking")
        .description("Changes that the organizer makes to the event in their own calendar change the booking. A new time reschedules it, and the invitation asks the invitee to accept. A declined or deleted event cancels it; a deleted one only after a minute, in which the other calendars of the account are searched for it. If the event was moved to one of them, the booking stays, `calendarEvents` names the new calendar, and `booking.updated` is logged. If the event becomes an all-day event, the booking keeps its time: `calendarEvents[].error` says so, `booking.updated` is logged, and an email asks the host for a time.")
        .returns::<Resource<Booking>>()
        .patch("/v1/scheduling/bookings/{bookingId}", "scheduling.write", Additive, update)
        .summary("Change your notes on a booking, or record who did not come")
        .description("A JSON merge patch of `metadata` and `noShow`; other changes have operations of their own. `noShow` can be set once a confirmed or completed booking has begun: 409 `invalid_state` for others. It names the invitee and guests by their email addresses.")
        .body::<Patch<Booking>>()
        .returns::<Resource<Booking>>()
}

async fn list(State(app): State<App>, Extract(asker): Extract<RequestContext>, params: Params) -> ApiResult {
    let limit = usize::try_from(pagination::limit(params.get("limit"))?).unwrap_or(usize::MAX);
    let filter = filter(params.read()?)?;
    let binding = Binding::new(&asker.tenant, "scheduling.bookings.list", &filter);
    let after: Option<BookingListPosition> = binding.place(&app.keyring, params.get("cursor"))?;
    let found = bookings::list(&app, &asker, &filter, after, limit).await?;
    let (places, texts): (Vec<BookingListPosition>, Vec<String>) = found.items.into_iter().unzip();
    // The bytes can end the page before its number does.
    let fitting = page_cache::fitting(&texts);
    let next = match fitting.checked_sub(1).filter(|_| fitting < texts.len()) {
        Some(last) => places.get(last).cloned(),
        None => found.next,
    };
    let cursor = next.map(|place| binding.cursor(&app.keyring, &place));
    let shown = texts.get(..fitting).unwrap_or(&texts);
    Ok(ApiResponse(StoredResponse::ok(pagination::page(shown, cursor.as_deref()))))
}

fn filter(query: BookingListQuery) -> Result<BookingFilter> {
    let start = query.start.map(InstantOrDate::as_millis);
    let end = query.end.map(InstantOrDate::as_millis);
    if start.zip(end).is_some_and(|(start, end)| end <= start) {
        return Err(invalid(Code::InvalidTimeRange, "end", "end must be after start"));
    }
    Ok(BookingFilter {
        event_type_id: query.event_type_id,
        status: query.status.map(|status| status.as_str().to_owned()),
        invitee_email: query.invitee_email.map(|email| ::mail::address::folded(&email)),
        start,
        end,
    })
}

async fn create(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    caller: Caller,
    Extract(attempt): Extract<IdempotentAttempt>,
    headers: HeaderMap,
    Body(body): Body,
) -> ApiResult {
    new_booking::require_fields(&body)?;
    let (new, unknown) = json::typed::<NewBooking>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    let sees_hosts = caller.has_scope("scheduling.read");
    // Contract silent: which keys are those of browsers. One that may read bookings is not put into a page.
    let by = if sees_hosts { Booker::ServerKey } else { Booker::BrowserKey };
    let viewer = Viewer { asker: &asker, sees_hosts, warnings };
    Ok(ApiResponse(booking::create(&app, &viewer, &new, by, &attempt).await?))
}

async fn get(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    Path(id): Path<String>,
) -> ApiResult {
    Ok(ApiResponse(bookings::answer(&app, &asker, &id).await?))
}

async fn update(
    Extract(cx): Extract<WriteContext>,
    headers: HeaderMap,
    Path(id): Path<String>,
    Body(mut body): Body,
) -> ApiResult {
    let expected = etag::expected(&headers, Some(&mut body))?;
    let strict = json::is_strict(&headers);
    Ok(ApiResponse(change::update(&cx, &id, body, expected, strict).await?))
}
