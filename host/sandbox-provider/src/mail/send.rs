//! Sending: every recipient gets a separate reply, as from an SMTP server. Accounts here get the message at once; messages to
//! other domains are discarded.

use axum::Extension;
use axum::body::Bytes;
use axum::extract::State as AxumState;
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::Instant;
use model::email::EmailMessage;
use serde::Deserialize;
use serde_json::Value;

use crate::auth::{DOMAIN, is_name};
use crate::mail::answers::{self, SentMessage};
use crate::mail::entries::{find, mailbox, receipt};
use crate::mail::parse;
use crate::mail::types::{Entry, INBOX, MAILBOX, Message, RecipientReply, SENT};
use crate::mail::upload::{check_room, checked, free_id, place, store, word};
use crate::ops::{Copy, Receipt};
use crate::patch::{few, object, read};
use crate::problem::Problem;
use crate::receipts::{Change, run_raw};
use crate::sandbox::Caller;
use crate::seed;
use crate::state::State;

/// Recipients of one message.
const MAX_RECIPIENTS: usize = 100;
const MAX_ADDRESS: usize = 320;
/// Names for which no account is created when a message is sent to them.
const NOBODY: &[&str] =
    &["reject", "defer", "bounce", "away", "replies", "mailer-daemon", "revoked", "throttled", "down"];

/// Body of `POST /sandbox/v1/mail/send`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Order {
    /// Id of the copy in the sent folder.
    id: Option<String>,
    /// The message (RFC 5322), base64.
    raw: String,
    /// The content of the copy, base64; none: `raw`.
    copy: Option<String>,
    /// The envelope: the account's own address, perhaps with a `+tag`.
    sender: String,
    recipients: Vec<String>,
    keep_copy: bool,
    /// The draft of the message, which is deleted with it.
    draft: Option<String>,
    /// The thread of the copy; none: derived from its headers.
    thread: Option<String>,
}

/// A validated order.
struct Post {
    order: Order,
    raw: Bytes,
    read: Message,
    copy: Option<(Bytes, Message)>,
}

fn decode_message(field: &str, text: &str) -> Result<(Bytes, Message), Problem> {
    let raw =
        STANDARD.decode(text).map_err(|_| Problem::field(field, format!("{field} is not in base64")))?;
    let read = checked(&raw, field)?;
    Ok((Bytes::from(raw), read))
}

impl Post {
    fn from_body(body: &[u8], mail: &str) -> Result<Self, Problem> {
        let mut order: Order = read(Value::Object(object(body)?))?;
        few("recipients", order.recipients.len(), MAX_RECIPIENTS)?;
        if order.recipients.is_empty() {
            return Err(Problem::field("recipients", "there is nobody to send it to"));
        }
        let recipients = order.recipients.iter().map(|recipient| recipient.trim().to_lowercase());
        order.recipients = recipients.collect();
        if let Some(at) = order.recipients.iter().position(|recipient| recipient.len() > MAX_ADDRESS) {
            return Err(Problem::field(&format!("recipients[{at}]"), "the address is too long"));
        }
        if account_of(&order.sender.to_lowercase()) != mail {
            return Err(Problem::forbidden("notYourAddress", "the sender is not this account's address"));
        }
        let (raw, read) = decode_message("raw", &std::mem::take(&mut order.raw))?;
        let copy = order.copy.take().map(|copy| decode_message("copy", &copy)).transpose()?;
        Ok(Post { order, raw, read, copy })
    }
}

/// The address without its `+tag`.
fn account_of(mail: &str) -> String {
    match mail.split_once('@') {
        Some((local, domain)) => format!("{}@{domain}", local.split('+').next().unwrap_or_default()),
        None => mail.to_owned(),
    }
}

/// A delivery, with a new id.
struct Delivery {
    /// The account whose inbox gets the message.
    mail: String,
    id: String,
    /// None: the message itself.
    answer: Option<Vec<u8>>,
}

impl Delivery {
    /// Two addresses of one account get the message once.
    fn is_same(&self, other: &Delivery) -> bool {
        self.answer.is_none() && other.answer.is_none() && self.mail == other.mail
    }
}

/// `POST /sandbox/v1/mail/send`
pub async fn send(
    (AxumState(sandbox), Extension(login)): Caller,
    change: Change,
) -> Result<Response, Problem> {
    let post = Post::from_body(change.body(), &login.mail)?;
    let fresh = || sandbox.new_id();
    let copy_id = fresh()?;
    let ids = post.order.recipients.iter().map(|_| fresh()).collect::<Result<Vec<_>, _>>()?;
    let word = word(&post.read);
    run_raw(&sandbox, &login, change, word, |state, now_ms, _| {
        let id = free_id(state, &login.mail, post.order.id.as_ref(), copy_id)?;
        if let Some(draft) = &post.order.draft {
            find(mailbox(state, &login.mail)?, draft)?;
        }
        check_room(state, &login.mail)?;
        let mut outcomes: Vec<RecipientReply> =
            post.order.recipients.iter().map(|mail| answers::smtp_reply(mail)).collect();
        let mut deliveries = Vec::new();
        for (outcome, id) in outcomes.iter_mut().zip(ids) {
            let next = delivery(state, now_ms, &post, outcome, id);
            let is_twice = |known: &Delivery| next.as_ref().is_some_and(|next| next.is_same(known));
            if !deliveries.iter().any(is_twice) {
                deliveries.extend(next);
            }
        }
        if !outcomes.iter().any(RecipientReply::is_accepted) {
            return Ok(Receipt { outcomes, ..receipt(200, None) });
        }
        let sent = store_sent_copy(state, &login.mail, now_ms, &post, id);
        deliver(state, now_ms, &post, deliveries);
        let mut dropped = Vec::new();
        if let Some(draft) = post.order.draft {
            state.remove::<Entry>(&login.mail, MAILBOX, now_ms, &draft);
            dropped.push(draft);
        }
        Ok(Receipt { outcomes, dropped, ..receipt(200, sent) })
    })
    .await
}

/// The delivery of an accepted message, or the answer that is returned at once. A full mailbox defers the message.
fn delivery(
    state: &mut State,
    now_ms: i64,
    post: &Post,
    outcome: &mut RecipientReply,
    id: String,
) -> Option<Delivery> {
    if !outcome.is_accepted() {
        return None;
    }
    let from = account_of(&post.order.sender.to_lowercase());
    let sent = SentMessage { from: &post.order.sender, content: &post.read.body, raw: &post.raw, now_ms };
    if let Some(answer) = answers::answer(&sent, &outcome.email, &id) {
        return Some(Delivery { mail: from, id, answer: Some(answer) });
    }
    let mail = [outcome.email.clone(), account_of(&outcome.email)];
    let known = mail.iter().find(|mail| state.account(mail).is_some());
    let mail = known.cloned().unwrap_or_else(|| account_of(&outcome.email));
    mail.strip_suffix(DOMAIN).filter(|name| is_name(name) && !NOBODY.contains(name))?;
    if state.account(&mail).is_none() {
        // The sandbox may have no room for further accounts: then this one does not exist, and the message is discarded.
        seed::accounts(state, std::slice::from_ref(&mail), now_ms).ok()?;
    }
    if !state.has_room(&mail, 1) {
        outcome.reply = "452 4.2.2 the mailbox is full".to_owned();
        return None;
    }
    Some(Delivery { mail, id, answer: None })
}

/// The message in this folder of a mailbox, received now.
fn file_into(read: Message, id: String, folder: &str, now_ms: i64) -> Message {
    let (received_at, folder_ids) = (Instant::from_millis(now_ms), vec![folder.to_owned()]);
    let unread = folder == INBOX;
    Message { id, body: EmailMessage { received_at, folder_ids, unread, ..read.body }, ..read }
}

/// Stores the copy in the sent folder. Returns its id.
fn store_sent_copy(state: &mut State, mail: &str, now_ms: i64, post: &Post, id: String) -> Option<String> {
    if !post.order.keep_copy {
        return None;
    }
    let (raw, read) = match &post.copy {
        Some((raw, read)) => (raw.clone(), read.clone()),
        None => (post.raw.clone(), post.read.clone()),
    };
    let mut sent = file_into(read, id.clone(), SENT, now_ms);
    sent.body.thread_id.clone_from(&post.order.thread);
    store(state, mail, now_ms, sent, raw);
    Some(id)
}

/// Puts all deliveries into the inboxes. The bytes of the message are stored once for all.
fn deliver(state: &mut State, now_ms: i64, post: &Post, deliveries: Vec<Delivery>) {
    let of = |delivery: &&Delivery| delivery.answer.is_none();
    let copy = |delivery: &Delivery| Copy { mail: delivery.mail.clone(), id: delivery.id.clone() };
    let copies: Vec<Copy> = deliveries.iter().filter(of).map(copy).collect();
    if !copies.is_empty() {
        state.put_raw_message(copies, post.raw.clone());
    }
    for Delivery { mail, id, answer } in deliveries {
        match answer {
            None => place(state, &mail, now_ms, file_into(post.read.clone(), id, INBOX, now_ms)),
            Some(answer) => {
                let Some(read) = parse::read(&answer) else { continue };
                store(state, &mail, now_ms, file_into(read, id, INBOX, now_ms), Bytes::from(answer));
            }
        }
    }
}
