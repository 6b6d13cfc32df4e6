//! `/v1/contacts`

mod lists;
pub mod people;
mod photo;
pub mod sync;
