//! The calendar surface.

mod busy;
mod changes;
pub mod colors;
mod conference;
mod events;
pub mod info;
pub mod instance;
mod lists;
pub mod mapping;
mod meet;
pub mod native;
pub mod patch;
mod record;
mod respond;
pub mod rules;
mod scope;
mod split;
pub mod times;

use connector_sdk::{Answer, Calendar, Context, Outcome};
use model::calendar::ConferenceProvider;
use model::wire::calendar::{
    CalendarFeatures, EventConference, EventDelete, EventRespond, EventWrite, FreeBusyAnswer, FreeBusyRequest,
};
use model::wire::{ChangesRequest, CollectionDelete, CollectionWrite, Mutated, SourceRef, Sources};

use crate::calendar::scope::EventScope;
use crate::connector::Google;

impl Calendar for Google {
    fn list_calendars(context: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        lists::list(context, &args)
    }

    fn get_event(context: &Context, args: SourceRef) -> Outcome<Sources> {
        events::get(context, &args)
    }

    fn free_busy(context: &Context, args: FreeBusyRequest) -> Outcome<FreeBusyAnswer> {
        busy::free_busy(context, &args)
    }

    fn features(_: &Context) -> Outcome<CalendarFeatures> {
        Ok(CalendarFeatures {
            create_calendar: true,
            update_calendar: true,
            delete_calendar: true,
            recurrence: true,
            this_and_following: true,
            attendees: true,
            scheduling: true,
            rsvp: true,
            conference: vec![ConferenceProvider::GoogleMeet],
            reminders: true,
            attachments: true,
            free_busy: true,
            free_busy_by_email: true,
            push: false,
            delta: "syncToken".to_owned(),
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
        meet::conference(context, &args)
    }

    fn changes(context: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        changes::changes(context, &args)
    }
}
