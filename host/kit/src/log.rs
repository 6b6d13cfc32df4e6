//! The log lines of the connector, also of calls that succeed.

use std::sync::Mutex;

use runtime::{Answer, CallObserver, Error, LogLine, ObservedCall};

/// Lines kept of one case.
const MAX_LINES: usize = 10_000;

/// The lines of the present case.
#[derive(Debug, Default)]
pub struct Log(Mutex<Vec<String>>);

impl Log {
    /// The lines since the last time, oldest first: message and fields.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().expect("no panic while noting a line"))
    }
}

impl CallObserver for Log {
    fn line(&self, _: &ObservedCall, line: &LogLine) {
        let mut lines = self.0.lock().expect("no panic while noting a line");
        if lines.len() < MAX_LINES {
            let fields: Vec<String> =
                line.fields.iter().map(|(name, value)| format!(" {name}={value}")).collect();
            lines.push(format!("{}{}", line.message, fields.concat()));
        }
    }

    fn ended(&self, _: &ObservedCall, _: Result<&Answer, &Error>) {}
}
