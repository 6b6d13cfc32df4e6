//! Reads the human-readable text of a bounce: the failed recipients and the reasons. The wording of each mail program is in `formats`; this
//! module has the common parser for lines with addresses in lists or after labels.

use std::collections::HashMap;

use crate::read::field::clean;
use crate::report::delivery::{DIAGNOSTIC_BYTES, RECIPIENTS, ReportedRecipient};
use crate::report::formats::format::{Format, List, Shape};
use crate::report::formats::{DELAYS, all};
use crate::report::lines::{address_after, address_at, address_within, generated_from, indentation};
use crate::report::status;
use crate::text::cut_at;

/// The non-empty lines in which a report must identify itself; the banner of a gateway may come first.
const OPENING_LINES: usize = 60;
/// The same limit if the sender does not prove that it is a report.
const FIRST_LINES: usize = 6;
/// The bytes of a line that are read.
const LINE_BYTES: usize = 1_000;

/// Returns the recipients that a text reports on; none if it is not a report of a known program. `is_sure`: the message is from a mail
/// system.
pub fn recipients(text: &str, is_sure: bool, is_delay: bool) -> Option<Vec<ReportedRecipient>> {
    let opening = opening(text, is_sure);
    let is_delay = is_delay || opening.iter().any(|line| DELAYS.iter().any(|delay| line.contains(delay)));
    all()
        .filter(|format| (is_sure || !format.is_common) && opens(format, &opening, is_sure))
        .map(|format| Reader::new(format, is_delay).read(text))
        .find(|recipients| !recipients.is_empty())
}

/// The lines that decide whether the text is a report, in lower case, without quoted lines.
fn opening(text: &str, is_sure: bool) -> Vec<String> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines = lines.take(if is_sure { OPENING_LINES } else { FIRST_LINES });
    let lines = lines.filter(|line| !line.starts_with("> ") && !line.starts_with("| "));
    lines.map(|line| cut_at(line, LINE_BYTES).to_ascii_lowercase()).collect()
}

fn opens(format: &Format, opening: &[String], is_sure: bool) -> bool {
    let begins = |line: &str, phrase: &str| {
        line.trim_start_matches(|c: char| c.is_whitespace() || "-*=#|".contains(c)).starts_with(phrase)
    };
    let is =
        |line: &String, phrase: &&str| if is_sure { line.contains(phrase) } else { begins(line, phrase) };
    opening.iter().any(|line| format.openings.iter().any(|phrase| is(line, phrase)))
}

/// The report on one recipient, as far as it was read.
#[derive(Default)]
struct Draft {
    address: Option<String>,
    original: Option<String>,
    is_delayed: bool,
    said: String,
}

struct Reader<'f> {
    format: &'f Format,
    /// Whether recipients are delayed, not failed, if their list does not say which.
    is_delay: bool,
    list: Option<&'f List>,
    drafts: Vec<Draft>,
    /// The index in `drafts` by address, because a report can name an address both in a list and in a transcript.
    places: HashMap<String, usize>,
    /// The draft whose reason is being read, and the indentation of its address.
    current: Option<(usize, usize)>,
    /// The reason for all recipients, and whether its lines are being read.
    reason: String,
    in_reason: bool,
    /// The recipient of the last RCPT command in a transcript.
    asked: Option<String>,
}

impl<'f> Reader<'f> {
    fn new(format: &'f Format, is_delay: bool) -> Reader<'f> {
        Reader {
            format,
            is_delay,
            list: None,
            drafts: Vec::new(),
            places: HashMap::new(),
            current: None,
            reason: String::new(),
            in_reason: false,
            asked: None,
        }
    }

    fn read(mut self, text: &str) -> Vec<ReportedRecipient> {
        text.lines().for_each(|line| self.line(cut_at(line, LINE_BYTES)));
        let shared = self.reason;
        self.drafts.into_iter().map(|draft| recipient(draft, &shared)).collect()
    }

    fn line(&mut self, line: &str) {
        let text = line.trim();
        if text.is_empty() {
            self.current = None;
            self.in_reason &= self.reason.is_empty();
            return;
        }
        let indent = indentation(line);
        if let Some((current, from)) = self.current
            && indent > from
        {
            return self.more(current, text);
        }
        let lower = text.to_ascii_lowercase();
        if self.read_label(text, &lower, indent)
            || self.read_list_line(&lower)
            || self.read_reason(text, &lower)
        {
            return;
        }
        if self.in_reason {
            return push(&mut self.reason, text);
        }
        let list = self.list;
        match list {
            Some(list) if matches!(list.shape, Shape::Transcript) => self.transcript(list, text),
            Some(list) if self.entry(list, text, indent) => {}
            _ => {
                if let Some((current, _)) = self.current {
                    self.more(current, text);
                }
            }
        }
    }

    /// `Failed address: a@b.example`
    fn read_label(&mut self, text: &str, lower: &str, indent: usize) -> bool {
        for label in self.format.labels {
            let Some(after) = lower.find(label.phrase).and_then(|at| text.get(at + label.phrase.len()..))
            else {
                continue;
            };
            let Some((address, rest)) = address_after(after) else { continue };
            let is_delayed = label.is_delayed.unwrap_or(self.is_delay);
            self.add(address, None, is_delayed, indent);
            if let Some((current, _)) = self.current {
                // If nothing follows, the label itself is the reason: `Unknown user: a@b.example`.
                self.more(current, if label.is_reason { text } else { rest });
            }
            self.list = None;
            self.in_reason = false;
            return true;
        }
        false
    }

    fn read_list_line(&mut self, lower: &str) -> bool {
        let Some(list) = self.format.lists.iter().find(|list| lower.contains(list.phrase)) else {
            return false;
        };
        self.list = Some(list);
        self.current = None;
        self.in_reason = false;
        true
    }

    fn read_reason(&mut self, text: &str, lower: &str) -> bool {
        let ends = self.format.reasons.iter().filter_map(|phrase| Some(lower.find(phrase)? + phrase.len()));
        let Some(end) = ends.min() else { return false };
        self.current = None;
        self.in_reason = true;
        push(&mut self.reason, text.get(end..).unwrap_or_default().trim_start_matches(':').trim());
        true
    }

    /// Reads a line of a list, if it has an address at the position that the list prescribes.
    fn entry(&mut self, list: &List, text: &str, indent: usize) -> bool {
        let found = match list.shape {
            Shape::Alone => {
                address_at(text).filter(|(_, rest)| rest.is_empty() || rest.starts_with(['(', '[']))
            }
            Shape::Leading => address_at(text),
            Shape::Angle => text.starts_with('<').then(|| address_at(text)).flatten(),
            Shape::Within | Shape::Transcript => address_at(text).or_else(|| address_within(text)),
        };
        let Some((address, rest)) = found else {
            // Exim writes this for an alias that it does not disclose.
            if text == "an undisclosed address" {
                self.start(
                    Draft { is_delayed: list.is_delayed.unwrap_or(self.is_delay), ..Draft::default() },
                    indent,
                );
                return true;
            }
            return false;
        };
        let (original, rest) = generated_from(rest);
        self.add(address, original, list.is_delayed.unwrap_or(self.is_delay), indent);
        if let Some((current, _)) = self.current {
            self.more(current, rest);
        }
        true
    }

    /// Reads a line of an SMTP transcript: `>>> RCPT To:<a@b.example>`, `<<< 550 no such user`.
    fn transcript(&mut self, list: &List, text: &str) {
        let lower = text.to_ascii_lowercase();
        if let Some(command) = lower.find("rcpt to:").filter(|_| text.starts_with(">>>")) {
            self.asked = text.get(command + 8..).and_then(address_after).map(|(address, _)| address);
            return;
        }
        let answer = text.strip_prefix("<<<").map(str::trim);
        let is_failure = answer.unwrap_or(text).starts_with(['4', '5']) || text.starts_with('<');
        let address = match (answer, self.asked.take()) {
            _ if text.starts_with(">>>") => return,
            (Some(_), Some(asked)) => Some(asked),
            _ => address_within(text).map(|(address, _)| address),
        };
        // A transcript also names the sender and recipients that did not fail, so a list before it takes precedence.
        let is_listed =
            self.drafts.is_empty() || address.as_ref().is_some_and(|a| self.places.contains_key(a));
        match address {
            Some(address) if is_failure && is_listed => {
                self.add(address, None, list.is_delayed.unwrap_or(self.is_delay), 0);
                if let Some((current, _)) = self.current.take() {
                    self.more(current, answer.unwrap_or(text));
                }
            }
            _ if is_failure => push(&mut self.reason, answer.unwrap_or(text)),
            _ => {}
        }
    }

    fn add(&mut self, address: String, original: Option<String>, is_delayed: bool, indent: usize) {
        match self.places.get(&address) {
            Some(place) => {
                self.current = Some((*place, indent));
                // The second mention is often more exact.
                if let Some(draft) = self.drafts.get_mut(*place)
                    && status::enhanced(&draft.said).is_none()
                    && draft.said.len() < DIAGNOSTIC_BYTES
                {
                    draft.said.clear();
                }
            }
            None => {
                let place = self.drafts.len();
                if place < RECIPIENTS {
                    self.places.insert(address.clone(), place);
                }
                self.start(
                    Draft { address: Some(address), original, is_delayed, said: String::new() },
                    indent,
                );
            }
        }
    }

    fn start(&mut self, draft: Draft, indent: usize) {
        self.current = None;
        if self.drafts.len() < RECIPIENTS {
            self.current = Some((self.drafts.len(), indent));
            self.drafts.push(draft);
        }
    }

    fn more(&mut self, place: usize, text: &str) {
        let Some(draft) = self.drafts.get_mut(place) else { return };
        let (original, text) = generated_from(text);
        if draft.original.is_none() {
            draft.original = original;
        }
        push(&mut draft.said, text);
    }
}

/// Reads twice the length that is kept, because white space is removed.
fn push(said: &mut String, text: &str) {
    if said.len() < 2 * DIAGNOSTIC_BYTES && !text.is_empty() {
        if !said.is_empty() {
            said.push(' ');
        }
        said.push_str(text);
    }
}

fn recipient(draft: Draft, shared: &str) -> ReportedRecipient {
    // The text beside the address may be the rest of a sentence, so the common reason is used if only that has a status.
    let tells =
        |said: &str| status::meant(said, if draft.is_delayed { "delayed" } else { "failed" }).is_some();
    let is_shared = draft.said.is_empty() || (!tells(&draft.said) && tells(shared));
    let said = if is_shared { shared } else { &draft.said };
    reported(draft.address, draft.original, draft.is_delayed, said)
}

/// A recipient that a program names in its text.
pub fn reported(
    address: Option<String>,
    original: Option<String>,
    is_delayed: bool,
    said: &str,
) -> ReportedRecipient {
    let action = if is_delayed { "delayed" } else { "failed" };
    let diagnostic = clean(said);
    let diagnostic = cut_at(&diagnostic, DIAGNOSTIC_BYTES).trim().to_owned();
    let status = status::meant(&diagnostic, action);
    ReportedRecipient {
        original_recipient: original,
        final_recipient: address,
        bounce: status::bounce(action, status.as_deref()),
        action: action.to_owned(),
        status,
        diagnostic: Some(diagnostic).filter(|text| !text.is_empty()),
        remote_mta: None,
    }
}
