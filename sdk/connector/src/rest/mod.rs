//! Parts that most connectors to HTTP APIs with JSON need: URLs with escaped ids, cursors with a version, and ids that a repeated
//! attempt makes again.

pub mod cursor;
pub mod id;
pub mod url;
