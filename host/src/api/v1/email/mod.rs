//! `/v1/email`

pub mod capabilities;
pub mod drafts;
pub mod folders;
pub mod labels;
pub mod messages;
pub mod send;
pub mod sync;
pub mod threads;
pub mod tracking;

#[cfg(test)]
mod tests;
