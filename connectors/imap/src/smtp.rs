//! A line to a submission server (RFC 5321, RFC 6409): commands and replies, and one transaction.

use connector_sdk::tcp::{Line, Segment, TcpError};
use connector_sdk::{Context, Failure, Outcome, code};
use model::wire::email::RecipientOutcome;
use serde_json::json;

/// Bytes of one reply.
const MAX_REPLY_BYTES: usize = 64 << 10;

/// Recipients whose commands are under way at a time (RFC 2920).
const MAX_UNDER_WAY: usize = 100;

/// Characters of a reply that are told.
const MAX_TOLD_CHARS: usize = 500;

/// Kept lines that may turn out to be closed, one after the other.
const MAX_REOPENED: usize = 4;

/// What a server answers to a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    pub code: u16,
    pub lines: Vec<String>,
}

impl Reply {
    /// The server does what was asked (RFC 5321 section 4.2.1).
    pub fn is_positive(&self) -> bool {
        (200..300).contains(&self.code)
    }

    /// May go well later.
    pub fn is_temporary(&self) -> bool {
        (400..500).contains(&self.code)
    }

    /// RFC 3463: `5.1.1`, at the start of the text, if it fits the code.
    pub fn enhanced_status(&self) -> Option<String> {
        let first = self.lines.first()?.split_ascii_whitespace().next()?;
        let mut parts = first.split('.');
        let class = parts.next().filter(|class| ["2", "4", "5"].contains(class))?;
        let is_number =
            |part: &str| (1..=3).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
        let is_good = parts.by_ref().take(2).filter(|part| is_number(part)).count() == 2;
        (is_good && parts.next().is_none() && class.parse() == Ok(self.code / 100)).then(|| first.to_owned())
    }

    /// All on one line: `550 5.1.1 no such user`.
    pub fn told(&self) -> String {
        let enhanced = self.enhanced_status();
        let mut text = self.code.to_string();
        for (at, line) in self.lines.iter().enumerate() {
            // Each line of a reply repeats the status.
            let line = match &enhanced {
                Some(status) if at > 0 => line.strip_prefix(status.as_str()).unwrap_or(line),
                _ => line,
            };
            text.push(' ');
            text.push_str(line.trim());
        }
        text.chars().filter(|c| !c.is_control()).take(MAX_TOLD_CHARS).collect()
    }

    fn outcome(&self, email: &str) -> RecipientOutcome {
        RecipientOutcome {
            email: email.to_owned(),
            accepted: self.is_positive(),
            temporary: self.is_temporary(),
            reply: Some(self.told()),
            enhanced_status: self.enhanced_status(),
        }
    }
}

/// What to hand over.
pub struct Envelope<'a> {
    pub from: &'a str,
    pub recipients: &'a [String],
    pub blob: &'a str,
}

/// An open line.
pub struct Smtp {
    line: Box<dyn Line>,
    input: Vec<u8>,
    extensions: Vec<String>,
    was_kept: bool,
    /// It has answered a command of this call.
    proven: bool,
}

impl Smtp {
    /// A line that was kept, or a new one.
    pub fn open(cx: &Context) -> Outcome<Self> {
        let line = cx.open_line("smtp", "smtp")?;
        let extensions = line.capabilities().iter().map(|line| line.trim().to_ascii_uppercase()).collect();
        let was_kept = line.note().is_some();
        Ok(Smtp { line, input: Vec::new(), extensions, was_kept, proven: false })
    }

    /// The parameters of an extension; none where the server does not have it.
    pub fn extension(&self, name: &str) -> Option<&str> {
        self.extensions.iter().find_map(|line| {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            (word == name).then_some(rest)
        })
    }

    /// The greatest message that the server takes (RFC 1870); none: it does not say.
    pub fn max_size(&self) -> Option<u64> {
        self.extension("SIZE")?.trim().parse().ok().filter(|size| *size > 0)
    }

    /// The line is kept for a later call.
    pub fn keep(mut self) {
        if self.input.is_empty() {
            self.line.keep("{}");
        }
    }

    fn write(&mut self, text: String) -> Result<(), TcpError> {
        self.line.write(vec![Segment::Bytes(text.into_bytes())])
    }

    fn command(&mut self, text: &str) -> Result<Reply, TcpError> {
        self.write(format!("{text}\r\n"))?;
        self.reply()
    }

    /// One reply, of however many lines.
    fn reply(&mut self) -> Result<Reply, TcpError> {
        let mut reply = Reply::default();
        let mut bytes = 0;
        loop {
            let line = self.read_line()?;
            bytes += line.len();
            let unreadable = || TcpError::new("unavailable", "the SMTP server's reply cannot be read");
            if bytes > MAX_REPLY_BYTES {
                return Err(unreadable());
            }
            let text = String::from_utf8_lossy(&line);
            let code = text.get(..3).and_then(|code| code.parse::<u16>().ok());
            reply.code = code.filter(|code| (200..600).contains(code)).ok_or_else(unreadable)?;
            reply.lines.push(text.get(4..).unwrap_or_default().trim_end().to_owned());
            if text.as_bytes().get(3) != Some(&b'-') {
                // The server ends the session, whatever was asked (RFC 5321 section 3.8).
                if reply.code == 421 {
                    return Err(TcpError::new("closed", "the SMTP server ended the session"));
                }
                self.proven = true;
                return Ok(reply);
            }
        }
    }

    fn read_line(&mut self) -> Result<Vec<u8>, TcpError> {
        loop {
            if let Some(end) = self.input.iter().position(|byte| *byte == b'\n') {
                return Ok(self.input.drain(..=end).collect());
            }
            if self.input.len() > MAX_REPLY_BYTES {
                return Err(TcpError::new("too-large", "the SMTP server's reply is too long"));
            }
            let bytes = self.line.read(8 << 10)?;
            if bytes.is_empty() {
                return Err(TcpError::new("closed", "the SMTP server ended the session"));
            }
            self.input.extend_from_slice(&bytes);
        }
    }
}

/// Hands a message over. Tells what became of each recipient; refusals are no failures. A line that breaks after the message was handed
/// over is a failure with `detail.handedOver`.
pub fn deliver(cx: &Context, envelope: &Envelope<'_>) -> Outcome<Vec<RecipientOutcome>> {
    for _ in 0..MAX_REOPENED {
        let mut smtp = Smtp::open(cx)?;
        let mail = mail_command(cx, &smtp, envelope)?;
        match smtp.addresses(&mail, envelope.recipients) {
            // A line that was kept and is closed by now has done nothing.
            Err(lost) if lost.code == "closed" && smtp.was_kept && !smtp.proven => {}
            Err(lost) => return Err(lost.into()),
            Ok(mut outcomes) => {
                if outcomes.iter().any(|outcome| outcome.accepted) {
                    smtp.data(cx, envelope.blob, &mut outcomes)?;
                } else {
                    // Nothing is handed over, so the failure of this changes nothing.
                    smtp.command("RSET").ok();
                }
                smtp.keep();
                return Ok(outcomes);
            }
        }
    }
    Err(Failure::unavailable("the SMTP server closes every session"))
}

/// `MAIL FROM` with what the extensions want to know.
fn mail_command(cx: &Context, smtp: &Smtp, envelope: &Envelope<'_>) -> Outcome<String> {
    let addresses = || std::iter::once(envelope.from).chain(envelope.recipients.iter().map(String::as_str));
    addresses().try_for_each(check_address)?;
    let mut command = format!("MAIL FROM:<{}>", envelope.from);
    if smtp.extension("SIZE").is_some()
        && let Some(size) = cx.host().blob_size(envelope.blob)
    {
        command.push_str(&format!(" SIZE={size}"));
    }
    if smtp.extension("8BITMIME").is_some() {
        command.push_str(" BODY=8BITMIME");
    }
    if !addresses().all(str::is_ascii) {
        if smtp.extension("SMTPUTF8").is_none() {
            let message = "the SMTP server takes no addresses with characters other than ASCII";
            return Err(Failure::new(code::UNSUPPORTED, message));
        }
        command.push_str(" SMTPUTF8");
    }
    Ok(command)
}

/// What may stand between the brackets: nothing that ends them or the line.
fn check_address(address: &str) -> Outcome<()> {
    let is_bad =
        |c: char| c.is_control() || c.is_whitespace() || matches!(c, '<' | '>' | '\u{2028}' | '\u{2029}');
    if address.is_empty() || address.len() > 320 || !address.contains('@') || address.contains(is_bad) {
        return Err(Failure::invalid("an address of the envelope cannot be written into a command"));
    }
    Ok(())
}

impl Smtp {
    /// Sender and recipients. A sender that is refused is refused for all recipients.
    fn addresses(&mut self, mail: &str, recipients: &[String]) -> Result<Vec<RecipientOutcome>, TcpError> {
        let rcpt = |email: &String| format!("RCPT TO:<{email}>\r\n");
        if self.extension("PIPELINING").is_none() {
            let sender = self.command(mail)?;
            if !sender.is_positive() {
                return Ok(recipients.iter().map(|email| sender.outcome(email)).collect());
            }
            let mut outcomes = Vec::with_capacity(recipients.len());
            for email in recipients {
                self.write(rcpt(email))?;
                outcomes.push(self.reply()?.outcome(email));
            }
            return Ok(outcomes);
        }
        let mut sender: Option<Reply> = None;
        let mut outcomes = Vec::with_capacity(recipients.len());
        for part in recipients.chunks(MAX_UNDER_WAY) {
            let first = if sender.is_none() { format!("{mail}\r\n") } else { String::new() };
            self.write(part.iter().map(rcpt).fold(first, |text, line| text + &line))?;
            let sender = match &mut sender {
                Some(sender) => &*sender,
                none => &*none.insert(self.reply()?),
            };
            for email in part {
                let reply = self.reply()?;
                let reply = if sender.is_positive() { &reply } else { sender };
                outcomes.push(reply.outcome(email));
            }
        }
        Ok(outcomes)
    }

    /// The message itself, for those who were accepted; what the server says of it is said of all of them.
    fn data(&mut self, cx: &Context, blob: &str, outcomes: &mut [RecipientOutcome]) -> Outcome<()> {
        let asked = self.command("DATA")?;
        if asked.code != 354 {
            let refusal = if asked.code >= 400 { asked } else { Reply { code: 554, ..asked } };
            settle(outcomes, &refusal);
            self.command("RSET").ok();
            return Ok(());
        }
        self.line.write(vec![Segment::BlobDotStuffed(blob.to_owned())])?;
        let size = cx.host().blob_size(blob).unwrap_or(0);
        let tail = cx.host().read_blob(blob, size.saturating_sub(2), 2);
        // The dot stands on a line of its own; a message that ends with a line break gets no empty line more.
        let end = if tail.as_deref() == Some(b"\r\n") { ".\r\n" } else { "\r\n.\r\n" };
        cx.reached("handed-over");
        let reply = self.write(end.to_owned()).and_then(|()| self.reply());
        let reply = reply.map_err(|lost| {
            let message = "the SMTP server did not say whether it took the message";
            let detail = json!({ "handedOver": true, "code": lost.code, "message": lost.message });
            Failure::unavailable(message).with_detail(detail)
        })?;
        settle(outcomes, &reply);
        Ok(())
    }
}

fn settle(outcomes: &mut [RecipientOutcome], reply: &Reply) {
    for outcome in outcomes.iter_mut().filter(|outcome| outcome.accepted) {
        *outcome = reply.outcome(&outcome.email);
    }
}

#[cfg(test)]
mod tests {
    use super::{Reply, check_address};

    fn reply(code: u16, lines: &[&str]) -> Reply {
        Reply { code, lines: lines.iter().map(|line| (*line).to_owned()).collect() }
    }

    #[test]
    fn a_reply_is_told_on_one_line() {
        let long = reply(550, &["5.1.1 no such", "5.1.1 user\u{7} here"]);
        assert_eq!(long.told(), "550 5.1.1 no such user here");
        assert_eq!(long.enhanced_status().as_deref(), Some("5.1.1"));
        for (code, text) in
            [(550, "4.1.1 x"), (550, "5.1 x"), (250, "5.1.1"), (550, "5.1.1.1"), (250, "2.x.0"), (250, "")]
        {
            assert_eq!(reply(code, &[text]).enhanced_status(), None, "{code} {text}");
        }
    }

    #[test]
    fn an_address_stays_within_its_brackets() {
        assert!(check_address("a+b@example.test").is_ok());
        for bad in ["", "a", "a@b>\r\nRCPT TO:<c@d", "a@b\nDATA", "a b@c", "a@b\0", "<a@b>"] {
            assert!(check_address(bad).is_err(), "{bad}");
        }
    }
}
