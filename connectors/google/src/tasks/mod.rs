//! The tasks surface: Google's Tasks API.

mod changes;
mod lists;
mod mapping;
mod native;
mod order;
mod read;
mod record;
mod write;

use connector_sdk::http::Request;
use connector_sdk::{Answer, Context, Outcome, Tasks};
use model::tasks::{Task, TaskList};
use model::wire::tasks::TasksFeatures;
use model::wire::{
    ChangesRequest, CollectionDelete, CollectionWrite, ItemDelete, ItemWrite, Mutated, SourceRef, Sources,
};

use crate::connector::Google;
use crate::roots;

/// Returns a small read that shows whether the account's tasks can be read.
pub fn probe() -> Outcome<Request> {
    Ok(Request::get(roots::tasks(&["users", "@me", "lists"], &[("maxResults", "1")])?))
}

impl Tasks for Google {
    fn list_lists(context: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        lists::list(context, &args)
    }

    fn get_task(context: &Context, args: SourceRef) -> Outcome<Sources> {
        read::get(context, &args)
    }

    fn features(_: &Context) -> Outcome<TasksFeatures> {
        Ok(TasksFeatures {
            create_list: true,
            update_list: true,
            delete_list: true,
            subtasks: true,
            start_date: false,
            due_time: false,
            priority: false,
            percent_complete: false,
            recurrence: false,
            categories: false,
            assignees: false,
            reminders: false,
            ordering: true,
            checklist_items: false,
            links: false,
            push: false,
            delta: "scan".to_owned(),
        })
    }

    fn create_list(context: &Context, args: CollectionWrite<TaskList>) -> Outcome<Mutated> {
        lists::create(context, &args)
    }

    fn update_list(context: &Context, args: CollectionWrite<TaskList>) -> Outcome<Mutated> {
        lists::update(context, &args)
    }

    fn delete_list(context: &Context, args: CollectionDelete) -> Outcome<Mutated> {
        lists::delete(context, &args)
    }

    fn create_task(context: &Context, args: ItemWrite<Task>) -> Outcome<Mutated> {
        write::create(context, &args)
    }

    fn update_task(context: &Context, args: ItemWrite<Task>) -> Outcome<Mutated> {
        write::update(context, &args)
    }

    fn delete_task(context: &Context, args: ItemDelete) -> Outcome<Mutated> {
        write::delete(context, &args)
    }

    fn changes(context: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        changes::changes(context, &args)
    }
}
