//! The administration panel: the first start, the commands, the pages.

mod accounts;
mod client;
mod commands;
mod first_start;
mod forms;
mod providers;
mod rights;
mod secrets;
mod sessions;
mod statements;
mod tenants;
mod texts;
mod walk;
mod webhooks;

/// A password that is long enough, has enough letters, and is no address.
pub const PASSWORD: &str = "a staple for 7 horses";
