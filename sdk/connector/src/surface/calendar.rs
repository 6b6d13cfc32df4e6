//! Calendars and events. The operations, their arguments and answers are tabled in `model::wire::calendar`.

use model::calendar;
use model::wire::calendar::{
    CalendarFeatures, EventConference, EventDelete, EventRespond, EventWrite, FreeBusyAnswer, FreeBusyRequest,
};
use model::wire::{
    ChangesRequest, CollectionDelete, CollectionWrite, Mutated, SourceRef, Sources, SourcesGet,
};
use serde_json::Value;

use crate::context::{Answer, Context, Host};
use crate::dispatch::{CallRequest, CallResponse, run, unknown};
use crate::error::{Failure, Outcome};

/// Operations of `calendar`.
pub trait Calendar {
    /// Returns all calendars of the account; the host treats calendars that are missing as deleted.
    fn list_calendars(context: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        let _ = (context, args);
        Err(Failure::unsupported("listing calendars"))
    }

    /// Returns the current state of one event, or of one series with its exceptions.
    fn get_event(context: &Context, args: SourceRef) -> Outcome<Sources> {
        let _ = (context, args);
        Err(Failure::unsupported("reading an event"))
    }

    /// Returns many events at once, for a connector that answers `changes` with names only (`Sources.named`).
    fn get_events(context: &Context, args: SourcesGet) -> Outcome<Sources> {
        let _ = (context, args);
        Err(Failure::unsupported("reading many events at once"))
    }

    /// Returns busy times that the provider computes.
    fn free_busy(context: &Context, args: FreeBusyRequest) -> Outcome<FreeBusyAnswer> {
        let _ = (context, args);
        Err(Failure::unsupported("free/busy queries"))
    }

    /// Returns the features of this account's provider.
    fn features(context: &Context) -> Outcome<CalendarFeatures> {
        let _ = context;
        Err(Failure::unsupported("reporting its features"))
    }

    /// Creates a calendar.
    fn create_calendar(context: &Context, args: CollectionWrite<calendar::Calendar>) -> Outcome<Mutated> {
        let _ = (context, args);
        Err(Failure::unsupported("creating calendars"))
    }

    /// Changes a calendar.
    fn update_calendar(context: &Context, args: CollectionWrite<calendar::Calendar>) -> Outcome<Mutated> {
        let _ = (context, args);
        Err(Failure::unsupported("changing calendars"))
    }

    /// Deletes a calendar with its events.
    fn delete_calendar(context: &Context, args: CollectionDelete) -> Outcome<Mutated> {
        let _ = (context, args);
        Err(Failure::unsupported("deleting calendars"))
    }

    /// Creates an event. A repeated create under the same idempotency key must return the event of the first attempt.
    fn create_event(context: &Context, args: EventWrite) -> Outcome<Mutated> {
        let _ = (context, args);
        Err(Failure::unsupported("creating events"))
    }

    /// Changes an event, a series or one instance.
    fn update_event(context: &Context, args: EventWrite) -> Outcome<Mutated> {
        let _ = (context, args);
        Err(Failure::unsupported("changing events"))
    }

    /// Deletes an event, a series or one instance.
    fn delete_event(context: &Context, args: EventDelete) -> Outcome<Mutated> {
        let _ = (context, args);
        Err(Failure::unsupported("deleting events"))
    }

    /// Answers an invitation as the account itself.
    fn respond(context: &Context, args: EventRespond) -> Outcome<Mutated> {
        let _ = (context, args);
        Err(Failure::unsupported("answering invitations"))
    }

    /// Adds a conference to an event.
    fn conference(context: &Context, args: EventConference) -> Outcome<Mutated> {
        let _ = (context, args);
        Err(Failure::unsupported("conferences"))
    }

    /// Returns the events of one calendar that changed since the context's cursor; without a cursor, all of them.
    fn changes(context: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        let _ = (context, args);
        Err(Failure::unsupported("calendar changes"))
    }
}

/// Runs a read operation of `calendar` by its name; an unknown one is unsupported.
pub fn fetch<C: Calendar>(host: &dyn Host, request: CallRequest) -> Outcome<CallResponse> {
    match request.op.as_str() {
        "calendars.list" => run(host, request, C::list_calendars),
        "events.get" => run(host, request, |cx, args| C::get_event(cx, args).map(Answer::whole)),
        "events.batchGet" => run(host, request, |cx, args| C::get_events(cx, args).map(Answer::whole)),
        "freebusy.query" => run(host, request, |cx, args| C::free_busy(cx, args).map(Answer::whole)),
        "capabilities" => run(host, request, |cx, _: Value| C::features(cx).map(Answer::whole)),
        op => unknown(op),
    }
}

/// Runs a write operation of `calendar` by its name; an unknown one is unsupported.
pub fn mutate<C: Calendar>(host: &dyn Host, request: CallRequest) -> Outcome<CallResponse> {
    match request.op.as_str() {
        "calendars.create" => run(host, request, |cx, args| C::create_calendar(cx, args).map(Answer::whole)),
        "calendars.update" => run(host, request, |cx, args| C::update_calendar(cx, args).map(Answer::whole)),
        "calendars.delete" => run(host, request, |cx, args| C::delete_calendar(cx, args).map(Answer::whole)),
        "events.create" => run(host, request, |cx, args| C::create_event(cx, args).map(Answer::whole)),
        "events.update" => run(host, request, |cx, args| C::update_event(cx, args).map(Answer::whole)),
        "events.delete" => run(host, request, |cx, args| C::delete_event(cx, args).map(Answer::whole)),
        "events.respond" => run(host, request, |cx, args| C::respond(cx, args).map(Answer::whole)),
        "events.conference" => run(host, request, |cx, args| C::conference(cx, args).map(Answer::whole)),
        op => unknown(op),
    }
}

/// Runs the operation `events` of the export `changes`; an unknown one is unsupported.
pub fn changes<C: Calendar>(host: &dyn Host, request: CallRequest) -> Outcome<CallResponse> {
    match request.op.as_str() {
        "events" => run(host, request, C::changes),
        op => unknown(op),
    }
}
