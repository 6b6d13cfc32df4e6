//! Mail as foreign programs write it: charsets that are wrong, delimiters that are none, non-standard encodings.

#![expect(clippy::unwrap_used, reason = "helpers of tests; clippy takes only #[test] functions for tests")]

use mail::read;

fn text(content_type: &str, body: &[u8]) -> String {
    let raw = [format!("Subject: x\r\nContent-Type: {content_type}\r\n\r\n").as_bytes(), body].concat();
    read::message(&raw).unwrap().text.unwrap()
}

fn subject(value: &[u8]) -> String {
    read::headers(&[b"Subject: ", value, b"\r\n\r\n"].concat()).subject.unwrap()
}

#[test]
fn a_bad_byte_is_one_bad_character() {
    for (charset, body, expected) in [
        (
            "utf-8",
            &b"Gr\xc3\xbc\xc3\x9fe \xff and \xe4 more"[..],
            "Gr\u{fc}\u{df}e \u{fffd} and \u{fffd} more",
        ),
        ("utf-8", b"Gr\xfc\xdfe", "Gr\u{fffd}\u{fffd}e"),
        ("utf-8", b"cut \xc3", "cut \u{fffd}"),
        ("UTF_8", b"\xef\xbb\xbf\xc3\xbc", "\u{fc}"),
        ("shift_jis", b"\x83\x41\xff\x83\x41", "\u{30a2}\u{fffd}\u{30a2}"),
        ("iso-2022-jp", b"\x1b$B%\"\x1b(B \xff", "\u{30a2} \u{fffd}"),
        ("koi8-r", b"\xc1\xc2", "\u{430}\u{431}"),
        ("Cp-1252", b"\x80", "\u{20ac}"),
        ("windows949", b"\xb0\xa1", "\u{ac00}"),
        ("hz-gb-2312", b"~{VPND~} ~~", "\u{4e2d}\u{6587} ~"),
        ("iso-2022-kr", b"\x1b$)C\x0e0!\x0f a", "\u{ac00} a"),
    ] {
        assert_eq!(text(&format!("text/plain; charset={charset}"), body), expected, "{charset}");
    }
}

#[test]
fn what_cannot_be_or_is_not_named_is_guessed() {
    for (charset, body, expected) in [
        ("; charset=us-ascii", &b"na\xefve"[..], "na\u{ef}ve"),
        ("; charset=us-ascii", b"na\xc3\xafve", "na\u{ef}ve"),
        ("; charset=x-klingon", b"na\xc3\xafve", "na\u{ef}ve"),
        ("; charset=utf-16", b"plain", "plain"),
        ("; charset=utf-16", b"plain!", "plain!"),
        ("; charset=utf-16", b"\0a\0b", "ab"),
        ("; charset=utf-16", b"a\0b\0", "ab"),
        ("; charset=utf-16le", b"a\0b\0\0", "ab\u{fffd}"),
        ("; charset=iso-2022-jp", b"na\xc3\xafve", "na\u{ef}ve"),
        ("; charset=utf-7", b"na\xefve", "na\u{ef}ve"),
        ("", b"na\xefve", "na\u{ef}ve"),
        ("", b"caf\xe9", "caf\u{e9}"),
        ("", b"na\xc3\xafve \xc3\xbc \xff", "na\u{ef}ve \u{fc} \u{fffd}"),
        ("", b"\x1b$B%\"\x1b(B", "\u{30a2}"),
    ] {
        assert_eq!(
            text(&format!("text/plain{charset}"), body),
            expected,
            "{charset} {}",
            body.escape_ascii()
        );
    }
}

#[test]
fn words_of_headers_are_decoded_once() {
    for (value, expected) in [
        (&b"=?iso-8859-1?q?Gr\xfc=DFe?="[..], "Gr\u{fc}\u{df}e"),
        (b"=?utf-8?q?Gr\xc3\xbc=C3=9Fe?= \xc3\xbc", "Gr\u{fc}\u{df}e \u{fc}"),
        (b"=?utf-8?b?5pel5pys?= =?utf-8?b?6A==?=\r\n =?utf-8?b?qp4=?=", "\u{65e5}\u{672c}\u{8a9e}"),
        (b"=?iso-2022-jp?b?GyRC?= =?iso-2022-jp?b?JSIbKEI=?=", "\u{30a2}"),
        (b"=?utf-8*en?q?a_b?=", "a b"),
        (b"=?utf-8?B?w7w?=", "\u{fc}"),
        (b"Re:=?utf-8?q?x?=, (=?utf-8?q?y?=)", "Re:x, (y)"),
        (b"=?utf-7?q?Gr+APwA3w-e?=", "Gr\u{fc}\u{df}e"),
    ] {
        assert_eq!(subject(value), expected, "{}", value.escape_ascii());
    }
}

#[test]
fn names_in_pieces_are_joined_before_they_are_decoded() {
    let name = |parameters: &str| {
        let raw = format!("Content-Disposition: attachment; {parameters}\r\nContent-Type: a/b\r\n\r\nx");
        read::message(raw.as_bytes()).unwrap().message.attachments.remove(0).filename
    };
    for (parameters, expected) in [
        ("filename*0*=utf-8''%C3; filename*1*=%BC.pdf", "\u{fc}.pdf"),
        ("filename*0*=koi8-r''%C1;\r\n filename*1*=%C2.txt", "\u{430}\u{431}.txt"),
        ("filename=plain.txt; filename*=utf-8''%C3%BC.txt", "\u{fc}.txt"),
        ("filename*1=b.txt; filename*0=a", "ab.txt"),
        ("filename*=utf-8'de'a%20b.txt; size=1", "a b.txt"),
    ] {
        assert_eq!(name(parameters).as_deref(), Some(expected), "{parameters}");
    }
}

#[test]
fn a_line_that_begins_like_a_delimiter_is_text() {
    let raw = "Subject: x\r\nContent-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\n\r\none\r\n--a is no delimiter\r\n\
               --ab\r\n--a--x\r\n--a-\r\n -a\r\ntwo\r\n--a \t\r\nContent-Type: multipart/mixed; boundary=ab\r\n\r\n\
               --ab\r\n\r\nthree\r\n--abc\r\n--ab\r\nContent-Type: a/b\r\n\r\nfour\r\n--ab-- \r\n--a\r\n\
               Content-Type: a/b\r\n\r\nfive\r\n--a--\r\n";
    let mail = read::message(raw.as_bytes()).unwrap();
    let text = "one\n--a is no delimiter\n--ab\n--a--x\n--a-\n -a\ntwo\nthree\n--abc";
    assert_eq!(mail.text.as_deref(), Some(text));
    let ids: Vec<&str> = mail.message.attachments.iter().map(|file| file.id.as_str()).collect();
    assert_eq!(ids, ["2.2", "3"]);
    assert_eq!(read::attachment(raw.as_bytes(), "3").unwrap().bytes, b"five");
}

#[test]
fn uuencoded_texts_and_files_are_decoded() {
    for name in ["x-uuencode", "UUENCODE", "x-uue", " uue "] {
        let raw = format!(
            "Subject: x\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Transfer-Encoding:{name}\r\n\r\n\
             begin 644 t\r\n#0V%T\r\n`\r\nend\r\n--b\r\nContent-Type: image/png\r\nContent-Transfer-Encoding: {name}\r\n\r\n\
             begin 644 p.png\r\n#0V%T\r\n#0V%T\r\n--b--\r\n"
        );
        let mail = read::message(raw.as_bytes()).unwrap();
        assert_eq!(mail.text.as_deref(), Some("Cat"), "{name}");
        assert_eq!(mail.message.attachments[0].size, Some(6));
        assert_eq!(read::attachment(raw.as_bytes(), "2").unwrap().bytes, b"CatCat");
    }
}
