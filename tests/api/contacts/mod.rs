//! `/v1/contacts`

mod lists;
mod merge_suggestions;
pub mod people;
mod photo;
pub mod sync;
