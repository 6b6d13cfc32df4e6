//! The connector to the sandbox provider. `native` is the provider's JSON, `calendars` and `events` map it and run the
//! operations, `api` is the way there.

mod api;
mod calendars;
mod events;
mod mapping;
mod native;

use connector_sdk::http::Request;
use connector_sdk::{Answer, Calendar, Context, Lifecycle, Outcome};
use model::wire::calendar::{
    CalendarFeatures, EventConference, EventDelete, EventRespond, EventWrite, FreeBusyAnswer, FreeBusyRequest,
};
use model::wire::{Account, ChangesRequest, CollectionDelete, CollectionWrite, Mutated, SourceRef, Sources};

pub use mapping::{event_from, event_to};
pub use native::Event as NativeEvent;

/// The connector.
pub struct Sandbox;

impl Calendar for Sandbox {
    fn list_calendars(context: &Context, _: ChangesRequest) -> Outcome<Answer<Sources>> {
        calendars::list(context)
    }

    fn get_event(context: &Context, args: SourceRef) -> Outcome<Sources> {
        events::get(context, &args)
    }

    fn free_busy(context: &Context, args: FreeBusyRequest) -> Outcome<FreeBusyAnswer> {
        calendars::free_busy(context, &args)
    }

    fn features(_: &Context) -> Outcome<CalendarFeatures> {
        Ok(calendars::features())
    }

    fn create_calendar(
        context: &Context,
        args: CollectionWrite<model::calendar::Calendar>,
    ) -> Outcome<Mutated> {
        calendars::create(context, &args)
    }

    fn update_calendar(
        context: &Context,
        args: CollectionWrite<model::calendar::Calendar>,
    ) -> Outcome<Mutated> {
        calendars::update(context, &args)
    }

    fn delete_calendar(context: &Context, args: CollectionDelete) -> Outcome<Mutated> {
        calendars::delete(context, &args)
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
        events::changes(context, &args)
    }
}

impl Lifecycle for Sandbox {
    fn check(context: &Context) -> Outcome<Account> {
        let url = api::url(context, &["me"], &[])?;
        let me: native::Me = api::ask(context, Request::get(url), "reading the account")?;
        Ok(Account {
            external_account_id: me.id,
            email: Some(me.mail),
            display_name: me.name,
            time_zone: me.zone,
            surfaces: me.products,
            provider_scopes: me.grants,
            ..Account::default()
        })
    }
}

// A native linker refuses the names of a component's exports.
#[cfg(target_family = "wasm")]
connector_sdk::export_connector!(Sandbox, [calendar, lifecycle]);
