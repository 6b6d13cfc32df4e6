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

pub mod supervise;

pub mod answer;
pub mod config;
pub mod coverage;
pub mod freshness;
pub mod locks;
pub mod log;
pub mod metrics;
pub mod pages;
pub mod recent;
pub mod retention;
pub mod telemetry;
pub mod usage;
pub mod watches;

// The crates beside this one, re-exported under the names of the modules that they were.
pub use ::compute;
pub use ::merging;
pub use ::runtime;
pub use ::sandbox_provider;
pub use ::scheduling;
pub use ::storage;
pub use base::clock;
pub use base::error;
pub use base::file_lock;
pub use base::ids;
pub use base::input::errors as words;
pub use base::input::field_path;
pub use base::keyring;
pub use base::scopes;
pub use base::tenant;
pub use compute::named_semaphores as shares;
pub use text::folding;
pub use text::phones;
