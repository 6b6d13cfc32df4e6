//! Automatic answers of some addresses, whatever their domain: `reject@` and `defer@` refuse a message, `bounce@` accepts it and
//! returns a bounce, `away@` sends an automatic reply, `replies@` a personal one.

use mail::build::{Outgoing, build};
use mail::threads::reply_subject;
use model::Instant;
use model::email::{EmailAddress, EmailHeader, EmailMessage};

use crate::mail::types::RecipientReply;
use crate::times::header_date;

/// The most of a message's headers that a bounce returns.
const MAX_RETURNED: usize = 64 << 10;

/// The server's reply to a recipient.
pub fn smtp_reply(mail: &str) -> RecipientReply {
    let local = mail.split('@').next().unwrap_or_default();
    let is_address = mail.split_once('@').is_some_and(|(local, domain)| {
        let is_plain = |part: &str| !part.is_empty() && !part.contains(char::is_whitespace);
        is_plain(local) && is_plain(domain) && !domain.contains('@')
    });
    let reply = match local {
        _ if !is_address => "553 5.1.3 that is no address",
        "reject" => "550 5.1.1 no such user",
        "defer" => "451 4.3.0 try again later",
        _ => "250 2.1.5 ok",
    };
    RecipientReply { email: mail.to_owned(), reply: reply.to_owned() }
}

/// A message that was sent.
pub struct SentMessage<'a> {
    /// The envelope's sender.
    pub from: &'a str,
    pub content: &'a EmailMessage,
    pub raw: &'a [u8],
    pub now_ms: i64,
}

/// The message that a recipient sends back; `id` becomes its Message-ID. None: no answer.
pub fn answer(sent: &SentMessage<'_>, recipient: &str, id: &str) -> Option<Vec<u8>> {
    let reply = reply(sent, recipient, id);
    let subject = sent.content.subject.as_deref().unwrap_or_default();
    let reply = match recipient.split('@').next().unwrap_or_default() {
        "bounce" => return Some(bounce(sent, recipient, id)),
        // Machines that answer machines never stop (RFC 3834 section 2).
        "away" if !sent.content.auto_reply => Outgoing {
            subject: Some(format!("Automatic reply: {subject}")),
            text: Some("I am away until further notice and do not read mail.\n".to_owned()),
            headers: vec![EmailHeader {
                name: "Auto-Submitted".to_owned(),
                value: "auto-replied".to_owned(),
            }],
            ..reply
        },
        "replies" if !sent.content.auto_reply => Outgoing {
            subject: Some(reply_subject(subject)),
            text: Some("Thank you for your message. I will get back to you.\n".to_owned()),
            ..reply
        },
        _ => return None,
    };
    build(&reply).ok().map(|built| built.bytes)
}

/// A reply without subject and text.
fn reply(sent: &SentMessage<'_>, recipient: &str, id: &str) -> Outgoing {
    let address = |email: &str| vec![EmailAddress { name: None, email: email.to_owned() }];
    Outgoing {
        message_id: format!("{id}@sandbox.test"),
        date: Instant::from_millis(sent.now_ms),
        from: address(recipient),
        to: address(sent.from),
        in_reply_to: sent.content.internet_message_id.iter().cloned().collect(),
        references: conversation(sent.content),
        ..Outgoing::default()
    }
}

/// The Message-IDs up to this message.
fn conversation(content: &EmailMessage) -> Vec<String> {
    content.references.iter().chain(&content.internet_message_id).cloned().collect()
}

/// A delivery status notification (RFC 3464).
fn bounce(sent: &SentMessage<'_>, recipient: &str, id: &str) -> Vec<u8> {
    let (to, date) = (sent.from, header_date(sent.now_ms));
    let references: String = conversation(sent.content).iter().map(|id| format!("\r\n <{id}>")).collect();
    let references =
        Some(references).filter(|ids| !ids.is_empty()).map(|ids| format!("References:{ids}\r\n"));
    let in_reply_to = sent.content.internet_message_id.iter().map(|id| format!("In-Reply-To: <{id}>\r\n"));
    let thread: String = in_reply_to.chain(references).collect();
    let head = format!(
        "From: Mail delivery <mailer-daemon@sandbox.test>\r\nTo: {to}\r\nSubject: Undelivered mail returned to sender\r\n\
         Date: {date}\r\nMessage-ID: <{id}@sandbox.test>\r\n{thread}\
         Auto-Submitted: auto-replied\r\nMIME-Version: 1.0\r\n\
         Content-Type: multipart/report; report-type=delivery-status; boundary=\"report-{id}\"\r\n\r\n\
         --report-{id}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n\
         Your message could not be delivered to {recipient}:\r\n550 5.1.1 the mailbox is not there any more\r\n\
         --report-{id}\r\nContent-Type: message/delivery-status\r\n\r\n\
         Reporting-MTA: dns; sandbox.test\r\nArrival-Date: {date}\r\n\r\n\
         Final-Recipient: rfc822; {recipient}\r\nAction: failed\r\nStatus: 5.1.1\r\n\
         Diagnostic-Code: smtp; 550 5.1.1 the mailbox is not there any more\r\n\
         --report-{id}\r\nContent-Type: text/rfc822-headers\r\n\r\n"
    );
    [head.as_bytes(), header_of(sent.raw), format!("--report-{id}--\r\n").as_bytes()].concat()
}

/// The headers of a message, with the line end of the last one.
fn header_of(raw: &[u8]) -> &[u8] {
    let end = raw.windows(4).take(MAX_RETURNED).position(|four| four == b"\r\n\r\n");
    &raw[..end.map_or(raw.len().min(MAX_RETURNED), |end| end + 2)]
}

#[cfg(test)]
mod tests {
    use crate::mail::answers::{SentMessage, answer, header_of, smtp_reply};
    use crate::mail::parse;

    #[test]
    fn replies() {
        let outcome = |mail: &str| {
            let outcome = smtp_reply(mail).outcome();
            (outcome.accepted, outcome.temporary, outcome.enhanced_status.unwrap())
        };
        assert_eq!(outcome("reject@x.test"), (false, false, "5.1.1".to_owned()));
        assert_eq!(outcome("defer@x.test"), (false, true, "4.3.0".to_owned()));
        assert_eq!(outcome("nobody"), (false, false, "5.1.3".to_owned()));
        assert!(outcome("bounce@x.test").0 && outcome("bob@sandbox.test").0);
    }

    #[test]
    fn bounces() {
        let raw = b"Subject: Hi\r\nMessage-ID: <1@x>\r\n\r\nText\r\n";
        let content = parse::read(raw).unwrap().body;
        let sent = SentMessage { from: "alice@sandbox.test", content: &content, raw, now_ms: 0 };
        let bounce = answer(&sent, "bounce@x.test", "b1").unwrap();
        let read = parse::read(&bounce).unwrap().body;
        assert_eq!((read.in_reply_to, read.references), (vec!["1@x".to_owned()], vec!["1@x".to_owned()]));
        let text = String::from_utf8(bounce).unwrap();
        assert!(
            text.contains(
                "\r\nFinal-Recipient: rfc822; bounce@x.test\r\nAction: failed\r\nStatus: 5.1.1\r\n"
            )
        );
        assert!(text.contains("\r\nAuto-Submitted: auto-replied\r\n"));
        assert!(text.contains("\r\n\r\nSubject: Hi\r\nMessage-ID: <1@x>\r\n--report-b1--\r\n"));
        assert_eq!(header_of(b"A: b"), b"A: b");
        assert!(answer(&sent, "bob@x.test", "b2").is_none());
    }
}
