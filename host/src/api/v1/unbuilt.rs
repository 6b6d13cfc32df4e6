//! Operations of the contract that are not built yet. Each answers 501 `not_implemented` and is already described in full. The
//! list only shrinks: a row moves to the file of its path when it is built (`tests/api/contract/operations.rs` counts them).

use axum::handler::Handler;
use model::resource::{New, Patch, Resource};
use model::scheduling::booking::{Booking, NewBooking};
use model::scheduling::event_type::EventType;
use model::scheduling::slots::{BookingLink, SlotAnswer, SlotQuery};

use crate::api::operation::Priority::Mvp;
use crate::api::operation::Routes;

/// The rows, all with this handler.
pub fn routes<S, H, T>(handler: H) -> Routes<S>
where
    S: Clone + Send + Sync + 'static,
    H: Handler<T, S>,
    T: 'static,
{
    let h = || handler.clone();
    let scheduling = event_types(h()).merge(bookings(h()));
    scheduling.not_built()
}

fn event_types<S: Clone + Send + Sync + 'static, H: Handler<T, S>, T: 'static>(h: H) -> Routes<S> {
    Routes::new("Scheduling")
        .get("/v1/scheduling/event-types", "scheduling.read", Mvp, h.clone())
        .summary("List event types")
        .lists::<Resource<EventType>>()
        .post("/v1/scheduling/event-types", "scheduling.write", Mvp, h.clone())
        .summary("Create an event type")
        .body::<New<EventType>>()
        .returns::<Resource<EventType>>()
        .get("/v1/scheduling/event-types/{eventTypeId}", "scheduling.read", Mvp, h.clone())
        .summary("Read an event type")
        .returns::<Resource<EventType>>()
        .patch("/v1/scheduling/event-types/{eventTypeId}", "scheduling.write", Mvp, h.clone())
        .summary("Change an event type")
        .body::<Patch<EventType>>()
        .returns::<Resource<EventType>>()
        .delete("/v1/scheduling/event-types/{eventTypeId}", "scheduling.write", Mvp, h)
        .summary("Delete an event type; its bookings stay")
}

fn bookings<S: Clone + Send + Sync + 'static, H: Handler<T, S>, T: 'static>(h: H) -> Routes<S> {
    Routes::new("Scheduling")
        .get("/v1/scheduling/booking-links/{slug}", "scheduling.book", Mvp, h.clone())
        .summary("What a booking page shows")
        .returns::<BookingLink>()
        .post("/v1/scheduling/availability/query", "scheduling.book", Mvp, h.clone())
        .summary("Find slots")
        .body::<SlotQuery>()
        .returns::<SlotAnswer>()
        .post("/v1/scheduling/bookings", "scheduling.book", Mvp, h)
        .summary("Book a slot")
        .description("Exactly one of several requests for the same slot succeeds; the others get 409 `slot_unavailable`.")
        .body::<NewBooking>()
        .returns::<Resource<Booking>>()
}
