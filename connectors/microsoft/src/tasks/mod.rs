//! The tasks surface: Microsoft To Do.

mod changes;
mod days;
mod lists;
mod mapping;
mod native;
mod parts;
mod patch;
mod read;
mod record;
mod roots;
mod write;

use connector_sdk::{Answer, Context, Outcome, Tasks};
use model::tasks::{ChecklistItem, Task, TaskLink, TaskList};
use model::wire::tasks::{PartWrite, TasksFeatures};
use model::wire::{
    ChangesRequest, CollectionDelete, CollectionWrite, ItemDelete, ItemWrite, Mutated, SourceRef, Sources,
    SourcesGet,
};

use crate::connector::Microsoft;

impl Tasks for Microsoft {
    fn list_lists(context: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        lists::list(context, &args)
    }

    fn get_task(context: &Context, args: SourceRef) -> Outcome<Sources> {
        read::get(context, &args)
    }

    fn get_tasks(context: &Context, args: SourcesGet) -> Outcome<Sources> {
        read::get_many(context, &args)
    }

    fn features(_: &Context) -> Outcome<TasksFeatures> {
        Ok(TasksFeatures {
            create_list: true,
            update_list: true,
            delete_list: true,
            subtasks: false,
            start_date: true,
            due_time: false,
            priority: true,
            percent_complete: false,
            recurrence: false,
            categories: true,
            assignees: false,
            reminders: true,
            ordering: false,
            checklist_items: true,
            links: true,
            push: false,
            delta: "deltaToken".to_owned(),
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

    fn create_step(context: &Context, args: PartWrite<ChecklistItem>) -> Outcome<Mutated> {
        parts::create_step(context, &args)
    }

    fn update_step(context: &Context, args: PartWrite<ChecklistItem>) -> Outcome<Mutated> {
        parts::update_step(context, &args)
    }

    fn delete_step(context: &Context, args: PartWrite<ChecklistItem>) -> Outcome<Mutated> {
        parts::delete_step(context, &args)
    }

    fn create_link(context: &Context, args: PartWrite<TaskLink>) -> Outcome<Mutated> {
        parts::create_link(context, &args)
    }

    fn delete_link(context: &Context, args: PartWrite<TaskLink>) -> Outcome<Mutated> {
        parts::delete_link(context, &args)
    }

    fn changes(context: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        changes::changes(context, &args)
    }
}
