//! The connector to Microsoft 365 and Outlook.com, by Microsoft Graph 1.0. `account` opens an account, `api` sends requests and `odata` has
//! the conventions of Graph: addresses, preferences, pages, batches and errors; each surface has a folder.

mod account;
mod api;
mod calendar;
mod connector;
mod contacts;
mod mail;
mod odata;
mod tasks;
mod watch;

pub use crate::calendar::info::MailboxInfo;
pub use crate::calendar::mapping::{event_from, exception_from};
pub use crate::calendar::native::Event as NativeEvent;
pub use crate::calendar::patch::{WrittenEvent, WrittenFields, event_to};
pub use crate::calendar::patterned::{
    PatternedRecurrence, RecurrencePattern, RecurrenceRange, RuleRefusal, SeriesStart, rule_from, rule_to,
};
pub use crate::calendar::zones::{zone_from, zone_to};
pub use crate::connector::Microsoft;
pub use crate::odata::failures::held;
pub use crate::odata::filter::quoted;
pub use crate::odata::page::{Token, token};
pub use crate::odata::prefer::{Prefer, with};
pub use crate::odata::stamp::{civil, stamp};

// A native linker refuses the names of a component's exports.
#[cfg(target_family = "wasm")]
connector_sdk::export_connector!(Microsoft, [calendar, contacts, email, lifecycle, tasks, watch]);
