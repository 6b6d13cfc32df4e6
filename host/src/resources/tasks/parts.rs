//! Steps and links: parts of a task with ids of their own. They live in the task's record and share its version at the provider;
//! to clients each is a resource under the task.

use base::error::{Code, Result, invalid, not_found};
use base::input::validate::{self, MAX_LINE, fault};
use model::tasks::{ChecklistItem, LinkedType, NewTaskLink, Task, TaskLink};
use model::wire::tasks::PartWrite;
use serde::Serialize;
use storage::items::{self, Item};

use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::connections::request_context::RequestContext;
use crate::resources::collection_items::current;
use crate::resources::collections::{self, open_to_read, open_to_write};
use crate::resources::tasks::input::title;
use crate::writes::etag::{ExpectedEtag, stale};
use crate::writes::open_collection::OpenCollection;
use crate::writes::part_response::PartName;
use crate::writes::reconcile::{ProviderWrite, commit_deletion, commit_part, conflict, done};
use crate::writes::response::ResponseChange;

/// A task that a part of is about to be written.
pub struct TaskPartTarget {
    opened: OpenCollection,
    item: Item,
    pub task: Task,
    _one: tokio::sync::OwnedMutexGuard<()>,
}

/// Opens the task; nobody else of this process writes it meanwhile.
pub async fn open(
    app: &App,
    asker: &RequestContext,
    (list_id, task_id): (&str, &str),
    look: bool,
) -> Result<TaskPartTarget> {
    let opened = open_to_write(app, asker, (ResourceKind::TaskList, list_id)).await?;
    let one = app.locks.lock(&format!("item:{task_id}")).await;
    let item = current(app, asker, (&opened, ResourceKind::Task, task_id), look).await?;
    let task = serde_json::from_str(&item.body)?;
    Ok(TaskPartTarget { opened, item, task, _one: one })
}

impl TaskPartTarget {
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
        asker: &RequestContext,
        (kind, op): (&'static str, &'static str),
        (id, body, changed): (Option<&str>, T, Vec<String>),
        change: ResponseChange,
        attempt: &IdempotentAttempt,
    ) -> Result<StoredResponse> {
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
        asker: &RequestContext,
        (op, id): (&'static str, &str),
        attempt: &IdempotentAttempt,
    ) -> Result<StoredResponse> {
        let part = self.external_id(app, id).await?;
        let args = self.write(Some(part), T::default(), Vec::new());
        match done(app, &self.opened, asker, attempt, op, &args).await {
            Ok(ProviderWrite { mutated, as_of }) => {
                commit_deletion(app, &self.opened, asker, ProviderWrite { mutated, as_of }, attempt).await
            }
            Err(e) => Err(conflict(app, asker, &self.opened, &self.item, e).await),
        }
    }
}

/// Refuses a stale version of a step.
pub fn expect(expected: &ExpectedEtag, step: &ChecklistItem) -> Result<()> {
    match expected {
        ExpectedEtag::OneOf(etags) if !etags.contains(&step.etag) => Err(stale(&step.etag)),
        _ => Ok(()),
    }
}

/// Checks a step as it shall be.
pub fn valid_step(step: &ChecklistItem) -> Result<()> {
    title("title", &step.title)?;
    validate::text("position", step.position.as_deref(), 255)
}

/// A new link: one of `url` and `resourceId`, and what it names must be there.
pub async fn valid_link(app: &App, asker: &RequestContext, new: &NewTaskLink) -> Result<TaskLink> {
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

async fn resource_exists(app: &App, asker: &RequestContext, linked: LinkedType, id: &str) -> Result<()> {
    let kind = match linked {
        LinkedType::CalendarEvent => ResourceKind::Event,
        LinkedType::Contact => ResourceKind::Contact,
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
        Err(e) => Err(e.with_param("resourceId")),
    }
}

/// A task whose parts are to be read, fresh.
pub async fn read(app: &App, asker: &RequestContext, (list_id, task_id): (&str, &str)) -> Result<Task> {
    let opened = open_to_read(app, asker, (ResourceKind::TaskList, list_id)).await?;
    collections::freshen(app, asker, &opened.0, &opened.1).await?;
    let item = asker.item(app, ResourceKind::Task, task_id).await?;
    if item.parent_id != list_id {
        return Err(not_found("task"));
    }
    Ok(serde_json::from_str(&item.body)?)
}
