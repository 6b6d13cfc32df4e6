//! The tasks surface over CalDAV: lists are collections that hold VTODO, tasks are their resources. One file per concern; this
//! one has their common parts.

pub mod items;
pub mod lists;

use connector_sdk::{Context, Outcome};
use model::wire::tasks::TasksFeatures;
use model::wire::{Item, ItemError};

use crate::calendar::selves;
use crate::collection;
use crate::collection::{Content, ServiceKind};
use crate::ical::read::Reader;
use crate::ical::resource;
use crate::ical::todo::reader::{NAME, TodoReader};

/// One call: the server, and how its to-dos are read.
pub type TaskSession<'a> = collection::Session<'a, TodoReader>;

impl<'a> TaskSession<'a> {
    /// `time_zone` is the list's, for floating times.
    pub fn new(cx: &'a Context<'a>, time_zone: Option<&str>) -> Outcome<Self> {
        TaskSession::with(cx, TodoReader::new(selves(cx), time_zone))
    }
}

impl Content for TodoReader {
    /// Calendar object resources, too; people call them something else.
    const KIND: ServiceKind = ServiceKind {
        collection: "task list",
        a_collection: "a task list",
        collections: "task lists",
        item: "task",
        an_item: "a task",
        items: "tasks",
        uid: "UID",
        ..<Reader as Content>::KIND
    };

    fn items(&self, external_id: &str, data: &str) -> Result<Vec<Item>, ItemError> {
        TodoReader::items(self, external_id, data)
    }

    fn uid(&self, data: &str) -> Option<String> {
        resource::uid(&resource::parse(data).ok()?, NAME)
    }
}

/// Returns the features of CalDAV for tasks. VTODO has no steps, and its links have no titles.
pub fn features() -> TasksFeatures {
    TasksFeatures {
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
        checklist_items: false,
        links: false,
        push: false,
        delta: "syncToken".into(),
    }
}
