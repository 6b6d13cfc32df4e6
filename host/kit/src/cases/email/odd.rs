//! Messages of a kind that mailboxes hold although no program should write them, and large ones.

use model::wire::email::MailFeatures;
use runtime::{Code, Error};
use serde_json::json;

use crate::bench::{Bench, Outcome, Verdict, ensure};
use crate::cases::email::messages::{MAIL, append, head};
use crate::mail_bench::WHOLE_TEXT;
use crate::surface_bench::{supported, written_source};

const FROM: &str = "swkit@example.test";
/// Parts inside each other.
const DEPTH: usize = 30;
/// Bytes of a header field, in lines of [`FOLD`].
const HEADER_BYTES: usize = 48 << 10;
const FOLD: usize = 900;
/// Bytes of the text of a large message, and bytes of it that are read.
const LARGE_BYTES: usize = 4 << 20;
const READ_BYTES: u32 = 64 << 10;

/// A message: what it is, and its bytes.
struct OddMessage {
    what: &'static str,
    /// Whether the message has no subject.
    has_no_subject: bool,
    bytes: Vec<u8>,
}

fn odd_messages(label: impl Fn(usize) -> String) -> Vec<OddMessage> {
    let head = |number: usize| head(&label(number), FROM, FROM);
    let without_subject = head(0).replace(&format!("Subject: {}\r\n", label(0)), "");
    let latin = |number: usize| {
        let head = head(number).replace("Subject: ", "Subject: Gr\u{1}e ");
        // Bytes of ISO 8859-1, without an encoding.
        head.bytes()
            .flat_map(|byte| if byte == 1 { b"\xfc\xdf".to_vec() } else { vec![byte] })
            .collect::<Vec<u8>>()
    };
    let broken_words = head(2).replace("Subject: ", "Subject: =?utf-8?q?=FF=zz?= =?x-unknown?b?####?= ");
    let folded = vec!["x".repeat(FOLD); HEADER_BYTES / FOLD].join("\r\n ");
    let no_headers = "X-Swkit: alone\r\n\r\nText.\r\n".to_owned();
    let text = |head: String| format!("{head}\r\nText.\r\n").into_bytes();
    let odd = |what, bytes| OddMessage { what, has_no_subject: false, bytes };
    vec![
        OddMessage { what: "no subject", has_no_subject: true, bytes: text(without_subject) },
        odd("8-bit header fields", [latin(1), b"\r\nText.\r\n".to_vec()].concat()),
        odd("encoded words that cannot be decoded", text(broken_words)),
        odd("parts inside each other", nested(&head(3)).into_bytes()),
        odd("a huge header field", text(format!("{}X-Swkit-Huge: {folded}\r\n", head(4)))),
        odd("no author, date and subject", no_headers.into_bytes()),
        odd(
            "an unknown charset and encoding",
            text(format!(
                "{}Content-Type: text/plain; charset=x-unknown\r\nContent-Transfer-Encoding: x-strange\r\n",
                head(6)
            )),
        ),
        odd(
            "parts without an end",
            format!(
                "{}Content-Type: multipart/mixed; boundary=swkit-b\r\n\r\n--swkit-b\r\n\r\nText.\r\n--swkit-b\r\nContent-Type: ",
                head(7)
            )
            .into_bytes(),
        ),
        odd(
            "parts without a boundary",
            text(format!("{}Content-Type: multipart/mixed\r\n", head(8))),
        ),
        odd("an address that is none", text(head(9).replace(&format!("<{FROM}>"), "<<root@@>, ,;"))),
    ]
}

/// A message of [`DEPTH`] parts inside each other, with a text in the last one.
fn nested(head: &str) -> String {
    let mut message = head.to_owned();
    for depth in 0..DEPTH {
        let boundary = format!("swkit-{depth}");
        message
            .push_str(&format!("Content-Type: multipart/mixed; boundary={boundary}\r\n\r\n--{boundary}\r\n"));
    }
    message.push_str("Content-Type: text/plain\r\n\r\nText.\r\n");
    for depth in (0..DEPTH).rev() {
        message.push_str(&format!("\r\n--swkit-{depth}--\r\n"));
    }
    message
}

/// `M9`: odd messages are read as messages, and hide no other. Those that the provider refuses to store are left out.
pub async fn odd(bench: &mut Bench) -> Outcome {
    const HELP: &str = "map what can be read and leave out the rest: a field without a value is null, text that cannot be decoded has replacement characters. A message that fails in a list must not stop the others";
    let folder = bench.collection(&MAIL).await?;
    let label = |number: usize| MAIL.label(&format!("M9-{number}"));
    let (mut stored, mut is_rewritten) = (Vec::new(), false);
    for (number, message) in odd_messages(label).into_iter().enumerate() {
        let args = append(&folder, &label(number), &message.bytes);
        let key = MAIL.key(&format!("M9-{number}"));
        let made = bench.calls.mutate(MAIL.surface, MAIL.create_op, &args, &key).await;
        match made {
            Err(error) if is_refusal(&error) => continue,
            made => {
                let made = supported(made, MAIL.create_op)?;
                is_rewritten |=
                    made.warnings.iter().any(|warning| warning.target.as_deref() == Some("headers"));
                stored.push((written_source(&made)?.external_id, message));
            }
        }
    }
    if stored.is_empty() {
        return Err(Verdict::NotApplicable("the provider stores no odd messages".to_owned()));
    }
    for (id, message) in &stored {
        let read = bench.read_message(id, true, WHOLE_TEXT).await?;
        let what = message.what;
        ensure(
            !message.has_no_subject || is_rewritten || read.subject.is_none(),
            || format!("a message with {what} has the subject {:?}", read.subject),
            HELP,
        )?;
    }
    let pages = bench.items(&MAIL, &folder, 0, None).await?;
    for (id, message) in &stored {
        let mut sources = pages.iter().flat_map(|page| &page.sources.sources);
        let found = sources.find(|source| source.external_id == *id);
        ensure(
            found.is_some_and(|source| source.error.is_none() && !source.items.is_empty()),
            || {
                let error =
                    found.and_then(|source| source.error.as_ref()).map(|error| error.message.as_str());
                let error = error.unwrap_or("missing");
                format!("a message with {} is not in the list: {error}", message.what)
            },
            HELP,
        )?;
    }
    Ok(())
}

/// Returns whether the provider does not take a message.
fn is_refusal(error: &Error) -> bool {
    [Code::Invalid, Code::Forbidden, Code::Conflict].contains(&error.code)
}

/// `M10`: a large message is read within the budgets, and its text is cut where the call says.
pub async fn large(bench: &mut Bench) -> Outcome {
    const CUT: &str = "a text longer than maxBodyBytes is cut after a whole character, with truncated: true. Let the provider cut it (maxBodyValueBytes, BODY[1]<0.65536>) where it can";
    let folder = bench.collection(&MAIL).await?;
    let features: Result<MailFeatures, Error> =
        bench.calls.fetch(MAIL.surface, "capabilities", &json!({})).await;
    let limit = supported(features, "capabilities")?.max_message_bytes;
    if limit.is_some_and(|limit| usize::try_from(limit).is_ok_and(|limit| limit < 2 * LARGE_BYTES)) {
        return Err(Verdict::NotApplicable("the provider takes no message of 8 MiB".to_owned()));
    }
    let label = MAIL.label("M10");
    let line = format!("{}\r\n", "Grüße, 0123456789 ".repeat(4));
    let text = line.repeat(LARGE_BYTES / line.len());
    let message = format!(
        "{}Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n{text}",
        head(&label, FROM, FROM)
    );
    let args = append(&folder, &label, message.as_bytes());
    let made = bench.calls.mutate(MAIL.surface, MAIL.create_op, &args, &MAIL.key("M10")).await;
    if made.as_ref().is_err_and(is_refusal) {
        return Err(Verdict::NotApplicable("the provider refuses a text of 4 MiB".to_owned()));
    }
    let id = written_source(&supported(made, MAIL.create_op)?)?.external_id;
    let read = bench.read_message(&id, true, READ_BYTES).await?;
    let body = read.body.unwrap_or_default();
    let length = body.text.as_deref().unwrap_or_default().len();
    let longest = usize::try_from(READ_BYTES).unwrap_or(usize::MAX);
    ensure(
        body.truncated && length <= longest && length > longest / 2,
        || format!("of a text of {} bytes {length} are read, with truncated {}", text.len(), body.truncated),
        CUT,
    )?;
    let raw = bench.raw_message(&id).await?;
    ensure(
        raw.len() >= text.len(),
        || format!("a message of {} bytes is read with {}", message.len(), raw.len()),
        "messages.raw has the message as it is stored, whole",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_messages_are_what_they_are_called() {
        let messages = odd_messages(|number| format!("label-{number}"));
        let contains = |number: usize, text: &[u8]| {
            messages[number].bytes.windows(text.len()).any(|window| window == text)
        };
        assert!(messages[0].has_no_subject && !contains(0, b"Subject:"));
        assert!(contains(1, b"Subject: Gr\xfc\xdfe label-1\r\n"));
        assert!(contains(3, b"boundary=swkit-29\r\n\r\n--swkit-29\r\nContent-Type: text/plain\r\n"));
        assert!(messages[4].bytes.len() > 46 << 10);
        assert!(contains(9, b"From: Kit <<root@@>, ,;\r\n"));
        for message in &messages {
            let lines = message.bytes.split(|byte| *byte == b'\n');
            assert!(lines.map(<[u8]>::len).max().unwrap() < 998, "{}: RFC 5322, section 2.1.1", message.what);
        }
    }
}
