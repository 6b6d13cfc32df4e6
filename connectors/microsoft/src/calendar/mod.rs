//! The calendar surface.

mod answer;
mod body;
mod busy;
mod changes;
mod colors;
mod conference;
mod create;
mod events;
mod exclude;
mod files;
pub mod info;
mod instance;
mod lists;
pub mod mapping;
mod names;
pub mod native;
mod notify;
pub mod patch;
pub mod patterned;
mod people;
mod read;
mod record;
mod removed;
mod respond;
mod roots;
mod schedule;
mod scope;
mod split;
mod teams;
mod times;
mod uid;
mod walk;
pub mod zones;

use connector_sdk::{Answer, Calendar, Context, Outcome};
use model::calendar::ConferenceProvider;
use model::wire::calendar::{
    CalendarFeatures, EventConference, EventDelete, EventRespond, EventWrite, FreeBusyAnswer, FreeBusyRequest,
};
use model::wire::{
    ChangesRequest, CollectionDelete, CollectionWrite, Mutated, SourceRef, Sources, SourcesGet,
};

use crate::account::is_personal;
use crate::calendar::scope::EventScope;
use crate::connector::Microsoft;

impl Calendar for Microsoft {
    fn list_calendars(context: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        lists::list(context, &args)
    }

    fn get_event(context: &Context, args: SourceRef) -> Outcome<Sources> {
        read::get(context, &args)
    }

    fn get_events(context: &Context, args: SourcesGet) -> Outcome<Sources> {
        read::get_many(context, &args)
    }

    fn free_busy(context: &Context, args: FreeBusyRequest) -> Outcome<FreeBusyAnswer> {
        busy::free_busy(context, &args)
    }

    fn features(context: &Context) -> Outcome<CalendarFeatures> {
        let is_personal = is_personal(context);
        Ok(CalendarFeatures {
            create_calendar: true,
            update_calendar: true,
            delete_calendar: true,
            recurrence: true,
            this_and_following: true,
            attendees: true,
            scheduling: true,
            rsvp: true,
            conference: if is_personal { Vec::new() } else { vec![ConferenceProvider::Teams] },
            reminders: true,
            attachments: false,
            free_busy: true,
            free_busy_by_email: !is_personal,
            push: false,
            delta: "deltaToken".to_owned(),
        })
    }

    fn create_calendar(
        context: &Context,
        args: CollectionWrite<model::calendar::Calendar>,
    ) -> Outcome<Mutated> {
        lists::create(context, &args)
    }

    fn update_calendar(
        context: &Context,
        args: CollectionWrite<model::calendar::Calendar>,
    ) -> Outcome<Mutated> {
        lists::update(context, &args)
    }

    fn delete_calendar(context: &Context, args: CollectionDelete) -> Outcome<Mutated> {
        lists::delete(context, &args)
    }

    fn create_event(context: &Context, args: EventWrite) -> Outcome<Mutated> {
        events::create(context, &args)
    }

    fn update_event(context: &Context, args: EventWrite) -> Outcome<Mutated> {
        let scope = EventScope::new(&args.collection, &args.target)?;
        match scope.is_following {
            true => split::update(context, &args, &scope),
            false => events::update(context, &args, &scope),
        }
    }

    fn delete_event(context: &Context, args: EventDelete) -> Outcome<Mutated> {
        let scope = EventScope::new(&args.collection, &args.target)?;
        match scope.is_following {
            true => split::delete(context, &args, &scope),
            false => events::delete(context, &args, &scope),
        }
    }

    fn respond(context: &Context, args: EventRespond) -> Outcome<Mutated> {
        respond::respond(context, &args)
    }

    fn conference(context: &Context, args: EventConference) -> Outcome<Mutated> {
        teams::conference(context, &args)
    }

    fn changes(context: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        changes::changes(context, &args)
    }
}
