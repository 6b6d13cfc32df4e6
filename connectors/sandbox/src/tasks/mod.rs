//! The tasks surface.

mod parts;

use connector_sdk::{Answer, Context, Outcome, Tasks};
use model::tasks::{ChecklistItem, Task, TaskLink, TaskList};
use model::wire::tasks::{PartWrite, TasksFeatures};
use model::wire::{
    ChangesRequest, CollectionDelete, CollectionWrite, ItemDelete, ItemWrite, Mutated, Source, SourceRef,
    Sources,
};
use serde_json::value::RawValue;

use crate::api::new_id;
use crate::collections::{self, Collection};
use crate::connector::Sandbox;
use crate::items::{self, Record, members, resource, target};
use crate::tasks::parts::Part;

const STEP: Part = Part { path: "steps", name: "checklist item" };
const LINK: Part = Part { path: "links", name: "link" };

impl Collection for TaskList {
    const PATH: &'static str = "lists";
    const NAME: &'static str = "task list";
}

impl Record for Task {
    const PATH: [&'static str; 2] = ["lists", "todos"];
    const NAME: &'static str = "task";

    /// Converts a task with its checklist items and links to a source.
    fn source(record: &RawValue) -> Outcome<Source> {
        resource(record, Self::NAME, None, |task: &Task| Some(&task.title))
    }
}

impl Tasks for Sandbox {
    fn list_lists(context: &Context, _: ChangesRequest) -> Outcome<Answer<Sources>> {
        collections::list::<TaskList>(context)
    }

    fn get_task(context: &Context, args: SourceRef) -> Outcome<Sources> {
        items::get::<Task>(context, &args.collection, &args.source)
    }

    fn features(_: &Context) -> Outcome<TasksFeatures> {
        Ok(TasksFeatures {
            create_list: true,
            update_list: true,
            delete_list: true,
            subtasks: true,
            start_date: true,
            due_time: true,
            priority: true,
            percent_complete: true,
            recurrence: true,
            categories: true,
            assignees: true,
            reminders: true,
            ordering: true,
            checklist_items: true,
            links: true,
            push: false,
            delta: "syncToken".to_owned(),
        })
    }

    fn create_list(context: &Context, args: CollectionWrite<TaskList>) -> Outcome<Mutated> {
        collections::create::<TaskList>(context, &args)
    }

    fn update_list(context: &Context, args: CollectionWrite<TaskList>) -> Outcome<Mutated> {
        collections::update::<TaskList>(context, &args)
    }

    fn delete_list(context: &Context, args: CollectionDelete) -> Outcome<Mutated> {
        collections::delete::<TaskList>(context, &args)
    }

    fn create_task(context: &Context, args: ItemWrite<Task>) -> Outcome<Mutated> {
        items::create::<Task>(context, &args.collection, &new_id(context), members(&args.body, None))
    }

    fn update_task(context: &Context, args: ItemWrite<Task>) -> Outcome<Mutated> {
        let (id, body) = (target(args.source.as_deref())?, members(&args.body, Some(&args.changed)));
        items::update::<Task>(context, &args.collection, id, args.if_match.as_deref(), &body)
    }

    fn delete_task(context: &Context, args: ItemDelete) -> Outcome<Mutated> {
        items::delete::<Task>(
            context,
            &args.collection,
            target(Some(&args.source))?,
            args.if_match.as_deref(),
        )
    }

    fn create_step(context: &Context, args: PartWrite<ChecklistItem>) -> Outcome<Mutated> {
        STEP.create(context, &args)
    }

    fn update_step(context: &Context, args: PartWrite<ChecklistItem>) -> Outcome<Mutated> {
        STEP.update(context, &args)
    }

    fn delete_step(context: &Context, args: PartWrite<ChecklistItem>) -> Outcome<Mutated> {
        STEP.delete(context, &args)
    }

    fn create_link(context: &Context, args: PartWrite<TaskLink>) -> Outcome<Mutated> {
        LINK.create(context, &args)
    }

    fn delete_link(context: &Context, args: PartWrite<TaskLink>) -> Outcome<Mutated> {
        LINK.delete(context, &args)
    }

    fn changes(context: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        items::changes::<Task>(context, &args)
    }
}
