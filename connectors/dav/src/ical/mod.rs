//! iCalendar (RFC 5545) to `model::calendar::Event` and back, in `todo` to `model::tasks::Task`. Pure: no HTTP, no clock. Reading is
//! forgiving; writing changes the properties of the fields that were changed and leaves every other byte as another client wrote it.

pub mod alarms;
pub mod before;
pub mod carry;
pub mod categories;
pub mod colors;
pub mod conference;
pub mod exception;
pub mod extra;
pub mod form;
pub mod freebusy;
pub mod html;
pub mod ignored;
pub mod instance;
pub mod known_zone;
pub mod lines;
pub mod notes;
pub mod observances;
pub mod own_zone;
pub mod people;
pub mod posix;
pub mod ranged;
pub mod read;
pub mod resource;
pub mod respond;
pub mod rules;
pub mod select;
pub mod series;
pub mod time;
pub mod todo;
pub mod tree;
pub mod write;
pub mod write_rules;
pub mod zone_warnings;
pub mod zones;
