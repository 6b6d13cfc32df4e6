//! Input of clients: JSON with bounds, merge patches, checks of fields, and the errors that name a field.

pub mod errors;
pub mod field_path;
pub mod json;
pub mod merge_patch;
pub mod metadata;
pub mod validate;
mod words;
