//! The provider's task lists and todos to the model and back. Pure.

use connector_sdk::Outcome;
use model::tasks::{Assignee, ChecklistItem, Task, TaskLink, TaskList, TaskListRole};
use model::wire::{Item, JsonText, Source};
use serde_json::json;

use crate::collections::Collection;
use crate::items::{Record, deleted_source, survive, text};
use crate::tasks::native;

impl Collection for native::List {
    type Ours = TaskList;
    const PATH: &'static str = "lists";
    const NAME: &'static str = "task list";
    const PLACES: &'static [(&'static str, &'static str)] =
        &[("name", "title"), ("color", "colour"), ("sortOrder", "rank")];

    fn id(&self) -> &str {
        &self.id
    }

    fn etag(&self) -> Option<String> {
        self.etag.clone()
    }

    fn body(&self) -> Outcome<JsonText> {
        text(&TaskList {
            name: self.title.clone(),
            role: match (self.main, self.flagged) {
                (true, _) => Some(TaskListRole::Default),
                (false, true) => Some(TaskListRole::Flagged),
                (false, false) => None,
            },
            is_owner: self.mine,
            is_shared: self.shared,
            read_only: self.locked,
            color: self.colour.clone(),
            sort_order: self.rank,
            task_count: self.todos,
            open_count: self.open,
        })
    }

    fn from_model(ours: &TaskList) -> Self {
        native::List {
            title: ours.name.clone(),
            colour: ours.color.clone(),
            rank: ours.sort_order,
            ..native::List::default()
        }
    }
}

impl Record for native::Todo {
    const PATH: [&'static str; 2] = ["lists", "todos"];
    const NAME: &'static str = "task";

    /// A task with its steps and links.
    fn source(&self) -> Outcome<Source> {
        if self.deleted {
            return Ok(Source { etag: self.etag.clone(), ..deleted_source(&self.id) });
        }
        survive("task", &self.id, Some(&self.title));
        let item = Item {
            external_id: self.id.clone(),
            body: text(&task_from(self))?,
            provider_data: Some(json!({ "createdAt": self.created_at, "updatedAt": self.updated_at })),
            ..Item::default()
        };
        let (external_id, etag) = (self.id.clone(), self.etag.clone());
        Ok(Source { external_id, etag, items: vec![item], ..Source::default() })
    }
}

/// The model's task. Its parts have the provider's ids and the todo's etag.
fn task_from(theirs: &native::Todo) -> Task {
    Task {
        task_list_id: Some(theirs.list.clone()),
        parent_id: theirs.parent.clone(),
        title: theirs.title.clone(),
        notes: theirs.body.text.clone(),
        notes_format: theirs.body.markup.into(),
        status: theirs.state.into(),
        priority: theirs.importance.map(Into::into),
        percent_complete: theirs.percent,
        start_date: theirs.start_day.clone(),
        due_date: theirs.due.day.clone(),
        due_time: theirs.due.clock.clone(),
        time_zone: theirs.due.zone.clone(),
        completed_at: theirs.done_at,
        reminder_at: theirs.alarm_at,
        recurrence: theirs.repeat.clone(),
        categories: theirs.tags.clone(),
        assignees: theirs
            .people
            .iter()
            .map(|person| Assignee { email: person.mail.clone(), name: person.label.clone() })
            .collect(),
        position: theirs.position.clone(),
        has_attachments: theirs.has_files,
        checklist_items: theirs.steps.iter().map(|step| step_from(step, theirs)).collect(),
        links: theirs.links.iter().map(|link| link_from(link, theirs)).collect(),
        web_url: theirs.web_link.clone(),
    }
}

/// The provider's todo, without its parts: they are written one by one.
pub fn task_to(ours: &Task) -> native::Todo {
    native::Todo {
        parent: ours.parent_id.clone(),
        title: ours.title.clone(),
        body: native::Body { text: ours.notes.clone(), markup: ours.notes_format.into() },
        state: ours.status.into(),
        importance: ours.priority.map(Into::into),
        percent: ours.percent_complete,
        start_day: ours.start_date.clone(),
        due: native::Due {
            day: ours.due_date.clone(),
            clock: ours.due_time.clone(),
            zone: ours.time_zone.clone(),
        },
        alarm_at: ours.reminder_at,
        repeat: ours.recurrence.clone(),
        tags: ours.categories.clone(),
        people: ours
            .assignees
            .iter()
            .map(|person| native::Assigned { mail: person.email.clone(), label: person.name.clone() })
            .collect(),
        position: ours.position.clone(),
        ..native::Todo::default()
    }
}

/// The model's task fields and where the provider keeps them. Fields that only the provider sets are not here.
pub const TASK_PLACES: &[(&str, &str)] = &[
    ("parentId", "parent"),
    ("title", "title"),
    ("notes", "body.text"),
    ("notesFormat", "body.markup"),
    ("status", "state"),
    ("priority", "importance"),
    ("percentComplete", "percent"),
    ("startDate", "startDay"),
    ("dueDate", "due.day"),
    ("dueTime", "due.clock"),
    ("timeZone", "due.zone"),
    ("reminderAt", "alarmAt"),
    ("recurrence", "repeat"),
    ("categories", "tags"),
    ("assignees", "people"),
    ("position", "position"),
];

/// The same for steps.
pub const STEP_PLACES: &[(&str, &str)] = &[("title", "title"), ("checked", "done"), ("position", "position")];

/// The same for links.
pub const LINK_PLACES: &[(&str, &str)] = &[
    ("resourceType", "about"),
    ("url", "url"),
    ("title", "label"),
    ("applicationName", "app"),
    ("resourceId", "reference"),
    ("externalId", "foreignId"),
];

fn step_from(theirs: &native::Step, todo: &native::Todo) -> ChecklistItem {
    ChecklistItem {
        id: theirs.id.clone(),
        task_id: todo.id.clone(),
        title: theirs.title.clone(),
        checked: theirs.done,
        checked_at: theirs.done_at,
        position: theirs.position.clone(),
        created_at: theirs.created_at,
        etag: todo.etag.clone().unwrap_or_default(),
    }
}

/// The provider's step.
pub fn step_to(ours: &ChecklistItem) -> native::Step {
    native::Step {
        title: ours.title.clone(),
        done: ours.checked,
        position: ours.position.clone(),
        ..native::Step::default()
    }
}

fn link_from(theirs: &native::Link, todo: &native::Todo) -> TaskLink {
    TaskLink {
        id: theirs.id.clone(),
        task_id: todo.id.clone(),
        url: theirs.url.clone(),
        title: theirs.label.clone(),
        application_name: theirs.app.clone(),
        external_id: theirs.foreign_id.clone(),
        resource_type: theirs.about.into(),
        resource_id: theirs.reference.clone(),
        created_at: theirs.created_at,
    }
}

/// The provider's link.
pub fn link_to(ours: &TaskLink) -> native::Link {
    native::Link {
        about: ours.resource_type.into(),
        url: ours.url.clone(),
        label: ours.title.clone(),
        app: ours.application_name.clone(),
        reference: ours.resource_id.clone(),
        foreign_id: ours.external_id.clone(),
        ..native::Link::default()
    }
}
