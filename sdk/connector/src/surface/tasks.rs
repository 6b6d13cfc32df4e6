//! Task lists and tasks. The operations, their arguments and answers are tabled in `model::wire::tasks`.

use model::tasks::{ChecklistItem, Task, TaskLink, TaskList};
use model::wire::tasks::{PartWrite, TasksFeatures};
use model::wire::{
    ChangesRequest, CollectionDelete, CollectionWrite, ItemDelete, ItemWrite, Mutated, SourceRef, Sources,
    SourcesGet,
};
use serde_json::Value;

use crate::context::{Answer, Context, Host};
use crate::dispatch::{CallRequest, CallResponse, run, unknown};
use crate::error::{Failure, Outcome};

/// Operations of `tasks`.
pub trait Tasks {
    /// Returns all task lists of the account; the host treats lists that are missing as deleted.
    fn list_lists(context: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        let _ = (context, args);
        Err(Failure::unsupported("listing task lists"))
    }

    /// Returns the current state of one task.
    fn get_task(context: &Context, args: SourceRef) -> Outcome<Sources> {
        let _ = (context, args);
        Err(Failure::unsupported("reading a task"))
    }

    /// Returns many tasks at once, for a connector that answers `changes` with names only (`Sources.named`).
    fn get_tasks(context: &Context, args: SourcesGet) -> Outcome<Sources> {
        let _ = (context, args);
        Err(Failure::unsupported("reading many tasks at once"))
    }

    /// Returns the features of this account's provider.
    fn features(context: &Context) -> Outcome<TasksFeatures> {
        let _ = context;
        Err(Failure::unsupported("reporting its features"))
    }

    /// Creates a task list.
    fn create_list(context: &Context, args: CollectionWrite<TaskList>) -> Outcome<Mutated> {
        let _ = (context, args);
        Err(Failure::unsupported("creating task lists"))
    }

    /// Changes a task list.
    fn update_list(context: &Context, args: CollectionWrite<TaskList>) -> Outcome<Mutated> {
        let _ = (context, args);
        Err(Failure::unsupported("changing task lists"))
    }

    /// Deletes a task list with its tasks.
    fn delete_list(context: &Context, args: CollectionDelete) -> Outcome<Mutated> {
        let _ = (context, args);
        Err(Failure::unsupported("deleting task lists"))
    }

    /// Creates a task. A repeated create under the same idempotency key must return the task of the first attempt.
    fn create_task(context: &Context, args: ItemWrite<Task>) -> Outcome<Mutated> {
        let _ = (context, args);
        Err(Failure::unsupported("creating tasks"))
    }

    /// Changes a task.
    fn update_task(context: &Context, args: ItemWrite<Task>) -> Outcome<Mutated> {
        let _ = (context, args);
        Err(Failure::unsupported("changing tasks"))
    }

    /// Deletes a task.
    fn delete_task(context: &Context, args: ItemDelete) -> Outcome<Mutated> {
        let _ = (context, args);
        Err(Failure::unsupported("deleting tasks"))
    }

    /// Creates a checklist item. A repeated create under the same idempotency key must return the item of the first attempt.
    fn create_step(context: &Context, args: PartWrite<ChecklistItem>) -> Outcome<Mutated> {
        let _ = (context, args);
        Err(Failure::unsupported("checklist items"))
    }

    /// Changes a checklist item.
    fn update_step(context: &Context, args: PartWrite<ChecklistItem>) -> Outcome<Mutated> {
        let _ = (context, args);
        Err(Failure::unsupported("checklist items"))
    }

    /// Deletes a checklist item.
    fn delete_step(context: &Context, args: PartWrite<ChecklistItem>) -> Outcome<Mutated> {
        let _ = (context, args);
        Err(Failure::unsupported("checklist items"))
    }

    /// Adds a link to a task.
    fn create_link(context: &Context, args: PartWrite<TaskLink>) -> Outcome<Mutated> {
        let _ = (context, args);
        Err(Failure::unsupported("links of tasks"))
    }

    /// Removes a link from a task.
    fn delete_link(context: &Context, args: PartWrite<TaskLink>) -> Outcome<Mutated> {
        let _ = (context, args);
        Err(Failure::unsupported("links of tasks"))
    }

    /// Returns the tasks of one list that changed since the context's cursor; without a cursor, all of them.
    fn changes(context: &Context, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        let _ = (context, args);
        Err(Failure::unsupported("changes of tasks"))
    }
}

/// Runs a read operation of `tasks` by its name; an unknown one is unsupported.
pub fn fetch<C: Tasks>(host: &dyn Host, request: CallRequest) -> Outcome<CallResponse> {
    match request.op.as_str() {
        "lists.list" => run(host, request, C::list_lists),
        "tasks.get" => run(host, request, |cx, args| C::get_task(cx, args).map(Answer::whole)),
        "tasks.batchGet" => run(host, request, |cx, args| C::get_tasks(cx, args).map(Answer::whole)),
        "capabilities" => run(host, request, |cx, _: Value| C::features(cx).map(Answer::whole)),
        op => unknown(op),
    }
}

/// Runs a write operation of `tasks` by its name; an unknown one is unsupported.
pub fn mutate<C: Tasks>(host: &dyn Host, request: CallRequest) -> Outcome<CallResponse> {
    match request.op.as_str() {
        "lists.create" => run(host, request, |cx, args| C::create_list(cx, args).map(Answer::whole)),
        "lists.update" => run(host, request, |cx, args| C::update_list(cx, args).map(Answer::whole)),
        "lists.delete" => run(host, request, |cx, args| C::delete_list(cx, args).map(Answer::whole)),
        "tasks.create" => run(host, request, |cx, args| C::create_task(cx, args).map(Answer::whole)),
        "tasks.update" => run(host, request, |cx, args| C::update_task(cx, args).map(Answer::whole)),
        "tasks.delete" => run(host, request, |cx, args| C::delete_task(cx, args).map(Answer::whole)),
        "checklist.create" => run(host, request, |cx, args| C::create_step(cx, args).map(Answer::whole)),
        "checklist.update" => run(host, request, |cx, args| C::update_step(cx, args).map(Answer::whole)),
        "checklist.delete" => run(host, request, |cx, args| C::delete_step(cx, args).map(Answer::whole)),
        "links.create" => run(host, request, |cx, args| C::create_link(cx, args).map(Answer::whole)),
        "links.delete" => run(host, request, |cx, args| C::delete_link(cx, args).map(Answer::whole)),
        op => unknown(op),
    }
}

/// Runs the operation `tasks` of the export `changes`; an unknown one is unsupported.
pub fn changes<C: Tasks>(host: &dyn Host, request: CallRequest) -> Outcome<CallResponse> {
    match request.op.as_str() {
        "tasks" => run(host, request, C::changes),
        op => unknown(op),
    }
}
