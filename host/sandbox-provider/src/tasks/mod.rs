//! Task lists and the todos in them, with their steps and links.

pub mod lists;
pub mod parts;
pub mod todos;
pub mod types;
mod write;
