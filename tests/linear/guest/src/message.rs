//! `sdk/mail`: MIME, header fields, reports, conversations, HTML.

use std::hint::black_box;

use mail::build::{Outgoing, OutgoingFile, build, draft};
use mail::html::{Safe, safe};
use mail::{address, check, cid, foreign, html, read, report, text as plain, threads};
use model::email::{EmailAddress, EmailHeader};

use crate::Parser;
use crate::text;
use crate::text_within;
use crate::within;

pub const ALL: &[Parser] = &[
    ("html.safe", |input| shown(&text(input))),
    ("html.style", |input| shown(&text_within("<p style=\"", input, "\">x</p>"))),
    ("html.sheet", |input| shown(&text_within("<style>", input, "</style><p class=\"a b\" id=a>x</p>"))),
    ("html.address", |input| shown(&text_within("<a href=\"http://", input, "\">x</a><img src=\"cid:x\">"))),
    ("html.text", |input| drop(black_box(plain::to_text(&text(input))))),
    ("html.plain", |input| drop(black_box(html::plain(&text(input))))),
    ("html.visible", |input| drop(black_box(html::visible(&text(input))))),
    ("html.snippet", |input| drop(black_box(plain::snippet(None, Some(&text(input)))))),
    ("html.content_ids", |input| drop(black_box(read::shown_ids(&text(input))))),
    ("text.snippet", |input| drop(black_box(plain::snippet(Some(&text(input)), None)))),
    ("mime.message", |input| message(input)),
    ("mime.multipart", |input| message(&within(MULTIPART, input, "\r\n--b--\r\n"))),
    ("mime.attachment", |input| {
        drop(black_box(read::attachment(&within(MULTIPART, input, "\r\n--b--\r\n"), "2")));
    }),
    ("mime.header", |input| header(input)),
    ("field.subject", |input| header(&within("Subject: ", input, "\r\n\r\n"))),
    ("field.to", |input| header(&within("To: ", input, "\r\n\r\n"))),
    ("field.content_type", |input| {
        black_box(read::part(&within("Content-Type: text/plain; a=b", input, "\r\n\r\n"), b"x"));
    }),
    ("field.content_disposition", |input| {
        let head = "Content-Type: image/png\r\nContent-Disposition: attachment";
        message(&within(head, input, "\r\n\r\nx"));
    }),
    ("field.date", |input| header(&within("Date: ", input, "\r\n\r\n"))),
    ("field.references", |input| header(&within("References: ", input, "\r\n\r\n"))),
    ("field.others", |input| {
        header(&within("List-Unsubscribe: ", input, "\r\n"));
        header(&within("Auto-Submitted: ", input, "\r\n"));
        header(&within("Importance: ", input, "\r\n"));
    }),
    ("part.base64", |input| part("application/octet-stream", "base64", input)),
    ("part.quoted_printable", |input| part("application/octet-stream", "quoted-printable", input)),
    ("part.text", |input| part("text/plain", "8bit", input)),
    ("part.html", |input| part("text/html", "8bit", input)),
    ("part.uuencode", |input| {
        part("application/octet-stream", "x-uuencode", input);
        part("application/octet-stream", "x-uuencode", &within("begin 644 a\n", input, "\nend\n"));
    }),
    ("part.utf_7", |input| part("text/plain; charset=utf-7", "8bit", input)),
    ("part.iso_2022_jp", |input| part("text/plain; charset=iso-2022-jp", "8bit", input)),
    ("part.shifted_charsets", |input| {
        for charset in ["iso-2022-kr", "iso-2022-cn", "hz-gb-2312"] {
            part(&format!("text/plain; charset={charset}"), "8bit", input);
        }
    }),
    ("part.other_charsets", |input| {
        for charset in ["utf-16", "gb18030", "ibm850", "shift_jis", "x-nothing"] {
            part(&format!("text/plain; charset={charset}"), "8bit", input);
        }
    }),
    ("report.delivery", |input| reported(&within(DELIVERY, input, "\r\n--b--\r\n"))),
    ("report.complaint", |input| reported(&within(COMPLAINT, input, "\r\n--b--\r\n"))),
    ("report.recipients", |input| reported(&within(EXIM, input, "\r\n\r\nx@y.example\r\n"))),
    ("report.exim", |input| {
        let addresses = (0..100).map(|at| format!("u{at}@b.example")).collect::<Vec<_>>().join(",");
        reported(&within(&format!("{EXIM}{addresses}\r\n\r\n"), input, ""));
    }),
    ("report.qmail", |input| reported(&within(QMAIL, input, ""))),
    ("threads.message_ids", |input| drop(black_box(threads::message_ids(&text(input))))),
    ("threads.subject", |input| {
        let subject = text(input);
        black_box([
            threads::base_subject(&subject),
            threads::reply_subject(&subject),
            threads::forward_subject(&subject),
        ]);
    }),
    ("address", |input| {
        let email = text_within("", input, "@b.example");
        _ = black_box((address::check(&email), address::folded(&email), address::ascii(&email).is_some()));
    }),
    ("address.domain", |input| {
        let email = text_within("a@", input, "");
        _ = black_box((address::check(&email), address::folded(&email), address::ascii(&email).is_some()));
    }),
    ("file_name", |input| drop(black_box(read::file_name(&text(input))))),
    ("check", |input| {
        let value = text(input);
        _ = black_box((check::header_value(&value), check::field_value(&value), check::message_id(&value)));
        _ = black_box((check::content_type(&format!("a/b{value}")), check::file_name(&value)));
        _ = black_box((check::display_name(&value), check::header_name(&format!("X-{value}"))));
        black_box((foreign::subject(&value), foreign::content_id(&value), foreign::content_type(&value)));
        black_box((cid::encoded(&value), cid::decoded(&value).len()));
    }),
    ("build", |input| written(&text(input))),
];

const MULTIPART: &str =
    "Subject: s\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\none\r\n--b\r\n";

const DELIVERY: &str = "From: mailer-daemon@b.example\r\nContent-Type: multipart/report; report-type=delivery-status; \
    boundary=b\r\n\r\n--b\r\n\r\nx\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; m\r\n\r\n";

const COMPLAINT: &str = "From: fbl@b.example\r\nContent-Type: multipart/report; report-type=feedback-report; \
    boundary=b\r\n\r\n--b\r\n\r\nx\r\n--b\r\nContent-Type: message/feedback-report\r\n\r\nFeedback-Type: abuse\r\n";

const EXIM: &str = "Return-Path: <>\r\nFrom: Mailer-Daemon@b.example\r\nX-Failed-Recipients: ";

const QMAIL: &str = "Return-Path: <>\r\nFrom: MAILER-DAEMON@b.example\r\n\r\nHi. This is the qmail-send program at b.example.\r\n\r\n";

fn shown(html: &str) {
    black_box(safe(html, &Safe { images: true, cid: &|id| Some(format!("/x/{}", id.len())) }));
}

fn message(raw: &[u8]) {
    drop(black_box(read::message(raw)));
}

fn header(block: &[u8]) {
    black_box((read::headers(block), read::raw_headers(block)));
}

fn part(content_type: &str, encoding: &str, body: &[u8]) {
    let header = format!("Content-Type: {content_type}\r\nContent-Transfer-Encoding: {encoding}\r\n\r\n");
    black_box(read::part(header.as_bytes(), body));
}

fn reported(raw: &[u8]) {
    black_box(report::delivery_report(raw));
}

/// Input of a caller, which may be as odd as foreign data.
fn written(text: &str) {
    let someone = |name: &str| EmailAddress { name: Some(name.to_owned()), email: "a@b.example".to_owned() };
    let message = Outgoing {
        message_id: "m@b.example".to_owned(),
        from: vec![someone("")],
        to: vec![someone(text.get(..text.floor_char_boundary(check::NAME_BYTES)).unwrap_or_default())],
        subject: Some(
            text.get(..text.floor_char_boundary(check::VALUE_BYTES)).unwrap_or_default().to_owned(),
        ),
        text: Some(text.to_owned()),
        html: Some(text.to_owned()),
        attachments: vec![OutgoingFile { content: text.as_bytes().to_vec(), ..OutgoingFile::default() }],
        headers: vec![EmailHeader { name: "X-A".to_owned(), value: "b".to_owned() }],
        ..Outgoing::default()
    };
    drop(black_box(build(&message)));
    // If the subject cannot be written, the texts still are.
    let message = Outgoing { subject: None, to: vec![someone("")], ..message };
    drop(black_box(build(&message)));
    let half = text.get(..text.floor_char_boundary(900)).unwrap_or_default().to_owned();
    let references = text.split(' ').map(str::to_owned).collect();
    let to = vec![EmailAddress { name: None, email: half }; 9];
    drop(black_box(draft(&Outgoing { to, references, ..message })));
}
