//! A message as plain text: lines of at most 72 columns, and every address on its own line.

use crate::bookings::notify::content::{MessageFact, NoticeContent, one_line};

/// Longest line in characters. Words are not broken, so that an address stays one.
const MAX_COLUMNS: usize = 72;
/// Longest indentation of the lines below a label, in characters.
const MAX_INDENT: usize = 12;

/// The text of a message. `what` labels the title.
pub fn render(content: &NoticeContent, what: &str) -> String {
    let mut text = String::new();
    push_wrapped(&mut text, "", "", &one_line(&content.sentence));
    text.push('\n');
    push_fact(&mut text, &MessageFact::new(what, [content.title.clone()]));
    for fact in &content.facts {
        push_fact(&mut text, fact);
    }
    // An address that is in a fact already is not repeated.
    let is_new = |url: &str| {
        let mut lines = content.facts.iter().flat_map(|fact| &fact.lines);
        lines.all(|line| line.url.as_deref() != Some(url))
    };
    let buttons: Vec<_> = content.buttons.iter().filter(|button| is_new(&button.url)).collect();
    if !buttons.is_empty() {
        text.push('\n');
    }
    for button in buttons {
        push_link(&mut text, button.label, &button.url);
    }
    for remark in &content.remarks {
        text.push('\n');
        push_wrapped(&mut text, "", "", remark);
    }
    if !content.words.is_empty() {
        text.push('\n');
    }
    for fact in &content.words {
        push_fact(&mut text, fact);
    }
    if !content.links.is_empty() {
        text.push('\n');
    }
    for link in &content.links {
        push_link(&mut text, link.label, &link.url);
    }
    if let Some(deadline) = &content.deadline {
        push_wrapped(&mut text, "", "", deadline);
    }
    text
}

fn push_link(text: &mut String, label: &str, url: &str) {
    text.extend([label, ":\n", url, "\n"]);
}

/// Adds a fact: its lines stand below each other after the label, or quoted below it.
fn push_fact(text: &mut String, fact: &MessageFact) {
    let label = one_line(&fact.label);
    if fact.is_quoted {
        push_wrapped(text, "", "", &format!("{label}:"));
        for line in &fact.lines {
            match line.text.is_empty() {
                true => text.push_str(">\n"),
                false => push_wrapped(text, "> ", "> ", &line.text),
            }
        }
        return;
    }
    let indent = " ".repeat((label.chars().count() + 2).min(MAX_INDENT));
    let mut before = format!("{label}: ");
    for line in &fact.lines {
        // An address that does not fit gets its own line.
        let is_long = line.url.is_some() && before.chars().count() + line.text.chars().count() > MAX_COLUMNS;
        if is_long {
            if !before.trim().is_empty() {
                text.push_str(before.trim_end());
                text.push('\n');
            }
            text.push_str(&one_line(&line.text));
            text.push('\n');
        } else {
            push_wrapped(text, &before, &indent, &one_line(&line.text));
        }
        before.clone_from(&indent);
    }
}

/// Adds wrapped text. The first line begins with `first`, the others with `next`.
fn push_wrapped(text: &mut String, first: &str, next: &str, words: &str) {
    let mut line = first.to_owned();
    let mut is_empty = true;
    for word in words.split(' ').filter(|word| !word.is_empty()) {
        let is_full = line.chars().count() + word.chars().count() + 1 > MAX_COLUMNS;
        if !is_empty && is_full {
            text.push_str(line.trim_end());
            text.push('\n');
            line = next.to_owned();
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    text.push_str(line.trim_end());
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words_and_addresses_are_not() {
        let mut text = String::new();
        push_wrapped(&mut text, "When: ", "      ", &"word ".repeat(30));
        assert!(text.lines().count() == 3 && text.lines().all(|line| line.chars().count() <= MAX_COLUMNS));
        assert!(
            text.starts_with("When: word") && text.lines().skip(1).all(|line| line.starts_with("      word"))
        );
        let url = format!("https://example.org/{}", "x".repeat(100));
        let mut text = String::new();
        push_fact(&mut text, &MessageFact::new("Where", ["Online".to_owned()]).linked(&url, url.clone()));
        assert_eq!(text, format!("Where: Online\n{url}\n"));
    }

    #[test]
    fn a_quoted_text_keeps_its_marks() {
        let mut text = String::new();
        push_fact(&mut text, &MessageFact::quoted("Notes", &format!("a\n\n{}", "word ".repeat(20))));
        assert!(text.starts_with("Notes:\n> a\n>\n> word"), "{text}");
        assert!(text.lines().skip(1).all(|line| line.starts_with('>')), "{text}");
    }
}
