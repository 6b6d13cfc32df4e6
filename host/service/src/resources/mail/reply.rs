//! Fields of a reply or forward that derive from the original message: subject, references, recipients, the quoted text and its files.

use std::collections::HashMap;

use base::error::Result;
use mail::build::{Outgoing, OutgoingFile};
use mail::threads::{forward_subject, reply_subject};
use mail::{cid, foreign};
use model::email::draft::ReplyMode;
use model::email::{EmailAddress, EmailBody, EmailMessage};
use storage::connections::Connection;

use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::connections;
use crate::connections::request_context::RequestContext;
use crate::resources::mail::files::{outgoing_file, within};
use crate::resources::mail::filter::MessageFields;
use crate::resources::mail::{attachments, read};
use crate::sending::message::Original;

/// Most bytes of an original's text that a forward quotes.
const MAX_QUOTED: usize = 512 << 10;

/// Adds to a reply or forward the fields that derive from the original. Recipients come from the caller alone, except for reply-all.
pub async fn answer(
    app: &App,
    asker: &RequestContext,
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
            outgoing.subject = Some(foreign::subject(&forward_subject(&subject)));
        }
        outgoing.references = message.internet_message_id.clone().into_iter().collect();
        return forward(app, asker, connection, original, &message, outgoing).await;
    }
    if !is_named {
        outgoing.subject = Some(foreign::subject(&reply_subject(&subject)));
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

/// Adds the other participants of the conversation.
fn everybody(connection: &Connection, message: &EmailMessage, outgoing: &mut Outgoing) {
    let own: Vec<String> = connection.addresses.iter().chain(&connection.email).cloned().collect();
    let is_own = |a: &EmailAddress| {
        let folded = ::mail::address::folded(&a.email);
        own.iter().any(|o| ::mail::address::folded(o) == folded)
            || outgoing.from.iter().any(|f| ::mail::address::folded(&f.email) == folded)
    };
    let senders = if message.reply_to.is_empty() { &message.from } else { &message.reply_to };
    // A reply to our own message goes to its recipients.
    let is_ours = senders.iter().all(is_own);
    let to: Vec<&EmailAddress> = match is_ours {
        true => message.to.iter().collect(),
        false => senders.iter().chain(&message.to).collect(),
    };
    let others = |people: Vec<&EmailAddress>| -> Vec<EmailAddress> {
        people
            .into_iter()
            .filter(|a| !is_own(a) && ::mail::address::check(&a.email).is_ok())
            .map(foreign::address)
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

/// Appends the original and its files to the caller's text.
async fn forward(
    app: &App,
    asker: &RequestContext,
    connection: &Connection,
    original: &Original,
    message: &EmailMessage,
    outgoing: &mut Outgoing,
) -> Result<()> {
    let granted = connections::granted(connection, ResourceKind::EmailMessage.read_scope());
    granted.map_err(|e| e.with_param("replyToMessageId"))?;
    let (item, content) =
        read::read(app, asker, connection, original.item.clone(), MessageFields::Full).await?;
    let body = content.body.unwrap_or_default();
    compute::at_once(bytes_of(&body), || quote(message, body, outgoing));
    let mut bytes: usize = outgoing.attachments.iter().map(|f| f.content.len()).sum();
    for attachment in &message.attachments {
        let (attachment, part) = attachments::find(&item, &attachment.id)?;
        let blob = attachments::bytes(app, asker, connection, &item, &part).await?;
        bytes += usize::try_from(blob.size()).unwrap_or(usize::MAX);
        within(bytes, "replyToMessageId")?;
        let content = blob.read(0, usize::try_from(blob.size()).unwrap_or(0)).map_err(anyhow::Error::from)?;
        outgoing.attachments.push(OutgoingFile { content: content.to_vec(), ..outgoing_file(&attachment) });
    }
    Ok(())
}

fn bytes_of(body: &EmailBody) -> usize {
    [&body.text, &body.html].into_iter().flatten().map(String::len).sum()
}

/// Appends the original to each text that the caller wrote: to the plain text its text, or that of its HTML; to the HTML its HTML, or its
/// text. If the caller wrote neither, the original's kind is used.
fn quote(message: &EmailMessage, body: EmailBody, outgoing: &mut Outgoing) {
    let (text, _) = ::mail::read::cut(body.text.unwrap_or_default(), MAX_QUOTED);
    let (html, _) = ::mail::read::cut(body.html.unwrap_or_default(), MAX_QUOTED);
    let text = ::mail::text::without_smuggled(text);
    let head = head(message);
    let is_html = outgoing.html.is_some() || (!html.is_empty() && outgoing.text.is_none());
    if outgoing.text.is_some() || !is_html {
        let own = outgoing.text.take().unwrap_or_default();
        let lines: String = head.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
        let text = if text.trim().is_empty() { ::mail::html::plain(&html) } else { text.clone() };
        outgoing.text = Some(format!("{own}\n\n---------- Forwarded message ----------\n{lines}\n{text}"));
    }
    if is_html {
        let own = outgoing.html.take().unwrap_or_default();
        let rows: String =
            head.iter().map(|(name, value)| format!("<b>{name}:</b> {}<br>", escape_html(value))).collect();
        let inner = match html.is_empty() {
            true => format!("<pre>{}</pre>", escape_html(&text)),
            false => passed_on(message, &html),
        };
        outgoing.html =
            Some(format!("{own}<br><br>---------- Forwarded message ----------<br>{rows}<br>{inner}"));
    }
}

/// The original's HTML without active content. Its images refer to the files of the new message.
fn passed_on(message: &EmailMessage, html: &str) -> String {
    let ids = message.attachments.iter().filter_map(|file| file.content_id.as_deref());
    let ids: HashMap<&str, String> =
        ids.filter_map(|id| Some((id, format!("cid:{}", cid::encoded(&foreign::content_id(id)?))))).collect();
    let cid = |id: &str| ids.get(id).cloned();
    ::mail::html::safe(html, &::mail::html::Safe { images: true, cid: &cid })
}

/// The header lines of a forwarded message.
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
    head.into_iter().map(|(name, value)| (name, ::mail::text::without_smuggled(value))).collect()
}

fn escape_html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use ::mail::build::Outgoing;
    use model::email::{Attachment, EmailAddress, EmailBody, EmailMessage};

    use super::quote;

    const HTML: &str = "<style type='text/css'>p{}</style><p>Look <img src=\"cid:image%201%20(2)%40x\"></p><script>x</script>";

    /// Builds a forward of an original below the caller's own text.
    fn forwarded(original: (Option<&str>, Option<&str>), own: (Option<&str>, Option<&str>)) -> Outgoing {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let picture =
            Attachment { content_id: Some("image 1 (2)@x".into()), inline: true, ..Attachment::default() };
        let message = EmailMessage {
            from: vec![EmailAddress { name: Some("<Ann>".into()), email: "ann@x.test".into() }],
            attachments: vec![picture],
            ..EmailMessage::default()
        };
        let body = EmailBody { text: owned(original.0), html: owned(original.1), ..EmailBody::default() };
        let mut outgoing = Outgoing { text: owned(own.0), html: owned(own.1), ..Outgoing::default() };
        quote(&message, body, &mut outgoing);
        outgoing
    }

    #[test]
    fn each_text_that_was_written_has_the_whole_original() {
        for own in [(Some("see"), None), (None, Some("<i>see</i>")), (Some("see"), Some("<i>see</i>"))] {
            for original in [
                (Some("Look"), None),
                (None, Some(HTML)),
                (Some("Look"), Some(HTML)),
                (Some(" "), Some(HTML)),
            ] {
                let sent = forwarded(original, own);
                assert_eq!((sent.text.is_some(), sent.html.is_some()), (own.0.is_some(), own.1.is_some()));
                for text in [&sent.text, &sent.html].into_iter().flatten() {
                    assert!(
                        text.contains("see") && text.contains("ann@x.test") && text.contains("Look"),
                        "{text}"
                    );
                    assert!(!text.contains("script") && !text.contains("p{}"), "{text}");
                }
            }
        }
    }

    #[test]
    fn without_a_text_of_the_caller_the_original_has_its_own_kind() {
        let kinds = |sent: Outgoing| (sent.text.is_some(), sent.html.is_some());
        assert_eq!(kinds(forwarded((Some("Look"), None), (None, None))), (true, false));
        assert_eq!(kinds(forwarded((None, Some(HTML)), (None, None))), (false, true));
        assert_eq!(kinds(forwarded((None, None), (None, None))), (true, false));
    }

    #[test]
    fn text_that_nobody_sees_is_not_passed_on() {
        let hidden = "<div style=\"display:none\">secret</div><p>Look\u{e0073}</p>";
        for original in [(None, Some(hidden)), (Some("Look\u{e0073}"), Some(hidden))] {
            for own in [(Some("see"), None), (None, Some("<i>see</i>")), (None, None)] {
                let sent = forwarded(original, own);
                for text in [&sent.text, &sent.html].into_iter().flatten() {
                    let is_clean = !text.contains("secret") && !text.contains('\u{e0073}');
                    assert!(text.contains("Look") && is_clean, "{text:?}");
                }
            }
        }
    }

    #[test]
    fn a_picture_is_named_as_its_file_is() {
        let html = forwarded((None, Some(HTML)), (None, None)).html.expect("the original has HTML");
        assert!(html.contains("src=\"cid:image%201%20%282%29@x\""), "{html}");
        assert!(html.contains("&lt;Ann&gt;"), "{html}");
    }
}
