//! `/v1/scheduling/bookings`

pub mod cancel;
pub mod confirm;
pub mod reject;
pub mod reschedule;

use axum::extract::State;
use base::error::{Code, Result, invalid};
use http::HeaderMap;
use model::resource::{Patch, Resource};
use model::scheduling::booking::{Booking, NewBooking};
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

/// Characters of an address.
const MAX_ADDRESS: usize = 320;
const STATUSES: [&str; 6] = ["pending", "confirmed", "rejected", "cancelled", "expired", "completed"];

pub fn routes() -> Routes<App> {
    Routes::new("Scheduling")
        .get("/v1/scheduling/bookings", "scheduling.read", Additive, list)
        .summary("List bookings by when they begin")
        .description("A key that is bound to connections sees the bookings that name no other connection, neither as a host nor in `calendarEvents`. With several filters a page can be short: only a null `next_cursor` marks the end.")
        .param("event_type_id", "string", "Bookings of this event type")
        .param("status", "string", "pending, confirmed, rejected, cancelled, expired or completed")
        .param("invitee_email", "string", "Bookings of this address, however it is spelled")
        .param("start", "string", "Bookings that begin then or later: an RFC 3339 instant, or a date")
        .param("end", "string", "Bookings that begin before: an RFC 3339 instant, or a date")
        .lists::<Resource<Booking>>()
        .post("/v1/scheduling/bookings", "scheduling.book", Mvp, create)
        .summary("Book a slot")
        .description("A 400 names every fault of the body in `details`, at most 20. Exactly one of several requests for the same slot succeeds; the others get 409 `slot_unavailable`, and so does every start that the search for slots does not offer. 409 `booking_limit_reached`: the address already has as many upcoming bookings as the event type allows. `slug` names the link that the invitee came by: one that is good for a single booking is used up with it, and one that is not of this event type, is expired or used up is 404. The event is written to the host's calendar right after the answer; `calendarEvents` shows how far it has got. An event that invites the invitee and guests has none of the invitee's notes, answers and phone number, because providers send it to them: its description links hosts to a page that shows these. Only keys with `scheduling.read` see who the hosts are. A key without it, such as one for web pages, cannot set `metadata` (400). With such a key an email address gets three bookings an hour in the application, as invitee or as guest, including those of the booking page, however it is written and whatever its `+tag`; the next one is 429 `rate_limited` with `Retry-After`, and `param` is `inviteeEmail` or `guests[0].email`.")
        .body::<NewBooking>()
        .returns::<Resource<Booking>>()
        .get("/v1/scheduling/bookings/{bookingId}", "scheduling.read", Additive, get)
        .summary("Read a booking")
        .description("Changes that the organizer makes to the event in their own calendar change the booking. A new time reschedules it, and the invitation asks the invitee to accept. A declined or deleted event cancels it; a deleted one only after a minute, in which the other calendars of the account are searched for it. If the event was moved to one of them, the booking stays, `calendarEvents` names the new calendar, and `booking.updated` is logged. If the event becomes an all-day event, the booking keeps its time: `calendarEvents[].error` says so, `booking.updated` is logged, and an email asks the host for a time.")
        .returns::<Resource<Booking>>()
        .patch("/v1/scheduling/bookings/{bookingId}", "scheduling.write", Additive, update)
        .summary("Change your notes on a booking, or say who did not come")
        .description("A JSON merge patch of `metadata` and `noShow`; for everything else there are operations. `noShow` is of bookings that are confirmed or completed and have begun: 409 `invalid_state` for others. It names the invitee or guests by their addresses.")
        .body::<Patch<Booking>>()
        .returns::<Resource<Booking>>()
}

async fn list(State(app): State<App>, Extract(asker): Extract<RequestContext>, params: Params) -> ApiResult {
    let limit = usize::try_from(pagination::limit(params.get("limit"))?).unwrap_or(usize::MAX);
    let filter = filter(&params)?;
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

fn filter(params: &Params) -> Result<BookingFilter> {
    let (start, end) = (params.instant("start")?, params.instant("end")?);
    if start.zip(end).is_some_and(|(start, end)| end <= start) {
        return Err(invalid(Code::InvalidTimeRange, "end", "end must be after start"));
    }
    let email = params.text("invitee_email", MAX_ADDRESS)?;
    Ok(BookingFilter {
        event_type_id: params.text("event_type_id", 64)?,
        status: params.word("status", &STATUSES)?,
        invitee_email: email.map(|email| ::mail::address::folded(&email)),
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
