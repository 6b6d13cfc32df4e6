//! The provider's own JSON: task lists and todos. The rules of `calendar::types` for names and added fields apply here as well.

use serde::{Deserialize, Serialize};

/// A task list of an account.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct List {
    pub id: String,
    pub title: String,
    /// `#rrggbb`.
    pub colour: Option<String>,
    /// The account's main list. Exactly one; it cannot be deleted.
    pub main: bool,
    /// Whether items that are flagged elsewhere appear here.
    pub flagged: bool,
    pub mine: bool,
    pub shared: bool,
    /// Whether the API refuses all changes in it.
    pub locked: bool,
    /// Sorts the lists.
    pub rank: i64,
    pub created_at: String,
    pub updated_at: String,
}

/// A todo. Its steps and links change with it: one etag for all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Todo {
    pub id: String,
    /// Id of another todo of the list. Deleting that one deletes this one.
    pub parent: Option<String>,
    pub title: String,
    pub body: TodoBody,
    pub state: TodoState,
    pub importance: Option<Importance>,
    /// 0 to 100.
    pub percent: Option<i64>,
    pub start_day: Option<String>,
    pub due: Due,
    pub alarm_at: Option<String>,
    /// The provider's clock when `state` became `done`.
    pub done_at: Option<String>,
    /// RFC 5545 lines without DTSTART: at most one `RRULE:`, any `RDATE` and `EXDATE`. They are stored and not expanded: a todo
    /// that repeats is done as a whole.
    pub repeat: Vec<String>,
    pub tags: Vec<String>,
    pub people: Vec<TodoPerson>,
    /// Sorts the list as text.
    pub position: Option<String>,
    pub has_files: bool,
    pub steps: Vec<Step>,
    pub links: Vec<Link>,
    pub created_at: String,
    pub updated_at: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TodoBody {
    pub text: Option<String>,
    pub markup: Markup,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Markup {
    #[default]
    Plain,
    Html,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TodoState {
    #[default]
    Open,
    Started,
    Done,
    Blocked,
    Later,
    Dropped,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Importance {
    Minor,
    #[default]
    Usual,
    Major,
}

/// A day, perhaps with a time of that day. Removing the day removes the time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Due {
    pub day: Option<String>,
    /// `HH:MM` in `zone`.
    pub clock: Option<String>,
    /// IANA name.
    pub zone: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TodoPerson {
    pub mail: Option<String>,
    pub label: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Step {
    pub id: String,
    pub title: String,
    pub done: bool,
    pub done_at: Option<String>,
    /// Sorts the steps as text.
    pub position: Option<String>,
    pub created_at: String,
}

/// A link to an object elsewhere that the todo is about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Link {
    pub id: String,
    pub about: About,
    pub url: Option<String>,
    pub label: Option<String>,
    /// The program that the link comes from.
    pub app: Option<String>,
    /// The client's name of the object.
    pub reference: Option<String>,
    /// The other program's id of the object.
    pub foreign_id: Option<String>,
    pub created_at: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum About {
    Mail,
    Event,
    Card,
    #[default]
    Page,
}
