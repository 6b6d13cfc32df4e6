//! A bounded queue of log lines, and a thread that writes them to stderr. No request waits for the reader of the log. If the log cannot be
//! written, lines are dropped and counted, and the process continues.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

/// Most bytes of queued lines: a few seconds of a busy host. Later lines are dropped.
const MAX_QUEUED_BYTES: usize = 4 << 20;

/// Pause before a non-blocking write to a full pipe is repeated.
const FULL_PIPE_PAUSE: Duration = Duration::from_millis(10);

/// The queue of this process.
static PROCESS_LOG: OnceLock<Arc<LogQueue>> = OnceLock::new();

/// Lines on their way to the log. Writing to it takes one line at a time, waits for nothing and never fails.
#[derive(Default)]
pub struct LogQueue {
    lines: Mutex<QueuedLines>,
    line_added: Condvar,
    line_settled: Condvar,
}

#[derive(Default)]
struct QueuedLines {
    waiting: VecDeque<Vec<u8>>,
    bytes: usize,
    /// Number of lines ever queued; `settled` counts those that were written or failed.
    queued: u64,
    settled: u64,
    /// Number of dropped lines; `unreported` counts those that are not reported yet.
    dropped: u64,
    unreported: u64,
}

impl LogQueue {
    /// Starts a queue with a thread of its own that writes to `output`. After lines were dropped, `report` gets their number once a line
    /// was written and the queue is empty.
    pub fn start(
        output: impl Write + Send + 'static,
        report: impl Fn(u64) + Send + 'static,
    ) -> io::Result<Arc<LogQueue>> {
        let queue = Arc::new(LogQueue::default());
        let written = queue.clone();
        thread::Builder::new().name("log".to_owned()).spawn(move || written.write_lines(output, report))?;
        Ok(queue)
    }

    /// Waits until all lines so far are written or dropped, at most for `timeout`.
    pub fn wait_until_written(&self, timeout: Duration) {
        let lines = self.lock();
        let queued = lines.queued;
        drop(self.line_settled.wait_timeout_while(lines, timeout, |lines| lines.settled < queued));
    }

    fn lock(&self) -> MutexGuard<'_, QueuedLines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, line: &[u8]) {
        let line = line.to_vec();
        let mut lines = self.lock();
        if lines.bytes + line.len() > MAX_QUEUED_BYTES {
            lines.dropped += 1;
            lines.unreported += 1;
            return;
        }
        lines.bytes += line.len();
        lines.queued += 1;
        lines.waiting.push_back(line);
        drop(lines);
        self.line_added.notify_one();
    }

    fn write_lines(&self, mut output: impl Write, report: impl Fn(u64)) {
        let mut is_cut = false;
        loop {
            let mut line = self.take();
            if is_cut {
                // The previous line was only partly written.
                line.insert(0, b'\n');
            }
            let outcome = write_line(&mut output, &line);
            is_cut = match outcome {
                Ok(()) => false,
                Err(is_begun) => is_cut || is_begun,
            };
            let unreported = self.settle(outcome.is_ok());
            if unreported > 0 {
                report(unreported);
            }
        }
    }

    fn take(&self) -> Vec<u8> {
        let mut lines = self.lock();
        loop {
            if let Some(line) = lines.waiting.pop_front() {
                lines.bytes -= line.len();
                return line;
            }
            lines = self.line_added.wait(lines).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Counts a line that left the queue. Returns the number of dropped lines to report now.
    fn settle(&self, is_written: bool) -> u64 {
        let mut lines = self.lock();
        lines.settled += 1;
        if !is_written {
            lines.dropped += 1;
            lines.unreported += 1;
        }
        let is_time = is_written && lines.waiting.is_empty();
        let unreported = if is_time { std::mem::take(&mut lines.unreported) } else { 0 };
        drop(lines);
        self.line_settled.notify_all();
        unreported
    }
}

impl Write for &LogQueue {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.add(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Opens the queue whose lines go to stderr of this process; `report` as in `LogQueue::start`.
pub fn open(report: impl Fn(u64) + Send + 'static) -> io::Result<Arc<LogQueue>> {
    // A descriptor of its own: `std::io::Stderr` stays locked for as long as a write blocks.
    let stderr = File::from(io::stderr().as_fd().try_clone_to_owned()?);
    let queue = LogQueue::start(stderr, report)?;
    Ok(PROCESS_LOG.get_or_init(|| queue).clone())
}

/// The queue of this process, if it was opened.
pub fn of_process() -> Option<&'static LogQueue> {
    PROCESS_LOG.get().map(|queue| &**queue)
}

/// Lines of this process's log that were dropped.
pub fn dropped_lines() -> u64 {
    of_process().map_or(0, |queue| queue.lock().dropped)
}

/// Writes a line to its end. The error says whether a part of it is written.
fn write_line(output: &mut impl Write, line: &[u8]) -> Result<(), bool> {
    let mut rest = line;
    while !rest.is_empty() {
        match output.write(rest) {
            Ok(0) => return Err(rest.len() < line.len()),
            Ok(written) => rest = rest.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // Another program may have made the pipe or the terminal non-blocking.
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(FULL_PIPE_PAUSE),
            Err(_) => return Err(rest.len() < line.len()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::mpsc::{self, Receiver, Sender};
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use super::{LogQueue, MAX_QUEUED_BYTES};

    const FLUSH_TIMEOUT: Duration = Duration::from_secs(30);

    /// A log whose reader says what each write does.
    struct TestOutput {
        results: Receiver<io::Result<usize>>,
        written: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for TestOutput {
        fn write(&mut self, line: &[u8]) -> io::Result<usize> {
            let result = self.results.recv().unwrap_or(Ok(line.len()));
            let len = result?.min(line.len());
            self.written.lock().unwrap().extend(&line[..len]);
            Ok(len)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct TestLog {
        queue: Arc<LogQueue>,
        results: Sender<io::Result<usize>>,
        written: Arc<Mutex<Vec<u8>>>,
        reports: Receiver<u64>,
    }

    impl TestLog {
        fn start() -> TestLog {
            let (results, received) = mpsc::channel();
            let (report, reports) = mpsc::channel();
            let written = Arc::<Mutex<Vec<u8>>>::default();
            let output = TestOutput { results: received, written: written.clone() };
            let queue = LogQueue::start(output, move |lines| report.send(lines).unwrap()).unwrap();
            TestLog { queue, results, written, reports }
        }

        fn add(&self, line: &str) {
            (&*self.queue).write_all(line.as_bytes()).unwrap();
        }

        fn written(&self) -> String {
            String::from_utf8(self.written.lock().unwrap().clone()).unwrap()
        }

        fn dropped(&self) -> u64 {
            self.queue.lock().dropped
        }
    }

    fn broken() -> io::Result<usize> {
        Err(io::Error::from(io::ErrorKind::BrokenPipe))
    }

    #[test]
    fn lines_that_cannot_be_written_are_counted_and_reported_once() {
        let log = TestLog::start();
        for line in ["a\n", "b\n", "c\n", "d\n"] {
            log.add(line);
        }
        let interrupted = Err(io::Error::from(io::ErrorKind::Interrupted));
        for result in [Ok(9), broken(), broken(), interrupted, Ok(9)] {
            log.results.send(result).unwrap();
        }
        assert_eq!(log.reports.recv_timeout(FLUSH_TIMEOUT), Ok(2));
        assert_eq!((log.written().as_str(), log.dropped()), ("a\nd\n", 2));
        log.add("e\n");
        log.results.send(Ok(9)).unwrap();
        log.queue.wait_until_written(FLUSH_TIMEOUT);
        assert_eq!(log.written(), "a\nd\ne\n");
        assert!(log.reports.try_recv().is_err(), "they are reported once");
    }

    #[test]
    fn a_line_that_was_cut_ends_before_the_next_one() {
        let log = TestLog::start();
        log.add("one\n");
        log.add("two\n");
        for result in [Ok(2), broken(), Ok(9)] {
            log.results.send(result).unwrap();
        }
        assert_eq!(log.reports.recv_timeout(FLUSH_TIMEOUT), Ok(1));
        assert_eq!(log.written(), "on\ntwo\n");
    }

    #[test]
    fn nothing_waits_for_a_log_that_is_not_read() {
        let log = TestLog::start();
        let line = format!("{}\n", "x".repeat(1_023));
        let most = MAX_QUEUED_BYTES / line.len();
        // One line more may be with the thread that writes.
        for _ in 0..most + 11 {
            log.add(&line);
        }
        let dropped = log.dropped();
        assert!((10..=11).contains(&dropped), "{dropped}");
        log.queue.wait_until_written(Duration::from_millis(1));
        // The reader is back.
        drop(log.results);
        assert_eq!(log.reports.recv_timeout(FLUSH_TIMEOUT), Ok(dropped));
        assert_eq!(log.queue.lock().waiting.len(), 0);
    }
}
