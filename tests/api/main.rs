//! The API told by example; the tree is the one of `host/src/api/v1`. `contract` holds the promises that cut across.

mod absence;
mod calendars;
mod cli;
mod connections;
mod contact_books;
mod contact_groups;
mod contacts;
mod contract;
mod convergence;
mod crash;
mod dav;
mod email;
mod events;
mod formats;
mod jobs;
mod kills;
mod local_reads;
mod oauth;
mod push;
mod retention;
mod sandbox_connector;
mod sandbox_provider;
mod scheduling;
mod task_lists;
mod usage;
mod webhooks;
