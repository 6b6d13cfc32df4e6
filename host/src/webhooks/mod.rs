//! Webhooks: which events there are and who wants them (`kinds`), what is sent (`payload`) and how it is signed (`sign`).

pub mod kinds;
pub mod payload;
pub mod sign;
