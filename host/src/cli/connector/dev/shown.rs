//! Prints each call of the connector and each line of its log on the terminal.

use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};

use authoring::{own_frames, placed};
use base::clock::Clock;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use runtime::{Answer, CallObserver, CallStats, Code, Error, LogLevel, LogLine, ObservedCall};

/// The log field in which a connector in JavaScript reports the place of an error.
const STACK: &str = "stack";

/// Prints calls.
pub struct CallPrinter {
    clock: Clock,
    /// The project's folder.
    folder: PathBuf,
}

impl CallPrinter {
    pub fn new(clock: Clock, folder: &Path) -> Self {
        CallPrinter { clock, folder: folder.to_owned() }
    }

    fn say(&self, text: &str) {
        print_line(&self.clock, text);
    }
}

impl fmt::Debug for CallPrinter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Shown")
    }
}

/// Prints a line with the time of day in front.
pub fn print_line(clock: &Clock, text: &str) {
    let now = Timestamp::from_millisecond(clock.now_ms()).unwrap_or_default();
    let time = now.to_zoned(TimeZone::system()).strftime("%H:%M:%S").to_string();
    // A closed terminal is ignored.
    let _ = writeln!(std::io::stderr().lock(), "{time} {text}");
}

impl CallObserver for CallPrinter {
    fn line(&self, _: &ObservedCall, line: &LogLine) {
        let level = match line.level {
            LogLevel::Error => "error",
            LogLevel::Warn => "warn",
            LogLevel::Info => "info",
            LogLevel::Debug => "debug",
        };
        let (stacks, fields): (Vec<_>, Vec<_>) = line.fields.iter().partition(|(name, _)| name == STACK);
        let mut text = format!("  {level:5} {}", line.message);
        for (name, value) in fields {
            text.push_str(&format!(" {name}={value}"));
        }
        for (_, stack) in stacks {
            // The host has escaped line ends.
            let stack = placed(&self.folder, &stack.replace("\\u{a}", "\n"));
            for frame in own_frames(&stack) {
                text.push_str(&format!("\n           {frame}"));
            }
        }
        self.say(&text);
    }

    fn ended(&self, called: &ObservedCall, outcome: Result<&Answer, &Error>) {
        match outcome {
            Ok(answer) => self.say(&format!("✓ {called}  {}{}", figures(&answer.stats), request(called))),
            Err(error) => self.say(&render_failure(&self.folder, called, error)),
        }
    }
}

fn render_failure(folder: &Path, called: &ObservedCall, error: &Error) -> String {
    let mut text = format!("✗ {called}  {}  {}{}", error.code, figures(&error.stats), request(called));
    // For a panic the log has more.
    let why = if error.author.detail.is_empty() { &error.message } else { &error.author.detail };
    if error.code != Code::Panic {
        // A JavaScript stack refers to the bundle: the author's own files are shown instead.
        for line in placed(folder, why).lines() {
            text.push_str(&format!("\n           {line}"));
        }
    }
    for frame in &error.author.frames {
        text.push_str(&format!("\n           {frame}"));
    }
    text
}

/// The API's request that the call is for, if there is one.
fn request(called: &ObservedCall) -> String {
    if called.request_id.is_empty() { String::new() } else { format!("  {}", called.request_id) }
}

fn figures(stats: &CallStats) -> String {
    let requests = match stats.http_requests {
        0 => String::new(),
        1 => "  1 request".to_owned(),
        some => format!("  {some} requests"),
    };
    // With one decimal.
    let tenths = stats.peak_memory * 10 / (1 << 20);
    format!(
        "{} ms  cpu {} ms  {}.{} MiB{requests}",
        stats.wall_us / 1_000,
        stats.cpu_us / 1_000,
        tenths / 10,
        tenths % 10
    )
}

#[cfg(test)]
mod tests {
    use runtime::{Frame, Surface, Verb};

    use super::*;

    #[test]
    fn a_call_that_stopped_tells_where() {
        let called = ObservedCall {
            connector: "notes".into(),
            of: Some((Surface::Tasks, Verb::Changes)),
            op: "tasks".into(),
            request_id: "req_1".into(),
        };
        let mut error = Error::new(Code::Panic, "wasm trap: unreachable");
        error.stats = CallStats {
            wall_us: 4_200,
            cpu_us: 1_900,
            peak_memory: 2_205_000,
            http_requests: 1,
            ..CallStats::default()
        };
        error.author.frames = vec![Frame {
            function: "notes::paper::to_task".into(),
            place: Some(("src/paper.rs".into(), 41)),
            offset: Some(7),
        }];
        let text = render_failure(Path::new("."), &called, &error);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines,
            [
                "✗ tasks.changes  panic  4 ms  cpu 1 ms  2.1 MiB  1 request  req_1",
                "           notes::paper::to_task  src/paper.rs:41",
            ]
        );
    }
}
