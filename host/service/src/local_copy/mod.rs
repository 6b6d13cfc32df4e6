//! The local copy of providers' records: normalize, diff, resolve references, upsert, write the log entry. All writers of provider records
//! go through it.

pub mod change;
pub mod collection_counts;
pub mod contact;
pub mod deduplicate;
pub mod diff;
pub mod event_span;
pub mod isolate;
pub mod mail;
pub mod normalize;
pub mod record;
pub mod references;
pub mod render;
pub mod search_text;
pub mod series_links;
pub mod stored_records;
pub mod stored_warnings;
pub mod superseded;
pub mod task;
pub mod task_parts;
pub mod transaction;
pub mod upsert;
