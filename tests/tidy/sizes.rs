//! Rules on size: files and functions have a maximum length.

#![expect(clippy::string_slice, reason = "a test cuts texts that it knows: a panic is the report")]

use std::collections::BTreeMap;

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

/// Returns the lines of Rust in each top folder. The list has their number when it was written, and a folder may grow by one hundredth. A
/// commit that needs more lines raises the figure in the list, and its message gives the reason.
pub fn totals(project: &Project) -> Vec<Offence> {
    let mut totals: BTreeMap<&str, usize> = BTreeMap::new();
    for file in project.authored() {
        let folder = file.path.split('/').next().unwrap_or_default();
        *totals.entry(folder).or_default() += file.text.lines().count();
    }
    let offence = |(folder, lines): (&str, usize)| {
        let why = format!(
            "{lines} lines of Rust: remove some, or set `total` to {lines} and say in the commit's message what they are for"
        );
        Offence::size(folder, lines, why)
    };
    totals.into_iter().map(offence).collect()
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
pub fn function(line: &str) -> Option<&str> {
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

#[cfg(test)]
mod tests {
    use super::totals;
    use crate::files::{Project, Source};

    #[test]
    fn lines_are_added_up_by_top_folder() {
        let files = [
            ("host/src/a.rs", "//! A.\n\n"),
            ("host/b.rs", "//! B."),
            ("sdk/c.rs", "//! C."),
            ("sdk/d.md", "D"),
        ];
        let project = Project::new(files.map(|(path, text)| Source::new(path, text)).into());
        let found = totals(&project);
        let found: Vec<_> = found.iter().map(|total| (total.place.as_str(), total.measure)).collect();
        assert_eq!(found, [("host", 3), ("sdk", 1)]);
    }
}
