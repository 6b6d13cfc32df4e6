//! Mail of people and of other programs that quotes bounces, or phrases of them, and is no bounce.

use crate::packings::{self, Packing, multipart, part};
use crate::samples::{SAMPLES, Sample};
use crate::standards::STANDARDS;

/// Name and message.
pub fn all() -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for sample in SAMPLES {
        all.extend(
            of_sample(sample)
                .into_iter()
                .map(|(name, raw)| (format!("{name}: {}", sample.name), raw.into_bytes())),
        );
    }
    for standard in STANDARDS {
        let raw = String::from_utf8(packings::standard(standard, Packing::Plain)).expect("made of text");
        all.extend(
            forwards(&raw, standard.blocks)
                .into_iter()
                .map(|(name, raw)| (format!("{name}: {}", standard.name), raw.into_bytes())),
        );
    }
    all.extend(others().into_iter().map(|(name, raw)| (name.to_owned(), raw.into_bytes())));
    all
}

fn quoted(text: &str) -> String {
    text.lines().map(|line| format!("> {line}\n")).collect()
}

fn plain(header: &str, text: &str) -> String {
    format!(
        "{header}To: help@desk.example\nMIME-Version: 1.0\n{}",
        part("text/plain; charset=utf-8", text, Packing::Plain)
    )
}

const JANE: &str = "From: Jane Roe <jane@desk.example>\n";

fn of_sample(sample: &Sample) -> Vec<(&'static str, String)> {
    let said = sample.said;
    let whole = String::from_utf8(packings::sample(sample, Packing::Plain)).expect("made of text");
    let digest = [
        part("message/rfc822", &whole, Packing::Plain),
        part("message/rfc822", packings::RETURNED, Packing::Plain),
    ];
    let mut all = vec![
        (
            "answer below",
            plain(
                &format!("{JANE}In-Reply-To: <report@mx.example>\nSubject: Re: Undelivered mail\n"),
                &format!("{}\nWhat is this?\n", quoted(said)),
            ),
        ),
        (
            "answer above",
            plain(
                &format!("{JANE}In-Reply-To: <report@mx.example>\nSubject: AW: Undelivered mail\n"),
                &format!("What is this?\n\n-----Original Message-----\nFrom: MAILER-DAEMON\n\n{said}"),
            ),
        ),
        (
            "answer from a null path",
            plain(
                &format!(
                    "Return-Path: <>\n{JANE}In-Reply-To: <report@mx.example>\nSubject: Re: Undelivered mail\n"
                ),
                said,
            ),
        ),
        ("written by a person", plain(&format!("{JANE}Subject: Undelivered mail\n"), said)),
        (
            "pasted into a ticket",
            plain(
                "From: Shop <support@shop.example>\nSubject: [#4711] Mail does not arrive\nAuto-Submitted: auto-generated\n",
                &format!("A customer wrote:\n\n{said}"),
            ),
        ),
        (
            "pasted with the message",
            plain(
                &format!("{JANE}Subject: Please look at this\n"),
                &format!("{said}\n{}\n\n{}", sample.mark, packings::RETURNED),
            ),
        ),
        (
            "newsletter",
            plain(
                "From: Deliverability Weekly <news@letters.example>\nList-Id: <news.letters.example>\nList-Unsubscribe: <mailto:off@letters.example>\nSubject: Reading bounces\n",
                &format!("This week: what a server says.\n\n{said}\n\nUntil next week!\n"),
            ),
        ),
        (
            "a postmaster's newsletter",
            plain(
                "From: Postmaster <postmaster@letters.example>\nList-Id: <news.letters.example>\nSubject: Reading bounces\n",
                said,
            ),
        ),
        (
            "a postmaster's answer",
            plain(
                "From: Postmaster <postmaster@desk.example>\nIn-Reply-To: <1@desk.example>\nSubject: Re: Undelivered mail\n",
                &format!("That is our gateway.\n\n{}", quoted(said)),
            ),
        ),
        (
            "a postmaster's letter",
            plain(
                "From: Postmaster <postmaster@desk.example>\nSubject: What our users report\n",
                &format!(
                    "Dear colleague,\n\nsince Monday our users are sent such messages when they\nwrite to your house. Could you have a look at it?\nWe found nothing here.\nIt is always the same.\nHere is one of them:\n\n{said}"
                ),
            ),
        ),
        (
            "out of office",
            plain(
                &format!(
                    "Return-Path: <>\n{JANE}Auto-Submitted: auto-replied\nSubject: Out of office: Undelivered mail\n"
                ),
                &format!("I am away until Monday.\n\n{said}"),
            ),
        ),
        (
            "vacation without its field",
            plain(
                &format!("Return-Path: <>\n{JANE}Subject: Away\n"),
                &format!(
                    "I am away until Monday.\nIn urgent cases\nask Bob.\nYours\nJane\nDesk GmbH\n\n{}",
                    quoted(said)
                ),
            ),
        ),
        (
            "digest",
            format!(
                "From: talk-request@lists.example\nSubject: talk Digest, Vol 3\n{}",
                multipart("multipart/digest", &digest)
            ),
        ),
        (
            "digest of a list's program",
            format!(
                "From: owner-talk@lists.example\nSubject: talk Digest, Vol 3\n{}",
                multipart("multipart/digest", &digest)
            ),
        ),
    ];
    all.extend(forwards(&whole, said));
    all
}

/// A report that a person passes on, whole or in parts.
fn forwards(whole: &str, words: &str) -> Vec<(&'static str, String)> {
    let note = part("text/plain", "Can you make sense of this?\n", Packing::Plain);
    let forward = |parts: &[String]| {
        format!(
            "{JANE}To: help@desk.example\nSubject: Fwd: Undelivered mail\nMIME-Version: 1.0\n{}",
            multipart("multipart/mixed", parts)
        )
    };
    vec![
        ("forwarded whole", forward(&[note.clone(), part("message/rfc822", whole, Packing::Plain)])),
        (
            "forwarded inline",
            plain(
                &format!("{JANE}Subject: Fwd: Undelivered mail\n"),
                &format!("---------- Forwarded message ----------\n{whole}"),
            ),
        ),
        (
            "forwarded as a status",
            forward(&[
                note.clone(),
                part("message/delivery-status", words, Packing::Plain),
                part("message/rfc822", packings::RETURNED, Packing::Plain),
            ]),
        ),
        ("attached as a file", forward(&[note, part("text/plain; name=bounce.txt", words, Packing::Plain)])),
        (
            "forwarded alone",
            format!(
                "{JANE}Subject: Fwd: Undelivered mail\n{}",
                part("message/rfc822", whole, Packing::Plain)
            ),
        ),
    ]
}

/// Programs that report on other things, and people who write about reports.
fn others() -> Vec<(&'static str, String)> {
    let receipt = |from: &str| {
        let parts = [
            part("text/plain", "Your message was read.\n", Packing::Plain),
            part(
                "message/disposition-notification",
                "Final-Recipient: rfc822; ada@one.example\nOriginal-Message-ID: <sent@sender.example>\nDisposition: manual-action/MDN-sent-manually; displayed\n",
                Packing::Plain,
            ),
        ];
        format!(
            "{from}Subject: Read: Hello\n{}",
            multipart("multipart/report; report-type=disposition-notification", &parts)
        )
    };
    let aggregate = |kind: &str, from: &str| {
        let parts = [
            part(
                "text/plain",
                "This is an aggregate report. 3 messages could not be delivered.\n",
                Packing::Plain,
            ),
            part(kind, "H4sIAAAAAAAA\n", Packing::Plain),
        ];
        format!("{from}Subject: Report Domain: sender.example\n{}", multipart("multipart/mixed", &parts))
    };
    let tls = [
        part("text/plain", "A report on TLS.\n", Packing::Plain),
        part("application/tlsrpt+gzip", "H4sIAAAAAAAA\n", Packing::Plain),
    ];
    let code = "Looks good. Two remarks on the parser:\n\n+    if line.starts_with(\"Final-Recipient:\") {\n+        // Action: failed\n+        // Status: 5.1.1\n\nFinal-Recipient: rfc822; ada@one.example\nAction: failed\nStatus: 5.1.1\n\nThis block should be a test.\n";
    vec![
        ("receipt", receipt(JANE)),
        (
            "receipt without a path",
            receipt("Return-Path: <>\nFrom: Jane <jane@desk.example>\nAuto-Submitted: auto-replied\n"),
        ),
        ("receipt of a mail system", receipt("Return-Path: <>\nFrom: postmaster@desk.example\n")),
        ("DMARC", aggregate("application/gzip; name=r.xml.gz", "From: DMARC <dmarc-noreply@big.example>\n")),
        ("DMARC of a postmaster", aggregate("application/zip; name=r.zip", "From: postmaster@big.example\n")),
        (
            "TLS report",
            format!(
                "From: postmaster@big.example\nSubject: Report Domain: sender.example\n{}",
                multipart("multipart/report; report-type=tlsrpt", &tls)
            ),
        ),
        (
            "code review",
            plain(
                &format!(
                    "{JANE}Subject: [PATCH 2/3] bounce: read Final-Recipient\nIn-Reply-To: <p@desk.example>\n"
                ),
                code,
            ),
        ),
        (
            "code review of a robot",
            plain(
                "From: Review <notifications@forge.example>\nAuto-Submitted: auto-generated\nSubject: Re: bounce parser\n",
                code,
            ),
        ),
        (
            "blocks of a postmaster's letter",
            plain(
                "From: Postmaster <postmaster@desk.example>\nSubject: Your question\n",
                &format!("Hello,\n\n{code}"),
            ),
        ),
        (
            "parcel",
            plain(
                "From: Parcel <service@post.example>\nSubject: Delivery failed: your parcel\n",
                "Delivery to the following recipient failed:\n\n  Jane Roe, 1 High Street\n\nWe try again tomorrow.\n",
            ),
        ),
        (
            "parcel without a path",
            plain(
                "Return-Path: <>\nFrom: Parcel <service@post.example>\nSubject: Your parcel could not be delivered\n",
                "Your parcel could not be delivered. Write to help@post.example.\n",
            ),
        ),
        (
            "welcome of a postmaster",
            plain(
                "From: Postmaster <postmaster@desk.example>\nSubject: Welcome\n",
                "Welcome! Your address is ada@desk.example.\nThe quota is 5 GB.\n",
            ),
        ),
        (
            "quarantine",
            plain(
                "From: Mail Administrator <postmaster@desk.example>\nSubject: Quarantine of today\nAuto-Submitted: auto-generated\n",
                "These messages are held for you:\n\n  shop@mall.example   Sale!\n  news@letters.example   Reading bounces\n",
            ),
        ),
        (
            "errors of a session",
            plain(
                "Return-Path: <>\nFrom: MAILER-DAEMON@mx.example\nSubject: Postfix SMTP server: errors from host[192.0.2.7]\n",
                "Transcript of session follows.\n\n Out: 220 mx.example ESMTP\n In:  RCPT TO:<ada@one.example>\n Out: 554 5.7.1 Relay access denied\n In:  QUIT\n",
            ),
        ),
        (
            "answer in a report's type",
            format!(
                "{JANE}In-Reply-To: <report@mx.example>\nSubject: Re: x\n{}",
                multipart(
                    "multipart/report; report-type=delivery-status",
                    &[part("text/plain", SAMPLES[0].said, Packing::Plain)]
                )
            ),
        ),
    ]
}
