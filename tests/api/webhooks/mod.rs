//! Webhooks by example.

mod delivery;
mod operations;
mod wrong_input;
