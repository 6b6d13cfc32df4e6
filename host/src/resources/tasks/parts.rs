//! Steps and links: parts of a task with ids of their own. They live in the task's record and share its version at the provider;
//! to clients each is a resource under the task.

use base::error::{Code, Result, invalid, not_found};
use base::ids;
use base::input::validate::{self, MAX_LINE, fault};
use model::Instant;
use model::tasks::{ChecklistItem, LinkedType, NewTaskLink, Task, TaskLink};
use model::wire::tasks::PartWrite;
use serde::Serialize;
use sha2::{Digest, Sha256};
use storage::Tx;
use storage::items::{self, Item, Part};

use crate::answer::{Answer, Attempt};
use crate::app::App;
use crate::resources::collections::{self, Opened, open_to_read, open_to_write};
use crate::resources::commit::Change;
use crate::resources::contents::current;
use crate::resources::settle::{Done, commit_deletion, commit_part, conflict, done};
use crate::resources::tasks::input::title;
use crate::resources::{Asker, Expected, Kind, stale};

/// Steps are stored under this name.
pub const STEP: &str = "checklist_item";
/// Links are stored under this name.
pub const LINK: &str = "task_link";

/// The part that a write was about: of which kind, and the provider's id of it, unless our id is known.
#[derive(Clone, Debug)]
pub struct PartName {
    pub kind: &'static str,
    pub external_id: String,
}

/// Whether a stored task has any; the text is looked at, because most have none.
pub fn has_parts(body: &str) -> bool {
    !(body.contains("\"checklistItems\":[]") && body.contains("\"links\":[]"))
}

/// Puts our ids for the provider's, makes those that are missing, and fills in what belongs to them.
pub async fn bind_parts(tx: &mut Tx, app: &App, item: &Item, task: &mut Task) -> Result<()> {
    if task.checklist_items.is_empty() && task.links.is_empty() {
        return Ok(());
    }
    let mut known = items::parts_of(&mut *tx, &item.id).await?;
    let before = known.len();
    let mut part = |kind: &'static str, id: ids::Kind, external_id: &str| -> Part {
        // An id of ours comes from a body that was bound before.
        let found =
            known.iter().find(|p| p.kind == kind && (p.external_id == external_id || p.id == external_id));
        found.cloned().unwrap_or_else(|| {
            let new = Part {
                id: app.new_id(id),
                kind: kind.to_owned(),
                external_id: external_id.to_owned(),
                created_at: app.now(),
            };
            known.push(new.clone());
            new
        })
    };
    for step in &mut task.checklist_items {
        let part = part(STEP, ids::Kind::ChecklistItem, &step.id);
        step.id = part.id;
        step.task_id.clone_from(&item.id);
        step.created_at = or_else(step.created_at, part.created_at);
        step.etag = String::new();
        step.etag = etag(step)?;
    }
    for link in &mut task.links {
        let part = part(LINK, ids::Kind::TaskLink, &link.id);
        link.id = part.id;
        link.task_id.clone_from(&item.id);
        link.created_at = or_else(link.created_at, part.created_at);
    }
    items::put_parts(tx, item, &known[before..]).await?;
    Ok(())
}

/// A provider that does not say when it was made: when we first saw it.
fn or_else(told: Instant, seen: i64) -> Instant {
    if told == Instant::default() { Instant::from_millis(seen) } else { told }
}

/// The version of a part: what it says.
fn etag(part: &impl Serialize) -> Result<String> {
    let text = serde_json::to_string(part)?;
    Ok(format!("\"{}\"", hex::encode(&Sha256::digest(text)[..8])))
}

/// The answer that shows one part of a stored task.
pub async fn part_shown(tx: &mut Tx, item: &Item, name: &PartName, change: &Change) -> Result<Answer> {
    let parts = items::parts_of(&mut *tx, &item.id).await?;
    let found = parts.into_iter().find(|p| p.kind == name.kind && p.external_id == name.external_id);
    let part =
        found.ok_or_else(|| anyhow::anyhow!("the connector did not say what became of the {}", name.kind))?;
    let task: Task = serde_json::from_str(&item.body)?;
    let (text, etag) = match name.kind {
        STEP => {
            let step = step_of(&task, &part.id)?;
            (serde_json::to_string(step)?, Some(step.etag.clone()))
        }
        _ => (serde_json::to_string(link_of(&task, &part.id)?)?, None),
    };
    let answer = Answer::json(change.status, text).warned(&change.warnings);
    Ok(match etag {
        Some(etag) => answer.etag(&etag),
        None => answer,
    })
}

/// A step of a task.
pub fn step_of<'a>(task: &'a Task, id: &str) -> Result<&'a ChecklistItem> {
    task.checklist_items.iter().find(|s| s.id == id).ok_or_else(|| not_found("checklist item"))
}

/// A link of a task.
pub fn link_of<'a>(task: &'a Task, id: &str) -> Result<&'a TaskLink> {
    task.links.iter().find(|l| l.id == id).ok_or_else(|| not_found("link"))
}

/// A task that a part of is about to be written.
pub struct Place {
    opened: Opened,
    item: Item,
    pub task: Task,
    _one: tokio::sync::OwnedMutexGuard<()>,
}

/// Opens the task; nobody else of this process writes it meanwhile.
pub async fn open(app: &App, asker: &Asker, (list_id, task_id): (&str, &str), look: bool) -> Result<Place> {
    let opened = open_to_write(app, asker, (Kind::TaskList, list_id)).await?;
    let one = app.locks.lock(&format!("item:{task_id}")).await;
    let item = current(app, asker, (&opened, Kind::Task, task_id), look).await?;
    let task = serde_json::from_str(&item.body)?;
    Ok(Place { opened, item, task, _one: one })
}

impl Place {
    fn write<T: Default>(&self, part: Option<String>, body: T, changed: Vec<String>) -> PartWrite<T> {
        PartWrite {
            collection: self.opened.collection.external_id.clone(),
            source: self.item.source_id.clone(),
            part,
            body,
            changed,
            if_match: None,
        }
    }

    /// The provider's id of a part.
    async fn external_id(&self, app: &App, id: &str) -> Result<String> {
        let parts = items::parts_of(app.db.reader(), &self.item.id).await?;
        let found = parts.into_iter().find(|p| p.id == id);
        Ok(found.ok_or_else(|| anyhow::anyhow!("a part of a task has no row: {id}"))?.external_id)
    }

    /// Has the provider write a part, and answers with it.
    pub async fn put<T: Default + Serialize + Send + Sync>(
        &self,
        app: &App,
        asker: &Asker,
        (kind, op): (&'static str, &'static str),
        (id, body, changed): (Option<&str>, T, Vec<String>),
        change: Change,
        attempt: &Attempt,
    ) -> Result<Answer> {
        let part = match id {
            Some(id) => Some(self.external_id(app, id).await?),
            None => None,
        };
        let args = self.write(part.clone(), body, changed);
        let done = match done(app, &self.opened, asker, attempt, op, &args).await {
            Ok(done) => done,
            Err(e) => return Err(conflict(app, asker, &self.opened, &self.item, e).await),
        };
        let external_id = done.mutated.part.clone().or(part).unwrap_or_default();
        let name = PartName { kind, external_id };
        commit_part(app, &self.opened, asker, done, (name, change), attempt).await
    }

    /// Has the provider take a part away.
    pub async fn remove<T: Default + Serialize + Send + Sync>(
        &self,
        app: &App,
        asker: &Asker,
        (op, id): (&'static str, &str),
        attempt: &Attempt,
    ) -> Result<Answer> {
        let part = self.external_id(app, id).await?;
        let args = self.write(Some(part), T::default(), Vec::new());
        match done(app, &self.opened, asker, attempt, op, &args).await {
            Ok(Done { mutated, as_of }) => {
                commit_deletion(app, &self.opened, asker, Done { mutated, as_of }, attempt).await
            }
            Err(e) => Err(conflict(app, asker, &self.opened, &self.item, e).await),
        }
    }
}

/// Refuses a stale version of a step.
pub fn expect(expected: &Expected, step: &ChecklistItem) -> Result<()> {
    match expected {
        Expected::OneOf(etags) if !etags.contains(&step.etag) => Err(stale(&step.etag)),
        _ => Ok(()),
    }
}

/// Checks a step as it shall be.
pub fn valid_step(step: &ChecklistItem) -> Result<()> {
    title("title", &step.title)?;
    validate::text("position", step.position.as_deref(), 255)
}

/// A new link: one of `url` and `resourceId`, and what it names must be there.
pub async fn valid_link(app: &App, asker: &Asker, new: &NewTaskLink) -> Result<TaskLink> {
    validate::text("title", new.title.as_deref(), MAX_LINE)?;
    validate::text("applicationName", new.application_name.as_deref(), 255)?;
    match (&new.url, &new.resource_id) {
        (Some(url), None) => validate::url("url", url, &["http", "https"], "an http or https URL")?,
        (None, Some(id)) => resource_exists(app, asker, new.resource_type, id).await?,
        (Some(_), Some(_)) => {
            let message = "a link has one of url and resourceId; send one of them";
            return Err(invalid(Code::ConflictingFields, "resourceId", message));
        }
        (None, None) => return Err(invalid(Code::MissingField, "url", "url or resourceId is required")),
    }
    Ok(TaskLink {
        url: new.url.clone(),
        title: new.title.clone(),
        application_name: new.application_name.clone(),
        resource_type: new.resource_type,
        resource_id: new.resource_id.clone(),
        ..TaskLink::default()
    })
}

async fn resource_exists(app: &App, asker: &Asker, linked: LinkedType, id: &str) -> Result<()> {
    let kind = match linked {
        LinkedType::CalendarEvent => Kind::Event,
        LinkedType::Contact => Kind::Contact,
        LinkedType::Url => {
            let message = "resourceType must say what resourceId is: calendar_event or contact";
            return Err(invalid(Code::MissingField, "resourceType", message));
        }
        // Nothing of the mailbox is stored yet, so no id of it can be right.
        LinkedType::EmailMessage => return Err(fault("resourceId", "names no e-mail message")),
    };
    match asker.item(app, kind, id).await {
        Ok(_) => Ok(()),
        Err(e) if e.code() == Some(Code::NotFound) => {
            Err(fault("resourceId", &format!("names no {}", kind.noun())))
        }
        Err(e) => Err(e),
    }
}

/// A task whose parts are to be read, fresh.
pub async fn read(app: &App, asker: &Asker, (list_id, task_id): (&str, &str)) -> Result<Task> {
    let opened = open_to_read(app, asker, (Kind::TaskList, list_id)).await?;
    collections::freshen(app, asker, &opened.0, &opened.1).await?;
    let item = asker.item(app, Kind::Task, task_id).await?;
    if item.parent_id != list_id {
        return Err(not_found("task"));
    }
    Ok(serde_json::from_str(&item.body)?)
}
