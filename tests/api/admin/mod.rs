//! The administration panel: the first start, the commands, the pages.

mod accounts;
mod admin_keys;
mod client;
mod commands;
mod connector_uploads;
mod events;
mod first_start;
mod forms;
mod jobs;
mod languages;
mod oidc;
mod providers;
mod replays;
mod request_log;
mod requests;
mod rights;
mod sandbox_page;
mod secrets;
mod sessions;
mod statements;
mod system;
mod tenants;
mod texts;
mod usage;
mod walk;
mod webhooks;

/// A password that is long enough, has enough letters, and is no address.
pub const PASSWORD: &str = "a staple for 7 horses";
