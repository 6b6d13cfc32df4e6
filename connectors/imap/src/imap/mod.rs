//! The protocol: values, responses and commands, the session, and visits to mailboxes.

pub mod all_mail;
pub mod beyond;
pub mod capabilities;
pub mod command;
pub mod commands;
pub mod date;
pub mod fetch;
pub mod input;
pub mod names;
pub mod response;
pub mod selected;
pub mod session;
pub mod structure;
pub mod uids;
pub mod value;
pub mod visit;
