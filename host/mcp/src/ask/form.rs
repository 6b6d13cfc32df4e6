//! The text of a question: the act as the person needs to see it to decide.

use std::fmt::Write;

use mail::address;

use crate::api::Api;
use crate::ask::question::Question;
use crate::ask::state::{SealedAct, new_nonce};
use crate::policy::{Act, ActRecipient};
use crate::untrusted::{clean, clean_line};

/// Characters of the text that the question shows.
const MAX_EXCERPT: usize = 300;
/// Characters of the subject and of each file's name that the question shows.
const MAX_LINE: usize = 200;

/// Returns the question about an act. `has_changed`: the record is another version than the one that the person confirmed before.
pub fn new_question<A: Api>(api: &A, act: &Act, has_changed: bool) -> Question {
    let sealed = SealedAct {
        key_id: api.key_id().to_owned(),
        tool: act.tool.to_owned(),
        arguments: act.arguments.clone(),
        target: act.target.as_ref().map(|target| target.id.clone()),
        etag: act.target.as_ref().map(|target| target.etag.clone()),
        nonce: new_nonce(),
        asked_at: api.now(),
    };
    Question { message: message(act, has_changed), state: sealed.seal(api) }
}

/// Returns the text that shows the act: recipients in full, subject, names of files, and the beginning of the text. Each line of foreign
/// text is marked with `>`, so that it cannot pass for one of the others.
fn message(act: &Act, has_changed: bool) -> String {
    let mut text = act.kind.question().to_owned();
    if has_changed {
        text.push_str("\nIt has changed since you were asked.");
    }
    for (field, emails) in by_field(&act.recipients) {
        line(&mut text, &label(field), &emails.join(", "));
    }
    line(&mut text, "Subject", &shown(&act.subject));
    for (label, value) in &act.details {
        line(&mut text, label, &shown(value));
    }
    if !act.files.is_empty() {
        let names: Vec<String> = act.files.iter().map(|name| shown(name)).collect();
        line(&mut text, "Files", &names.join(", "));
    }
    let whole = clean(&act.excerpt, true).text;
    let all = whole.trim().chars().count();
    if all > MAX_EXCERPT {
        line(&mut text, "Text", &format!("{all} characters, of which these are the first {MAX_EXCERPT}"));
    }
    let excerpt = first_chars(whole.trim(), MAX_EXCERPT);
    if !excerpt.is_empty() {
        text.push('\n');
    }
    for quoted in excerpt.lines() {
        text.push_str("\n> ");
        text.push_str(quoted);
    }
    text
}

/// The recipients as they are shown, by their fields in the order of the act.
fn by_field(recipients: &[ActRecipient]) -> Vec<(&'static str, Vec<String>)> {
    let mut fields: Vec<(&'static str, Vec<String>)> = Vec::new();
    for recipient in recipients {
        let email = shown_address(&recipient.email);
        match fields.iter_mut().find(|(field, _)| *field == recipient.field) {
            Some((_, emails)) => emails.push(email),
            None => fields.push((recipient.field, vec![email])),
        }
    }
    fields
}

/// An address as it is shown: with its domain in ASCII too if it has other letters, some of which look like those of another domain.
fn shown_address(email: &str) -> String {
    match address::ascii(email) {
        Some(ascii) if ascii == email => email.to_owned(),
        Some(ascii) => format!("{email} (in ASCII: {ascii})"),
        None => format!("{email} (letters beyond ASCII before the @)"),
    }
}

/// The name of a field with a capital letter.
fn label(field: &str) -> String {
    let mut letters = field.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

fn line(text: &mut String, label: &str, value: &str) {
    // Writing to a string cannot fail.
    _ = write!(text, "\n{label}: {value}");
}

/// A foreign text on one line.
fn shown(text: &str) -> String {
    first_chars(&clean_line(text, true).text, MAX_LINE)
}

/// The first characters of a text, with `…` where it was cut.
fn first_chars(text: &str, max: usize) -> String {
    let mut first: String = text.chars().take(max).collect();
    if text.chars().nth(max).is_some() {
        first.push('…');
    }
    first
}
