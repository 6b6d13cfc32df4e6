//! The replies of a server to commands, and their form for the host.

use io_smtp::rfc3463::enhanced_status_code::SmtpEnhancedStatusCode;
use io_smtp::rfc5321::{SmtpReplyCode, SmtpResponse};
use model::wire::email::RecipientOutcome;

/// Characters of a reply that are passed on.
const MAX_TOLD_CHARS: usize = 500;

/// A reply of one line or more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    pub code: SmtpReplyCode,
    /// Texts without codes. Not the crate's: it has none but ASCII, and servers speak UTF-8 (RFC 6531 section 3.7.4) and worse.
    pub lines: Vec<String>,
}

impl From<SmtpResponse<'_>> for Reply {
    fn from(response: SmtpResponse<'_>) -> Self {
        let lines = response.lines.into_iter().map(|line| line.as_ref().trim_end().to_owned());
        Reply { code: response.code, lines: lines.collect() }
    }
}

impl Reply {
    /// A reply whose text the crate refuses: the code of its last line counts, and of the text what can be read.
    pub fn lossy(code: SmtpReplyCode, lines: &[u8]) -> Self {
        let text =
            |line: &[u8]| String::from_utf8_lossy(line.get(4..).unwrap_or_default()).trim_end().to_owned();
        let lines = lines.strip_suffix(b"\n").unwrap_or(lines);
        Reply { code, lines: lines.split(|byte| *byte == b'\n').map(text).collect() }
    }

    /// RFC 3463: `5.1.1`, at the start of the text, if it fits the code.
    pub fn enhanced_status(&self) -> Option<String> {
        let first = self.lines.first()?.split_ascii_whitespace().next()?;
        let mut parts = first.splitn(3, '.');
        let class = parts.next()?.parse().ok().filter(|class| *class == self.code.class)?;
        let (subject, detail) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let status = SmtpEnhancedStatusCode::new(class, subject, detail)?.to_string();
        // Numbers are read in more spellings than a status has.
        (status == first).then_some(status)
    }

    /// All on one line: `550 5.1.1 no such user`.
    pub fn single_line(&self) -> String {
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

    /// Returns the result for a recipient.
    pub fn outcome(&self, email: &str) -> RecipientOutcome {
        RecipientOutcome {
            email: email.to_owned(),
            accepted: self.code.is_positive_completion(),
            temporary: self.code.is_transient_negative(),
            reply: Some(self.single_line()),
            enhanced_status: self.enhanced_status(),
        }
    }
}

#[cfg(test)]
mod tests {
    use io_smtp::rfc5321::{SmtpReplyCode, SmtpResponse};

    use super::Reply;

    #[test]
    fn a_reply_is_told_on_one_line() {
        let long =
            Reply::lossy(SmtpReplyCode::MAILBOX_UNAVAILABLE, b"550-5.1.1 no such\n550 5.1.1 user\x07 here\n");
        assert_eq!(long.single_line(), "550 5.1.1 no such user here");
        assert_eq!(long.enhanced_status().as_deref(), Some("5.1.1"));
        for line in [
            "550 4.1.1 x",
            "550 5.1 x",
            "250 5.1.1",
            "550 5.1.1.1",
            "250 2.x.0",
            "250 ",
            "550 5.+1.1",
            "550 5.1.1000",
        ] {
            let response = SmtpResponse::parse(line.as_bytes().to_vec().leak());
            let reply = response.map(Reply::from);
            assert!(reply.is_err(), "{line}: a line without its end is no reply");
            let code = SmtpReplyCode::parse(&line.as_bytes()[..3]).unwrap();
            assert_eq!(Reply::lossy(code, line.as_bytes()).enhanced_status(), None, "{line}");
        }
    }

    /// Why there is a reading of our own beside the crate's.
    #[test]
    fn the_crate_takes_ascii_alone() {
        assert!(SmtpResponse::parse("550 5.1.1 Empfänger unbekannt\r\n".as_bytes()).is_err());
        assert!(SmtpResponse::parse(b"550 bell \x07\r\n").is_err());
        assert!(SmtpResponse::parse(b"250\r\n").is_err());
        assert!(!SmtpResponse::is_complete(b"250\r\n"));
        assert!(!SmtpResponse::is_complete(b"250 ok\n"));
        let read = SmtpResponse::parse(b"250-one \r\n250-\r\n250 \r\n").map(Reply::from).unwrap();
        assert_eq!(read.lines, ["one", "", ""]);
    }
}
