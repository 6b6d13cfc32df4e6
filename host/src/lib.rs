//! The Switchboard host: one API over mailboxes, calendars, address books and task lists, with every provider behind a
//! WebAssembly component. Modules in reading order.

pub mod cli;

pub mod api;
pub mod app;
pub mod connections;
pub mod jobs;
pub mod outbox;
pub mod push;
pub mod resources;
pub mod sync;
pub mod tracking;

pub mod bookings;
pub mod freebusy;

pub mod presence;
pub mod supervise;

pub mod access_tokens;
pub mod answer;
pub mod busy_times;
pub mod config;
pub mod coverage;
pub mod freshness;
pub mod html;
pub mod jwks;
pub mod locale;
pub mod locks;
pub mod log;
pub mod metrics;
pub mod pages;
pub mod recent;
pub mod renewals;
pub mod retention;
pub mod sold_out;
pub mod telemetry;
pub mod usage;
pub mod watches;
pub mod webhooks;
