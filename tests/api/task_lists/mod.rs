//! `/v1/task-lists`

mod lists;
mod parts;
mod sync;
mod tasks;
