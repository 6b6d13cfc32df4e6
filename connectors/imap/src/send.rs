//! `messages.send`: handed over by SMTP, then a copy into the sent folder, and the draft goes.

use connector_sdk::{Context, Failure, Level, Outcome};
use model::email::folders::FolderRole;
use model::wire::Warning;
use model::wire::email::{MessageSend, Sent};
use serde_json::Value;

use crate::directory::Directory;
use crate::edit::etag;
use crate::imap::session::Session;
use crate::message::MailboxRef;
use crate::read::whole;
use crate::smtp::{self, Envelope};
use crate::store::{NewMessage, left_over, store};
use crate::transfer;

/// Sends a message. Whatever fails after the server took it is a warning: sending it again would be worse.
pub fn send(cx: &Context, args: MessageSend) -> Outcome<Sent> {
    if args.recipients.is_empty() {
        return Err(Failure::invalid("the message has no recipients"));
    }
    let envelope = Envelope { from: &args.from.email, recipients: &args.recipients, blob: &args.blob };
    let recipients = smtp::deliver(cx, &envelope)?;
    let mut sent = Sent { recipients, ..Sent::default() };
    if sent.recipients.iter().any(|recipient| recipient.accepted) {
        file(cx, &args, &mut sent);
    }
    Ok(sent)
}

/// Stores the copy of a sent message and removes its draft.
fn file(cx: &Context, args: &MessageSend, sent: &mut Sent) {
    if !args.save_to_sent && args.draft.is_none() {
        return;
    }
    let mut session = match Session::open(cx) {
        Ok(session) => session,
        Err(failure) => {
            let copy = args.save_to_sent.then_some(COPY);
            let draft = args.draft.as_ref().map(|_| DRAFT);
            for what in copy.into_iter().chain(draft) {
                sent.warnings.push(warning(cx, what, &failure));
            }
            return;
        }
    };
    let mut directory = Directory::default();
    if args.save_to_sent
        && let Err(failure) = save_copy(&mut session, &mut directory, args, sent)
    {
        sent.warnings.push(warning(cx, COPY, &failure));
    }
    if args.draft.is_some()
        && let Err(failure) = drop_draft(&mut session, &mut directory, args, sent)
    {
        sent.warnings.push(warning(cx, DRAFT, &failure));
    }
}

const COPY: (&str, &str) =
    ("sent_copy_not_stored", "the message was sent, but its copy could not be put into the sent folder");
const DRAFT: (&str, &str) = ("draft_not_deleted", "the message was sent, but its draft could not be deleted");

fn warning(cx: &Context, what: (&str, &str), failure: &Failure) -> Warning {
    let (code, message) = what;
    cx.log(Level::Warn, message, &[("code", failure.code.clone()), ("reason", failure.message.clone())]);
    Warning { code: code.into(), message: message.into(), target: None }
}

/// Servers that keep sent mail by themselves have the copy already, as Gmail has, which may show it later: nothing is stored beside it.
fn save_copy(
    session: &mut Session,
    directory: &mut Directory,
    args: &MessageSend,
    sent: &mut Sent,
) -> Outcome<()> {
    let is_kept = directory.all_mail(session)?.is_some() && is_sent_by_gmail(session.cx);
    if is_kept && directory.role(session, FolderRole::Sent)?.is_none() {
        // Hidden from IMAP: a folder that is made for it would be a label of the user's.
        return Ok(());
    }
    let place: MailboxRef = directory.role_or_new(session, FolderRole::Sent, "Sent")?;
    let message_id = &args.internet_message_id;
    let stored = match left_over(session, &place, message_id, None, None)? {
        Some(there) => Some(there),
        None if is_kept => None,
        None => {
            let blob = args.sent_blob.as_deref().unwrap_or(&args.blob);
            let flags = vec!["\\Seen".to_owned()];
            store(session, &place, &NewMessage { blob, message_id, flags, received_at: None })?
        }
    };
    if let Some((place, uid)) = stored {
        // The copy is there; if it cannot be read now, the next pull finds it.
        sent.sources.extend(whole(session, &place, uid).unwrap_or_default());
    }
    Ok(())
}

/// Whether messages go out through Gmail's own server, which puts them into the sent folder.
fn is_sent_by_gmail(cx: &Context) -> bool {
    let host = cx.connection.settings.get("smtp").and_then(|server| server.get("host"));
    let host = host.and_then(Value::as_str).unwrap_or_default().to_lowercase();
    ["smtp.gmail.com", "smtp.googlemail.com", "smtp-relay.gmail.com"].contains(&host.as_str())
}

fn drop_draft(
    session: &mut Session,
    directory: &mut Directory,
    args: &MessageSend,
    sent: &mut Sent,
) -> Outcome<()> {
    let Some(draft) = &args.draft else { return Ok(()) };
    if let Some(located) = directory.locate(session, draft, false)? {
        if etag(session, &located)?.is_some() {
            transfer::expunge(session, &located, &mut sent.warnings)?;
        }
        sent.sources.push(located.place.deleted_source(located.uid));
    }
    Ok(())
}
