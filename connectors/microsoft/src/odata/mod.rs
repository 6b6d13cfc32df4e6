//! The conventions of Microsoft Graph: addresses, preferences, filters, pages, times, batches and errors.

pub mod batch;
pub mod failures;
pub mod filter;
pub mod page;
pub mod prefer;
pub mod root;
pub mod stamp;
pub mod walk;
