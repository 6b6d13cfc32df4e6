//! The operations of the contract: the URL is the file name.

pub mod admin;
pub mod api_keys;
pub mod auth;
pub mod calendars;
pub mod connections;
pub mod contact_books;
pub mod contact_groups;
pub mod contacts;
pub mod email;
pub mod events;
pub mod oauth;
pub mod providers;
pub mod scheduling;
pub mod task_lists;
pub mod test;
pub mod usage;
pub mod webhooks;

use crate::api::operation::Routes;
use service::app::App;

/// Every operation.
pub fn routes() -> Routes<App> {
    auth::connectors::routes()
        .merge(connections::routes())
        .merge(api_keys::routes())
        .merge(oauth::routes())
        .merge(usage::routes())
        .merge(webhooks::routes())
        .merge(webhooks::deliveries::routes())
        .merge(webhooks::test::routes())
        .merge(webhooks::replay::routes())
        .merge(webhooks::replays::routes())
        .merge(events::routes())
        .merge(events::stream::routes())
        .merge(email::capabilities::routes())
        .merge(email::messages::routes())
        .merge(email::messages::attachments::routes())
        .merge(email::threads::routes())
        .merge(email::drafts::routes())
        .merge(email::send::routes())
        .merge(email::tracking::routes())
        .merge(email::folders::routes())
        .merge(email::labels::routes())
        .merge(email::sync::routes())
        .merge(calendars::routes())
        .merge(calendars::events::routes())
        .merge(calendars::freebusy::routes())
        .merge(calendars::availability::routes())
        .merge(calendars::sync::routes())
        .merge(contacts::routes())
        .merge(contacts::merge_suggestions::routes())
        .merge(contacts::sync::routes())
        .merge(contact_books::routes())
        .merge(contact_groups::routes())
        .merge(task_lists::routes())
        .merge(task_lists::tasks::routes())
        .merge(task_lists::tasks::checklist_items::routes())
        .merge(task_lists::tasks::links::routes())
        .merge(task_lists::sync::routes())
        .merge(scheduling::event_types::routes())
        .merge(scheduling::event_types::links::routes())
        .merge(scheduling::schedules::routes())
        .merge(scheduling::booking_links::routes())
        .merge(scheduling::availability::routes())
        .merge(scheduling::bookings::routes())
        .merge(scheduling::bookings::confirm::routes())
        .merge(scheduling::bookings::reject::routes())
        .merge(scheduling::bookings::cancel::routes())
        .merge(scheduling::bookings::reschedule::routes())
        .merge(providers::routes())
        .merge(providers::notifications::routes())
        .merge(test::routes())
        .merge(admin::routes())
}
