//! The meaning of single fields and parts.

use mail::read::{self, DecodedPart};
use model::email::{Disposition, EmailAddress, Importance};

fn header(text: &str) -> model::email::EmailMessage {
    read::headers(format!("{text}\r\n\r\n").as_bytes())
}

#[test]
fn dates_are_read_however_they_are_written() {
    for date in [
        "Tue, 3 Mar 2026 09:30:00 +0100",
        "Mon, 3 Mar 2026 09:30:00 +0100",
        "3 Mar 2026 08:30 GMT",
        "Tue, 03 Mar 26 03:30:00 EST",
        "Tue, 3 Mar 2026 09:30:00 +0100 (CET)",
        "Tue, 3 Mar 2026\r\n 09:30:00 +0100",
        "Tue,  3 Mar 2026 08:30:00 UT",
        "Tue, 3 Mar 2026 08:30:00 Z",
    ] {
        let sent_at = header(&format!("Date: {date}")).sent_at.map(|at| at.to_string());
        assert_eq!(sent_at.as_deref(), Some("2026-03-03T08:30:00.000Z"), "{date:?}");
    }
}

#[test]
fn importance_is_said_in_several_ways() {
    for (text, importance) in [
        ("Importance: High", Importance::High),
        ("Importance: low", Importance::Low),
        ("Importance: normal", Importance::Normal),
        ("X-Priority: 1 (Highest)", Importance::High),
        ("X-Priority: 5", Importance::Low),
        ("X-Priority: 3", Importance::Normal),
        ("Priority: non-urgent", Importance::Low),
        ("Importance: high\r\nX-Priority: 5", Importance::High),
        ("Importance: ?\r\nPriority: urgent", Importance::High),
        ("Subject: none", Importance::Normal),
    ] {
        assert_eq!(header(text).importance, importance, "{text}");
    }
}

#[test]
fn answers_of_machines_are_told_from_reports() {
    for text in [
        "Auto-Submitted: auto-replied",
        "Auto-Submitted: auto-replied (vacation)",
        "auto-submitted: Auto-Generated; type=x",
        "X-Autoreply: yes",
        "X-Autorespond: Out of office",
        "Precedence: auto_reply",
    ] {
        assert!(header(text).auto_reply, "{text}");
    }
    for text in [
        "Auto-Submitted: no",
        "Auto-Submitted:",
        "X-Autoreply: no",
        "Precedence: bulk",
        "Auto-Submitted: auto-replied\r\nContent-Type: multipart/report; report-type=delivery-status; boundary=x",
        "Subject: Re: Automatic reply",
    ] {
        assert!(!header(text).auto_reply, "{text}");
    }
}

#[test]
fn subjects_are_on_one_line_and_composed() {
    assert_eq!(header("To: a@b").subject, None);
    assert_eq!(header("Subject: e\u{301}").subject.as_deref(), Some("\u{e9}"));
    assert_eq!(header("Subject: one\r\n\ttwo  three ").subject.as_deref(), Some("one two three"));
    assert_eq!(header("Subject: =?utf-8?q?a=0D=0ABcc:_x=00y?=").subject.as_deref(), Some("a Bcc: x y"));
    assert_eq!(header("Subject: =?utf-8?q?a?=\r\n =?utf-8?q?b?= c").subject.as_deref(), Some("ab c"));
    // Split within a character, with padding between.
    assert_eq!(header("Subject: =?utf-8?b?4p8=?= =?utf-8?b?og==?= x").subject.as_deref(), Some("\u{27e2} x"));
    assert_eq!(header("Subject: =?utf-8?q?=C3?=\r\n =?UTF-8?Q?=BC?=").subject.as_deref(), Some("\u{fc}"));
    assert_eq!(header("Subject: =?utf-8?q?never ends").subject.as_deref(), Some("=?utf-8?q?never ends"));
}

#[test]
fn headers_keep_their_order_and_are_decoded() {
    let headers = read::raw_headers(
        b"Received: a\r\n\tb\r\nX: 1\r\nnot a field\r\n: nor this\r\nX: =?utf-8?q?=C3=BC?=\r\nEmpty:\r\n\r\nBody: no\r\n",
    );
    let all: Vec<(&str, &str)> =
        headers.iter().map(|header| (header.name.as_str(), header.value.as_str())).collect();
    assert_eq!(all, [("Received", "a b"), ("X", "1"), ("X", "\u{fc}"), ("Empty", "")]);
    assert_eq!(
        read::raw_headers(b"A: b"),
        [model::email::EmailHeader { name: "A".to_owned(), value: "b".to_owned() }]
    );
}

#[test]
fn odd_addresses_are_kept_as_far_as_they_go() {
    let to = |text: &str| header(&format!("To: {text}")).to;
    let one = |name: Option<&str>, email: &str| {
        vec![EmailAddress { name: name.map(str::to_owned), email: email.to_owned() }]
    };
    assert_eq!(to("root"), one(None, "root"));
    assert_eq!(to("<a@b>"), one(None, "a@b"));
    assert_eq!(to("\"a\\\\b, c\" <a@b>"), one(Some("a\\b, c"), "a@b"));
    assert_eq!(to("a@b (Name)"), one(Some("Name"), "a@b"));
    assert_eq!(to("undisclosed-recipients:;"), []);
    assert_eq!(to(""), []);
    assert_eq!(to("=?utf-8?q?x=0Ay?= <a@b>"), one(Some("x y"), "a@b"));
    assert_eq!(to("a@b, , c@d").len(), 2);
}

#[test]
fn a_part_is_decoded_as_imap_gives_it() {
    let text = |header: &str, body: &[u8]| read::part(header.as_bytes(), body).text.unwrap();
    assert_eq!(text("", b"plain\r\ntext"), "plain\ntext");
    assert_eq!(text("Content-Type: text/plain; charset=iso-8859-1\r\n\r\n", b"\xfc"), "\u{fc}");
    assert_eq!(text("Content-Transfer-Encoding: BASE64\r\n", b"w7zDvA=="), "\u{fc}\u{fc}");
    // Cut within a quantum, an escape, a character.
    assert_eq!(text("Content-Transfer-Encoding: base64\r\n", b"w7zDv"), "\u{fc}");
    assert_eq!(text("Content-Transfer-Encoding: quoted-printable\r\n", b"=C3=BC=C"), "\u{fc}");
    assert_eq!(text("Content-Transfer-Encoding: quoted-printable\r\n", b"=C3=BC=C3"), "\u{fc}");
    assert_eq!(text("Content-Type: text/plain; charset=utf-8\r\n", b"a\xf0\x9f\x98"), "a");
    assert_eq!(text("Content-Type: text/plain\r\n", b"a\0b"), "ab");
    let html = read::part(b"Content-Type: text/HTML; charset=\"UTF-8\"\r\n", b"<p>\xc3\xbc");
    assert_eq!((html.text.as_deref(), html.charset.as_deref()), (Some("<p>\u{fc}"), Some("utf-8")));
    let html = read::part(b"Content-Type: text/html; charset=\"UTF-8\0\0\"\r\n", b"\xc3\xbc");
    assert_eq!((html.text.as_deref(), html.charset.as_deref()), (Some("\u{fc}"), Some("utf-8")));
    let file =
        read::part(b"Content-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\n", b"AAEC\r\n");
    assert_eq!(file, DecodedPart { text: None, charset: None, bytes: vec![0, 1, 2] });
}

/// The example of RFC 8621 4.1.4, with types in place of names.
#[test]
fn the_body_is_chosen_as_the_standard_says() {
    let leaf = |kind: &str, more: &str, body: &str| format!("Content-Type: {kind}\r\n{more}\r\n{body}\r\n");
    let multi = |subtype: &str, boundary: &str, parts: &[String]| {
        let inner: String = parts.iter().map(|part| format!("--{boundary}\r\n{part}")).collect();
        format!("Content-Type: multipart/{subtype}; boundary={boundary}\r\n\r\n{inner}--{boundary}--\r\n")
    };
    let attachment = "Content-Disposition: attachment\r\n";
    let raw = multi(
        "mixed",
        "m1",
        &[
            leaf("text/plain", "Content-Disposition: inline\r\n", "A"),
            multi(
                "mixed",
                "m2",
                &[
                    multi(
                        "alternative",
                        "a1",
                        &[
                            multi(
                                "mixed",
                                "m3",
                                &[
                                    leaf("text/plain", "Content-Disposition: inline\r\n", "B"),
                                    leaf("image/jpeg", "Content-Disposition: inline\r\n", "C"),
                                    leaf("text/plain", "Content-Disposition: inline\r\n", "D"),
                                ],
                            ),
                            multi(
                                "related",
                                "r1",
                                &[leaf("text/html", "", "E"), leaf("image/jpeg", "", "F")],
                            ),
                        ],
                    ),
                    leaf("image/jpeg", attachment, "G"),
                    leaf("application/x-excel", "", "H"),
                    leaf("message/rfc822", "", "Subject: J\r\n\r\nJ"),
                ],
            ),
            leaf("text/plain", "Content-Disposition: inline\r\n", "K"),
        ],
    );
    let mail = read::message(raw.as_bytes()).unwrap();
    // Text of the HTML body is not HTML: the standard lists A, E and K for it.
    assert_eq!((mail.text.as_deref(), mail.html.as_deref()), (Some("A\nB\nD\nK"), Some("E")));
    let files: Vec<(&str, &str)> =
        mail.message.attachments.iter().map(|file| (file.id.as_str(), file.content_type.as_str())).collect();
    let expected = [
        ("2.1.1.2", "image/jpeg"),
        ("2.1.2.2", "image/jpeg"),
        ("2.2", "image/jpeg"),
        ("2.3", "application/x-excel"),
        ("2.4", "message/rfc822"),
    ];
    assert_eq!(files, expected);
    assert_eq!(mail.message.attachments[0].disposition, Some(Disposition::Inline));
}

#[test]
fn pictures_in_the_text_are_no_attachments() {
    let has = |html: &str, part: &str| {
        let raw = format!(
            "Content-Type: multipart/related; boundary=b\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n{html}\r\n--b\r\n{part}\r\n\r\nx\r\n--b--\r\n"
        );
        read::message(raw.as_bytes()).unwrap().message.has_attachments
    };
    assert!(!has("<img src=\"cid:a@b\">", "Content-Type: image/png\r\nContent-ID: <a@b>"));
    assert!(!has(
        "<img src=cid:a%40b>",
        "Content-Type: image/png\r\nContent-ID: <a@b>\r\nContent-Disposition: attachment"
    ));
    assert!(!has("<p>", "Content-Type: image/png\r\nContent-Disposition: inline; filename=x.png"));
    assert!(has("<p>", "Content-Type: image/png\r\nContent-ID: <a@b>"));
    assert!(has("<p>", "Content-Type: application/pdf\r\nContent-Disposition: inline; filename=x.pdf"));
    assert!(has("<p>", "Content-Type: application/pdf\r\nContent-Disposition: attachment"));
    assert!(!has("<p>", "Content-Type: application/pgp-signature"));
}

#[test]
fn a_file_name_is_a_name() {
    for (given, name) in [
        ("a.pdf", Some("a.pdf")),
        ("../../etc/passwd", Some("_.._etc_passwd")),
        ("...", None),
        (" .hidden", Some("hidden")),
        ("a\u{202e}gpj.exe", Some("agpj.exe")),
        ("a\r\nb\0c", Some("abc")),
        ("C:\\x", Some("C:_x")),
        ("u\u{308}.txt", Some("\u{fc}.txt")),
        ("", None),
    ] {
        assert_eq!(read::file_name(given).as_deref(), name, "{given:?}");
    }
    let long = read::file_name(&format!("{}.tar.gz", "\u{fc}".repeat(300))).unwrap();
    assert!(long.len() <= 255 && long.ends_with(".gz"));
    assert!(read::file_name(&"a.b".repeat(300)).unwrap().len() <= 255);
}

#[test]
fn snippets_are_short_and_plain() {
    let snippet = |kind: &str, text: &str| {
        read::message(format!("Content-Type: text/{kind}; charset=utf-8\r\n\r\n{text}").as_bytes())
            .unwrap()
            .message
            .snippet
    };
    assert_eq!(snippet("plain", " a \r\n\r\n b\u{a0}c \u{200b}"), "a b c");
    assert_eq!(
        snippet("html", "<style>x{}</style><p>a<br>b</p><!-- c --><script>d</script>&amp; e"),
        "a b & e"
    );
    assert_eq!(snippet("plain", &"\u{1f600}".repeat(300)).chars().count(), 200);
    assert_eq!(snippet("plain", &"word ".repeat(100)).chars().count(), 199);
    assert_eq!(snippet("html", ""), "");
}
