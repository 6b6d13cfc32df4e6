//! Webhooks: who subscribes to what (`subscription`), which events there are and who wants them (`kinds`), what is sent (`payload`), how it is
//! signed (`sign`), what an attempt comes to (`attempt`), and what is sent once more (`replay`).

pub mod attempt;
mod input;
pub mod kinds;
pub mod payload;
pub mod replay;
mod secrets;
pub mod sign;
pub mod subscription;
pub mod view;
