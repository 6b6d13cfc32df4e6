//! The connector to Google. `account` opens an account, `api` sends requests and `failures` tells what their refusals mean; each surface
//! has a folder, in which `native` is Google's JSON and `mapping` turns it into the model's and back.

mod account;
mod api;
mod calendar;
mod connector;
mod contacts;
mod failures;
mod fields;
mod mail;
mod roots;
mod tasks;
mod watch;

pub use crate::calendar::colors::Palette;
pub use crate::calendar::info::CalendarInfo;
pub use crate::calendar::instance::{instance_id, split_id};
pub use crate::calendar::mapping::event_from;
pub use crate::calendar::native::{Event as NativeEvent, EventDateTime};
pub use crate::calendar::patch::{WrittenFields, event_to};
pub use crate::calendar::rules::{google_lines, lines};
pub use crate::calendar::times::{EventTimes, times_of};
pub use crate::connector::Google;

// A native linker refuses the names of a component's exports.
#[cfg(target_family = "wasm")]
connector_sdk::export_connector!(Google, [calendar, contacts, email, lifecycle, tasks, watch]);
