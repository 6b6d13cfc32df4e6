//! Mail: folders, labels and messages, their original bytes, search, drafts, and delivery between the accounts.

mod answers;
pub mod compose;
pub mod entries;
pub mod folders;
pub mod letters;
pub mod messages;
pub mod parse;
mod search;
pub mod send;
pub mod types;
pub mod upload;
pub mod write;
