//! The engine behind availability: pure functions, no async, no SQL, no HTTP, no clock.
//!
//! A member is *free* at times that are open and not busy. *Open* hours are wall-clock windows of some weekdays in a zone, resolved on
//! each local date by itself, so that windows on a day with a clock change get longer or shorter. *Busy* times are padded by the
//! meeting's own buffers before they are subtracted: the rest is where the meeting itself, without its buffers, can lie. A *stretch* is
//! a longest time in which enough members of every group are free throughout. A *slot* is a meeting's length inside a stretch that
//! begins on the *grid*: steps counted from the local start of a window, which a busy time does not move. Stretches and slots come from
//! one function, so an offered slot always lies in a stretch.
//!
//! Event types have more rules: notice, booking window, limits, seats, a rotation of hosts. [`oracle::Oracle`] decides them, both for
//! the list of slots and for a booking.

pub mod assign;
pub mod grid;
pub mod hours;
pub mod interval;
pub mod oracle;
mod periods;
pub mod rules;
pub mod slots;
pub mod week_plan;
