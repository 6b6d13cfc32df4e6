//! Recurrence as Graph has it: a pattern and a range in place of a rule (Microsoft Graph reference, resource types `recurrencePattern` and
//! `recurrenceRange`). Pure.

mod lines;
mod native;
mod parts;
mod pattern;
mod refusal;
mod start;

pub use lines::rule_from;
pub use native::{PatternedRecurrence, RecurrencePattern, RecurrenceRange};
pub use pattern::rule_to;
pub use refusal::RuleRefusal;
pub use start::SeriesStart;
