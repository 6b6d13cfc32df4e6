//! Realistic messages: headers as servers leave them, texts with HTML beside them, newsletters, replies, small files. The same number
//! gives the same message.

use std::fmt::Write as _;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// This word is in one message of [`MESSAGES_PER_RARE_WORD`].
pub const RARE: &str = "plumbiferous";
pub const MESSAGES_PER_RARE_WORD: usize = 400;

const WORDS: [&str; 32] = [
    "the", "meeting", "on", "Thursday", "was", "moved", "to", "next", "week", "please", "send", "your",
    "figures", "before", "noon", "and", "let", "me", "know", "whether", "Grüße", "contract", "invoice",
    "delivery", "of", "a", "new", "office", "we", "would", "like", "thanks",
];

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        usize::try_from((z ^ (z >> 27)) >> 33).unwrap_or(0) % end
    }

    fn words(&mut self, count: usize) -> String {
        let words: Vec<&str> = (0..count).map(|_| WORDS[self.below(WORDS.len())]).collect();
        words.join(" ")
    }

    fn letters(&mut self, count: usize) -> String {
        (0..count)
            .map(|_| char::from(b"abcdefghijklmnopqrstuvwxyzABCDEFGH0123456789"[self.below(44)]))
            .collect()
    }
}

/// Returns the date of the message in IMAP's format: 20 minutes after the one before.
pub fn date(number: usize) -> String {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let minutes = number * 20;
    let days = minutes / 1440;
    // Months of 28 days, which all months have.
    let (day, month) = (days % 28 + 1, MONTHS[days / 28 % 12]);
    format!("{day:02}-{month}-2025 {:02}:{:02}:00 +0000", minutes / 60 % 24, minutes % 60)
}

/// Returns the message of this number, 2 to 8 KB, with CRLF line ends.
pub fn message(number: usize) -> Vec<u8> {
    let mut random = Random(number as u64 + 1);
    let mut text = header(&mut random, number);
    let rare = if number.is_multiple_of(MESSAGES_PER_RARE_WORD) { RARE } else { "" };
    let paragraphs: Vec<String> = (0..2 + random.below(6)).map(|_| random.words(60)).collect();
    let plain = format!("Hello,\n\n{}\n\n{rare}\n-- \nAnn\n", paragraphs.join("\n\n"));
    match number % 10 {
        0..4 => text += &leaf("plain", &plain),
        4..9 => {
            let html = if number.is_multiple_of(2) {
                letter(&paragraphs)
            } else {
                newsletter(&mut random, &paragraphs)
            };
            text += "Content-Type: multipart/alternative; boundary=\"=_alternative\"\n\n";
            write!(text, "--=_alternative\n{}\n", leaf("plain", &plain)).expect("writing to a String");
            write!(text, "--=_alternative\n{}\n--=_alternative--\n", leaf("html", &html))
                .expect("writing to a String");
        }
        _ => {
            text += "Content-Type: multipart/mixed; boundary=\"=_mixed\"\n\n";
            write!(text, "--=_mixed\n{}\n", leaf("plain", &plain)).expect("writing to a String");
            let file = lines(&BASE64_STANDARD.encode(random.letters(2_000)));
            text += "--=_mixed\nContent-Type: application/pdf; name=\"figures.pdf\"\nContent-Disposition: attachment;\n\
                     \tfilename=\"figures.pdf\"\nContent-Transfer-Encoding: base64\n\n";
            text += &file;
            text += "\n--=_mixed--\n";
        }
    }
    text.replace('\n', "\r\n").into_bytes()
}

fn header(random: &mut Random, number: usize) -> String {
    let date = date(number);
    let (day, rest) = date.split_once('-').unwrap_or_default();
    let date = format!("{day} {}", rest.replacen('-', " ", 1));
    let subject = random.words(6);
    let subject = match number % 5 {
        0 => format!("=?utf-8?B?{}?=", BASE64_STANDARD.encode(format!("Grüße: {subject}"))),
        _ => subject.replace('ü', "ue").replace('ß', "ss"),
    };
    let mut text = format!("Return-Path: <person{}@example.org>\n", number % 200);
    for hop in 0..3 {
        let id = random.letters(12);
        writeln!(text, "Received: from mx{hop}.example.org (mx{hop}.example.org [192.0.2.{hop}])\n\tby mail{hop}.example.net (Postfix) with ESMTPS id {id}\n\tfor <bench@example.test>; {date}")
            .expect("writing to a String");
    }
    let signature = [random.letters(43), random.letters(60), random.letters(60), random.letters(60)];
    writeln!(text, "DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=example.org; s=s1;\n\th=from:to:subject:date:message-id; bh={}=;\n\tb={}\n\t {}\n\t {}==", signature[0], signature[1], signature[2], signature[3])
        .expect("writing to a String");
    if number % 3 == 1 {
        let before = number - 1;
        writeln!(text, "In-Reply-To: <{before}.bench@example.org>\nReferences: <{before}.bench@example.org>")
            .expect("writing to a String");
    }
    if number % 10 == 5 {
        text += "List-Unsubscribe: <https://lists.example.org/u/1>, <mailto:leave@lists.example.org>\nPrecedence: bulk\n";
    }
    writeln!(text, "From: \"Person {}\" <person{}@example.org>\nTo: Bench <bench@example.test>, Ben Example <ben@example.net>\nCc: carl@example.com\nSubject: {subject}\nDate: {date}\nMessage-ID: <{number}.bench@example.org>\nMIME-Version: 1.0", number % 200, number % 200)
        .expect("writing to a String");
    text
}

/// A text part, quoted-printable.
fn leaf(subtype: &str, text: &str) -> String {
    let mut body = String::new();
    let mut column = 0;
    for byte in text.bytes() {
        let piece = match byte {
            b'\n' => {
                column = 0;
                body.push('\n');
                continue;
            }
            b'=' | 128.. => format!("={byte:02X}"),
            byte => char::from(byte).to_string(),
        };
        if column + piece.len() > 75 {
            body.push_str("=\n");
            column = 0;
        }
        column += piece.len();
        body.push_str(&piece);
    }
    format!(
        "Content-Type: text/{subtype}; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n{body}"
    )
}

fn letter(paragraphs: &[String]) -> String {
    let text: Vec<String> =
        paragraphs.iter().map(|text| format!("<p style=\"margin:0\">{text}</p>")).collect();
    format!("<html><head><meta charset=\"utf-8\"></head><body>{}</body></html>\n", text.join("\n"))
}

fn newsletter(random: &mut Random, paragraphs: &[String]) -> String {
    let mut rows = String::new();
    for text in paragraphs {
        let id = random.letters(16);
        write!(rows, "<tr><td align=\"center\" style=\"padding:10px 20px;font-family:Arial,sans-serif;color:#333\"><a href=\"https://news.example.org/c/{id}\"><img src=\"https://cdn.example.org/{id}.png\" width=\"560\" alt=\"\"></a>\n<p>{text}</p></td></tr>\n")
            .expect("writing to a String");
    }
    format!(
        "<html><head><style>p {{ margin: 0 }}</style></head><body bgcolor=\"#eeeeee\"><table width=\"600\" cellpadding=\"0\" cellspacing=\"0\" border=\"0\">{rows}</table><img src=\"https://t.example.org/o.gif\" width=\"1\" height=\"1\"></body></html>\n"
    )
}

/// Splits into lines of 76 characters.
fn lines(text: &str) -> String {
    let pieces: Vec<&str> =
        text.as_bytes().chunks(76).filter_map(|line| std::str::from_utf8(line).ok()).collect();
    pieces.join("\n")
}

#[cfg(test)]
mod tests {
    use super::{date, message};

    #[test]
    fn messages_are_of_the_size_that_mail_has_and_always_the_same() {
        for number in 0..500 {
            let message = message(number);
            assert!((1_500..12_000).contains(&message.len()), "{number}: {}", message.len());
            assert_eq!(message, super::message(number));
        }
        assert_eq!(
            (date(0).as_str(), date(100).as_str()),
            ("01-Jan-2025 00:00:00 +0000", "02-Jan-2025 09:20:00 +0000")
        );
    }
}
