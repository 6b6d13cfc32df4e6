//! Rules for an endpoint's answer: its effect on the delivery and on the endpoint's health. Pure functions of the answer, the stored
//! columns and the time, so that every host decides the same.

use base::retry_after;
use model::webhook::{AttemptError, DeliveryStatus};
use runtime::{PostError, PostResponse};
use storage::webhooks::deliveries::Health;

/// Waits after the first, second, … failed attempt, ms: 12 attempts in 83.6 hours.
const WAITS_MS: [i64; 11] = [
    5_000,
    5 * MINUTE_MS,
    30 * MINUTE_MS,
    2 * HOUR_MS,
    5 * HOUR_MS,
    10 * HOUR_MS,
    10 * HOUR_MS,
    14 * HOUR_MS,
    14 * HOUR_MS,
    14 * HOUR_MS,
    14 * HOUR_MS,
];
const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
/// Longest pause for one answer.
const LONGEST_RETRY_AFTER_MS: i64 = 24 * HOUR_MS;
/// Consecutive failures after which an endpoint is probed: one attempt, then a pause.
pub const PROBING_AFTER: i64 = 10;
const FIRST_PROBE_MS: i64 = 30_000;
const FIRST_OVERLOAD_MS: i64 = 60_000;
const LONGEST_PAUSE_MS: i64 = 15 * MINUTE_MS;
/// An endpoint that has only failed for this long is disabled.
const FAILING_FOR_MS: i64 = 5 * 24 * HOUR_MS;
/// Fewest failures before an endpoint is disabled.
const FEWEST_FAILURES: i64 = 3;

/// The classification of an answer, or of its absence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HealthVerdict {
    Delivered,
    /// The endpoint is gone for good.
    Gone,
    /// To be retried.
    Failed {
        error: AttemptError,
        pause: EndpointPause,
    },
}

/// The pause that an endpoint asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EndpointPause {
    None,
    /// Until this time (Unix ms), as the endpoint said.
    Until(i64),
    /// Overloaded, without a time.
    Overloaded,
}

/// Classifies an answer that arrived at `now`, or its absence.
pub fn classify(answer: &Result<PostResponse, PostError>, now: i64) -> HealthVerdict {
    let failed = |error, pause| HealthVerdict::Failed { error, pause };
    let posted = match answer {
        Ok(posted) => posted,
        Err(e) => return failed(error_of(e), EndpointPause::None),
    };
    match posted.status {
        200..=299 => HealthVerdict::Delivered,
        410 => HealthVerdict::Gone,
        429 | 502 | 503 | 504 => {
            let asked = posted.retry_after.as_deref().and_then(|text| retry_at(text, now));
            failed(AttemptError::Http, asked.map_or(EndpointPause::Overloaded, EndpointPause::Until))
        }
        300..=399 => failed(AttemptError::Redirect, EndpointPause::None),
        _ => failed(AttemptError::Http, EndpointPause::None),
    }
}

fn error_of(e: &PostError) -> AttemptError {
    match e {
        PostError::Dns => AttemptError::Dns,
        PostError::Connect => AttemptError::Connect,
        PostError::Tls => AttemptError::Tls,
        PostError::Timeout => AttemptError::Timeout,
        PostError::BlockedAddress => AttemptError::BlockedAddress,
        PostError::Http(_) => AttemptError::Http,
    }
}

/// The time (Unix ms) at which an endpoint with `Retry-After` may be tried again, at most a day from now. None: the value is neither
/// seconds nor a date.
pub fn retry_at(asked: &str, now: i64) -> Option<i64> {
    retry_after::retry_at(asked, now).map(|at| at.min(now.saturating_add(LONGEST_RETRY_AFTER_MS)))
}

/// The due time of the attempt after failed attempt `n` (from 1); none if that was the last one. `random` adds up to a fifth of the wait,
/// so that deliveries that failed together are not retried together.
pub fn next_attempt_at(n: i64, now: i64, random: u8) -> Option<i64> {
    let wait = WAITS_MS.get(usize::try_from(n - 1).ok()?)?;
    Some(now + wait + wait / 5 * i64::from(random) / i64::from(u8::MAX))
}

/// Returns the status of a delivery whose attempt `n` (from 1) ended at `now`, and the due time of the next attempt. `random`: see
/// `next_attempt_at`.
pub fn delivery_after(n: i64, verdict: HealthVerdict, now: i64, random: u8) -> (DeliveryStatus, Option<i64>) {
    match verdict {
        HealthVerdict::Delivered => (DeliveryStatus::Delivered, None),
        HealthVerdict::Gone => (DeliveryStatus::Discarded, None),
        HealthVerdict::Failed { pause, .. } => match (next_attempt_at(n, now, random), pause) {
            (None, _) => (DeliveryStatus::Failed, None),
            (Some(at), EndpointPause::Until(asked)) => (DeliveryStatus::Pending, Some(at.max(asked))),
            (Some(at), _) => (DeliveryStatus::Pending, Some(at)),
        },
    }
}

/// An attempt that has ended.
#[derive(Clone, Debug)]
pub struct AttemptEnd {
    /// Begin and end, Unix ms.
    pub began: i64,
    pub ended: i64,
    pub verdict: HealthVerdict,
    /// JSON of a `DeliveryFailure`, if it failed.
    pub failure: Option<String>,
}

/// The health of an endpoint after an attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct After {
    pub health: Health,
    /// The reason to disable it: `gone_410` or `failures_5d`.
    pub disabled: Option<&'static str>,
}

/// Returns the health of an endpoint after an attempt.
///
/// Attempts run concurrently. One that fails while the endpoint is already paused belongs to the same outage and is not counted: a single
/// short outage would otherwise count as many failures as there are concurrent attempts. One that succeeds but began before the last
/// failure does not end a pause that was set after it began.
pub fn after(health: &Health, attempt: &AttemptEnd) -> After {
    let now = attempt.ended;
    let pause = match attempt.verdict {
        HealthVerdict::Delivered => {
            let is_older = health.last_failure_at.is_some_and(|at| attempt.began < at);
            let health = Health {
                not_before: health.not_before.filter(|_| is_older),
                first_failure_at: None,
                consecutive_failures: 0,
                last_success_at: Some(now),
                ..health.clone()
            };
            return After { health, disabled: None };
        }
        HealthVerdict::Gone => EndpointPause::None,
        HealthVerdict::Failed { pause, .. } => pause,
    };
    let is_left_alone = health.not_before.is_some_and(|until| until > now);
    let failures = health.consecutive_failures + i64::from(!is_left_alone);
    let first_failure_at = health.first_failure_at.unwrap_or(now);
    let probe = (failures >= PROBING_AFTER && !is_left_alone)
        .then(|| now + double_pause(FIRST_PROBE_MS, failures - PROBING_AFTER));
    let disabled = match attempt.verdict {
        HealthVerdict::Gone => Some("gone_410"),
        _ if failures >= FEWEST_FAILURES && now - first_failure_at >= FAILING_FOR_MS => Some("failures_5d"),
        _ => None,
    };
    let health = Health {
        not_before: health.not_before.max(paused_until(pause, failures, is_left_alone, now)).max(probe),
        first_failure_at: Some(first_failure_at),
        consecutive_failures: failures,
        last_success_at: health.last_success_at,
        last_failure_at: Some(now),
        last_failure: attempt.failure.clone(),
    };
    After { health, disabled }
}

/// Returns the health of an endpoint after an attempt of a replay: it does not count, but a pause that the endpoint asks for is kept.
pub fn after_replay(health: &Health, attempt: &AttemptEnd) -> After {
    let now = attempt.ended;
    let (pause, disabled) = match attempt.verdict {
        HealthVerdict::Delivered => (EndpointPause::None, None),
        HealthVerdict::Gone => (EndpointPause::None, Some("gone_410")),
        HealthVerdict::Failed { pause, .. } => (pause, None),
    };
    let is_left_alone = health.not_before.is_some_and(|until| until > now);
    let paused = paused_until(pause, health.consecutive_failures + 1, is_left_alone, now);
    // A probed endpoint stays probed: the attempt does not count, but the pause is kept.
    let is_probed = health.consecutive_failures >= PROBING_AFTER && !is_left_alone;
    let has_failed = matches!(attempt.verdict, HealthVerdict::Failed { .. });
    let probe = (is_probed && has_failed)
        .then(|| now + double_pause(FIRST_PROBE_MS, health.consecutive_failures - PROBING_AFTER));
    let not_before = health.not_before.max(paused).max(probe);
    After { health: Health { not_before, ..health.clone() }, disabled }
}

/// The time until which the endpoint is paused because of its answer.
fn paused_until(pause: EndpointPause, failures: i64, is_left_alone: bool, now: i64) -> Option<i64> {
    match pause {
        EndpointPause::Until(asked) => Some(asked),
        EndpointPause::Overloaded if !is_left_alone => {
            Some(now + double_pause(FIRST_OVERLOAD_MS, failures - 1))
        }
        EndpointPause::Overloaded | EndpointPause::None => None,
    }
}

fn double_pause(first_ms: i64, times: i64) -> i64 {
    first_ms.saturating_mul(1 << times.clamp(0, 20)).min(LONGEST_PAUSE_MS)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    /// 2026-03-01T08:00:00Z.
    const NOW: i64 = 1_772_352_000_000;
    const DAY_MS: i64 = 24 * HOUR_MS;

    fn answer(status: u16, retry_after: Option<&str>) -> Result<PostResponse, PostError> {
        Ok(PostResponse {
            status,
            retry_after: retry_after.map(str::to_owned),
            snippet: Vec::new(),
            is_whole: true,
        })
    }

    /// The expected effect of an answer to the first attempt, at a healthy endpoint.
    #[derive(Clone, Debug, PartialEq)]
    struct Meaning {
        status: DeliveryStatus,
        /// Time until the next attempt.
        wait: Option<i64>,
        error: Option<AttemptError>,
        failures: i64,
        /// Length of the endpoint's pause.
        pause: Option<i64>,
        disabled: Option<&'static str>,
    }

    fn meaning(answer: &Result<PostResponse, PostError>) -> Meaning {
        let verdict = classify(answer, NOW);
        let (status, next) = delivery_after(1, verdict, NOW, 0);
        let after = after(&Health::default(), &AttemptEnd { began: NOW, ended: NOW, verdict, failure: None });
        Meaning {
            status,
            wait: next.map(|at| at - NOW),
            error: if let HealthVerdict::Failed { error, .. } = verdict { Some(error) } else { None },
            failures: after.health.consecutive_failures,
            pause: after.health.not_before.map(|until| until - NOW),
            disabled: after.disabled,
        }
    }

    fn failed(error: AttemptError) -> Meaning {
        let status = DeliveryStatus::Pending;
        Meaning { status, wait: Some(5_000), error: Some(error), failures: 1, pause: None, disabled: None }
    }

    /// The endpoint asked for a pause of this length.
    fn asked(pause: i64) -> Meaning {
        let wait = Some(pause.max(5_000));
        Meaning { wait, pause: Some(pause), ..failed(AttemptError::Http) }
    }

    #[test]
    fn each_answer_has_one_meaning_for_the_delivery_and_one_for_the_endpoint() {
        let well = Meaning {
            status: DeliveryStatus::Delivered,
            wait: None,
            error: None,
            failures: 0,
            pause: None,
            disabled: None,
        };
        let gone = Meaning {
            status: DeliveryStatus::Discarded,
            failures: 1,
            disabled: Some("gone_410"),
            ..well.clone()
        };
        for status in [200, 201, 202, 204, 226, 299] {
            assert_eq!(meaning(&answer(status, None)), well, "{status}");
            assert_eq!(meaning(&answer(status, Some("60"))), well, "{status}");
        }
        for retry_after in [None, Some("60")] {
            assert_eq!(meaning(&answer(410, retry_after)), gone, "{retry_after:?}");
        }
        for status in [300, 301, 302, 303, 304, 307, 308] {
            assert_eq!(meaning(&answer(status, None)), failed(AttemptError::Redirect), "{status}");
        }
        for status in [101, 400, 401, 403, 404, 405, 408, 409, 413, 418, 422, 451, 500, 501, 505, 599] {
            assert_eq!(meaning(&answer(status, None)), failed(AttemptError::Http), "{status}");
        }
        for (status, retry_after) in [(500, "60"), (404, "60")] {
            assert_eq!(meaning(&answer(status, Some(retry_after))), failed(AttemptError::Http), "{status}");
        }
        let overloaded = Meaning { pause: Some(60_000), ..failed(AttemptError::Http) };
        for status in [429, 502, 503, 504] {
            for retry_after in [None, Some(""), Some("soon"), Some("-5"), Some("1.5")] {
                assert_eq!(meaning(&answer(status, retry_after)), overloaded, "{status} {retry_after:?}");
            }
            assert_eq!(meaning(&answer(status, Some("120"))), asked(120_000), "{status}");
        }
        for (error, expected) in [
            (PostError::Dns, AttemptError::Dns),
            (PostError::Connect, AttemptError::Connect),
            (PostError::Tls, AttemptError::Tls),
            (PostError::Timeout, AttemptError::Timeout),
            (PostError::BlockedAddress, AttemptError::BlockedAddress),
            (PostError::Http(String::new()), AttemptError::Http),
        ] {
            assert_eq!(meaning(&Err(error)), failed(expected));
        }
    }

    #[test]
    fn retry_after_is_seconds_or_a_date_and_at_most_a_day() {
        for (text, pause) in [
            ("0", 0),
            ("7", 7_000),
            (" 3600 ", HOUR_MS),
            ("999999999", DAY_MS),
            ("99999999999999999999", DAY_MS),
            ("Sun, 01 Mar 2026 09:00:00 GMT", HOUR_MS),
            // The day of the week is wrong.
            ("Mon, 01 Mar 2026 09:00:00 GMT", HOUR_MS),
            ("Sunday, 01-Mar-26 09:00:00 GMT", HOUR_MS),
            ("Sun Mar  1 09:00:00 2026", HOUR_MS),
            ("Thu Mar 12 09:00:00 2026", DAY_MS),
            ("Thu, 01 Jan 2026 00:00:00 GMT", 0),
            ("Sunday, 06-Nov-94 08:49:37 GMT", 0),
        ] {
            assert_eq!(retry_at(text, NOW), Some(NOW + pause), "{text}");
            assert_eq!(meaning(&answer(503, Some(text))), asked(pause), "{text}");
        }
        for text in ["", "soon", "-5", "1.5", "2026-03-01T09:00:00Z", "Sunday", "Sun, ", "é, 1", "Sun Mar"] {
            assert_eq!(retry_at(text, NOW), None, "{text}");
        }
    }

    #[test]
    fn twelve_attempts_take_more_than_eighty_hours() {
        let mut now = 0;
        for n in 1..12 {
            now = next_attempt_at(n, now, 0).unwrap();
        }
        assert!((80 * HOUR_MS..84 * HOUR_MS).contains(&now), "{now}");
        assert_eq!(next_attempt_at(12, now, 0), None);
        assert_eq!(next_attempt_at(1, 0, u8::MAX), Some(6_000));
        let verdict =
            HealthVerdict::Failed { error: AttemptError::Http, pause: EndpointPause::Until(NOW + DAY_MS) };
        assert_eq!(delivery_after(12, verdict, NOW, 0), (DeliveryStatus::Failed, None));
    }

    const FAILED: HealthVerdict =
        HealthVerdict::Failed { error: AttemptError::Connect, pause: EndpointPause::None };
    const OVERLOADED: HealthVerdict =
        HealthVerdict::Failed { error: AttemptError::Http, pause: EndpointPause::Overloaded };

    fn ended(verdict: HealthVerdict, now: i64) -> AttemptEnd {
        AttemptEnd { began: now, ended: now, verdict, failure: None }
    }

    #[test]
    fn an_endpoint_that_fails_is_probed_and_then_disabled() {
        let mut health = Health::default();
        for now in 1..10 {
            health = after(&health, &ended(FAILED, now)).health;
        }
        assert_eq!((health.consecutive_failures, health.not_before), (9, None));
        let mut now = 10;
        let mut pauses = Vec::new();
        while pauses.len() < 7 {
            health = after(&health, &ended(FAILED, now)).health;
            let until = health.not_before.unwrap();
            pauses.push((until - now) / 1_000);
            now = until;
        }
        assert_eq!(pauses, [30, 60, 120, 240, 480, 900, 900]);
        let late = after(&health, &ended(FAILED, FAILING_FOR_MS + 1));
        assert_eq!(late.disabled, Some("failures_5d"));
        let well = after(&late.health, &ended(HealthVerdict::Delivered, FAILING_FOR_MS + 2));
        assert_eq!(
            (well.health.consecutive_failures, well.health.not_before, well.disabled),
            (0, None, None)
        );
    }

    /// Concurrent attempts fail together when the endpoint is overloaded for a moment.
    #[test]
    fn one_outage_counts_once_for_attempts_that_ran_together() {
        let mut health = Health::default();
        for _ in 0..8 {
            health = after(&health, &ended(OVERLOADED, NOW)).health;
        }
        assert_eq!((health.consecutive_failures, health.not_before), (1, Some(NOW + 60_000)));
        // A success that began before the failures arrives: it does not end the pause.
        let older = AttemptEnd { began: NOW - 10, ..ended(HealthVerdict::Delivered, NOW + 5) };
        let after_older = after(&health, &older).health;
        assert_eq!((after_older.consecutive_failures, after_older.not_before), (0, Some(NOW + 60_000)));
        let again = after(&health, &ended(OVERLOADED, NOW + 60_000)).health;
        assert_eq!((again.consecutive_failures, again.not_before), (2, Some(NOW + 180_000)));
    }

    #[test]
    fn a_replay_counts_for_nothing_but_is_heeded() {
        let health = Health { consecutive_failures: 9, first_failure_at: Some(0), ..Health::default() };
        let unchanged = After { health: health.clone(), disabled: None };
        assert_eq!(after_replay(&health, &ended(FAILED, NOW)), unchanged);
        let asked = HealthVerdict::Failed { error: AttemptError::Http, pause: EndpointPause::Until(NOW + 1) };
        let paused = Health { not_before: Some(NOW + 1), ..health.clone() };
        assert_eq!(after_replay(&health, &ended(asked, NOW)).health, paused);
        assert_eq!(after_replay(&health, &ended(HealthVerdict::Delivered, NOW)).health, health);
        assert_eq!(after_replay(&health, &ended(HealthVerdict::Gone, NOW)).disabled, Some("gone_410"));
    }

    /// The rules once more, in their shortest form.
    #[derive(Clone, Debug, Default, PartialEq)]
    struct Model {
        failures: i64,
        failing_since: Option<i64>,
        failed_at: i64,
        alone_until: i64,
    }

    impl Model {
        fn ends(&mut self, began: i64, now: i64, verdict: HealthVerdict) -> Option<&'static str> {
            let (is_gone, pause) = match verdict {
                HealthVerdict::Delivered => {
                    let alone_until = if began < self.failed_at { self.alone_until } else { 0 };
                    *self = Model { failed_at: self.failed_at, alone_until, ..Model::default() };
                    return None;
                }
                HealthVerdict::Gone => (true, EndpointPause::None),
                HealthVerdict::Failed { pause, .. } => (false, pause),
            };
            let was_alone = now < self.alone_until;
            let since = *self.failing_since.get_or_insert(now);
            self.failed_at = now;
            if let EndpointPause::Until(asked) = pause {
                self.alone_until = self.alone_until.max(asked);
            }
            if !was_alone {
                self.failures += 1;
                let seconds = |first: i64, n: i64| (first << n.min(5)).min(900);
                if pause == EndpointPause::Overloaded {
                    self.alone_until = self.alone_until.max(now + 1_000 * seconds(60, self.failures - 1));
                }
                if self.failures >= 10 {
                    self.alone_until = self.alone_until.max(now + 1_000 * seconds(30, self.failures - 10));
                }
            }
            let is_hopeless = self.failures >= 3 && now - since >= 5 * DAY_MS;
            if is_gone { Some("gone_410") } else { is_hopeless.then_some("failures_5d") }
        }
    }

    /// Returns the health as another host reads it from the database.
    fn restarted(health: &Health) -> Health {
        let kept = json!([
            health.not_before,
            health.first_failure_at,
            health.consecutive_failures,
            health.last_success_at,
            health.last_failure_at,
            health.last_failure
        ]);
        let read: Value = serde_json::from_str(&kept.to_string()).unwrap();
        Health {
            not_before: read[0].as_i64(),
            first_failure_at: read[1].as_i64(),
            consecutive_failures: read[2].as_i64().unwrap(),
            last_success_at: read[3].as_i64(),
            last_failure_at: read[4].as_i64(),
            last_failure: read[5].as_str().map(str::to_owned),
        }
    }

    fn verdicts() -> impl Strategy<Value = HealthVerdict> {
        let asked = (0..2 * DAY_MS).prop_map(|ms| {
            let until = retry_at(&(ms / 1_000).to_string(), NOW).map_or(0, |at| at - NOW);
            HealthVerdict::Failed { error: AttemptError::Http, pause: EndpointPause::Until(until) }
        });
        prop_oneof![
            3 => Just(HealthVerdict::Delivered),
            12 => Just(FAILED),
            6 => Just(OVERLOADED),
            3 => asked,
            1 => Just(HealthVerdict::Gone),
        ]
    }

    /// For each attempt: time since the one before, duration, result, and whether the host restarts after it.
    fn steps() -> impl Strategy<Value = Vec<(i64, i64, HealthVerdict, bool)>> {
        let wait = prop_oneof![Just(0_i64), 0..1_000_i64, 0..2 * HOUR_MS, 0..2 * DAY_MS];
        proptest::collection::vec((wait, 0..15_000_i64, verdicts(), any::<bool>()), 1..60)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        /// For any history of an endpoint and any restarts of hosts, each decision equals the model's.
        #[test]
        fn every_decision_is_that_of_the_model(history in steps()) {
            let (mut health, mut model, mut now) = (Health::default(), Model::default(), NOW);
            for (wait, took, verdict, restarts) in history {
                now += wait;
                let verdict = match verdict {
                    HealthVerdict::Failed { error, pause: EndpointPause::Until(ms) } => {
                        HealthVerdict::Failed { error, pause: EndpointPause::Until(now + ms) }
                    }
                    other => other,
                };
                let attempt = AttemptEnd { began: now - took, ended: now, verdict, failure: None };
                let decided = after(&health, &attempt);
                prop_assert_eq!(decided.disabled, model.ends(now - took, now, verdict));
                health = decided.health;
                if restarts {
                    health = restarted(&health);
                }
                prop_assert_eq!(health.consecutive_failures, model.failures);
                prop_assert_eq!(health.not_before.unwrap_or(0), model.alone_until);
                prop_assert_eq!(health.first_failure_at, model.failing_since);
            }
        }
    }
}
