//! The steps after a message was sent: destroy the draft, read the copy in the sent mailbox, and return the outcome for each recipient.

use std::collections::BTreeMap;

use connector_sdk::{Failure, Outcome};
use model::Instant;
use model::wire::email::{MessageSend, RecipientOutcome, Sent};
use model::wire::{Source, Warning};
use serde::Deserialize;
use serde_json::json;

use crate::client::{Client, Message, id_of, messages, set, summary, with};
use crate::message;
use crate::protocol::answers::{GetResponse, Set};
use crate::protocol::{Answers, Call};
use crate::send::plan::{After, Sender, SubmissionState, after};
use crate::store::{self, Target};

/// The delivery status of an `EmailSubmission` (RFC 8621 section 7). Unlike io-jmap's type it has optional fields.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Submission {
    delivery_status: Option<BTreeMap<String, Status>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Status {
    smtp_reply: String,
    delivered: String,
}

/// Returns the answer for a sent message. From here on errors are only warnings.
pub(super) fn finish(
    client: &Client,
    args: &MessageSend,
    sender: Sender,
    submitted: &SubmissionState,
    refused: &[String],
) -> Sent {
    let mut warnings = Vec::new();
    let draft = args.draft.as_ref().and_then(|draft| message::id(&draft.source).ok());
    let draft = draft.filter(|draft| *draft != submitted.email);
    let plan = after(args, &sender, submitted.existed.then_some(submitted.email.as_str()));
    let left = tidy(client, &plan, submitted, draft.as_deref()).unwrap_or_else(|failure| {
        warnings.push(warning(
            "sent_copy_unknown",
            "the message was sent, but its copy could not be read",
            &failure,
        ));
        StateAfterSend::default()
    });
    let mut copy = left.copy;
    if let (Some(blob), Some(sent), Some(Ok(plain))) = (&args.sent_blob, &sender.sent, &copy) {
        match with_bcc(client, blob, &sent.id, plain.received_at.as_deref(), &plain.id) {
            Ok(shown) => copy = Some(shown),
            Err(failure) => warnings.push(warning(
                "bcc_not_shown",
                "the copy of the message does not show its Bcc",
                &failure,
            )),
        }
    }
    let message_id = copy.as_ref().and_then(|copy| copy.as_ref().ok()?.message_id.as_ref()?.first().cloned());
    let made = [sender.drafts.made, sender.sent.and_then(|sent| sent.made)].into_iter().flatten();
    let draft_gone = draft.filter(|_| left.draft_gone).map(|id| message::deleted_source(&id));
    let reused = args
        .draft
        .as_ref()
        .filter(|draft| copy.is_none() && draft.source == message::external_id(&submitted.email));
    let reused =
        reused.map(|draft| Source { external_id: draft.source.clone(), deleted: true, ..Source::default() });
    let status = left.status;
    Sent {
        recipients: args.recipients.iter().map(|email| outcome(email, refused, &status)).collect(),
        internet_message_id: message_id.filter(|id| *id != args.internet_message_id),
        sources: made.chain(copy.map(message::whole)).chain(draft_gone).chain(reused).collect(),
        warnings,
    }
}

fn warning(code: &str, message: &str, failure: &Failure) -> Warning {
    Warning { code: code.to_owned(), message: format!("{message}: {}", failure.message), target: None }
}

/// The data that was read after the message was sent.
#[derive(Default)]
struct StateAfterSend {
    copy: Option<Message>,
    draft_gone: bool,
    status: BTreeMap<String, Status>,
}

/// Destroys the draft, makes the changes that the server did not make itself, and reads the message, in one request.
fn tidy(
    client: &Client,
    plan: &After,
    submitted: &SubmissionState,
    draft: Option<&str>,
) -> Outcome<StateAfterSend> {
    let mut batch = client.batch().with_submission();
    let id = submitted.outcome.as_deref().unwrap_or_default();
    let status = batch.call("EmailSubmission/get", json!({ "ids": [id], "properties": ["deliveryStatus"] }));
    let email = submitted.email.as_str();
    match plan {
        _ if submitted.is_moved => {}
        After::Change(patch) => drop(batch.call("Email/set", json!({ "update": { email: patch } }))),
        After::Destroy => drop(store::ask_destroy(&mut batch, &[email])),
        After::Keep => {}
    }
    let gone = draft.map(|draft| store::ask_destroy(&mut batch, &[draft]));
    let is_kept = matches!(plan, After::Change(_));
    let get = is_kept.then(|| batch.call("Email/get", with(&summary(), "ids", json!([email]))));
    let answers = client.run(batch, "reading the sent message")?;
    let draft_gone = match (gone, draft) {
        (Some(gone), Some(draft)) => match answers.get::<Set>(&gone)?.destroyed(draft) {
            Err(error) => error.kind == "notFound",
            Ok(()) => true,
        },
        _ => false,
    };
    let read = get.map(|get| answers.get(&get).map(messages)).transpose()?;
    let copy = read.unwrap_or_default().into_iter().find(|one| id_of(one) == email);
    Ok(StateAfterSend { copy, draft_gone, status: statuses(&answers, &status) })
}

/// Returns the server's delivery status of each recipient so far; empty for servers that keep no submissions.
fn statuses(answers: &Answers, call: &Call) -> BTreeMap<String, Status> {
    let got = answers.get::<GetResponse>(call).unwrap_or_default();
    let submission = got.list.first().and_then(|raw| serde_json::from_str::<Submission>(raw.get()).ok());
    let all = submission.and_then(|submission| submission.delivery_status).unwrap_or_default();
    all.into_iter().map(|(email, status)| (email.to_lowercase(), status)).collect()
}

/// Replaces the sent copy by one that has the Bcc.
fn with_bcc(
    client: &Client,
    blob: &str,
    sent: &str,
    received_at: Option<&str>,
    plain: &str,
) -> Outcome<Message> {
    let blob_id = client.upload(blob)?;
    let received_at = received_at.and_then(|text| text.parse().ok());
    let target = Target {
        mailboxes: set([sent.to_owned()]),
        keywords: set(["$seen".to_owned()]),
        received_at: received_at.unwrap_or_else(|| Instant::from_millis(client.cx.now_ms())),
    };
    let shown = store::import(client, &blob_id, &target)?;
    if id_of(&shown) != plain {
        store::destroy(client, plain)?;
    }
    Ok(shown)
}

pub(super) fn outcome(
    email: &str,
    refused: &[String],
    status: &BTreeMap<String, Status>,
) -> RecipientOutcome {
    if refused.iter().any(|one| one == email) {
        // There was no SMTP reply: the server itself refuses the address.
        let enhanced_status = Some("5.1.3".to_owned());
        return RecipientOutcome { email: email.to_owned(), enhanced_status, ..RecipientOutcome::default() };
    }
    let status = status.get(&email.to_lowercase()).cloned().unwrap_or_default();
    let reply = message::text::unfold(message::text::cut(&status.smtp_reply, 500));
    RecipientOutcome {
        email: email.to_owned(),
        accepted: status.delivered != "no",
        temporary: status.delivered == "no" && reply.starts_with('4'),
        enhanced_status: enhanced_status(&reply),
        reply: Some(reply).filter(|reply| !reply.is_empty()),
    }
}

/// The status code in an SMTP reply (RFC 2034 section 4).
fn enhanced_status(reply: &str) -> Option<String> {
    let is_number =
        |part: &str| (1..=3).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    let word = reply.split_whitespace().nth(1)?;
    let parts: Vec<&str> = word.split('.').collect();
    (parts.len() == 3 && parts.iter().all(|part| is_number(part))).then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Status, enhanced_status, outcome};

    #[test]
    fn replies_of_the_next_server_make_outcomes() {
        let status = |delivered: &str, reply: &str| {
            let status = Status { delivered: delivered.into(), smtp_reply: reply.into() };
            outcome("A@b", &[], &[("a@b".to_owned(), status)].into())
        };
        assert!(status("queued", "250 2.1.5 OK").accepted && status("unknown", "").accepted);
        let refused = status("no", "550 5.1.1 no such\r\n user");
        assert_eq!((refused.accepted, refused.temporary), (false, false));
        assert_eq!(refused.reply.as_deref(), Some("550 5.1.1 no such user"));
        assert_eq!(refused.enhanced_status.as_deref(), Some("5.1.1"));
        assert!(status("no", "451 4.7.1 later").temporary);
        assert_eq!(enhanced_status("550 no such user"), None);
        assert!(!outcome("a@b", &["a@b".to_owned()], &Default::default()).accepted);
    }
}
