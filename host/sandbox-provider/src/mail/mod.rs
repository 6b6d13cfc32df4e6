//! Mail: folders, labels and messages, their original bytes, search, drafts, and delivery between the accounts.

mod answers;
pub mod entries;
pub mod folders;
pub mod messages;
pub mod parse;
pub mod raw_messages;
mod search;
pub mod send;
pub mod types;
pub mod upload;
pub mod write;
