//! The Model Context Protocol server of Switchboard: tools, resources and prompts for assistants. A tool call is a sequence of requests
//! to the API with the caller's own key; the crate knows the API by the trait `Api` alone, and neither HTTP servers nor storage.

pub mod api;
pub mod ask;
mod guide;
pub mod policy;
mod prompts;
pub mod recipients;
mod resources;
pub mod server;
pub mod text;
pub mod tool;
pub mod tools;
pub mod untrusted;
