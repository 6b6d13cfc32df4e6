//! Webhooks: who subscribes to what (`subscription`), which events there are and who wants them (`kinds`), what is sent (`payload`), how it is
//! signed (`sign`), and what an attempt comes to (`attempt`).

pub mod attempt;
mod input;
pub mod kinds;
pub mod payload;
mod secrets;
pub mod sign;
pub mod subscription;
pub mod view;
