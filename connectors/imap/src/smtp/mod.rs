//! A connection to a submission server (RFC 5321, RFC 6409): commands and replies, and one transaction.

use std::borrow::Cow;

use connector_sdk::tcp::{Line, TcpError, TcpSegment};
use connector_sdk::{Context, Failure, Outcome, code};
use io_smtp::coroutine::{SmtpCoroutine as _, SmtpCoroutineState, SmtpYield};
use io_smtp::rfc1870::size::{SIZE, SmtpSizeCapability};
use io_smtp::rfc5321::data::{SmtpDataBody, SmtpDataCommand};
use io_smtp::rfc5321::mail::SmtpMailCommand;
use io_smtp::rfc5321::rcpt::SmtpRcptCommand;
use io_smtp::rfc5321::rset::SmtpRsetCommand;
use io_smtp::rfc5321::{
    SmtpAtom, SmtpDomain, SmtpEhloDomain, SmtpEhloResponse, SmtpForwardPath, SmtpLocalPart, SmtpMailbox,
    SmtpParameter, SmtpReplyCode, SmtpReversePath,
};
use io_smtp::send::SmtpCommandSend;
use model::wire::email::RecipientOutcome;
use serde_json::json;

use crate::smtp::reply::Reply;

pub mod reply;

/// The maximum size of a reply, in bytes.
const MAX_REPLY_BYTES: usize = 64 << 10;

/// The maximum number of pipelined recipients (RFC 2920).
const MAX_UNDER_WAY: usize = 100;

/// The maximum number of kept connections, one after the other, that may turn out to be closed.
const MAX_REOPENED: usize = 4;

/// The envelope and the message to hand over.
pub struct Envelope<'a> {
    pub from: &'a str,
    pub recipients: &'a [String],
    pub blob: &'a str,
}

/// A pending command: the crate's state machine that writes it and reads its reply.
struct CommandExchange(SmtpCommandSend<Vec<u8>>);

impl CommandExchange {
    fn new(command: impl Into<Vec<u8>>) -> Self {
        CommandExchange(SmtpCommandSend::new(command.into()))
    }

    /// Returns the bytes of the command.
    fn bytes(&mut self) -> Vec<u8> {
        match self.0.resume(None) {
            SmtpCoroutineState::Yielded(SmtpYield::WantsWrite(bytes)) => bytes,
            _ => Vec::new(),
        }
    }
}

/// An open connection.
pub struct Smtp {
    line: Box<dyn Line>,
    input: Vec<u8>,
    /// The offset of the next line in the buffer.
    start: usize,
    extensions: SmtpEhloResponse<'static>,
    was_kept: bool,
    /// Whether the connection has answered a command of this call.
    proven: bool,
}

impl Smtp {
    /// Takes a kept connection, or opens a new one.
    pub fn open(cx: &Context) -> Outcome<Self> {
        let line = cx.open_line("smtp", "smtp")?;
        let capabilities = line.capabilities().into_iter().map(Cow::Owned).collect();
        // The host has sent EHLO, and passes its answer on without the server's name.
        let extensions = SmtpEhloResponse { domain: SmtpDomain("".into()), greet: None, capabilities };
        let was_kept = line.note().is_some();
        Ok(Smtp { line, input: Vec::new(), start: 0, extensions, was_kept, proven: false })
    }

    /// The maximum size of a message that the server accepts (RFC 1870); none if it does not say.
    pub fn max_size(&self) -> Option<u64> {
        let size = SmtpSizeCapability::parse(self.extensions.get_capability(SIZE)?).ok()?;
        Some(size.0).filter(|size| *size > 0)
    }

    /// Keeps the connection for a later call.
    pub fn keep(mut self) {
        if self.input.len() == self.start {
            self.line.keep("{}");
        }
    }

    /// Sends pipelined commands. Their replies come in the same order.
    fn send<'s>(
        &mut self,
        commands: impl IntoIterator<Item = &'s mut CommandExchange>,
    ) -> Result<(), TcpError> {
        let bytes = commands.into_iter().flat_map(CommandExchange::bytes).collect();
        self.line.write(vec![TcpSegment::Bytes(bytes)])
    }

    fn command(&mut self, command: impl Into<Vec<u8>>) -> Result<Reply, TcpError> {
        let mut sending = CommandExchange::new(command);
        self.send([&mut sending])?;
        self.reply(sending)
    }

    /// Reads the reply to this command. The crate gets only its lines, because the rest belongs to the next command.
    fn reply(&mut self, mut sending: CommandExchange) -> Result<Reply, TcpError> {
        let mut lines = Vec::new();
        loop {
            let line = self.read_line()?;
            let line = line.trim_ascii_end();
            lines.extend_from_slice(line);
            lines.push(b'\n');
            let code = line.get(..3).and_then(|code| SmtpReplyCode::parse(code).ok());
            let code = code.filter(|_| lines.len() <= MAX_REPLY_BYTES);
            let code =
                code.ok_or_else(|| TcpError::new("unavailable", "the SMTP server's reply cannot be read"))?;
            let is_last = line.get(3) != Some(&b'-');
            // The crate requires a blank after the code of a last line without text, and a CRLF.
            let end: &[u8] = if line.len() == 3 { b" \r\n" } else { b"\r\n" };
            let reply = match sending.0.resume(Some(&[line, end].concat())) {
                SmtpCoroutineState::Complete(Ok(read)) => Reply::from(read.response),
                SmtpCoroutineState::Yielded(_) if !is_last => continue,
                // The text is one that the crate refuses.
                _ => Reply::lossy(code, &lines),
            };
            // The server can end the session after any command (RFC 5321 section 3.8).
            if reply.code == SmtpReplyCode::SERVICE_NOT_AVAILABLE {
                return Err(TcpError::new("closed", "the SMTP server ended the session"));
            }
            self.proven = true;
            return Ok(reply);
        }
    }

    /// Returns the next line. Bytes that were read are scanned once, and dropped when no whole line is left.
    fn read_line(&mut self) -> Result<Vec<u8>, TcpError> {
        let mut seen = self.start;
        loop {
            let unseen = self.input.get(seen..).unwrap_or_default();
            if let Some(len) = unseen.iter().position(|byte| *byte == b'\n') {
                let end = seen + len + 1;
                let line = self.input.get(self.start..end).unwrap_or_default().to_vec();
                self.start = end;
                return Ok(line);
            }
            self.input.drain(..self.start);
            self.start = 0;
            seen = self.input.len();
            if seen > MAX_REPLY_BYTES {
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

/// Hands a message over and returns the outcome for each recipient; refusals are not failures. If the connection is lost after the
/// hand-over, the failure has `detail.handedOver`.
pub fn deliver(cx: &Context, envelope: &Envelope<'_>) -> Outcome<Vec<RecipientOutcome>> {
    for _ in 0..MAX_REOPENED {
        let mut smtp = Smtp::open(cx)?;
        let mail = mail_command(cx, &smtp, envelope)?;
        match smtp.addresses(mail, envelope.recipients) {
            // A kept connection that was closed has sent nothing: try again.
            Err(lost) if lost.code == "closed" && smtp.was_kept && !smtp.proven => {}
            Err(lost) => return Err(lost.into()),
            Ok(mut outcomes) => {
                if outcomes.iter().any(|outcome| outcome.accepted) {
                    smtp.data(cx, envelope.blob, &mut outcomes)?;
                } else {
                    // Nothing was handed over, so a failure of RSET does not matter.
                    smtp.command(SmtpRsetCommand).ok();
                }
                smtp.keep();
                return Ok(outcomes);
            }
        }
    }
    Err(Failure::unavailable("the SMTP server closes every session"))
}

/// The command `MAIL FROM` with the parameters of the server's extensions.
fn mail_command<'e>(cx: &Context, smtp: &Smtp, envelope: &Envelope<'e>) -> Outcome<SmtpMailCommand<'e>> {
    let addresses = || std::iter::once(envelope.from).chain(envelope.recipients.iter().map(String::as_str));
    addresses().try_for_each(check_address)?;
    let has = |extension: &str| smtp.extensions.has_capability(extension);
    let mut parameters = Vec::new();
    if has(SIZE)
        && let Some(size) = cx.host().blob_size(envelope.blob)
    {
        parameters.extend(parameter(b"SIZE", Some(size.to_string())));
    }
    if has("8BITMIME") {
        parameters.extend(parameter(b"BODY", Some("8BITMIME".to_owned())));
    }
    if !addresses().all(str::is_ascii) {
        if !has("SMTPUTF8") {
            let message = "the SMTP server takes no addresses with characters other than ASCII";
            return Err(Failure::new(code::UNSUPPORTED, message));
        }
        parameters.extend(parameter(b"SMTPUTF8", None));
    }
    let reverse_path = mailbox(envelope.from).map_or(SmtpReversePath::Null, SmtpReversePath::SmtpMailbox);
    Ok(SmtpMailCommand { reverse_path, parameters })
}

fn parameter(keyword: &'static [u8], value: Option<String>) -> Option<SmtpParameter<'static>> {
    let keyword = SmtpAtom::parse(keyword).ok()?;
    Some(SmtpParameter { keyword, value: value.map(Cow::Owned) })
}

fn rcpt_command(address: &str) -> Option<SmtpRcptCommand<'_>> {
    Some(SmtpRcptCommand { forward_path: SmtpForwardPath(mailbox(address)?), parameters: Vec::new() })
}

/// Splits an address at its last `@`. The parts are not validated further, because servers differ in what they accept.
fn mailbox(address: &str) -> Option<SmtpMailbox<'_>> {
    let (local, domain) = address.rsplit_once('@')?;
    let domain = SmtpEhloDomain::SmtpDomain(SmtpDomain(domain.into()));
    Some(SmtpMailbox { local_part: SmtpLocalPart(local.into()), domain })
}

/// Checks that an address can be written between angle brackets: no character ends them or the line.
fn check_address(address: &str) -> Outcome<()> {
    let is_bad =
        |c: char| c.is_control() || c.is_whitespace() || matches!(c, '<' | '>' | '\u{2028}' | '\u{2029}');
    if address.is_empty() || address.len() > 320 || !address.contains('@') || address.contains(is_bad) {
        return Err(Failure::invalid("an address of the envelope cannot be written into a command"));
    }
    Ok(())
}

impl Smtp {
    /// Sends sender and recipients. A refusal of the sender counts for all recipients.
    fn addresses(
        &mut self,
        mail: SmtpMailCommand<'_>,
        recipients: &[String],
    ) -> Result<Vec<RecipientOutcome>, TcpError> {
        let mut outcomes = Vec::with_capacity(recipients.len());
        let mut mail = Some(CommandExchange::new(mail));
        let mut sender = None;
        let has_pipelining = self.extensions.has_capability("PIPELINING");
        if !has_pipelining && let Some(mut mail) = mail.take() {
            self.send([&mut mail])?;
            sender = Some(self.reply(mail)?);
        }
        for part in recipients.chunks(if has_pipelining { MAX_UNDER_WAY } else { 1 }) {
            if let Some(sender) = sender.as_ref().filter(|sender| !sender.code.is_positive_completion()) {
                outcomes.extend(part.iter().map(|email| sender.outcome(email)));
                continue;
            }
            let rcpts = part.iter().filter_map(|email| rcpt_command(email));
            let mut rcpts: Vec<CommandExchange> = rcpts.map(CommandExchange::new).collect();
            self.send(mail.iter_mut().chain(&mut rcpts))?;
            if let Some(mail) = mail.take() {
                sender = Some(self.reply(mail)?);
            }
            for (email, rcpt) in part.iter().zip(rcpts) {
                let reply = self.reply(rcpt)?;
                // After the sender was refused, replies to RCPT are not about the recipient.
                let refusal = sender.as_ref().filter(|sender| !sender.code.is_positive_completion());
                outcomes.push(refusal.unwrap_or(&reply).outcome(email));
            }
        }
        Ok(outcomes)
    }

    /// Sends the message; the server's reply counts for all accepted recipients.
    fn data(&mut self, cx: &Context, blob: &str, outcomes: &mut [RecipientOutcome]) -> Outcome<()> {
        let asked = self.command(SmtpDataCommand)?;
        if asked.code != SmtpReplyCode::START_MAIL_INPUT {
            let code = if asked.code.is_error() { asked.code } else { SmtpReplyCode::TRANSACTION_FAILED };
            settle(outcomes, &Reply { code, ..asked });
            self.command(SmtpRsetCommand).ok();
            return Ok(());
        }
        self.line.write(vec![TcpSegment::BlobDotStuffed(blob.to_owned())])?;
        let size = cx.host().blob_size(blob).unwrap_or(0);
        let tail = cx.host().read_blob(blob, size.saturating_sub(2), 2);
        // The final dot is on its own line, without an additional empty line after a message that ends with a line break.
        let end: &[u8] = if tail.as_deref() == Some(b"\r\n") { b".\r\n" } else { b"\r\n.\r\n" };
        cx.reached("handed-over");
        let reply = self.command(SmtpDataBody(end.to_vec())).map_err(|lost| {
            let message = "the SMTP server did not say whether it took the message";
            let detail = json!({ "handedOver": true, "code": lost.code, "message": lost.message });
            Failure::unavailable(message).with_detail(detail)
        })?;
        settle(outcomes, &reply);
        if outcomes.iter().any(|outcome| outcome.accepted) {
            cx.reached("accepted");
        }
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
    use super::check_address;

    #[test]
    fn an_address_stays_within_its_brackets() {
        assert!(check_address("a+b@example.test").is_ok());
        for bad in ["", "a", "a@b>\r\nRCPT TO:<c@d", "a@b\nDATA", "a b@c", "a@b\0", "<a@b>"] {
            assert!(check_address(bad).is_err(), "{bad}");
        }
    }
}
