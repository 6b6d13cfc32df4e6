//! Rules on words in texts.

#![expect(clippy::string_slice, reason = "a test cuts texts that it knows: a panic is the report")]

use crate::files::Project;
use crate::ratchet::Offence;

/// Returns sources whose first line does not describe their content.
pub fn purpose(project: &Project) -> Vec<Offence> {
    let silent = project.rust().filter(|file| !file.text.starts_with("//! "));
    silent.map(|file| Offence::new(&file.path, "begin the file with `//!` and what lives in it")).collect()
}

/// Returns notes to oneself. The words are joined here, so that this file does not break its own rule.
pub fn leftovers(project: &Project) -> Vec<Offence> {
    let words = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("X", "XX"), concat!("dbg", "!(")];
    let mut offences = Vec::new();
    for file in project.files.iter().filter(|file| ours(&file.path)) {
        for (at, line) in file.text.lines().enumerate() {
            if let Some(word) = words.iter().find(|word| stands_alone(line, word)) {
                offences.push(Offence::at(&file.path, at + 1, format!("{word}: do it, or leave it out")));
            }
        }
    }
    offences
}

/// Returns absolute paths of the machines that the project was developed on.
pub fn machines(project: &Project) -> Vec<Offence> {
    let paths = [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];
    let mut offences = Vec::new();
    for file in project.files.iter().filter(|file| ours(&file.path)) {
        for (at, line) in file.text.lines().enumerate() {
            if let Some(path) = paths.iter().find(|path| begins(line, path)) {
                offences.push(Offence::at(&file.path, at + 1, format!("{path} exists on one machine alone")));
            }
        }
    }
    offences
}

/// Returns `super::` outside tests, and `use crate::{…}`.
pub fn imports(project: &Project) -> Vec<Offence> {
    let mut offences = Vec::new();
    for file in project.rust() {
        for (number, line) in file.code() {
            if line.contains("super::") && !file.is_test() {
                offences.push(Offence::at(
                    &file.path,
                    number,
                    "name the path from `crate::`, not from `super::`",
                ));
            }
            if line.contains(concat!("use crate::", "{")) {
                offences.push(Offence::at(
                    &file.path,
                    number,
                    "one `use crate::module` a line, so that a reader and tidy see the module",
                ));
            }
        }
    }
    offences
}

/// First words of doc comments that do not name what the item is or returns.
const VAGUE: [&str; 18] = [
    "What",
    "Who",
    "Whom",
    "Whose",
    "Where",
    "Which",
    "Those",
    "That",
    "Nobody",
    "Somebody",
    "Everybody",
    "Others",
    "Whoever",
    "Whatever",
    "Nothing",
    "Something",
    "So",
    "Of",
];

/// Returns doc comments that begin with one of these words. The list counts those of a crate.
pub fn first_words(project: &Project) -> Vec<Offence> {
    let mut offences = Vec::new();
    for file in project.authored() {
        for (number, first) in doc_comments(&file.text) {
            let word = first.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            if VAGUE.contains(&word) {
                let why = format!(
                    "the doc comment begins with “{word}”: begin with a noun and its article, or a verb (“Returns …”)"
                );
                offences.push(Offence::inside(project.crate_of(&file.path), &file.path, number, why));
            }
        }
    }
    offences
}

/// Fields that every line of the log has.
const LINE_FIELDS: [&str; 4] = ["level", "message", "target", "timestamp"];

/// Returns events with a field of such a name: their JSON line would have it twice.
pub fn log_fields(project: &Project) -> Vec<Offence> {
    let mut offences = Vec::new();
    for file in project.rust().filter(|file| file.path.starts_with("host/") && !file.is_test()) {
        let mut is_event = false;
        for (number, line) in file.code() {
            is_event |= line.contains("tracing::") && line.contains("!(");
            if let Some(field) = LINE_FIELDS.into_iter().find(|field| is_event && names_field(line, field)) {
                let why = format!("every line of the log has a field {field}: give this one another name");
                offences.push(Offence::at(&file.path, number, why));
            }
            is_event &= !line.trim_end().ends_with([';', ')', '}']);
        }
    }
    offences
}

/// `field = value`, or `field` alone between commas.
fn names_field(line: &str, field: &str) -> bool {
    line.match_indices(field).any(|(at, _)| {
        let before = line[..at].trim_end();
        let after = line[at + field.len()..].trim_start();
        let is_assigned = after.starts_with('=') && !after.starts_with("==");
        (before.is_empty() || before.ends_with(['(', ','])) && (is_assigned || after.starts_with(','))
    })
}

/// The first line of each block of `///` or `//!` lines, with its number and without the marker.
pub fn doc_comments(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut before = "";
    text.lines().enumerate().filter_map(move |(at, line)| {
        let line = line.trim_start();
        let marker =
            ["///", "//!"].into_iter().find(|marker| line.starts_with(marker) && !line.starts_with("////"));
        let is_first = marker.is_some_and(|marker| marker != before);
        before = marker.unwrap_or_default();
        is_first.then(|| (at + 1, line[3..].trim_start()))
    })
}

/// Returns whether the line has this absolute path; in `https://example.org/…` and `"$x/…"` other text precedes it.
fn begins(line: &str, path: &str) -> bool {
    let more = |c: char| c.is_alphanumeric() || "}.-_".contains(c);
    line.match_indices(path).any(|(at, _)| !line[..at].ends_with(more))
}

/// Returns whether the line has this whole word.
fn stands_alone(line: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        !line[..at].ends_with(part) && (word.ends_with('(') || !line[at + word.len()..].starts_with(part))
    })
}

/// Returns whether the file's words are ours: lock files and fixtures are written by others.
fn ours(path: &str) -> bool {
    !path.ends_with(".lock") && !path.ends_with("package-lock.json") && !path.contains("/fixtures/")
}

#[cfg(test)]
mod tests {
    use super::{doc_comments, first_words, log_fields};
    use crate::files::{Project, Source};

    #[test]
    fn a_doc_comment_is_a_block_of_lines() {
        let text = "//! A file.\n//! What is in it.\n\n/// A type.\n///\n/// Where it is.\n#[derive(Debug)]\n\
                    struct A {\n    /// A field.\n    a: u8, // What it is.\n}\n// Which it is.\n//// Rule\n";
        let found: Vec<_> = doc_comments(text).collect();
        assert_eq!(found, [(1, "A file."), (4, "A type."), (9, "A field.")]);
    }

    #[test]
    fn the_first_word_is_a_whole_word() {
        let text = "//! What's here.\n\n/// Whatsoever.\nfn a() {}\n\n/// Of old.\nfn b() {}\n\n/// Offers that.\nfn c() {}\n";
        let files = vec![Source::new("sdk/x/Cargo.toml", ""), Source::new("sdk/x/src/lib.rs", text)];
        let found = first_words(&Project::new(files));
        let places: Vec<_> = found.iter().map(|offence| (offence.place.as_str(), offence.line)).collect();
        assert_eq!(places, [("sdk/x", Some(1)), ("sdk/x", Some(6))]);
    }

    #[test]
    fn an_event_names_no_field_of_its_line() {
        let text = "fn a() {\n    let level = 1;\n    tracing::info!(level, \"x\");\n    tracing::warn!(\n        id,\n        \
                    message = %m,\n        \"a message, a level\"\n    );\n    tracing::debug!(target: \"x\", error = message, \"x\")\n}\n";
        let found = log_fields(&Project::new(vec![Source::new("host/src/a.rs", text)]));
        assert_eq!(found.iter().map(|offence| offence.line).collect::<Vec<_>>(), [Some(3), Some(6)]);
    }
}
