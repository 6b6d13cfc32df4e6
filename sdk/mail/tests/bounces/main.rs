//! Bounces: those of every program that is known are noticed however they come, and no ordinary mail is taken for one.

mod ordinary;
mod packings;
mod samples;
mod standards;

use std::collections::HashSet;
use std::time::{Duration, Instant};

use mail::report::{DIAGNOSTIC_BYTES, DeliveryReport, RECIPIENTS, delivery_report};
use model::email::tracking::BounceKind;

use crate::packings::{PACKINGS, Packing};
use crate::samples::{Is, SAMPLES};
use crate::standards::STANDARDS;

type Told = (String, Is, Option<String>);

/// The same, as the samples have it.
type Expected = (&'static str, Is, Option<&'static str>);

fn summaries(report: &DeliveryReport) -> Vec<Told> {
    let recipients = report.recipients.iter().filter_map(|one| {
        let is = match one.bounce? {
            BounceKind::Hard => Is::Hard,
            BounceKind::Soft => Is::Soft,
        };
        Some((one.final_recipient.clone()?, is, one.status.clone()))
    });
    recipients.collect()
}

/// Returns the difference between a report and the expected recipients, if there is one.
fn wrong(raw: &[u8], expected: &[(&str, Is, Option<&str>)]) -> Option<String> {
    let Some(report) = delivery_report(raw) else { return Some("is not noticed".to_owned()) };
    let expected: Vec<Told> = expected
        .iter()
        .map(|(address, is, status)| ((*address).to_owned(), *is, status.map(str::to_owned)))
        .collect();
    if summaries(&report) != expected {
        return Some(format!("tells {:#?}", report.recipients));
    }
    (report.message_id.as_deref() != Some("sent@sender.example"))
        .then(|| format!("is about {:?}", report.message_id))
}

/// Collects everything that is wrong, so that one run shows it all.
fn check<T>(
    all: &[T],
    name: fn(&T) -> &str,
    packed: fn(&T, Packing) -> Vec<u8>,
    expected: fn(&T) -> &'static [Expected],
) {
    let mut complaints = Vec::new();
    for one in all {
        for packing in PACKINGS {
            let raw = packed(one, packing);
            if let Some(wrong) = wrong(&raw, expected(one)) {
                complaints.push(format!("{} ({packing:?}) {wrong}", name(one)));
            }
        }
    }
    assert!(
        complaints.is_empty(),
        "{} of {}:\n{}",
        complaints.len(),
        all.len() * PACKINGS.len(),
        complaints.join("\n")
    );
}

#[test]
fn every_program_is_noticed_in_every_packing() {
    let names: HashSet<&str> = SAMPLES.iter().map(|sample| sample.name).collect();
    assert!(names.len() == SAMPLES.len() && names.len() >= 29);
    check(SAMPLES, |sample| sample.name, packings::sample, |sample| sample.told);
}

#[test]
fn standard_forms_are_noticed_in_every_packing() {
    // A gateway that wraps the report of a sender that is no mail system looks like a person who forwards it.
    let (ordinary, rest): (Vec<&_>, Vec<&_>) =
        STANDARDS.iter().partition(|one| one.name == "an ordinary sender");
    check(&rest, |one| one.name, |one, packing| packings::standard(one, packing), |one| one.told);
    for one in ordinary {
        for packing in PACKINGS.into_iter().filter(|packing| *packing != Packing::Footer) {
            assert_eq!(wrong(&packings::standard(one, packing), one.told), None, "{packing:?}");
        }
        assert_eq!(delivery_report(&packings::standard(one, Packing::Footer)), None);
    }
}

/// The address that the sender knows, where an alias made another one of it.
#[test]
fn aliases_are_told_apart() {
    let of = |name: &str| {
        let sample = SAMPLES.iter().find(|sample| sample.name == name).unwrap();
        delivery_report(&packings::sample(sample, Packing::Plain)).unwrap().recipients
    };
    for (name, at) in [("Exim", 0), ("Postfix", 1), ("sendmail", 2)] {
        let recipients = of(name);
        assert_eq!(recipients[at].original_recipient.as_deref(), Some("team@list.example"), "{name}");
    }
}

#[test]
fn reasons_are_kept() {
    for sample in SAMPLES.iter().filter(|sample| sample.told.iter().any(|(_, _, status)| status.is_some())) {
        let report = delivery_report(&packings::sample(sample, Packing::Plain)).unwrap();
        let of_status = report.recipients.iter().filter(|one| one.status.is_some());
        assert!(
            of_status.clone().all(|one| one.diagnostic.is_some()),
            "{}: {:#?}",
            sample.name,
            report.recipients
        );
    }
}

/// A list's program and a virus scanner pass a report on as a whole message.
#[test]
fn passed_on_reports_are_noticed() {
    for from in ["mailman-bounces@lists.example", "owner-team@lists.example", "MAILER-DAEMON@gate.example"] {
        for sample in SAMPLES {
            let inner = packings::sample(sample, Packing::Plain);
            let inner = packings::part("message/rfc822", &String::from_utf8(inner).unwrap(), Packing::Plain);
            let note =
                packings::part("text/plain", "The attached message came to the owner.\n", Packing::Plain);
            let body = packings::multipart("multipart/mixed", &[note, inner]);
            let raw = format!("From: {from}\nSubject: Uncaught notification\n{body}");
            assert_eq!(wrong(raw.as_bytes(), sample.told), None, "{from} {}", sample.name);
        }
    }
}

#[test]
fn ordinary_mail_is_no_report() {
    let all = ordinary::all();
    assert!(all.len() >= 500, "{}", all.len());
    let taken: Vec<&str> =
        all.iter().filter(|(_, raw)| delivery_report(raw).is_some()).map(|(name, _)| name.as_str()).collect();
    assert!(taken.is_empty(), "{} of {}:\n{}", taken.len(), all.len(), taken.join("\n"));
}

/// Answers within the time, and with no more than is promised.
fn bounded(name: &str, raw: &[u8]) {
    let start = Instant::now();
    let report = delivery_report(raw);
    // Ten megabytes take some tenths of a second unoptimised; with the square they would take hours.
    assert!(start.elapsed() < Duration::from_secs(20), "{name}: {:?}", start.elapsed());
    let recipients = report.map(|report| report.recipients).unwrap_or_default();
    assert!(recipients.len() <= RECIPIENTS, "{name}");
    let longest = recipients.iter().filter_map(|one| one.diagnostic.as_ref()).map(String::len).max();
    assert!(longest.unwrap_or(0) <= DIAGNOSTIC_BYTES, "{name}");
}

#[test]
fn hostile_input_is_bounded() {
    const SIZE: usize = 10 << 20;
    let fill = |piece: &str| piece.repeat(SIZE / piece.len());
    for sample in SAMPLES {
        // 300 KB are more than is read of a text.
        for piece in ["<a@b.example>:\n", "(<a@"] {
            let raw = format!("{}\n{}{}", sample.header, sample.said, piece.repeat(300_000 / piece.len()));
            bounded(sample.name, raw.as_bytes());
        }
    }
    let exim = &SAMPLES[0];
    let numbered: String = (0..SIZE / 24).map(|n| format!("  a{n}@b.example\n")).collect();
    for (name, raw) in [
        ("addresses", format!("{}\n{}{numbered}", exim.header, exim.said)),
        ("long line", format!("{}\n{}{}", exim.header, exim.said, fill("a@b.example "))),
        ("marks", format!("{}\n{}{}", exim.header, exim.said, fill("------ This is a copy of\n"))),
        (
            "failed",
            format!("From: MAILER-DAEMON@b.example\nX-Failed-Recipients: {}\n\nx\n", fill("a@b.example, ")),
        ),
        (
            "status",
            format!(
                "From: MAILER-DAEMON@b.example\nContent-Type: multipart/report; boundary=b\n\n--b\nContent-Type: message/delivery-status\n\n{}",
                fill("Final-Recipient: x;a@b.example\nAction: failed\n\n")
            ),
        ),
        (
            "fields",
            format!(
                "From: MAILER-DAEMON@b.example\nContent-Type: multipart/report; boundary=b\n\n--b\nContent-Type: message/delivery-status\n\n{}",
                fill("Status: 5\n \n")
            ),
        ),
        (
            "messages",
            format!(
                "From: MAILER-DAEMON@b.example\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: message/rfc822\n\n{}",
                fill("From: MAILER-DAEMON@b.example\nContent-Type: message/rfc822\n\n")
            ),
        ),
        ("id", format!("{}\n{}\nOriginal message\n{}", exim.header, exim.said, fill("Message-ID:\n"))),
    ] {
        bounded(name, raw.as_bytes());
    }
}
