//! Mail. Messages and drafts are items of a connection; `local_copy::mail` stores the connectors' records and groups messages into threads.
//! `list` and `read` answer, `write` changes and deletes.

pub mod append;
pub mod attachments;
pub mod bodies;
pub mod compose;
pub mod draft_input;
pub mod drafts;
pub mod files;
pub mod filter;
pub mod folders;
pub mod list;
pub mod list_place;
pub mod message_list;
pub mod read;
pub mod reply;
pub mod search;
pub mod sender;
pub mod size_limit;
pub mod thread_views;
pub mod write;
