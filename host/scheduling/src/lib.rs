//! The engine behind availability: pure functions, no async, no SQL, no HTTP, no clock.
//!
//! A member is *free* where it is open and not busy. *Open* hours are wall-clock windows of some weekdays in a zone, resolved
//! on each local date by itself, so that a day on which the clocks change is longer or shorter like everybody's. *Busy*
//! times are padded by the meeting's own buffers before they are taken away: what is left is where the meeting itself, without
//! its buffers, can lie. A *stretch* is a longest time in which enough members of every group are free throughout. A *slot* is
//! a meeting's length inside a stretch that begins on the *grid*: steps counted from the local start of a window, which a busy
//! time does not move. Stretches and slots come from one function, so a slot that is offered always lies in a stretch.
//!
//! Event types have more rules: notice, booking window, limits, seats, hosts that take turns. [`oracle::Oracle`] decides them, both
//! where slots are listed and where one is booked.

pub mod assign;
pub mod grid;
pub mod hours;
pub mod interval;
pub mod oracle;
mod periods;
pub mod rules;
pub mod slots;
pub mod week_plan;
