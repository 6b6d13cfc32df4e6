//! SQL, one file per table family, as free functions: `find`, `list`, `insert`, `update`, `delete`. "Not found" is `None`
//! here. The same statements run on SQLite and PostgreSQL; what differs is in `dialect.rs` and `writer.rs`.

pub mod api_key_domains;
pub mod api_keys;
pub mod authorizations;
mod connection;
pub mod connections;
mod db;
pub mod dialect;
pub mod hosts;
pub mod idempotency;
pub mod installation;
pub mod items;
pub mod job_admin;
pub mod job_claims;
pub mod jobs;
mod json_column;
pub mod key_revocations;
pub mod lane;
pub mod listen;
pub mod locked;
pub mod log;
pub mod lost_jobs;
pub mod mail;
pub mod migrations;
pub mod oauth_clients;
pub mod outbox;
mod pools;
mod postgres;
pub mod retention;
pub mod scheduling;
pub mod sql;
mod sqlite;
mod statement;
pub mod sync_states;
#[cfg(test)]
mod tests;
pub mod token_grants;
pub mod token_refresh;
pub mod token_revocations;
pub mod tracking;
mod transaction;
pub mod usage;
pub mod wakes;
pub mod watches;
pub mod webhooks;
mod writer;

pub use crate::db::{Db, Options, sqlite_file};
pub(crate) use crate::json_column::json;
pub use crate::json_column::json_text;
pub use crate::pools::{PoolLimits, PoolUsage};
pub use crate::sql::{Tx, is_of_the_data};
pub use crate::transaction::LockRank;
