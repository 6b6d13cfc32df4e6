//! `/v1/email`

pub mod capabilities;
pub mod folders;
pub mod labels;
pub mod messages;
pub mod sync;
pub mod threads;
