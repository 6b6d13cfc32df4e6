//! Header values that identify a conversation: Message-IDs, and the subject without reply and forward prefixes.

use crate::read::limits::{MESSAGE_IDS, TOKEN_BYTES};
use crate::text::cut_at;

/// The Message-IDs of a References or In-Reply-To value, without angle brackets, in order, without consecutive duplicates. Text between
/// them is skipped; if there are no brackets at all, words with an `@` are taken. Of more than 1,000, the first and the last ones are kept.
pub fn message_ids(value: &str) -> Vec<String> {
    let mut ids: Vec<String> = if value.contains('<') {
        value.split('<').skip(1).filter_map(|rest| id(rest.split(['>', '<']).next()?)).collect()
    } else {
        let words = value.split(|c: char| c.is_whitespace() || c == ',' || c == ';');
        words.filter(|word| word.contains('@')).filter_map(id).collect()
    };
    ids.dedup();
    if ids.len() > MESSAGE_IDS {
        ids.drain(1..=ids.len() - MESSAGE_IDS);
    }
    ids
}

/// An id without the white space of folded lines. White space in quotes is part of the id (RFC 5322 3.2.4).
fn id(text: &str) -> Option<String> {
    let text = text.trim();
    let quoted = text.rfind('"').filter(|_| text.starts_with('"')).unwrap_or(0);
    let is_kept = |(at, c): &(usize, char)| match c {
        ' ' => *at < quoted,
        c => !c.is_whitespace() && !c.is_control() && *c != '>',
    };
    let id: String = text.char_indices().filter(is_kept).map(|(_, c)| c).collect();
    (1..=TOKEN_BYTES).contains(&id.len()).then_some(id)
}

/// The bytes of a subject that are searched for prefixes.
const SUBJECT_BYTES: usize = 2_000;

/// Reply prefixes of subjects, in lower case: English and many others; German, Swedish, Danish, Norwegian, Finnish, Italian, Dutch, Polish,
/// Portuguese, Turkish, Icelandic, Greek, Romanian, Hungarian, Welsh, Hebrew, Chinese.
const REPLY: [&str; 18] = [
    "re",
    "aw",
    "sv",
    "vs",
    "rif",
    "antw",
    "odp",
    "res",
    "ynt",
    "svar",
    "\u{3b1}\u{3c0}",
    "r\u{103}sp",
    "rasp",
    "v\u{e1}",
    "atb",
    "\u{5d4}\u{5e9}\u{5d1}",
    "\u{56de}\u{590d}",
    "\u{7b54}\u{590d}",
];

/// Forward prefixes of subjects, in lower case.
const FORWARD: [&str; 16] = [
    "fw",
    "fwd",
    "wg",
    "vb",
    "vl",
    "vid",
    "tr",
    "rv",
    "enc",
    "doorst",
    "pd",
    "ilt",
    "trs",
    "fs",
    "\u{8f6c}\u{53d1}",
    "\u{8f49}\u{5bc4}",
];

/// The base subject of a conversation (RFC 5256 2.1), with its case unchanged: without `Re:`, `[Fwd: ...]`, `(fwd)` and the like in many
/// languages, and without list names in brackets at its beginning.
pub fn base_subject(subject: &str) -> String {
    let words: Vec<&str> = cut_at(subject, SUBJECT_BYTES).split_whitespace().collect();
    let collapsed = words.join(" ");
    let mut base = collapsed.as_str();
    loop {
        base = without_trailers(base);
        base = without_leaders(base);
        match bracketed_forward(base) {
            Some(inner) => base = inner,
            None => return base.to_owned(),
        }
    }
}

/// The subject of a reply: with `Re:` before it, unless it has a reply prefix in any language.
pub fn reply_subject(subject: &str) -> String {
    add_prefix("Re: ", subject, &REPLY)
}

/// The subject of a forwarded message: with `Fwd:` before it, unless it has a forward prefix in any language.
pub fn forward_subject(subject: &str) -> String {
    add_prefix("Fwd: ", subject, &FORWARD)
}

fn add_prefix(prefix: &str, subject: &str, known: &[&str]) -> String {
    let subject = subject.trim();
    match without_prefix(subject, known) {
        Some(_) => subject.to_owned(),
        None => format!("{prefix}{subject}"),
    }
}

fn without_trailers(subject: &str) -> &str {
    let mut subject = subject.trim();
    while let Some(shorter) = strip_suffix_of_any_case(subject, "(fwd)") {
        subject = shorter.trim_end();
    }
    subject
}

fn without_leaders(mut subject: &str) -> &str {
    loop {
        // The last blob is kept if nothing follows it.
        let (mut kept, mut after_blobs) = (subject, subject);
        while let Some(rest) = without_blob(after_blobs) {
            kept = if rest.is_empty() { kept } else { rest };
            after_blobs = rest;
        }
        match without_prefix(after_blobs, &REPLY).or_else(|| without_prefix(after_blobs, &FORWARD)) {
            Some(shorter) => subject = shorter,
            None => return kept,
        }
    }
}

/// The subject without a leading `[...]`, which must not contain brackets.
fn without_blob(subject: &str) -> Option<&str> {
    let inner = subject.strip_prefix('[')?;
    let end = inner.find(['[', ']'])?;
    Some(inner.get(end..)?.strip_prefix(']')?.trim_start())
}

/// The subject without a leading prefix and its colon. Between them there can be a count, `Re[2]:` or `Re(2):`, or a space, as in French.
fn without_prefix<'a>(subject: &'a str, known: &[&str]) -> Option<&'a str> {
    let end = subject.find(|c: char| !c.is_alphabetic())?;
    let (word, rest) = subject.split_at(end);
    if word.len() > 16 || !known.contains(&word.to_lowercase().as_str()) {
        return None;
    }
    let rest = rest.trim_start();
    let rest = match rest.strip_prefix('(') {
        Some(count) => count.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix(')')?,
        None => without_blob(rest).unwrap_or(rest),
    };
    let rest = rest.trim_start();
    rest.strip_prefix(':').or_else(|| rest.strip_prefix('\u{ff1a}')).map(str::trim_start)
}

fn bracketed_forward(subject: &str) -> Option<&str> {
    let head = subject.get(..5)?;
    let inner = if head.eq_ignore_ascii_case("[fwd:") { subject.get(5..)? } else { return None };
    inner.strip_suffix(']').map(str::trim)
}

fn strip_suffix_of_any_case<'a>(text: &'a str, suffix: &str) -> Option<&'a str> {
    let start = text.len().checked_sub(suffix.len())?;
    text.get(start..)?.eq_ignore_ascii_case(suffix).then(|| text.get(..start))?
}

#[cfg(test)]
mod tests {
    use super::{base_subject, forward_subject, message_ids, reply_subject};

    #[test]
    fn the_base_is_what_a_conversation_is_about() {
        for (subject, base) in [
            ("Hello", "Hello"),
            ("Re: Hello", "Hello"),
            ("RE : AW: Fwd: Hello (fwd) (FWD)", "Hello"),
            ("Re[2]: Hello", "Hello"),
            ("re(3): Hello", "Hello"),
            ("[list] Re: [list] Hello", "Hello"),
            ("[Fwd: Re: Hello]", "Hello"),
            ("[fwd: hello]", "hello"),
            ("Antw: WG: SV: VS: RIF: TR: ENC: RES: ODP: Hallo", "Hallo"),
            ("\u{56de}\u{590d}\u{ff1a}\u{4f60}\u{597d}", "\u{4f60}\u{597d}"),
            ("  many \t spaces\r\n here ", "many spaces here"),
            ("[tag]", "[tag]"),
            ("Re: [tag]", "[tag]"),
            ("Re:", ""),
            ("", ""),
            ("Regards: none", "Regards: none"),
            ("Result: 5:3", "Result: 5:3"),
            ("Re", "Re"),
            ("[Fwd:", "[Fwd:"),
            ("(fwd)", ""),
        ] {
            assert_eq!(base_subject(subject), base, "{subject:?}");
        }
    }

    #[test]
    fn long_subjects_take_bounded_time() {
        for piece in ["[a]", "[", "Re:", "re[1]", "(fwd)", "[fwd:", "\u{56de}\u{590d}\u{ff1a}"] {
            assert!(base_subject(&piece.repeat(300_000)).len() <= super::SUBJECT_BYTES);
        }
    }

    #[test]
    fn prefixes_are_put_once() {
        assert_eq!(reply_subject("Hello"), "Re: Hello");
        assert_eq!(reply_subject("AW: Hello"), "AW: Hello");
        assert_eq!(reply_subject("Fwd: Hello"), "Re: Fwd: Hello");
        assert_eq!(forward_subject("Re: Hello"), "Fwd: Re: Hello");
        assert_eq!(forward_subject("WG: Hello"), "WG: Hello");
        assert_eq!(reply_subject(""), "Re: ");
    }

    #[test]
    fn ids_are_found_however_they_are_written() {
        assert_eq!(message_ids("<a@b> <c@d>"), ["a@b", "c@d"]);
        assert_eq!(message_ids("<a@b><c@d>,<e@f>"), ["a@b", "c@d", "e@f"]);
        assert_eq!(message_ids("Message of Monday <a@b> from \"x\""), ["a@b"]);
        assert_eq!(message_ids("a@b, c@d"), ["a@b", "c@d"]);
        assert_eq!(message_ids("<a@\r\n b>"), ["a@b"]);
        assert_eq!(message_ids("<\"x y\"@b c> <a b \"c\"@d>"), ["\"x y\"@bc", "ab\"c\"@d"]);
        assert_eq!(
            message_ids("<2026.11@[192.0.2.7]> <urn:uuid:1@b>"),
            ["2026.11@[192.0.2.7]", "urn:uuid:1@b"]
        );
        assert_eq!(message_ids("<a@b <c@d>"), ["a@b", "c@d"]);
        assert!(message_ids("<> nothing").is_empty());
        assert!(message_ids(&format!("<{}>", "a".repeat(2000))).is_empty());
    }
}
