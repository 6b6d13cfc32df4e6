//! What mail servers tell about a message that was sent: delivery reports (RFC 3464), complaints (RFC 5965), and the bounces of programs
//! older than those. An automatic answer of a person's mailbox is none of them, and neither is a receipt (RFC 8098).

use std::collections::HashMap;

use model::email::tracking::BounceKind;

use crate::read::cut_at;
use crate::read::entity::{Entity, entities};
use crate::read::field::{self, Field, fields, last};
use crate::read::limits::MESSAGE_BYTES;
use crate::threads::message_ids;

/// Most recipients that are read from one report.
pub const RECIPIENTS: usize = 1_000;

/// Longest diagnostic, bytes.
pub const DIAGNOSTIC_BYTES: usize = 2_048;

/// How much of the text of an old-style bounce is searched.
const TEXT_BYTES: usize = 256 << 10;

/// A report about one message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliveryReport {
    pub kind: ReportKind,
    /// In the form that a standard describes, not guessed from a text.
    pub is_standard: bool,
    /// The Message-ID of the message that it is about, without angle brackets, where the report has it.
    pub message_id: Option<String>,
    /// The envelope's id that the sender chose (RFC 3461 ENVID).
    pub envelope_id: Option<String>,
    /// The server that reports.
    pub reporting_mta: Option<String>,
    /// A complaint's type (RFC 5965 3.5): `abuse`.
    pub feedback_type: Option<String>,
    /// At most 1,000.
    pub recipients: Vec<ReportedRecipient>,
}

/// What is reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReportKind {
    /// How the delivery went.
    #[default]
    Delivery,
    /// A recipient called it spam.
    Complaint,
}

/// What is reported of one recipient.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportedRecipient {
    /// The address that it was sent to, if the report tells it apart from `final_recipient`.
    pub original_recipient: Option<String>,
    /// The address at which delivery was tried, after forwarding.
    pub final_recipient: Option<String>,
    /// `failed`, `delayed`, `delivered`, `relayed`, `expanded`; lower case, empty where it is not said.
    pub action: String,
    /// RFC 3463: `5.1.1`.
    pub status: Option<String>,
    /// What the other server said, its type stripped; at most 2,048 bytes.
    pub diagnostic: Option<String>,
    pub remote_mta: Option<String>,
    /// Hard: it failed for good. Soft: it is delayed, or failed for now. None: it is no failure.
    pub bounce: Option<BounceKind>,
}

/// The report that this message is; none for every other message.
pub fn delivery_report(raw: &[u8]) -> Option<DeliveryReport> {
    let raw = raw.get(..MESSAGE_BYTES).unwrap_or(raw);
    let parts = entities(raw);
    let root = parts.first()?;
    let find = |types: &[&str]| parts.iter().find(|part| types.contains(&part.kind.media_type.as_str()));
    if root.kind.media_type == "multipart/report" {
        if let Some(status) = find(&["message/delivery-status", "message/global-delivery-status"]) {
            return Some(delivery(&content(raw, status), returned_id(raw, &parts)));
        }
        let feedback = find(&["message/feedback-report"])?;
        return Some(complaint(&content(raw, feedback), returned_id(raw, &parts)));
    }
    old_bounce(raw, &parts)
}

fn content(raw: &[u8], part: &Entity) -> Vec<u8> {
    part.kind.transfer.decode(raw.get(part.body.clone()).unwrap_or_default()).into_owned()
}

/// The Message-ID of the message that came back, whole or its header alone.
fn returned_id(raw: &[u8], parts: &[Entity]) -> Option<String> {
    let types = [
        "message/rfc822",
        "message/global",
        "text/rfc822-headers",
        "message/rfc822-headers",
        "message/global-headers",
    ];
    let returned = parts.iter().find(|part| types.contains(&part.kind.media_type.as_str()))?;
    let content = content(raw, returned);
    first_id(last(&fields(content.trim_ascii_start()), "message-id")?)
}

fn first_id(field: Field<'_>) -> Option<String> {
    message_ids(&field.raw()).into_iter().next()
}

/// RFC 3464 2.1: a block about the message, then one for each recipient.
fn delivery(status: &[u8], message_id: Option<String>) -> DeliveryReport {
    let mut report = DeliveryReport { is_standard: true, message_id, ..DeliveryReport::default() };
    for block in blocks(status) {
        let fields = fields(block);
        let text = |name| text(&fields, name);
        report.envelope_id = report.envelope_id.or_else(|| text("original-envelope-id"));
        report.reporting_mta =
            report.reporting_mta.or_else(|| text("reporting-mta").map(|mta| untyped(&mta)));
        let is_recipient = ["final-recipient", "original-recipient", "action"]
            .iter()
            .any(|name| last(&fields, name).is_some());
        if is_recipient && report.recipients.len() < RECIPIENTS {
            report.recipients.push(recipient(&fields));
        }
    }
    report
}

fn text(fields: &[Field<'_>], name: &str) -> Option<String> {
    last(fields, name).map(|field| field.raw()).filter(|text| !text.is_empty())
}

fn recipient(fields: &[Field<'_>]) -> ReportedRecipient {
    let text = |name| text(fields, name);
    let address = |name| {
        text(name)
            .map(|address| untyped(&address).trim_matches(['<', '>']).to_owned())
            .filter(|a| !a.is_empty())
    };
    let action =
        text("action").and_then(|action| Some(action.split([' ', '(']).next()?.to_ascii_lowercase()));
    let action = action.unwrap_or_default();
    let status = text("status").and_then(|status| enhanced_status(&status));
    let bounce = bounce(&action, status.as_deref());
    ReportedRecipient {
        original_recipient: address("original-recipient"),
        final_recipient: address("final-recipient"),
        diagnostic: text("diagnostic-code").map(|code| cut_at(&untyped(&code), DIAGNOSTIC_BYTES).to_owned()),
        remote_mta: text("remote-mta").map(|mta| untyped(&mta)),
        action,
        status,
        bounce,
    }
}

fn bounce(action: &str, status: Option<&str>) -> Option<BounceKind> {
    match (action, status.and_then(|status| status.bytes().next())) {
        ("failed", _) => Some(BounceKind::Hard),
        ("delayed", _) => Some(BounceKind::Soft),
        ("delivered" | "relayed" | "expanded", _) => None,
        (_, Some(b'5')) => Some(BounceKind::Hard),
        (_, Some(b'4')) => Some(BounceKind::Soft),
        _ => None,
    }
}

/// RFC 5965 3.
fn complaint(feedback: &[u8], message_id: Option<String>) -> DeliveryReport {
    let fields = fields(feedback.trim_ascii_start());
    let text = |name| text(&fields, name);
    let recipients = fields
        .iter()
        .filter(|field| {
            ["original-rcpt-to", "removal-recipient"].iter().any(|name| field.name.eq_ignore_ascii_case(name))
        })
        .map(|field| untyped(&field.raw()).trim_matches(['<', '>']).to_owned())
        .filter(|address| !address.is_empty())
        .take(RECIPIENTS)
        .map(|address| ReportedRecipient { final_recipient: Some(address), ..ReportedRecipient::default() });
    DeliveryReport {
        kind: ReportKind::Complaint,
        is_standard: true,
        message_id,
        envelope_id: text("original-envelope-id"),
        reporting_mta: text("reporting-mta").map(|mta| untyped(&mta)),
        feedback_type: text("feedback-type").map(|kind| kind.to_ascii_lowercase()),
        recipients: recipients.collect(),
    }
}

/// Without the `rfc822;`, `dns;` or `smtp;` in front.
fn untyped(value: &str) -> String {
    match value.split_once(';') {
        Some((kind, rest))
            if kind.trim().bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') =>
        {
            rest.trim().to_owned()
        }
        _ => value.trim().to_owned(),
    }
}

/// Groups of lines between empty ones.
fn blocks(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_ascii_start();
        if rest.is_empty() {
            return None;
        }
        // The two ways to write an empty line are looked for together: one that never comes would be sought to the end by every block.
        let is_end = |at: &usize| {
            let after = rest.get(at + 1..).unwrap_or_default();
            after.starts_with(b"\n") || after.starts_with(b"\r\n")
        };
        let end = memchr::memchr_iter(b'\n', rest).find(is_end).map_or(rest.len(), |at| at + 1);
        let (block, after) = rest.split_at(end);
        rest = after;
        Some(block)
    })
}

/// The first RFC 3463 status in a text.
fn enhanced_status(text: &str) -> Option<String> {
    let words = text.split(|c: char| !c.is_ascii_digit() && c != '.').map(|word| word.trim_matches('.'));
    words.into_iter().find(|word| is_status(word)).map(str::to_owned)
}

fn is_status(word: &str) -> bool {
    let numbers: Vec<&str> = word.splitn(4, '.').collect();
    matches!(numbers.as_slice(), [class, subject, detail]
        if matches!(*class, "2" | "4" | "5") && (1..=3).contains(&subject.len()) && (1..=3).contains(&detail.len()))
}

/// Exim's own form, told by its header, and that of qmail, told by its text.
fn old_bounce(raw: &[u8], parts: &[Entity]) -> Option<DeliveryReport> {
    let root = parts.first()?;
    let header = fields(raw.get(root.header.clone())?);
    let part = parts.iter().find(|part| part.children.is_empty() && part.kind.media_type == "text/plain")?;
    let text = content(raw, part);
    let text = String::from_utf8_lossy(text.get(..TEXT_BYTES).unwrap_or(&text)).into_owned();
    let failed: Vec<String> = match last(&header, "x-failed-recipients") {
        Some(list) if is_from_server(&header) => {
            list.raw().split(',').map(|address| address.trim().to_owned()).collect()
        }
        Some(_) => return None,
        None => qmail_recipients(&header, &text)?,
    };
    let failed: Vec<String> =
        failed.into_iter().filter(|address| address.contains('@')).take(RECIPIENTS).collect();
    if failed.is_empty() {
        return None;
    }
    let (said, returned) = match returned_message(&text) {
        Some(start) => text.split_at(start),
        None => (text.as_str(), ""),
    };
    let id = returned_id(raw, parts).or_else(|| id_in_text(returned));
    let named = addresses(said);
    let after = |address: &str| named.get(address).and_then(|end| said.get(*end..)).unwrap_or_default();
    Some(DeliveryReport {
        message_id: id,
        recipients: failed.into_iter().map(|address| failed_recipient(after(&address), address)).collect(),
        ..DeliveryReport::default()
    })
}

fn is_from_server(header: &[Field<'_>]) -> bool {
    let value = |name| last(header, name).map(|field| field.raw().to_ascii_lowercase()).unwrap_or_default();
    value("return-path") == "<>"
        || ["mailer-daemon", "postmaster", "mail delivery"].iter().any(|name| value("from").contains(name))
}

/// `Hi. This is the qmail-send program at ...`, then the recipients, each in brackets with a colon on a line of its own.
fn qmail_recipients(header: &[Field<'_>], text: &str) -> Option<Vec<String>> {
    if !is_from_server(header) || !cut_at(text, 200).contains("qmail-send program at") {
        return None;
    }
    let said = returned_message(text).and_then(|start| text.get(..start)).unwrap_or(text);
    let recipients = said.lines().filter_map(|line| line.trim_end().strip_prefix('<')?.strip_suffix(">:"));
    Some(recipients.map(str::to_owned).collect())
}

/// Where the text of the bounce ends and the message that came back begins.
fn returned_message(text: &str) -> Option<usize> {
    let marks = ["--- Below this line is a copy of the message", "------ This is a copy of"];
    marks.iter().filter_map(|mark| text.find(mark)).min()
}

fn id_in_text(returned: &str) -> Option<String> {
    let fields: Vec<&str> = returned
        .lines()
        .filter(|line| cut_at(line, 11).eq_ignore_ascii_case("message-id:"))
        .take(1)
        .collect();
    message_ids(fields.first()?.get(11..)?).into_iter().next()
}

/// Where each address ends that the text names, the first time. Found in one pass: there may be a thousand recipients to look for.
fn addresses(said: &str) -> HashMap<&str, usize> {
    let mut ends = HashMap::new();
    let mut at = 0;
    for word in said.split_inclusive(|c: char| c.is_whitespace() || "<>(),;:\"".contains(c)) {
        let start = at;
        at += word.len();
        let address = word.trim_end_matches(|c: char| c.is_whitespace() || "<>(),;:\"".contains(c));
        if address.contains('@') {
            ends.entry(address).or_insert(start + address.len());
        }
    }
    ends
}

/// What is said after the address; where no status is in it, the program gave up, so it failed for good.
fn failed_recipient(after: &str, address: String) -> ReportedRecipient {
    // Twice what is kept, for the white space that goes.
    let near = cut_at(after, 2 * DIAGNOSTIC_BYTES);
    let paragraph = near.trim_start_matches(['>', ':', ' ']).trim_start();
    let paragraph =
        paragraph.split("\n\n").next().unwrap_or_default().split("\r\n\r\n").next().unwrap_or_default();
    let diagnostic = field::clean(cut_at(paragraph, DIAGNOSTIC_BYTES));
    let status = enhanced_status(&diagnostic);
    ReportedRecipient {
        final_recipient: Some(address),
        action: "failed".to_owned(),
        status,
        diagnostic: Some(diagnostic).filter(|text| !text.is_empty()),
        bounce: Some(BounceKind::Hard),
        ..ReportedRecipient::default()
    }
}
