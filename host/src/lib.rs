//! The Switchboard host: one API over mailboxes, calendars, address books and task lists, with every provider behind a
//! WebAssembly component. Modules in reading order.

pub mod cli;

pub mod api;
pub mod app;
pub mod connections;
pub mod outbox;
pub mod resources;
pub mod sync;
pub mod tracking;

pub mod freebusy;

pub mod runtime;
pub mod sandbox_provider;
pub mod storage;
pub mod supervise;

pub mod answer;
pub mod clock;
pub mod compute;
pub mod config;
pub mod coverage;
pub mod error;
pub mod field_path;
pub mod file_lock;
pub mod freshness;
pub mod ids;
pub mod keyring;
pub mod locks;
pub mod log;
pub mod metrics;
pub mod pages;
pub mod recent;
pub mod retention;
pub mod scopes;
pub mod shares;
pub mod telemetry;
pub mod tenant;
pub mod usage;
pub mod watches;
pub mod words;

// The crates beside this one, re-exported under the names of the modules that they were.
pub use ::merging;
pub use ::scheduling;
pub use text::folding;
pub use text::phones;
