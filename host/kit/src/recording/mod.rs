//! Recordings: a provider's answers to the cases, without private data, and their replay.
//!
//! Each case has its own part: it begins with the same clock and the same seed whichever other cases run, and its own requests get all
//! its data. So one case can be replayed alone.

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
pub use matching::{RECORD_AGAIN, RecordingDifferences, Replay};
pub use problem::Problem;
pub use recorder::Recorder;
pub use redact::Redactor;
pub use rules::Rules;
pub use secrets::placeholder;
