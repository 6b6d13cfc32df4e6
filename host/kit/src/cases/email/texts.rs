//! The texts and header fields of a message that is read whole.

use crate::bench::{Bench, Outcome, Verdict, ensure};
use crate::cases::email::messages::{MAIL, append, head};
use crate::mail_bench::WHOLE_TEXT;

const FROM: &str = "swkit@example.test";
const NOTE: &str = "X-Swkit-Note";
const PLAIN: &str = "Grüße aus Wien";

/// A message in two alternatives, the plain one in ISO 8859-1, with a header field that comes twice.
fn alternatives(subject: &str) -> Vec<u8> {
    let text = "Gr=FC=DFe aus Wien\r\n";
    let html = "<p>Gr\u{fc}\u{df}e aus <b>Wien</b></p>\r\n";
    format!(
        "{}{NOTE}: one\r\n{NOTE}: two\r\nContent-Type: multipart/alternative; boundary=swkit-b\r\n\r\n\
         --swkit-b\r\nContent-Type: text/plain; charset=iso-8859-1\r\n\
         Content-Transfer-Encoding: quoted-printable\r\n\r\n{text}\r\n\
         --swkit-b\r\nContent-Type: text/html; charset=utf-8\r\n\
         Content-Transfer-Encoding: 8bit\r\n\r\n{html}\r\n--swkit-b--\r\n",
        head(subject, FROM, FROM)
    )
    .into_bytes()
}

/// `M11`: a message that is read whole has its texts and header fields; in short it has neither.
pub async fn whole(bench: &mut Bench) -> Outcome {
    const HELP: &str = "body and headers come when the call asks for them: text and html decoded from their charsets, header fields in the order of the message, repeated ones too";
    let folder = bench.collection(&MAIL).await?;
    let label = MAIL.label("M11");
    let message = append(&folder, &label, &alternatives(&label));
    let id = bench.append_message(&message, &MAIL.key("M11")).await?.external_id;
    if bench.is_rewritten() {
        return Err(Verdict::NotApplicable("the provider does not keep messages as they are".to_owned()));
    }
    let short = bench.read_message(&id, false, 0).await?;
    ensure(
        short.body.is_none() && short.headers.is_empty(),
        || {
            format!(
                "messages.get without body and headers answers with {} header fields",
                short.headers.len()
            )
        },
        HELP,
    )?;
    let whole = bench.read_message(&id, true, WHOLE_TEXT).await?;
    let body = whole.body.unwrap_or_default();
    let text = body.text.as_deref().unwrap_or_default();
    ensure(text.trim() == PLAIN, || format!("the text \"{PLAIN}\" is read as {text:?}"), HELP)?;
    let html = body.html.as_deref().unwrap_or_default();
    ensure(
        html.contains("Grüße aus <b>Wien</b>"),
        || format!("the HTML of the message is read as {html:?}"),
        HELP,
    )?;
    let notes: Vec<&str> = whole
        .headers
        .iter()
        .filter(|header| header.name.eq_ignore_ascii_case(NOTE))
        .map(|header| header.value.as_str())
        .collect();
    ensure(notes == ["one", "two"], || format!("a header field that comes twice is read as {notes:?}"), HELP)
}
