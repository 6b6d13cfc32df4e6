//! Messages that users send: by JSON, by MIME, or as drafts; their copies, and whom they reach.

use chrono::DateTime;

use crate::door::Reply;
use crate::graph::call::GraphCall;
use crate::graph::errors::{GraphError, GraphResult};
use crate::graph::facts;
use crate::graph::mail::compose::{compose, with_line, without_lines};
use crate::graph::mail::content::MailContent;
use crate::graph::mail::drafts::{add_draft, given_mime, new_message_id, read_content};
use crate::graph::mail::messages::draft_alone;
use crate::graph::mail::tree::well_known;
use crate::graph::mail::{action_parameter, find_message, store_mut};
use crate::graph::state::{GraphAccount, GraphState};

/// A message that was sent.
#[derive(Clone, Debug)]
pub struct SentMessage {
    /// The addresses of To, Cc and Bcc, in lower case.
    pub recipients: Vec<String>,
    /// As the recipients get it: without Bcc.
    pub raw: Vec<u8>,
    /// The number of the copy in Sent Items; none where it was not to be saved.
    pub copy: Option<u64>,
}

/// `POST /sendMail`
pub fn send_mail(state: &mut GraphState, call: &GraphCall) -> GraphResult {
    if call.method != "POST" {
        return Err(GraphError::no_route("sendMail"));
    }
    let now = state.clock.now_ms();
    let (raw, is_saved) = match call.is_json() {
        true => (
            compose(&read_content(action_parameter(call, "message"))?),
            *action_parameter(call, "saveToSentItems") != false,
        ),
        false => {
            let raw = given_mime(call)?;
            if raw.len() > facts::number("mail_limits", "mime_bytes") {
                // Answered, and not sent.
                return Ok(Reply::new(200));
            }
            (with_main_sender(state.account(&call.user)?, raw), true)
        }
    };
    let raw = checked(state, call, raw)?;
    let store = store_mut(state, call)?;
    let number = add_draft(store, raw, &well_known("outbox"), now);
    hand_over(state, call, number, is_saved)
}

/// `POST /messages/{id}/send`
pub fn send_draft(state: &mut GraphState, call: &GraphCall, number: u64) -> GraphResult {
    let item = find_message(store_mut(state, call)?, number)?;
    draft_alone(item)?;
    let raw = item.raw.clone();
    let whole = checked(state, call, raw)?;
    let store = store_mut(state, call)?;
    if let Some(item) = store.messages.get_mut(&number) {
        let numbers: Vec<u64> = item.content.attachments.iter().map(|one| one.number).collect();
        item.content = MailContent::parse(&whole);
        for (attachment, number) in item.content.attachments.iter_mut().zip(numbers) {
            attachment.number = number;
        }
        item.raw = whole;
    }
    hand_over(state, call, number, true)
}

/// The MIME of a sender's own message with the account's main address in From, whichever of its own stands there, or none
/// (postalsys/emailengine, outlook-client.js: the From of MIME is ignored). JSON alone sends as an alias.
pub fn with_main_sender(account: &GraphAccount, raw: Vec<u8>) -> Vec<u8> {
    let content = MailContent::parse(&raw);
    let is_kept = content.from.first().is_some_and(|from| {
        from.address.eq_ignore_ascii_case(&account.email) || !is_own(account, &from.address)
    });
    if is_kept {
        return raw;
    }
    let rest = without_lines(&raw, |name| name == "from");
    with_line(&rest, &format!("From: \"{}\" <{}>", account.name, account.email))
}

fn is_own(account: &GraphAccount, address: &str) -> bool {
    let mut all = account.aliases.iter().chain([&account.email]);
    all.any(|one| one.eq_ignore_ascii_case(address))
}

/// Checks the recipients and the sender of a message. Returns it with the sender and the date that it is sent with.
///
/// # Errors
/// There is no recipient, a wrong one or too many: 400. The sender is somebody else: 403.
fn checked(state: &mut GraphState, call: &GraphCall, raw: Vec<u8>) -> Result<Vec<u8>, GraphError> {
    let content = MailContent::parse(&raw);
    let recipients = content.recipients();
    let is_wrong = |address: &String| !address.contains('@') || address.contains(' ');
    if recipients.is_empty() || recipients.iter().any(is_wrong) {
        let message = "At least one recipient is not valid, or there is none.";
        return Err(GraphError::new(400, "ErrorInvalidRecipients", message));
    }
    if recipients.len() > facts::number("mail_limits", "recipients") {
        let message = "The message has too many recipients.";
        return Err(GraphError::new(400, "ErrorExceededMaxRecipientLimit", message));
    }
    let account = state.account(&call.user)?.clone();
    let from = content.from.first();
    if from.is_some_and(|from| !is_own(&account, &from.address)) || state.traps.fires("send_as_denied") {
        let message = "The user account which was used to submit this request does not have the right to send mail on behalf of the \
                       specified sending account.";
        return Err(GraphError::new(403, "ErrorSendAsDenied", message));
    }
    let mut whole = if from.is_none() { with_main_sender(&account, raw) } else { raw };
    if content.sent_ms.is_none() {
        let date = DateTime::from_timestamp_millis(state.clock.now_ms()).unwrap_or_default();
        whole = without_lines(&whole, |name| name == "date");
        whole = with_line(&whole, &format!("Date: {}", date.to_rfc2822()));
    }
    Ok(whole)
}

/// Sends a message of the mailbox: it becomes the copy in Sent Items, and all recipients who have a mailbox here get theirs.
fn hand_over(state: &mut GraphState, call: &GraphCall, number: u64, is_saved: bool) -> GraphResult {
    let now = state.clock.now_ms();
    let replaces_id = state.traps.fires("message_id_replaced") || state.account(&call.user)?.is_personal();
    let is_renamed = state.traps.fires("sent_copy_renamed");
    let late_reads = match state.traps.fires("sent_copy_late") {
        true => u32::try_from(facts::number("mail_limits", "late_reads")).unwrap_or(1),
        false => 0,
    };
    let store = store_mut(state, call)?;
    let id = new_message_id(store);
    let item = store.messages.get_mut(&number).ok_or_else(GraphError::not_found)?;
    if replaces_id {
        let raw = without_lines(&item.raw, |name| name == "message-id");
        item.raw = with_line(&raw, &format!("Message-ID: {id}"));
        let lines = item.content.headers.iter_mut();
        for line in lines.filter(|line| line.name.eq_ignore_ascii_case("message-id")) {
            line.value.clone_from(&id);
        }
        item.content.message_id = id;
    }
    item.is_draft = false;
    item.is_read = true;
    item.received_ms = now;
    item.content.sent_ms = Some(now);
    item.late_reads = late_reads;
    let recipients = item.content.recipients();
    let raw = without_lines(&item.raw, |name| name == "bcc");
    let sent_items = well_known("sentitems");
    let copy = match (is_saved, is_renamed) {
        (false, _) => None,
        (true, false) => {
            store.move_to(number, &sent_items, now);
            Some(number)
        }
        (true, true) => store.copy_to(number, &sent_items, now),
    };
    if copy != Some(number) {
        store.purge(number, now);
    }
    store.sent.push(SentMessage { recipients: recipients.clone(), raw: raw.clone(), copy });
    let (here, elsewhere): (Vec<String>, Vec<String>) =
        recipients.into_iter().partition(|address| state.mail.contains_key(address));
    for address in &here {
        state.deliver(address, &raw);
    }
    if !elsewhere.is_empty() && state.traps.fires("ndr") {
        let report = undeliverable(&call.user, &elsewhere, &raw);
        state.deliver(&call.user, &report);
    }
    Ok(Reply::new(202))
}

/// The report that a message could not be delivered (RFC 3464).
fn undeliverable(user: &str, recipients: &[String], raw: &[u8]) -> Vec<u8> {
    let original = MailContent::parse(raw);
    let fields: String = recipients
        .iter()
        .map(|address| {
            format!(
                "\r\nFinal-Recipient: rfc822;{address}\r\nAction: failed\r\nStatus: 5.1.1\r\n\
                     Diagnostic-Code: smtp;550 5.1.1 RESOLVER.ADR.RecipNotFound; not found\r\n"
            )
        })
        .collect();
    format!(
        "From: Microsoft Outlook <MicrosoftExchange329e71ec88ae4615bbc36ab6ce41109e@exchange.test>\r\nTo: {user}\r\n\
         Subject: Undeliverable: {}\r\nMessage-ID: <ndr-{}>\r\nIn-Reply-To: {}\r\nAuto-Submitted: auto-replied\r\n\
         MIME-Version: 1.0\r\nContent-Type: multipart/report; report-type=delivery-status; boundary=ndr\r\n\r\n\
         --ndr\r\nContent-Type: text/plain\r\n\r\nYour message could not be delivered.\r\n\
         --ndr\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns;exchange.test\r\n{fields}\r\n\
         --ndr\r\nContent-Type: message/rfc822\r\n\r\n{}\r\n--ndr--\r\n",
        original.subject,
        original.message_id.trim_matches(['<', '>']),
        original.message_id,
        String::from_utf8_lossy(raw),
    )
    .into_bytes()
}
