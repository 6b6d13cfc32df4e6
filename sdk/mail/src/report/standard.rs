//! Reports in the forms of the standards: delivery (RFC 3464) and complaints (RFC 5965), as strictly as the RFCs have it or not.

use crate::read::field::{Field, fields, last};
use crate::report::delivery::{DIAGNOSTIC_BYTES, DeliveryReport, RECIPIENTS, ReportKind, ReportedRecipient};
use crate::report::status;
use crate::text::cut_at;

/// How much of a part is searched for fields of a report that its type does not promise.
const SEARCHED_BYTES: usize = 256 << 10;

/// Fields that stand in delivery reports and nowhere else, lower case.
const OWN: [&str; 6] = [
    "final-recipient",
    "original-recipient",
    "reporting-mta",
    "original-envelope-id",
    "received-from-mta",
    "arrival-date",
];

/// The fields about a recipient that are read, and how many of them at most.
const READ: [&str; 6] =
    ["final-recipient", "original-recipient", "action", "status", "diagnostic-code", "remote-mta"];
const ABOUT: usize = 200;

/// Whether the blocks of a delivery report stand in a part whose type does not say so. `at_once`: they have to be its beginning.
pub fn has_blocks(content: &[u8], at_once: bool) -> bool {
    let content = content.get(..SEARCHED_BYTES).unwrap_or(content);
    let mut has = (false, false);
    let lines = content.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    for (at, line) in lines.enumerate() {
        let Some(name) = line.split(|byte| *byte == b':').next().and_then(|name| str::from_utf8(name).ok())
        else {
            continue;
        };
        let name = cut_at(name, 30).to_ascii_lowercase();
        if at_once && at == 0 && !OWN.contains(&name.as_str()) {
            return false;
        }
        has.0 |= matches!(name.as_str(), "final-recipient" | "original-recipient");
        has.1 |= matches!(name.as_str(), "action" | "status");
        if has == (true, true) {
            return true;
        }
    }
    false
}

/// RFC 3464 2.1: a block about the message, then one for each recipient. Where a writer put empty lines into a block or none between
/// two, a recipient begins with the field that the one before has already.
pub fn delivery(content: &[u8]) -> DeliveryReport {
    let mut report = DeliveryReport { is_standard: true, ..DeliveryReport::default() };
    let mut about = Vec::new();
    for block in blocks(content) {
        let fields = fields(block);
        let text = |name| text(&fields, name);
        report.envelope_id = report.envelope_id.or_else(|| text("original-envelope-id"));
        report.reporting_mta =
            report.reporting_mta.or_else(|| text("reporting-mta").map(|mta| strip_type(&mta)));
        for (at, field) in fields.iter().enumerate() {
            if report.recipients.len() < RECIPIENTS && begins(&about, *field, at == 0) {
                report.recipients.extend(recipient(&about));
                about.clear();
            }
            if about.len() < ABOUT && READ.iter().any(|name| field.name.eq_ignore_ascii_case(name)) {
                about.push(*field);
            }
        }
    }
    if report.recipients.len() < RECIPIENTS {
        report.recipients.extend(recipient(&about));
    }
    report
}

/// Whether a field is the first one about another recipient than those of `about`.
fn begins(about: &[Field<'_>], field: Field<'_>, is_first: bool) -> bool {
    let named =
        |field: &Field<'_>, names: &[&str]| names.iter().any(|name| field.name.eq_ignore_ascii_case(name));
    let is_name = named(&field, &["final-recipient", "original-recipient"]);
    let is_action = is_first && named(&field, &["action"]);
    if !is_name && !is_action {
        return false;
    }
    let has_action = about.iter().any(|field| named(field, &["action"]));
    let has_name = about.iter().any(|field| named(field, &["final-recipient", "original-recipient"]));
    last(about, field.name).is_some() || (is_first && has_name && has_action)
}

fn text(fields: &[Field<'_>], name: &str) -> Option<String> {
    last(fields, name).map(|field| field.raw()).filter(|text| !text.is_empty())
}

/// None where no field is about a recipient.
fn recipient(fields: &[Field<'_>]) -> Option<ReportedRecipient> {
    let is_recipient =
        ["final-recipient", "original-recipient", "action"].iter().any(|name| last(fields, name).is_some());
    if !is_recipient {
        return None;
    }
    let text = |name| text(fields, name);
    let address = |name| text(name).map(|value| address(&value)).filter(|address| !address.is_empty());
    let action = text("action").map(|action| status::action(&action)).unwrap_or_default();
    let diagnostic =
        text("diagnostic-code").map(|code| cut_at(&strip_type(&code), DIAGNOSTIC_BYTES).to_owned());
    let meant = || status::meant(diagnostic.as_deref()?, &action);
    let status = text("status").and_then(|status| status::enhanced(&status)).or_else(meant);
    let bounce = status::bounce(&action, status.as_deref());
    Some(ReportedRecipient {
        original_recipient: address("original-recipient"),
        final_recipient: address("final-recipient"),
        remote_mta: text("remote-mta").map(|mta| strip_type(&mta)),
        action,
        status,
        diagnostic,
        bounce,
    })
}

/// The address without type, brackets and comment: `rfc822; <a@b.example> (Ada)`.
fn address(value: &str) -> String {
    let value = strip_type(value);
    let bracketed = value.split_once('<').and_then(|(_, rest)| Some(rest.split_once('>')?.0));
    let address = bracketed.unwrap_or_else(|| value.split(" (").next().unwrap_or_default());
    address.trim().trim_matches(['<', '>']).to_owned()
}

/// RFC 5965 3.
pub fn complaint(feedback: &[u8]) -> DeliveryReport {
    let fields = fields(feedback.trim_ascii_start());
    let text = |name| text(&fields, name);
    let recipients = fields
        .iter()
        .filter(|field| {
            ["original-rcpt-to", "removal-recipient"].iter().any(|name| field.name.eq_ignore_ascii_case(name))
        })
        .map(|field| strip_type(&field.raw()).trim_matches(['<', '>']).to_owned())
        .filter(|address| !address.is_empty())
        .take(RECIPIENTS)
        .map(|address| ReportedRecipient { final_recipient: Some(address), ..ReportedRecipient::default() });
    DeliveryReport {
        kind: ReportKind::Complaint,
        is_standard: true,
        message_id: None,
        envelope_id: text("original-envelope-id"),
        reporting_mta: text("reporting-mta").map(|mta| strip_type(&mta)),
        feedback_type: text("feedback-type").map(|kind| kind.to_ascii_lowercase()),
        recipients: recipients.collect(),
    }
}

/// Without the `rfc822;`, `dns;` or `smtp;` in front.
fn strip_type(value: &str) -> String {
    match value.split_once(';') {
        Some((kind, rest))
            if kind.trim().bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') =>
        {
            rest.trim().to_owned()
        }
        _ => value.trim().to_owned(),
    }
}

/// Groups of lines between empty ones. A line of spaces is empty too, unless the next line continues a field.
fn blocks(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        // Spaces before the first field of a block would make it the continuation of nothing.
        rest = rest.trim_ascii_start();
        if rest.is_empty() {
            return None;
        }
        let mut end = rest.len();
        let mut line_start = 0;
        for line_end in memchr::memchr_iter(b'\n', rest) {
            let next = line_end + 1;
            let line = rest.get(line_start..next).unwrap_or_default();
            let is_bare = matches!(line, b"\n" | b"\r\n");
            let continues = matches!(rest.get(next), Some(b' ' | b'\t'));
            if line.trim_ascii().is_empty() && (is_bare || !continues) {
                end = line_start;
                break;
            }
            line_start = next;
        }
        let (block, after) = rest.split_at(end);
        rest = after;
        Some(block)
    })
}
