//! A call's log: lines of the guest (`log` import, stdout, stderr) for the connector's author, capped and made harmless.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// The level of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
}

impl LogLevel {
    /// The level of this name; anything unknown is `Info`.
    pub(crate) fn parse(name: &str) -> Self {
        match name {
            "error" => LogLevel::Error,
            "warn" => LogLevel::Warn,
            "debug" => LogLevel::Debug,
            _ => LogLevel::Info,
        }
    }

    fn name(self) -> &'static str {
        match self {
            LogLevel::Error => "error",
            LogLevel::Warn => "warn",
            LogLevel::Info => "info",
            LogLevel::Debug => "debug",
        }
    }
}

/// One line. Control characters are escaped, so that a line cannot pretend to be two.
#[derive(Clone, Debug)]
pub struct LogLine {
    pub level: LogLevel,
    pub message: String,
    pub fields: Vec<(String, String)>,
}

/// Lines kept for an error report.
const KEPT: usize = 50;
/// Fields kept of one line.
const FIELDS: usize = 16;

/// A callback for each line that is kept, as it is written.
pub(crate) type LineObserver = Box<dyn Fn(&LogLine) + Send>;

/// The log of one call. Cheap to clone; all clones are one log.
#[derive(Clone)]
pub(crate) struct LogBook(Arc<Mutex<Book>>);

struct Book {
    connector: Arc<str>,
    request_id: String,
    seen_by: Option<LineObserver>,
    max_lines: usize,
    max_line_bytes: usize,
    seen: u64,
    kept: VecDeque<LogLine>,
}

impl LogBook {
    /// A log for one call of `connector`: `max_lines` lines of `max_line_bytes` bytes are passed on, the rest is counted.
    pub(crate) fn new(
        (connector, request_id): (Arc<str>, &str),
        (max_lines, max_line_bytes): (usize, usize),
        seen_by: Option<LineObserver>,
    ) -> Self {
        LogBook(Arc::new(Mutex::new(Book {
            connector,
            request_id: request_id.to_owned(),
            seen_by,
            max_lines,
            max_line_bytes,
            seen: 0,
            kept: VecDeque::new(),
        })))
    }

    /// Adds a line, or counts it as dropped when the call has used up its lines.
    pub(crate) fn line(&self, level: LogLevel, message: &str, fields: &[(String, String)]) {
        let mut book = self.0.lock().expect("no panic while logging");
        book.seen += 1;
        if book.seen > book.max_lines as u64 {
            return;
        }
        let line = LogLine {
            level,
            message: harmless(message, book.max_line_bytes),
            fields: fields
                .iter()
                .take(FIELDS)
                .map(|(name, value)| (harmless(name, 64), harmless(value, book.max_line_bytes / 4)))
                .collect(),
        };
        emit(&book, &line);
        if let Some(see) = &book.seen_by {
            see(&line);
        }
        if book.kept.len() == KEPT {
            book.kept.pop_front();
        }
        book.kept.push_back(line);
    }

    /// The last lines, oldest first, and the number of dropped ones.
    pub(crate) fn report(&self) -> (Vec<LogLine>, u64) {
        let book = self.0.lock().expect("no panic while logging");
        let dropped = book.seen.saturating_sub(book.kept.len() as u64);
        (book.kept.iter().cloned().collect(), dropped)
    }
}

/// Writes the line to the host's log, at debug level whatever the guest's level is: lines may contain data of the account, and
/// operators have to enable them explicitly.
fn emit(book: &Book, line: &LogLine) {
    let (connector, request_id, message) = (&*book.connector, &*book.request_id, &*line.message);
    let guest_level = line.level.name();
    tracing::debug!(target: "connector", connector, request_id, guest_level, fields = ?line.fields, "{message}");
}

/// `text` cut to `max` bytes, with control characters and line separators escaped.
pub(crate) fn harmless(text: &str, max: usize) -> String {
    let mut out = String::with_capacity(text.len().min(max));
    for c in text.chars() {
        if out.len() + c.len_utf8() > max {
            out.push('…');
            break;
        }
        // Direction marks and line separators can make a terminal or a log viewer show another text.
        if c.is_control()
            || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_cannot_pretend_to_be_two() {
        assert_eq!(harmless("a\nb\u{1b}[31m", 100), "a\\u{a}b\\u{1b}[31m");
        assert_eq!(harmless("äöü", 4), "äö…");
    }

    #[test]
    fn lines_over_the_cap_are_counted() {
        let log = LogBook::new(("x".into(), "req"), (3, 100), None);
        for n in 0..10 {
            log.line(LogLevel::Info, &n.to_string(), &[]);
        }
        let (kept, dropped) = log.report();
        assert_eq!((kept.len(), dropped), (3, 7));
    }
}
