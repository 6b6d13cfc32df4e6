//! The engine behind availability: pure functions, no async, no SQL, no HTTP, no clock.
//!
//! A member is *free* at times that are open and not busy. *Open* hours are local times on some weekdays in a zone, resolved for each local
//! date by itself, so that windows on a day with a clock change get longer or shorter. *Busy* times are padded by the meeting's own buffers
//! before they are subtracted: what remains is where the meeting itself, without its buffers, can lie. A *stretch* is a maximal interval in
//! which enough members of every group are free throughout. A *slot* is an interval of the meeting's length inside a stretch, which begins
//! on the *grid*: steps counted from the local start of a window, unaffected by busy times. Stretches and slots come from one function, so
//! each slot lies in a stretch.
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
