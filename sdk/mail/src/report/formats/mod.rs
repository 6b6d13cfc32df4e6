//! How mail programs word their reports to people: one entry a program. Each names where its words were looked up, mostly in what sisimai
//! and Mailman's bounce detectors know of the program; entries marked as unconfirmed rest on no source and may not fit what is met. All
//! phrases are lower case (ASCII), and short enough to stand on one line however the program breaks them.

mod large;
mod small;

/// A program.
pub struct Format {
    /// For the reader, and for the tests' messages.
    #[cfg_attr(not(test), expect(dead_code, reason = "the table is read by people too"))]
    pub name: &'static str,
    /// One of them stands at the beginning of the report.
    pub openings: &'static [&'static str],
    /// Others write the same: counts only where the sender is a mail system for certain.
    pub is_common: bool,
    pub lists: &'static [List],
    pub labels: &'static [Label],
    /// What stands behind one of them is said of all recipients.
    pub reasons: &'static [&'static str],
}

/// Lines with addresses, after a line with this phrase.
pub struct List {
    pub phrase: &'static str,
    pub shape: Shape,
    /// None: as the whole report.
    pub is_delayed: Option<bool>,
}

/// Where the address stands in a line of a list.
#[derive(Clone, Copy)]
pub enum Shape {
    /// Nothing else is in the line but a remark in brackets: the reason is on the lines after it, or elsewhere.
    Alone,
    /// At the beginning; a reason may follow.
    Leading,
    /// As `Leading`, always in angle brackets.
    Angle,
    /// At the beginning, or in brackets anywhere.
    Within,
    /// What was said to the other server, and its answers.
    Transcript,
}

/// A phrase that an address follows in the same line.
pub struct Label {
    pub phrase: &'static str,
    pub is_delayed: Option<bool>,
    /// The line itself is the reason.
    pub is_reason: bool,
}

/// What says that a report is a warning, whatever the program: the message is tried again.
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

const NONE: Format =
    Format { name: "", openings: &[], is_common: false, lists: &[], labels: &[], reasons: &[] };

const fn list(phrase: &'static str, shape: Shape) -> List {
    List { phrase, shape, is_delayed: None }
}

const fn failed(phrase: &'static str, shape: Shape) -> List {
    List { phrase, shape, is_delayed: Some(false) }
}

const fn delayed(phrase: &'static str, shape: Shape) -> List {
    List { phrase, shape, is_delayed: Some(true) }
}

const fn label(phrase: &'static str) -> Label {
    Label { phrase, is_delayed: None, is_reason: false }
}

const fn reason(phrase: &'static str) -> Label {
    Label { phrase, is_delayed: None, is_reason: true }
}

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
