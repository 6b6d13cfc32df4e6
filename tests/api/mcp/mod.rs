//! `/mcp`: the API for assistants, by the Model Context Protocol.

mod bridge;
mod calendar;
mod client;
mod reading;
mod sending;
mod server;
