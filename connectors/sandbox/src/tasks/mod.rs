//! The tasks surface.

mod mapping;
mod native;
mod parts;

use connector_sdk::{Answer, Context, Outcome, Tasks};
use model::tasks::{ChecklistItem, Task, TaskLink, TaskList};
use model::wire::tasks::{PartWrite, TasksFeatures};
use model::wire::{
    ChangesRequest, CollectionDelete, CollectionWrite, ItemDelete, ItemWrite, Mutated, SourceRef, Sources,
};
use serde_json::{Map, Value};

use crate::api::new_id;
use crate::collections;
use crate::connector::Sandbox;
use crate::items::{self, selected, target};
use crate::tasks::mapping::{LINK_PLACES, STEP_PLACES, TASK_PLACES, link_to, step_to, task_to};
use crate::tasks::native::{List, Todo};
use crate::tasks::parts::Part;

const STEP: Part = Part { path: "steps", name: "checklist item", places: STEP_PLACES };
const LINK: Part = Part { path: "links", name: "link", places: LINK_PLACES };

impl Tasks for Sandbox {
    fn list_lists(context: &Context, _: ChangesRequest) -> Outcome<Answer<Sources>> {
        collections::list::<List>(context)
    }

    fn get_task(context: &Context, args: SourceRef) -> Outcome<Sources> {
        items::get::<Todo>(context, &args.collection, &args.source)
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
        collections::create::<List>(context, &args)
    }

    fn update_list(context: &Context, args: CollectionWrite<TaskList>) -> Outcome<Mutated> {
        collections::update::<List>(context, &args)
    }

    fn delete_list(context: &Context, args: CollectionDelete) -> Outcome<Mutated> {
        collections::delete::<List>(context, &args)
    }

    fn create_task(context: &Context, args: ItemWrite<Task>) -> Outcome<Mutated> {
        items::create::<Todo>(context, &args.collection, &new_id(context), document(&args, None))
    }

    fn update_task(context: &Context, args: ItemWrite<Task>) -> Outcome<Mutated> {
        let (id, body) = (target(args.source.as_deref())?, document(&args, Some(&args.changed)));
        items::update::<Todo>(context, &args.collection, id, args.if_match.as_deref(), &body)
    }

    fn delete_task(context: &Context, args: ItemDelete) -> Outcome<Mutated> {
        items::delete::<Todo>(
            context,
            &args.collection,
            target(Some(&args.source))?,
            args.if_match.as_deref(),
        )
    }

    fn create_step(context: &Context, args: PartWrite<ChecklistItem>) -> Outcome<Mutated> {
        STEP.create(context, &args, &step_to(&args.body))
    }

    fn update_step(context: &Context, args: PartWrite<ChecklistItem>) -> Outcome<Mutated> {
        STEP.update(context, &args, &step_to(&args.body))
    }

    fn delete_step(context: &Context, args: PartWrite<ChecklistItem>) -> Outcome<Mutated> {
        STEP.delete(context, &args)
    }

    fn create_link(context: &Context, args: PartWrite<TaskLink>) -> Outcome<Mutated> {
        LINK.create(context, &args, &link_to(&args.body))
    }

    fn delete_link(context: &Context, args: PartWrite<TaskLink>) -> Outcome<Mutated> {
        LINK.delete(context, &args)
    }

    fn changes(context: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        items::changes::<Todo>(context, &args)
    }
}

fn document(args: &ItemWrite<Task>, changed: Option<&[String]>) -> Map<String, Value> {
    selected(&serde_json::to_value(task_to(&args.body)).unwrap_or_default(), changed, TASK_PLACES)
}
