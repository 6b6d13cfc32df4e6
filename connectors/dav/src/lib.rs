//! CalDAV and CardDAV: calendars, task lists and contacts of any server that keeps to RFC 4791 and RFC 6352. `webdav` is the
//! protocol, `collection` what all services do with it, `ical` and `vcard` are the mappings, `calendar`, `contacts` and `tasks` put
//! them together.

pub mod account;
pub mod calendar;
pub mod collection;
pub mod contacts;
pub mod ical;
pub mod tasks;
pub mod text;
pub mod vcard;
pub mod webdav;

use connector_sdk::{
    Answer, Calendar, Contacts, Context, Failure, Lifecycle, Outcome, Tasks, export_connector,
};
use model::contacts::{ContactBook, ContactGroup};
use model::tasks::{Task, TaskList};
use model::wire::calendar::{
    CalendarFeatures, EventConference, EventDelete, EventRespond, EventWrite, FreeBusyAnswer, FreeBusyRequest,
};
use model::wire::contacts::{ContactWrite, ContactsFeatures, Picture};
use model::wire::tasks::TasksFeatures;
use model::wire::{
    Account, ChangesRequest, CollectionDelete, CollectionWrite, ItemDelete, ItemWrite, Mutated, SourceRef,
    Sources, SourcesGet,
};

use crate::calendar::{collections, events, freebusy};
use crate::contacts::{books, cards, groups};
use crate::tasks::{items, lists};

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

    fn get_events(cx: &Context, args: SourcesGet) -> Outcome<Sources> {
        calendar::CalendarSession::new(cx, args.time_zone.as_deref())?.many(&args)
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
        calendar::CalendarSession::new(cx, args.time_zone.as_deref())?.changes(args)
    }
}

impl Contacts for Dav {
    fn list_books(cx: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        books::list(cx, args)
    }

    fn get_contacts(cx: &Context, args: SourcesGet) -> Outcome<Sources> {
        contacts::ContactsSession::new(cx)?.many(&args)
    }

    fn get_contact(cx: &Context, args: SourceRef) -> Outcome<Sources> {
        cards::get(cx, args)
    }

    fn photo(cx: &Context, args: SourceRef) -> Outcome<Picture> {
        cards::photo(cx, args)
    }

    fn features(_: &Context) -> Outcome<ContactsFeatures> {
        Ok(contacts::features())
    }

    fn create_book(cx: &Context, args: CollectionWrite<ContactBook>) -> Outcome<Mutated> {
        books::create(cx, args)
    }

    fn update_book(cx: &Context, args: CollectionWrite<ContactBook>) -> Outcome<Mutated> {
        books::update(cx, args)
    }

    fn delete_book(cx: &Context, args: CollectionDelete) -> Outcome<Mutated> {
        books::delete(cx, args)
    }

    fn create_contact(cx: &Context, args: ContactWrite) -> Outcome<Mutated> {
        cards::create(cx, args)
    }

    fn update_contact(cx: &Context, args: ContactWrite) -> Outcome<Mutated> {
        cards::update(cx, args)
    }

    fn delete_contact(cx: &Context, args: ItemDelete) -> Outcome<Mutated> {
        cards::delete(cx, args)
    }

    fn create_group(cx: &Context, args: ItemWrite<ContactGroup>) -> Outcome<Mutated> {
        groups::create(cx, args)
    }

    fn update_group(cx: &Context, args: ItemWrite<ContactGroup>) -> Outcome<Mutated> {
        groups::update(cx, args)
    }

    fn delete_group(cx: &Context, args: ItemDelete) -> Outcome<Mutated> {
        cards::delete(cx, args)
    }

    fn changes(cx: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        contacts::ContactsSession::new(cx)?.changes(args)
    }
}

impl Tasks for Dav {
    fn list_lists(cx: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        lists::list(cx, args)
    }

    fn get_tasks(cx: &Context, args: SourcesGet) -> Outcome<Sources> {
        tasks::TaskSession::new(cx, args.time_zone.as_deref())?.many(&args)
    }

    fn get_task(cx: &Context, args: SourceRef) -> Outcome<Sources> {
        items::get(cx, args)
    }

    fn features(_: &Context) -> Outcome<TasksFeatures> {
        Ok(tasks::features())
    }

    fn create_list(cx: &Context, args: CollectionWrite<TaskList>) -> Outcome<Mutated> {
        lists::create(cx, args)
    }

    fn update_list(cx: &Context, args: CollectionWrite<TaskList>) -> Outcome<Mutated> {
        lists::update(cx, args)
    }

    fn delete_list(cx: &Context, args: CollectionDelete) -> Outcome<Mutated> {
        lists::delete(cx, args)
    }

    fn create_task(cx: &Context, args: ItemWrite<Task>) -> Outcome<Mutated> {
        items::create(cx, args)
    }

    fn update_task(cx: &Context, args: ItemWrite<Task>) -> Outcome<Mutated> {
        items::update(cx, args)
    }

    fn delete_task(cx: &Context, args: ItemDelete) -> Outcome<Mutated> {
        items::delete(cx, args)
    }

    fn changes(cx: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        tasks::TaskSession::new(cx, args.time_zone.as_deref())?.changes(args)
    }
}

export_connector!(Dav, [calendar, contacts, lifecycle, tasks]);
