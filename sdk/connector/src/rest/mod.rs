//! Parts that most connectors to HTTP APIs with JSON need: URLs with escaped ids, cursors with a version, ids that a repeated attempt
//! makes again, and batches.

pub mod batch;
pub mod cursor;
pub mod id;
pub mod url;
