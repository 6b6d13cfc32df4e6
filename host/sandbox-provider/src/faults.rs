//! Injected faults: `POST /sandbox/faults` makes the provider fail the account's next requests or notifications, and magic words in a name
//! (the title of an event or a todo, the name of a contact or a folder) make that one write fail. Faults are kept in memory only: a restart
//! removes them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::http::{HeaderValue, Method, StatusCode};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::problem::Problem;

/// The prefix of all paths of the authorization server.
const OAUTH: &str = "/sandbox/oauth/";

/// The paths of the lists in which a collection can be missing.
const LISTS: [&str; 3] = ["/sandbox/v1/calendars", "/sandbox/v1/books", "/sandbox/v1/lists"];

/// The longest delay.
const MAX_DELAY_MS: u64 = 120_000;

/// One injected fault.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Fault {
    /// Status to answer with, 400 to 599, instead of executing the request. None: the request is executed, after `delayMs`.
    pub status: Option<u16>,
    /// The header `Retry-After`, in seconds.
    pub retry_after_s: Option<u32>,
    /// The header `Retry-After` as text instead of seconds, for example a date (RFC 9110, section 10.2.3).
    pub retry_after: Option<String>,
    /// Delay before the request is executed, ms; at most 120,000.
    pub delay_ms: u64,
    /// Delay between executing the request and answering it, ms; at most 120,000.
    pub answer_delay_ms: u64,
    /// Whether the executed request is answered only when the account's faults are deleted, at the latest after 120,000 ms. `GET
    /// /sandbox/faults` shows how many answers are held back.
    pub held_answer: bool,
    /// Whether the request is executed and the connection dropped without an answer.
    pub lost_answer: bool,
    /// Whether events, cards, todos and messages of the answer are malformed: `recurrence`, `emails`, `contactIds` and `folderIds` have
    /// invalid values.
    pub garbled: bool,
    /// For lists of calendars, books and task lists: the id of an entry that the answer lacks, as if it were deleted.
    pub missing: Option<String>,
    /// For `POST …/video`: the meeting is created without an address and stays `pending` until its event is changed with `{"conference":
    /// {"status": "ready"}}`.
    pub pending_video: bool,
    /// At the token and revocation endpoints: this error (RFC 6749, section 5.2) instead of executing the request, for example
    /// `invalid_grant`.
    pub oauth_error: Option<String>,
    /// At the token endpoint: fields that the response omits. Without `refresh_token` the used one stays valid.
    pub omit: Vec<TokenField>,
    /// At the token endpoint: the only scopes that are granted.
    pub scopes: Option<Vec<String>>,
    /// Affects a notification of a change instead of a request: it is not sent.
    pub push_lost: bool,
    /// Affects a notification of a change instead of a request: it is sent twice.
    pub push_twice: bool,
    /// Affects a notification of a change instead of a request: delay before it is sent, ms; at most 120,000.
    pub push_late_ms: u64,
    /// Whether only requests with a `syncToken` are affected: with `status` 410 that is an expired token.
    pub sync_token_only: bool,
    /// The only affected method.
    pub method: Option<String>,
    /// Prefix of the affected paths, for example `/sandbox/v1/calendars`. None: all paths except the authorization server's, of which
    /// `/sandbox/oauth/token` and `/sandbox/oauth/revoke` can fail. For a notification, the watched path, for example
    /// `/sandbox/v1/calendars/work/events`.
    pub path_prefix: Option<String>,
    /// The number of matching requests that pass before the first affected one.
    pub after: u32,
    /// The number of affected requests, 1 to 1,000.
    pub times: u32,
}

/// A field of a token response (RFC 6749, section 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenField {
    TokenType,
    ExpiresIn,
    RefreshToken,
    Scope,
}

impl TokenField {
    pub fn name(self) -> &'static str {
        match self {
            TokenField::TokenType => "token_type",
            TokenField::ExpiresIn => "expires_in",
            TokenField::RefreshToken => "refresh_token",
            TokenField::Scope => "scope",
        }
    }
}

impl Default for Fault {
    fn default() -> Self {
        Fault {
            status: None,
            retry_after_s: None,
            retry_after: None,
            delay_ms: 0,
            answer_delay_ms: 0,
            held_answer: false,
            lost_answer: false,
            garbled: false,
            missing: None,
            pending_video: false,
            oauth_error: None,
            omit: Vec::new(),
            scopes: None,
            push_lost: false,
            push_twice: false,
            push_late_ms: 0,
            sync_token_only: false,
            method: None,
            path_prefix: None,
            after: 0,
            times: 1,
        }
    }
}

impl Fault {
    pub fn check(&self) -> Result<(), Problem> {
        if self.status.is_some_and(|s| !(400..600).contains(&s)) {
            return Err(Problem::field("status", "status must be 400 to 599"));
        }
        if self.retry_after.as_deref().is_some_and(|text| HeaderValue::from_str(text).is_err()) {
            return Err(Problem::field("retryAfter", "retryAfter must be text that fits into a header"));
        }
        let waits = [
            ("delayMs", self.delay_ms),
            ("answerDelayMs", self.answer_delay_ms),
            ("pushLateMs", self.push_late_ms),
        ];
        for (field, ms) in waits {
            if ms > MAX_DELAY_MS {
                return Err(Problem::field(field, format!("{field} must be at most {MAX_DELAY_MS}")));
            }
        }
        if !(1..=1000).contains(&self.times) {
            return Err(Problem::field("times", "times must be 1 to 1000"));
        }
        let delays = self.delay_ms > 0 || self.answer_delay_ms > 0 || self.held_answer;
        let of_tokens = self.oauth_error.is_some() || !self.omit.is_empty() || self.scopes.is_some();
        let changes_answer = self.lost_answer || self.garbled || self.pending_video || self.missing.is_some();
        let of_requests = self.status.is_some() || delays || changes_answer || of_tokens;
        if !of_requests && !self.is_of_push() {
            let message = "give status, delayMs, answerDelayMs, heldAnswer, lostAnswer, garbled, missing, pendingVideo, oauthError, omit, \
                           scopes, pushLost, pushTwice or pushLateMs";
            return Err(Problem::field("status", message));
        }
        if self.is_of_push() && (of_requests || self.sync_token_only || self.method.is_some()) {
            let message =
                "pushLost, pushTwice and pushLateMs are of notifications: nothing of requests goes with them";
            return Err(Problem::field("status", message));
        }
        if self.push_lost && (self.push_twice || self.push_late_ms > 0) {
            return Err(Problem::field("pushLost", "what is lost is not sent twice or late"));
        }
        let outcomes = [self.status.is_some(), self.lost_answer, self.garbled, self.oauth_error.is_some()];
        if outcomes.into_iter().filter(|is| *is).count() > 1 {
            let message = "status, lostAnswer, garbled and oauthError exclude each other";
            return Err(Problem::field("status", message));
        }
        if of_tokens && !self.path_prefix.as_deref().is_some_and(|path| path.starts_with(OAUTH)) {
            let message = "oauthError, omit and scopes need a pathPrefix: \"/sandbox/oauth/token\"";
            return Err(Problem::field("pathPrefix", message));
        }
        let is_word = |word: &str| {
            (1..=64).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
        };
        match self.oauth_error.as_deref().is_none_or(is_word) {
            true => Ok(()),
            false => Err(Problem::field("oauthError", "oauthError must be 1 to 64 of a to z and _")),
        }
    }

    /// Whether it affects notifications and not requests.
    fn is_of_push(&self) -> bool {
        self.push_lost || self.push_twice || self.push_late_ms > 0
    }

    fn hits_push(&self, path: &str) -> bool {
        self.is_of_push() && self.path_prefix.as_deref().is_none_or(|prefix| path.starts_with(prefix))
    }

    fn hits(&self, method: &Method, path: &str, query: &str) -> bool {
        let has_token = query.split('&').any(|p| p.starts_with("syncToken="));
        !self.is_of_push()
            && self.method.as_deref().is_none_or(|m| m.eq_ignore_ascii_case(method.as_str()))
            && match self.path_prefix.as_deref() {
                Some(prefix) => path.starts_with(prefix),
                None => !path.starts_with(OAUTH),
            }
            && (!self.sync_token_only || has_token)
            && (!self.pending_video || path.ends_with("/video"))
            && (self.missing.is_none() || (*method == Method::GET && LISTS.contains(&path)))
    }

    pub fn problem(&self) -> Option<Problem> {
        let status = StatusCode::from_u16(self.status?).ok()?;
        let code = match status.as_u16() {
            401 => "unauthorized",
            403 => "forbidden",
            404 => "notFound",
            409 => "conflict",
            410 => "syncTokenExpired",
            412 => "stale",
            429 => "tooManyRequests",
            500..=599 => "unavailable",
            _ => "injected",
        };
        let message = "this failure was asked for with a sandbox fault";
        let (retry_after_s, retry_after) =
            (self.retry_after_s, self.retry_after.clone().map(String::into_boxed_str));
        Some(Problem { retry_after_s, retry_after, ..Problem::new(status, code, message) })
    }
}

/// The pending faults of all accounts, and the answers that are held back.
#[derive(Debug, Default)]
pub struct Faults {
    planned: Mutex<HashMap<String, Vec<Fault>>>,
    /// By account: dropping the sender releases its receivers.
    held: Mutex<HashMap<String, watch::Sender<()>>>,
}

impl Faults {
    pub fn with<T>(&self, act: impl FnOnce(&mut HashMap<String, Vec<Fault>>) -> T) -> T {
        act(&mut self.planned.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn with_held<T>(&self, act: impl FnOnce(&mut HashMap<String, watch::Sender<()>>) -> T) -> T {
        act(&mut self.held.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until the account's answers are released.
    pub async fn hold(&self, mail: &str) {
        let mut released = self.with_held(|held| held.entry(mail.to_owned()).or_default().subscribe());
        let _ = tokio::time::timeout(Duration::from_millis(MAX_DELAY_MS), released.changed()).await;
    }

    /// Returns the number of the account's answers that are held back.
    pub fn held(&self, mail: &str) -> usize {
        self.with_held(|held| held.get(mail).map_or(0, watch::Sender::receiver_count))
    }

    pub fn let_go(&self, mail: &str) {
        self.with_held(|held| held.remove(mail));
    }

    /// Returns the first fault that affects a request, and counts the hit.
    pub fn take(&self, mail: &str, method: &Method, path: &str, query: &str) -> Option<Fault> {
        self.take_one(mail, |fault| fault.hits(method, path, query))
    }

    /// Returns the first fault that affects a notification of a change, and counts the hit; `path` is the watched one.
    pub fn take_push(&self, mail: &str, path: &str) -> Option<Fault> {
        self.take_one(mail, |fault| fault.hits_push(path))
    }

    fn take_one(&self, mail: &str, hits: impl Fn(&Fault) -> bool) -> Option<Fault> {
        self.with(|all| {
            let faults = all.get_mut(mail)?;
            let mut hit = None;
            for (at, fault) in faults.iter_mut().enumerate().filter(|(_, f)| hits(f)) {
                if fault.after == 0 {
                    hit = Some(at);
                    break;
                }
                fault.after -= 1;
            }
            let at = hit?;
            faults[at].times -= 1;
            let fault = faults[at].clone();
            if fault.times == 0 {
                faults.remove(at);
            }
            if faults.is_empty() {
                all.remove(mail);
            }
            Some(fault)
        })
    }
}

/// Marks a response whose connection is dropped instead of sending it.
#[derive(Clone, Copy, Debug)]
pub struct LoseAnswer;

/// Marks a request for a meeting whose address comes later.
#[derive(Clone, Copy, Debug)]
pub struct PendingVideo;

/// The fault that a magic word in a name causes.
pub enum Magic {
    Refuse(Problem),
    LoseAnswer,
    DelayMs(u64),
}

/// Returns the fault of the magic words: `[sandbox:rate-limit]`, `[sandbox:unavailable]`, `[sandbox:forbidden]`, `[sandbox:invalid]` refuse
/// the write; `[sandbox:slow]` takes three seconds; `[sandbox:lost-answer]` writes and drops the connection. The sandbox connector, not
/// this provider, handles `[sandbox:crash]`: it crashes when it reads an event, card, todo or message with it.
pub fn magic(field: &str, name: &str) -> Option<Magic> {
    let word = name.split_once("[sandbox:")?.1.split_once(']')?.0;
    let refuse = |status: u16| {
        let retry_after_s = matches!(status, 429 | 503).then_some(1);
        let fault = Fault { status: Some(status), retry_after_s, ..Fault::default() };
        fault.problem().map(Magic::Refuse)
    };
    match word {
        "rate-limit" => refuse(429),
        "unavailable" => refuse(503),
        "forbidden" => refuse(403),
        "invalid" => Some(Magic::Refuse(Problem::field(field, format!("the {field} asks to be refused")))),
        "slow" => Some(Magic::DelayMs(3_000)),
        "lost-answer" => Some(Magic::LoseAnswer),
        _ => None,
    }
}
