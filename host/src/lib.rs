//! The Switchboard host: one API over mailboxes, calendars, address books and task lists, with every provider behind a
//! WebAssembly component. This crate speaks HTTP and is the command line; what it does is in the crate `service`. Modules in the order of
//! their ranks: each imports only from those before it (`tests/tidy/layers.rs`).

pub mod web;

pub mod admin;
pub mod api;

pub mod cli;
pub mod routes;
