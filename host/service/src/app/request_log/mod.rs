//! The request log on its way to the store: requests wait in memory, bounded, and are written every second, never on a request's path. What
//! finds no room is dropped and counted.

pub mod bodies;
pub mod redaction;
pub mod writing;

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use storage::request_log::{RequestEntry, RequestLogMode};
use url::form_urlencoded;

use crate::app::metrics::Metrics;
use crate::app::request_log::bodies::CapturedBodies;
use crate::app::request_log::redaction::KnownWords;

/// Requests that wait at this host, or are being written.
const MAX_ENTRIES: usize = 4_096;
/// Bytes of them.
const MAX_BYTES: usize = 4 << 20;
/// Requests of one application among them: one that fails by the thousand leaves room for others.
const MAX_ENTRIES_OF_APPLICATION: usize = 1_024;
/// Bytes of one application among them.
const MAX_BYTES_OF_APPLICATION: usize = 1 << 20;
/// Milliseconds in which one successful read of an application is logged, the first one.
const SAMPLE_EVERY_MS: i64 = 200;
/// Applications that are remembered; more, and those are forgotten of which nothing waits.
const MAX_APPLICATIONS: usize = 10_000;
/// Bytes that bodies leave free for requests without them.
const RESERVED_BYTES: usize = 256 << 10;
/// Bytes of an entry beside its texts.
const ENTRY_BYTES: usize = 256;
/// Longest text of an entry, in characters.
const MAX_TEXT: usize = 300;

/// A request that is to be logged.
#[derive(Clone, Debug)]
pub struct LoggedRequest {
    pub entry: RequestEntry,
    pub bodies: Option<CapturedBodies>,
}

impl LoggedRequest {
    fn bytes(&self) -> usize {
        let e = &self.entry;
        let texts = [&e.application_id, &e.id, &e.key_id, &e.method, &e.route, &e.path, &e.ip];
        let texts = texts.into_iter().chain(&e.error_code).chain(&e.error_param);
        let bodies = self.bodies.as_ref().map_or(0, CapturedBodies::bytes);
        ENTRY_BYTES + bodies + texts.map(String::len).sum::<usize>()
    }
}

/// The requests that wait to be written.
pub struct RequestLog {
    is_on: bool,
    waiting: Mutex<WaitingRequests>,
    /// The words of the API's document.
    known_words: OnceLock<fn() -> &'static KnownWords>,
}

#[derive(Default)]
struct WaitingRequests {
    requests: VecDeque<LoggedRequest>,
    /// The room that is taken, also by those that are being written.
    taken: LogRoom,
    applications: BTreeMap<String, LoggedApplication>,
    /// The last application whose mode was asked for.
    last_asked: String,
}

/// Requests and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogRoom {
    pub entries: usize,
    pub bytes: usize,
}

impl LogRoom {
    fn has_room(self, bytes: usize, most: LogRoom) -> bool {
        self.entries < most.entries && self.bytes + bytes <= most.bytes
    }

    fn add(&mut self, bytes: usize) {
        self.entries += 1;
        self.bytes += bytes;
    }

    fn remove(&mut self, bytes: usize) {
        self.entries = self.entries.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(bytes);
    }
}

/// An application that sent requests.
#[derive(Default)]
struct LoggedApplication {
    mode: RequestLogMode,
    full_until: Option<i64>,
    /// The time of the last successful read that was logged, ms since 1970.
    last_read_at: Option<i64>,
    taken: LogRoom,
    /// Entries that were written since the oldest ones were last removed.
    written: u64,
}

impl LoggedApplication {
    fn takes(&mut self, at: i64, is_sample: bool) -> bool {
        if self.mode == RequestLogMode::Off {
            return false;
        }
        if !is_sample {
            return true;
        }
        let is_soon = |last: i64| (0..SAMPLE_EVERY_MS).contains(&(at - last));
        if self.last_read_at.is_some_and(is_soon) {
            return false;
        }
        self.last_read_at = Some(at);
        true
    }

    fn keeps_bodies(&self, at: i64) -> bool {
        let is_full = self.full_until.is_some_and(|until| at < until);
        self.mode != RequestLogMode::Off && (is_full || self.mode == RequestLogMode::Shapes)
    }
}

impl RequestLog {
    /// An empty log; one that is off takes nothing.
    pub fn new(is_on: bool) -> Self {
        RequestLog { is_on, waiting: Mutex::default(), known_words: OnceLock::new() }
    }

    /// Says where the words of the API's document are, which shapes of bodies may show.
    pub fn set_known_words(&self, words: fn() -> &'static KnownWords) {
        self.known_words.get_or_init(|| words);
    }

    /// Whether a request of an application at this time (ms since 1970) is to be logged. Of samples, which are successful reads, the first in
    /// a while is.
    pub fn takes(&self, application_id: &str, at: i64, is_sample: bool) -> bool {
        if !self.is_on {
            return false;
        }
        let mut waiting = self.lock();
        match waiting.applications.get_mut(application_id) {
            Some(application) => application.takes(at, is_sample),
            None => waiting.application(application_id).takes(at, is_sample),
        }
    }

    /// Whether the application keeps bodies of requests at this time, as far as this host knows.
    pub fn keeps_bodies(&self, application_id: &str, at: i64) -> bool {
        if !self.is_on {
            return false;
        }
        let waiting = self.lock();
        waiting.applications.get(application_id).is_some_and(|application| application.keeps_bodies(at))
    }

    /// Queues a request; without its bodies where there is no room for these, and not at all where there is none for it.
    pub fn add(&self, metrics: &Metrics, mut logged: LoggedRequest) {
        let mut waiting = self.lock();
        let mut bytes = logged.bytes();
        if logged.bodies.is_some() && !waiting.has_room(&logged.entry.application_id, bytes + RESERVED_BYTES)
        {
            logged.bodies = None;
            bytes = logged.bytes();
        }
        if !waiting.has_room(&logged.entry.application_id, bytes) {
            metrics.request_log_dropped.inc();
            return;
        }
        waiting.taken.add(bytes);
        waiting.application(&logged.entry.application_id).taken.add(bytes);
        waiting.requests.push_back(logged);
    }

    /// The room that is taken now.
    pub fn taken(&self) -> LogRoom {
        self.lock().taken
    }

    /// Notes what the log of an application keeps, so that it does not take a second until this host knows.
    pub fn set_mode(&self, application_id: &str, mode: RequestLogMode, full_until: Option<i64>) {
        let mut waiting = self.lock();
        let application = waiting.application(application_id);
        (application.mode, application.full_until) = (mode, full_until);
    }

    /// At most so many of the applications that this host knows: each time those after the ones of the time before.
    fn next_applications(&self, limit: usize) -> Vec<String> {
        let mut waiting = self.lock();
        let after: (Bound<&str>, Bound<&str>) =
            (Bound::Excluded(waiting.last_asked.as_str()), Bound::Unbounded);
        let next = waiting.applications.range::<str, _>(after).take(limit);
        let next: Vec<String> = next.map(|(id, _)| id.clone()).collect();
        // Fewer: these were the last ones, and the first are next.
        let last = next.last().filter(|_| next.len() == limit).cloned();
        waiting.last_asked = last.unwrap_or_default();
        next
    }

    /// Counts entries of an application that were written. Returns whether it is time to remove its oldest ones.
    fn count_written(&self, application_id: &str, entries: u64, limit: u64) -> bool {
        let mut waiting = self.lock();
        let application = waiting.application(application_id);
        application.written += entries;
        let is_due = application.written >= limit;
        if is_due {
            application.written = 0;
        }
        is_due
    }

    /// Takes at most so many requests out; their room stays taken until they are settled.
    fn take(&self, limit: usize) -> Vec<LoggedRequest> {
        let mut waiting = self.lock();
        let count = waiting.requests.len().min(limit);
        waiting.requests.drain(..count).collect()
    }

    /// Gives the room of requests back that were written or dropped.
    fn settle(&self, requests: &[LoggedRequest]) {
        let mut waiting = self.lock();
        for logged in requests {
            let bytes = logged.bytes();
            waiting.taken.remove(bytes);
            if let Some(application) = waiting.applications.get_mut(&logged.entry.application_id) {
                application.taken.remove(bytes);
            }
        }
    }

    /// Puts requests back that could not be written now.
    fn put_back(&self, requests: Vec<LoggedRequest>) {
        let mut waiting = self.lock();
        for logged in requests.into_iter().rev() {
            waiting.requests.push_front(logged);
        }
    }

    fn lock(&self) -> MutexGuard<'_, WaitingRequests> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WaitingRequests {
    fn application(&mut self, id: &str) -> &mut LoggedApplication {
        if !self.applications.contains_key(id) && self.applications.len() >= MAX_APPLICATIONS {
            self.applications.retain(|_, application| application.taken.entries > 0);
        }
        self.applications.entry(id.to_owned()).or_default()
    }

    fn has_room(&mut self, application_id: &str, bytes: usize) -> bool {
        let all = LogRoom { entries: MAX_ENTRIES, bytes: MAX_BYTES };
        let of_one = LogRoom { entries: MAX_ENTRIES_OF_APPLICATION, bytes: MAX_BYTES_OF_APPLICATION };
        self.taken.has_room(bytes, all) && self.application(application_id).taken.has_room(bytes, of_one)
    }
}

/// A path as it is logged: without keys that a client put into it, without control characters, and of bounded length.
pub fn logged_path(path: &str) -> String {
    let segments: Vec<String> = path.split('/').map(logged_segment).collect();
    truncate(&segments.join("/"))
}

/// A segment of a path, or the place of a key that it has, also of one that is percent-encoded.
fn logged_segment(segment: &str) -> String {
    let mut decoded = form_urlencoded::parse(segment.as_bytes());
    match decoded.any(|(name, value)| redaction::has_key(&name) || redaction::has_key(&value)) {
        true => "‹key›".to_owned(),
        false => segment.to_owned(),
    }
}

/// A text of a request as it is logged: without keys, without control characters, and of bounded length.
pub fn logged_text(text: &str) -> String {
    match redaction::has_key(text) {
        true => "‹key›".to_owned(),
        false => truncate(text),
    }
}

fn truncate(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(MAX_TEXT).collect()
}

#[cfg(test)]
pub mod tests {
    use base::clock::Entropy;
    use base::keyring::Keyring;
    use bytes::Bytes;

    use super::*;

    /// A request of an application.
    pub fn entry(application_id: &str, number: usize) -> RequestEntry {
        RequestEntry {
            application_id: application_id.to_owned(),
            id: format!("req_{number}"),
            key_id: "key_1".to_owned(),
            at: 1_000,
            method: "GET".to_owned(),
            route: "/v1/calendars".to_owned(),
            path: "/v1/calendars".to_owned(),
            status: 500,
            ms: 3,
            ip: "127.0.0.1".to_owned(),
            error_code: None,
            error_param: None,
            bytes_in: 0,
            bytes_out: 0,
            has_bodies: false,
        }
    }

    fn plain(application_id: &str, number: usize) -> LoggedRequest {
        LoggedRequest { entry: entry(application_id, number), bodies: None }
    }

    #[test]
    fn a_full_log_drops_and_counts_and_leaves_room_for_others() {
        let (log, metrics) = (RequestLog::new(true), Metrics::default());
        for number in 0..2_000 {
            log.add(&metrics, plain("app_loud", number));
        }
        assert_eq!(log.taken().entries, MAX_ENTRIES_OF_APPLICATION);
        assert_eq!(metrics.request_log_dropped.get(), 2_000 - MAX_ENTRIES_OF_APPLICATION as u64);
        for number in 0..10_000 {
            log.add(&metrics, plain(&format!("app_{}", number % 50), number));
        }
        assert_eq!(log.taken().entries, MAX_ENTRIES);
        assert!(log.taken().bytes <= MAX_BYTES);
        // What is being written has its room until it is.
        let taken = log.take(1_000);
        assert_eq!((taken.len(), log.taken().entries), (1_000, MAX_ENTRIES));
        log.add(&metrics, plain("app_60", 1));
        assert_eq!(log.taken().entries, MAX_ENTRIES);
        log.settle(&taken);
        log.add(&metrics, plain("app_60", 2));
        assert_eq!(log.taken().entries, MAX_ENTRIES - 999);
        let rest = log.take(usize::MAX);
        log.settle(&rest);
        assert_eq!(log.taken(), LogRoom::default());
    }

    #[test]
    fn bodies_without_room_are_left_out_and_their_requests_are_not() {
        let (log, metrics) = (RequestLog::new(true), Metrics::default());
        let body = Bytes::from(vec![b' '; bodies::MAX_BODY_BYTES]);
        for number in 0..100 {
            let bodies = CapturedBodies { request: Some(body.clone()), response: Some(body.clone()) };
            log.add(&metrics, LoggedRequest { bodies: Some(bodies), ..plain("app_1", number) });
        }
        let taken = log.take(usize::MAX);
        assert_eq!((taken.len(), metrics.request_log_dropped.get()), (100, 0));
        let with_bodies = taken.iter().filter(|logged| logged.bodies.is_some()).count();
        assert!((20..=32).contains(&with_bodies), "{with_bodies}");
        log.put_back(taken);
        assert_eq!(log.take(1)[0].entry.id, "req_0", "they keep their order");
    }

    #[test]
    fn one_read_in_a_while_is_taken() {
        let log = RequestLog::new(true);
        let taken: Vec<bool> =
            [1_000, 1_000, 1_199, 1_200, 900].into_iter().map(|at| log.takes("app_1", at, true)).collect();
        assert_eq!(taken, [true, false, false, true, true], "a clock may go back");
        assert!(log.takes("app_2", 1_000, true) && log.takes("app_1", 900, false));
        log.set_mode("app_1", RequestLogMode::Off, Some(i64::MAX));
        assert!(!log.takes("app_1", 5_000, false) && !log.keeps_bodies("app_1", 5_000));
        assert!(!RequestLog::new(false).takes("app_1", 1, false));
    }

    #[test]
    fn the_modes_of_all_applications_are_asked_for_in_turn() {
        let log = RequestLog::new(true);
        for number in 0..5 {
            log.takes(&format!("app_{number}"), 1_000, true);
        }
        let asked: Vec<String> = (0..4).map(|_| log.next_applications(2).join(" ")).collect();
        assert_eq!(asked, ["app_0 app_1", "app_2 app_3", "app_4", "app_0 app_1"]);
    }

    #[test]
    fn bodies_are_wanted_by_mode_and_time() {
        let log = RequestLog::new(true);
        assert!(!log.keeps_bodies("app_1", 10));
        log.set_mode("app_1", RequestLogMode::On, Some(10));
        assert!(log.keeps_bodies("app_1", 9) && !log.keeps_bodies("app_1", 10));
        log.set_mode("app_1", RequestLogMode::Shapes, None);
        assert!(log.keeps_bodies("app_1", 10) && !log.keeps_bodies("app_2", 10));
    }

    #[test]
    fn a_path_has_no_key_and_no_control_characters() {
        let keyring = Keyring::new(&[7; 32], Entropy::seeded(1)).expect("a master key");
        let key = keyring.new_api_key().key;
        assert_eq!(logged_path(&format!("/v1/{key}/x")), "/v1/‹key›/x");
        for hidden in [key.replace('_', "%5F"), format!("{key}:send"), format!("Bearer%20{key}")] {
            assert_eq!(logged_path(&format!("/v1/{hidden}/x")), "/v1/‹key›/x");
        }
        assert_eq!(logged_text(&format!("settings.{key}")), "‹key›");
        assert_eq!(logged_text("to[0].email"), "to[0].email");
        assert_eq!(logged_path("/v1/a\u{0}b"), "/v1/ab");
        assert_eq!(logged_path(&"ü".repeat(1_000)).chars().count(), MAX_TEXT);
    }
}
