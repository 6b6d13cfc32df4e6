//! Webhooks by example.

mod delivery;
mod operations;
mod replay;
mod wrong_input;
