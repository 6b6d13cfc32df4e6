//! Steps and links of a task: each is written for itself, and the answer is the task with all of them.

use connector_sdk::http::Request;
use connector_sdk::{Context, Failure, Outcome, code};
use model::wire::Mutated;
use model::wire::tasks::PartWrite;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::api::{change, new_id};
use crate::items::{address, get, parse_change, selected, target};
use crate::tasks::native::Todo;

/// A kind of part.
pub struct Part {
    /// As paths name it: `steps`.
    pub path: &'static str,
    /// In sentences: `checklist item`.
    pub name: &'static str,
    /// The model's fields, and where the provider keeps them.
    pub places: &'static [(&'static str, &'static str)],
}

impl Part {
    fn document(&self, theirs: &impl Serialize, changed: Option<&[String]>) -> Map<String, Value> {
        selected(&serde_json::to_value(theirs).unwrap_or_default(), changed, self.places)
    }

    /// Adds a part. One that is there already under the same idempotency key was added by an earlier attempt.
    pub fn create<T: Default>(
        &self,
        context: &Context,
        args: &PartWrite<T>,
        theirs: &impl Serialize,
    ) -> Outcome<Mutated> {
        let (task, id) = (target(Some(&args.source))?, new_id(context));
        let mut body = self.document(theirs, None);
        body.insert("id".to_owned(), json!(id));
        let request = Request::post(address::<Todo>(context, &args.collection, &[task, self.path])?)
            .if_match(args.if_match.as_deref())
            .json(&body);
        match change(context, request, &format!("adding the {}", self.name)) {
            Ok(response) => Ok(parse_change::<Todo>(&response)?.mutated),
            Err(e) if e.code == code::ALREADY_EXISTS && context.idempotency_key.is_some() => {
                Ok(Mutated { part: Some(id), ..task_now(context, args)? })
            }
            Err(e) => Err(e),
        }
    }

    /// Changes a part.
    pub fn update<T: Default>(
        &self,
        context: &Context,
        args: &PartWrite<T>,
        theirs: &impl Serialize,
    ) -> Outcome<Mutated> {
        let request = Request::patch(self.address(context, args)?)
            .if_match(args.if_match.as_deref())
            .json(&self.document(theirs, Some(&args.changed)));
        Ok(parse_change::<Todo>(&change(context, request, &format!("changing the {}", self.name))?)?.mutated)
    }

    /// Deletes a part. One that is gone already is as good as deleted, while its task is there.
    pub fn delete<T: Default>(&self, context: &Context, args: &PartWrite<T>) -> Outcome<Mutated> {
        let request = Request::delete(self.address(context, args)?).if_match(args.if_match.as_deref());
        match change(context, request, &format!("deleting the {}", self.name)) {
            Ok(response) => Ok(parse_change::<Todo>(&response)?.mutated),
            Err(e) if e.code == code::NOT_FOUND => task_now(context, args),
            Err(e) => Err(e),
        }
    }

    fn address<T: Default>(&self, context: &Context, args: &PartWrite<T>) -> Outcome<String> {
        let part = args.part.as_deref().filter(|part| !part.is_empty());
        let part =
            part.ok_or_else(|| Failure::invalid(format!("part is missing: name the {}", self.name)))?;
        address::<Todo>(context, &args.collection, &[target(Some(&args.source))?, self.path, part])
    }
}

/// The task as it is, for a change that has happened already.
fn task_now<T: Default>(context: &Context, args: &PartWrite<T>) -> Outcome<Mutated> {
    let sources = get::<Todo>(context, &args.collection, &args.source)?.sources;
    Ok(Mutated { sources, item: Some(args.source.clone()), ..Mutated::default() })
}
