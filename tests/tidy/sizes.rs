//! Small is a rule: files and functions have a longest length.

#![expect(clippy::string_slice, reason = "a test cuts texts that it knows: a panic is the report")]

use crate::files::{Project, Source};
use crate::ratchet::Offence;

const FILE: usize = 400;
const TEST_FILE: usize = 800;
const FUNCTION: usize = 70;

/// Files that are too long.
pub fn files(project: &Project) -> Vec<Offence> {
    let mut offences = Vec::new();
    for file in project.rust() {
        let limit = if file.is_test() { TEST_FILE } else { FILE };
        let length = file.without_tests().len();
        if length > limit {
            let why = format!(
                "{length} lines without its tests, {limit} are allowed: split it by what it is about"
            );
            offences.push(Offence::size(&file.path, length, why));
        }
    }
    offences
}

/// Functions that are too long.
pub fn functions(project: &Project) -> Vec<Offence> {
    let mut offences = Vec::new();
    for file in project.rust().filter(|file| !file.is_test()) {
        for (name, length) in lengths(file) {
            if length > FUNCTION {
                let why =
                    format!("a function of {length} lines, {FUNCTION} are allowed: give its parts names");
                offences.push(Offence::size(format!("{}:{name}", file.path), length, why));
            }
        }
    }
    offences
}

/// Every function with its length from `fn` to the closing brace. The sources are formatted, so that brace is the first line
/// with the indentation of the `fn` line and nothing else.
fn lengths(file: &Source) -> Vec<(&str, usize)> {
    let lines = file.without_tests();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(name) = function(line) else { continue };
        let indentation = &line[..line.len() - line.trim_start().len()];
        let close = format!("{indentation}}}");
        let declaration = format!("{indentation}) ");
        // A body on the same line, or a declaration without one.
        if line.ends_with('}') || line.ends_with(';') {
            continue;
        }
        let end = lines[at..]
            .iter()
            .position(|line| *line == close || (line.starts_with(&declaration) && line.ends_with(';')));
        found.push((name, end.map_or(1, |end| end + 1)));
    }
    found
}

/// The name when a function begins on this line.
fn function(line: &str) -> Option<&str> {
    let mut words = line.trim_start().split(' ');
    loop {
        match words.next()? {
            "fn" => break,
            "pub" | "async" | "const" | "unsafe" | "extern" | "\"C\"" => {}
            word if word.starts_with("pub(") => {}
            _ => return None,
        }
    }
    let name = words.next()?;
    name.split(['(', '<']).next()
}
