//! Cases of calendars: times, series, guests, busy times.

pub mod busy;
pub mod events;
pub mod exceptions;
pub mod instances;
pub mod people;
pub mod series;
pub mod table;
pub mod times;
