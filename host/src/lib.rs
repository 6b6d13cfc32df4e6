//! The Switchboard host: one API over mailboxes, calendars, address books and task lists, with every provider behind a
//! WebAssembly component. Modules in reading order.

pub mod cli;
pub mod job_runner;
pub mod local_copy;
pub mod sending;
pub mod writes;

pub mod api;
pub mod app;
pub mod connections;
pub mod jobs;
pub mod push;
pub mod resources;
pub mod sync;
pub mod tracking;

pub mod bookings;
pub mod freebusy;

pub mod access_tokens;
pub mod locale;
pub mod retention;
pub mod webhooks;
