//! Messages that users send: what Gmail makes of them, and whom they reach.

use serde_json::Value;

use crate::google::call::{Call, MethodResult};
use crate::google::errors::ApiError;
use crate::google::facts;
use crate::google::mail::headers::{self, MailHead};
use crate::google::mail::mailbox::NewMail;
use crate::google::mail::messages::{given_message, wanted_thread};
use crate::google::mail::views::short_value;
use crate::google::mail::{invalid, mailbox};
use crate::google::state::State;
use crate::google::times;

/// A message that was sent.
#[derive(Clone, Debug)]
pub struct SentMail {
    pub user: String,
    /// The addresses of To, Cc and Bcc.
    pub recipients: Vec<String>,
    /// As the recipients get it: without Bcc, with Gmail's own Message-ID.
    pub raw: Vec<u8>,
    /// The id of the copy in the sender's mailbox.
    pub message_id: String,
}

/// `messages.send`
pub fn send(state: &mut State, call: &Call) -> MethodResult {
    let mailbox = mailbox(state, call)?;
    let raw = given_message(call, &call.body)?;
    let thread = wanted_thread(mailbox, &call.body, &MailHead::parse(&raw))?;
    check(state, &raw)?;
    Ok(Some(hand_over(state, &call.user, &raw, thread)))
}

/// Checks that a message can be sent.
///
/// # Errors
/// It has no recipient, or too many, or a wrong one: 400. The user has sent too much: 429.
pub fn check(state: &mut State, raw: &[u8]) -> Result<(), ApiError> {
    if state.traps.fires("sending_limit") {
        let until = times::stamp(state.clock.now_ms() + 20 * 60_000);
        let message = format!("User-rate limit exceeded.  Retry after {until}");
        return Err(ApiError::named(429, "rateLimitExceeded", &message));
    }
    let recipients = MailHead::parse(raw).recipients();
    if recipients.is_empty() {
        return Err(invalid("Recipient address required"));
    }
    if let Some(wrong) = recipients.iter().find(|address| !address.contains('@')) {
        return Err(invalid(&format!("Invalid To header: {wrong}")));
    }
    match recipients.len() > facts::number("mail_limits", "recipients") {
        true => Err(invalid("Too many recipients")),
        false => Ok(()),
    }
}

/// Sends a message: the sender's copy, with Bcc, and one without it for each recipient who has a mailbox here. Returns the ids and labels
/// of the sender's.
pub fn hand_over(state: &mut State, user: &str, raw: &[u8], thread: Option<String>) -> Value {
    let now = state.clock.now_ms();
    let head = MailHead::parse(raw);
    let loses_own_fields = state.traps.fires("x_headers_lost");
    let Some(mailbox) = state.mail.get_mut(user) else { return Value::Null };
    let is_own = head.from.first().is_some_and(|from| mailbox.sends_as(user, from));
    // Gmail replaces the Message-ID, and a From that is not the user's own, and keeps no trace of them.
    let kept = headers::without(raw, |name| {
        name == "message-id" || (!is_own && name == "from") || (loses_own_fields && name.starts_with("x-"))
    });
    let mut lines = vec![format!("Message-ID: <CAfake+{:06}@mail.gmail.com>", mailbox.number())];
    if !is_own {
        lines.push(format!("From: {user}"));
    }
    if head.date_ms.is_none() {
        lines.push(format!("Date: {}", times::from_ms(now).to_rfc2822()));
    }
    let whole = headers::prepend(&kept, &lines);
    let recipients = head.recipients();
    let mut labels = vec!["SENT".to_owned()];
    if recipients.iter().any(|address| address.eq_ignore_ascii_case(user)) {
        labels.extend(["INBOX".to_owned(), "UNREAD".to_owned()]);
    }
    let shown = headers::without(&whole, |name| name == "bcc");
    let message_id = mailbox.add(NewMail {
        raw: whole,
        labels,
        thread_id: thread,
        internal_ms: now,
        readable_ms: now,
        indexed_ms: now,
        follows_references: false,
    });
    let answer = mailbox.messages.get(&message_id).map_or(Value::Null, short_value);
    state.sent.push(SentMail {
        user: user.to_owned(),
        recipients: recipients.clone(),
        raw: shown.clone(),
        message_id,
    });
    for recipient in recipients.iter().filter(|address| !address.eq_ignore_ascii_case(user)) {
        if state.mail.contains_key(recipient) {
            state.deliver(recipient, &shown);
        }
    }
    answer
}
