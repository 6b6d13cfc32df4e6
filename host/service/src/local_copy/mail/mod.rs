//! The parts of the local copy that are specific to mail: identity, folders, threads, and the fields that only the host knows.

pub mod diff;
mod diff_folders;
pub mod draft_state;
pub mod folder_ids;
pub mod host_fields;
pub mod identity;
pub mod locations;
pub mod normalize;
pub mod page;
pub mod render_content;
pub mod render_draft;
pub mod replies_and_reports;
pub mod source_names;
pub mod superseded;
pub mod threads;
