//! `xtask/LOOP.md`: a row for each part and revision, below a description of the measurement.

use std::thread;

use crate::bench::edit_loop::parts::{PARTS, Test};

/// Measured edits for each figure, which is their median.
pub const ROUNDS: usize = 3;

/// Median seconds of a part: until `cargo check` answers, until its test has run, until the server is ready.
pub type Figures = [f64; 3];

/// Returns the results with the figures of `part` at the revision `label`, which replace those of an earlier run. The rows of a part are
/// together, in the order in which its revisions were measured.
pub fn table(old: &str, part: &str, label: &str, [check, test, server]: Figures) -> String {
    let start = format!("| {part} | {label} |");
    let row = format!("{start} {check:.1} | {test:.1} | {server:.1} |");
    let mut rows: Vec<&str> =
        old.lines().filter(|line| position(line).is_some() && !line.starts_with(&start)).collect();
    rows.push(&row);
    rows.sort_by_key(|line| position(line));
    format!("{}\n{}\n", heading(), rows.join("\n"))
}

/// Returns the index in `PARTS` of the part of a row of the results; none for other lines.
fn position(line: &str) -> Option<usize> {
    let name = line.strip_prefix("| ")?.split(" |").next()?;
    PARTS.iter().position(|part| part.name == name)
}

/// Returns the heading above the rows: the subject and method of the measurement.
fn heading() -> String {
    let cores = thread::available_parallelism().map_or(0, usize::from);
    let tests: Vec<String> = PARTS
        .iter()
        .map(|part| match part.test {
            Test::Api(filter) => {
                format!("- {}: `cargo test --workspace --test api -- {filter}`", part.name)
            }
            Test::Unit(filter) => {
                format!("- {}: `cargo test -p <crate of the file> --lib -- {filter}`", part.name)
            }
        })
        .collect();
    format!(
        "# The edit loop\n\n\
         `cargo xtask bench loop` on {cores} cores: one line of a part is edited, everything else is built. Each figure is in seconds, \
         the median of {ROUNDS} edits.\n\n\
         *check*: `cargo check -p switchboard`; for connectors/dav `cargo check -p connector-dav`.\n\
         *server*: `cargo build --workspace --bin switchboard`, then its start until `/readyz` answers 200; for connectors/dav \
         `cargo xtask connectors --dev --only dav`, then the start of the server, which compiles the component.\n\
         *test*: the narrowest test, built and run:\n\n{}\n\n\
         | part | revision | check | test | server |\n|---|---|---|---|---|",
        tests.join("\n")
    )
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn revisions_of_a_part_stand_together() {
        let text = table("", "sync", "aaa", [1.0, 2.0, 3.0]);
        let text = table(&text, "api", "aaa", [4.0, 5.0, 6.0]);
        let text = table(&text, "api", "bbb", [7.0, 8.0, 9.0]);
        let text = table(&text, "sync", "aaa", [1.5, 2.0, 3.0]);
        let rows: Vec<&str> = text.lines().rev().take(4).collect();
        let expected = [
            "| sync | aaa | 1.5 | 2.0 | 3.0 |",
            "| api | bbb | 7.0 | 8.0 | 9.0 |",
            "| api | aaa | 4.0 | 5.0 | 6.0 |",
            "|---|---|---|---|---|",
        ];
        assert_eq!(rows, expected);
        assert_eq!(text.matches("# The edit loop").count(), 1);
    }
}
