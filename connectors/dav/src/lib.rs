//! CalDAV: calendars of any server that keeps to RFC 4791. `webdav` is the protocol, `collection` what all services do with it,
//! `ical` the mapping, `calendar` puts them together; contacts and tasks stand beside `calendar`.

pub mod account;
pub mod calendar;
pub mod collection;
pub mod ical;
pub mod webdav;

use connector_sdk::{Answer, Calendar, Context, Failure, Lifecycle, Outcome, export_connector};
use model::wire::calendar::{
    CalendarFeatures, EventConference, EventDelete, EventRespond, EventWrite, FreeBusyAnswer, FreeBusyRequest,
};
use model::wire::{Account, ChangesRequest, CollectionDelete, CollectionWrite, Mutated, SourceRef, Sources};

use crate::calendar::{Session, collections, events, freebusy};

/// The connector.
pub struct Dav;

impl Lifecycle for Dav {
    fn check(cx: &Context) -> Outcome<Account> {
        account::check(cx)
    }
}

impl Calendar for Dav {
    fn list_calendars(cx: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        collections::list(cx, args)
    }

    fn get_event(cx: &Context, args: SourceRef) -> Outcome<Sources> {
        events::get(cx, args)
    }

    fn free_busy(cx: &Context, args: FreeBusyRequest) -> Outcome<FreeBusyAnswer> {
        freebusy::query(cx, args)
    }

    fn features(cx: &Context) -> Outcome<CalendarFeatures> {
        Ok(calendar::features(cx))
    }

    fn create_calendar(cx: &Context, args: CollectionWrite<model::calendar::Calendar>) -> Outcome<Mutated> {
        collections::create(cx, args)
    }

    fn update_calendar(cx: &Context, args: CollectionWrite<model::calendar::Calendar>) -> Outcome<Mutated> {
        collections::update(cx, args)
    }

    fn delete_calendar(cx: &Context, args: CollectionDelete) -> Outcome<Mutated> {
        collections::delete(cx, args)
    }

    fn create_event(cx: &Context, args: EventWrite) -> Outcome<Mutated> {
        events::create(cx, args)
    }

    fn update_event(cx: &Context, args: EventWrite) -> Outcome<Mutated> {
        events::update(cx, args)
    }

    fn delete_event(cx: &Context, args: EventDelete) -> Outcome<Mutated> {
        events::delete(cx, args)
    }

    fn respond(cx: &Context, args: EventRespond) -> Outcome<Mutated> {
        events::respond(cx, args)
    }

    fn conference(_: &Context, _: EventConference) -> Outcome<Mutated> {
        Err(Failure::unsupported("making conferences; CalDAV has none"))
    }

    fn changes(cx: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        Session::new(cx, args.time_zone.as_deref())?.changes(args)
    }
}

export_connector!(Dav, [calendar, lifecycle]);
