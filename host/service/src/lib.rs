//! The work of Switchboard, without an HTTP server: accounts and their local copy, sync, sending, webhooks, bookings and the jobs behind them. Modules in
//! the order of their ranks: each imports only from those before it (`tests/tidy/layers.rs`).

pub mod locale;

pub mod app;

pub mod access_tokens;
pub mod job_runner;

pub mod connections;
pub mod local_copy;
pub mod writes;

pub mod sync;

pub mod push;
pub mod tracking;

pub mod sending;

pub mod resources;

pub mod freebusy;
pub mod webhooks;

pub mod bookings;
pub mod retention;

pub mod jobs;

pub mod manage;
