//! How mail programs word their reports to people: one entry a program. Each names where its words were looked up, mostly in what sisimai
//! and Mailman's bounce detectors know of the program; entries marked as unconfirmed rest on no source and may not fit what is met. All
//! phrases are lower case (ASCII), and short enough to stand on one line however the program breaks them.

pub mod format;
mod large;
mod small;

use crate::report::formats::format::Format;

/// Phrases that mark a report of any program as a warning: the message is tried again.
pub const DELAYS: [&str; 16] = [
    "this is a warning message only",
    "this is a warning only",
    "this is just a warning",
    "no action is required on your part",
    "message will be retried",
    "it will be retried until",
    "delivery attempts will continue",
    "we will continue to try",
    "not yet been delivered",
    "has been delayed",
    "is delayed to these recipients",
    "delivery incomplete",
    "temporary problem delivering",
    "delays in delivering your message",
    "do not need to resend",
    "wird weiter versucht",
];

/// All programs. Where the words of one are a beginning of another's, the one with more to say comes first.
pub fn all() -> impl Iterator<Item = &'static Format> {
    large::FORMATS.iter().chain(small::FORMATS)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{Format, all};

    fn phrases(format: &Format) -> impl Iterator<Item = &'static str> {
        let lists = format.lists.iter().map(|list| list.phrase);
        let labels = format.labels.iter().map(|label| label.phrase);
        format.openings.iter().copied().chain(lists).chain(labels).chain(format.reasons.iter().copied())
    }

    #[test]
    fn every_program_can_be_told_and_read() {
        let names: HashSet<&str> = all().map(|format| format.name).collect();
        assert_eq!(names.len(), all().count());
        for format in all() {
            assert!(
                !format.openings.is_empty() && format.lists.len() + format.labels.len() > 0,
                "{}",
                format.name
            );
            for phrase in phrases(format) {
                assert_eq!(phrase, phrase.to_ascii_lowercase(), "{}", format.name);
                assert!(phrase.len() > 4, "{}: {phrase}", format.name);
            }
        }
    }
}
