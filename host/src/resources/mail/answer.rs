//! What follows from the message that one answers or forwards: subject, references, recipients, the quoted original and its files.

use ::mail::build::{Outgoing, OutgoingFile};
use ::mail::threads::{forward_subject, reply_subject};
use base::error::Result;
use model::email::draft::ReplyMode;
use model::email::{EmailAddress, EmailMessage};
use storage::connections::Connection;

use crate::app::App;
use crate::resources::Asker;
use crate::resources::mail::bodies::Fields;
use crate::resources::mail::compose::{Original, within};
use crate::resources::mail::{attachments, read};

/// Bytes of a text that are taken over from a message that is forwarded.
const MAX_QUOTED: usize = 512 << 10;

/// What follows from the message that is answered. Recipients come from the caller alone, unless it is for all.
pub async fn answer(
    app: &App,
    asker: &Asker,
    connection: &Connection,
    original: &Original,
    outgoing: &mut Outgoing,
) -> Result<()> {
    let message: EmailMessage = serde_json::from_str(&original.item.body)?;
    let subject = message.subject.clone().unwrap_or_default();
    // Contract silent: what a subject of the caller's means. It stands; only one that is left out follows from the original.
    let is_named = outgoing.subject.as_deref().is_some_and(|s| !s.trim().is_empty());
    if original.mode == ReplyMode::Forward {
        if !is_named {
            outgoing.subject = Some(forward_subject(&subject));
        }
        outgoing.references = message.internet_message_id.clone().into_iter().collect();
        return forward(app, asker, connection, original, &message, outgoing).await;
    }
    if !is_named {
        outgoing.subject = Some(reply_subject(&subject));
    }
    outgoing.in_reply_to = message.internet_message_id.clone().into_iter().collect();
    // RFC 5322 section 3.6.4.
    outgoing.references = match message.references.is_empty() {
        true => message.in_reply_to.iter().take(1).cloned().collect(),
        false => message.references.clone(),
    };
    outgoing.references.extend(message.internet_message_id.clone());
    if original.mode == ReplyMode::ReplyAll {
        everybody(connection, &message, outgoing);
    }
    Ok(())
}

/// Adds everybody who is in the conversation but us.
fn everybody(connection: &Connection, message: &EmailMessage, outgoing: &mut Outgoing) {
    let own: Vec<String> = connection.addresses.iter().chain(&connection.email).cloned().collect();
    let is_own = |a: &EmailAddress| {
        let folded = ::mail::address::folded(&a.email);
        own.iter().any(|o| ::mail::address::folded(o) == folded)
            || outgoing.from.iter().any(|f| ::mail::address::folded(&f.email) == folded)
    };
    let senders = if message.reply_to.is_empty() { &message.from } else { &message.reply_to };
    // An answer to what we sent ourselves goes to whom that went to.
    let is_ours = senders.iter().all(is_own);
    let to: Vec<&EmailAddress> = match is_ours {
        true => message.to.iter().collect(),
        false => senders.iter().chain(&message.to).collect(),
    };
    let others = |people: Vec<&EmailAddress>| -> Vec<EmailAddress> {
        people
            .into_iter()
            .filter(|a| !is_own(a) && ::mail::address::check(&a.email).is_ok())
            .cloned()
            .collect()
    };
    let (to, cc) = (others(to), others(message.cc.iter().collect()));
    let mut seen: Vec<String> = [&outgoing.to, &outgoing.cc, &outgoing.bcc]
        .into_iter()
        .flatten()
        .map(|a| ::mail::address::folded(&a.email))
        .collect();
    for (list, people) in [(&mut outgoing.to, to), (&mut outgoing.cc, cc)] {
        for person in people {
            let folded = ::mail::address::folded(&person.email);
            if !seen.contains(&folded) {
                seen.push(folded);
                list.push(person);
            }
        }
    }
}

/// Adds the original below what the caller wrote, and its files.
async fn forward(
    app: &App,
    asker: &Asker,
    connection: &Connection,
    original: &Original,
    message: &EmailMessage,
    outgoing: &mut Outgoing,
) -> Result<()> {
    let (item, content) = read::read(app, asker, connection, original.item.clone(), Fields::Full).await?;
    let body = content.body.unwrap_or_default();
    let head = head(message);
    let (text, _) = ::mail::read::cut(body.text.unwrap_or_default(), MAX_QUOTED);
    let lines: String = head.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
    let quoted = format!("---------- Forwarded message ----------\n{lines}\n{text}");
    if outgoing.html.is_some() || (body.html.is_some() && outgoing.text.is_none()) {
        let rows: String =
            head.iter().map(|(name, value)| format!("<b>{name}:</b> {}<br>", escaped(value))).collect();
        let (html, _) = ::mail::read::cut(body.html.unwrap_or_default(), MAX_QUOTED);
        let inner = match html.is_empty() {
            true => format!("<pre>{}</pre>", escaped(&text)),
            // What others wrote is passed on without what could act.
            false => compute::at_once(html.len(), || {
                let cid = |id: &str| Some(format!("cid:{id}"));
                ::mail::html::safe(&html, &::mail::html::Safe { images: true, cid: &cid })
            }),
        };
        let own = outgoing.html.take().unwrap_or_default();
        outgoing.html =
            Some(format!("{own}<br><br>---------- Forwarded message ----------<br>{rows}<br>{inner}"));
    }
    if outgoing.text.is_some() || outgoing.html.is_none() {
        let own = outgoing.text.take().unwrap_or_default();
        outgoing.text = Some(format!("{own}\n\n{quoted}"));
    }
    let mut bytes: usize = outgoing.attachments.iter().map(|f| f.content.len()).sum();
    for attachment in &message.attachments {
        let (attachment, part) = attachments::find(&item, &attachment.id)?;
        let blob = attachments::bytes(app, asker, connection, &item, &part).await?;
        bytes += usize::try_from(blob.size()).unwrap_or(usize::MAX);
        within(bytes, "replyToMessageId")?;
        let content = blob.read(0, usize::try_from(blob.size()).unwrap_or(0)).map_err(anyhow::Error::from)?;
        outgoing.attachments.push(OutgoingFile {
            filename: attachment.filename,
            content_type: Some(attachment.content_type),
            content: content.to_vec(),
            inline: attachment.inline,
            content_id: attachment.content_id,
        });
    }
    Ok(())
}

/// The head of a message that is passed on.
fn head(message: &EmailMessage) -> Vec<(&'static str, String)> {
    let people = |list: &[EmailAddress]| {
        let shown = list.iter().take(20).map(|a| match &a.name {
            Some(name) => format!("{name} <{}>", a.email),
            None => a.email.clone(),
        });
        shown.collect::<Vec<_>>().join(", ")
    };
    let date = message.sent_at.unwrap_or(message.received_at).to_string();
    let mut head = vec![("From", people(&message.from)), ("Date", date)];
    head.push(("Subject", message.subject.clone().unwrap_or_default()));
    head.push(("To", people(&message.to)));
    if !message.cc.is_empty() {
        head.push(("Cc", people(&message.cc)));
    }
    head
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
