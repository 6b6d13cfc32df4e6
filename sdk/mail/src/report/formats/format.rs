//! The reports of one program: how they begin, and where addresses and reasons stand in them.

/// A program.
pub struct Format {
    /// For the reader, and for the tests' messages.
    #[cfg_attr(not(test), expect(dead_code, reason = "the table is read by people too"))]
    pub name: &'static str,
    /// One of them stands at the beginning of the report.
    pub openings: &'static [&'static str],
    /// Other texts begin the same way: the format counts only if the sender is certainly a mail system.
    pub is_common: bool,
    pub lists: &'static [List],
    pub labels: &'static [Label],
    /// Phrases after which a reason for all recipients follows.
    pub reasons: &'static [&'static str],
}

/// Lines with addresses, after a line with this phrase.
pub struct List {
    pub phrase: &'static str,
    pub shape: Shape,
    /// None: as the whole report.
    pub is_delayed: Option<bool>,
}

/// The position of the address in a line of a list.
#[derive(Clone, Copy)]
pub enum Shape {
    /// The address is alone in its line but for a remark in brackets: the reason is on the lines after it, or elsewhere.
    Alone,
    /// At the beginning; a reason may follow.
    Leading,
    /// As `Leading`, always in angle brackets.
    Angle,
    /// At the beginning, or in brackets anywhere.
    Within,
    /// The commands to the other server, and its answers.
    Transcript,
}

/// A phrase that an address follows in the same line.
pub struct Label {
    pub phrase: &'static str,
    pub is_delayed: Option<bool>,
    /// The line itself is the reason.
    pub is_reason: bool,
}

pub const NONE: Format =
    Format { name: "", openings: &[], is_common: false, lists: &[], labels: &[], reasons: &[] };

pub const fn list(phrase: &'static str, shape: Shape) -> List {
    List { phrase, shape, is_delayed: None }
}

pub const fn failed(phrase: &'static str, shape: Shape) -> List {
    List { phrase, shape, is_delayed: Some(false) }
}

pub const fn delayed(phrase: &'static str, shape: Shape) -> List {
    List { phrase, shape, is_delayed: Some(true) }
}

pub const fn label(phrase: &'static str) -> Label {
    Label { phrase, is_delayed: None, is_reason: false }
}

pub const fn reason(phrase: &'static str) -> Label {
    Label { phrase, is_delayed: None, is_reason: true }
}
