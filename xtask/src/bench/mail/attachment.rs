//! A large attachment, which we stream.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use crate::bench::load::Load;
use crate::bench::mail::provider::{Account, MailSubject};
use crate::bench::memory;
use crate::bench::table::{FigureTarget, Row};

const MIB: usize = 1 << 20;
const SIZE: usize = 100 * MIB;
/// The range that is requested, from the middle of the attachment.
const PART: std::ops::Range<usize> = 50 * MIB..60 * MIB;
/// The time limit until a message is in a list.
const PATIENCE: Duration = Duration::from_secs(60);

/// Two rows: the memory for the whole attachment and for a part of it.
pub fn run(subject: &MailSubject, account: &Account) -> Result<Vec<Row>> {
    let content: Vec<u8> = (0..SIZE).map(byte).collect();
    account.put(message(&content))?;
    let path = find(subject)?;
    let load = subject.load(&path);
    let whole = row(subject, account, (&load, None), &content)?;
    let part = row(subject, account, (&load, Some(PART)), content.get(PART).unwrap_or_default())?;
    Ok(vec![whole, part])
}

/// Returns a byte that depends on its position, so that misplaced pieces are detected.
fn byte(at: usize) -> u8 {
    let mixed = (at as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56;
    u8::try_from(mixed).unwrap_or_default()
}

fn message(content: &[u8]) -> Vec<u8> {
    let head = "From: ann@example.org\r\nTo: bench@example.test\r\nSubject: Large\r\n\
        Message-ID: <large.bench@example.org>\r\nMIME-Version: 1.0\r\n\
        Content-Type: multipart/mixed; boundary=large\r\n\r\n--large\r\nContent-Type: text/plain\r\n\r\nSee there.\r\n\
        --large\r\nContent-Type: application/octet-stream; name=large.bin\r\n\
        Content-Disposition: attachment; filename=large.bin\r\nContent-Transfer-Encoding: base64\r\n\r\n";
    let mut message = head.as_bytes().to_vec();
    for line in content.chunks(57) {
        message.extend_from_slice(BASE64_STANDARD.encode(line).as_bytes());
        message.extend_from_slice(b"\r\n");
    }
    message.extend_from_slice(b"--large--\r\n");
    message
}

/// Returns the path of the attachment, once the message is in the list.
fn find(subject: &MailSubject) -> Result<String> {
    let list = format!("/v1/email/messages?connection_id={}&limit=1", subject.connection);
    let start = Instant::now();
    loop {
        let page = subject.ask(&list)?;
        let newest = &page["data"][0];
        if newest["subject"] == "Large" {
            let id = newest["id"].as_str().context("a message has no id")?;
            let part = newest["attachments"][0]["id"].as_str().context("an attachment has no id")?;
            return Ok(format!("/v1/email/messages/{id}/attachments/{part}?format=raw"));
        }
        ensure!(start.elapsed() < PATIENCE, "the large message did not come: {newest}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

fn row(
    subject: &MailSubject,
    account: &Account,
    (load, part): (&Load, Option<std::ops::Range<usize>>),
    expected: &[u8],
) -> Result<Row> {
    let pid = subject.server.pid();
    let before = memory::resident_mib(pid)?;
    memory::forget_peak(pid)?;
    let start = Instant::now();
    download(load, part.clone(), expected)?;
    let took = start.elapsed().as_secs_f64();
    let growth = memory::peak_mib(pid)? - before;
    let what = match part {
        None => "an attachment of 100 MiB",
        Some(_) => "10 MiB from the middle of it (Range)",
    };
    Ok(Row {
        what: format!("{what}, {}: growth of resident memory", account.shown),
        ours: format!("{growth:.1} MiB, {took:.1} s"),
        baseline: "–".to_owned(),
        figure: growth,
        unit: " MiB".to_owned(),
        target: FigureTarget::AtMost(32.0),
    })
}

/// Reads the bytes and compares them.
fn download(load: &Load, part: Option<std::ops::Range<usize>>, expected: &[u8]) -> Result<()> {
    let mut stream = TcpStream::connect(load.address)?;
    let mut request =
        format!("GET {} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n", load.path, load.address);
    for line in &load.headers {
        request += &format!("{line}\r\n");
    }
    if let Some(part) = &part {
        request += &format!("range: bytes={}-{}\r\n", part.start, part.end - 1);
    }
    stream.write_all((request + "\r\n").as_bytes())?;
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        ensure!(stream.read(&mut byte)? == 1, "the answer ends in its head");
        head.extend_from_slice(&byte);
    }
    let status = if part.is_some() { "HTTP/1.1 206" } else { "HTTP/1.1 200" };
    let head = String::from_utf8_lossy(&head).into_owned();
    ensure!(head.starts_with(status), "not the attachment: {head}");
    let (mut at, mut buffer) = (0, vec![0; 256 << 10]);
    while at < expected.len() {
        let count = stream.read(&mut buffer)?;
        ensure!(count > 0, "the attachment ends after {at} bytes");
        ensure!(
            expected.get(at..at + count) == buffer.get(..count),
            "the attachment differs after {at} bytes"
        );
        at += count;
    }
    Ok(())
}
