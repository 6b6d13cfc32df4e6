//! Messages that are handed over for delivery.

use model::email::EmailAddress;
use model::email::folders::FolderRole;
use model::wire::Sources;
use model::wire::email::{MessageFind, MessageSend, Sent};
use runtime::{Error, Surface, Verb};
use serde_json::Value;

use crate::bench::{Bench, Outcome, Verdict, describe_error, ensure, failed, must};
use crate::cases::email::lost::MAX_WRITES;
use crate::cases::email::messages::{MAIL, content, head, message_id};
use crate::line::Fault;
use crate::mail_bench::{folder_with_role, with_subject};
use crate::surface_bench::{Collection, supported};

const STEPS: &str = "call Context::reached(\"handed-over\") right before the request that submits the message: until then the host repeats the call, from then on it looks for the message and never sends it again";

/// The arguments that send a message with this subject from the account to itself.
fn order(subject: &str, address: &str) -> MessageSend {
    let message = format!("{}\r\nText of {subject}.\r\n", head(subject, address, address));
    MessageSend {
        blob: content(message.as_bytes()),
        internet_message_id: message_id(subject),
        from: EmailAddress { name: None, email: address.to_owned() },
        recipients: vec![address.to_owned()],
        save_to_sent: true,
        ..MessageSend::default()
    }
}

async fn send(bench: &mut Bench, args: &MessageSend, key: &str) -> Result<Sent, Error> {
    let of = (Surface::Email, Verb::Mutate, "messages.send");
    bench.calls.raw(of, args, None, Some(key)).await?.parse()
}

/// One call of `messages.send`.
struct SendAttempt {
    result: Result<Sent, Error>,
    /// Whether no answer was lost.
    is_whole: bool,
    /// Whether the connector said that the provider may deliver the message from then on.
    is_handed_over: bool,
}

/// Returns whether a failure says that nothing was handed over.
fn is_refusal(error: &Error) -> bool {
    let detail: Value = serde_json::from_str(&error.author.detail).unwrap_or_default();
    detail["handedOver"] == false
}

/// `M7`: a message is sent once, whichever answer is lost.
pub async fn once(bench: &mut Bench) -> Outcome {
    bench.needs_feature(&MAIL, "send").await?;
    let account = match bench.surfaces.contains(&Surface::Lifecycle) {
        true => bench.calls.check().await.ok(),
        false => None,
    };
    let Some(address) = account.and_then(|account| account.email) else {
        return Err(Verdict::NotApplicable(
            "the account's address is unknown, and the case sends to no other".to_owned(),
        ));
    };
    let folder = bench.collection(&MAIL).await?;
    for skipped in 0..MAX_WRITES {
        let of = format!("M7-{skipped}");
        let (subject, key) = (MAIL.label(&of), MAIL.key(&of));
        let args = order(&subject, &address);
        bench.calls.steps.take();
        bench.line.spoil_write(skipped, Fault::DropAfter);
        let result = send(bench, &args, &key).await;
        let is_whole = bench.line.mend();
        let is_handed_over = bench.calls.steps.take().iter().any(|step| step == "handed-over");
        settle(bench, &args, &key, SendAttempt { result, is_whole, is_handed_over }).await?;
        ensure_one_copy(bench, &folder, &subject, skipped).await?;
        if is_whole {
            break;
        }
    }
    Ok(())
}

/// Does what a host does after an attempt: repeats it until the message was handed over, and looks for the message from then on.
async fn settle(bench: &mut Bench, args: &MessageSend, key: &str, attempt: SendAttempt) -> Outcome {
    let error = match attempt.result {
        Err(error) if attempt.is_whole => return supported(Err::<(), Error>(error), "messages.send"),
        Err(error) => error,
        Ok(sent) => return ensure_accepted(&sent, args),
    };
    ensure(
        error.is_transient(),
        || format!("a lost answer of messages.send becomes {}", describe_error(&error)),
        "the provider may have acted or not: failure unavailable or timeout",
    )?;
    if !attempt.is_handed_over || is_refusal(&error) {
        let again = must(send(bench, args, key).await, "messages.send after an answer was lost")?;
        return ensure_accepted(&again, args);
    }
    let find = MessageFind { internet_message_id: args.internet_message_id.clone() };
    let found: Result<Sources, Error> = bench.calls.fetch(Surface::Email, "messages.find", &find).await;
    let found = supported(found, "messages.find")?;
    ensure(
        found.sources.iter().any(|source| !source.deleted),
        || "the answer to a submission was lost, and messages.find does not find the message".to_owned(),
        STEPS,
    )
}

/// Ends the case unless every recipient has an outcome, and was accepted.
fn ensure_accepted(sent: &Sent, args: &MessageSend) -> Outcome {
    let accepted: Vec<&str> =
        sent.recipients.iter().filter(|one| one.accepted).map(|one| one.email.as_str()).collect();
    ensure(
        accepted.len() == args.recipients.len(),
        || format!("{} of {} recipients are accepted", accepted.len(), args.recipients.len()),
        "recipients has an outcome for each recipient of the call",
    )
}

/// Ends the case unless the mailbox has one sent copy, and the message arrived at most once.
async fn ensure_one_copy(bench: &mut Bench, folder: &Collection, subject: &str, skipped: usize) -> Outcome {
    let pages = bench.items(&MAIL, folder, 0, None).await?;
    let found = with_subject(&pages, subject);
    let Some(sent) = folder_with_role(&pages, FolderRole::Sent) else {
        return failed("a message was sent, and the mailbox has no folder with the role sent", STEPS);
    };
    let copies = found.iter().filter(|(_, message)| message.folder_ids.contains(&sent)).count();
    let inbox = folder_with_role(&pages, FolderRole::Inbox).unwrap_or_default();
    let arrived = found.iter().filter(|(_, message)| message.folder_ids.contains(&inbox)).count();
    ensure(
        copies == 1 && arrived <= 1,
        || {
            format!(
                "the answer of request {} of messages.send was lost: there are {copies} sent copies, and the message arrived {arrived} times",
                skipped + 1
            )
        },
        STEPS,
    )
}
