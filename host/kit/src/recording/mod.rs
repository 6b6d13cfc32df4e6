//! Recordings: what a provider answered while the cases ran, without what is private, and the replay of it.
//!
//! Each case has a part of its own: it begins with the same clock and the same seed whichever cases run beside it, and finds everything
//! that it needs by requests of its own. So one case can be replayed alone.

mod files;
mod format;
mod matching;
mod problem;
mod recorder;
mod redact;
mod rules;

pub use format::{Origin, RecordedCase, Recording};
pub use matching::{RECORD_AGAIN, Replay, Unmatched};
pub use problem::Problem;
pub use recorder::Recorder;
pub use redact::{Redactor, placeholder};
pub use rules::Rules;
