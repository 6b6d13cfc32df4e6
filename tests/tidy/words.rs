//! Rules on what may stand in a text.

#![expect(clippy::string_slice, reason = "a test cuts texts that it knows: a panic is the report")]

use crate::files::Project;
use crate::ratchet::Offence;

/// Sources without a first line that says what lives in them.
pub fn purpose(project: &Project) -> Vec<Offence> {
    let silent = project.rust().filter(|file| !file.text.starts_with("//! "));
    silent.map(|file| Offence::new(&file.path, "begin the file with `//!` and what lives in it")).collect()
}

/// Notes to oneself. The words are put together here, so that this file does not break its own rule.
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

/// Absolute paths of the machines that the project was made on.
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

/// `super::` outside tests, and `use crate::{…}`.
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

/// A path begins here; `https://example.org/…` and `"$x/…"` have something before it.
fn begins(line: &str, path: &str) -> bool {
    let more = |c: char| c.is_alphanumeric() || "}.-_".contains(c);
    line.match_indices(path).any(|(at, _)| !line[..at].ends_with(more))
}

/// A word, not a part of one.
fn stands_alone(line: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        !line[..at].ends_with(part) && (word.ends_with('(') || !line[at + word.len()..].starts_with(part))
    })
}

/// What others wrote is not ours to word.
fn ours(path: &str) -> bool {
    !path.ends_with(".lock") && !path.ends_with("package-lock.json") && !path.contains("/fixtures/")
}
