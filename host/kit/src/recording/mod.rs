//! Recordings: what a provider answered while the cases ran, without what is private, and the replay of it.
//!
//! Each case has a part of its own: it begins with the same clock and the same seed whichever cases run beside it, and finds everything
//! that it needs by requests of its own. So one case can be replayed alone.

mod addresses;
mod credentials;
mod files;
mod format;
mod markup;
mod matching;
mod multipart;
mod names;
mod problem;
mod recorder;
mod redact;
mod rules;
mod scan;
mod secrets;
#[cfg(test)]
mod tests;

pub use format::{Origin, RecordedCase, Recording};
pub use matching::{RECORD_AGAIN, Replay, Unmatched};
pub use problem::Problem;
pub use recorder::Recorder;
pub use redact::Redactor;
pub use rules::Rules;
pub use secrets::placeholder;
