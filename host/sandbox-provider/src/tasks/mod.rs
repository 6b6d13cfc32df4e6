//! Task lists and the tasks in them, with their checklist items and links.

mod check;
pub mod parts;
mod todos;

use model::tasks::{Task, TaskList};

use crate::document::Document;

/// A task list of an account.
pub type List = Document<TaskList>;
/// A task. Its checklist items and links change with it: one etag for all.
pub type Todo = Document<Task>;
