//! Automatic answers of some addresses, whatever their domain: `reject@` and `defer@` refuse a message, `bounce@` accepts it and
//! returns a bounce, `away@` sends an automatic reply, `replies@` a personal one.

use crate::mail::compose::{date, message, multipart, person, text, words};
use crate::mail::types::{Content, Outcome};

/// The provider itself, as bounces name it.
const DAEMON: &str = "mailer-daemon@sandbox.test";
/// The most of a message's headers that a bounce returns.
const MAX_RETURNED: usize = 64 << 10;

/// The server's SMTP reply to a recipient.
pub fn outcome(mail: &str) -> Outcome {
    let local = mail.split('@').next().unwrap_or_default();
    let is_address = mail.split_once('@').is_some_and(|(local, domain)| {
        let is_plain = |part: &str| !part.is_empty() && !part.contains(char::is_whitespace);
        is_plain(local) && is_plain(domain) && !domain.contains('@')
    });
    let (accepted, reply) = match local {
        _ if !is_address => (false, "553 5.1.3 that is no address"),
        "reject" => (false, "550 5.1.1 no such user"),
        "defer" => (false, "451 4.3.0 try again later"),
        _ => (true, "250 2.1.5 ok"),
    };
    Outcome { mail: mail.to_owned(), accepted, reply: reply.to_owned() }
}

/// A message that was sent.
pub struct SentMessage<'a> {
    /// The envelope's sender.
    pub from: &'a str,
    pub content: &'a Content,
    pub raw: &'a [u8],
    pub now_ms: i64,
}

/// The message that a recipient sends back; `id` becomes its Message-ID. None: no answer.
pub fn answer(sent: &SentMessage<'_>, recipient: &str, id: &str) -> Option<Vec<u8>> {
    match recipient.split('@').next().unwrap_or_default() {
        "bounce" => Some(bounce(sent, recipient, id)),
        // Machines that answer machines never stop (RFC 3834 section 2).
        "away" if !sent.content.automatic => {
            let said = "I am away until further notice and read nothing.";
            Some(reply(sent, recipient, id, ("Automatic reply", said), "auto-replied"))
        }
        "replies" if !sent.content.automatic => {
            Some(reply(sent, recipient, id, ("Re", "Thank you, I have got it and come back to you."), ""))
        }
        _ => None,
    }
}

fn headers(sent: &SentMessage<'_>, from: String, id: &str, subject: String) -> Vec<(&'static str, String)> {
    let named = |id: &String| format!("<{id}>");
    let references: Vec<String> =
        sent.content.references.iter().chain(&sent.content.message_id).map(named).collect();
    vec![
        ("From", from),
        ("To", sent.from.to_owned()),
        ("Subject", subject),
        ("Date", date(sent.now_ms)),
        ("Message-ID", format!("<{id}@sandbox.test>")),
        ("In-Reply-To", sent.content.message_id.as_ref().map(named).unwrap_or_default()),
        ("References", references.join("\r\n ")),
    ]
}

fn reply(
    sent: &SentMessage<'_>,
    recipient: &str,
    id: &str,
    (prefix, said): (&str, &str),
    automatic: &str,
) -> Vec<u8> {
    let subject = sent.content.subject.as_deref().unwrap_or_default();
    let subject = match prefix == "Re" && subject.get(..3).is_some_and(|re| re.eq_ignore_ascii_case("re:")) {
        true => subject.to_owned(),
        false => format!("{prefix}: {subject}"),
    };
    let mut headers = headers(sent, recipient.to_owned(), id, words(&subject));
    headers.push(("Auto-Submitted", automatic.to_owned()));
    message(&headers, &text("text/plain", &format!("{said}\n")))
}

/// A delivery status notification (RFC 3464).
fn bounce(sent: &SentMessage<'_>, recipient: &str, id: &str) -> Vec<u8> {
    let said = format!(
        "Your message could not be delivered to {recipient}:\n550 5.1.1 the mailbox is not there any more\n"
    );
    let status = format!(
        "Content-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; sandbox.test\r\nArrival-Date: {}\r\n\r\n\
         Final-Recipient: rfc822; {recipient}\r\nAction: failed\r\nStatus: 5.1.1\r\n\
         Diagnostic-Code: smtp; 550 5.1.1 the mailbox is not there any more\r\n",
        date(sent.now_ms)
    );
    let mut returned = b"Content-Type: text/rfc822-headers\r\n\r\n".to_vec();
    returned.extend_from_slice(head(sent.raw));
    let parts = [text("text/plain", &said), status.into_bytes(), returned];
    let from = person("Mail delivery", DAEMON);
    let mut headers = headers(sent, from, id, "Undelivered mail returned to sender".to_owned());
    headers.push(("Auto-Submitted", "auto-replied".to_owned()));
    message(&headers, &multipart("report; report-type=delivery-status", &format!("report-{id}"), &parts))
}

/// The headers of a message, with the line end of the last one.
fn head(raw: &[u8]) -> &[u8] {
    let end = raw.windows(4).take(MAX_RETURNED).position(|four| four == b"\r\n\r\n");
    &raw[..end.map_or(raw.len().min(MAX_RETURNED), |end| end + 2)]
}

#[cfg(test)]
mod tests {
    use crate::mail::answers::{SentMessage, answer, head, outcome};
    use crate::mail::parse;

    #[test]
    fn outcomes() {
        let reply = |mail: &str| outcome(mail).reply;
        assert!(reply("reject@x.test").starts_with("550 5.1.1"));
        assert!(reply("defer@x.test").starts_with("451 4.3.0"));
        assert!(reply("nobody").starts_with("553 5.1.3"));
        assert!(outcome("bounce@x.test").accepted && outcome("bob@sandbox.test").accepted);
    }

    #[test]
    fn bounces() {
        let raw = b"Subject: Hi\r\nMessage-ID: <1@x>\r\n\r\nText\r\n";
        let content = parse::read(raw).unwrap().content;
        let sent = SentMessage { from: "alice@sandbox.test", content: &content, raw, now_ms: 0 };
        let bounce = answer(&sent, "bounce@x.test", "b1").unwrap();
        let read = parse::read(&bounce).unwrap().content;
        assert_eq!((read.in_reply_to, read.references), (vec!["1@x".to_owned()], vec!["1@x".to_owned()]));
        let text = String::from_utf8(bounce).unwrap();
        assert!(
            text.contains(
                "\r\nFinal-Recipient: rfc822; bounce@x.test\r\nAction: failed\r\nStatus: 5.1.1\r\n"
            )
        );
        assert!(text.contains("\r\nAuto-Submitted: auto-replied\r\n"));
        assert!(text.contains("\r\n\r\nSubject: Hi\r\nMessage-ID: <1@x>\r\n--report-b1--\r\n"));
        assert_eq!(head(b"A: b"), b"A: b");
        assert!(answer(&sent, "bob@x.test", "b2").is_none());
    }
}
