//! Graph's JSON of task lists and tasks, the members that are read.

use serde::Deserialize;
use serde_json::Value;

use crate::calendar::native::DateTimeTimeZone;

macro_rules! object {
    ($(#[$doc:meta])* $name:ident { $($(#[$attr:meta])* $field:ident: $kind:ty,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        pub struct $name { $($(#[$attr])* pub $field: $kind,)+ }
    };
}

object! {
    /// A task list.
    TodoList {
        id: String,
        #[serde(rename = "@odata.etag")]
        etag: Option<String>,
        display_name: Option<String>,
        is_owner: Option<bool>,
        is_shared: Option<bool>,
        /// `none`, `defaultList` or `flaggedEmails`.
        wellknown_list_name: Option<String>,
    }
}

impl TodoList {
    pub fn is_default(&self) -> bool {
        self.is_named("defaultList")
    }

    /// Whether it is the list of flagged messages, which are no tasks of their own.
    pub fn is_flagged_mail(&self) -> bool {
        self.is_named("flaggedEmails")
    }

    fn is_named(&self, name: &str) -> bool {
        self.wellknown_list_name.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(name))
    }
}

object! {
    /// A task.
    TodoTask {
        id: String,
        #[serde(rename = "@odata.etag")]
        etag: Option<String>,
        title: Option<String>,
        body: Option<TodoBody>,
        status: Option<String>,
        importance: Option<String>,
        categories: Option<Vec<String>>,
        is_reminder_on: Option<bool>,
        reminder_date_time: Option<DateTimeTimeZone>,
        start_date_time: Option<DateTimeTimeZone>,
        due_date_time: Option<DateTimeTimeZone>,
        completed_date_time: Option<DateTimeTimeZone>,
        created_date_time: Option<String>,
        last_modified_date_time: Option<String>,
        has_attachments: Option<bool>,
        recurrence: Option<Value>,
        /// Only where they are asked for, as the links.
        checklist_items: Option<Vec<TodoStep>>,
        linked_resources: Option<Vec<TodoLink>>,
    }
}

impl TodoTask {
    /// The version of the task. Graph promises no `If-Match` for tasks: the time of the last change is compared.
    pub fn version(&self) -> Option<String> {
        let changed = self.last_modified_date_time.clone().filter(|time| !time.is_empty());
        changed.or_else(|| self.etag.clone())
    }
}

object! {
    TodoBody {
        content: Option<String>,
        content_type: Option<String>,
    }
}

object! {
    /// A step of a task.
    TodoStep {
        id: String,
        display_name: Option<String>,
        is_checked: Option<bool>,
        checked_date_time: Option<String>,
        created_date_time: Option<String>,
    }
}

object! {
    /// A link of a task.
    TodoLink {
        id: String,
        web_url: Option<String>,
        application_name: Option<String>,
        display_name: Option<String>,
        external_id: Option<String>,
    }
}
