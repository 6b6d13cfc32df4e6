//! The outcome of an attempt to send a message, and the new state of the message.

use base::error::{Error, Result};
use model::Instant;
use model::email::{DeliveryState, RecipientDelivery, RecipientStatus, SendError};
use model::wire::Source;
use model::wire::email::{RecipientOutcome, Sent};
use storage::outbox::OutboxMessage;

use crate::app::App;
use crate::sending::{SendOptions, is_open, state_of};

/// Delays before a message that was not accepted is tried again, seconds; after the last it is given up. A day in total.
const RETRY_AFTER_S: [i64; 10] = [15, 60, 300, 900, 1_800, 3_600, 7_200, 14_400, 21_600, 36_000];
/// Delays before a message that may have been handed over is searched for again, seconds. Sent folders are updated with a delay.
const LOOK_AFTER_S: [i64; 4] = [5, 30, 120, 600];

/// Longest wait that a provider can ask for, ms.
const LONGEST_WAIT_MS: i64 = 3_600_000;
/// Shortest wait if the provider was not asked at all, ms.
const SHORTEST_HOLD_MS: i64 = 1_000;
/// The error of a message whose hand-over is uncertain.
pub const OUTCOME_UNKNOWN: &str = "outcome_unknown";

/// The outcome of an attempt.
#[derive(Clone)]
pub enum SendOutcome {
    /// The provider reported a result for each recipient.
    Told(Box<Sent>),
    /// It had been handed over, and was found.
    Found(Vec<Source>),
    /// It had been handed over, and the provider had accepted it. The recipients that it named are lost: all that still waited count as
    /// accepted.
    Accepted,
    /// It may have been handed over, and was not found so far.
    NotFound { message: String },
    /// It was not handed over, and can be retried.
    Later { code: String, message: String, retry_after_ms: Option<u64> },
    /// The provider was not asked because of its Retry-After: this is no attempt.
    Held { retry_after_ms: Option<u64> },
    /// It was not handed over, and must not be retried.
    Failed { code: String, message: String },
}

/// Returns the outcome of a failed call.
pub fn of_error(e: &runtime::Error, error: &Error, is_handed_over: bool) -> SendOutcome {
    use runtime::Code;

    let code = error.code().map_or("internal_error", |c| c.as_str()).to_owned();
    let message = e.message.clone();
    if is_handed_over && !is_refusal(e) {
        return SendOutcome::NotFound { message };
    }
    match e.code {
        Code::Invalid | Code::Forbidden | Code::Unsupported | Code::UnsupportedSurface | Code::Conflict => {
            SendOutcome::Failed { code, message }
        }
        _ => SendOutcome::Later { code, message, retry_after_ms: e.retry_after_ms },
    }
}

/// Whether the provider got the message and refused it. The connector's own report decides: it knows its provider. Without one the status
/// decides: a gateway in between knows less (502, 504), and a server that failed (500) or timed out (408) may have continued.
fn is_refusal(e: &runtime::Error) -> bool {
    match e.is_handed_over() {
        Some(is_handed_over) => !is_handed_over,
        None => matches!(e.provider_status, Some(400..=407 | 409..=499 | 503)),
    }
}

/// The changes to store after an attempt.
pub struct OutcomeRecord {
    pub state: DeliveryState,
    pub recipients: Vec<RecipientDelivery>,
    pub error: Option<SendError>,
    pub next_attempt_at: Option<i64>,
    pub handed_over_at: Option<i64>,
    pub accepted_at: Option<i64>,
    pub sources: Vec<Source>,
    pub options: SendOptions,
    pub attempts: i64,
}

pub fn verdict(app: &App, row: &OutboxMessage, outcome: SendOutcome) -> Result<OutcomeRecord> {
    let now = app.clock.now();
    let recipients: Vec<RecipientDelivery> = serde_json::from_str(&row.recipients)?;
    let options: SendOptions = serde_json::from_str(&row.options)?;
    let error = |code: &str, message: &str| SendError {
        code: code.to_owned(),
        message: message.to_owned(),
        at: Some(now),
    };
    let mut verdict = OutcomeRecord {
        state: DeliveryState::Queued,
        recipients,
        error: None,
        next_attempt_at: None,
        handed_over_at: row.handed_over_at,
        accepted_at: row.accepted_at,
        sources: Vec::new(),
        options,
        attempts: row.attempts,
    };
    match outcome {
        SendOutcome::Told(sent) => apply_provider_results(app, row, &mut verdict, *sent),
        SendOutcome::Found(sources) => {
            mark_accepted(&mut verdict, now);
            verdict.sources = sources;
        }
        SendOutcome::Accepted => mark_accepted(&mut verdict, now),
        SendOutcome::NotFound { message } => match look_after_s(&verdict.options) {
            Some(seconds) => {
                verdict.options.looks += 1;
                verdict.state = DeliveryState::Sending;
                verdict.handed_over_at = row.handed_over_at.or(Some(app.now()));
                verdict.next_attempt_at = Some(app.now() + seconds * 1_000);
            }
            None => {
                verdict.state = state_of(&verdict.recipients, true);
                let why = format!(
                    "the connection broke while the message was handed over, and it is not to be found: it may have been delivered ({message})"
                );
                verdict.error = Some(error(OUTCOME_UNKNOWN, &why));
            }
        },
        SendOutcome::Held { retry_after_ms } => {
            verdict.next_attempt_at = Some(app.now() + wait_ms(retry_after_ms).max(SHORTEST_HOLD_MS));
            match row.handed_over_at {
                Some(_) => verdict.state = DeliveryState::Sending,
                None => verdict.attempts -= 1,
            }
        }
        SendOutcome::Later { code, message, retry_after_ms } => {
            verdict.error = Some(error(&code, &message));
            // The provider did not accept it, although the hand-over was recorded.
            verdict.handed_over_at = None;
            verdict.next_attempt_at =
                retry_at(app, row).map(|at| at.max(app.now() + wait_ms(retry_after_ms)));
            if verdict.next_attempt_at.is_none() {
                verdict.state = state_of(&verdict.recipients, true);
            }
        }
        SendOutcome::Failed { code, message } => {
            verdict.error = Some(error(&code, &message));
            verdict.handed_over_at = None;
            verdict.state = state_of(&verdict.recipients, true);
        }
    }
    Ok(verdict)
}

/// Marks the message as accepted for all recipients that still waited.
fn mark_accepted(verdict: &mut OutcomeRecord, now: Instant) {
    for recipient in verdict.recipients.iter_mut().filter(|r| is_open(r)) {
        (recipient.status, recipient.at) = (RecipientStatus::Accepted, Some(now));
    }
    verdict.state = state_of(&verdict.recipients, true);
}

/// Returns the delay before the next search, in seconds. None: no more searches, also because this attempt leaves no copy.
fn look_after_s(options: &SendOptions) -> Option<i64> {
    LOOK_AFTER_S.get(options.looks as usize).filter(|_| options.save_to_sent).copied()
}

/// Returns the wait that the provider asks for, ms.
fn wait_ms(retry_after_ms: Option<u64>) -> i64 {
    retry_after_ms.and_then(|ms| i64::try_from(ms).ok()).unwrap_or(0).min(LONGEST_WAIT_MS)
}

fn retry_at(app: &App, row: &OutboxMessage) -> Option<i64> {
    let number = usize::try_from(row.attempts - 1).unwrap_or(0);
    RETRY_AFTER_S.get(number).map(|seconds| app.now() + seconds * 1_000)
}

/// Stores the provider's result for each recipient.
fn apply_provider_results(app: &App, row: &OutboxMessage, verdict: &mut OutcomeRecord, sent: Sent) {
    let now = app.clock.now();
    // Connectors name recipients in the form of the request.
    let of = |email: &str| {
        let asked = ::mail::address::wire(email);
        sent.recipients.iter().find(|r| r.email.eq_ignore_ascii_case(&asked))
    };
    for recipient in &mut verdict.recipients {
        let is_open = is_open(recipient);
        let Some(outcome) = of(&recipient.email).filter(|_| is_open) else { continue };
        recipient.status = status(outcome);
        recipient.smtp_reply.clone_from(&outcome.reply);
        recipient.enhanced_status.clone_from(&outcome.enhanced_status);
        recipient.at = Some(now);
    }
    let waits = verdict.recipients.iter().any(|r| r.status == RecipientStatus::Deferred);
    // The message is handed over to those that were accepted; the others can be retried.
    verdict.handed_over_at = None;
    verdict.options.rounds += 1;
    verdict.options.attempts_of_earlier_rounds = row.attempts;
    if waits {
        verdict.next_attempt_at = retry_at(app, row);
    }
    if verdict.next_attempt_at.is_none() {
        for recipient in &mut verdict.recipients {
            if recipient.status == RecipientStatus::Deferred {
                recipient.status = RecipientStatus::Bounced;
            }
        }
    }
    verdict.state = state_of(&verdict.recipients, verdict.next_attempt_at.is_none());
    if sent.recipients.iter().any(|r| r.accepted) {
        // There is a copy, or none is wanted.
        verdict.options.save_to_sent = false;
        verdict.accepted_at = verdict.accepted_at.max(Some(app.now()));
    }
    verdict.sources = sent.sources;
}

fn status(outcome: &RecipientOutcome) -> RecipientStatus {
    match (outcome.accepted, outcome.temporary) {
        (true, _) => RecipientStatus::Accepted,
        (false, true) => RecipientStatus::Deferred,
        (false, false) => RecipientStatus::Bounced,
    }
}

#[cfg(test)]
mod tests {
    use base::error::refuse;
    use runtime::Code;
    use serde_json::json;

    use super::{SendOutcome, is_refusal, of_error};

    fn failure(status: Option<u16>, detail: &str) -> runtime::Error {
        runtime::Error { provider_status: status, ..runtime::Error::new(Code::Unavailable, detail) }
    }

    #[test]
    fn a_status_says_whether_the_provider_refused() {
        let refused: Vec<u16> = (400..600).filter(|status| is_refusal(&failure(Some(*status), ""))).collect();
        let expected: Vec<u16> = (400..500).filter(|status| *status != 408).chain([503]).collect();
        assert_eq!(refused, expected);
        assert!(!is_refusal(&failure(None, "")), "without an answer it may have gone out");
    }

    #[test]
    fn the_connector_decides_before_the_status() {
        for status in [None, Some(400), Some(408), Some(429), Some(500), Some(503), Some(504)] {
            for is_handed_over in [true, false] {
                let detail = json!({ "handedOver": is_handed_over, "reason": "x" }).to_string();
                assert_eq!(is_refusal(&failure(status, &detail)), !is_handed_over, "{status:?}");
            }
        }
        // Detail that is no valid report leaves the decision to the status.
        for detail in ["not JSON", "{}", "[]", "{\"handedOver\":null}", "{\"handedOver\":\"no\"}"] {
            assert!(is_refusal(&failure(Some(503), detail)) && !is_refusal(&failure(Some(500), detail)));
        }
    }

    /// A 503 after the hand-over: with `handedOver` the message is searched for, without it is sent again.
    #[test]
    fn what_may_have_been_handed_over_is_looked_for() {
        let public = refuse(base::error::Code::ProviderUnavailable, "away");
        let outcome = |detail: &str, is_handed_over: bool| {
            of_error(&failure(Some(503), detail), &public, is_handed_over)
        };
        let detail = json!({ "handedOver": true }).to_string();
        assert!(matches!(outcome(&detail, true), SendOutcome::NotFound { .. }));
        assert!(matches!(outcome("", true), SendOutcome::Later { .. }));
        // The hand-over had not begun.
        assert!(matches!(outcome(&detail, false), SendOutcome::Later { .. }));
    }
}
