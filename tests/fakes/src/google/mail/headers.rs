//! The head of a message: addresses, subject and ids as mail-parser reads them, and changes of its lines.

use mail_parser::{Address, HeaderValue, MessageParser};

/// The fields of a message's head that decide where it goes.
#[derive(Clone, Debug, Default)]
pub struct MailHead {
    pub message_id: String,
    pub references: Vec<String>,
    pub subject: String,
    /// The subject without `Re:` and the like.
    pub thread_name: String,
    pub from: Vec<String>,
    pub to: Vec<String>,
    pub cc: Vec<String>,
    pub bcc: Vec<String>,
    /// Unix milliseconds.
    pub date_ms: Option<i64>,
}

impl MailHead {
    /// Parses the head of a message; an empty one where there is none.
    pub fn parse(raw: &[u8]) -> MailHead {
        let Some(message) = MessageParser::default().parse_headers(raw) else { return MailHead::default() };
        let text = |value: Option<&str>| value.unwrap_or_default().to_owned();
        let mut references = texts(message.references());
        references.extend(texts(message.in_reply_to()));
        MailHead {
            message_id: text(message.message_id()),
            references,
            subject: text(message.subject()),
            thread_name: text(message.thread_name()).to_lowercase(),
            from: addresses(message.from()),
            to: message.all_to().flat_map(|list| addresses(Some(list))).collect(),
            cc: message.all_cc().flat_map(|list| addresses(Some(list))).collect(),
            bcc: message.all_bcc().flat_map(|list| addresses(Some(list))).collect(),
            date_ms: message.date().map(|date| date.to_timestamp() * 1000),
        }
    }

    /// Whether this message answers another one: it refers to it, and has the same subject.
    pub fn answers(&self, other: &MailHead) -> bool {
        let is_named = !other.message_id.is_empty() && self.references.contains(&other.message_id);
        is_named && self.thread_name == other.thread_name
    }

    /// The addresses of To, Cc and Bcc, each once.
    pub fn recipients(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for address in self.to.iter().chain(&self.cc).chain(&self.bcc) {
            if !all.contains(address) {
                all.push(address.clone());
            }
        }
        all
    }
}

fn texts(value: &HeaderValue<'_>) -> Vec<String> {
    match value {
        HeaderValue::Text(text) => vec![text.to_string()],
        HeaderValue::TextList(list) => list.iter().map(ToString::to_string).collect(),
        _ => Vec::new(),
    }
}

fn addresses(list: Option<&Address<'_>>) -> Vec<String> {
    let all = list.into_iter().flat_map(Address::iter);
    all.filter_map(|one| one.address()).map(str::to_lowercase).collect()
}

/// The message without the header fields for whose name `goes` is true.
pub fn without(raw: &[u8], goes: impl Fn(&str) -> bool) -> Vec<u8> {
    let mut kept = Vec::with_capacity(raw.len());
    let (mut is_head, mut is_left_out) = (true, false);
    for line in raw.split_inclusive(|byte| *byte == b'\n') {
        if is_head {
            let is_folded = line.first().is_some_and(|byte| *byte == b' ' || *byte == b'\t');
            is_head = !line.trim_ascii().is_empty();
            if is_head && !is_folded {
                let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
                is_left_out = goes(&String::from_utf8_lossy(name).trim().to_lowercase());
            }
            if is_head && is_left_out {
                continue;
            }
        }
        kept.extend_from_slice(line);
    }
    kept
}

/// The message with these lines at its beginning, each `Name: value`.
pub fn prepend(raw: &[u8], lines: &[String]) -> Vec<u8> {
    let mut whole = Vec::with_capacity(raw.len() + 200);
    for line in lines {
        whole.extend_from_slice(line.as_bytes());
        whole.extend_from_slice(b"\r\n");
    }
    whole.extend_from_slice(raw);
    whole
}

#[cfg(test)]
mod tests {
    use super::{MailHead, prepend, without};

    #[test]
    fn lines_of_a_head_go_and_come() {
        let raw = b"To: a@x.test\r\nBcc: b@x.test,\r\n c@x.test\r\nSubject: Re: Hi\r\n\r\nBcc: text\r\n";
        let head = MailHead::parse(raw);
        assert_eq!(head.recipients(), ["a@x.test", "b@x.test", "c@x.test"]);
        let left = without(raw, |name| name == "bcc");
        assert_eq!(left, b"To: a@x.test\r\nSubject: Re: Hi\r\n\r\nBcc: text\r\n");
        let whole = prepend(&left, &["Message-ID: <1@x.test>".to_owned()]);
        assert_eq!(MailHead::parse(&whole).message_id, "1@x.test");
    }

    #[test]
    fn an_answer_names_its_message_and_keeps_the_subject() {
        let first = MailHead::parse(b"Message-ID: <1@x.test>\r\nSubject: Hi\r\n\r\n");
        let answer = MailHead::parse(b"In-Reply-To: <1@x.test>\r\nSubject: Re: Hi\r\n\r\n");
        assert!(answer.answers(&first));
        assert!(!MailHead::parse(b"In-Reply-To: <1@x.test>\r\nSubject: Other\r\n\r\n").answers(&first));
        assert!(!MailHead::parse(b"Subject: Re: Hi\r\n\r\n").answers(&first));
    }
}
