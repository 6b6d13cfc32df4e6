//! Steps and links of a task: each is written for itself, and the answer is the task with all of them.

use connector_sdk::http::Request;
use connector_sdk::{Context, Failure, Outcome, code};
use model::tasks::{ChecklistItem, TaskLink};
use model::wire::tasks::PartWrite;
use model::wire::{Mutated, Warning};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::calendar::patch::field_warning;
use crate::contacts::earlier::{first_attempt_at, is_since};
use crate::tasks::mapping::external_id_of;
use crate::tasks::native::{TodoLink, TodoStep, TodoTask};
use crate::tasks::read::read_task;
use crate::tasks::record::task_source;
use crate::tasks::roots::{mailbox_zone, tasks};
use crate::tasks::write::{change, ensure_version};

/// A kind of part.
#[derive(Clone, Copy)]
struct PartKind {
    /// As paths name it.
    path: &'static str,
    /// In sentences.
    name: &'static str,
}

const STEP: PartKind = PartKind { path: "checklistItems", name: "checklist item" };
const LINK: PartKind = PartKind { path: "linkedResources", name: "link" };

/// The id of a part that was made.
#[derive(Default, Deserialize)]
#[serde(default)]
struct PartEntry {
    id: String,
}

/// Adds a step. A second attempt looks for the first one's.
pub fn create_step(context: &Context, args: &PartWrite<ChecklistItem>) -> Outcome<Mutated> {
    let warnings = order_warning(&args.body, &args.changed);
    let since = first_attempt_at(context);
    let find = |task: &TodoTask| {
        let is_it = |step: &&TodoStep| {
            is_since(step.created_date_time.as_ref(), since)
                && step.display_name.as_deref() == Some(args.body.title.as_str())
                && step.is_checked.unwrap_or_default() == args.body.checked
        };
        task.checklist_items.iter().flatten().rfind(is_it).map(|step| step.id.clone())
    };
    let body = json!({ "displayName": args.body.title, "isChecked": args.body.checked });
    let mutated = PartTarget::new(context, args, STEP)?.create(&body, find)?;
    Ok(Mutated { warnings, ..mutated })
}

/// Changes a step.
pub fn update_step(context: &Context, args: &PartWrite<ChecklistItem>) -> Outcome<Mutated> {
    let has = |field: &str| args.changed.iter().any(|name| name == field);
    let mut body = Map::new();
    if has("title") {
        body.insert("displayName".to_owned(), json!(args.body.title));
    }
    if has("checked") {
        body.insert("isChecked".to_owned(), json!(args.body.checked));
    }
    let mutated = PartTarget::new(context, args, STEP)?.update(&body)?;
    Ok(Mutated { warnings: order_warning(&args.body, &args.changed), ..mutated })
}

/// Deletes a step.
pub fn delete_step(context: &Context, args: &PartWrite<ChecklistItem>) -> Outcome<Mutated> {
    PartTarget::new(context, args, STEP)?.delete()
}

/// Adds a link. A second attempt looks for the first one's.
pub fn create_link(context: &Context, args: &PartWrite<TaskLink>) -> Outcome<Mutated> {
    let ours = &args.body;
    let external_id = external_id_of(ours);
    let find = |task: &TodoTask| {
        let is_it = |link: &&TodoLink| {
            link.web_url == ours.url && link.external_id == external_id && link.display_name == ours.title
        };
        task.linked_resources.iter().flatten().find(is_it).map(|link| link.id.clone())
    };
    let mut body = Map::new();
    let members = [
        ("webUrl", ours.url.as_ref()),
        ("displayName", ours.title.as_ref()),
        ("applicationName", ours.application_name.as_ref()),
        ("externalId", external_id.as_ref()),
    ];
    for (member, value) in members {
        body.extend(value.map(|value| (member.to_owned(), json!(value))));
    }
    PartTarget::new(context, args, LINK)?.create(&Value::Object(body), find)
}

/// Removes a link.
pub fn delete_link(context: &Context, args: &PartWrite<TaskLink>) -> Outcome<Mutated> {
    PartTarget::new(context, args, LINK)?.delete()
}

fn order_warning(ours: &ChecklistItem, changed: &[String]) -> Vec<Warning> {
    let is_lost = ours.position.is_some() && changed.iter().any(|name| name == "position");
    let warning = || field_warning("position", "Microsoft To Do does not let programs order the steps");
    is_lost.then(warning).into_iter().collect()
}

/// The part that a call is for, and its task.
struct PartTarget<'a> {
    context: &'a Context<'a>,
    kind: PartKind,
    list: &'a str,
    task: &'a str,
    part: Option<&'a str>,
    if_match: Option<&'a str>,
}

impl<'a> PartTarget<'a> {
    fn new<T: Default>(context: &'a Context<'a>, args: &'a PartWrite<T>, kind: PartKind) -> Outcome<Self> {
        let task = Some(args.source.as_str()).filter(|id| !id.is_empty());
        Ok(PartTarget {
            context,
            kind,
            list: &args.collection,
            task: task.ok_or_else(|| Failure::invalid("source is missing: name the task"))?,
            part: args.part.as_deref().filter(|id| !id.is_empty()),
            if_match: args.if_match.as_deref(),
        })
    }

    fn read(&self) -> Outcome<TodoTask> {
        read_task(self.context, self.list, self.task)
    }

    /// Compares the version of the task, where the caller insists on one.
    fn check_version(&self) -> Outcome<()> {
        match self.if_match {
            Some(_) => ensure_version(&self.read()?, self.if_match),
            None => Ok(()),
        }
    }

    /// `find`: the part that an earlier attempt has made.
    fn create(&self, body: &Value, find: impl Fn(&TodoTask) -> Option<String>) -> Outcome<Mutated> {
        if self.context.attempt() > 1 {
            let task = self.read()?;
            if let Some(id) = find(&task) {
                return self.answer(&task, Some(id));
            }
        }
        self.check_version()?;
        let request = Request::post(tasks(self.list, &[self.task, self.kind.path], &[])?).json(body);
        let doing = format!("adding the {}", self.kind.name);
        let (made, task) = change(self.context, self.list, self.task, request, &doing)?;
        let made: PartEntry = serde_json::from_slice(&made)
            .map_err(|_| Failure::unavailable("the provider's answer has no part of a task"))?;
        self.answer(&task, Some(made.id))
    }

    fn update(&self, body: &Map<String, Value>) -> Outcome<Mutated> {
        self.check_version()?;
        let address = self.address()?;
        if body.is_empty() {
            return self.answer(&self.read()?, self.part.map(str::to_owned));
        }
        let doing = format!("changing the {}", self.kind.name);
        let request = Request::patch(address).json(body);
        let (_, task) = change(self.context, self.list, self.task, request, &doing)?;
        self.answer(&task, self.part.map(str::to_owned))
    }

    /// A part that is gone already is as good as deleted, while its task is there.
    fn delete(&self) -> Outcome<Mutated> {
        self.check_version()?;
        let request = Request::delete(self.address()?);
        let doing = format!("deleting the {}", self.kind.name);
        let task = match change(self.context, self.list, self.task, request, &doing) {
            Err(failure) if failure.code == code::NOT_FOUND => self.read()?,
            changed => changed?.1,
        };
        self.answer(&task, None)
    }

    fn address(&self) -> Outcome<String> {
        let missing = || Failure::invalid(format!("part is missing: name the {}", self.kind.name));
        tasks(self.list, &[self.task, self.kind.path, self.part.ok_or_else(missing)?], &[])
    }

    fn answer(&self, task: &TodoTask, part: Option<String>) -> Outcome<Mutated> {
        let source = task_source(task, &mailbox_zone(self.context))?;
        let item = Some(task.id.clone());
        Ok(Mutated { item, part, sources: vec![source], ..Mutated::default() })
    }
}
