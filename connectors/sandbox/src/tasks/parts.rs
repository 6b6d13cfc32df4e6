//! Steps and links of a task: each is written for itself, and the answer is the task with all of them.

use connector_sdk::http::Request;
use connector_sdk::{Context, Failure, Outcome, code};
use model::tasks::Task;
use model::wire::Mutated;
use model::wire::tasks::PartWrite;
use serde::Serialize;
use serde_json::json;

use crate::api::{change, new_id};
use crate::items::{address, get, members, parse_change, target};

/// A kind of part.
pub struct Part {
    /// As paths name it: `steps`.
    pub path: &'static str,
    /// In sentences: `checklist item`.
    pub name: &'static str,
}

impl Part {
    /// Adds a part. One that is there already under the same idempotency key was added by an earlier attempt.
    pub fn create<T: Default + Serialize>(&self, context: &Context, args: &PartWrite<T>) -> Outcome<Mutated> {
        let (task, id) = (target(Some(&args.source))?, new_id(context));
        let mut body = members(&args.body, None);
        body.insert("id".to_owned(), json!(id));
        let request = Request::post(address::<Task>(context, &args.collection, &[task, self.path])?)
            .if_match(args.if_match.as_deref())
            .json(&body);
        match change(context, request, &format!("adding the {}", self.name)) {
            Ok(response) => Ok(parse_change::<Task>(&response)?.mutated),
            Err(e) if e.code == code::ALREADY_EXISTS && context.idempotency_key.is_some() => {
                Ok(Mutated { part: Some(id), ..task_now(context, args)? })
            }
            Err(e) => Err(e),
        }
    }

    /// Changes a part.
    pub fn update<T: Default + Serialize>(&self, context: &Context, args: &PartWrite<T>) -> Outcome<Mutated> {
        let request = Request::patch(self.address(context, args)?)
            .if_match(args.if_match.as_deref())
            .json(&members(&args.body, Some(&args.changed)));
        Ok(parse_change::<Task>(&change(context, request, &format!("changing the {}", self.name))?)?.mutated)
    }

    /// Deletes a part. One that is gone already is as good as deleted, while its task is there.
    pub fn delete<T: Default>(&self, context: &Context, args: &PartWrite<T>) -> Outcome<Mutated> {
        let request = Request::delete(self.address(context, args)?).if_match(args.if_match.as_deref());
        match change(context, request, &format!("deleting the {}", self.name)) {
            Ok(response) => Ok(parse_change::<Task>(&response)?.mutated),
            Err(e) if e.code == code::NOT_FOUND => task_now(context, args),
            Err(e) => Err(e),
        }
    }

    fn address<T: Default>(&self, context: &Context, args: &PartWrite<T>) -> Outcome<String> {
        let part = args.part.as_deref().filter(|part| !part.is_empty());
        let part =
            part.ok_or_else(|| Failure::invalid(format!("part is missing: name the {}", self.name)))?;
        address::<Task>(context, &args.collection, &[target(Some(&args.source))?, self.path, part])
    }
}

/// The task as it is, for a change that has happened already.
fn task_now<T: Default>(context: &Context, args: &PartWrite<T>) -> Outcome<Mutated> {
    let sources = get::<Task>(context, &args.collection, &args.source)?.sources;
    Ok(Mutated { sources, item: Some(args.source.clone()), ..Mutated::default() })
}
