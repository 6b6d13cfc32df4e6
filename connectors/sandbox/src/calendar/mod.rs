//! The calendar surface.

mod events;
mod freebusy;
mod mapping;
mod native;

use connector_sdk::{Answer, Calendar, Context, Outcome};
use model::wire::calendar::{
    CalendarFeatures, EventConference, EventDelete, EventRespond, EventWrite, FreeBusyAnswer, FreeBusyRequest,
};
use model::wire::{ChangesRequest, CollectionDelete, CollectionWrite, Mutated, SourceRef, Sources};

use crate::collections;
use crate::connector::Sandbox;
use crate::items;

pub use crate::calendar::mapping::{event_from, event_to};
pub use crate::calendar::native::Event as NativeEvent;

impl Calendar for Sandbox {
    fn list_calendars(context: &Context, _: ChangesRequest) -> Outcome<Answer<Sources>> {
        collections::list::<native::Calendar>(context)
    }

    fn get_event(context: &Context, args: SourceRef) -> Outcome<Sources> {
        items::get::<native::Event>(context, &args.collection, &args.source)
    }

    fn free_busy(context: &Context, args: FreeBusyRequest) -> Outcome<FreeBusyAnswer> {
        freebusy::free_busy(context, &args)
    }

    fn features(_: &Context) -> Outcome<CalendarFeatures> {
        Ok(freebusy::features())
    }

    fn create_calendar(
        context: &Context,
        args: CollectionWrite<model::calendar::Calendar>,
    ) -> Outcome<Mutated> {
        collections::create::<native::Calendar>(context, &args)
    }

    fn update_calendar(
        context: &Context,
        args: CollectionWrite<model::calendar::Calendar>,
    ) -> Outcome<Mutated> {
        collections::update::<native::Calendar>(context, &args)
    }

    fn delete_calendar(context: &Context, args: CollectionDelete) -> Outcome<Mutated> {
        collections::delete::<native::Calendar>(context, &args)
    }

    fn create_event(context: &Context, args: EventWrite) -> Outcome<Mutated> {
        events::create(context, &args)
    }

    fn update_event(context: &Context, args: EventWrite) -> Outcome<Mutated> {
        events::update(context, &args)
    }

    fn delete_event(context: &Context, args: EventDelete) -> Outcome<Mutated> {
        events::delete(context, &args)
    }

    fn respond(context: &Context, args: EventRespond) -> Outcome<Mutated> {
        events::respond(context, &args)
    }

    fn conference(context: &Context, args: EventConference) -> Outcome<Mutated> {
        events::conference(context, &args)
    }

    fn changes(context: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        items::changes::<native::Event>(context, &args)
    }
}
