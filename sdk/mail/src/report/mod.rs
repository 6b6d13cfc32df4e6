//! Reads reports of mail servers about a sent message: delivery reports (RFC 3464), complaints (RFC 5965), and bounces in older,
//! non-standard forms. Automatic replies and read receipts (RFC 8098) are not reports.

mod delivery;
mod formats;
mod lines;
mod program;
mod returned;
mod sender;
mod standard;
mod status;

use std::collections::HashSet;

use crate::read;
use crate::read::entity::{Entity, entities};
use crate::read::field::{Field, fields, last};
use crate::read::limits::MESSAGE_BYTES;
pub use crate::report::delivery::{
    DIAGNOSTIC_BYTES, DeliveryReport, RECIPIENTS, ReportKind, ReportedRecipient,
};
pub use crate::report::sender::may_report;
use crate::report::sender::{Sender, sender};
use crate::text::to_text;

/// The bytes of a report's human-readable text that are read.
const TEXT_BYTES: usize = 256 << 10;

/// The number of texts of a message that are tried, because a gateway's banner may come first.
const TEXTS: usize = 5;

/// The depth to which forwarded messages are searched for a report.
const DEPTH: usize = 2;

/// Reads a message as a delivery report; none if it is not one.
///
/// A delivery report is recognized by its media type (RFC 3464) or, if a mail system sent it, by its blocks or its wording. A person's
/// reply to a report, or a forwarded report, is not one.
pub fn delivery_report(raw: &[u8]) -> Option<DeliveryReport> {
    report(raw.get(..MESSAGE_BYTES).unwrap_or(raw), 0)
}

fn report(raw: &[u8], depth: usize) -> Option<DeliveryReport> {
    let message = Message::new(raw)?;
    if message.is_other_report() {
        return None;
    }
    if let Some(report) = message.standard() {
        return Some(message.complete(report));
    }
    if let Some(report) = message.in_words() {
        return Some(report);
    }
    if message.sender == Sender::Person || message.is_report() || depth == DEPTH {
        return None;
    }
    message.passed_on(depth)
}

/// A message that may be a report.
struct Message<'a> {
    raw: &'a [u8],
    parts: Vec<Entity>,
    header: Vec<Field<'a>>,
    sender: Sender,
}

impl<'a> Message<'a> {
    fn new(raw: &'a [u8]) -> Option<Message<'a>> {
        let parts = entities(raw);
        let header = fields(raw.get(parts.first()?.header.clone())?);
        let sender = sender(&header);
        Some(Message { raw, parts, header, sender })
    }

    fn kind(&self) -> Option<&Entity> {
        self.parts.first()
    }

    /// Whether the message is a `multipart/report` (RFC 6522).
    fn is_report(&self) -> bool {
        self.kind().is_some_and(|root| root.kind.media_type == "multipart/report")
    }

    fn find(&self, types: &[&str]) -> Option<&Entity> {
        self.parts.iter().find(|part| types.contains(&part.kind.media_type.as_str()))
    }

    /// Whether the message is a report of another kind: a receipt (RFC 8098) or a TLS report (RFC 8460).
    fn is_other_report(&self) -> bool {
        let types =
            ["message/disposition-notification", "application/tlsrpt+gzip", "application/tlsrpt+json"];
        let named = self.kind().and_then(|root| root.kind.parameter("report-type")).unwrap_or_default();
        self.find(&types).is_some()
            || named.eq_ignore_ascii_case("disposition-notification")
            || named.eq_ignore_ascii_case("tlsrpt")
    }

    fn content(&self, part: &Entity) -> Vec<u8> {
        part.kind.transfer.decode(self.raw.get(part.body.clone()).unwrap_or_default()).into_owned()
    }

    /// Reads a report in a standard form: as its own parts, or inside the parts that a mail system or a mailing list adds.
    fn standard(&self) -> Option<DeliveryReport> {
        if !self.is_report() && self.sender == Sender::Person {
            return None;
        }
        if let Some(part) = self.find(&["message/delivery-status", "message/global-delivery-status"]) {
            return Some(standard::delivery(&self.content(part)));
        }
        if let Some(part) = self.find(&["message/feedback-report"]) {
            return Some(standard::complaint(&self.content(part)));
        }
        if self.sender < Sender::Perhaps && !self.is_report() {
            return None;
        }
        // If the sender is not known to be a mail system, the part must consist of the blocks alone.
        let at_once = self.sender < Sender::System;
        let leaves =
            self.parts.iter().filter(|part| part.children.is_empty() && !returned::is_returned(part));
        leaves
            .filter(|part| !part.kind.is_multipart() && part.kind.media_type != "text/html")
            .take(TEXTS)
            .find_map(|part| {
                let content = self.content(part);
                let said = str::from_utf8(&content).ok().and_then(returned::start);
                let said = content.get(..said.unwrap_or(content.len())).unwrap_or_default();
                standard::has_blocks(said, at_once).then(|| standard::delivery(said))
            })
    }

    /// Adds the Message-ID and, if no block names a recipient, the recipients in the text.
    fn complete(&self, mut report: DeliveryReport) -> DeliveryReport {
        if report.kind == ReportKind::Complaint {
            report.message_id = returned::id_of_part(self.raw, &self.parts);
            return report;
        }
        let has_recipient = report
            .recipients
            .iter()
            .any(|one| one.final_recipient.is_some() || one.original_recipient.is_some());
        if !has_recipient && let Some(told) = self.in_words() {
            report.recipients = told.recipients;
            report.message_id = told.message_id;
            return report;
        }
        let texts = self.texts();
        report.message_id = self.returned_id(&texts);
        report
    }

    /// The human-readable texts in order, with LF line ends. HTML is used only if there is no plain text.
    fn texts(&self) -> Vec<String> {
        let of = |media_type: &'static str| {
            let parts = self
                .parts
                .iter()
                .filter(move |part| part.children.is_empty() && part.kind.media_type == media_type);
            parts.take(TEXTS).map(|part| self.text(part))
        };
        let plain: Vec<String> = of("text/plain").filter(|text| !text.trim().is_empty()).collect();
        if plain.is_empty() { of("text/html").map(|html| to_text(&html)).collect() } else { plain }
    }

    fn text(&self, part: &Entity) -> String {
        let header = self.raw.get(part.header.clone()).unwrap_or_default();
        let body = self.raw.get(part.body.clone()).unwrap_or_default();
        // Quoted-printable needs up to three bytes per byte, so no more is decoded.
        let body = body.get(..3 * TEXT_BYTES).unwrap_or(body);
        let (text, _) = read::cut(read::part(header, body).text.unwrap_or_default(), TEXT_BYTES);
        text
    }

    /// Reads a report that only has a human-readable text.
    fn in_words(&self) -> Option<DeliveryReport> {
        let is_named = self
            .kind()
            .and_then(|root| root.kind.parameter("report-type"))
            .is_some_and(|named| named.eq_ignore_ascii_case("delivery-status"));
        let is_answer = last(&self.header, "in-reply-to").is_some();
        let is_sure = self.sender == Sender::System || (self.is_report() && is_named && !is_answer);
        if self.sender < Sender::Perhaps && !is_sure {
            return None;
        }
        let texts = self.texts();
        let read = |text: &String| {
            let said = returned::start(text).and_then(|start| text.get(..start)).unwrap_or(text);
            program::recipients(said, is_sure, self.is_delay())
        };
        let told = texts.iter().find_map(read);
        let mut recipients = told.unwrap_or_default();
        self.add_failed(&mut recipients);
        (!recipients.is_empty()).then(|| DeliveryReport {
            message_id: self.returned_id(&texts),
            recipients,
            ..DeliveryReport::default()
        })
    }

    /// Whether the subject reports a delay: `Warning: message 1abc delayed 24 hours`.
    fn is_delay(&self) -> bool {
        let subject =
            last(&self.header, "subject").map(|field| field.text().to_lowercase()).unwrap_or_default();
        ["delayed", "(delay)", "warning: could not send", "delivery delay"]
            .iter()
            .any(|word| subject.contains(word))
    }

    /// Adds the recipients of Exim's field with failed recipients, if a mail system sent the message.
    fn add_failed(&self, recipients: &mut Vec<ReportedRecipient>) {
        let Some(list) = last(&self.header, "x-failed-recipients").filter(|_| self.sender == Sender::System)
        else {
            return;
        };
        let known: HashSet<String> =
            recipients.iter().filter_map(|one| one.final_recipient.clone()).collect();
        let list = list.raw();
        let failed = list
            .split(',')
            .map(str::trim)
            .filter(|address| address.contains('@') && !known.contains(*address));
        let room = RECIPIENTS.saturating_sub(recipients.len());
        recipients.extend(
            failed.take(room).map(|address| program::reported(Some(address.to_owned()), None, false, "")),
        );
    }

    /// The Message-ID of the returned message: from a part, else from a header in the text, else from the report's X-Original-Message-ID,
    /// In-Reply-To or References.
    fn returned_id(&self, texts: &[String]) -> Option<String> {
        let in_text = || {
            let behind =
                texts.iter().find_map(|text| returned::id_in_text(text.get(returned::start(text)?..)?));
            behind.or_else(|| texts.iter().find_map(|text| returned::id_in_text(text)))
        };
        let answered = || {
            let names = ["x-original-message-id", "in-reply-to", "references"];
            names.iter().find_map(|name| returned::first_id(last(&self.header, name)?))
        };
        returned::id_of_part(self.raw, &self.parts).or_else(in_text).or_else(answered)
    }

    /// Reads a report that a gateway or a mailing list forwards as the only attached message.
    fn passed_on(&self, depth: usize) -> Option<DeliveryReport> {
        let mut messages = self.parts.iter().filter(|part| part.kind.media_type == "message/rfc822");
        let message = messages.next().filter(|_| messages.next().is_none())?;
        report(&self.content(message), depth + 1)
    }
}
