//! Replies without the earlier messages that they repeat.

/// Most bytes of the line that introduces a quote.
const INTRODUCTION_BYTES: usize = 300;
/// Empty lines between an introduction and its quote.
const BLANK_LINES: usize = 2;
/// Lines of a block of header fields that are looked at.
const HEADER_LINES: usize = 5;

/// First fields of a block of header fields above an earlier message, in the languages of mail programs.
const AUTHOR_FIELDS: [&str; 7] = ["From:", "*From:*", "Von:", "De:", "De :", "Da:", "Van:"];
/// Fields that follow in such a block.
const TIME_FIELDS: [&str; 11] = [
    "Sent:",
    "*Sent:*",
    "Date:",
    "*Date:*",
    "Gesendet:",
    "Datum:",
    "Envoyé",
    "Enviado",
    "Inviato:",
    "Verzonden:",
    "Fecha:",
];
/// First words of the line that introduces a quote, where it goes over two lines.
const INTRODUCTION_WORDS: [&str; 6] = ["On ", "Am ", "Le ", "El ", "Il ", "Op "];

/// Returns the text of a message without quoted lines, without the lines that introduce them, and without an earlier message at its end. A
/// text that is nothing but a quote stays whole.
pub fn without_quotes(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let end = (0..lines.len()).find(|at| begins_earlier_message(&lines, *at)).unwrap_or(lines.len());
    let mut kept: Vec<&str> = Vec::with_capacity(end);
    for line in lines.iter().take(end) {
        if line.trim_start().starts_with('>') {
            drop_introduction(&mut kept, true);
        } else {
            kept.push(line);
        }
    }
    drop_introduction(&mut kept, false);
    let reply = kept.join("\n");
    let reply = reply.trim();
    if reply.is_empty() { text.trim().to_owned() } else { reply.to_owned() }
}

/// Whether an earlier message begins at this line: with `-----Original Message-----` or with its header fields.
fn begins_earlier_message(lines: &[&str], at: usize) -> bool {
    let line = lines.get(at).copied().unwrap_or_default().trim();
    let is_rule = line.len() > 12 && line.starts_with("-----") && line.ends_with("-----");
    if is_rule && line.contains(char::is_alphabetic) {
        return true;
    }
    let begins = |line: &str, fields: &[&str]| fields.iter().any(|field| line.starts_with(field));
    let next = lines.iter().skip(at + 1).take(HEADER_LINES);
    begins(line, &AUTHOR_FIELDS) && next.into_iter().any(|line| begins(line.trim(), &TIME_FIELDS))
}

/// Removes the line at the end that introduces a quote, such as `On Monday Ada <ada@example.com> wrote:`. At the end of a text it must be
/// sure that it is one, because other sentences end with a colon too.
fn drop_introduction(kept: &mut Vec<&str>, is_before_quote: bool) {
    let line_at = |at: usize| kept.get(at).map_or("", |line| line.trim());
    let near = kept.len().saturating_sub(BLANK_LINES + 1)..kept.len();
    let Some(at) = near.rev().find(|at| !line_at(*at).is_empty()) else { return };
    let line = line_at(at);
    let is_continued = at > 0 && begins_introduction(line_at(at - 1)) && !begins_introduction(line);
    let names_somebody =
        line.contains(['@', '<']) || is_before_quote && line.chars().any(|c| c.is_ascii_digit());
    let introduces = names_somebody || is_continued || begins_introduction(line);
    let is_introduction = line.ends_with(':') && line.len() <= INTRODUCTION_BYTES && introduces;
    if is_introduction {
        kept.truncate(if is_continued { at - 1 } else { at });
    }
}

/// Whether a line is the first one of an introduction.
fn begins_introduction(line: &str) -> bool {
    INTRODUCTION_WORDS.iter().any(|word| line.starts_with(word))
        && line.chars().any(|c| c.is_ascii_digit())
        && !line.ends_with(['.', '!', '?'])
}

#[cfg(test)]
mod tests {
    use super::without_quotes;

    #[test]
    fn a_reply_has_no_quotes() {
        for (text, reply) in [
            ("Yes.\n\nOn Mon, 2 Mar 2026 Ada <ada@example.com> wrote:\n> No?\n> \n>> Why?", "Yes."),
            ("Yes.\n\nOn Mon, 2 Mar 2026 at 10:00, Ada Lovelace\n<ada@example.com> wrote:\n\n> No?", "Yes."),
            ("Ja.\n\nAm 2. März 2026 schrieb Ada:\n> Nein?", "Ja."),
            ("> One?\nYes.\n> Two?\nNo.", "Yes.\nNo."),
            ("Yes\n-----Original Message-----\nFrom: Ada\nNo", "Yes"),
            ("Yes\n\nFrom: Ada <ada@example.com>\nSent: Monday\nTo: Bob\nSubject: x\n\nNo", "Yes"),
            ("Yes\n\nOn 2 March Ada wrote:", "Yes"),
            ("Please bring:\n- bread\nFrom: now on", "Please bring:\n- bread\nFrom: now on"),
            ("Here are the 2 files:", "Here are the 2 files:"),
            ("We meet at 10:\n\nBob", "We meet at 10:\n\nBob"),
            ("> only a quote", "> only a quote"),
            ("-----Original Message-----\nx", "-----Original Message-----\nx"),
            ("", ""),
        ] {
            assert_eq!(without_quotes(text), reply, "{text}");
        }
    }

    #[test]
    fn long_texts_take_linear_time() {
        for line in ["> a\n", "On 1\n", "From: a\n", "a:\n> b\n", "\n", "\n> a\n"] {
            let text = line.repeat(200_000);
            assert!(without_quotes(&text).len() <= text.len());
        }
    }
}
