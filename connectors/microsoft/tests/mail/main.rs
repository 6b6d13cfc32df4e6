//! Mail at Microsoft Graph: what the connector asks, and what it makes of the answers.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod changes;
mod desk;
mod edit;
mod mapping;
mod search;
mod send;
