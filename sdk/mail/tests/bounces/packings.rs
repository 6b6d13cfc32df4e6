//! The ways in which the same report comes.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;

use crate::samples::Sample;
use crate::standards::Standard;

/// The returned message of every report.
pub const RETURNED: &str = "Return-Path: <me@sender.example>\nFrom: me@sender.example\nTo: ada@one.example\nMessage-ID: <sent@sender.example>\nSubject: Hello\n\nHello.\n";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    Plain,
    Base64,
    QuotedPrintable,
    /// In `multipart/mixed`, with the footer that a list or a virus scanner puts below.
    Footer,
    /// With line ends of both kinds; the message that came back is a part, where it can be.
    Mixed,
}

pub const PACKINGS: [Packing; 5] =
    [Packing::Plain, Packing::Base64, Packing::QuotedPrintable, Packing::Footer, Packing::Mixed];

const FOOTER: &str = "--\nChecked by a scanner. Questions: help@gate.example\n";

pub fn sample(sample: &Sample, packing: Packing) -> Vec<u8> {
    let inline = format!("{}\n{}\n\n{RETURNED}", sample.said, sample.mark);
    let header = format!(
        "{}To: me@sender.example\nMessage-ID: <report@mx.example>\nMIME-Version: 1.0\n",
        sample.header
    );
    let text = |body: &str, packing| part("text/plain; charset=utf-8", body, packing);
    let message = match packing {
        Packing::Plain | Packing::Base64 | Packing::QuotedPrintable => {
            format!("{header}{}", text(&inline, packing))
        }
        Packing::Footer => {
            format!(
                "{header}{}",
                multipart("multipart/mixed", &[text(&inline, Packing::Plain), text(FOOTER, Packing::Plain)])
            )
        }
        Packing::Mixed => {
            let returned = part("message/rfc822", RETURNED, Packing::Plain);
            mixed_ends(&format!(
                "{header}{}",
                multipart("multipart/mixed", &[text(sample.said, Packing::Plain), returned])
            ))
        }
    };
    message.into_bytes()
}

pub fn standard(report: &Standard, packing: Packing) -> Vec<u8> {
    let coded = if packing == Packing::Footer { Packing::Plain } else { packing };
    let mut parts = vec![part("text/plain; charset=utf-8", report.text, coded)];
    parts.extend(report.status_type.map(|status| part(status, report.blocks, coded)));
    parts.push(part("message/rfc822", RETURNED, Packing::Plain));
    let mut body = multipart(report.content_type, &parts);
    if packing == Packing::Footer {
        body = multipart("multipart/mixed", &[body, part("text/plain", FOOTER, Packing::Plain)]);
    }
    let message = format!(
        "From: {}\nTo: me@sender.example\nSubject: Undelivered mail\nMIME-Version: 1.0\n{body}",
        report.from
    );
    if packing == Packing::Mixed { mixed_ends(&message) } else { message }.into_bytes()
}

/// Header and body of a part.
pub fn part(content_type: &str, body: &str, packing: Packing) -> String {
    let (encoding, body) = match packing {
        Packing::Base64 => ("base64", base64_lines(body)),
        Packing::QuotedPrintable => ("quoted-printable", quoted_printable(body)),
        _ => ("8bit", body.to_owned()),
    };
    format!("Content-Type: {content_type}\nContent-Transfer-Encoding: {encoding}\n\n{body}")
}

pub fn multipart(content_type: &str, parts: &[String]) -> String {
    // Each of its own: one stands in another.
    let boundary = format!("b{}", parts.iter().map(String::len).sum::<usize>());
    let parts: String = parts.iter().map(|part| format!("--{boundary}\n{part}\n")).collect();
    format!("Content-Type: {content_type}; boundary={boundary}\n\nFor old programs.\n{parts}--{boundary}--\n")
}

fn base64_lines(body: &str) -> String {
    let whole = BASE64.encode(body.replace('\n', "\r\n"));
    whole.as_bytes().chunks(76).map(|line| format!("{}\n", String::from_utf8_lossy(line))).collect()
}

/// Every fourth character is encoded, and lines are broken softly.
fn quoted_printable(body: &str) -> String {
    let mut coded = String::new();
    let mut column = 0;
    for (at, byte) in body.bytes().enumerate() {
        if byte == b'\n' {
            coded.push('\n');
            column = 0;
            continue;
        }
        if column > 60 {
            coded.push_str("=\n");
            column = 0;
        }
        if at % 4 == 0
            || byte == b'='
            || !byte.is_ascii_graphic() && byte != b' '
            || byte == b' ' && body.as_bytes().get(at + 1) == Some(&b'\n')
        {
            coded.push_str(&format!("={byte:02X}"));
            column += 3;
        } else {
            coded.push(char::from(byte));
            column += 1;
        }
    }
    coded
}

fn mixed_ends(message: &str) -> String {
    message
        .lines()
        .enumerate()
        .map(|(at, line)| format!("{line}{}", if at % 3 == 0 { "\n" } else { "\r\n" }))
        .collect()
}
