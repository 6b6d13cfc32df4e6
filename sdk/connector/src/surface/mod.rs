//! One trait per surface. Every method has a default that answers "unsupported", so a connector writes only what its provider
//! has. Each surface also has `fetch`, `mutate` and `changes`: the dispatch by operation name that the export goes through.

pub mod calendar;
pub mod contacts;
mod lifecycle;
pub mod tasks;
mod untyped;

pub use calendar::Calendar;
pub use contacts::Contacts;
pub use lifecycle::{Lifecycle, check};
pub use tasks::Tasks;
pub use untyped::{Email, email};
