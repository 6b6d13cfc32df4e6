//! Messages that are written are read back the same, by mail-parser and by `read`, and no text of a caller adds a field, a part or a
//! recipient.

#![expect(clippy::string_slice, reason = "a test cuts texts that it knows: a panic is the report")]

use mail::build::{BuiltMessage, Outgoing, OutgoingFile, build, draft};
use mail::{address, check, read};
use mail_parser::{MessageParser, MimeHeaders, PartType};
use model::Instant;
use model::email::{EmailAddress, EmailHeader, Importance};
use proptest::prelude::*;

fn person(email: &str, name: Option<&str>) -> EmailAddress {
    EmailAddress { email: email.to_owned(), name: name.map(str::to_owned) }
}

fn outgoing() -> Outgoing {
    Outgoing {
        message_id: "1.2@switch.example".to_owned(),
        date: Instant::from_millis(1_700_000_000_000),
        from: vec![person("me@example.org", Some("Jörg, the \"first\""))],
        to: vec![person("you@example.org", None)],
        subject: Some("Grüße".to_owned()),
        ..Outgoing::default()
    }
}

fn file(name: &str, content_type: &str, content: &[u8]) -> OutgoingFile {
    let (filename, content_type) = (Some(name.to_owned()), Some(content_type.to_owned()));
    OutgoingFile { filename, content_type, content: content.to_vec(), ..OutgoingFile::default() }
}

/// CRLF line ends alone, lines of at most 998 bytes, ASCII.
fn assert_wire_format(bytes: &[u8]) {
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let line = line
            .strip_suffix(b"\r\n")
            .unwrap_or_else(|| panic!("no CRLF: {:?}", String::from_utf8_lossy(line)));
        assert!(line.len() <= 998, "a line of {} bytes", line.len());
        assert!(
            !line.contains(&b'\r') && !line.contains(&0) && line.is_ascii(),
            "{:?}",
            String::from_utf8_lossy(line)
        );
    }
}

fn structure(built: &BuiltMessage) -> String {
    fn describe(message: &mail_parser::Message<'_>, id: u32) -> String {
        let part = &message.parts[id as usize];
        let kind = part
            .content_type()
            .map(|kind| format!("{}/{}", kind.ctype(), kind.subtype().unwrap_or_default()));
        match &part.body {
            PartType::Multipart(ids) => {
                let inner: Vec<String> = ids.iter().map(|id| describe(message, *id)).collect();
                format!("{}[{}]", kind.unwrap_or_default(), inner.join(" "))
            }
            _ => kind.unwrap_or_default(),
        }
    }
    describe(&MessageParser::default().parse(&built.bytes).expect("it has a header"), 0)
}

#[test]
fn the_parts_follow_from_what_there_is() {
    let text = || Some("text".to_owned());
    let picture = || OutgoingFile {
        inline: true,
        content_id: Some("p@x".to_owned()),
        ..file("p.png", "image/png", b"png")
    };
    let note = || file("n.txt", "text/plain", b"note");
    let cases = [
        (None, None, vec![], "text/plain"),
        (text(), None, vec![], "text/plain"),
        (None, text(), vec![], "text/html"),
        (text(), text(), vec![], "multipart/alternative[text/plain text/html]"),
        (None, text(), vec![picture()], "multipart/related[text/html image/png]"),
        (
            text(),
            text(),
            vec![picture()],
            "multipart/alternative[text/plain multipart/related[text/html image/png]]",
        ),
        (text(), None, vec![picture()], "multipart/mixed[text/plain image/png]"),
        (text(), None, vec![note()], "multipart/mixed[text/plain text/plain]"),
        (None, None, vec![note()], "multipart/mixed[text/plain]"),
        (
            text(),
            text(),
            vec![note(), picture(), note()],
            "multipart/mixed[multipart/alternative[text/plain multipart/related[text/html image/png]] text/plain text/plain]",
        ),
    ];
    for (text, html, attachments, expected) in cases {
        let built = build(&Outgoing { text, html, attachments, ..outgoing() }).unwrap();
        assert_eq!(structure(&built), expected);
        assert_wire_format(&built.bytes);
    }
}

#[test]
fn a_whole_message_is_read_back() {
    let message = Outgoing {
        sender: Some(person("desk@example.org", None)),
        cc: vec![
            person("o'x@bücher.example", Some("Ünï  =?utf-8?q?x?= (c)")),
            person("\"a@b\"@c.example", Some("A. B")),
        ],
        bcc: vec![person("hidden@example.org", Some("Hidden"))],
        reply_to: vec![person("reply@example.org", None)],
        in_reply_to: vec!["0@x".to_owned()],
        references: vec!["a@x".to_owned(), "0@x".to_owned()],
        text: Some("Line one\nBoundary? --=_\n.\nFrom here\n\u{1f600} trailing \r\n".to_owned()),
        html: Some("<p>Gr\u{fc}\u{df}e <img src=\"cid:p@x\"></p>".to_owned()),
        attachments: vec![
            OutgoingFile {
                inline: true,
                content_id: Some("p@x".to_owned()),
                ..file("p.png", "image/png", &[0, 1, 2, 255])
            },
            file("Übersicht \"2\".pdf", "application/pdf", b"%PDF\n\r\n--=_"),
            file(&"long ".repeat(40), "text/csv; charset=utf-8", b"a;b\n"),
            file("m.eml", "message/rfc822", b"Subject: inner\r\nBcc: x@y.example\r\n\r\nbody\r\n"),
        ],
        headers: vec![
            EmailHeader { name: "X-Tag".to_owned(), value: "one".to_owned() },
            EmailHeader { name: "X-Tag".to_owned(), value: "zw\u{f6}lf".to_owned() },
        ],
        importance: Importance::High,
        ..outgoing()
    };
    let built = build(&message).unwrap();
    assert_eq!(built, build(&message).unwrap());
    let mail = read::message(&built.bytes).unwrap();
    let got = &mail.message;
    assert_eq!(got.internet_message_id.as_deref(), Some("1.2@switch.example"));
    assert_eq!(got.sent_at, Some(message.date));
    assert_eq!(got.from, message.from);
    assert_eq!(got.sender, message.sender);
    assert_eq!(got.cc[0], person("o'x@xn--bcher-kva.example", Some("Ünï =?utf-8?q?x?= (c)")));
    assert_eq!(got.cc[1].email, "\"a@b\"@c.example");
    assert_eq!((&got.in_reply_to, &got.references), (&message.in_reply_to, &message.references));
    assert_eq!(got.subject, message.subject);
    assert_eq!(got.importance, Importance::High);
    assert!(got.bcc.is_empty());
    assert_eq!(mail.text.as_deref(), Some("Line one\nBoundary? --=_\n.\nFrom here\n\u{1f600} trailing \n"));
    assert_eq!(mail.html, message.html);
    let tags: Vec<&str> =
        mail.headers.iter().filter(|h| h.name == "X-Tag").map(|h| h.value.as_str()).collect();
    assert_eq!(tags, ["one", "zw\u{f6}lf"]);
    let names: Vec<Option<&str>> = got.attachments.iter().map(|file| file.filename.as_deref()).collect();
    assert_eq!(names[..2], [Some("p.png"), Some("Übersicht \"2\".pdf")]);
    assert!(got.attachments[3].is_message && got.attachments[0].inline && got.has_attachments);
    for (written, read) in message.attachments.iter().zip(&got.attachments) {
        assert_eq!(read::attachment(&built.bytes, &read.id).unwrap().bytes, written.content, "{}", read.id);
    }
    let kept = read::message(&built.with_bcc()).unwrap();
    assert_eq!(kept.message.bcc, message.bcc);
    assert_eq!(kept.text, mail.text);
}

#[test]
fn what_cannot_be_written_is_named() {
    let bad = |change: fn(&mut Outgoing)| {
        let mut message = outgoing();
        change(&mut message);
        build(&message).unwrap_err().field
    };
    assert_eq!(bad(|m| m.from.clear()), "from");
    assert_eq!(bad(|m| m.to[0].email = "a@b\r\nBcc: x@y".to_owned()), "to[0].email");
    assert_eq!(bad(|m| m.from[0].name = Some("a\nb".to_owned())), "from[0].name");
    assert_eq!(bad(|m| m.subject = Some("a\u{2028}b".to_owned())), "subject");
    assert_eq!(bad(|m| m.message_id = "a>b".to_owned()), "messageId");
    assert_eq!(
        bad(|m| m.headers = vec![EmailHeader { name: "Bcc".to_owned(), value: "x".to_owned() }]),
        "headers[0].name"
    );
    assert_eq!(
        bad(|m| m.headers = vec![EmailHeader { name: "X-A".to_owned(), value: "\0".to_owned() }]),
        "headers[0].value"
    );
    assert_eq!(bad(|m| m.attachments = vec![file("a/b", "a/b", b"")]), "attachments[0].filename");
    assert_eq!(
        bad(|m| m.attachments = vec![file("a", "multipart/mixed", b"")]),
        "attachments[0].contentType"
    );
    assert_eq!(bad(|m| m.date = Instant::from_millis(i64::MIN)), "date");
}

#[test]
fn the_ids_of_others_are_written_as_they_are() {
    let ids =
        ["2026.11@[192.0.2.7]", "urn:uuid:1f@x.example", "\"x y\"@x.example", "no-at", "a(b),c;d@x", "%%@x"];
    let all: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
    let long = (0..60).map(|n| format!("\"blank {n}\"@x.example")).collect::<Vec<_>>();
    for references in [all.clone(), long] {
        let message = Outgoing { in_reply_to: all.clone(), references, ..outgoing() };
        let built = build(&message).unwrap();
        assert_wire_format(&built.bytes);
        let got = read::message(&built.bytes).unwrap().message;
        assert_eq!((&got.in_reply_to, &got.references), (&all, &message.references));
    }
}

#[test]
fn an_id_that_cannot_be_written_is_left_out_alone() {
    let odd = ["a>b", "\u{fc}@x", "a\r\nBcc: b", "=?utf-8?q?=0A?=", ""].map(str::to_owned);
    let references = odd.iter().cloned().chain(["fine@x".to_owned()]).collect();
    let built = build(&Outgoing { in_reply_to: odd.to_vec(), references, ..outgoing() }).unwrap();
    let got = read::message(&built.bytes).unwrap().message;
    assert_eq!((got.in_reply_to, got.references), (Vec::new(), vec!["fine@x".to_owned()]));
    assert!(!String::from_utf8(built.bytes).unwrap().contains("In-Reply-To"));
}

#[test]
fn a_file_has_its_content_id_however_odd() {
    for id in ["image 1 (2)@x", "\"a b\"@[192.0.2.7]", "a,b;c:d"] {
        let picture = OutgoingFile {
            inline: true,
            content_id: Some(id.to_owned()),
            ..file("p.png", "image/png", b"png")
        };
        let html = format!("<img src=\"cid:{}\">", mail::cid::encoded(id));
        let message = Outgoing { html: Some(html), attachments: vec![picture], ..outgoing() };
        let mail = read::message(&build(&message).unwrap().bytes).unwrap();
        assert_eq!(mail.message.attachments[0].content_id.as_deref(), Some(id));
        assert!(!mail.message.has_attachments, "the HTML shows the picture: {id}");
    }
}

#[test]
fn odd_dots_of_an_address_are_quoted() {
    let message = Outgoing { to: vec![person("mia..rose.@x.example", Some("Mia"))], ..outgoing() };
    let built = build(&message).unwrap();
    assert!(String::from_utf8_lossy(&built.bytes).contains("\r\nTo: Mia <\"mia..rose.\"@x.example>\r\n"));
    assert_eq!(read::message(&built.bytes).unwrap().message.to[0].email, "\"mia..rose.\"@x.example");
}

/// Half an address is one in a draft, and in nothing that is sent.
#[test]
fn a_draft_keeps_addresses_that_are_not_finished() {
    for (email, name) in [
        ("mia", None),
        ("mia@", None),
        ("mia@@x", None),
        ("half", Some("Mia")),
        ("mia rose", None),
        ("mia, rose; <x", None),
        ("\u{fc}ber", None),
        ("a@x.example", Some("Mia")),
    ] {
        let message = Outgoing { to: vec![person(email, name)], ..outgoing() };
        let built = draft(&message).unwrap();
        assert_wire_format(&built.bytes);
        assert_eq!(read::message(&built.bytes).unwrap().message.to, message.to, "{email}");
        assert_eq!(build(&message).is_ok(), email == "a@x.example");
    }
    // Where a name and half an address are no mailbox, both are kept as one text.
    let message = Outgoing { to: vec![person("half typed", Some("Mia")), person("", None)], ..outgoing() };
    let mail = read::message(&draft(&message).unwrap().bytes).unwrap();
    assert_eq!(mail.message.to, [person("Mia <half typed>", None)]);
    let broken = Outgoing { to: vec![person("a\r\nBcc: b@x.example", None)], ..outgoing() };
    assert_eq!(draft(&broken).unwrap_err().field, "to[0].email");
}

/// Texts that a caller could try: letters with characters that end lines or begin syntax.
fn hostile() -> impl Strategy<Value = String> {
    let odd = prop::sample::select(vec![
        "\r\n",
        "\n",
        "\r",
        "\0",
        "\u{2028}",
        "\u{2029}",
        "\u{85}",
        "\u{b}",
        "\u{feff}",
        "\u{202e}",
        "\u{1f600}",
        "\u{fffd}",
        "\u{10ffff}",
        "\r\nBcc: evil@example.net",
        "\r\n\r\nbody",
        "\n\n--=_",
        "--=_",
        "=?utf-8?q?=0D=0ABcc:_evil@example.net?=",
        "=?utf-8?b?",
        "?=",
        "\"",
        "\\",
        "<",
        ">",
        "<evil@example.net>",
        ",",
        ";",
        ":",
        "(",
        ")",
        "@",
        "\\\"",
        "[",
        "]",
        "=",
        "%",
        "'",
        "*",
        "ä",
        "漢",
        " ",
        "  ",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    ]);
    let piece = prop_oneof![2 => "[ -~]{0,12}", 3 => odd.prop_map(str::to_owned), 1 => "\\PC{0,6}"];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

fn hostile_address() -> impl Strategy<Value = EmailAddress> {
    let email = prop_oneof![
        3 => Just("a.b@example.org".to_owned()),
        1 => hostile().prop_map(|text| format!("{text}@example.org")),
        1 => hostile().prop_map(|text| format!("\"{text}\"@example.org")),
        1 => hostile(),
    ];
    (email, prop::option::of(hostile())).prop_map(|(email, name)| EmailAddress { email, name })
}

fn hostile_message() -> impl Strategy<Value = Outgoing> {
    let id = || prop_oneof![3 => Just("a@x.example".to_owned()), 1 => hostile()];
    let header = (prop_oneof![3 => Just("X-Tag".to_owned()), 1 => hostile()], hostile());
    let kind = prop_oneof![3 => Just("application/pdf".to_owned()), 1 => Just("message/rfc822".to_owned()), 1 => hostile()];
    let file = (
        prop::option::of(hostile()),
        prop::option::of(kind),
        hostile(),
        any::<bool>(),
        prop::option::of(id()),
    );
    let people = (
        hostile_address(),
        prop::collection::vec(hostile_address(), 0..3),
        prop::collection::vec(hostile_address(), 0..2),
    );
    let texts = (prop::option::of(hostile()), prop::option::of(hostile()), prop::option::of(hostile()));
    (
        people,
        texts,
        id(),
        prop::collection::vec(id(), 0..3),
        prop::collection::vec(header, 0..3),
        prop::collection::vec(file, 0..2),
    )
        .prop_map(|((from, to, bcc), (subject, text, html), message_id, references, headers, files)| {
            Outgoing {
                message_id,
                from: vec![from],
                to,
                bcc,
                subject,
                text,
                html,
                references,
                headers: headers.into_iter().map(|(name, value)| EmailHeader { name, value }).collect(),
                attachments: files
                    .into_iter()
                    .map(|(filename, content_type, content, inline, content_id)| OutgoingFile {
                        filename,
                        content_type,
                        content: content.into_bytes(),
                        inline,
                        content_id,
                    })
                    .collect(),
                ..outgoing()
            }
        })
}

/// With every text that fails its check replaced, so that all cases reach the writer.
fn mended(mut message: Outgoing) -> Outgoing {
    while let Err(invalid) = build(&message) {
        let index = invalid
            .field
            .find('[')
            .and_then(|at| invalid.field[at + 1..].split(']').next()?.parse::<usize>().ok())
            .unwrap_or(0);
        let name = invalid.field.split('[').next().unwrap_or_default();
        let last = invalid.field.rsplit('.').next().unwrap_or_default();
        match (name, last) {
            ("from", _) => message.from[index] = person("fine@example.org", None),
            ("to", _) => message.to[index] = person("fine@example.org", None),
            ("bcc", _) => message.bcc[index] = person("fine@example.org", None),
            ("messageId", _) => message.message_id = "fine@example.org".to_owned(),
            ("subject", _) => message.subject = None,
            ("headers", "name") => message.headers[index].name = "X-Fine".to_owned(),
            ("headers", _) => message.headers[index].value = "fine".to_owned(),
            ("attachments", "filename") => message.attachments[index].filename = None,
            ("attachments", "contentType") => message.attachments[index].content_type = None,
            ("attachments", _) => message.attachments[index].content_id = None,
            (field, _) => panic!("nothing mends {field}"),
        }
    }
    message
}

fn is_utf8_address(message: &Outgoing) -> bool {
    message.from.iter().chain(&message.to).chain(&message.bcc).any(|a| address::ascii(&a.email).is_none())
}

/// The names that the message must have and no others.
fn expected_names(message: &Outgoing) -> Vec<String> {
    let mut names = vec!["Date", "From", "Message-ID", "MIME-Version", "Content-Type"];
    names.extend((!message.to.is_empty()).then_some("To"));
    let is_written = |id: &String| check::message_id(id).is_ok();
    names.extend(message.references.iter().any(is_written).then_some("References"));
    names.extend(message.subject.as_deref().is_some_and(|subject| !subject.is_empty()).then_some("Subject"));
    let is_single = message.attachments.is_empty() && (message.text.is_none() || message.html.is_none());
    names.extend(is_single.then_some("Content-Transfer-Encoding"));
    let mut names: Vec<String> = names.into_iter().map(str::to_owned).collect();
    names.extend(message.headers.iter().map(|header| header.name.clone()));
    names.sort();
    names
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_of_a_caller_gets_out_of_its_field(message in hostile_message()) {
        let message = mended(message);
        let built = build(&message).unwrap();
        if !is_utf8_address(&message) {
            assert_wire_format(&built.bytes);
        }
        let parsed = MessageParser::default().parse(&built.bytes).unwrap();
        let mut names: Vec<String> = parsed.headers().iter().map(|header| header.name().to_owned()).collect();
        names.sort();
        prop_assert_eq!(names, expected_names(&message));
        let recipients = parsed.to().map_or(0, |to| to.iter().count());
        prop_assert_eq!(recipients, message.to.len());
        prop_assert!(parsed.bcc().is_none());
        let mail = read::message(&built.bytes).unwrap();
        let emails: Vec<&str> = mail.message.to.iter().map(|to| to.email.as_str()).collect();
        let written: Vec<_> = message.to.iter().map(|to| address::wire(&to.email)).collect();
        prop_assert_eq!(emails, written);
        let files = message.attachments.len();
        prop_assert_eq!(mail.message.attachments.len(), files);
        for (file, read) in message.attachments.iter().zip(&mail.message.attachments) {
            prop_assert_eq!(&read::attachment(&built.bytes, &read.id).unwrap().bytes, &file.content);
        }
        let (subject, wanted) = (mail.message.subject.unwrap_or_default(), message.subject.clone().unwrap_or_default());
        prop_assert_eq!(squeezed(&subject), squeezed(&normal(&wanted)));
        prop_assert_eq!(mail.html.is_some(), message.html.is_some());
        if let Some(html) = &message.html {
            let lines = html.replace("\r\n", "\n").replace('\r', "\n").replace('\0', "");
            let lines = lines.strip_prefix('\u{feff}').unwrap_or(&lines);
            // A message that is one part ends its last line.
            let read = mail.html.as_deref().unwrap_or_default();
            prop_assert!(read == lines || read.strip_suffix('\n') == Some(lines), "{:?} {:?}", read, lines);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// The same for a draft, whose addresses are not checked.
    #[test]
    fn nothing_of_an_unfinished_address_gets_out_of_its_field(to in prop::collection::vec(hostile_address(), 1..4)) {
        let message = Outgoing { to, ..outgoing() };
        let Ok(built) = draft(&message) else { return Ok(()) };
        if !is_utf8_address(&message) {
            assert_wire_format(&built.bytes);
        }
        let mail = read::message(&built.bytes).unwrap();
        let mut names: Vec<&str> = mail.headers.iter().map(|header| header.name.as_str()).collect();
        names.retain(|name| *name != "To");
        prop_assert_eq!(names, ["Date", "From", "Message-ID", "Subject", "MIME-Version", "Content-Type", "Content-Transfer-Encoding"]);
        prop_assert!(mail.message.to.len() <= message.to.len());
        // The next version of the draft can be written too.
        let again = Outgoing { to: mail.message.to.iter().map(mail::foreign::address).collect(), ..outgoing() };
        prop_assert!(draft(&again).is_ok());
    }
}

fn normal(text: &str) -> String {
    icu_normalizer::ComposingNormalizerBorrowed::new_nfc().normalize(text).into_owned()
}
