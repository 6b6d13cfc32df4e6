//! The tools that read mail.

mod attachment;
mod folders;
mod message;
mod parts;
mod quotes;
mod search;
mod thread;

pub use crate::tools::mail::attachment::{READ_ATTACHMENT, read_attachment};
pub use crate::tools::mail::folders::{LIST_FOLDERS, list_folders};
pub use crate::tools::mail::message::{READ_MESSAGE, read_message};
pub use crate::tools::mail::search::{SEARCH_MAIL, search_mail};
pub use crate::tools::mail::thread::{READ_THREAD, read_thread};
