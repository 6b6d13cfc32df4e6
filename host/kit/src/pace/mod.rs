//! The pace of a run against a server: the time limit of an answer, derived from the server's earlier answers, and the waits that the
//! server asks for. A run without a server has no pace, because answers are immediate.

use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use http::header::{DATE, RETRY_AFTER};
use http::{HeaderMap, Response, StatusCode};
use runtime::{CarriedBody, Network, TransportError};
use serde::Serialize;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::Instant;

/// The time limit of an answer, as a multiple of the slowest one so far.
const PATIENCE: u32 = 10;
/// The time limit of a call, as a multiple of the time limit of an answer.
const ANSWERS_OF_CALL: u32 = 8;
/// The minimum time for which an injected fault withholds the answer before the connector gets a timeout.
const LEAST_SILENCE: Duration = Duration::from_millis(400);
/// The minimum time limit of a call.
const LEAST_CALL: Duration = Duration::from_secs(10);
/// The time per answer from which a provider counts as slow: a run sends about 430 requests.
const SLOW: Duration = Duration::from_millis(200);
/// Waits from this length on are announced when they begin.
const LONG_WAIT: Duration = Duration::from_secs(10);
/// The maximum number of times that one request is repeated after waits that the provider asked for.
const MAX_REPEATS: u32 = 10;

/// The bounds of a pace.
#[derive(Clone, Copy, Debug)]
pub struct PaceLimits {
    /// The minimum time limit of an answer, even if earlier ones were faster, because machines can be busy.
    pub least_answer: Duration,
    /// The maximum time limit of an answer, and that of the first one.
    pub most_answer: Duration,
    /// The shortest wait before a request is repeated.
    pub least_wait: Duration,
    /// The maximum total time that a run waits because the provider asks for it.
    pub most_wait: Duration,
}

impl Default for PaceLimits {
    fn default() -> Self {
        PaceLimits {
            least_answer: Duration::from_secs(2),
            most_answer: Duration::from_secs(10),
            least_wait: Duration::from_secs(1),
            most_wait: Duration::from_secs(600),
        }
    }
}

/// A failure of the provider itself that the kit did not inject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ProviderTrouble {
    Late,
    Unreachable,
    Limiting,
}

impl ProviderTrouble {
    /// The message, without a full stop.
    pub fn message(self) -> &'static str {
        match self {
            ProviderTrouble::Late => "the provider itself answers too late: no fault was injected",
            ProviderTrouble::Unreachable => "the provider itself cannot be reached: no fault was injected",
            ProviderTrouble::Limiting => "the provider itself limits requests: no fault was injected",
        }
    }

    /// The remedy.
    pub fn help(self) -> &'static str {
        match self {
            ProviderTrouble::Late => {
                "run `switchboard connector record` when the provider is faster: tests then replay its answers and need no provider"
            }
            ProviderTrouble::Unreachable => {
                "start the provider, or correct url under [test] provider in project.toml"
            }
            ProviderTrouble::Limiting => {
                "wait until the provider takes requests again, then run `switchboard connector record`: tests replay its answers and need no provider"
            }
        }
    }
}

/// The pace of one run.
pub struct Pace {
    /// The bounds; none without a server.
    limits: Option<PaceLimits>,
    /// Whether the answers are being recorded.
    is_recorded: bool,
    notices: UnboundedSender<String>,
    told: tokio::sync::Mutex<UnboundedReceiver<String>>,
    state: Mutex<PaceState>,
}

#[derive(Default)]
struct PaceState {
    /// The duration of the slowest answer so far.
    slowest: Option<Duration>,
    /// The time until which no request is sent.
    paused_until: Option<Instant>,
    waits: u32,
    waited: Duration,
    /// Whether the provider asked for a longer wait than the run allows.
    is_wait_refused: bool,
    /// The first failure of the provider in the current case.
    trouble: Option<ProviderTrouble>,
}

impl Pace {
    /// The pace of a run without a server.
    pub fn none() -> Self {
        Pace::new(None, false)
    }

    /// The pace of a run against a server, whose answers may be recorded.
    pub fn of_server(limits: PaceLimits, is_recorded: bool) -> Self {
        Pace::new(Some(limits), is_recorded)
    }

    fn new(limits: Option<PaceLimits>, is_recorded: bool) -> Self {
        let (notices, told) = unbounded_channel();
        Pace { limits, is_recorded, notices, told: tokio::sync::Mutex::new(told), state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, PaceState> {
        self.state.lock().expect("no panic while measuring")
    }

    fn announce(&self, notice: String) {
        // The receiver is gone when the run has ended.
        let _ = self.notices.send(notice);
    }

    /// Waits for the next notice to the author during the run.
    pub async fn notice(&self) -> Option<String> {
        self.told.lock().await.recv().await
    }

    /// Resets the state for a new case.
    pub fn begin_case(&self) {
        self.state().trouble = None;
    }

    /// Returns how the provider itself failed in the current case.
    pub fn trouble(&self) -> Option<ProviderTrouble> {
        self.state().trouble
    }

    /// The current time limit of an answer.
    pub fn answer_limit(&self) -> Duration {
        let Some(limits) = self.limits else { return LEAST_SILENCE };
        match self.state().slowest {
            Some(slowest) => (slowest * PATIENCE).max(limits.least_answer).min(limits.most_answer),
            None => limits.most_answer,
        }
    }

    /// Returns the time for which an injected fault withholds the answer before the connector gets a timeout: the time limit of an answer
    /// at this pace.
    pub fn silence(&self) -> Duration {
        let slowest = self.state().slowest.unwrap_or_default();
        (slowest * PATIENCE).max(LEAST_SILENCE).min(self.answer_limit())
    }

    /// The current time limit of a call, in milliseconds. Waits that the provider asks for are added to it.
    pub fn call_limit_ms(&self) -> u64 {
        let waits = self.limits.map_or(Duration::ZERO, |limits| limits.most_wait);
        let left = waits.saturating_sub(self.state().waited);
        in_ms((self.answer_limit() * ANSWERS_OF_CALL).max(LEAST_CALL) + left)
    }

    /// The maximum durations of an exchange and of a call in this run, in milliseconds, as limits for the sandbox.
    pub fn longest_ms(&self) -> (u64, u64) {
        let Some(limits) = self.limits else { return (in_ms(LEAST_CALL), in_ms(LEAST_CALL)) };
        let exchange = limits.most_answer * (MAX_REPEATS + 1) + limits.most_wait;
        let call = (limits.most_answer * ANSWERS_OF_CALL).max(LEAST_CALL) + limits.most_wait;
        (in_ms(exchange), in_ms(call.max(exchange)))
    }

    /// Sends the request and returns the provider's answer if it comes in time. If the provider asks to wait (429, or 503 with
    /// Retry-After), all requests wait, and this one is repeated afterwards.
    pub async fn send(&self, network: &dyn Network) -> Result<Response<CarriedBody>, TransportError> {
        let mut repeats = 0;
        loop {
            self.pause_over().await;
            let start = Instant::now();
            let answer = match tokio::time::timeout(self.answer_limit(), network.send()).await {
                Ok(Ok(answer)) => answer,
                Ok(Err(error)) => {
                    self.note_failure(&error);
                    return Err(error);
                }
                Err(_) => {
                    self.state().trouble.get_or_insert(ProviderTrouble::Late);
                    return Err(TransportError::timed_out());
                }
            };
            self.note_answer(start.elapsed());
            let Some(wait) = asked_wait(&answer, repeats) else { return Ok(answer) };
            if repeats == MAX_REPEATS || !self.pause(wait, answer.status()) {
                self.state().trouble.get_or_insert(ProviderTrouble::Limiting);
                return Ok(answer);
            }
            repeats += 1;
        }
    }

    async fn pause_over(&self) {
        loop {
            let until = self.state().paused_until.filter(|until| *until > Instant::now());
            let Some(until) = until else { return };
            tokio::time::sleep_until(until).await;
        }
    }

    fn note_failure(&self, error: &TransportError) {
        let trouble = match error {
            error if error.is_late() => ProviderTrouble::Late,
            error if error.is_unreachable() => ProviderTrouble::Unreachable,
            _ => return,
        };
        self.state().trouble.get_or_insert(trouble);
    }

    fn note_answer(&self, took: Duration) {
        let slowest_before = {
            let mut state = self.state();
            let before = state.slowest;
            state.slowest = before.max(Some(took));
            before
        };
        if slowest_before.is_none() && took >= SLOW {
            let then = if self.is_recorded {
                "recording takes a few minutes"
            } else {
                "a run of all cases takes a few minutes; `switchboard connector record` keeps the answers, and tests replay them in seconds"
            };
            self.announce(format!("the provider itself is slow ({}): {then}", format_duration(took)));
        }
    }

    /// Makes all requests wait, and announces it. Returns false if the run would wait too long in total.
    fn pause(&self, wait: Duration, status: StatusCode) -> bool {
        let Some(limits) = self.limits else { return false };
        let wait = wait.max(limits.least_wait);
        let is_first = {
            let mut state = self.state();
            let now = Instant::now();
            let from = state.paused_until.map_or(now, |until| until.max(now));
            let until = from.max(now + wait);
            let more = until - from;
            if state.waited + more > limits.most_wait {
                state.is_wait_refused = true;
                return false;
            }
            state.paused_until = Some(until);
            state.waited += more;
            state.waits += 1;
            state.waits == 1
        };
        if is_first || wait >= LONG_WAIT {
            self.announce(format!(
                "the provider limits requests ({}): waiting {}; a run waits {} at most in all",
                status.as_u16(),
                format_duration(wait),
                format_duration(limits.most_wait)
            ));
        }
        true
    }

    /// The notes on the provider for the report.
    pub fn notes(&self) -> Vec<String> {
        let (limit, state) = (self.answer_limit(), self.state());
        let mut notes = Vec::new();
        if let Some(slowest) = state.slowest.filter(|slowest| *slowest >= SLOW) {
            let (slowest, limit) = (format_duration(slowest), format_duration(limit));
            notes.push(format!(
                "the provider itself is slow: its slowest answer took {slowest}, and an answer may take {limit}; use `switchboard connector record`, and tests need no provider"
            ));
        }
        if state.waits > 0 {
            let times = if state.waits == 1 { "once".to_owned() } else { format!("{} times", state.waits) };
            notes.push(format!(
                "the provider limits requests: waited {times}, {} in all",
                format_duration(state.waited)
            ));
        }
        if state.is_wait_refused {
            let most = self.limits.map_or(Duration::ZERO, |limits| limits.most_wait);
            notes.push(format!(
                "the provider asked to wait longer than a run waits in all ({})",
                format_duration(most)
            ));
        }
        notes
    }
}

/// Returns the time to wait before the request is repeated, if the provider asks for it (RFC 6585, section 4; RFC 9110, section
/// 10.2.3). A 429 without Retry-After means a second, doubled with each repeat.
fn asked_wait(answer: &Response<CarriedBody>, repeats: u32) -> Option<Duration> {
    let after = retry_after(answer.headers());
    match answer.status() {
        StatusCode::TOO_MANY_REQUESTS => {
            Some(after.unwrap_or(Duration::from_secs(1) * (1 << repeats.min(4))))
        }
        StatusCode::SERVICE_UNAVAILABLE => after,
        _ => None,
    }
}

/// Parses Retry-After: seconds, or a date, relative to the answer's Date header because clocks differ.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let value = text(RETRY_AFTER)?;
    if let Ok(seconds) = value.parse::<u32>() {
        return Some(Duration::from_secs(seconds.into()));
    }
    let ms_of =
        |date: &str| jiff::fmt::rfc2822::parse(date).ok().map(|date| date.timestamp().as_millisecond());
    let (until, now) = (ms_of(value)?, ms_of(text(DATE)?)?);
    Some(Duration::from_millis(u64::try_from(until.saturating_sub(now)).unwrap_or_default()))
}

fn in_ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Formats a duration for people: `450 ms`, `4.5 s`, `10 min`.
fn format_duration(time: Duration) -> String {
    let ms = in_ms(time);
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..120_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        _ => format!("{} min", ms.div_ceil(60_000)),
    }
}

#[cfg(test)]
mod tests;
