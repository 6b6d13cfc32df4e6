//! Steps and links: parts of a task with ids of their own. They live in the task's record and share its version at the provider;
//! to clients each is a resource under the task.

use base::error::{Code, Result, invalid, not_found};
use base::input::validate::{self, fault};
use model::bounds::{MAX_LABEL, MAX_LINE};
use model::tasks::{ChecklistItem, LinkedType, NewTaskLink, Task, TaskLink};
use model::wire::tasks::PartWrite;
use serde::Serialize;
use storage::items::{self, Item};

use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::app::stored_response::StoredResponse;
use crate::connections::provider_call::{ProviderChange, ProviderWrite, call_provider};
use crate::connections::request_context::RequestContext;
use crate::connections::write_context::WriteContext;
use crate::resources::collections::{self, open_to_read};
use crate::resources::open_item::{ItemPath, ItemToWrite};
use crate::resources::tasks::input::title;
use crate::writes::conflict::conflict;
use crate::writes::etag::{ExpectedEtag, stale};
use crate::writes::part_response::{PartName, PartView};
use crate::writes::reconcile::reconcile;
use crate::writes::response::{GoneView, ResponseChange};

/// A task with a part that is about to be written.
pub struct TaskPartTarget {
    target: ItemToWrite,
    item: Item,
    pub task: Task,
}

/// The write of a part of a task.
pub struct TaskPartWrite<'p, T> {
    /// The kind's name in the table.
    pub kind: &'static str,
    /// The connector's operation.
    pub op: &'static str,
    /// Our id; none for a new one.
    pub id: Option<&'p str>,
    pub body: T,
    /// Names of the fields that the caller changed.
    pub changed: Vec<String>,
}

/// Opens and locks the task: no other request of this process writes it until this is dropped.
pub async fn open(cx: &WriteContext, list_id: &str, task_id: &str) -> Result<TaskPartTarget> {
    let path = ItemPath { kind: ResourceKind::Task, collection_id: Some(list_id), id: task_id };
    let mut target = ItemToWrite::open(cx, path).await?;
    let item = target.current(cx).await?;
    let task = serde_json::from_str(&item.body)?;
    Ok(TaskPartTarget { target, item, task })
}

impl TaskPartTarget {
    fn write<T: Default>(&self, part: Option<String>, body: T, changed: Vec<String>) -> PartWrite<T> {
        PartWrite {
            collection: self.target.opened.collection.external_id.clone(),
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

    /// Has the provider write a part, and returns the part.
    pub async fn put<T: Default + Serialize + Send + Sync>(
        &self,
        cx: &WriteContext,
        write: TaskPartWrite<'_, T>,
        change: ResponseChange,
    ) -> Result<StoredResponse> {
        let TaskPartWrite { kind, op, id, body, changed } = write;
        let part = match id {
            Some(id) => Some(self.external_id(&cx.app, id).await?),
            None => None,
        };
        let args = self.write(part.clone(), body, changed);
        let mut done = self.call(cx, op, &args).await?;
        let external_id = done.mutated.part.clone().or(part).unwrap_or_default();
        let view = PartView::new(&mut done, PartName { kind, external_id }, change)?;
        reconcile(cx, self.target.opened.location(), done, view).await
    }

    /// Has the provider delete a part.
    pub async fn remove<T: Default + Serialize + Send + Sync>(
        &self,
        cx: &WriteContext,
        op: &'static str,
        id: &str,
    ) -> Result<StoredResponse> {
        let part = self.external_id(&cx.app, id).await?;
        let args = self.write(Some(part), T::default(), Vec::new());
        let done = self.call(cx, op, &args).await?;
        reconcile(cx, self.target.opened.location(), done, GoneView::default()).await
    }

    async fn call<T: Default + Serialize + Send + Sync>(
        &self,
        cx: &WriteContext,
        op: &'static str,
        args: &PartWrite<T>,
    ) -> Result<ProviderWrite> {
        let opened = &self.target.opened;
        let call = ProviderChange::new(ResourceKind::Task.surface(), op, args);
        match call_provider(cx, &opened.account, call).await {
            Ok(done) => Ok(done),
            Err(e) => Err(conflict(cx, opened, &self.item, e).await),
        }
    }
}

/// Refuses a write with an outdated etag of a step.
pub fn expect(expected: &ExpectedEtag, step: &ChecklistItem) -> Result<()> {
    match expected {
        ExpectedEtag::OneOf(etags) if !etags.contains(&step.etag) => Err(stale(&step.etag)),
        _ => Ok(()),
    }
}

/// Checks a step.
pub fn valid_step(step: &ChecklistItem) -> Result<()> {
    title("title", &step.title)?;
    validate::text("position", step.position.as_deref(), MAX_LABEL)
}

/// Checks a new link: exactly one of `url` and `resourceId`, and the resource must exist.
pub async fn valid_link(app: &App, asker: &RequestContext, new: &NewTaskLink) -> Result<TaskLink> {
    validate::text("title", new.title.as_deref(), MAX_LINE)?;
    validate::text("applicationName", new.application_name.as_deref(), MAX_LABEL)?;
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
        // No mail of the account is stored yet, so no message id can be valid.
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

/// Reads the task for its parts, refreshed if the copy is stale.
pub async fn read(app: &App, asker: &RequestContext, list_id: &str, task_id: &str) -> Result<Task> {
    let opened = open_to_read(app, asker, ResourceKind::TaskList, list_id).await?;
    collections::freshen(app, asker, &opened.0, &opened.1).await?;
    let item = asker.item(app, ResourceKind::Task, task_id).await?;
    if item.parent_id != list_id {
        return Err(not_found("task"));
    }
    Ok(serde_json::from_str(&item.body)?)
}
