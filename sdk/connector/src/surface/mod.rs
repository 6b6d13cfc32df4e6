//! One trait per surface. Every method has a default that answers "unsupported", so a connector writes only what its provider
//! has. Each surface also has `fetch`, `mutate` and `changes` (`watch`: `mutate` alone): the dispatch by operation name that the export
//! goes through.

pub mod calendar;
pub mod contacts;
pub mod email;
mod lifecycle;
pub mod tasks;
pub mod watch;

pub use calendar::Calendar;
pub use contacts::Contacts;
pub use email::Email;
pub use lifecycle::{Lifecycle, check};
pub use tasks::Tasks;
pub use watch::Watch;
