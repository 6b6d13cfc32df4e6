//! The tools of tasks.

mod fields;
mod list;
mod write;

pub use crate::tools::tasks::list::{LIST_TASKS, list_tasks};
pub use crate::tools::tasks::write::{CREATE_TASK, UPDATE_TASK, create_task, update_task};
